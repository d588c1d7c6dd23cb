#include "lmdb-schema/upkeep/roster.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/num.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/store/store.h"

#define PREFIX "roster/"
#define SECOND_NS INT64_C(1000000000)

#define NAME_MAX_LEN (sizeof(PREFIX) + ENGINE_NODE_NAME_MAX)

enum err
roster_put(struct engine *engine, const char *node, int64_t now_ms)
{
	char name[NAME_MAX_LEN], text[NUM_TEXT_MAX];

	assert(node[0] != '\0');
	snprintf(name, sizeof(name), PREFIX "%s", node);
	snprintf(text, sizeof(text), "%lld", (long long)now_ms);
	return engine->note_put(engine, span_of(name), span_of(text));
}

enum err
roster_tell(int64_t *next_ns, struct engine *engine, const char *node,
    int64_t now_ms, int64_t now_ns)
{
	enum err err;

	if (now_ns < *next_ns)
		return ERR_OK;
	err = roster_put(engine, node, now_ms);
	if (err == ERR_OK)
		*next_ns = now_ns + ROSTER_EACH_S * SECOND_NS;
	return err;
}

struct walk {
	enum err (*each)(void *context, struct span node, int64_t there_ms);
	void *context;
};

/* A text that is not one of ours tells no time. */
static enum err
each_note(void *context, struct span name, struct span text)
{
	const struct walk *walk = context;
	int64_t there_ms = 0;

	if (!span_starts(name, SPAN(PREFIX)))
		return ERR_OK;
	(void)num_int(&there_ms, text, 0, INT64_MAX);
	return walk->each(
	    walk->context, span_from(name, sizeof(PREFIX) - 1), there_ms);
}

enum err
roster_each(struct engine *engine,
    enum err (*each)(void *context, struct span node, int64_t there_ms),
    void *context)
{
	struct walk walk = {each, context};

	return engine->notes(engine, PREFIX, each_note, &walk);
}

enum err
roster_drop(struct engine *engine, const char *node)
{
	char name[NAME_MAX_LEN];
	enum err err = engine->node_drop(engine, node);

	snprintf(name, sizeof(name), PREFIX "%s", node);
	return err == ERR_OK ? engine->note_drop(engine, span_of(name)) : err;
}

/* --- another node --------------------------------------------------------- */

struct looking {
	const char *node;
	bool alive, listed;
};

static enum err
look_alive(void *context, const struct engine_node *node)
{
	struct looking *looking = context;

	looking->alive |= strcmp(node->name, looking->node) == 0;
	return ERR_OK;
}

static enum err
look_listed(void *context, struct span node, int64_t there_ms)
{
	struct looking *looking = context;

	(void)there_ms;
	looking->listed |= span_eq(node, span_of(looking->node));
	return ERR_OK;
}

static enum err
look_for(struct looking *looking, struct store *store, struct engine *engine)
{
	struct share share;
	enum err err = engine->nodes(engine, look_alive, looking);

	if (err == ERR_OK)
		err = roster_each(engine, look_listed, looking);
	if (err == ERR_OK)
		err = share_look(&share, store);
	/* A node of an earlier version has this record alone. */
	if (err == ERR_OK && share_find(&share, looking->node) < share.count)
		looking->listed = true;
	return err;
}

static enum err
refuse(const struct looking *looking, const struct engine *engine,
    struct fault *fault)
{
	if (looking->alive) {
		fault_set(fault, engine->title,
		    "has node %s alive: stop it, and 'gridctl cluster leave' "
		    "there; of one that was killed its record ends within "
		    "10 seconds",
		    looking->node);
		return ERR_BUSY;
	}
	fault_set(fault, engine->title,
	    "has no node %s: 'gridctl cluster status' names those that there "
	    "are",
	    looking->node);
	return ERR_NOT_FOUND;
}

enum err
roster_remove(struct store *store, struct engine *engine, const char *node,
    struct fault *fault)
{
	struct looking looking = {.node = node};
	enum err err = look_for(&looking, store, engine);

	if (err == ERR_OK && (looking.alive || !looking.listed))
		return refuse(&looking, engine, fault);
	if (err == ERR_OK)
		err = share_drop(store, node);
	if (err == ERR_OK)
		err = roster_drop(engine, node);
	engine_tell_away(err, engine, fault);
	return err;
}
