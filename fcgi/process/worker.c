/*
 * A worker process: its memory, its store, its threads and its end. The work of
 * a thread is in worker_thread.c.
 */
#include "fcgi/process/worker.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "common/limits.h"
#include "fcgi/process/worker_priv.h"

#define TICK_S 5
#define OPEN_S 1 /* between attempts to open the store */

/*
 * Limits for glibc: the number of arenas, the size of blocks with a map of
 * their own, unused memory.
 */
#define ARENAS 2
#define MAPPED_FROM (4 << 20)
#define UNUSED_MOST (2 << 20)

/*
 * The connections that a process keeps. nginx keeps 32 for each of its own
 * processes and pool, and all of them may be connected here. Further ones are
 * served and closed. Kept connections take no more than this part of the
 * allowed open files.
 */
#define KEPT_MOST 1024
#define KEPT_PART 8

/*
 * How long a connection may wait for its next request. nginx closes after 60
 * seconds, before this process does, so that it sends no request on a
 * connection that was just closed.
 */
#define KEPT_S 90

/* --- the process ---------------------------------------------------------- */

/*
 * By default glibc makes an arena for each thread, and lets each keep twice as
 * much unused memory as the largest block that was ever freed: 64 MB.
 */
static void
bound_memory(void)
{
	if (mallopt(M_ARENA_MAX, ARENAS) != 1 ||
	    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM) != 1 ||
	    mallopt(M_TRIM_THRESHOLD, UNUSED_MOST) != 1)
		log_warn("memory that is freed may be kept");
}

static bool
is_orphan(const struct worker_job *job)
{
	return job->supervisor > 0 && getppid() != job->supervisor;
}

/*
 * Without a supervisor nothing would end this process after a time, or free the
 * path of the socket for a new one. shutdown() works on the socket itself, so
 * that every new connection is refused, whichever process still has the socket
 * open.
 */
static enum stop
leave_as_orphan(const struct worker_job *job)
{
	unsigned most = (unsigned)job->settings->drain_s;
	sigset_t alarms;

	log_error("the supervisor has died: requests under way have %u s",
	    most > 0 ? most : 1);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(most > 0 ? most : 1); /* the alarm kills this process */
	if (job->handed_over)
		return STOP_LEAVE;
	if (shutdown(job->listener, SHUT_RDWR) != 0)
		log_error("the listener stays open: %s", strerror(errno));
	return STOP_LAST_CALL;
}

static void
tell_ready(const struct worker_job *job)
{
	pid_t pid = getpid();

	if (job->ready < 0)
		return;
	if (write(job->ready, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		log_error("the supervisor was not told: %s", strerror(errno));
	close(job->ready);
}

/* Opens the store, and reads what a view reads first, as a test. */
static enum err
open_server(struct worker *worker, struct fault *fault)
{
	const struct worker_job *job = worker->job;
	struct server *server;
	struct serving *serving;
	enum err err = server_open(&server, job->settings, job->metrics, fault);

	if (err == ERR_OK && job->patient) {
		serving = serving_new(server);
		if (serving == NULL) {
			fault_set(
			    fault, job->settings->data_dir, "cannot be read");
			server_close(server);
			return ERR_SYSTEM;
		}
		serving_free(serving);
	}
	if (err == ERR_OK)
		atomic_store(&worker->server, server);
	return err;
}

/* Logs nothing: the first failure was logged, and tries follow every second. */
static void
open_again(struct worker *worker)
{
	struct fault fault;

	fault_clear(&fault);
	if (open_server(worker, &fault) != ERR_OK)
		return;
	log_info("%s: can be opened again", worker->job->settings->data_dir);
	tell_ready(worker->job);
}

static void
tick(struct worker *worker)
{
	struct server *server = atomic_load(&worker->server);

	kept_expire(
	    worker->kept, date_monotonic_ns() - KEPT_S * INT64_C(1000000000));
	if (server == NULL)
		open_again(worker);
	else
		server_tick(server);
}

/* Waits for a signal that says how to stop, and keeps house meanwhile. */
static enum stop
wait_for_signal(struct worker *worker)
{
	const struct worker_job *job = worker->job;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, WORKER_LEAVE);
	sigaddset(&set, WORKER_LAST_CALL);
	for (;;) {
		bool opened = atomic_load(&worker->server) != NULL;
		struct timespec turn = {.tv_sec = opened ? TICK_S : OPEN_S};

		switch (sigtimedwait(&set, NULL, &turn)) {
		case WORKER_LEAVE:
			return is_orphan(job) ? leave_as_orphan(job)
					      : STOP_LEAVE;
		case WORKER_LAST_CALL:
			return STOP_LAST_CALL;
		default:
			tick(worker);
		}
	}
}

static int
run_threads(
    struct worker *worker, struct worker_thread *threads, unsigned count)
{
	char why[LIMITS_TEXT_MAX];
	uint64_t one = 1;
	unsigned started = 0;
	int errnum = 0, result = WORKER_DONE;

	while (started < count && errnum == 0) {
		errnum = pthread_create(
		    &threads[started].id, NULL, thread_main, &threads[started]);
		started += errnum == 0 ? 1 : 0;
	}
	if (started == count) {
		if (atomic_load(&worker->server) != NULL)
			tell_ready(worker->job);
		atomic_store(&worker->stop, wait_for_signal(worker));
	} else {
		log_error("only %u of %u threads could be started: %s", started,
		    count, limits_why_no_thread(why, errnum));
		atomic_store(&worker->stop, STOP_LEAVE);
		result = WORKER_FAILED;
	}
	if (atomic_load(&worker->stop) == STOP_LEAVE)
		kept_no_more(worker->kept);
	if (write(worker->wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
		_exit(WORKER_FAILED);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i].id, NULL);
	return result;
}

static int
open_and_run(
    struct worker *worker, struct worker_thread *threads, unsigned count)
{
	char why[LIMITS_TEXT_MAX];
	int result = WORKER_FAILED;
	unsigned opened = 0;

	while (opened < count && thread_open(&threads[opened], worker))
		opened++;
	if (opened == count)
		result = run_threads(worker, threads, count);
	else
		log_error("a worker's threads cannot be set up: %s",
		    limits_why(why, errno));
	for (unsigned i = 0; i <= opened && i < count; i++)
		thread_close(&threads[i]);
	return result;
}

static uint32_t
kept_most(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
	    files.rlim_cur / KEPT_PART > KEPT_MOST)
		return KEPT_MOST;
	return files.rlim_cur > KEPT_PART
	    ? (uint32_t)(files.rlim_cur / KEPT_PART)
	    : 1;
}

/*
 * Sets up the threads, with an open store or without one, and runs until the
 * end.
 */
static int
set_up_and_run(struct worker *worker)
{
	const struct worker_job *job = worker->job;
	struct worker_thread *threads =
	    calloc(worker->threads, sizeof(*threads));
	char why[LIMITS_TEXT_MAX];
	int result = WORKER_FAILED;

	worker->wake = eventfd(0, EFD_CLOEXEC);
	if (worker->wake < 0 || threads == NULL ||
	    kept_open(&worker->kept, job->listener, worker->wake,
		kept_most()) != ERR_OK)
		log_error(
		    "a worker cannot be set up: %s", limits_why(why, errno));
	else
		result = open_and_run(worker, threads, worker->threads);
	kept_close(worker->kept);
	free(threads);
	if (worker->wake >= 0)
		close(worker->wake);
	return result;
}

int
worker_run(const struct worker_job *job)
{
	unsigned count = (unsigned)(job->slow ? job->settings->slow_threads
					      : job->settings->pages_threads);
	struct worker worker = {.job = job, .stop = STOP_NOT, .threads = count};
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	enum err err;
	int result;

	assert(job->listener >= 0 && count > 0);
	fault_clear(&fault);
	bound_memory();
	if (fcgiparams_begin() != ERR_OK) {
		log_error("libfcgi cannot be used");
		return WORKER_FAILED;
	}
	err = open_server(&worker, &fault);
	if (err != ERR_OK) {
		log_error("%s", fault_text(text, &fault, err));
		if (!job->patient)
			return WORKER_NO_STORE;
		log_error("requests get 503 until it can be opened, which is "
			  "tried each second");
	}
	result = set_up_and_run(&worker);
	server_close(atomic_load(&worker.server));
	return result;
}
