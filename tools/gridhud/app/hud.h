/*
 * hud: the state that the window shows at a glance.
 *
 * What was set by a tool is its base. While something is spoken it is
 * "speaking"; while an alert waits to be acknowledged it is "alert", whatever
 * else goes on. Both give way to the base again.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

#define HUD_LABEL_CHARS 40

enum hud_state {
	HUD_IDLE,
	HUD_LISTENING,
	HUD_THINKING,
	HUD_SPEAKING,
	HUD_ALERT,
	HUD_ERROR,
	HUD_HIDDEN, /* nothing is shown of it */
	HUD_COUNT
};

struct hud {
	enum hud_state base;
	char label[HUD_LABEL_CHARS * 4 + 1]; /* beside the base; "": none */
	bool speaking;
	bool alert;
};

const char *hud_name(enum hud_state state);

/*
 * Sets the base by its name. ERR_BAD_INPUT for a name that is none, and the
 * fault lists those that are. A label is cut to 40 characters.
 */
enum err hud_set(
    struct hud *hud, struct span name, struct span label, struct fault *fault);

enum hud_state hud_shown(const struct hud *hud);

/* Whether somebody has seen what comes in now. */
enum focus { FOCUS_UNKNOWN, FOCUS_OUT, FOCUS_IN };

/*
 * True when what comes in is unread: nobody is known to look, or the newest
 * is scrolled out of sight.
 */
bool hud_is_unseen(enum focus focus, bool at_end);
