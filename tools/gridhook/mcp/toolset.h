/*
 * toolset: the fourteen tools, one row each. This table is the only place
 * where a tool is described: MCP's tools/list, the definitions for chat
 * completions, the check of arguments, `gridhook tools` and the dispatch of a
 * call all read it.
 */
#pragma once

#include "common/mcp/tool.h"
#include "common/span.h"

#define TOOL_COUNT 14

/* The program that performs a tool. */
enum tool_by {
	TOOL_BY_SERVER, /* gridhook answers, asking the window where it helps */
	TOOL_BY_HELPER, /* a gridhook-tool process */
	TOOL_BY_WINDOW /* relayed to the interface window */
};

/* How often it may be called; the rates are settings. */
enum tool_pace {
	TOOL_PACE_READ, /* reads only: hundreds at once are fine */
	TOOL_PACE_ACT, /* does something that a person notices */
	TOOL_PACE_HEAVY, /* captures, launches, locks: a few a second */
	TOOL_PACES
};

/* A tool, and how gridhook has it done. */
struct desk_tool {
	struct tool shown; /* first: what MCP's part knows */
	enum tool_by by;
	enum tool_pace pace;
	int deadline_ms;
};

/* In the order of tools/list: a harmless one comes first. */
extern const struct desk_tool toolset[TOOL_COUNT];

/* The row of that name (exactly), or NULL. */
const struct desk_tool *toolset_find(struct span name);
