#include "tools/gridhook/mcp/mcp.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/jsonw.h"
#include "common/log.h"
#include "config.h"
#include "common/members.h"
#include "tools/gridhook/mcp/mcpera.h"
#include "tools/gridhook/mcp/rpc.h"
#include "tools/gridhook/mcp/toolargs.h"

#define DEPTH_MAX 256
#define BATCH_MAX 100
#define ANSWER_MAX ((size_t)32 << 20)
#define BATCH_BYTES ((size_t)8 << 20) /* then the rest is refused */
#define LIST_TTL_MS 300000

#define INSTRUCTIONS \
	"This is the user's own Linux desktop: the tools act on the screen, " \
	"the clipboard, the applications and the assistant's window in front " \
	"of the user. When one of them fails, get_app_status tells what is " \
	"there and what is not."

/* A message of a POST. */
struct item {
	struct mcp_post *post;
	struct rpc rpc;
	enum mcp_era era;
	struct call *call;
	struct buf answer; /* empty for what needs none */
	int status;
};

struct mcp_post {
	struct calls *calls;
	char *text; /* of the body: spans of the document point into it */
	struct jscan doc;
	struct item *items;
	unsigned count, open;
	size_t bytes; /* of the answers so far */
	bool batch;
	bool starting;
	void (*done)(void *arg, const struct mcp_answer *answer);
	void *arg;
};

static void
post_free(struct mcp_post *post)
{
	if (post == NULL)
		return;
	for (unsigned i = 0; i < post->count; i++)
		buf_fini(&post->items[i].answer);
	free(post->items);
	jscan_fini(&post->doc);
	free(post->text);
	free(post);
}

/* --- answers -------------------------------------------------------------- */

static void
answer_error(struct item *item, int status, int code, const char *message,
    const char *data)
{
	struct jsonw json;

	buf_clear(&item->answer);
	jsonw_init(&json, &item->answer);
	rpc_error(&json, item->rpc.id, code, message, span_of(data));
	item->status = status;
}

static void
begin_result(struct item *item, struct jsonw *json)
{
	buf_clear(&item->answer);
	jsonw_init(json, &item->answer);
	rpc_begin_result(json, item->rpc.id);
	jsonw_object_begin(json);
}

static void
put_server_info(struct jsonw *json, const char *key)
{
	jsonw_key(json, key);
	jsonw_object_begin(json);
	members_string(json, "name", "gridhook");
	members_string(json, "title", "Desktop assistant");
	members_string(json, "version", PACKAGE_VERSION);
	jsonw_object_end(json);
}

/* Members that the modern protocol wants in every result. */
static void
end_result(struct item *item, struct jsonw *json, bool cacheable)
{
	if (item->era == MCP_ERA_MODERN) {
		members_string(json, "resultType", "complete");
		if (cacheable) {
			members_int(json, "ttlMs", LIST_TTL_MS);
			members_string(json, "cacheScope", "private");
		}
		members_object(json, "_meta");
		put_server_info(json, "io.modelcontextprotocol/serverInfo");
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
	rpc_end(json);
	item->status = 200;
	item->post->bytes += item->answer.len;
}

static void
put_capabilities(struct jsonw *json)
{
	members_object(json, "capabilities");
	members_object(json, "tools");
	jsonw_object_end(json);
	jsonw_object_end(json);
}

/* --- methods -------------------------------------------------------------- */

static bool
invalid_params(struct item *item, const char *message)
{
	answer_error(item, 200, RPC_INVALID_PARAMS, message, NULL);
	return true;
}

static bool
do_initialize(struct item *item)
{
	struct jval params = item->rpc.params;
	struct jval version = jval_member(params, "protocolVersion");
	struct jsonw json;

	if (item->post->batch) {
		answer_error(item, 200, RPC_INVALID_REQUEST,
		    "initialize must not be part of a batch", NULL);
		return true;
	}
	if (jval_type(version) != JSTRING)
		return invalid_params(
		    item, "Invalid params: protocolVersion must be a string");
	if (jval_type(jval_member(params, "capabilities")) != JOBJECT)
		return invalid_params(
		    item, "Invalid params: capabilities must be an object");
	if (jval_type(jval_member(params, "clientInfo")) != JOBJECT)
		return invalid_params(
		    item, "Invalid params: clientInfo must be an object");
	begin_result(item, &json);
	jsonw_key(&json, "protocolVersion");
	if (mcp_is_legacy_version(version))
		jsonw_raw(&json, jval_raw(version));
	else
		jsonw_text(&json, MCP_LEGACY_LATEST);
	put_capabilities(&json);
	put_server_info(&json, "serverInfo");
	members_string(&json, "instructions", INSTRUCTIONS);
	end_result(item, &json, false);
	return true;
}

static bool
do_discover(struct item *item)
{
	struct jsonw json;

	begin_result(item, &json);
	jsonw_key(&json, "supportedVersions");
	jsonw_array_begin(&json);
	jsonw_text(&json, MCP_MODERN);
	jsonw_array_end(&json);
	put_capabilities(&json);
	members_string(&json, "instructions", INSTRUCTIONS);
	end_result(item, &json, true);
	return true;
}

static bool
do_ping(struct item *item)
{
	struct jsonw json;

	begin_result(item, &json);
	end_result(item, &json, false);
	return true;
}

static bool
do_list(struct item *item)
{
	struct jval cursor = jval_member(item->rpc.params, "cursor");
	struct jsonw json;

	if (!jval_is_absent(cursor) && !jval_is(cursor, SPAN("")))
		return invalid_params(item, "Invalid params: unknown cursor");
	begin_result(item, &json);
	jsonw_key(&json, "tools");
	jsonw_array_begin(&json);
	for (unsigned i = 0; i < TOOL_COUNT; i++)
		if (calls_offer(item->post->calls, &toolset[i]))
			toolargs_mcp(&json, &toolset[i]);
	jsonw_array_end(&json);
	end_result(item, &json, true);
	return true;
}

static void finish(struct mcp_post *post);

static void
on_called(void *arg, const struct result *result)
{
	struct item *item = arg;
	struct mcp_post *post = item->post;
	struct jsonw json;

	item->call = NULL;
	begin_result(item, &json);
	result_write(&json, result);
	end_result(item, &json, false);
	post->open--;
	if (!post->starting)
		finish(post);
}

static bool
do_call(struct item *item)
{
	struct jval params = item->rpc.params;
	struct jval name = jval_member(params, "name");
	struct jval args = jval_member(params, "arguments");
	const struct tool *tool;
	char message[160];

	if (jval_type(name) != JSTRING)
		return invalid_params(
		    item, "Invalid params: name must be a string");
	tool = calls_find(item->post->calls, name);
	if (tool == NULL) {
		snprintf(message, sizeof(message), "Unknown tool: %.*s",
		    SPAN_ARG(span_sub(jval_raw(name), 0, 100)));
		return invalid_params(item, message);
	}
	if (!jval_is_absent(args) && jval_type(args) != JOBJECT)
		return invalid_params(
		    item, "Invalid params: arguments must be an object");
	item->call = call_start(item->post->calls, tool, args, on_called, item);
	return false;
}

/* Each writes its answer and gives true, or has begun a call. */
static const struct method {
	const char *name;
	bool legacy, modern;
	bool (*act)(struct item *item);
} methods[] = {
    {"initialize", true, false, do_initialize},
    {"ping", true, false, do_ping},
    {"server/discover", false, true, do_discover},
    {"tools/list", true, true, do_list},
    {"tools/call", true, true, do_call},
};

static const struct method *
method_of(const struct item *item)
{
	bool modern = item->era == MCP_ERA_MODERN;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (jval_is(item->rpc.method, span_of(methods[i].name)) &&
		    (modern ? methods[i].modern : methods[i].legacy))
			return &methods[i];
	return NULL;
}

/* --- one message ---------------------------------------------------------- */

static bool
do_request(struct item *item)
{
	const struct method *method = method_of(item);

	if (method == NULL) {
		answer_error(item, item->era == MCP_ERA_MODERN ? 404 : 200,
		    RPC_METHOD_NOT_FOUND, "Method not found", NULL);
		return true;
	}
	if (!jval_is_absent(item->rpc.params) &&
	    jval_type(item->rpc.params) != JOBJECT)
		return invalid_params(item, "Invalid params: not an object");
	return method->act(item);
}

/* True when it is done with; false when a tool is at work. */
static bool
do_item(struct item *item, const struct mcp_headers *headers)
{
	struct mcp_trouble trouble;

	item->status = 202;
	if (item->rpc.kind == RPC_NO_MESSAGE) {
		answer_error(
		    item, 400, RPC_INVALID_REQUEST, item->rpc.why, NULL);
		return true;
	}
	item->era = mcp_era_of(&item->rpc, headers);
	if (item->era == MCP_ERA_MODERN && item->post->batch) {
		answer_error(item, 400, RPC_INVALID_REQUEST,
		    "this revision has no batches", NULL);
		return true;
	}
	if (item->rpc.kind == RPC_NOTIFICATION && item->era == MCP_ERA_MODERN)
		return true;
	mcp_check(&trouble, item->era, &item->rpc, headers);
	if (trouble.status != 0) {
		answer_error(item, trouble.status, trouble.code,
		    trouble.message, trouble.data);
		return true;
	}
	if (item->rpc.kind != RPC_REQUEST)
		return true;
	if (item->post->bytes > BATCH_BYTES) {
		answer_error(item, 200, RPC_INTERNAL_ERROR,
		    "the answers to this batch are too long already: ask for "
		    "the rest in another one",
		    NULL);
		return true;
	}
	return do_request(item);
}

/* --- the whole POST ------------------------------------------------------- */

static void
answer_plain(struct mcp_post *post, int status, const char *message)
{
	struct jsonw json;
	struct buf body;

	buf_init(&body, 65536);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	members_string(&json, "error", message);
	jsonw_object_end(&json);
	post->done(post->arg,
	    &(struct mcp_answer){.status = status, .body = buf_span(&body)});
	buf_fini(&body);
}

static void
join_answers(struct mcp_post *post, struct buf *body)
{
	buf_add_char(body, '[');
	for (unsigned i = 0; i < post->count; i++) {
		if (post->items[i].answer.len == 0)
			continue;
		if (body->len > 1)
			buf_add_char(body, ',');
		buf_add_span(body, buf_span(&post->items[i].answer));
		if (buf_end(&post->items[i].answer) != ERR_OK)
			buf_fail(body, buf_end(&post->items[i].answer));
	}
	buf_add_char(body, ']');
}

static void
answer_batch(struct mcp_post *post)
{
	struct buf body;

	buf_init(&body, ANSWER_MAX);
	join_answers(post, &body);
	if (buf_end(&body) != ERR_OK)
		answer_plain(post, 500, err_text(buf_end(&body)));
	else
		post->done(post->arg,
		    &(struct mcp_answer){.status = body.len > 2 ? 200 : 202,
			.body = body.len > 2 ? buf_span(&body) : SPAN("")});
	buf_fini(&body);
}

static void
finish(struct mcp_post *post)
{
	const struct item *item = &post->items[0];

	if (post->open > 0)
		return;
	if (post->batch)
		answer_batch(post);
	else if (buf_end(&item->answer) != ERR_OK) {
		log_error("an answer could not be written: reason=%s",
		    err_text(buf_end(&item->answer)));
		answer_plain(post, 500, err_text(buf_end(&item->answer)));
	} else
		post->done(post->arg,
		    &(struct mcp_answer){.status = item->status,
			.body = buf_span(&item->answer)});
	post_free(post);
}

/* Answers a message that could not be taken apart. */
static void
answer_unread(struct mcp_post *post, int status, int code, const char *message)
{
	struct item *item = &post->items[0];

	post->count = 1;
	post->batch = false;
	*item = (struct item){.post = post};
	buf_init(&item->answer, ANSWER_MAX);
	answer_error(item, status, code, message, NULL);
}

static void
start_items(struct mcp_post *post, const struct mcp_headers *headers)
{
	post->starting = true;
	post->open = post->count;
	for (unsigned i = 0; i < post->count; i++)
		if (do_item(&post->items[i], headers))
			post->open--;
	post->starting = false;
}

static void
set_item(struct mcp_post *post, struct jval message)
{
	struct item *item = &post->items[post->count++];

	*item = (struct item){.post = post, .rpc = rpc_read(message)};
	buf_init(&item->answer, ANSWER_MAX);
}

static void
start_batch(struct mcp_post *post, const struct mcp_headers *headers)
{
	struct jwalk walk = jwalk_begin(jscan_root(&post->doc));
	size_t count = jval_count(jscan_root(&post->doc));
	struct jval name, message;
	struct item *item;

	if (!mcp_may_batch(headers) || count == 0 || count > BATCH_MAX) {
		answer_unread(post, 400, RPC_INVALID_REQUEST,
		    count == 0              ? "an empty batch"
			: count > BATCH_MAX ? "a batch of more than 100"
					    : "this revision has no batches");
		return;
	}
	item = reallocarray(post->items, count, sizeof(*post->items));
	if (item == NULL) {
		answer_unread(post, 500, RPC_INTERNAL_ERROR, "no memory");
		return;
	}
	post->items = item;
	post->batch = true;
	while (jwalk_next(&walk, &name, &message))
		set_item(post, message);
	for (unsigned i = 0; i < post->count; i++) {
		if (mcp_era_of(&post->items[i].rpc, headers) != MCP_ERA_MODERN)
			continue;
		answer_unread(post, 400, RPC_INVALID_REQUEST,
		    "this revision has no batches");
		return;
	}
	start_items(post, headers);
}

static void
start(struct mcp_post *post, const struct mcp_headers *headers)
{
	struct jval root = jscan_root(&post->doc);

	if (jval_type(root) == JARRAY)
		start_batch(post, headers);
	else {
		set_item(post, root);
		start_items(post, headers);
	}
}

static bool
is_json_type(struct span type)
{
	struct span media = span_trim(span_sub(type, 0, span_find(type, ';')));

	return type.ptr == NULL ||
	    span_eq_nocase(media, SPAN("application/json"));
}

static struct mcp_post *
post_new(struct calls *calls, struct span body,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg)
{
	struct mcp_post *post = calloc(1, sizeof(*post));

	if (post == NULL)
		return NULL;
	post->calls = calls;
	post->done = done;
	post->arg = arg;
	post->text = malloc(body.len + 1);
	post->items = calloc(1, sizeof(*post->items));
	if (post->text == NULL || post->items == NULL) {
		post_free(post);
		return NULL;
	}
	if (body.len > 0)
		memcpy(post->text, body.ptr, body.len);
	return post;
}

struct mcp_post *
mcp_post(struct calls *calls, struct span body,
    const struct mcp_headers *headers,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg)
{
	struct mcp_post *post;
	struct fault fault = {.place = ""};
	char message[800];

	assert(calls != NULL && headers != NULL && done != NULL);
	if (span_starts(body, SPAN("\xEF\xBB\xBF")))
		body = span_from(body, 3);
	post = post_new(calls, body, done, arg);
	if (post == NULL) {
		done(arg,
		    &(struct mcp_answer){.status = 500,
			.body = SPAN("{\"error\":\"out of memory\"}")});
		return NULL;
	}
	if (!is_json_type(headers->content_type))
		answer_unread(post, 415, RPC_INVALID_REQUEST,
		    "Content-Type must be application/json");
	else if (jscan_parse(&post->doc, span_make(post->text, body.len),
		     DEPTH_MAX, &fault) != ERR_OK) {
		snprintf(message, sizeof(message), "Parse error: %s: %s",
		    fault.place, fault.message);
		answer_unread(post, 400, RPC_PARSE_ERROR, message);
	} else
		start(post, headers);
	if (post->open > 0)
		return post;
	finish(post);
	return NULL;
}

void
mcp_cancel(struct mcp_post *post)
{
	if (post == NULL)
		return;
	for (unsigned i = 0; i < post->count; i++)
		call_cancel(post->items[i].call);
	post_free(post);
}
