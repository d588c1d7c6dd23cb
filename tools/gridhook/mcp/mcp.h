/*
 * mcp: the tool endpoint: JSON-RPC 2.0 in the clothes of the Model Context
 * Protocol, both eras on one address and without any state between requests.
 *
 *	modern   2026-07-28: every request tells its version in its _meta
 *	legacy   2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05: initialize
 *
 * Which era a request is of is told by its body, not by what came before.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"
#include "tools/gridhook/mcp/call.h"

/* The headers that matter, trimmed; .ptr NULL where one is not sent. */
struct mcp_headers {
	struct span content_type;
	struct span version; /* MCP-Protocol-Version */
	struct span method; /* Mcp-Method */
	struct span name; /* Mcp-Name */
	bool is_stdio; /* there are none, and none is missed */
};

/* The answer to a POST: an HTTP status, and a body unless it is 202. */
struct mcp_answer {
	int status;
	struct span body;
};

struct mcp_post; /* a POST that waits for its tools */

/*
 * Works a POST off. `done` is called once: before this returns, which then
 * gives NULL, or later. The body need not outlive the call.
 */
struct mcp_post *mcp_post(struct calls *calls, struct span body,
    const struct mcp_headers *headers,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg);

/* The caller has left: `done` is not called. */
void mcp_cancel(struct mcp_post *post);
