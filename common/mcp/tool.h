/*
 * tool: a tool as MCP lists it: its name, what it takes and what it gives. A
 * program has a table of them; the list, the schemas and the check of a call's
 * arguments are made from the same rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
	bool unique; /* TOOL_STRINGS: no element twice */
	const char *fallback; /* the default as JSON text, or NULL */
	const char *const *choices; /* NULL-ended, or NULL */
};

struct tool {
	const char *name;
	const char *title;
	const char *description;
	bool read_only, destructive, idempotent, open_world;
	const struct tool_field *fields; /* ended by a row without name */
	const char *output_schema; /* JSON text; NULL: nothing structured */
};
