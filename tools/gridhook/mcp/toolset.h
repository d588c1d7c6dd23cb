/*
 * toolset: the fourteen tools, one row each. This table is the only place
 * where a tool is described: MCP's tools/list, the definitions for chat
 * completions, the check of arguments, `gridhook tools` and the dispatch of a
 * call all read it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

enum tool_type {
	TOOL_STRING,
	TOOL_INT,
	TOOL_BOOL,
	TOOL_STRINGS /* an array of strings */
};

/* An argument. */
struct tool_field {
	const char *name;
	const char *help; /* its description in the schema, or NULL */
	enum tool_type type;
	bool required;
	int64_t min, max; /* characters, the value itself, or elements */
	int64_t item_max; /* TOOL_STRINGS: characters of one element */
	const char *fallback; /* the default as JSON text, or NULL */
	const char *const *choices; /* NULL-ended, or NULL */
};

struct tool {
	const char *name;
	const char *title;
	const char *description;
	enum tool_by by;
	enum tool_pace pace;
	int deadline_ms;
	bool read_only, destructive, idempotent, open_world;
	const struct tool_field *fields; /* ended by a row without name */
	const char
	    *output_schema; /* JSON text, or NULL: no structured result */
};

/* In the order of tools/list: a harmless one comes first. */
extern const struct tool toolset[TOOL_COUNT];

/* The row of that name (exactly), or NULL. */
const struct tool *toolset_find(struct span name);
