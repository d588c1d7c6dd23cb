/*
 * tool: gridhook-tool, the process that performs one system action and ends.
 *
 *	gridhook-tool NAME < arguments > result
 *
 * Standard input   the arguments: one JSON object, at most TOOL_INPUT_MAX
 *                  bytes. The server has held it against the published
 *                  schema; what matters for safety is checked here again.
 * Standard output  one JSON object and a newline:
 *                  {"content":[...], "structuredContent":{...}, "isError":b}
 *                  structuredContent only where there is something to tell
 *                  that way. Written at the very end, in one go.
 * Exit status      0 whenever that object was written, a failed action
 *                  included; 2 for a wrong command line or an unknown NAME,
 *                  1 when nothing could be written. A reason then stands on
 *                  standard error.
 * Environment      TOOL_SETTINGS_VARIABLE: the owner's settings, one JSON
 *                  object (settings.h). They come this way and not with the
 *                  arguments so that a caller can never set one. DISPLAY,
 *                  WAYLAND_DISPLAY, XDG_RUNTIME_DIR, the bus addresses and
 *                  so on are the session's own.
 *
 * A failed action tells why in words a model can act on, and begins with one
 * of: "no display", "no session bus", "no system bus", "no notification
 * service", "no media player", "the desktop refused", "timed out after N ms",
 * "not found", "not allowed: ...", "not supported: ...".
 *
 * The process ends by itself: each tool has a limit in main.c's table, after
 * which the answer is "timed out after N ms", whatever it hangs in. Programs
 * that it starts for good (an application, a browser, the owner of the
 * clipboard) are in sessions of their own with no descriptor of the caller's,
 * so the end of standard output is the end of the action.
 */
#pragma once

#include "common/err.h"
#include "common/jsonr.h"
#include "tools/gridhook/tool/answer.h"
#include "tools/gridhook/tool/settings.h"

#define TOOL_INPUT_MAX (8 * 1024 * 1024)
#define TOOL_SETTINGS_VARIABLE "GRIDHOOK_TOOL_SETTINGS"

/* The call of a tool. */
struct tool_call {
	const struct jsonr_value *args; /* an object */
	const struct tool_settings *settings;
	int limit_ms; /* how long the whole action may take */
};

/*
 * A function a tool. ERR_OK: `answer` holds the result. Anything else: `fault`
 * says why, and what `answer` holds is dropped.
 */
enum err capture_screen(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err lock_session(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err open_app(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err open_url(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err media_key(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err clipboard_get(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err clipboard_set(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err find_files(
    const struct tool_call *call, struct answer *answer, struct fault *fault);
enum err notify_user(
    const struct tool_call *call, struct answer *answer, struct fault *fault);

/* Tells which of those can do their work here and now, and changes nothing. */
enum err what_works(
    const struct tool_call *call, struct answer *answer, struct fault *fault);

/* Whether something is there that lock_session could ask. */
bool lock_is_possible(
    const struct tool_settings *settings, struct fault *fault);

/*
 * An argument: the fallback when it is absent. False, with a fault, when it
 * has another type or is out of range; strings also when they are no valid
 * text or longer than `max` bytes.
 */
bool call_int(const struct tool_call *call, int64_t *out, const char *name,
    int64_t fallback, int64_t min, int64_t max, struct fault *fault);
bool call_bool(const struct tool_call *call, bool *out, const char *name,
    bool fallback, struct fault *fault);
bool call_text(const struct tool_call *call, struct span *out, const char *name,
    const char *fallback, size_t max, struct fault *fault);
