/* cluster_look: the waits for records that are under way, of each node (engine.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/upkeep/roster.h"
#include "tools/gridctl/cluster_look_priv.h"

/* gridapi puts a record every three seconds. */
#define RECORD_NS INT64_C(4000000000)
#define RECORD_LOOK_US 200000
#define RECORD_LINE_MAX (ENGINE_NODE_NAME_MAX + ENGINE_RUN_LEN + 32)

static void
record_line(char line[RECORD_LINE_MAX], const struct engine_node *node)
{
	snprintf(line, RECORD_LINE_MAX, "%s %s %llu", node->name, node->run,
	    (unsigned long long)node->beat);
}

/*
 * A record that may be of before the head was asked for: the node seems to lack
 * entries, to have others, or to stand still, as it may have done until it was stopped
 * and joined anew.
 */
static bool
may_be_old(const struct cluster_looking *status, const struct engine_node *node)
{
	struct lacks lacks;

	if (cluster_look_is_aside(node))
		return false;
	lacks_find(&lacks, &status->lacks, node);
	return lacks.stands[0] != '\0' ||
	    (!status->ended &&
		cluster_look_place(status, node) != status->head);
}

static enum err
note_record(void *context, const struct engine_node *node)
{
	struct cluster_looking *status = context;
	char line[RECORD_LINE_MAX];

	record_line(line, node);
	if (may_be_old(status, node))
		buf_addf(&status->old, "%s\n", line);
	return buf_end(&status->old);
}

static enum err
count_record(void *context, const struct engine_node *node)
{
	struct cluster_looking *status = context;

	status->waits += cluster_look_is_old(status, node);
	return ERR_OK;
}

bool
cluster_look_is_old(
    const struct cluster_looking *status, const struct engine_node *node)
{
	char line[RECORD_LINE_MAX];

	record_line(line, node);
	return cluster_look_has_line(&status->old, span_of(line));
}

/* Waits until each node whose record may be old has put one since. */
static enum err
await_records(struct cluster_looking *status)
{
	struct engine *engine = status->engine;
	int64_t end_ns = date_monotonic_ns() + RECORD_NS;
	enum err err = lacks_read(&status->lacks, engine);

	if (err == ERR_OK)
		err = engine->nodes(engine, note_record, status);
	if (err != ERR_OK || status->old.len == 0 || cluster_look_hides(status))
		return err;
	/* For records that were under way to the log. */
	usleep(RECORD_LOOK_US);
	buf_clear(&status->old);
	err = engine->nodes(engine, note_record, status);
	do {
		usleep(RECORD_LOOK_US);
		status->waits = 0;
		if (err == ERR_OK)
			err = engine->nodes(engine, count_record, status);
	} while (
	    err == ERR_OK && status->waits > 0 && date_monotonic_ns() < end_ns);
	return err;
}

/* --- nodes that begin ------------------------------------------------------ */

#define BEGIN_NS INT64_C(5000000000)

static enum err
note_name(void *context, const struct engine_node *node)
{
	struct cluster_looking *status = context;

	buf_addf(&status->alive, "%s\n", node->name);
	return buf_end(&status->alive);
}

static enum err
count_missing(void *context, struct span name, int64_t there_ms)
{
	struct cluster_looking *status = context;

	status->waits += !cluster_look_has_line(&status->alive, name) &&
	    date_now_ms() - there_ms < ROSTER_OLD_S * INT64_C(1000);
	return ERR_OK;
}

/*
 * Waits for the record of a node that was there a moment ago: gridapi that is started
 * anew puts it once that of the process before has ended.
 */
static enum err
await_nodes(struct cluster_looking *status)
{
	struct engine *engine = status->engine;
	int64_t end_ns = date_monotonic_ns() + BEGIN_NS;
	enum err err;

	for (;;) {
		status->waits = 0;
		buf_clear(&status->alive);
		err = engine->nodes(engine, note_name, status);
		if (err == ERR_OK)
			err = roster_each(engine, count_missing, status);
		buf_clear(&status->alive);
		if (err != ERR_OK || status->waits == 0 ||
		    cluster_look_hides(status) || date_monotonic_ns() >= end_ns)
			return err;
		usleep(RECORD_LOOK_US);
	}
}

enum err
cluster_look_await(struct cluster_looking *status)
{
	enum err err = status->ended ? ERR_OK : await_nodes(status);

	if (err == ERR_OK)
		err = await_records(status);
	buf_clear(&status->lacks);
	return err == ERR_OK ? lacks_read(&status->lacks, status->engine) : err;
}
