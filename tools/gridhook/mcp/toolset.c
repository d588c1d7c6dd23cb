#include "tools/gridhook/mcp/toolset.h"

static const char *const image_formats[] = {"png", "jpeg", NULL};
static const char *const urgencies[] = {"low", "normal", "critical", NULL};
static const char *const roles[] = {"assistant", "system", NULL};
static const char *const hud_states[] = {"idle", "listening", "thinking",
    "speaking", "alert", "error", "hidden", NULL};
static const char *const media_keys[] = {"play_pause", "play", "pause", "next",
    "previous", "stop", "volume_up", "volume_down", "mute", NULL};

static const struct tool_field no_fields[] = {{.name = NULL}};

static const struct tool_field history_fields[] = {
    {.name = "limit",
	.type = TOOL_INT,
	.help = "Most messages to return.",
	.min = 1,
	.max = 200,
	.fallback = "20"},
    {.name = "before",
	.type = TOOL_STRING,
	.help = "Only messages older than this message id.",
	.max = 128},
    {.name = NULL},
};

static const struct tool_field capture_fields[] = {
    {.name = "monitor",
	.type = TOOL_INT,
	.help = "Monitor index, 0 is the primary one. Omit for all monitors.",
	.min = 0,
	.max = 15},
    {.name = "format",
	.type = TOOL_STRING,
	.help = "Image format.",
	.choices = image_formats,
	.fallback = "\"png\""},
    {.name = "max_edge",
	.type = TOOL_INT,
	.help = "Longest edge of the returned image in pixels.",
	.min = 64,
	.max = 4096,
	.fallback = "1568"},
    {.name = NULL},
};

static const struct tool_field clipboard_set_fields[] = {
    {.name = "text",
	.type = TOOL_STRING,
	.required = true,
	.help = "Text to put on the clipboard.",
	.max = 1000000},
    {.name = NULL},
};

static const struct tool_field find_fields[] = {
    {.name = "query",
	.type = TOOL_STRING,
	.required = true,
	.help = "Part of the file name, or a glob such as *.pdf.",
	.min = 1,
	.max = 256},
    {.name = "path",
	.type = TOOL_STRING,
	.help = "Folder to search, absolute or relative to the home folder. "
		"Default: the home folder.",
	.max = 4096},
    {.name = "limit",
	.type = TOOL_INT,
	.help = "Most results to return.",
	.min = 1,
	.max = 500,
	.fallback = "50"},
    {.name = "include_hidden",
	.type = TOOL_BOOL,
	.help = "Also look at names that start with a dot.",
	.fallback = "false"},
    {.name = NULL},
};

static const struct tool_field notify_fields[] = {
    {.name = "title",
	.type = TOOL_STRING,
	.required = true,
	.help = "Title, one line.",
	.min = 1,
	.max = 200},
    {.name = "message",
	.type = TOOL_STRING,
	.required = true,
	.help = "Body text.",
	.min = 1,
	.max = 2000},
    {.name = "urgency",
	.type = TOOL_STRING,
	.help = "Urgency.",
	.choices = urgencies,
	.fallback = "\"normal\""},
    {.name = "timeout_ms",
	.type = TOOL_INT,
	.help = "How long to show it; 0 means until dismissed.",
	.min = 0,
	.max = 600000},
    {.name = NULL},
};

static const struct tool_field show_fields[] = {
    {.name = "text",
	.type = TOOL_STRING,
	.required = true,
	.help = "Message text; Markdown is allowed.",
	.min = 1,
	.max = 20000},
    {.name = "role",
	.type = TOOL_STRING,
	.help = "Whom the message is shown as coming from.",
	.choices = roles,
	.fallback = "\"assistant\""},
    {.name = NULL},
};

static const struct tool_field hud_fields[] = {
    {.name = "state",
	.type = TOOL_STRING,
	.required = true,
	.help = "New state.",
	.choices = hud_states},
    {.name = "label",
	.type = TOOL_STRING,
	.help = "Short caption shown with the state.",
	.max = 120},
    {.name = "quiet_minutes",
	.type = TOOL_INT,
	.help = "Do not disturb for so many minutes: only failed jobs and "
		"urgent messages are read aloud; 0 ends that.",
	.min = 0,
	.max = 1440},
    {.name = NULL},
};

static const struct tool_field speak_fields[] = {
    {.name = "text",
	.type = TOOL_STRING,
	.required = true,
	.help = "Text to speak.",
	.min = 1,
	.max = 5000},
    {.name = "voice",
	.type = TOOL_STRING,
	.help = "Voice name; omit for the default.",
	.max = 64},
    {.name = "rate",
	.type = TOOL_INT,
	.help = "Words per minute.",
	.min = 80,
	.max = 450},
    {.name = "wait",
	.type = TOOL_BOOL,
	.help = "Return only after speech has ended.",
	.fallback = "false"},
    {.name = NULL},
};

static const struct tool_field media_fields[] = {
    {.name = "key",
	.type = TOOL_STRING,
	.required = true,
	.help = "Which key.",
	.choices = media_keys},
    {.name = "repeat",
	.type = TOOL_INT,
	.help = "How many times to press it.",
	.min = 1,
	.max = 20,
	.fallback = "1"},
    {.name = NULL},
};

static const struct tool_field open_app_fields[] = {
    {.name = "name",
	.type = TOOL_STRING,
	.required = true,
	.help = "Application name or desktop id, such as firefox or "
		"org.gnome.Calculator.",
	.min = 1,
	.max = 256},
    {.name = "args",
	.type = TOOL_STRINGS,
	.help = "Files or arguments to pass, one each.",
	.max = 32,
	.item_max = 4096},
    {.name = NULL},
};

static const struct tool_field open_url_fields[] = {
    {.name = "url",
	.type = TOOL_STRING,
	.required = true,
	.help = "Absolute http:// or https:// URL.",
	.min = 8,
	.max = 2048},
    {.name = NULL},
};

const struct desk_tool toolset[TOOL_COUNT] = {
    {
	.shown.name = "get_app_status",
	.shown.title = "Get app status",
	.shown.description =
	    "Return the state of the desktop app: version, uptime, HUD state, "
	    "whether a display is available, queue sizes, whether the person "
	    "wants quiet now, the window's settings, and for each tool "
	    "whether it works here and, if not, why. Call this first if "
	    "another tool fails.",
	.by = TOOL_BY_SERVER,
	.pace = TOOL_PACE_READ,
	.deadline_ms = 5000,
	.shown.read_only = true,
	.shown.idempotent = true,
	.shown.fields = no_fields,
	.shown.output_schema =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"app\":{\"type\":\"string\"},"
	    "\"version\":{\"type\":\"string\"},"
	    "\"uptime_s\":{\"type\":\"number\"},"
	    "\"hud_state\":{\"type\":\"string\"},"
	    "\"display\":{\"type\":\"boolean\"},"
	    "\"listening\":{\"type\":\"boolean\"},"
	    "\"port\":{\"type\":\"integer\"},"
	    "\"path\":{\"type\":\"string\"},"
	    "\"secret_configured\":{\"type\":\"boolean\"},"
	    "\"window_attached\":{\"type\":\"boolean\"},"
	    "\"stored_events\":{\"type\":\"integer\"},"
	    "\"pending_events\":{\"type\":\"integer\"},"
	    "\"unread\":{\"type\":\"integer\"},"
	    "\"quiet\":{\"type\":\"boolean\"},"
	    "\"quiet_until\":{\"type\":\"string\"},"
	    "\"settings\":{\"type\":\"object\"},"
	    "\"speech_why_not\":{\"type\":\"string\"},"
	    "\"tools\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{\"name\":{\"type\":\"string\"},"
	    "\"works\":{\"type\":\"boolean\"},"
	    "\"why_not\":{\"type\":\"string\"}},"
	    "\"required\":[\"name\",\"works\"]}}},"
	    "\"required\":[\"app\",\"version\",\"uptime_s\",\"hud_state\","
	    "\"display\"]}",
    },
    {
	.shown.name = "get_conversation_history",
	.shown.title = "Get conversation history",
	.shown.description =
	    "Return the most recent conversation messages shown by "
	    "the desktop app, oldest first.",
	.by = TOOL_BY_SERVER,
	.pace = TOOL_PACE_READ,
	.deadline_ms = 5000,
	.shown.read_only = true,
	.shown.idempotent = true,
	.shown.fields = history_fields,
	.shown.output_schema =
	    "{\"type\":\"object\",\"properties\":{\"messages\":{"
	    "\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{\"id\":{\"type\":\"string\"},"
	    "\"role\":{\"type\":\"string\",\"enum\":[\"user\","
	    "\"assistant\",\"system\"]},\"text\":{\"type\":\"string\"},"
	    "\"time\":{\"type\":\"string\"}},\"required\":[\"id\",\"role\","
	    "\"text\",\"time\"]}},\"has_more\":{\"type\":\"boolean\"}},"
	    "\"required\":[\"messages\",\"has_more\"]}",
    },
    {
	.shown.name = "capture_screen",
	.shown.title = "Capture screen",
	.shown.description =
	    "Take a screenshot of the desktop and return it as an image. "
	    "Downscaled so that the longest edge is at most max_edge pixels.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_HEAVY,
	.deadline_ms = 15000,
	.shown.read_only = true,
	.shown.idempotent = true,
	.shown.fields = capture_fields,
    },
    {
	.shown.name = "clipboard_get",
	.shown.title = "Read clipboard",
	.shown.description = "Return the text on the clipboard.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_READ,
	.deadline_ms = 5000,
	.shown.read_only = true,
	.shown.idempotent = true,
	.shown.fields = no_fields,
	.shown.output_schema =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"text\":{\"type\":\"string\"},"
	    "\"has_text\":{\"type\":\"boolean\"},"
	    "\"truncated\":{\"type\":\"boolean\"}},"
	    "\"required\":[\"text\",\"has_text\",\"truncated\"]}",
    },
    {
	.shown.name = "clipboard_set",
	.shown.title = "Write clipboard",
	.shown.description =
	    "Replace the clipboard with the given text. An empty "
	    "string clears it.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 5000,
	.shown.destructive = true,
	.shown.idempotent = true,
	.shown.fields = clipboard_set_fields,
    },
    {
	.shown.name = "find_files",
	.shown.title = "Find files",
	.shown.description =
	    "Find files by name under a folder of the user's home. "
	    "Case-insensitive; the query is a plain part of the file name, or "
	    "a glob if it has * or ?. Never reads file contents.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_READ,
	.deadline_ms = 10000,
	.shown.read_only = true,
	.shown.idempotent = true,
	.shown.fields = find_fields,
	.shown.output_schema =
	    "{\"type\":\"object\",\"properties\":{\"files\":{"
	    "\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{\"path\":{\"type\":\"string\"},"
	    "\"is_dir\":{\"type\":\"boolean\"},"
	    "\"size\":{\"type\":\"integer\"},"
	    "\"modified\":{\"type\":\"string\"}},"
	    "\"required\":[\"path\",\"is_dir\"]}},"
	    "\"truncated\":{\"type\":\"boolean\"}},"
	    "\"required\":[\"files\",\"truncated\"]}",
    },
    {
	.shown.name = "notify_user",
	.shown.title = "Notify user",
	.shown.description = "Show a desktop notification.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 5000,
	.shown.fields = notify_fields,
    },
    {
	.shown.name = "show_message",
	.shown.title = "Show message",
	.shown.description =
	    "Show a message in the desktop app's own window and "
	    "add it to the conversation history.",
	.by = TOOL_BY_SERVER,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 15000,
	.shown.fields = show_fields,
	.shown.output_schema =
	    "{\"type\":\"object\",\"properties\":{"
	    "\"id\":{\"type\":\"string\"},"
	    "\"shown\":{\"type\":\"boolean\"},"
	    "\"queued\":{\"type\":\"boolean\"}},\"required\":[\"id\"]}",
    },
    {
	.shown.name = "set_hud_state",
	.shown.title = "Set HUD state",
	.shown.description = "Set the visual state of the HUD.",
	.by = TOOL_BY_WINDOW,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 15000,
	.shown.idempotent = true,
	.shown.fields = hud_fields,
    },
    {
	.shown.name = "speak_text",
	.shown.title = "Speak text",
	.shown.description =
	    "Speak text aloud. Returns as soon as speech is queued "
	    "unless wait is true; fails where nothing can speak.",
	.by = TOOL_BY_WINDOW,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 120000,
	.shown.fields = speak_fields,
    },
    {
	.shown.name = "media_key",
	.shown.title = "Press media key",
	.shown.description =
	    "Tell a media player, or set the volume, as a media key would. "
	    "Where nothing can be told so, the key itself is pressed, and "
	    "the answer says whether anything is known to listen.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_ACT,
	.deadline_ms = 10000,
	.shown.fields = media_fields,
    },
    {
	.shown.name = "open_app",
	.shown.title = "Open app",
	.shown.description =
	    "Start an installed application by its name or desktop id, or, "
	    "if it runs already, bring its window to the front. Where the "
	    "desktop does not show which windows there are, it is started, "
	    "and the answer says so. No shell command line is run.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_HEAVY,
	.deadline_ms = 10000,
	.shown.destructive = true,
	.shown.open_world = true,
	.shown.fields = open_app_fields,
    },
    {
	.shown.name = "open_url",
	.shown.title = "Open URL",
	.shown.description =
	    "Open an http or https URL in the default browser.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_HEAVY,
	.deadline_ms = 15000,
	.shown.open_world = true,
	.shown.fields = open_url_fields,
    },
    {
	.shown.name = "lock_session",
	.shown.title = "Lock session",
	.shown.description =
	    "Lock the user's session. The user must unlock it by hand.",
	.by = TOOL_BY_HELPER,
	.pace = TOOL_PACE_HEAVY,
	.deadline_ms = 10000,
	.shown.destructive = true,
	.shown.idempotent = true,
	.shown.fields = no_fields,
    },
};

const struct desk_tool *
toolset_find(struct span name)
{
	for (unsigned i = 0; i < TOOL_COUNT; i++)
		if (span_eq(span_of(toolset[i].shown.name), name))
			return &toolset[i];
	return NULL;
}
