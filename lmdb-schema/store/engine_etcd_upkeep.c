/* engine_etcd: the functions for gridctl cluster. */
#include "lmdb-schema/store/engine_etcd_priv.h"

/* Of what may be done twice. */
static enum err
repeatable(struct etcd *etcd, const char *path)
{
	return engine_etcd_as_away(
	    engine_etcd_ask(etcd, &etcd->notes, path, true));
}

/* One request of etcd's does not remove more: others wait behind it. */
#define TRIMMED_AT_ONCE 1000

static enum err
trim_some(
    struct etcd *etcd, const struct etcd_log *of, uint64_t up_to, bool *more)
{
	struct lane *lane = &etcd->notes;
	uint64_t first = 0, last;
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_first(&lane->body, of);
	err = repeatable(etcd, "/v3/kv/range");
	if (err == ERR_OK)
		err = engine_etcd_as_away(
		    etcd_first(buf_span(&lane->answer), &first));
	*more = err == ERR_OK && first > 0 && first <= up_to;
	if (!*more)
		return err;
	last = up_to - first < TRIMMED_AT_ONCE ? up_to
					       : first + TRIMMED_AT_ONCE - 1;
	buf_clear(&lane->body);
	etcd_ask_trim(&lane->body, of, first, last);
	return repeatable(etcd, "/v3/kv/deleterange");
}

static enum err
trim(struct engine *engine, enum store_env log, uint64_t up_to)
{
	struct etcd *etcd = (struct etcd *)engine;
	const struct etcd_log of = {name_of(etcd), log};
	uint64_t heads[STORE_ENVS];
	bool more = true;
	enum err err = engine->heads(engine, true, heads);

	/* By the last one, a node that is behind sees that others are missing. */
	if (err == ERR_OK && up_to >= heads[log])
		up_to = heads[log] == 0 ? 0 : heads[log] - 1;
	pthread_mutex_lock(&etcd->notes.lock);
	while (err == ERR_OK && more)
		err = trim_some(etcd, &of, up_to, &more);
	pthread_mutex_unlock(&etcd->notes.lock);
	return err;
}

static enum err
drop_node(struct engine *engine, const char *name)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	enum err err = ERR_OK;

	pthread_mutex_lock(&lane->lock);
	for (unsigned i = 0; i < 2 && err == ERR_OK; i++) {
		buf_clear(&lane->body);
		etcd_ask_node_drop(&lane->body, name_of(etcd), name, i == 0);
		err = repeatable(etcd, "/v3/kv/deleterange");
	}
	pthread_mutex_unlock(&lane->lock);
	return err;
}

static enum err
put_note(struct engine *engine, struct span name, struct span text)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_note_put(&lane->body, name_of(etcd), name, text);
	err = repeatable(etcd, "/v3/kv/put");
	pthread_mutex_unlock(&lane->lock);
	return err;
}

static enum err
drop_note(struct engine *engine, struct span name)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_note_drop(&lane->body, name_of(etcd), name);
	err = repeatable(etcd, "/v3/kv/deleterange");
	pthread_mutex_unlock(&lane->lock);
	return err;
}

static enum err
get_notes(struct engine *engine, const char *prefix,
    enum err (*each)(void *context, struct span name, struct span text),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_notes(&lane->body, name_of(etcd), prefix);
	err = repeatable(etcd, "/v3/kv/range");
	if (err == ERR_OK)
		err = etcd_notes(
		    buf_span(&lane->answer), name_of(etcd), each, context);
	pthread_mutex_unlock(&lane->lock);
	return err == ERR_BAD_INPUT ? ERR_AWAY : err;
}

static enum err
get_epoch(struct engine *engine, struct buf *text)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_epoch(&lane->body, span_of(etcd->name));
	err = repeatable(etcd, "/v3/kv/range");
	if (err == ERR_OK)
		err = engine_etcd_as_away(
		    etcd_epoch(buf_span(&lane->answer), text));
	pthread_mutex_unlock(&lane->lock);
	return err;
}

static enum err
begin(struct engine *engine, struct span before, struct span now,
    uint64_t number, struct span chain)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->notes;
	char names[2][ENGINE_EPOCH_NAME_MAX];
	struct etcd_beginning beginning = {.name = span_of(etcd->name),
	    .before = before,
	    .now = now,
	    .number = number};
	enum err err;

	(void)chain; /* the epoch's text has it */
	engine_epoch_name(names[0], etcd->name, engine_epoch_number(before));
	engine_epoch_name(names[1], etcd->name, engine_epoch_number(now));
	beginning.before_name = span_of(names[0]);
	beginning.now_name = span_of(names[1]);
	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_begin(&lane->body, &beginning);
	err = engine_etcd_ask(etcd, lane, "/v3/kv/txn", false);
	if (err == ERR_OK) {
		err = etcd_begun(buf_span(&lane->answer));
		if (err == ERR_BAD_INPUT)
			err = ERR_UNKNOWN;
	}
	pthread_mutex_unlock(&lane->lock);
	return err;
}

void
engine_etcd_for_upkeep(struct engine *engine)
{
	engine->trim = trim;
	engine->node_drop = drop_node;
	engine->note_put = put_note;
	engine->note_drop = drop_note;
	engine->notes = get_notes;
	engine->epoch = get_epoch;
	engine->begin = begin;
}
