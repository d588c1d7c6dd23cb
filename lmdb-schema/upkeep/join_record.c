#include "lmdb-schema/upkeep/join_record.h"

#include <string.h>
#include <time.h>

#include "lmdb-schema/store/cluster.h"

#define RECORD_S 10
#define EACH_S 2

/* All have the same run: a join that was killed leaves its record to the next. */
static enum err
put(struct join_record *record)
{
	struct engine_node other;

	record->node.beat++;
	return record->engine->node_put(
	    record->engine, &record->node, RECORD_S, &other);
}

/* True once the joining has ended. */
static bool
wait_for_end(struct join_record *record)
{
	struct timespec until;
	int rc = 0;
	bool ends;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += EACH_S;
	pthread_mutex_lock(&record->lock);
	while (!record->ends && rc == 0)
		rc = pthread_cond_timedwait(
		    &record->ended, &record->lock, &until);
	ends = record->ends;
	pthread_mutex_unlock(&record->lock);
	return ends;
}

/* A failure is tried again: the next record comes before this one ends. */
static void *
keep(void *context)
{
	while (!wait_for_end(context))
		(void)put(context);
	return NULL;
}

static enum err
name_record(struct join_record *record, const char *dir, struct fault *fault)
{
	struct engine_node node;
	enum err err = cluster_node(&node, dir, fault);

	engine_node_aside(&record->node, &node, ENGINE_RUN_JOINS);
	return err;
}

enum err
join_record_begin(struct join_record *record, struct engine *engine,
    const char *dir, struct fault *fault)
{
	pthread_condattr_t attr;
	enum err err;

	memset(record, 0, sizeof(*record));
	record->engine = engine;
	err = name_record(record, dir, fault);
	if (err == ERR_OK)
		err = put(record);
	if (err != ERR_OK)
		return err;
	pthread_mutex_init(&record->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&record->ended, &attr);
	pthread_condattr_destroy(&attr);
	record->runs = pthread_create(&record->thread, NULL, keep, record) == 0;
	return record->runs ? ERR_OK : ERR_NO_MEMORY;
}

void
join_record_end(struct join_record *record)
{
	if (!record->runs)
		return;
	pthread_mutex_lock(&record->lock);
	record->ends = true;
	pthread_cond_signal(&record->ended);
	pthread_mutex_unlock(&record->lock);
	pthread_join(record->thread, NULL);
	/* Where that fails, the record ends by itself. */
	(void)record->engine->node_drop(record->engine, record->node.name);
	pthread_mutex_destroy(&record->lock);
	pthread_cond_destroy(&record->ended);
	record->runs = false;
}
