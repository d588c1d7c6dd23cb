/* tests/fcgi/process/test_worker.c: fcgi/process/worker.h */
#include "fcgi/process/worker.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fcgi/route.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define ROUNDS 60
#define PATIENCE_MS 60000

/* --- a store that is none ------------------------------------------------- */

enum err
server_open(struct server **out, const struct api_settings *settings,
    struct metrics *metrics, struct fault *fault)
{
	static char one;

	(void)settings, (void)metrics, (void)fault;
	*out = (struct server *)&one;
	return ERR_OK;
}

void
server_close(struct server *server)
{
	(void)server;
}

struct serving *
serving_new(struct server *server)
{
	(void)server;
	return calloc(1, 1);
}

void
serving_free(struct serving *serving)
{
	free(serving);
}

void
server_tick(struct server *server)
{
	(void)server;
}

/* "/fail" fails; any other is answered by what it was asked. */
enum err
serve(struct serving *serving, const struct request *request, struct sink *out)
{
	(void)serving;
	if (span_eq(request->uri, SPAN("/fail")))
		return ERR_INTERNAL;
	return sink_put(out, request->uri);
}

enum err
serve_without_store(
    struct metrics *metrics, const struct request *request, struct sink *out)
{
	(void)metrics, (void)request, (void)out;
	return ERR_INTERNAL;
}

/* --- workers and a client ------------------------------------------------- */

static struct api_settings settings;
static struct metrics *metrics;
static struct sockaddr_un address;
static int listener;
static cpu_set_t usual;

/* All on one processor: what is woken waits there until another has run. */
static void
make(void)
{
	cpu_set_t one;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(usual), &usual), 0);
	while (!CPU_ISSET(cpu, &usual))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	settings.pages_threads = 2;
	settings.body_bytes = 1 << 20;
	metrics = metrics_new(route_name_count);
	ck_assert_ptr_nonnull(metrics);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	ck_assert(span_copy(address.sun_path, sizeof(address.sun_path),
	    span_of(scratch_path("sock"))));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
}

static void
drop(void)
{
	close(listener);
	metrics_free(metrics);
	sched_setaffinity(0, sizeof(usual), &usual);
}

/* A worker that serves already: its threads wait for a connection. */
static pid_t
begin(void)
{
	struct worker_job job = {
	    .settings = &settings, .metrics = metrics, .listener = listener};
	sigset_t all;
	int ready[2];
	pid_t pid, told;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		close(ready[0]);
		job.ready = ready[1];
		_exit(worker_run(&job));
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &told, sizeof(told)), sizeof(told));
	ck_assert_int_eq(told, pid);
	close(ready[0]);
	usleep(2000); /* the first to wait are the first to be woken */
	return pid;
}

/* The worker has stopped when this returns. */
static void
stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
}

static int
call(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	/* No request: the accepting thread sees its end, and closes. */
	shutdown(fd, SHUT_WR);
	return fd;
}

/* --- requests ------------------------------------------------------------- */

enum { GET, PUT };

#define PARAM_GET "\16\3REQUEST_METHODGET\13\5REQUEST_URI"
#define PARAM_PUT "\16\3REQUEST_METHODPUT\13\5REQUEST_URI"

/* `uri` has five bytes. */
static void
ask(int fd, int method, bool keep, const char *uri)
{
	static const char begin[] = "\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0";
	static const char end[] = "\1\4\0\1\0\0\0\0\1\5\0\1\0\0\0";
	const char *params = method == GET ? PARAM_GET : PARAM_PUT;
	size_t len = sizeof(PARAM_GET) - 1;
	char bytes[128], *at = bytes;

	memcpy(at, begin, sizeof(begin));
	at[10] = keep;
	at += sizeof(begin);
	memcpy(at, "\1\4\0\1\0\0\0", 8);
	at[5] = (char)(len + 5);
	memcpy(at + 8, params, len);
	memcpy(at + 8 + len, uri, 5);
	at += 8 + len + 5;
	memcpy(at, end, sizeof(end));
	at += sizeof(end);
	ck_assert_int_eq(
	    send(fd, bytes, (size_t)(at - bytes), MSG_NOSIGNAL), at - bytes);
}

/* The whole answer: the body, its end and the request's. */
static bool
is_answered(int fd, const char *uri)
{
	static const char end[] =
	    "\1\6\0\1\0\0\0\0\1\3\0\1\0\10\0\0\0\0\0\0\0\0\0";
	char want[64] = "\1\6\0\1\0\5\0", got[64];
	size_t all = 8 + 5 + sizeof(end), len = 0;

	memcpy(want + 8, uri, 5);
	memcpy(want + 13, end, sizeof(end));
	while (len < all) {
		ssize_t part = recv(fd, got + len, all - len, 0);

		if (part <= 0)
			return false;
		len += (size_t)part;
	}
	return memcmp(got, want, all) == 0;
}

static int
reach(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Waits until the worker closes; false when patience ends. */
static bool
closes(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLIN};
	char byte;

	return poll(&look, 1, PATIENCE_MS) == 1 &&
	    recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

static bool
is_open(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static bool
was_accepted(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLIN};
	bool accepted = poll(&look, 1, PATIENCE_MS) == 1;

	close(fd);
	return accepted;
}

static void
must_have_ended(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == WORKER_DONE,
	    "a worker ended with %#x", (unsigned)status);
}

/*
 * A connection wakes one thread. When that one's worker is just told to leave,
 * nobody else would be woken: the client would wait for the next client.
 */
START_TEST(who_leaves_takes_what_it_was_woken_for)
{
	for (int i = 0; i < ROUNDS; i++) {
		pid_t older = begin(), newer = begin();
		bool before = i % 2 == 0;
		int fd = before ? call() : -1;
		bool accepted;

		ck_assert_int_eq(kill(older, WORKER_LEAVE), 0);
		if (!before)
			fd = call();
		accepted = was_accepted(fd);
		ck_assert_int_eq(kill(newer, WORKER_LEAVE), 0);
		must_have_ended(older);
		must_have_ended(newer);
		ck_assert_msg(accepted, "round %d: nobody accepted", i);
	}
}
END_TEST

START_TEST(the_last_call_serves_all_who_queue)
{
	int fds[8];
	pid_t pid = begin();

	stop(pid);
	for (int i = 0; i < 8; i++)
		fds[i] = call();
	ck_assert_int_eq(kill(pid, WORKER_LAST_CALL), 0);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_msg(was_accepted(fds[i]), "%d was not", i);
	must_have_ended(pid);
}
END_TEST

START_TEST(one_connection_carries_many_reads)
{
	pid_t pid = begin();
	int fd = reach();

	for (int i = 0; i < 1000; i++) {
		char uri[8];

		snprintf(uri, sizeof(uri), "/%04d", i);
		ask(fd, GET, true, uri);
		ck_assert_msg(is_answered(fd, uri), "request %d", i);
	}
	ck_assert(is_open(fd));
	ck_assert_int_eq(kill(pid, WORKER_LEAVE), 0);
	must_have_ended(pid);
	ck_assert(closes(fd));
	close(fd);
}
END_TEST

/* Two threads, and many connections of which each waits for its next request,
 * or for its first. */
START_TEST(no_thread_waits_on_a_kept_connection)
{
	pid_t pid = begin();
	int fds[40];

	for (int i = 0; i < 40; i++)
		fds[i] = reach();
	for (int turn = 0; turn < 3; turn++)
		for (int i = 1; i < 40; i++) {
			ask(fds[i], GET, true, "/page");
			ck_assert(is_answered(fds[i], "/page"));
		}
	ck_assert_int_eq(kill(pid, WORKER_LEAVE), 0);
	must_have_ended(pid);
	for (int i = 0; i < 40; i++) {
		ck_assert(closes(fds[i]));
		close(fds[i]);
	}
}
END_TEST

/*
 * A write, a peer that does not keep it, an answer that was cut, and a peer that
 * sends more than the request.
 */
START_TEST(other_connections_are_closed_behind_the_answer)
{
	pid_t pid = begin();

	for (int i = 0; i < 4; i++) {
		int fd = reach();

		ask(fd, GET, true, "/page");
		ck_assert(is_answered(fd, "/page"));
		switch (i) {
		case 0:
			ask(fd, PUT, true, "/page");
			break;
		case 1:
			ask(fd, GET, false, "/page");
			break;
		case 2:
			ask(fd, GET, true, "/fail");
			break;
		default:
			stop(pid);
			ask(fd, GET, true, "/page");
			ask(fd, GET, true, "/more");
			ck_assert_int_eq(kill(pid, SIGCONT), 0);
		}
		ck_assert_int_eq(is_answered(fd, "/page"), i != 2);
		ck_assert_msg(closes(fd), "%d stays open", i);
		close(fd);
	}
	ck_assert_int_eq(kill(pid, WORKER_LEAVE), 0);
	must_have_ended(pid);
}
END_TEST

/* Requests sent before the worker was told are answered, others closed. */
START_TEST(who_leaves_answers_what_has_come_on_kept_connections)
{
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = begin();
		int fds[4];

		for (int k = 0; k < 4; k++) {
			fds[k] = reach();
			ask(fds[k], GET, true, "/page");
			ck_assert(is_answered(fds[k], "/page"));
		}
		stop(pid);
		for (int k = 0; k < 3; k++)
			ask(fds[k], GET, true, "/last");
		ck_assert_int_eq(kill(pid, WORKER_LEAVE), 0);
		ck_assert_int_eq(kill(pid, SIGCONT), 0);
		for (int k = 0; k < 3; k++)
			ck_assert_msg(is_answered(fds[k], "/last"),
			    "round %d: %d is not answered", i, k);
		for (int k = 0; k < 4; k++) {
			ck_assert(closes(fds[k]));
			close(fds[k]);
		}
		must_have_ended(pid);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("worker");
	TCase *tc = tcase_create("worker");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, who_leaves_takes_what_it_was_woken_for);
	tcase_add_test(tc, the_last_call_serves_all_who_queue);
	tcase_add_test(tc, one_connection_carries_many_reads);
	tcase_add_test(tc, no_thread_waits_on_a_kept_connection);
	tcase_add_test(tc, other_connections_are_closed_behind_the_answer);
	tcase_add_test(
	    tc, who_leaves_answers_what_has_come_on_kept_connections);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
