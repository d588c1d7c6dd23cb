/* cluster_look: nodes that run in an epoch that has ended, as others began anew. */
#include <string.h>

#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/roster.h"
#include "tools/gridctl/cluster_look_priv.h"

/* Epochs that are looked at, before that of the cluster: each is a question more. */
#define FORMER_MAX 2

static enum err
note_name(void *context, struct span name, int64_t there_ms)
{
	struct cluster_looking *status = context;

	(void)there_ms;
	buf_addf(&status->alive, "%.*s\n", SPAN_ARG(name));
	return buf_end(&status->alive);
}

/* A record of a node that has come over ends within seconds. */
static enum err
each_former(void *context, const struct engine_node *node)
{
	struct cluster_looking *status = context;

	if (!cluster_look_is_aside(node) &&
	    !cluster_look_has_line(&status->alive, span_of(node->name)))
		cluster_look_unwell(status, false,
		    "stop that node, 'gridctl cluster join --anew' there, "
		    "start it",
		    "node %s runs, and has not come over to epoch %llu: it "
		    "stores nothing, and takes nothing in",
		    node->name, (unsigned long long)status->standing.now);
	return ERR_OK;
}

static enum err
look_at_epoch(
    struct cluster_looking *status, struct store *store, uint64_t epoch)
{
	struct engine *engine;
	enum err err = cluster_open(&engine, store_dir(store), epoch, NULL);

	if (err != ERR_OK)
		return err;
	err = engine->nodes(engine, each_former, status);
	engine->close(engine);
	return err;
}

enum err
cluster_look_at_former(struct cluster_looking *status, struct store *store)
{
	uint64_t now = status->standing.now;
	uint64_t epoch = now > FORMER_MAX ? now - FORMER_MAX : 0;
	enum err err = ERR_OK;

	/* A node that is in such an epoch itself has none but old records. */
	if (status->ended || now == 0)
		return ERR_OK;
	err = roster_each(status->engine, note_name, status);
	for (; epoch < now && err == ERR_OK; epoch++)
		err = look_at_epoch(status, store, epoch);
	return err;
}
