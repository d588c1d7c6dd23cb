/*
 * Accepts as libfcgi's own examples do, and closes after each answer; or keeps
 * nginx's connections as gridapi does, without libfcgi.
 */
#include "tests/bench/responder.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/num.h"
#include "fcgi/process/incoming.h"
#include "fcgi/process/kept.h"
#include "fcgi/process/record.h"

#define SEND_BUFFER (1 << 20)
#define BACKLOG 1024
#define KEPT_MOST 1024
#define HEADS_LEN 24 /* before the parameters: BEGIN_REQUEST, and PARAMS's */

static const struct responder *responder;
static int listener;
static struct kept_connections *kept; /* NULL: every connection is closed */

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

/* --- connections that are kept -------------------------------------------- */

/* Lengths of one byte: what nginx has that is longer is not looked for. */
static struct span
param(struct span rest, struct span name)
{
	while (rest.len > 2) {
		const unsigned char *bytes = (const unsigned char *)rest.ptr;
		size_t names = bytes[0], values = bytes[1], at = 2;

		if (values >= 0x80) {
			values = (size_t)bytes[2] << 16 |
			    (size_t)bytes[3] << 8 | bytes[4];
			at = 5;
		}
		if (span_eq(span_sub(rest, at, names), name))
			return span_sub(rest, at + names, values);
		rest = span_from(rest, at + names + values);
	}
	return SPAN("");
}

/* ERR_OK when it may carry another request. */
static enum err
serve_kept_one(void *own, struct incoming *in, struct record *record, int fd)
{
	struct sink out = record_sink(record);
	int64_t start_ns = date_monotonic_ns();
	struct span uri;
	char text[1024];
	struct buf body;
	enum err err;

	uri = param(span_from(in->head, HEADS_LEN), SPAN("REQUEST_URI"));
	if (!span_copy(text, sizeof(text), uri))
		return ERR_TOO_LARGE;
	buf_init(&body, 1 << 20);
	err = incoming_body(in, &body);
	buf_fini(&body);
	if (err != ERR_OK)
		return err;
	record_begin(record, fd, in->id);
	err = responder->answer(own, span_of(text), start_ns, &out);
	return err == ERR_OK ? record_end(record) : err;
}

static uint32_t
next_place(int *fd)
{
	struct kept_found found;
	uint32_t place;

	for (;;) {
		if (!kept_wait(&found, kept))
			continue;
		*fd = found.fd;
		if (found.what == KEPT_CONNECTION)
			return found.place;
		*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (*fd < 0)
			continue;
		place = kept_add(kept, *fd);
		if (place != KEPT_NO_PLACE)
			return place;
		close(*fd);
	}
}

static void *
serve_kept(void *arg)
{
	struct incoming in;
	struct record record;
	void *own = responder->open();

	(void)arg;
	if (own == NULL || incoming_init(&in) != ERR_OK ||
	    record_init(&record) != ERR_OK)
		exit(1);
	record.before_wait = make_room;
	for (;;) {
		int fd;
		uint32_t place = next_place(&fd);
		enum err err = incoming_try_head(&in, fd);

		if (err == ERR_OK)
			err = serve_kept_one(own, &in, &record, fd);
		if (err == ERR_OK || err == ERR_BUSY)
			kept_arm(kept, place);
		else
			kept_drop(kept, place);
	}
}

/* --- a connection for each request ---------------------------------------- */

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
run(int64_t threads, bool keep)
{
	void *(*work)(void *) = keep ? serve_kept : serve;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (keep &&
	    (fcntl(listener, F_SETFL, O_NONBLOCK) != 0 ||
		kept_open(&kept, listener, eventfd(0, 0), KEPT_MOST) != ERR_OK))
		exit(1);
	for (int64_t i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			exit(1);
	work(NULL);
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
	bool keep = argc > at + 3 && strcmp(argv[at + 3], "keep") == 0;

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
			run(threads, keep);
	signal(SIGTERM, end);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 1; /* all children have ended, which they do not of their own */
}
