/*
 * mcp_methods: the methods of MCP, a function each, and their answers.
 */
#include "common/mcp/mcp_priv.h"

#include <stdio.h>

#include "common/mcp/toolargs.h"
#include "common/members.h"
#include "config.h"

#define LIST_TTL_MS 300000

void
mcp_answer_error(struct mcp_item *item, int status, int code,
    const char *message, const char *data)
{
	struct jsonw json;

	buf_clear(&item->answer);
	jsonw_init(&json, &item->answer);
	rpc_error(&json, item->rpc.id, code, message, span_of(data));
	item->status = status;
}

static void
begin_result(struct mcp_item *item, struct jsonw *json)
{
	buf_clear(&item->answer);
	jsonw_init(json, &item->answer);
	rpc_begin_result(json, item->rpc.id);
	jsonw_object_begin(json);
}

static void
put_server_info(
    struct jsonw *json, const struct mcp_service *service, const char *key)
{
	jsonw_key(json, key);
	jsonw_object_begin(json);
	members_string(json, "name", service->name);
	members_string(json, "title", service->title);
	members_string(json, "version", PACKAGE_VERSION);
	jsonw_object_end(json);
}

/* Members that the modern protocol wants in every result. */
static void
end_result(struct mcp_item *item, struct jsonw *json, bool cacheable)
{
	if (item->era == MCP_ERA_MODERN) {
		members_string(json, "resultType", "complete");
		if (cacheable) {
			members_int(json, "ttlMs", LIST_TTL_MS);
			members_string(json, "cacheScope", "private");
		}
		members_object(json, "_meta");
		put_server_info(json, item->post->service,
		    "io.modelcontextprotocol/serverInfo");
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
invalid_params(struct mcp_item *item, const char *message)
{
	mcp_answer_error(item, 200, RPC_INVALID_PARAMS, message, NULL);
	return true;
}

static bool
do_initialize(struct mcp_item *item)
{
	struct jval params = item->rpc.params;
	struct jval version = jval_member(params, "protocolVersion");
	struct jsonw json;

	if (item->post->batch) {
		mcp_answer_error(item, 200, RPC_INVALID_REQUEST,
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
	put_server_info(&json, item->post->service, "serverInfo");
	members_string(
	    &json, "instructions", item->post->service->instructions);
	end_result(item, &json, false);
	return true;
}

static bool
do_discover(struct mcp_item *item)
{
	struct jsonw json;

	begin_result(item, &json);
	jsonw_key(&json, "supportedVersions");
	jsonw_array_begin(&json);
	jsonw_text(&json, MCP_MODERN);
	jsonw_array_end(&json);
	put_capabilities(&json);
	members_string(
	    &json, "instructions", item->post->service->instructions);
	end_result(item, &json, true);
	return true;
}

static bool
do_ping(struct mcp_item *item)
{
	struct jsonw json;

	begin_result(item, &json);
	end_result(item, &json, false);
	return true;
}

static bool
do_list(struct mcp_item *item)
{
	const struct mcp_service *service = item->post->service;
	void *owner = item->post->owner;
	struct jval cursor = jval_member(item->rpc.params, "cursor");
	const struct tool *tool;
	struct jsonw json;

	if (!jval_is_absent(cursor) && !jval_is(cursor, SPAN("")))
		return invalid_params(item, "Invalid params: unknown cursor");
	begin_result(item, &json);
	jsonw_key(&json, "tools");
	jsonw_array_begin(&json);
	for (unsigned i = 0; (tool = service->offer(owner, i)) != NULL; i++)
		toolargs_mcp(&json, tool);
	jsonw_array_end(&json);
	end_result(item, &json, true);
	return true;
}

static void
on_called(void *arg, const struct result *result)
{
	struct mcp_item *item = arg;
	struct mcp_post *post = item->post;
	struct jsonw json;

	item->call = NULL;
	if (result_end(result) != ERR_OK)
		mcp_answer_error(item, 200, RPC_INTERNAL_ERROR,
		    err_text(result_end(result)), NULL);
	else {
		begin_result(item, &json);
		result_write(&json, result);
		end_result(item, &json, false);
	}
	post->open--;
	if (!post->starting)
		mcp_finish(post);
}

/* The offered tool of that name, or NULL. */
static const struct tool *
find_tool(const struct mcp_post *post, struct jval name)
{
	const struct tool *tool;

	for (unsigned i = 0;
	     (tool = post->service->offer(post->owner, i)) != NULL; i++)
		if (jval_is(name, span_of(tool->name)))
			return tool;
	return NULL;
}

/* Names the tools that there are. */
static bool
unknown_tool(struct mcp_item *item, struct jval name)
{
	const struct mcp_post *post = item->post;
	const struct tool *tool;
	char message[800];
	int len = snprintf(message, sizeof(message), "Unknown tool: %.*s",
	    SPAN_ARG(span_sub(jval_raw(name), 0, 100)));

	for (unsigned i = 0; len < (int)sizeof(message) &&
	     (tool = post->service->offer(post->owner, i)) != NULL;
	     i++)
		len += snprintf(message + len, sizeof(message) - (size_t)len,
		    "%s %s", i == 0 ? "; there are:" : ",", tool->name);
	return invalid_params(item, message);
}

static bool
do_call(struct mcp_item *item)
{
	struct mcp_post *post = item->post;
	struct jval params = item->rpc.params;
	struct jval name = jval_member(params, "name");
	struct jval args = jval_member(params, "arguments");
	const struct tool *tool;

	if (jval_type(name) != JSTRING)
		return invalid_params(
		    item, "Invalid params: name must be a string");
	tool = find_tool(post, name);
	if (tool == NULL)
		return unknown_tool(item, name);
	if (!jval_is_absent(args) && jval_type(args) != JOBJECT)
		return invalid_params(
		    item, "Invalid params: arguments must be an object");
	item->call =
	    post->service->start(post->owner, tool, args, on_called, item);
	return false;
}

/* Each writes its answer and gives true, or has begun a call. */
static const struct method {
	const char *name;
	bool legacy, modern;
	bool (*act)(struct mcp_item *item);
} methods[] = {
    {"initialize", true, false, do_initialize},
    {"ping", true, false, do_ping},
    {"server/discover", false, true, do_discover},
    {"tools/list", true, true, do_list},
    {"tools/call", true, true, do_call},
};

static const struct method *
method_of(const struct mcp_item *item)
{
	bool modern = item->era == MCP_ERA_MODERN;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (jval_is(item->rpc.method, span_of(methods[i].name)) &&
		    (modern ? methods[i].modern : methods[i].legacy))
			return &methods[i];
	return NULL;
}

bool
mcp_do_request(struct mcp_item *item)
{
	const struct method *method = method_of(item);

	if (method == NULL) {
		mcp_answer_error(item, item->era == MCP_ERA_MODERN ? 404 : 200,
		    RPC_METHOD_NOT_FOUND, "Method not found", NULL);
		return true;
	}
	if (!jval_is_absent(item->rpc.params) &&
	    jval_type(item->rpc.params) != JOBJECT)
		return invalid_params(item, "Invalid params: not an object");
	return method->act(item);
}
