/*
 * floor: what benchmarks are printed against. A libfcgi program that sends a
 * constant body, through the record writer that gridapi has, and does no other
 * work: no answer of gridapi can be faster than this one of the same size.
 *
 *	floor SOCKET BYTES [PROCESSES [THREADS]]
 *
 * It accepts as libfcgi's own examples do. Bodies of more than a megabyte are
 * put in pieces of that size. SIGTERM ends it.
 */
#include <errno.h>
#include <fcgiapp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/num.h"
#include "fcgi/record.h"

#define PIECE ((int64_t)1 << 20)
#define BACKLOG 1024

static int listener;
static int64_t body_bytes;
static char head[256];
static char *piece;

static enum err
answer(struct sink *out)
{
	struct iovec first[] = {{head, strlen(head)},
	    {piece, (size_t)(body_bytes < PIECE ? body_bytes : PIECE)}};
	enum err err = out->put(out, first, 2);

	for (int64_t left = body_bytes - PIECE; left > 0 && err == ERR_OK;
	     left -= PIECE)
		err = sink_put(out,
		    span_make(piece, (size_t)(left < PIECE ? left : PIECE)));
	return err;
}

static void *
serve(void *arg)
{
	FCGX_Request request;
	struct record record;
	struct sink out;

	(void)arg;
	if (FCGX_InitRequest(&request, listener, 0) != 0 ||
	    record_init(&record) != ERR_OK)
		exit(1);
	out = record_sink(&record);
	while (FCGX_Accept_r(&request) == 0) {
		int bytes = (int)PIECE;

		setsockopt(request.ipcFd, SOL_SOCKET, SO_SNDBUF, &bytes,
		    sizeof(bytes));
		record_begin(
		    &record, request.ipcFd, (unsigned)request.requestId);
		if (answer(&out) == ERR_OK)
			record_end(&record);
		close(request.ipcFd);
		request.ipcFd = -1;
		FCGX_Free(&request, 0);
	}
	return NULL;
}

static void
run(int64_t threads)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int64_t i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, serve, NULL) != 0)
			exit(1);
	serve(NULL);
	exit(0);
}

static int64_t
number(int argc, char **argv, int at, int64_t fallback, int64_t most)
{
	int64_t value = fallback;

	if (argc > at && !num_int(&value, span_of(argv[at]), 0, most)) {
		fprintf(stderr, "floor: no number: %s\n", argv[at]);
		exit(2);
	}
	return value;
}

int
main(int argc, char **argv)
{
	int64_t processes = number(argc, argv, 3, 2, 256);
	int64_t threads = number(argc, argv, 4, 8, 256);

	body_bytes = number(argc, argv, 2, 0, (int64_t)1 << 40);
	if (argc < 3) {
		fputs("usage: floor SOCKET BYTES [PROCESSES [THREADS]]\n",
		    stderr);
		return 2;
	}
	snprintf(head, sizeof(head),
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %lld\r\n\r\n",
	    (long long)body_bytes);
	piece = malloc((size_t)PIECE);
	if (piece == NULL || FCGX_Init() != 0)
		return 1;
	memset(piece, 'x', (size_t)PIECE);
	signal(SIGTERM, SIG_DFL);
	listener = FCGX_OpenSocket(argv[1], BACKLOG);
	if (listener < 0 || chmod(argv[1], 0660) != 0) {
		fprintf(stderr, "floor: cannot listen on %s\n", argv[1]);
		return 1;
	}
	for (int64_t i = 0; i < processes; i++)
		if (fork() == 0)
			run(threads);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
