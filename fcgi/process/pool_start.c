/* Starting a worker in its slot. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/log.h"
#include "fcgi/process/pool_priv.h"
#include "fcgi/process/worker.h"

static void
run_worker(struct pool *pool, const struct pool_slot *slot, unsigned place,
    pid_t supervisor)
{
	const struct pool_job *job = pool->job;
	struct worker_job work = {
	    .settings = job->settings,
	    .metrics = job->metrics,
	    .listener =
		job->listen->fds[slot->slow ? LISTEN_SLOW : LISTEN_PAGES],
	    .handed_over = job->listen->handed_over,
	    .supervisor = supervisor,
	    .slow = slot->slow,
	    .patient = slot->patient,
	    .ready = pool->ready[1],
	};

	metrics_take_place(place);
	/* Without a supervisor nothing would ever end it. */
	prctl(PR_SET_PDEATHSIG, WORKER_LEAVE);
	if (getppid() != supervisor)
		_exit(WORKER_FAILED);
	close(pool->signals);
	close(pool->ready[0]);
	close(job->listen->fds[slot->slow ? LISTEN_PAGES : LISTEN_SLOW]);
	exit(worker_run(&work));
}

static bool
any_ready(const struct pool *pool, bool slow)
{
	for (unsigned i = 0; i < pool->count; i++)
		if (pool->slots[i].slow == slow && pool->slots[i].ready)
			return true;
	return false;
}

void
pool_start(struct pool *pool, struct pool_slot *slot)
{
	struct metrics *metrics = pool->job->metrics;
	unsigned place = metrics_free_place(metrics);
	char why[LIMITS_TEXT_MAX];
	pid_t supervisor = getpid();
	pid_t pid;

	assert(!pool_is_stopping(pool));
	assert(slot->pid == 0 || slot->pid == slot->old);
	/* Otherwise requests would wait for a worker until nginx gives up. */
	slot->ready = false;
	slot->patient =
	    pool->served && slot->old == 0 && !any_ready(pool, slot->slow);
	pid = fork();
	if (pid == 0)
		run_worker(pool, slot, place, supervisor);
	slot->began = pool->now;
	slot->due = NEVER;
	if (pid > 0) {
		metrics_own(metrics, place, pid);
		slot->pid = pid;
		return;
	}
	log_error(
	    "no worker can be started: %s", limits_why_no_thread(why, errno));
	slot->pid = 0;
	slot->due = pool->now + SECOND;
}

void
pool_start_due(struct pool *pool)
{
	for (unsigned i = 0; i < pool->count && !pool_is_stopping(pool); i++)
		if (pool->slots[i].due <= pool->now)
			pool_start(pool, &pool->slots[i]);
}
