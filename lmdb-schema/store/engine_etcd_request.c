/* engine_etcd: a request, the members that are asked in turn, and what refuses it. */
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "lmdb-schema/store/engine_etcd_priv.h"
#include "lmdb-schema/store/etcd_refusal.h"

#define BODY_MAX ((size_t)96 << 20)

void
engine_etcd_lane_init(struct lane *lane)
{
	pthread_mutex_init(&lane->lock, NULL);
	buf_init(&lane->body, BODY_MAX);
	buf_init(&lane->answer, BODY_MAX);
}

void
engine_etcd_lane_fini(struct lane *lane)
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
	char where[ENGINE_ETCD_URL_MAX + 8];

	if (!ask_distrusts(ask_why(lane->asker)))
		return;
	snprintf(trouble.why, sizeof(trouble.why), "%s", ask_why(lane->asker));
	snprintf(where, sizeof(where), "member=%s", etcd->member[lane->member]);
	engine_refuses(&etcd->engine, &trouble, where);
	lane->refused = true;
}

enum err
engine_etcd_ask_member(struct etcd *etcd, struct lane *lane, const char *path,
    const struct buf *body, int *status)
{
	char url[ENGINE_ETCD_URL_MAX];
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
	char where[ENGINE_ETCD_URL_MAX + 8];

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
		err = engine_etcd_ask_member(
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
enum err
engine_etcd_ask_one(struct etcd *etcd, struct lane *lane, const char *path)
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
		err = engine_etcd_ask_member(
		    etcd, lane, path, &lane->body, &status);
	/* Tokens end by time, and with the member that gave them. */
	if (err == ERR_OK && status == 401 && etcd->user[0] != '\0' && !fresh) {
		err = log_in(etcd, lane);
		if (err == ERR_OK)
			err = engine_etcd_ask_member(
			    etcd, lane, path, &lane->body, &status);
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

void
engine_etcd_note(struct etcd *etcd, const struct lane *lane, enum err err)
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
const char *
engine_etcd_why(const struct lane *lane, enum err err)
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
	    engine_etcd_why(lane, err));
}

/* Asks the members in turn; a write ends with the first that has it. */
enum err
engine_etcd_ask(
    struct etcd *etcd, struct lane *lane, const char *path, bool reads)
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

		err = engine_etcd_ask_one(etcd, lane, path);
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
	err = engine_etcd_ask(etcd, lane, "/v3/kv/txn", true);
	return err != ERR_OK && lane->denied ? ERR_DENIED : err;
}

enum err
engine_etcd_rights(struct engine *engine)
{
	struct etcd *etcd = (struct etcd *)engine;
	enum err err;

	pthread_mutex_lock(&etcd->nodes.lock);
	err = ask_rights(etcd, &etcd->nodes);
	pthread_mutex_unlock(&etcd->nodes.lock);
	return err;
}

/* Behind a write: the user may have all rights again. */
void
engine_etcd_written(struct etcd *etcd, struct lane *lane)
{
	struct engine_trouble trouble;

	if (engine_lacks_rights(&trouble, &etcd->engine) &&
	    ask_rights(etcd, lane) == ERR_OK)
		engine_has_rights(&etcd->engine);
}
