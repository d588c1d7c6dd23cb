/*
 * call: a tool call, from its arguments to its result: checks the pace and the
 * arguments, then passes the call to the helper, the window or the server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/mcp/result.h"
#include "tools/gridhook/events/journal.h"
#include "tools/gridhook/mcp/helper.h"
#include "tools/gridhook/mcp/toolset.h"
#include "tools/gridhook/mcp/works.h"
#include "tools/gridhook/settings.h"
#include "tools/gridhook/window/relay.h"

/* Tokens of one pace; filled as time passes. */
struct bucket {
	double tokens;
	int64_t last_ns;
};

/*
 * The modules that calls use; relay and journal may be NULL (gridhook call,
 * alone).
 */
struct calls {
	const struct hook_settings *settings;
	struct helper_pool *helpers;
	struct relay *relay;
	struct journal *journal;
	relay_status status; /* the server's, for get_app_status */
	void *status_arg;
	int64_t started_ns;
	struct works works; /* calls_fini() */
	struct bucket buckets[TOOL_PACES];
};

struct mcp_call;

/* Forgets what was learnt; nothing may be under way. */
void calls_fini(struct calls *calls);

/* True when it is offered: not switched off, and fit for read-only. */
bool calls_offer(const struct calls *calls, const struct desk_tool *tool);

/* The row of an offered tool of that name, or NULL. */
const struct desk_tool *calls_find(const struct calls *calls, struct jval name);

/*
 * `done` is called once: before this returns, which then gives NULL, or later
 * from the loop. `result` is borrowed for the time of `done`.
 */
struct mcp_call *call_start(struct calls *calls, const struct desk_tool *tool,
    struct jval args, void (*done)(void *arg, const struct result *result),
    void *arg);

/* The caller has left: the work is stopped, `done` is not called. */
void call_cancel(struct mcp_call *call);
