/*
 * desk: the tools of the desktop as common/mcp/mcp.h knows a service. The
 * owner that mcp_post() takes with it is a struct calls.
 */
#pragma once

#include "common/mcp/mcp.h"

extern const struct mcp_service desk_service;
