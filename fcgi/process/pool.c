/*
 * A single thread polls signals, a pipe on which workers report that they
 * serve, and the time of the next task. A worker keeps its slot for life; a
 * dead one is replaced, at once if it lived for a while, else after a pause
 * that doubles. On SIGHUP the new worker of a slot serves before the old one is
 * told to leave.
 */
#include "fcgi/process/pool_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/limits.h"
#include "common/log.h"
#include "fcgi/process/follower.h"
#include "fcgi/process/housekeep.h"
#include "fcgi/process/notify.h"
#include "fcgi/process/sender.h"
#include "fcgi/process/worker.h"

#define PAUSE_FIRST (SECOND / 5)
#define PAUSE_MOST (30 * SECOND)
#define LIVED (10 * SECOND) /* who lived as long is replaced at once */

/* --- ending --------------------------------------------------------------- */

static void
leave(struct pool *pool, pid_t pid, int64_t deadline)
{
	kill(pid, WORKER_LEAVE);
	pool->leavers[pool->leaver_count++] =
	    (struct pool_leaver){pid, deadline};
}

/* Serves queued requests too, unless systemd keeps the queue for later. */
static void
stop(struct pool *pool)
{
	const struct pool_job *job = pool->job;
	int how = job->listen->handed_over ? WORKER_LEAVE : WORKER_LAST_CALL;

	if (pool_is_stopping(pool)) {
		pool->stop_deadline = pool->now;
		return;
	}
	log_info("ending: requests under way have %lld s",
	    (long long)job->settings->drain_s);
	notify("STOPPING=1");
	listen_unlink(job->listen);
	pool->stop_deadline = pool->now + job->settings->drain_s * SECOND;
	for (unsigned i = 0; i < pool->count; i++) {
		if (pool->slots[i].pid > 0)
			kill(pool->slots[i].pid, how);
		if (pool->slots[i].old > 0)
			kill(pool->slots[i].old, how);
	}
	if (pool->sender > 0)
		kill(pool->sender, SIGTERM);
	if (pool->follower > 0)
		kill(pool->follower, SIGTERM);
}

static void
kill_overdue(struct pool *pool)
{
	bool over = pool->stop_deadline <= pool->now;

	for (unsigned i = 0; i < pool->leaver_count; i++)
		if (over || pool->leavers[i].deadline <= pool->now) {
			log_warn("a worker did not end in time and is killed: "
				 "pid=%d",
			    (int)pool->leavers[i].pid);
			kill(pool->leavers[i].pid, SIGKILL);
			pool->leavers[i].deadline = NEVER;
		}
	for (unsigned i = 0; i < pool->count && over; i++) {
		if (pool->slots[i].pid > 0)
			kill(pool->slots[i].pid, SIGKILL);
		if (pool->slots[i].old > 0)
			kill(pool->slots[i].old, SIGKILL);
	}
	if (over && pool->housekeeper > 0)
		kill(pool->housekeeper, SIGKILL);
	if (over)
		pool->stop_deadline = NEVER - 1; /* once is enough */
}

/* --- replacing one by one ------------------------------------------------- */

/* Gives up; the slot keeps its old worker. */
static void
keep_old(struct pool *pool, struct pool_slot *slot)
{
	log_error("the workers are not replaced: a new one could not serve");
	slot->pid = slot->old;
	slot->old = 0;
	slot->ready = true;
	slot->due = NEVER;
	pool->rolling = pool->count;
}

/* A slot with a dead worker gets a new one in any case. */
static void
roll_on(struct pool *pool)
{
	while (++pool->rolling < pool->count) {
		struct pool_slot *slot = &pool->slots[pool->rolling];

		if (slot->pid == 0)
			continue;
		slot->old = slot->pid;
		pool_start(pool, slot);
		if (slot->pid == 0)
			keep_old(pool, slot);
		return;
	}
	log_info("all workers were replaced");
}

static void
roll(struct pool *pool)
{
	if (pool_is_stopping(pool) || !pool->served)
		return;
	/* leavers[] holds two workers a slot: refuse until a whole roll fits. */
	if (pool->rolling < pool->count || pool->leaver_count > pool->count) {
		log_warn("the workers are being replaced already");
		return;
	}
	pool->job->reload(pool->job->context);
	/* The next sender has the new settings. */
	if (pool->sender > 0)
		kill(pool->sender, SIGTERM);
	else
		pool->sender_due = pool->now;
	if (pool->follower > 0)
		kill(pool->follower, SIGTERM);
	else
		pool->follower_due = pool->now;
	pool->rolling = UINT_MAX; /* one before the first */
	roll_on(pool);
}

/* --- what workers do ------------------------------------------------------ */

static bool
all_ready(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->count; i++)
		if (!pool->slots[i].ready)
			return false;
	return true;
}

/* A computation that a request waits for may use its whole time. */
static int64_t
leaving_time(const struct pool *pool)
{
	const struct api_settings *settings = pool->job->settings;

	return (settings->drain_s + settings->compute_timeout_s) * SECOND;
}

static void
on_ready(struct pool *pool, pid_t pid)
{
	for (unsigned i = 0; i < pool->count; i++) {
		struct pool_slot *slot = &pool->slots[i];

		if (slot->pid != pid)
			continue;
		slot->ready = true;
		if (slot->old > 0 && !pool_is_stopping(pool)) {
			leave(pool, slot->old, pool->now + leaving_time(pool));
			slot->old = 0;
			roll_on(pool);
		}
	}
	if (!pool->served && all_ready(pool)) {
		pool->served = true;
		pool->housekeeping_due = pool->now;
		log_info("serving: pages=%lldx%lld slow=%lldx%lld",
		    (long long)pool->job->settings->pages_processes,
		    (long long)pool->job->settings->pages_threads,
		    (long long)pool->job->settings->slow_processes,
		    (long long)pool->job->settings->slow_threads);
		notify("READY=1");
	}
}

static void
tell_death(const struct pool_slot *slot, int status)
{
	const char *kind = slot->slow ? "slow" : "pages";

	if (WIFSIGNALED(status))
		log_error("a worker was killed: pool=%s pid=%d signal=%d (%s)",
		    kind, (int)slot->pid, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		log_error("a worker ended: pool=%s pid=%d status=%d", kind,
		    (int)slot->pid, WEXITSTATUS(status));
}

/* At once after a good life; else after a pause that doubles. */
static void
replace(struct pool *pool, struct pool_slot *slot)
{
	if (slot->ready && pool->now - slot->began >= LIVED)
		slot->pause = 0;
	slot->pid = 0;
	slot->ready = false;
	slot->due = pool->now + slot->pause;
	slot->pause = slot->pause == 0 ? PAUSE_FIRST : 2 * slot->pause;
	if (slot->pause > PAUSE_MOST)
		slot->pause = PAUSE_MOST;
	atomic_fetch_add(&pool->job->metrics->workers_replaced, 1);
	/* Until its reader slots are freed, writes cannot reuse old pages. */
	if (pool->housekeeping_due > pool->now + SECOND)
		pool->housekeeping_due = pool->now + SECOND;
}

static void
on_slot_death(struct pool *pool, struct pool_slot *slot, int status)
{
	if (pool_is_stopping(pool)) {
		slot->pid = 0;
		return;
	}
	tell_death(slot, status);
	if (slot->old > 0)
		keep_old(pool, slot);
	else if (!pool->served && WIFEXITED(status)) {
		/* No worker ever served: another try will not help. */
		slot->pid = 0;
		pool->failed = true;
		stop(pool);
	} else
		replace(pool, slot);
}

static void
on_death(struct pool *pool, pid_t pid, int status)
{
	metrics_disown(pool->job->metrics, pid);
	if (pid == pool->housekeeper)
		pool->housekeeper = 0;
	if (pid == pool->sender) {
		pool->sender = 0;
		pool->sender_due = pool->now + SENDER_PAUSE_S * SECOND;
		if (!pool_is_stopping(pool))
			sender_tell(status);
	}
	if (pid == pool->follower) {
		pool->follower = 0;
		pool->follower_due = pool->now + FOLLOWER_PAUSE_S * SECOND;
	}
	for (unsigned i = 0; i < pool->leaver_count; i++)
		if (pool->leavers[i].pid == pid) {
			pool->leavers[i] = pool->leavers[--pool->leaver_count];
			return;
		}
	for (unsigned i = 0; i < pool->count; i++) {
		struct pool_slot *slot = &pool->slots[i];

		if (slot->pid == pid)
			on_slot_death(pool, slot, status);
		else if (slot->old == pid)
			slot->old = 0; /* its successor is starting */
	}
}

static void
reap(struct pool *pool)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		on_death(pool, pid, status);
}

/* --- the loop ------------------------------------------------------------- */

static void
housekeep(struct pool *pool)
{
	if (pool_is_stopping(pool) || pool->housekeeping_due > pool->now)
		return;
	pool->housekeeping_due = pool->now + HOUSEKEEP_EVERY_S * SECOND;
	if (pool->housekeeper == 0)
		pool->housekeeper = housekeep_start(
		    pool->job->settings, pool->job->listen, pool->job->metrics);
}

static void
start_sender(struct pool *pool)
{
	if (pool_is_stopping(pool) || !pool->served ||
	    pool->sender_due > pool->now)
		return;
	pool->sender_due = NEVER;
	pool->sender = sender_start(pool->job->settings, pool->job->listen);
}

static void
start_follower(struct pool *pool)
{
	if (pool_is_stopping(pool) || pool->follower_due > pool->now)
		return;
	pool->follower_due = NEVER;
	pool->follower = follower_start(
	    pool->job->settings, pool->job->listen, pool->job->metrics);
}

static bool
anybody_left(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->count; i++)
		if (pool->slots[i].pid > 0 || pool->slots[i].old > 0)
			return true;
	return pool->leaver_count > 0;
}

static int64_t
next_due(const struct pool *pool)
{
	int64_t due = pool->stop_deadline;

	if (!pool_is_stopping(pool) && pool->housekeeping_due < due)
		due = pool->housekeeping_due;
	if (!pool_is_stopping(pool) && pool->served && pool->sender_due < due)
		due = pool->sender_due;
	if (!pool_is_stopping(pool) && pool->follower_due < due)
		due = pool->follower_due;
	for (unsigned i = 0; i < pool->leaver_count; i++)
		if (pool->leavers[i].deadline < due)
			due = pool->leavers[i].deadline;
	for (unsigned i = 0; i < pool->count && !pool_is_stopping(pool); i++)
		if (pool->slots[i].due < due)
			due = pool->slots[i].due;
	return due;
}

static void
on_signal(struct pool *pool, unsigned number)
{
	switch (number) {
	case SIGCHLD:
		reap(pool);
		break;
	case SIGHUP:
		roll(pool);
		break;
	default:
		stop(pool);
	}
}

static void
wait_and_read(struct pool *pool)
{
	struct pollfd fds[] = {{.fd = pool->signals, .events = POLLIN},
	    {.fd = pool->ready[0], .events = POLLIN}};
	int64_t wait_ms = (next_due(pool) - date_monotonic_ns()) / 1000000 + 1;
	struct signalfd_siginfo info;
	pid_t pid;

	wait_ms = wait_ms < 0 ? 0 : wait_ms > 60000 ? 60000 : wait_ms;
	if (poll(fds, 2, (int)wait_ms) < 0 && errno != EINTR)
		log_error("poll failed: %s", strerror(errno));
	pool->now = date_monotonic_ns();
	while (read(pool->ready[0], &pid, sizeof(pid)) == sizeof(pid))
		on_ready(pool, pid);
	while (read(pool->signals, &info, sizeof(info)) == sizeof(info))
		on_signal(pool, info.ssi_signo);
}

static enum err
open_pool(struct pool *pool)
{
	const struct api_settings *settings = pool->job->settings;
	unsigned pages = (unsigned)settings->pages_processes;
	sigset_t set;

	pool->count = pages + (unsigned)settings->slow_processes;
	pool->rolling = pool->count;
	pool->slots = calloc(pool->count, sizeof(*pool->slots));
	pool->leavers = calloc(2 * pool->count, sizeof(*pool->leavers));
	if (pool->slots == NULL || pool->leavers == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = pages; i < pool->count; i++)
		pool->slots[i].slow = true;
	sigfillset(&set);
	for (unsigned i = 0; i < 5; i++)
		sigdelset(
		    &set, (int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}[i]);
	if (sigprocmask(SIG_SETMASK, &set, NULL) != 0)
		return ERR_SYSTEM;
	sigemptyset(&set);
	for (unsigned i = 0; i < 4; i++)
		sigaddset(&set, (int[]){SIGTERM, SIGINT, SIGHUP, SIGCHLD}[i]);
	pool->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (pool->signals < 0 ||
	    pipe2(pool->ready, O_CLOEXEC | O_NONBLOCK) != 0)
		return ERR_SYSTEM;
	return ERR_OK;
}

static void
close_pool(struct pool *pool)
{
	const pid_t aside[] = {pool->housekeeper, pool->sender, pool->follower};

	for (unsigned i = 0; i < 3; i++)
		if (aside[i] > 0) {
			kill(aside[i], SIGKILL);
			waitpid(aside[i], NULL, 0);
		}
	if (pool->signals >= 0)
		close(pool->signals);
	for (int i = 0; i < 2; i++)
		if (pool->ready[i] >= 0)
			close(pool->ready[i]);
	free(pool->leavers);
	free(pool->slots);
}

int
pool_run(const struct pool_job *job)
{
	struct pool pool = {.job = job,
	    .signals = -1,
	    .ready = {-1, -1},
	    .stop_deadline = NEVER};
	char why[LIMITS_TEXT_MAX];

	assert(job != NULL);
	pool.now = date_monotonic_ns();
	pool.housekeeping_due = NEVER;
	if (open_pool(&pool) != ERR_OK) {
		log_error(
		    "the pool cannot be set up: %s", limits_why(why, errno));
		pool.failed = true;
	}
	while (!pool.failed || anybody_left(&pool)) {
		pool_start_due(&pool);
		housekeep(&pool);
		start_sender(&pool);
		start_follower(&pool);
		wait_and_read(&pool);
		kill_overdue(&pool);
		if (pool_is_stopping(&pool) && !anybody_left(&pool))
			break;
	}
	close_pool(&pool);
	return pool.failed ? 1 : 0;
}
