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
#include <stdbool.h>
#include <stdlib.h>

#include "common/kv/kv.h"

struct job {
	enum err (*work)(void *context, struct kv_txn *txn);
	void *context;
	enum err err;
	bool done;
	struct job *next;
};

struct write_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *first, **last;
	bool led; /* a leader is at work */
};

struct write_queue *
write_queue_new(void)
{
	struct write_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->last = &queue->first;
	return queue;
}

void
write_queue_free(struct write_queue *queue)
{
	if (queue == NULL)
		return;
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
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
run_batch(struct job *batch, struct kv_txn *txn)
{
	enum err err = ERR_OK;

	for (struct job *job = batch; job != NULL && err == ERR_OK;
	     job = job->next)
		err = job->work(job->context, txn);
	if (err == ERR_OK)
		return kv_commit(txn);
	kv_abort(txn);
	return err;
}

/*
 * Where the map was full, kv_write() enlarges it, by half each time: from the
 * smallest file this is room for any.
 */
#define TRIES 40

static enum err
run_again(struct job *batch, struct kv *kv, enum err err)
{
	struct kv_txn *txn;

	for (unsigned i = 0; i < TRIES && err == ERR_MAP_FULL; i++) {
		err = kv_write(&txn, kv);
		if (err == ERR_OK)
			err = run_batch(batch, txn);
	}
	return err;
}

static void
run_alone(struct job *job, struct kv *kv)
{
	struct job alone = *job;
	struct kv_txn *txn;

	alone.next = NULL;
	job->err = kv_write(&txn, kv);
	if (job->err == ERR_OK)
		job->err = run_again(&alone, kv, run_batch(&alone, txn));
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
		err = run_again(batch, kv, run_batch(batch, txn));
	for (struct job *job = batch; job != NULL; job = job->next)
		job->err = err;
	if (began && err != ERR_OK && batch->next != NULL)
		for (struct job *job = batch; job != NULL; job = job->next)
			run_alone(job, kv);
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
    enum err (*work)(void *context, struct kv_txn *txn), void *context)
{
	struct job job = {.work = work, .context = context};

	assert(work != NULL);
	if (enqueue(queue, &job))
		finish(queue, lead(queue, kv));
	return job.err;
}
