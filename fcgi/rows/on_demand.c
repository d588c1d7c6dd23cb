#include "fcgi/rows/on_demand.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "common/date.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/spawn.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "fcgi/settings.h"

#define CHILD_BUSY 3 /* gridctl compute --no-wait: all places are taken */
#define CHILD_LATE 4 /* --limit: it has ended itself */
#define CHILD_FULL 5 /* the disk of the data directory is full */
#define PAUSE_NS INT64_C(60000000000)
#define LONG_PAUSE_NS (10 * PAUSE_NS) /* when an index could not be made */
#define INDEX_LIMIT_S 600 /* it reads all snapshots, from a disk maybe */
#define LATER_NICE 10

enum kind {
	COMPUTE,
	INDEX, /* of all suppliers: "" */
	PACK, /* its rows, for PACKED_DUMPS and the kinds behind that */
	KINDS = PACK + PACKED_KINDS
};

/* A child under way: a thread of its own reaps it, requests wait. */
struct job {
	struct computing_table *table;
	struct job *next;
	char *supplier;
	char *data_dir; /* a copy: the settings may go before */
	int64_t limit_s;
	int64_t began_ns;
	pid_t pid;
	unsigned users;
	enum kind kind;
	bool done;
	enum err err;
};

struct computing_table {
	const struct api_settings *settings; /* NULL once the server closed */
	struct metrics *metrics; /* likewise */
	pthread_mutex_t lock;
	unsigned users; /* the server, and each thread that awaits a child */
	pthread_cond_t changed;
	struct job *jobs;
	unsigned waiting;
	int64_t after_ns[KINDS]; /* none of that kind before this */
};

struct computing_table *
computing_table_new(
    const struct api_settings *settings, struct metrics *metrics)
{
	struct computing_table *table = calloc(1, sizeof(*table));
	pthread_condattr_t monotonic;

	assert(settings != NULL && metrics != NULL);
	if (table == NULL)
		return NULL;
	table->settings = settings;
	table->metrics = metrics;
	table->users = 1;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&table->lock, NULL);
	pthread_cond_init(&table->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return table;
}

static void
leave_and_unlock(struct computing_table *table)
{
	unsigned users = --table->users;

	pthread_mutex_unlock(&table->lock);
	if (users > 0)
		return;
	pthread_mutex_destroy(&table->lock);
	pthread_cond_destroy(&table->changed);
	free(table);
}

void
computing_table_free(struct computing_table *table)
{
	if (table == NULL)
		return;
	pthread_mutex_lock(&table->lock);
	for (const struct job *job = table->jobs; job != NULL; job = job->next)
		if (job->kind == COMPUTE && !job->done)
			metrics_mine(table->metrics)->computations_running--;
	table->settings = NULL;
	table->metrics = NULL;
	leave_and_unlock(table);
}

/* --- the child ------------------------------------------------------------ */

static enum err
run_gridctl(pid_t *pid, char **argv)
{
	const struct spawn_spec spec = {
	    .program = argv[0], .argv = argv, .group = true};
	char why[LIMITS_TEXT_MAX];
	int errnum = spawn_start(pid, &spec);

	if (errnum == 0)
		return ERR_OK;
	log_error("cannot start a child: program=%s error=%s", argv[0],
	    limits_why_no_thread(why, errnum));
	return ERR_INTERNAL;
}

static int64_t
limit_of(const struct api_settings *settings, enum kind kind)
{
	int64_t limit = settings->compute_timeout_s;

	return kind == INDEX && limit < INDEX_LIMIT_S ? INDEX_LIMIT_S : limit;
}

/* The form that a job packs for, as gridctl takes it. */
static char *
packed_for(const struct job *job)
{
	unsigned kind = job->kind >= PACK ? job->kind - PACK : 0;

	return (char *)(uintptr_t)packed_kinds[kind].name;
}

static enum err
start(struct job *job, const struct api_settings *settings)
{
	char slots[32], limit[32];
	char *compute[] = {settings->gridctl, (char *)"--data",
	    settings->data_dir, (char *)"compute", (char *)"--quiet",
	    (char *)"--stale", (char *)"--absent", (char *)"--no-wait",
	    (char *)"--slots", slots, (char *)"--limit", limit, (char *)"--",
	    job->supplier, NULL};
	char *pack[] = {settings->gridctl, (char *)"--data", settings->data_dir,
	    (char *)"pack", (char *)"--quiet", (char *)"--jobs", (char *)"1",
	    (char *)"--for", packed_for(job), (char *)"--limit", limit,
	    (char *)"--", job->supplier, NULL};
	char *index[] = {settings->gridctl, (char *)"--data",
	    settings->data_dir, (char *)"index", (char *)"--quiet",
	    (char *)"--limit", limit, NULL};

	snprintf(
	    slots, sizeof(slots), "%lld", (long long)settings->compute_slots);
	/* The child keeps to the limit when this process is killed, too. */
	snprintf(limit, sizeof(limit), "%lld", (long long)job->limit_s);
	if (job->kind == COMPUTE)
		return run_gridctl(&job->pid, compute);
	return run_gridctl(&job->pid, job->kind == INDEX ? index : pack);
}

static const char *
failure_of(enum kind kind)
{
	return kind == COMPUTE ? "computation failed"
	    : kind == INDEX    ? "index of words failed"
			       : "packing of rows failed";
}

/* In the log: the index is of all. */
static const char *
supplier_of(const struct job *job)
{
	return job->kind == INDEX ? "(all)" : job->supplier;
}

static enum err
tell_full(const struct job *job)
{
	log_error("%s: %s: supplier=%s path=%s", failure_of(job->kind),
	    err_text(ERR_NO_SPACE), supplier_of(job), job->data_dir);
	return ERR_NO_SPACE;
}

static enum err
result_of(const struct job *job, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return ERR_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_BUSY)
		return ERR_BUSY;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_LATE)
		return ERR_TIMED_OUT;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_FULL)
		return tell_full(job);
	log_error("%s: supplier=%s %s=%d", failure_of(job->kind),
	    supplier_of(job), WIFSIGNALED(status) ? "signal" : "exit",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return ERR_INTERNAL;
}

/* Ends the child and its group when the limit is reached. */
static enum err
await(const struct job *job)
{
	int64_t end_ns = date_monotonic_ns() + job->limit_s * 1000000000;
	bool killed = !spawn_ends_before(job->pid, end_ns);
	int status;

	if (killed) {
		log_error("%s: ended at its limit: supplier=%s seconds=%lld",
		    failure_of(job->kind), supplier_of(job),
		    (long long)job->limit_s);
		spawn_kill_group(job->pid);
	}
	if (spawn_reap(&status, job->pid) != 0)
		return ERR_INTERNAL;
	return killed ? ERR_TIMED_OUT : result_of(job, status);
}

/* --- sharing -------------------------------------------------------------- */

static void
free_job(struct job *job)
{
	if (job != NULL) {
		free(job->supplier);
		free(job->data_dir);
	}
	free(job);
}

static void
release_job(struct computing_table *table, struct job *job)
{
	struct job **at = &table->jobs;

	if (--job->users > 0)
		return;
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	free_job(job);
}

static void
count_end(struct metrics *metrics, enum err err)
{
	if (err == ERR_OK)
		metrics->computations_done++;
	else if (err != ERR_BUSY)
		metrics->computations_failed++;
}

/* How long no other job of the kind is started. */
static int64_t
pause_after(enum kind kind, enum err err)
{
	if (kind == INDEX)
		return err == ERR_OK ? PAUSE_NS : LONG_PAUSE_NS;
	return kind >= PACK && err != ERR_OK ? PAUSE_NS : 0;
}

static void
note_end(struct computing_table *table, enum kind kind, enum err err)
{
	table->after_ns[kind] = date_monotonic_ns() + pause_after(kind, err);
	if (kind == COMPUTE && table->metrics != NULL)
		count_end(table->metrics, err);
}

/*
 * A thread of its own sees the child to its end, also when all clients and the
 * server have gone: what the thread needs is in the table and the job.
 */
static void *
run(void *context)
{
	struct job *job = context;
	struct computing_table *table = job->table;
	enum err err = await(job);

	pthread_mutex_lock(&table->lock);
	if (job->kind == COMPUTE && table->metrics != NULL) {
		metrics_mine(table->metrics)->computations_running--;
		if (err != ERR_BUSY)
			table->metrics->computations_ms +=
			    (unsigned long long)((date_monotonic_ns() -
						     job->began_ns) /
				1000000);
	}
	note_end(table, job->kind, err);
	job->done = true;
	job->err = err;
	pthread_cond_broadcast(&table->changed);
	release_job(table, job);
	leave_and_unlock(table);
	return NULL;
}

static enum err
start_thread(struct job *job)
{
	char why[LIMITS_TEXT_MAX];
	pthread_attr_t detached;
	pthread_t thread;
	int errnum, status;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	errnum = pthread_create(&thread, &detached, run, job);
	pthread_attr_destroy(&detached);
	if (errnum == 0)
		return ERR_OK;
	log_error("no thread awaits a computation: %s",
	    limits_why_no_thread(why, errnum));
	spawn_kill_group(job->pid);
	if (spawn_reap(&status, job->pid) != 0)
		log_error("cannot await a child: pid=%d", (int)job->pid);
	return ERR_NO_MEMORY;
}

static enum err
start_child(struct job *job)
{
	enum err err = start(job, job->table->settings);

	if (err != ERR_OK)
		return err;
	/* No request waits for the other kinds: pages get the processors. */
	if (job->kind != COMPUTE &&
	    setpriority(PRIO_PROCESS, (id_t)job->pid, LATER_NICE) != 0)
		log_debug("a child keeps its priority");
	return start_thread(job);
}

/* The table is locked: the thread of the job does not end before its entry. */
static enum err
start_job(struct job **out, struct computing_table *table, struct span supplier,
    enum kind kind)
{
	struct job *job = calloc(1, sizeof(*job));
	enum err err = ERR_NO_MEMORY;

	assert(table->settings != NULL && table->metrics != NULL);
	if (job != NULL) {
		job->supplier = span_dup(supplier);
		job->data_dir = span_dup(span_of(table->settings->data_dir));
	}
	if (job != NULL && job->supplier != NULL && job->data_dir != NULL) {
		job->table = table;
		job->kind = kind;
		job->limit_s = limit_of(table->settings, kind);
		job->began_ns = date_monotonic_ns();
		err = start_child(job);
		if (err != ERR_OK)
			note_end(table, kind, err);
	}
	if (err != ERR_OK) {
		free_job(job);
		return err;
	}
	if (kind == COMPUTE)
		metrics_mine(table->metrics)->computations_running++;
	job->users = 2; /* the thread and the caller */
	job->next = table->jobs;
	table->jobs = job;
	table->users++;
	*out = job;
	return ERR_OK;
}

static enum err
join_job(struct job **out, struct computing_table *table, struct span supplier,
    enum kind kind)
{
	struct job *job = table->jobs;

	while (job != NULL &&
	    (job->done || job->kind != kind ||
		!span_eq(span_of(job->supplier), supplier)))
		job = job->next;
	if (job == NULL)
		return start_job(out, table, supplier, kind);
	job->users++;
	*out = job;
	return ERR_OK;
}

static void
wait_a_little(struct computing_table *table)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 100000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&table->changed, &table->lock, &until);
}

enum err
on_demand_compute(struct call *call, struct span supplier)
{
	const struct request *request = call->request;
	struct computing_table *table = call->server->computing;
	struct job *job = NULL;
	enum err err = ERR_BUSY;

	assert(supplier.len > 0 && supplier.len <= SCHEMA_CODE_MAX);
	pthread_mutex_lock(&table->lock);
	if (table->waiting < (unsigned)table->settings->compute_waiters)
		err = join_job(&job, table, supplier, COMPUTE);
	if (err == ERR_OK) {
		table->waiting++;
		metrics_mine(table->metrics)->computations_waiting++;
		while (!job->done && err == ERR_OK) {
			wait_a_little(table);
			if (request->gone != NULL &&
			    request->gone(request->connection))
				err = ERR_CLOSED;
		}
		if (job->done)
			err = job->err;
		table->waiting--;
		metrics_mine(table->metrics)->computations_waiting--;
		release_job(table, job);
	}
	pthread_mutex_unlock(&table->lock);
	return err;
}

/* Starts the job, unless the last attempt has just failed. */
static void
begin_later(struct call *call, struct span supplier, enum kind kind)
{
	struct computing_table *table = call->server->computing;
	struct job *job;

	pthread_mutex_lock(&table->lock);
	if (date_monotonic_ns() >= table->after_ns[kind] &&
	    join_job(&job, table, supplier, kind) == ERR_OK)
		release_job(table, job);
	pthread_mutex_unlock(&table->lock);
}

void
on_demand_begin(struct call *call, struct span supplier)
{
	assert(supplier.len > 0);
	begin_later(call, supplier, COMPUTE);
}

void
on_demand_pack(struct call *call, struct span supplier, enum packed_kind kind)
{
	assert(supplier.len > 0);
	assert(kind < PACKED_KINDS);
	begin_later(call, supplier, PACK + (enum kind)kind);
}

void
on_demand_index(struct call *call)
{
	begin_later(call, SPAN(""), INDEX);
}
