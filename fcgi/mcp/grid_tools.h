/*
 * grid_tools: the tools that an agent has, one row each: what tools/list says,
 * what a call's arguments must be, and the function that answers it.
 */
#pragma once

#include "common/mcp/tool.h"

struct asking;

struct grid_tool {
	struct tool shown; /* first: what MCP's part knows */
	void (*act)(struct asking *asking); /* fills asking->result */
};

extern const struct grid_tool grid_tools[];
extern const unsigned grid_tool_count;

/* Rows that query_rows gives at most. */
#define GRID_TOOL_ROWS 100

void tool_suppliers(struct asking *asking);
void tool_columns(struct asking *asking);
void tool_classification(struct asking *asking);
void tool_rows(struct asking *asking);
void tool_aggregate(struct asking *asking);
void tool_product(struct asking *asking);
void tool_propose(struct asking *asking);
void tool_status(struct asking *asking);
