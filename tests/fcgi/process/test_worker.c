/* tests/fcgi/process/test_worker.c: fcgi/process/worker.h */
#include "fcgi/process/worker.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define ROUNDS 60
#define PATIENCE_MS 60000

/* --- nobody is served here: who is accepted is let go --------------------- */

enum err
server_open(struct server **out, const struct settings *settings,
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

enum err
serve(struct serving *serving, const struct request *request, struct sink *out)
{
	(void)serving, (void)request, (void)out;
	return ERR_INTERNAL;
}

enum err
serve_without_store(
    struct metrics *metrics, const struct request *request, struct sink *out)
{
	(void)metrics, (void)request, (void)out;
	return ERR_INTERNAL;
}

/* --- workers and a client ------------------------------------------------- */

static struct settings settings;
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
	metrics = metrics_new();
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

static int
call(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	/* No request: whoever accepts sees its end, and closes. */
	shutdown(fd, SHUT_WR);
	return fd;
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

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	for (int i = 0; i < 8; i++)
		fds[i] = call();
	ck_assert_int_eq(kill(pid, WORKER_LAST_CALL), 0);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_msg(was_accepted(fds[i]), "%d was not", i);
	must_have_ended(pid);
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
	suite_add_tcase(suite, tc);
	return suite;
}
