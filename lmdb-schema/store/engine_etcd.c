#include "lmdb-schema/store/engine_etcd.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/origin.h"
#include "lmdb-schema/store/engine_etcd_priv.h"

#define READ_AT_ONCE 64u

/* --- heads ---------------------------------------------------------------- */

static enum err
ask_heads(struct etcd *etcd, struct lane *lane, uint64_t heads[STORE_ENVS])
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_heads(&lane->body, name_of(etcd));
	err = engine_etcd_ask(etcd, lane, "/v3/kv/range", true);
	if (err == ERR_OK)
		err = etcd_heads(buf_span(&lane->answer), name_of(etcd), heads);
	if (err == ERR_BAD_INPUT)
		err = ERR_AWAY;
	engine_etcd_note(etcd, lane, err);
	return err;
}

static enum err
get_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	struct etcd *etcd = (struct etcd *)engine;
	enum err err;

	/* A read is linearizable in any case. */
	if (sure && engine_pauses(&etcd->pause))
		return ERR_AWAY;
	pthread_mutex_lock(&etcd->heads.lock);
	err = ask_heads(etcd, &etcd->heads, heads);
	pthread_mutex_unlock(&etcd->heads.lock);
	return err;
}

/* --- appending ------------------------------------------------------------ */

/* Whether an append is worth its time limit. */
static bool
is_there(struct etcd *etcd, struct lane *lane)
{
	uint64_t heads[STORE_ENVS];

	if (!engine_has_failed(&etcd->pause))
		return true;
	return !engine_pauses(&etcd->pause) &&
	    ask_heads(etcd, lane, heads) == ERR_OK;
}

/* The chain of an entry of an earlier version takes a second transaction. */
#define APPEND_TRIES 2

static enum err
append_known(
    struct etcd *etcd, struct lane *lane, const struct etcd_append *append)
{
	struct etcd_last last = {.begins = append->after == 0};
	enum err err = ERR_BUSY;

	for (unsigned i = 0; i < APPEND_TRIES && err == ERR_BUSY; i++) {
		buf_clear(&lane->body);
		etcd_ask_append(&lane->body, append, &last);
		err = engine_etcd_ask(etcd, lane, "/v3/kv/txn", false);
		if (err == ERR_OK)
			err = etcd_appended(
			    &last, buf_span(&lane->answer), append);
	}
	if (err == ERR_BAD_INPUT || err == ERR_BUSY)
		err = ERR_UNKNOWN;
	/* The log can be read all the same: nothing pauses. */
	if (!lane->denied)
		engine_etcd_note(etcd, lane, err);
	if (err == ERR_OK)
		engine_etcd_written(etcd, lane);
	return err;
}

static enum err
append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->appends[log];
	const struct etcd_append what = {.of = {name_of(etcd), log},
	    .name = span_of(etcd->name),
	    .epoch = etcd->epoch,
	    .after = after,
	    .chain = chain,
	    .id = id,
	    .entry = entry};
	enum err err = ERR_AWAY;

	assert(log < STORE_ENVS && id.len == ENGINE_ID_LEN);
	pthread_mutex_lock(&lane->lock);
	if (engine_doubts(&lane->doubt, id) || is_there(etcd, lane))
		err = append_known(etcd, lane, &what);
	err = engine_settle(&lane->doubt, id, err);
	pthread_mutex_unlock(&lane->lock);
	return err;
}

/* --- reading -------------------------------------------------------------- */

static enum err
read_some(struct etcd *etcd, struct lane *lane, const struct etcd_log *of,
    uint64_t *after, unsigned most, bool *more,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_read(&lane->body, of, *after, most);
	err = engine_etcd_ask(etcd, lane, "/v3/kv/range", true);
	if (err != ERR_OK)
		return err;
	err = etcd_entries(buf_span(&lane->answer), after, more, each, context);
	if (err == ERR_NOT_FOUND)
		log_error("log: entries that this node needs are trimmed: "
			  "log=%u number=%llu",
		    of->log, (unsigned long long)*after);
	return err == ERR_BAD_INPUT ? ERR_AWAY : err;
}

static enum err
read_log(struct engine *engine, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->reads[log];
	const struct etcd_log of = {name_of(etcd), log};
	unsigned most = READ_AT_ONCE;
	bool more = true;
	enum err err = ERR_OK;

	assert(log < STORE_ENVS && each != NULL);
	pthread_mutex_lock(&lane->lock);
	while (more && err == ERR_OK) {
		err = read_some(
		    etcd, lane, &of, &after, most, &more, each, context);
		if (err == ERR_TOO_LARGE && most > 1) {
			most = 1;
			more = true;
			err = ERR_OK;
		}
	}
	pthread_mutex_unlock(&lane->lock);
	return err;
}

/* --- opening -------------------------------------------------------------- */

static bool
is_member(struct span text)
{
	struct origin origin;

	return origin_read(&origin, text) &&
	    (span_eq(origin.scheme, SPAN("http")) ||
		span_eq(origin.scheme, SPAN("https"))) &&
	    text.len < ENGINE_ETCD_URL_MAX - 64;
}

static enum err
cut_members(struct etcd *etcd, const char *text, struct fault *fault)
{
	struct span piece, rest = span_of(text);
	char *to = etcd->members;

	while (span_cut(&piece, &rest, ',')) {
		piece = span_trim(piece);
		if (!is_member(piece)) {
			fault_set(fault, "etcd",
			    "is no address such as http://192.0.2.1:2379 or "
			    "https://host:2379, without a path: \"%.*s\"",
			    SPAN_ARG(piece));
			return ERR_BAD_INPUT;
		}
		if (etcd->count == ENGINE_ETCD_MEMBERS ||
		    (size_t)(to - etcd->members) + piece.len >=
			sizeof(etcd->members)) {
			fault_set(fault, "etcd", "names more than %d members",
			    ENGINE_ETCD_MEMBERS);
			return ERR_BAD_INPUT;
		}
		memcpy(to, piece.ptr, piece.len);
		etcd->member[etcd->count++] = to;
		to += piece.len + 1;
	}
	return ERR_OK;
}

static void
close_etcd(struct engine *engine)
{
	struct etcd *etcd = (struct etcd *)engine;

	for (unsigned i = 0; i < STORE_ENVS; i++) {
		engine_etcd_lane_fini(&etcd->appends[i]);
		engine_etcd_lane_fini(&etcd->reads[i]);
	}
	engine_etcd_lane_fini(&etcd->heads);
	engine_etcd_lane_fini(&etcd->nodes);
	engine_etcd_lane_fini(&etcd->notes);
	for (size_t i = 0; i < sizeof(etcd->texts) / sizeof(etcd->texts[0]);
	     i++)
		free(etcd->texts[i]);
	free(etcd);
}

static enum err
copy_texts(struct etcd *etcd, const struct engine_etcd_settings *settings)
{
	const char *const texts[] = {settings->name, settings->ca,
	    settings->cert, settings->key, settings->user, settings->password};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		etcd->texts[i] = strdup(texts[i]);
		if (etcd->texts[i] == NULL)
			return ERR_NO_MEMORY;
	}
	etcd->name = etcd->texts[0];
	etcd->trust =
	    (struct ask_trust){etcd->texts[1], etcd->texts[2], etcd->texts[3]};
	etcd->user = etcd->texts[4];
	etcd->password = etcd->texts[5];
	return ERR_OK;
}

enum err
engine_etcd_open(struct engine **out,
    const struct engine_etcd_settings *settings, struct fault *fault)
{
	struct etcd *etcd = calloc(1, sizeof(*etcd));
	enum err err;

	*out = NULL;
	if (etcd == NULL)
		return ERR_NO_MEMORY;
	etcd->engine = (struct engine){.title = "etcd",
	    .append = append,
	    .read = read_log,
	    .heads = get_heads,
	    .rights = engine_etcd_rights,
	    .close = close_etcd};
	engine_etcd_for_nodes(&etcd->engine);
	engine_etcd_for_upkeep(&etcd->engine);
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		engine_etcd_lane_init(&etcd->appends[i]);
		engine_etcd_lane_init(&etcd->reads[i]);
	}
	engine_etcd_lane_init(&etcd->heads);
	engine_etcd_lane_init(&etcd->nodes);
	engine_etcd_lane_init(&etcd->notes);
	err = copy_texts(etcd, settings);
	if (err == ERR_OK)
		err = engine_check_name(etcd->name, fault);
	if (err == ERR_OK)
		engine_epoch_name(etcd->prefix, etcd->name, settings->epoch);
	etcd->epoch = settings->epoch;
	if (err == ERR_OK)
		err = cut_members(etcd, settings->members, fault);
	if (err != ERR_OK) {
		close_etcd(&etcd->engine);
		return err;
	}
	*out = &etcd->engine;
	return ERR_OK;
}
