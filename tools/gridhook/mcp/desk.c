#include "tools/gridhook/mcp/desk.h"

#include "tools/gridhook/mcp/call.h"

static const struct tool *
offer(void *owner, unsigned nth)
{
	const struct calls *calls = owner;

	for (unsigned i = 0; i < TOOL_COUNT; i++)
		if (calls_offer(calls, &toolset[i]) && nth-- == 0)
			return &toolset[i].shown;
	return NULL;
}

static void *
start(void *owner, const struct tool *tool, struct jval args,
    void (*done)(void *arg, const struct result *result), void *arg)
{
	struct calls *calls = owner;

	return call_start(
	    calls, toolset_find(span_of(tool->name)), args, done, arg);
}

static void
cancel(void *started)
{
	call_cancel(started);
}

const struct mcp_service desk_service = {
    .name = "gridhook",
    .title = "Desktop assistant",
    .instructions =
	"This is the user's own Linux desktop: the tools act on the screen, "
	"the clipboard, the applications and the assistant's window in front "
	"of the user. When one of them fails, get_app_status tells what is "
	"there and what is not.",
    .offer = offer,
    .start = start,
    .cancel = cancel,
};
