/*
 * agent: the grid's tools as common/mcp/mcp.h knows a service. The owner that
 * mcp_post() takes with it is a struct agent.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/mcp/mcp.h"

struct call;
struct holder_list;

/* A POST to /mcp. */
struct agent {
	struct call *call;
	bool batch; /* its tools must not be handed over to the slow pool */
	unsigned calls; /* of tools so far */
	bool handed_over; /* the whole POST goes to the slow pool */
	const struct holder_list *passed; /* or to one of these nodes */
	struct buf answer; /* of the API, to one call after the other */
};

extern const struct mcp_service agent_service;
