/*
 * A thread that finds no leader becomes the leader: it waits for the
 * environment's write lock, takes all jobs queued by then, runs them in one
 * transaction and wakes the other threads. Jobs that come while the leader
 * waits for the disk form the next batch, so batches grow with the latency of
 * the disk, and no timer is needed.
 *
 * Processes share nothing here: LMDB's write lock serialises them.
 */
#include "lmdb-schema/store/write_queue.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/kv/kv_ops.h"
#include "common/log.h"
#include "lmdb-schema/store/write_log.h"

struct job {
	enum err (*work)(void *context, struct kv_txn *txn);
	void *context;
	bool local;
	enum err err;
	bool done;
	struct job *next;
};

struct write_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *first, **last;
	bool led; /* a leader is at work */
	enum store_env env;
	struct engine *engine; /* NULL: one machine */
	enum err refusal; /* without an engine, of what is not local */
	struct buf ops; /* the leader's */
	bool shared; /* the leader's batch has a job that is not local */
};

struct write_queue *
write_queue_new(enum store_env env)
{
	struct write_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->last = &queue->first;
	queue->env = env;
	buf_init(&queue->ops, WRITE_LOG_OPS_MAX);
	return queue;
}

void
write_queue_free(struct write_queue *queue)
{
	if (queue == NULL)
		return;
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	buf_fini(&queue->ops);
	free(queue);
}

void
write_queue_share(struct write_queue *queue, struct engine *engine)
{
	queue->engine = engine;
}

void
write_queue_refuse(struct write_queue *queue, enum err err)
{
	queue->refusal = err;
}

static struct job *
take_all(struct write_queue *queue)
{
	struct job *batch;

	pthread_mutex_lock(&queue->lock);
	batch = queue->first;
	queue->first = NULL;
	queue->last = &queue->first;
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

static enum err
run_job(struct write_queue *queue, struct job *job, struct kv_txn *txn)
{
	queue->shared = queue->shared || !job->local;
	if (queue->engine != NULL)
		kv_keep_ops(txn, job->local ? NULL : &queue->ops);
	return job->work(job->context, txn);
}

static enum err
commit(struct write_queue *queue, struct kv_txn *txn)
{
	return queue->engine == NULL || !queue->shared
	    ? kv_commit(txn)
	    : write_log_commit(queue->engine, queue->env, txn, &queue->ops);
}

static enum err
run_batch(struct write_queue *queue, struct job *batch, struct kv_txn *txn)
{
	enum err err = ERR_OK;

	buf_clear(&queue->ops);
	queue->shared = false;
	for (struct job *job = batch; job != NULL && err == ERR_OK;
	     job = job->next)
		err = run_job(queue, job, txn);
	if (err == ERR_OK)
		return commit(queue, txn);
	kv_abort(txn);
	return err;
}

/* From the log, as other nodes' entries: a map may have grown, or room be there. */
static enum err
take_in(struct write_queue *queue, struct kv *kv)
{
	enum err err = write_log_follow(queue->engine, queue->env, kv);

	if (err == ERR_OK)
		return ERR_OK;
	log_error("log: an entry is stored for all nodes, and this one cannot "
		  "write it: error=%s: other nodes show it",
	    err_text(err));
	return ERR_STORED;
}

/*
 * Where the map was full, kv_write() enlarges it, by half each time: from the
 * smallest file this is room for any. Where another node has written, its
 * entries come first.
 */
#define TRIES 40

static enum err
run_again(
    struct write_queue *queue, struct job *batch, struct kv *kv, enum err err)
{
	struct kv_txn *txn;

	for (unsigned i = 0;
	     i < TRIES && (err == ERR_MAP_FULL || err == ERR_BEHIND); i++) {
		if (err == ERR_BEHIND)
			err = write_log_follow(queue->engine, queue->env, kv);
		if (err == ERR_OK || err == ERR_MAP_FULL)
			err = kv_write(&txn, kv);
		if (err == ERR_OK)
			err = run_batch(queue, batch, txn);
	}
	return err == ERR_STORED ? take_in(queue, kv) : err;
}

static void
run_alone(struct write_queue *queue, struct job *job, struct kv *kv)
{
	struct job alone = *job;
	struct kv_txn *txn;

	alone.next = NULL;
	job->err = kv_write(&txn, kv);
	if (job->err == ERR_OK)
		job->err =
		    run_again(queue, &alone, kv, run_batch(queue, &alone, txn));
}

/* Of the shared log: then the batch may be in it, or no other would be. */
static bool
is_of_log(enum err err)
{
	return err == ERR_UNKNOWN || err == ERR_STORED || err == ERR_AWAY ||
	    err == ERR_OUTRUN || err == ERR_FORKED;
}

/*
 * If a job fails, the batch is rolled back and each job runs alone, so that it
 * fails alone.
 */
static struct job *
lead(struct write_queue *queue, struct kv *kv)
{
	struct kv_txn *txn;
	enum err err = kv_write(&txn, kv);
	struct job *batch = take_all(queue);
	bool began = err == ERR_OK;

	if (began)
		err = run_again(queue, batch, kv, run_batch(queue, batch, txn));
	for (struct job *job = batch; job != NULL; job = job->next)
		job->err = err;
	if (began && err != ERR_OK && !is_of_log(err) && batch->next != NULL)
		for (struct job *job = batch; job != NULL; job = job->next)
			run_alone(queue, job, kv);
	return batch;
}

static void
finish(struct write_queue *queue, struct job *batch)
{
	pthread_mutex_lock(&queue->lock);
	while (batch != NULL) {
		struct job *next = batch->next;

		batch->done = true; /* may be freed after the unlock */
		batch = next;
	}
	queue->led = false;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

/* True when this thread is to lead; false when its job was done by another. */
static bool
enqueue(struct write_queue *queue, struct job *job)
{
	pthread_mutex_lock(&queue->lock);
	*queue->last = job;
	queue->last = &job->next;
	while (queue->led && !job->done)
		pthread_cond_wait(&queue->changed, &queue->lock);
	if (!job->done)
		queue->led = true;
	pthread_mutex_unlock(&queue->lock);
	return !job->done;
}

enum err
write_queue_run(struct write_queue *queue, struct kv *kv,
    enum err (*work)(void *context, struct kv_txn *txn), void *context,
    bool local)
{
	struct job job = {.work = work, .context = context, .local = local};

	assert(work != NULL);
	if (queue->refusal != ERR_OK && queue->engine == NULL && !local)
		return queue->refusal;
	if (enqueue(queue, &job))
		finish(queue, lead(queue, kv));
	return job.err;
}
