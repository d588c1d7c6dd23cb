#include "tools/gridhook/gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/digest.h"
#include "common/log.h"
#include "tools/gridhook/mcp.h"
#include "tools/gridhook/push.h"
#include "tools/gridhook/rpc.h"

#define PUSH_ID_LEN 12

enum endpoint { NOWHERE, HEALTH, PUSH, TOOLS };

/* A push whose events are in the round. */
struct waiting {
	struct waiting *next;
	struct conn *conn; /* NULL: its sender has left */
	unsigned count;
	enum err err;
};

struct gate {
	struct gate_spec spec;
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

static bool
is_loopback_name(struct span host)
{
	static const char *const names[] = {
	    "localhost", "127.0.0.1", "[::1]", "::1"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_eq_nocase(host, span_of(names[i])))
			return true;
	}
	return false;
}

/* "[::1]:80", "a.example:80" and "a.example" without the port. */
static struct span
without_port(struct span host)
{
	size_t end = 0;

	if (host.len > 0 && host.ptr[0] == '[')
		end = span_find(host, ']');
	return span_sub(host, 0, end + span_find(span_from(host, end), ':'));
}

static bool
origin_is_fine(const struct settings *settings, struct conn *conn)
{
	struct span origin = http_header(conn_http(conn), "origin");
	struct span host = origin;

	if (origin.ptr == NULL ||
	    settings_list_has(settings->allowed_origins, origin))
		return true;
	if (span_starts(origin, SPAN("http://")))
		host = span_from(origin, 7);
	else if (span_starts(origin, SPAN("https://")))
		host = span_from(origin, 8);
	else
		return false;
	return is_loopback_name(without_port(host));
}

/* Only a page of the same machine can name another host than ours. */
static bool
host_is_fine(const struct settings *settings, struct conn *conn)
{
	struct span host = without_port(http_header(conn_http(conn), "host"));
	struct span listening = span_of(settings_host(settings));

	if (!is_loopback_name(listening) &&
	    !span_starts(listening, SPAN("127.")))
		return true;
	return host.ptr == NULL || is_loopback_name(host) ||
	    span_eq_nocase(host, listening) ||
	    settings_list_has(settings->allowed_hosts, host);
}

static bool
secret_is_right(const struct settings *settings, struct conn *conn)
{
	struct span given = http_header(conn_http(conn), "x-service-secret");
	struct span scheme = SPAN("Bearer ");

	if (!settings->has_secret)
		return true;
	if (given.ptr == NULL) {
		given = http_header(conn_http(conn), "authorization");
		if (given.ptr == NULL || given.len < scheme.len ||
		    !span_eq_nocase(span_sub(given, 0, scheme.len), scheme))
			return false;
		given = span_trim(span_from(given, scheme.len));
	}
	return digest_equal_text(given, span_of(settings->secret));
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
log_refusal(struct conn *conn, const char *what)
{
	struct span path = http_path(conn_http(conn));

	log_warn("%s: remote=%s path=%.*s", what, conn_peer(conn),
	    SPAN_ARG(span_sub(path, 0, 200)));
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
gate_head(struct gate *gate, struct conn *conn)
{
	const struct settings *settings = gate->spec.settings;
	enum endpoint endpoint = endpoint_of(settings, conn);

	if (endpoint == HEALTH)
		answer_health(settings, conn);
	else if (endpoint == NOWHERE)
		conn_reply_error(conn, 404, "Not Found");
	else if (settings->check_origin &&
	    !(origin_is_fine(settings, conn) && host_is_fine(settings, conn))) {
		log_refusal(conn, "foreign origin or host");
		conn_reply_error(conn, 403, "Forbidden");
	} else if (!secret_is_right(settings, conn)) {
		log_refusal(conn, "unauthorized");
		conn_reply_error(conn, 401, "Unauthorized");
	} else if (endpoint == TOOLS && !may_hold_message(conn))
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

static enum err
take_push(struct gate *gate, struct conn *conn, struct waiting *waiting)
{
	struct http *http = conn_http(conn);
	struct arena *arena = arena_new(65536);
	struct hints hints = {
	    .github_event = http_header(http, "x-github-event"),
	    .github_delivery = http_header(http, "x-github-delivery"),
	    .gitlab_event = http_header(http, "x-gitlab-event"),
	    .suffix = suffix_of(gate->spec.settings, conn)};
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
answer_push(struct gate *gate, struct conn *conn)
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
commit_and_answer(struct gate *gate)
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
gate_round(struct gate *gate)
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
answer_tools(struct gate *gate, struct conn *conn)
{
	struct http *http = conn_http(conn);
	struct mcp_headers headers = {
	    .version = http_header(http, "mcp-protocol-version"),
	    .method = http_header(http, "mcp-method"),
	    .name = http_header(http, "mcp-name"),
	    .content_type = http_header(http, "content-type")};
	struct errand *errand = calloc(1, sizeof(*errand));
	struct mcp_post *post;

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
gate_request(struct gate *gate, struct conn *conn)
{
	if (endpoint_of(gate->spec.settings, conn) == TOOLS)
		answer_tools(gate, conn);
	else
		answer_push(gate, conn);
}

/* --- the gate ------------------------------------------------------------- */

enum err
gate_open(struct gate **out, const struct gate_spec *spec)
{
	struct gate *gate = calloc(1, sizeof(*gate));
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
gate_close(struct gate *gate)
{
	struct waiting *waiting;

	while (gate != NULL && (waiting = gate->first) != NULL) {
		gate->first = waiting->next;
		free(waiting);
	}
	free(gate);
}
