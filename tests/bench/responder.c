/* It accepts as libfcgi's own examples do. */
#include "tests/bench/responder.h"

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

#include "common/date.h"
#include "common/num.h"
#include "fcgi/process/record.h"

#define SEND_BUFFER (1 << 20)
#define BACKLOG 1024

static const struct responder *responder;
static int listener;

static void
make_room(int fd)
{
	static const int bytes = SEND_BUFFER;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static void
serve_one(void *own, FCGX_Request *request, struct record *record)
{
	struct sink out = record_sink(record);
	int64_t start_ns = date_monotonic_ns();

	record_begin(record, request->ipcFd, (unsigned)request->requestId);
	if (responder->answer(own,
		span_of(FCGX_GetParam("REQUEST_URI", request->envp)), start_ns,
		&out) == ERR_OK)
		record_end(record);
	close(request->ipcFd);
	request->ipcFd = -1;
	FCGX_Free(request, 0);
}

static void *
serve(void *arg)
{
	FCGX_Request request;
	struct record record;
	void *own = responder->open();

	(void)arg;
	if (own == NULL || FCGX_InitRequest(&request, listener, 0) != 0 ||
	    record_init(&record) != ERR_OK)
		exit(1);
	record.before_wait = make_room;
	while (FCGX_Accept_r(&request) == 0)
		serve_one(own, &request, &record);
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

/* SIGTERM's, so that it ends the children with it. */
static void
end(int signal_number)
{
	(void)signal_number;
	_exit(0);
}

static int64_t
number(int argc, char **argv, int at, int64_t fallback)
{
	int64_t value = fallback;

	if (argc > at && !num_int(&value, span_of(argv[at]), 1, 256)) {
		fprintf(stderr, "%s: no number from 1 to 256: %s\n", argv[0],
		    argv[at]);
		exit(2);
	}
	return value;
}

int
responder_run(const struct responder *what, int argc, char **argv, int at)
{
	int64_t processes = number(argc, argv, at + 1, 2);
	int64_t threads = number(argc, argv, at + 2, 8);

	responder = what;
	if (FCGX_Init() != 0)
		return 1;
	listener = FCGX_OpenSocket(argv[at], BACKLOG);
	if (listener < 0 || chmod(argv[at], 0660) != 0) {
		fprintf(stderr, "%s: cannot listen on %s\n", argv[0], argv[at]);
		return 1;
	}
	signal(SIGTERM, SIG_DFL);
	for (int64_t i = 0; i < processes; i++)
		if (fork() == 0)
			run(threads);
	signal(SIGTERM, end);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 1; /* all children have ended, which they do not of their own */
}
