/*
 * mcpera: which revision of the protocol a request speaks, and whether its
 * headers agree with its body.
 */
#pragma once

#include <stdbool.h>

#include "common/mcp/mcp.h"
#include "common/mcp/rpc.h"

#define MCP_MODERN "2026-07-28"
#define MCP_LEGACY_LATEST "2025-11-25"
#define MCP_BATCH "2025-03-26"

enum mcp_era { MCP_ERA_LEGACY, MCP_ERA_MODERN };

/* The fault found in a request before its method is looked at. */
struct mcp_trouble {
	int status; /* 0: nothing is */
	int code;
	char message[200];
	char data[200]; /* JSON, or empty */
};

bool mcp_is_legacy_version(struct jval version);

/* The body tells; a header alone that is modern is a malformed request. */
enum mcp_era mcp_era_of(
    const struct rpc *rpc, const struct mcp_headers *headers);

/* The checks of that era, in their order. */
void mcp_check(struct mcp_trouble *trouble, enum mcp_era era,
    const struct rpc *rpc, const struct mcp_headers *headers);

/* Arrays are of one old revision only, or of a client that names none. */
bool mcp_may_batch(const struct mcp_headers *headers);
