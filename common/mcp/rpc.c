#include "common/mcp/rpc.h"

#include <assert.h>

#include "common/members.h"

/* All digits, whatever their number: ids of any length are integers. */
static bool
is_integer(struct jval value)
{
	struct span raw = jval_raw(value);

	if (jval_type(value) != JNUMBER)
		return false;
	for (size_t i = raw.ptr[0] == '-' ? 1 : 0; i < raw.len; i++)
		if (raw.ptr[i] < '0' || raw.ptr[i] > '9')
			return false;
	return true;
}

static struct rpc
not_a_message(struct rpc rpc, const char *why)
{
	rpc.kind = RPC_NO_MESSAGE;
	rpc.why = why;
	return rpc;
}

struct rpc
rpc_read(struct jval message)
{
	struct rpc rpc = {.kind = RPC_REQUEST, .why = ""};
	struct jval id;

	if (jval_type(message) != JOBJECT)
		return not_a_message(rpc, "a message is an object");
	id = jval_member(message, "id");
	if (jval_type(id) == JSTRING || is_integer(id))
		rpc.id = id;
	rpc.method = jval_member(message, "method");
	rpc.params = jval_member(message, "params");
	if (!jval_is(jval_member(message, "jsonrpc"), SPAN("2.0")))
		return not_a_message(rpc, "\"jsonrpc\" must be \"2.0\"");
	if (!jval_is_absent(id) && jval_is_absent(rpc.id))
		return not_a_message(
		    rpc, "\"id\" must be a string or an integer");
	if (jval_type(rpc.method) == JSTRING) {
		rpc.kind = jval_is_absent(id) ? RPC_NOTIFICATION : RPC_REQUEST;
		return rpc;
	}
	if (!jval_is_absent(rpc.method))
		return not_a_message(rpc, "\"method\" must be a string");
	rpc.kind = RPC_RESPONSE;
	if (jval_is_absent(jval_member(message, "result")) &&
	    jval_is_absent(jval_member(message, "error")))
		return not_a_message(rpc, "\"method\" is missing");
	return rpc;
}

static void
begin(struct jsonw *json, struct jval id)
{
	jsonw_object_begin(json);
	members_string(json, "jsonrpc", "2.0");
	jsonw_key(json, "id");
	if (jval_is_absent(id))
		jsonw_null(json);
	else
		jsonw_raw(json, jval_raw(id));
}

void
rpc_begin_result(struct jsonw *json, struct jval id)
{
	begin(json, id);
	jsonw_key(json, "result");
}

void
rpc_end(struct jsonw *json)
{
	jsonw_object_end(json);
}

void
rpc_error(struct jsonw *json, struct jval id, int code, const char *message,
    struct span data)
{
	assert(code != 0 && message != NULL);
	begin(json, id);
	members_object(json, "error");
	members_int(json, "code", code);
	members_string(json, "message", message);
	if (data.len > 0) {
		jsonw_key(json, "data");
		jsonw_raw(json, data);
	}
	jsonw_object_end(json);
	jsonw_object_end(json);
}
