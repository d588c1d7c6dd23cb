/*
 * call_priv: shared by call*.c; no other file includes it.
 */
#pragma once

#include "tools/gridhook/mcp/call.h"

#define OWN_MAX ((size_t)4 << 20)

/* A tool that the server answers itself. */
struct own {
	const char *name;
	bool window_first; /* the window does it when there is one */
	bool needs_works; /* the helper is asked first what works */
	void (*answer)(
	    struct calls *calls, struct jval args, struct result *result);
};

/* NULL: another program performs the tool. */
const struct own *call_own(const struct desk_tool *tool);

/* The member "tools": for each tool whether it works here, and why not. */
void call_put_tools(
    struct calls *calls, struct span speech, struct jsonw *json);
