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
#include "common/jscan.h"
#include "common/mcp/result.h"
#include "common/mcp/tool.h"
#include "common/span.h"

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
 * A program's own part: who it is, and what its tools do. `owner` is what the
 * program gave to mcp_post().
 */
struct mcp_service {
	const char *name, *title;
	const char *instructions; /* for the model, a few sentences */
	/* The nth of the tools that are offered, from 0; NULL: no more. */
	const struct tool *(*offer)(void *owner, unsigned nth);
	/*
	 * Begins a call. `done` is called once: before this returns, which
	 * then gives NULL, or later. `result` is borrowed for its time.
	 */
	void *(*start)(void *owner, const struct tool *tool, struct jval args,
	    void (*done)(void *arg, const struct result *result), void *arg);
	/* The caller has left; NULL where each call ends at once. */
	void (*cancel)(void *started);
};

/*
 * Works a POST off. `done` is called once: before this returns, which then
 * gives NULL, or later. The body need not outlive the call.
 */
struct mcp_post *mcp_post(const struct mcp_service *service, void *owner,
    struct span body, const struct mcp_headers *headers,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg);

/* The caller has left: `done` is not called. */
void mcp_cancel(struct mcp_post *post);
