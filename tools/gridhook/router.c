#include "tools/gridhook/router.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/digest.h"
#include "common/log.h"
#include "common/origin.h"
#include "tools/gridhook/events/push.h"
#include "tools/gridhook/mcp/mcp.h"
#include "tools/gridhook/mcp/rpc.h"

#define PUSH_ID_LEN 12

enum endpoint { NOWHERE, HEALTH, PUSH, TOOLS };

/* A push whose events are in the round. */
struct waiting {
	struct waiting *next;
	struct conn *conn; /* NULL: its sender has left */
	unsigned count;
	enum err err;
};

struct router {
	struct router_spec spec;
	struct waiting *first, **last;
	char push_id[PUSH_ID_LEN + 1]; /* of this run */
	uint64_t pushes;
};

/* An MCP request on its connection. */
struct errand {
	struct conn *conn;
	struct mcp_post *post;
};

/* --- where to ------------------------------------------------------------- */

static bool
is_push(const struct settings *settings, struct span target)
{
	char path[FS_PATH_MAX];

	return settings_push_path(path, settings) == ERR_OK &&
	    span_starts(target, span_of(path));
}

static enum endpoint
endpoint_of(const struct settings *settings, struct conn *conn)
{
	const struct http *http = conn_http(conn);
	enum http_method method = http_method(http);
	struct span path = http_path(http);

	if (method == METHOD_GET || method == METHOD_HEAD) {
		if (span_eq(path, SPAN("/")) || span_eq(path, SPAN("/health")))
			return HEALTH;
	}
	if (span_eq(path, SPAN("/mcp")))
		return TOOLS;
	if (method == METHOD_POST && is_push(settings, http_target(http)))
		return PUSH;
	return NOWHERE;
}

/* --- who may -------------------------------------------------------------- */

/* Our own pages are at our port, by a name of this machine or its address. */
static bool
is_own_origin(const struct settings *settings, struct conn *conn,
    const struct origin *origin)
{
	const struct sockaddr_storage *own = conn_own_address(conn);
	char text[ADDRESS_TEXT_MAX];
	struct authority literal;
	unsigned port = origin->at.port == 0 ? 80 : origin->at.port;

	address_text(text, own);
	return span_eq_nocase(origin->scheme, SPAN("http")) &&
	    port == address_port(own) &&
	    (authority_is_loopback(&origin->at) ||
		span_eq_nocase(
		    origin->at.host, span_of(settings_host(settings))) ||
		(authority_read(&literal, span_of(text)) &&
		    span_eq_nocase(origin->at.host, literal.host)));
}

static bool
is_listed_origin(const struct settings *settings, const struct origin *origin)
{
	const char *list = settings->allowed_origins;
	struct origin listed;
	struct span item;

	while (settings_list_next(&item, &list)) {
		if (origin_read(&listed, item) && origin_same(&listed, origin))
			return true;
	}
	return false;
}

/*
 * Programs send no Origin. Web pages do, and where an old browser leaves it
 * out, a newer header may tell.
 */
static bool
origin_is_fine(const struct settings *settings, struct conn *conn)
{
	struct span text = http_header(conn_http(conn), "origin");
	struct span site = http_header(conn_http(conn), "sec-fetch-site");
	struct origin origin;

	if (text.ptr == NULL)
		return site.ptr == NULL || span_eq(site, SPAN("none")) ||
		    span_eq(site, SPAN("same-origin"));
	return origin_read(&origin, text) &&
	    (is_own_origin(settings, conn, &origin) ||
		is_listed_origin(settings, &origin));
}

static bool
is_listed_host(const struct settings *settings, const struct authority *at)
{
	const char *list = settings->allowed_hosts;
	struct authority listed;
	struct span item;

	while (settings_list_next(&item, &list)) {
		if (authority_read(&listed, item) &&
		    span_eq_nocase(listed.host, at->host) &&
		    (listed.port == 0 || listed.port == at->port))
			return true;
	}
	return false;
}

/* Only a page of the same machine can name another host than ours. */
static bool
is_own_host(const struct settings *settings, struct span text)
{
	struct span listening = span_of(settings_host(settings));
	struct authority at;

	return authority_read(&at, text) &&
	    (authority_is_loopback(&at) || span_eq_nocase(at.host, listening) ||
		is_listed_host(settings, &at));
}

/* The host of an absolute address must be that of the header as well. */
static bool
host_is_fine(const struct settings *settings, struct conn *conn)
{
	struct span header = http_header(conn_http(conn), "host");
	struct span target = http_authority(conn_http(conn));
	struct authority a, b;

	if (target.ptr != NULL && header.ptr != NULL &&
	    !(authority_read(&a, target) && authority_read(&b, header) &&
		authority_same(&a, &b, 80)))
		return false;
	if (!settings_is_loopback(settings))
		return true;
	return (header.ptr == NULL || is_own_host(settings, header)) &&
	    (target.ptr == NULL || is_own_host(settings, target));
}

/*
 * Without a secret: of this machine only our user's programs, and root's. What
 * came over loopback and cannot be told is refused. NULL, or what is wrong.
 */
static const char *
user_fault(const struct settings *settings, struct conn *conn)
{
	uid_t user;
	enum err err;

	if (!settings_wants_user(settings))
		return NULL;
	err = conn_user(conn, &user);
	if (err == ERR_OK)
		return user == geteuid() || user == 0
		    ? NULL
		    : "another user's program ([server] same_user)";
	if (!address_is_loopback(conn_address(conn)) &&
	    !address_is_loopback(conn_own_address(conn)))
		return NULL;
	if (err == ERR_NOT_FOUND)
		return "a program whose user cannot be told ([server] "
		       "same_user): it has closed its socket, or is in "
		       "another network namespace";
	return "a program whose user cannot be told ([server] same_user): "
	       "neither sock_diag nor /proc/self/net/tcp can be read";
}

/* --- the secret ----------------------------------------------------------- */

/* What was sent as the secret; .ptr NULL when nothing was. */
static struct span
secret_given(struct conn *conn)
{
	struct span given = http_header(conn_http(conn), "x-service-secret");
	struct span scheme = SPAN("Bearer ");

	if (given.ptr != NULL)
		return given;
	given = http_header(conn_http(conn), "authorization");
	if (given.ptr == NULL || given.len < scheme.len ||
	    !span_eq_nocase(span_sub(given, 0, scheme.len), scheme))
		return span_make(NULL, 0);
	return span_trim(span_from(given, scheme.len));
}

static struct guard_who
who_is(struct conn *conn)
{
	struct guard_who who = {
	    .address = conn_address(conn), .peer = conn_peer(conn)};

	who.known = conn_user(conn, &who.uid) == ERR_OK;
	return who;
}

enum verdict { SECRET_FINE, SECRET_WRONG, SECRET_LATER, SECRET_TOO_MANY };

/*
 * A secret waits for its turn, unless one on the same connection was right
 * already: a quick answer would tell a guesser that a guess was right. A right
 * secret that is too long to be guessed never waits. What brings none guesses
 * nothing.
 */
static enum verdict
judge_secret(struct router *gate, struct conn *conn)
{
	const struct settings *settings = gate->spec.settings;
	struct span given = secret_given(conn);
	struct guard *guard = gate->spec.guard;
	bool held = conn_was_held(conn);
	struct guard_who who;
	int64_t wait = 0;
	bool right;

	if (given.ptr == NULL)
		return SECRET_WRONG;
	right = digest_equal_text(given, span_of(settings->secret));
	if (!(right && settings_has_long_secret(settings)) && !held &&
	    !conn_is_trusted(conn) && guard_is_alert(guard)) {
		who = who_is(conn);
		wait = guard_wait(guard, &who);
	}
	if (wait > 0)
		conn_hold(conn, wait);
	if (wait != 0)
		return wait > 0 ? SECRET_LATER : SECRET_TOO_MANY;
	if (right) {
		conn_trust(conn);
		if (held) {
			who = who_is(conn);
			guard_right(guard, &who);
		}
		return SECRET_FINE;
	}
	if (!held) {
		who = who_is(conn);
		guard_wrong(guard, &who);
	}
	return SECRET_WRONG;
}

/* --- refusals, before a body is read -------------------------------------- */

static void
answer_health(const struct settings *settings, struct conn *conn)
{
	char path[FS_PATH_MAX] = "";
	struct jsonw json;
	struct buf body;

	settings_push_path(path, settings);
	buf_init(&body, 8192);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	jsonw_key(&json, "ok");
	jsonw_bool(&json, true);
	jsonw_key(&json, "app");
	jsonw_text(&json, settings->app);
	jsonw_key(&json, "path");
	jsonw_text(&json, path);
	jsonw_key(&json, "mcp");
	jsonw_text(&json, "/mcp");
	jsonw_object_end(&json);
	conn_reply(
	    conn, &(struct reply){.status = 200, .body = buf_span(&body)});
	buf_fini(&body);
}

static void
log_refusal(struct router *gate, struct conn *conn, const char *what)
{
	struct span path = http_path(conn_http(conn));

	if (router_may_log(gate, conn))
		log_warn("%s: remote=%s path=%.*s", what, conn_peer(conn),
		    SPAN_ARG(span_sub(path, 0, 200)));
}

static void
refuse_page(struct router *gate, struct conn *conn)
{
	struct span origin, host;

	if (router_may_log(gate, conn)) {
		origin = http_header(conn_http(conn), "origin");
		host = http_header(conn_http(conn), "host");
		log_warn("foreign origin or host ([server] allowed_origins, "
			 "allowed_hosts): remote=%s origin=%.*s host=%.*s",
		    conn_peer(conn), SPAN_ARG(span_sub(origin, 0, 200)),
		    SPAN_ARG(span_sub(host, 0, 200)));
	}
	conn_reply_error(conn, 403, "Forbidden");
}

/* False, and it is answered, for another user's program. */
static bool
let_user_pass(struct router *gate, struct conn *conn)
{
	const char *fault = user_fault(gate->spec.settings, conn);

	if (fault == NULL)
		return true;
	log_refusal(gate, conn, fault);
	conn_reply_error(conn, 403,
	    "Forbidden: gridhook has no secret, so only programs of its own "
	    "user may use it");
	return false;
}

static void
refuse_crowd(struct router *gate, struct conn *conn)
{
	const struct guard_who who = who_is(conn);
	char headers[64];

	log_refusal(gate, conn, "too many wrong secrets before this one");
	snprintf(headers, sizeof(headers), "Retry-After: %" PRId64 "\r\n",
	    guard_retry_s(gate->spec.guard, &who));
	conn_reply(conn,
	    &(struct reply){.status = 429,
		.body = SPAN("{\"error\":\"Too Many Requests\"}"),
		.headers = headers});
}

/* False, and it is answered or waits, without the secret. */
static bool
let_secret_pass(struct router *gate, struct conn *conn)
{
	if (!gate->spec.settings->has_secret)
		return true;
	switch (judge_secret(gate, conn)) {
	case SECRET_FINE:
		return true;
	case SECRET_LATER:
		return false;
	case SECRET_TOO_MANY:
		refuse_crowd(gate, conn);
		return false;
	case SECRET_WRONG:
	default:
		log_refusal(gate, conn, "unauthorized");
		conn_reply_error(conn, 401, "Unauthorized");
		return false;
	}
}

/* A message is one by any method; what brings none is a GET for a stream. */
static bool
may_hold_message(struct conn *conn)
{
	const struct http *http = conn_http(conn);

	return http_method(http) == METHOD_POST || http_has_body(http);
}

static void
refuse_method(struct conn *conn)
{
	const struct jval none = {NULL, NULL};
	struct jsonw json;
	struct buf body;

	buf_init(&body, 65536);
	jsonw_init(&json, &body);
	rpc_error(&json, none, RPC_INVALID_REQUEST,
	    "Method Not Allowed: a message is wanted, by POST", SPAN(""));
	conn_reply(conn,
	    &(struct reply){.status = 405,
		.body = buf_span(&body),
		.headers = "Allow: POST\r\n"});
	buf_fini(&body);
}

bool
router_may_log(struct router *gate, struct conn *conn)
{
	const struct guard_who who = who_is(conn);

	return guard_may_log(gate->spec.guard, &who);
}

bool
router_may_log_address(
    struct router *gate, const struct sockaddr_storage *address)
{
	char peer[ADDRESS_TEXT_MAX];
	const struct guard_who who = {.address = address, .peer = peer};

	address_text(peer, address);
	return guard_may_log(gate->spec.guard, &who);
}

void
router_head(struct router *gate, struct conn *conn)
{
	const struct settings *settings = gate->spec.settings;
	enum endpoint endpoint = endpoint_of(settings, conn);

	if (endpoint == HEALTH)
		answer_health(settings, conn);
	else if (endpoint == NOWHERE)
		conn_reply_error(conn, 404, "Not Found");
	else if (settings->check_origin &&
	    !(origin_is_fine(settings, conn) && host_is_fine(settings, conn)))
		refuse_page(gate, conn);
	else if (!let_user_pass(gate, conn) || !let_secret_pass(gate, conn))
		return;
	else if (endpoint == TOOLS && !may_hold_message(conn))
		refuse_method(conn);
	else if (http_body_is_too_large(conn_http(conn)))
		conn_reply_error(conn, 413, "Payload too large");
}

/* --- pushes --------------------------------------------------------------- */

static void
sender_left(void *arg)
{
	struct waiting *waiting = arg;

	waiting->conn = NULL;
}

static struct span
suffix_of(const struct settings *settings, struct conn *conn)
{
	struct span path = http_path(conn_http(conn));
	char prefix[FS_PATH_MAX];

	if (settings_push_path(prefix, settings) != ERR_OK)
		return SPAN("");
	path = span_from(path, strlen(prefix));
	return span_starts(path, SPAN("/")) ? span_from(path, 1) : SPAN("");
}

static struct span
header_of(void *arg, const char *name)
{
	return http_header(arg, name);
}

static enum err
take_push(struct router *gate, struct conn *conn, struct waiting *waiting)
{
	struct http *http = conn_http(conn);
	struct arena *arena = arena_new(65536);
	struct hints hints = {.suffix = suffix_of(gate->spec.settings, conn),
	    .recipes = gate->spec.recipes,
	    .header = header_of,
	    .header_arg = http};
	char id[64];
	enum err err;

	if (arena == NULL)
		return ERR_NO_MEMORY;
	push_read_query(&hints, http_query(http), arena);
	snprintf(
	    id, sizeof(id), "push_%s-%" PRIu64, gate->push_id, ++gate->pushes);
	err = push_take(
	    gate->spec.journal, http_body(http), &hints, id, &waiting->count);
	arena_free(arena);
	return err;
}

static void
answer_push(struct router *gate, struct conn *conn)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (waiting == NULL) {
		conn_reply_error(conn, 500, "out of memory");
		return;
	}
	waiting->conn = conn;
	waiting->err = take_push(gate, conn, waiting);
	if (waiting->err == ERR_BAD_INPUT) {
		free(waiting);
		conn_reply_error(conn, 400, "Invalid JSON");
		return;
	}
	*gate->last = waiting;
	gate->last = &waiting->next;
	conn_wait(conn, sender_left, waiting, false);
}

static void
tell_sender(struct waiting *waiting, enum err err)
{
	struct conn *conn = waiting->conn;
	char text[128];

	if (conn == NULL)
		return;
	if (err != ERR_OK) {
		snprintf(text, sizeof(text), "The events cannot be stored: %s",
		    err_text(err));
		conn_reply_error(conn, 500, text);
		return;
	}
	snprintf(
	    text, sizeof(text), "{\"ok\":true,\"events\":%u}", waiting->count);
	conn_reply(conn, &(struct reply){.status = 200, .body = span_of(text)});
}

static void
commit_and_answer(struct router *gate)
{
	struct waiting *waiting = gate->first, *next;
	enum err err = journal_commit(gate->spec.journal);

	gate->first = NULL;
	gate->last = &gate->first;
	for (; waiting != NULL; waiting = next) {
		next = waiting->next;
		tell_sender(
		    waiting, waiting->err != ERR_OK ? waiting->err : err);
		free(waiting);
	}
}

/* An answer can bring on the next request of a pipeline, and so a push. */
void
router_round(struct router *gate)
{
	while (gate->first != NULL || journal_is_pending(gate->spec.journal))
		commit_and_answer(gate);
	relay_pump(gate->spec.relay);
}

/* --- tools ---------------------------------------------------------------- */

static void
caller_left(void *arg)
{
	struct errand *errand = arg;

	mcp_cancel(errand->post);
	free(errand);
}

static void
on_answer(void *arg, const struct mcp_answer *answer)
{
	struct errand *errand = arg;
	struct conn *conn = errand->conn;

	free(errand);
	conn_reply(conn,
	    &(struct reply){.status = answer->status, .body = answer->body});
}

static void
answer_tools(struct router *gate, struct conn *conn)
{
	struct http *http = conn_http(conn);
	struct mcp_headers headers = {
	    .version = http_header(http, "mcp-protocol-version"),
	    .method = http_header(http, "mcp-method"),
	    .name = http_header(http, "mcp-name"),
	    .content_type = http_header(http, "content-type")};
	struct errand *errand = calloc(1, sizeof(*errand));
	struct mcp_post *post;

	/*
	 * Pages of other sites can post without asking first, but not JSON.
	 * Where there is no secret that they would have to know, this counts.
	 */
	if (headers.content_type.ptr == NULL &&
	    !gate->spec.settings->has_secret)
		headers.content_type = SPAN("");
	if (errand == NULL) {
		conn_reply_error(conn, 500, "out of memory");
		return;
	}
	errand->conn = conn;
	post = mcp_post(
	    gate->spec.calls, http_body(http), &headers, on_answer, errand);
	if (post == NULL)
		return;
	errand->post = post;
	conn_wait(conn, caller_left, errand, true);
}

void
router_request(struct router *gate, struct conn *conn)
{
	if (endpoint_of(gate->spec.settings, conn) == TOOLS)
		answer_tools(gate, conn);
	else
		answer_push(gate, conn);
}

/* --- the gate ------------------------------------------------------------- */

enum err
router_open(struct router **out, const struct router_spec *spec)
{
	struct router *gate = calloc(1, sizeof(*gate));
	enum err err;

	*out = NULL;
	if (gate == NULL)
		return ERR_NO_MEMORY;
	gate->spec = *spec;
	gate->last = &gate->first;
	err = digest_random_text(gate->push_id, PUSH_ID_LEN);
	if (err != ERR_OK)
		free(gate);
	else
		*out = gate;
	return err;
}

void
router_close(struct router *gate)
{
	struct waiting *waiting;

	while (gate != NULL && (waiting = gate->first) != NULL) {
		gate->first = waiting->next;
		free(waiting);
	}
	free(gate);
}
