/*
 * rpc: the shape of a JSON-RPC 2.0 message, and the frame of an answer.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/jscan.h"
#include "common/jsonw.h"

#define RPC_PARSE_ERROR (-32700)
#define RPC_INVALID_REQUEST (-32600)
#define RPC_METHOD_NOT_FOUND (-32601)
#define RPC_INVALID_PARAMS (-32602)
#define RPC_INTERNAL_ERROR (-32603)
#define RPC_HEADER_MISMATCH (-32020)
#define RPC_UNSUPPORTED_VERSION (-32022)

enum rpc_kind {
	RPC_NO_MESSAGE, /* not JSON-RPC 2.0: see .why */
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE
};

struct rpc {
	enum rpc_kind kind;
	const char *why;
	struct jval id; /* a string or an integer; absent where it is neither */
	struct jval method, params;
};

struct rpc rpc_read(struct jval message);

/*
 * {"jsonrpc":"2.0","id":…,"result":  — the caller writes the value, then
 * rpc_end(). The id goes back byte for byte; null when it could not be read.
 */
void rpc_begin_result(struct jsonw *json, struct jval id);
void rpc_end(struct jsonw *json);

/* The whole answer. `data` is JSON, or empty. */
void rpc_error(struct jsonw *json, struct jval id, int code,
    const char *message, struct span data);
