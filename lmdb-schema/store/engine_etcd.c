#include "lmdb-schema/store/engine_etcd.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "common/num.h"
#include "common/origin.h"
#include "common/web/ask.h"
#include "lmdb-schema/store/engine_pause.h"
#include "lmdb-schema/store/etcd_refusal.h"
#include "lmdb-schema/store/etcd_text.h"

#define BODY_MAX ((size_t)96 << 20)
#define READ_AT_ONCE 64u
#define URL_MAX 320
#define MEMBERS_TEXT_MAX 2048
#define TRIED_MAX 1024
#define SAID_MAX (ETCD_FAULT_MAX + 64)

/* One request at a time, on a connection of its own. */
struct lane {
	pthread_mutex_t lock;
	struct asker *asker; /* NULL: none was needed yet */
	unsigned member; /* who is asked first */
	char token[ETCD_TOKEN_MAX];
	struct buf body, answer;
	int64_t end_ns; /* of the request, over all members */
	char tried[TRIED_MAX]; /* of it, the members that failed, and why */
	char said[SAID_MAX]; /* by the member, of its last failure */
	bool refused; /* the request: engine_trouble.h */
	bool writes; /* the request: it changes keys */
	bool denied; /* the right to do so: nothing else is away */
	struct engine_doubt doubt;
};

struct etcd {
	struct engine engine; /* first: an engine is its etcd */
	char *texts[6]; /* of the settings */
	struct ask_trust trust;
	const char *user, *password;
	const char *name; /* of the cluster */
	uint64_t epoch;
	char prefix[ENGINE_EPOCH_NAME_MAX]; /* of its keys */
	char members[MEMBERS_TEXT_MAX]; /* each ends with NUL */
	const char *member[ENGINE_ETCD_MEMBERS];
	unsigned count;
	/* An append holds the environment, and a read waits for it. */
	struct lane appends[STORE_ENVS], reads[STORE_ENVS], heads, nodes, notes;
	struct engine_pause pause;
};

/* --- a request ------------------------------------------------------------ */

static struct span
name_of(const struct etcd *etcd)
{
	return span_of(etcd->prefix);
}

static void
lane_init(struct lane *lane)
{
	pthread_mutex_init(&lane->lock, NULL);
	buf_init(&lane->body, BODY_MAX);
	buf_init(&lane->answer, BODY_MAX);
}

static void
lane_fini(struct lane *lane)
{
	asker_free(lane->asker);
	pthread_mutex_destroy(&lane->lock);
	buf_fini(&lane->body);
	buf_fini(&lane->answer);
}

/* Of a certificate: no wait brings a member to another one. */
static void
note_distrust(struct etcd *etcd, struct lane *lane)
{
	struct engine_trouble trouble = {.refusal = "cannot be reached by TLS",
	    .todo = "ca in cluster.conf names a file with the certificate of "
		    "the authority that has signed etcd's, and with that of "
		    "the other nodes'"};
	char where[URL_MAX + 8];

	if (!ask_distrusts(ask_why(lane->asker)))
		return;
	snprintf(trouble.why, sizeof(trouble.why), "%s", ask_why(lane->asker));
	snprintf(where, sizeof(where), "member=%s", etcd->member[lane->member]);
	engine_refuses(&etcd->engine, &trouble, where);
	lane->refused = true;
}

static enum err
ask_member(struct etcd *etcd, struct lane *lane, const char *path,
    const struct buf *body, int *status)
{
	char url[URL_MAX];
	const struct ask_question question = {.url = url,
	    .token = lane->token[0] == '\0' ? NULL : lane->token,
	    .body = buf_span(body),
	    .timeout_ms =
		(lane->end_ns - date_monotonic_ns()) / ENGINE_NS_A_MS};
	enum err err;

	if (question.timeout_ms <= 0)
		return ERR_AWAY;

	snprintf(url, sizeof(url), "%s%s", etcd->member[lane->member], path);
	err = ask(lane->asker, &question, status, &lane->answer);
	if (err == ERR_AWAY)
		note_distrust(etcd, lane);
	return err;
}

static void
next_member(const struct etcd *etcd, struct lane *lane)
{
	lane->member = (lane->member + 1) % etcd->count;
}

/* Of an answer with a status other than 200. */
static void
take_said(struct lane *lane, int status, char text[ETCD_FAULT_MAX])
{
	etcd_fault(buf_span(&lane->answer), text);
	snprintf(
	    lane->said, sizeof(lane->said), "it answered %d: %s", status, text);
}

/* False: etcd says nothing of its users. */
static bool
note_refusal(struct etcd *etcd, struct lane *lane, const char *text)
{
	struct engine_trouble trouble;
	char where[URL_MAX + 8];

	if (!etcd_refusal(&trouble, text, etcd->user, etcd->name, lane->writes))
		return false;
	snprintf(lane->said, sizeof(lane->said), "it %s", trouble.refusal);
	snprintf(where, sizeof(where), "member=%s", etcd->member[lane->member]);
	engine_refuses(&etcd->engine, &trouble, where);
	lane->refused = true;
	lane->denied = trouble.of_rights;
	return true;
}

static enum err
log_in(struct etcd *etcd, struct lane *lane)
{
	char text[ETCD_FAULT_MAX];
	struct buf body;
	int status = 0;
	enum err err;

	buf_init(&body, BODY_MAX);
	etcd_ask_token(&body, span_of(etcd->user), span_of(etcd->password));
	lane->token[0] = '\0';
	err = buf_end(&body);
	if (err == ERR_OK)
		err = ask_member(
		    etcd, lane, "/v3/auth/authenticate", &body, &status);
	if (err == ERR_OK)
		err = status == 200
		    ? etcd_token(buf_span(&lane->answer), lane->token)
		    : ERR_DENIED;
	if (err == ERR_DENIED) {
		take_said(lane, status, text);
		note_refusal(etcd, lane, text);
	}
	buf_fini(&body);
	return err == ERR_NO_MEMORY ? err : err == ERR_OK ? ERR_OK : ERR_AWAY;
}

/*
 * Of an answer with a status other than 200. ERR_AWAY and ERR_TOO_LARGE
 * where nothing was done. etcd answers 5xx also for what it may do later.
 */
static enum err
refused(struct etcd *etcd, struct lane *lane, int status)
{
	char text[ETCD_FAULT_MAX];
	bool large;

	take_said(lane, status, text);
	large = strstr(text, "too large") != NULL ||
	    strstr(text, "larger than max") != NULL;
	if (!note_refusal(etcd, lane, text) &&
	    (!engine_has_failed(&etcd->pause) || large))
		log_error("etcd does not take a request: member=%s status=%d "
			  "bytes=%zu text=%s",
		    etcd->member[lane->member], status, lane->body.len, text);
	if (large)
		return ERR_TOO_LARGE;
	return status >= 400 && status < 500 ? ERR_AWAY : ERR_UNKNOWN;
}

/* To one member: its answer is of status 200. */
static enum err
exchange_once(struct etcd *etcd, struct lane *lane, const char *path)
{
	bool fresh = false;
	int status = 0;
	enum err err = ERR_OK;

	lane->said[0] = '\0';
	if (etcd->user[0] != '\0' && lane->token[0] == '\0') {
		fresh = true;
		err = log_in(etcd, lane);
	}
	if (err == ERR_OK)
		err = ask_member(etcd, lane, path, &lane->body, &status);
	/* Tokens end by time, and with the member that gave them. */
	if (err == ERR_OK && status == 401 && etcd->user[0] != '\0' && !fresh) {
		err = log_in(etcd, lane);
		if (err == ERR_OK)
			err =
			    ask_member(etcd, lane, path, &lane->body, &status);
	}
	if (err == ERR_OK && status != 200)
		err = refused(etcd, lane, status);
	return err;
}

/* A refusal is noted where it is met. */
static void
note_failure(struct etcd *etcd, const struct lane *lane, bool went)
{
	static const struct engine_trouble away = {
	    .todo = "bring a majority back; the network between the hosts, and "
		    "the certificates: docs/cluster.md"};

	if (lane->refused)
		return;
	engine_fails(&etcd->engine, &away);
	if (went)
		log_error("etcd is away, nothing can be stored:%s",
		    lane->tried[0] == '\0' ? " an answer cannot be read"
					   : lane->tried);
}

static void
note(struct etcd *etcd, const struct lane *lane, enum err err)
{
	enum engine_change change = engine_note(&etcd->pause, err);

	if (err == ERR_AWAY || err == ERR_UNKNOWN)
		note_failure(etcd, lane, change == ENGINE_WENT);
	else if (change == ENGINE_CAME) {
		engine_works(&etcd->engine);
		log_info("etcd is there again: member=%s",
		    etcd->member[lane->member]);
	}
}

/* Of the member that was asked last. */
static const char *
why_of(const struct lane *lane, enum err err)
{
	if (lane->said[0] != '\0')
		return lane->said;
	return lane->asker != NULL && ask_why(lane->asker)[0] != '\0'
	    ? ask_why(lane->asker)
	    : err_text(err);
}

static void
note_tried(const struct etcd *etcd, struct lane *lane, enum err err)
{
	size_t len = strlen(lane->tried);

	snprintf(lane->tried + len, sizeof(lane->tried) - len,
	    " member=%s error=%s", etcd->member[lane->member],
	    why_of(lane, err));
}

/* Asks the members in turn; a write ends with the first that has it. */
static enum err
exchange(struct etcd *etcd, struct lane *lane, const char *path, bool reads)
{
	enum err err = buf_end(&lane->body);

	if (err == ERR_OK && lane->asker == NULL)
		err = asker_new(&lane->asker, &etcd->trust);
	if (err != ERR_OK)
		return err;
	lane->end_ns = engine_end_ns(lane->body.len);
	lane->tried[0] = '\0';
	lane->refused = lane->denied = false;
	lane->writes = strcmp(path, "/v3/kv/range") != 0;
	for (unsigned i = 0; i < etcd->count; i++) {
		bool late = date_monotonic_ns() >= lane->end_ns;

		err = exchange_once(etcd, lane, path);
		if (err != ERR_OK && !late)
			note_tried(etcd, lane, err);
		if (err != ERR_AWAY && !(reads && err == ERR_UNKNOWN))
			break;
		next_member(etcd, lane);
	}
	if (err == ERR_UNKNOWN && !reads)
		next_member(etcd, lane);
	return reads && err == ERR_UNKNOWN ? ERR_AWAY : err;
}

/* --- rights --------------------------------------------------------------- */

/* A refusal is noted as it is met. */
static enum err
ask_rights(struct etcd *etcd, struct lane *lane)
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_rights(&lane->body, name_of(etcd));
	err = exchange(etcd, lane, "/v3/kv/txn", true);
	return err != ERR_OK && lane->denied ? ERR_DENIED : err;
}

static enum err
get_rights(struct engine *engine)
{
	struct etcd *etcd = (struct etcd *)engine;
	enum err err;

	pthread_mutex_lock(&etcd->nodes.lock);
	err = ask_rights(etcd, &etcd->nodes);
	pthread_mutex_unlock(&etcd->nodes.lock);
	return err;
}

/* Behind a write: the user may have all rights again. */
static void
note_written(struct etcd *etcd, struct lane *lane)
{
	struct engine_trouble trouble;

	if (engine_lacks_rights(&trouble, &etcd->engine) &&
	    ask_rights(etcd, lane) == ERR_OK)
		engine_has_rights(&etcd->engine);
}

/* --- heads ---------------------------------------------------------------- */

static enum err
ask_heads(struct etcd *etcd, struct lane *lane, uint64_t heads[STORE_ENVS])
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_heads(&lane->body, name_of(etcd));
	err = exchange(etcd, lane, "/v3/kv/range", true);
	if (err == ERR_OK)
		err = etcd_heads(buf_span(&lane->answer), name_of(etcd), heads);
	if (err == ERR_BAD_INPUT)
		err = ERR_AWAY;
	note(etcd, lane, err);
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
		err = exchange(etcd, lane, "/v3/kv/txn", false);
		if (err == ERR_OK)
			err = etcd_appended(
			    &last, buf_span(&lane->answer), append);
	}
	if (err == ERR_BAD_INPUT || err == ERR_BUSY)
		err = ERR_UNKNOWN;
	/* The log can be read all the same: nothing pauses. */
	if (!lane->denied)
		note(etcd, lane, err);
	if (err == ERR_OK)
		note_written(etcd, lane);
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
	err = exchange(etcd, lane, "/v3/kv/range", true);
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

/* --- nodes ---------------------------------------------------------------- */

static enum err
ask_lease(struct etcd *etcd, struct lane *lane, unsigned seconds, char *lease)
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_lease(&lane->body, seconds);
	err = exchange(etcd, lane, "/v3/lease/grant", true);
	return err == ERR_OK ? etcd_lease(buf_span(&lane->answer), lease) : err;
}

static enum err
put_node(struct etcd *etcd, const struct engine_node *node, const char *lease,
    bool is_new, struct engine_node *other)
{
	struct lane *lane = &etcd->nodes;
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_node(&lane->body, name_of(etcd), node, span_of(lease), is_new);
	err = exchange(etcd, lane, "/v3/kv/txn", true);
	if (err == ERR_OK)
		err = etcd_node_put(
		    buf_span(&lane->answer), span_of(node->run), other);
	return err;
}

/* Of an answer that is none: nothing is known. */
static enum err
away(enum err err)
{
	return err == ERR_BAD_INPUT || err == ERR_NOT_FOUND ? ERR_AWAY : err;
}

static enum err
node_put(struct engine *engine, const struct engine_node *node,
    unsigned seconds, struct engine_node *other)
{
	struct etcd *etcd = (struct etcd *)engine;
	char lease[NUM_TEXT_MAX];
	enum err err;

	pthread_mutex_lock(&etcd->nodes.lock);
	err = ask_lease(etcd, &etcd->nodes, seconds, lease);
	if (err == ERR_OK)
		err = put_node(etcd, node, lease, false, other);
	if (err == ERR_NOT_FOUND)
		err = put_node(etcd, node, lease, true, other);
	if (err == ERR_OK)
		note_written(etcd, &etcd->nodes);
	pthread_mutex_unlock(&etcd->nodes.lock);
	return away(err);
}

static enum err
get_nodes(struct engine *engine,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->nodes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_nodes(&lane->body, name_of(etcd));
	err = exchange(etcd, lane, "/v3/kv/range", true);
	if (err == ERR_OK)
		err = etcd_nodes(buf_span(&lane->answer), each, context);
	pthread_mutex_unlock(&lane->lock);
	return away(err);
}

/*
 * A member answers of itself without a majority, which a login needs: it is asked
 * without one first.
 */
static enum err
ask_status(struct etcd *etcd, struct lane *lane)
{
	static const char path[] = "/v3/maintenance/status";
	char token[ETCD_TOKEN_MAX];
	int status = 0;
	enum err err;

	memcpy(token, lane->token, sizeof(token));
	lane->token[0] = '\0';
	err = ask_member(etcd, lane, path, &lane->body, &status);
	memcpy(lane->token, token, sizeof(token));
	return err == ERR_OK && status != 200 ? exchange_once(etcd, lane, path)
					      : err;
}

static enum err
ask_server(struct etcd *etcd, unsigned which, struct engine_server *server)
{
	struct lane *lane = &etcd->nodes;
	enum err err;

	*server = (struct engine_server){.address = etcd->member[which]};
	lane->member = which;
	lane->refused = lane->denied = lane->writes = false;
	lane->said[0] = '\0';
	lane->end_ns = engine_end_ns(0);
	buf_clear(&lane->body);
	buf_add_text(&lane->body, "{}");
	err = buf_end(&lane->body);
	if (err == ERR_OK && lane->asker == NULL)
		err = asker_new(&lane->asker, &etcd->trust);
	if (err == ERR_OK)
		err = ask_status(etcd, lane);
	if (err == ERR_OK)
		err = etcd_status(buf_span(&lane->answer), server);
	/* Of one whose certificate is not trusted no answer was read. */
	server->there =
	    err == ERR_OK || (lane->refused && lane->said[0] != '\0');
	if (err != ERR_OK)
		server->why = why_of(lane, err);
	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

static enum err
get_servers(struct engine *engine,
    enum err (*each)(void *context, const struct engine_server *server),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	enum err err = ERR_OK;

	pthread_mutex_lock(&etcd->nodes.lock);
	for (unsigned i = 0; i < etcd->count && err == ERR_OK; i++) {
		struct engine_server server;

		err = ask_server(etcd, i, &server);
		if (err == ERR_OK)
			err = each(context, &server);
	}
	pthread_mutex_unlock(&etcd->nodes.lock);
	return err;
}

/* --- for gridctl cluster -------------------------------------------------- */

/* Of what may be done twice. */
static enum err
repeatable(struct etcd *etcd, const char *path)
{
	return away(exchange(etcd, &etcd->notes, path, true));
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
		err = away(etcd_first(buf_span(&lane->answer), &first));
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
	enum err err = get_heads(engine, true, heads);

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
		err = away(etcd_epoch(buf_span(&lane->answer), text));
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
	err = exchange(etcd, lane, "/v3/kv/txn", false);
	if (err == ERR_OK) {
		err = etcd_begun(buf_span(&lane->answer));
		if (err == ERR_BAD_INPUT)
			err = ERR_UNKNOWN;
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
	    text.len < URL_MAX - 64;
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
		lane_fini(&etcd->appends[i]);
		lane_fini(&etcd->reads[i]);
	}
	lane_fini(&etcd->heads);
	lane_fini(&etcd->nodes);
	lane_fini(&etcd->notes);
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
	    .node_put = node_put,
	    .rights = get_rights,
	    .nodes = get_nodes,
	    .trim = trim,
	    .node_drop = drop_node,
	    .note_put = put_note,
	    .note_drop = drop_note,
	    .notes = get_notes,
	    .epoch = get_epoch,
	    .begin = begin,
	    .servers = get_servers,
	    .close = close_etcd};
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		lane_init(&etcd->appends[i]);
		lane_init(&etcd->reads[i]);
	}
	lane_init(&etcd->heads);
	lane_init(&etcd->nodes);
	lane_init(&etcd->notes);
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
