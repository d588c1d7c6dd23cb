#include "common/members.h"
#include "tools/gridhook/router_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/digest.h"
#include "common/log.h"
#include "common/mcp/rpc.h"
#include "tools/gridhook/events/push.h"
#include "tools/gridhook/mcp/desk.h"

enum endpoint { NOWHERE, HEALTH, PUSH, TOOLS };

/* A push whose events are in the round. */
struct waiting {
	struct waiting *next;
	struct conn *conn; /* NULL: its sender has left */
	unsigned count;
	enum err err;
};

/* An MCP request on its connection. */
struct errand {
	struct conn *conn;
	struct mcp_post *post;
};

/* --- where to ------------------------------------------------------------- */

static bool
is_push(const struct hook_settings *settings, struct span target)
{
	char path[FS_PATH_MAX];

	return settings_push_path(path, settings) == ERR_OK &&
	    span_starts(target, span_of(path));
}

static enum endpoint
endpoint_of(const struct hook_settings *settings, struct conn *conn)
{
	const struct http *http = conn_http(conn);
	enum http_method method = http_method(http);
	struct span path = http_path(http);

	if (method == METHOD_GET || method == METHOD_HEAD)
		if (span_eq(path, SPAN("/")) || span_eq(path, SPAN("/health")))
			return HEALTH;
	if (span_eq(path, SPAN("/mcp")))
		return TOOLS;
	if (method == METHOD_POST && is_push(settings, http_target(http)))
		return PUSH;
	return NOWHERE;
}

/* --- refusals, before a body is read -------------------------------------- */

static void
answer_health(const struct hook_settings *settings, struct conn *conn)
{
	char path[FS_PATH_MAX] = "";
	struct jsonw json;
	struct buf body;

	settings_push_path(path, settings);
	buf_init(&body, 8192);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	members_bool(&json, "ok", true);
	members_string(&json, "app", settings->app);
	members_string(&json, "path", path);
	members_string(&json, "mcp", "/mcp");
	jsonw_object_end(&json);
	conn_reply(
	    conn, &(struct reply){.status = 200, .body = buf_span(&body)});
	buf_fini(&body);
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

void
router_head(struct router *gate, struct conn *conn)
{
	const struct hook_settings *settings = gate->spec.settings;
	enum endpoint endpoint;

	assert(conn != NULL && settings != NULL);
	endpoint = endpoint_of(settings, conn);
	if (endpoint == HEALTH)
		answer_health(settings, conn);
	else if (endpoint == NOWHERE)
		conn_reply_error(conn, 404, "Not Found");
	else if (!router_let_page_pass(gate, conn) ||
	    !router_let_user_pass(gate, conn) ||
	    !router_let_secret_pass(gate, conn, endpoint == PUSH))
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

static enum err
take_push(struct router *gate, struct conn *conn, struct waiting *waiting)
{
	struct http *http = conn_http(conn);
	struct arena *arena = arena_new(65536);
	struct hints hints = {.suffix = router_suffix(gate, conn),
	    .recipes = gate->spec.recipes,
	    .header = router_header,
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

/* Many senders can send forms as well as JSON, and forms by default. */
static void
log_form(struct router *gate, struct conn *conn)
{
	struct span type = http_header(conn_http(conn), "content-type");
	static const struct span forms[] = {
	    {"application/x-www-form-urlencoded", 33},
	    {"multipart/form-data", 19}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (span_eq_nocase(span_sub(type, 0, forms[i].len), forms[i]) &&
		    router_may_log(gate, conn))
			log_warn("a push came as a form, and gridhook takes "
				 "JSON: set the content type application/json "
				 "at the sender (curl: -H 'Content-Type: "
				 "application/json' -d '{\"text\":\"...\"}'): "
				 "remote=%s path=%.*s",
			    conn_peer(conn),
			    SPAN_ARG(
				span_sub(http_path(conn_http(conn)), 0, 200)));
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
		log_form(gate, conn);
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
	assert(gate->spec.journal != NULL && gate->spec.relay != NULL);
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
	post = mcp_post(&desk_service, gate->spec.calls, http_body(http),
	    &headers, on_answer, errand);
	if (post == NULL)
		return;
	errand->post = post;
	conn_wait(conn, caller_left, errand, true);
}

void
router_request(struct router *gate, struct conn *conn)
{
	assert(conn != NULL && gate->spec.settings != NULL);
	if (endpoint_of(gate->spec.settings, conn) == TOOLS)
		answer_tools(gate, conn);
	else if (router_let_signature_pass(gate, conn))
		answer_push(gate, conn);
}

/* --- the gate ------------------------------------------------------------- */

enum err
router_open(struct router **out, const struct router_spec *spec)
{
	struct router *gate = calloc(1, sizeof(*gate));
	enum err err;

	assert(spec->settings != NULL && spec->journal != NULL);
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
