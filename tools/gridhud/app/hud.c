#include "tools/gridhud/app/hud.h"

#include <assert.h>
#include <stdio.h>

#include "common/buf.h"
#include "tools/gridhud/text.h"

static const char *const names[HUD_COUNT] = {
    "idle", "listening", "thinking", "speaking", "alert", "error", "hidden"};

const char *
hud_name(enum hud_state state)
{
	assert(state < HUD_COUNT);
	return names[state];
}

static void
set_label(struct hud *hud, struct span label)
{
	struct buf buf;

	buf_init(&buf, 4096);
	text_show_line(&buf, text_cut_count(label, 1000));
	if (buf_end(&buf) != ERR_OK ||
	    !span_copy(hud->label, sizeof(hud->label),
		text_cut_count(buf_span(&buf), HUD_LABEL_CHARS)))
		hud->label[0] = '\0';
	buf_fini(&buf);
}

enum err
hud_set(
    struct hud *hud, struct span name, struct span label, struct fault *fault)
{
	assert(hud->base < HUD_COUNT);
	for (unsigned i = 0; i < HUD_COUNT; i++) {
		if (!span_eq(span_of(names[i]), name))
			continue;
		hud->base = (enum hud_state)i;
		set_label(hud, label);
		return ERR_OK;
	}
	fault_set(fault, "state",
	    "is \"%.*s\", but must be one of idle, listening, thinking, "
	    "speaking, alert, error, hidden",
	    SPAN_ARG(text_cut_count(name, 40)));
	return ERR_BAD_INPUT;
}

enum hud_state
hud_shown(const struct hud *hud)
{
	assert(hud->base < HUD_COUNT);
	if (hud->alert)
		return HUD_ALERT;
	return hud->speaking ? HUD_SPEAKING : hud->base;
}

bool
hud_is_unseen(enum focus focus, bool at_end)
{
	return focus != FOCUS_IN || !at_end;
}
