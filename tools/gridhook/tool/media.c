/*
 * media_key: what a media key would do, done where it can be done best: a
 * player is told by MPRIS, the volume is set by the sound server's own
 * program. Where neither is there, the key itself is pressed: by XTEST under
 * X, by wtype under a compositor that lets it.
 */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/mpris.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/x11.h"

#define PROGRAM_MS 2000
#define STEP_PERCENT 5
#define REPEAT_MAX 20
#define OUTPUT_MAX 65536

enum volume { VOLUME_NONE, VOLUME_UP, VOLUME_DOWN, VOLUME_MUTE };

static const struct key {
	const char *name;
	const char *method; /* MPRIS's, or NULL */
	enum volume volume;
	uint32_t symbol; /* X's, and the name that wtype knows it by */
	const char *symbol_name;
} keys[] = {
    {"play_pause", "PlayPause", VOLUME_NONE, 0x1008ff14, "XF86AudioPlay"},
    {"play", "Play", VOLUME_NONE, 0x1008ff14, "XF86AudioPlay"},
    {"pause", "Pause", VOLUME_NONE, 0x1008ff31, "XF86AudioPause"},
    {"next", "Next", VOLUME_NONE, 0x1008ff17, "XF86AudioNext"},
    {"previous", "Previous", VOLUME_NONE, 0x1008ff16, "XF86AudioPrev"},
    {"stop", "Stop", VOLUME_NONE, 0x1008ff15, "XF86AudioStop"},
    {"volume_up", NULL, VOLUME_UP, 0x1008ff13, "XF86AudioRaiseVolume"},
    {"volume_down", NULL, VOLUME_DOWN, 0x1008ff11, "XF86AudioLowerVolume"},
    {"mute", NULL, VOLUME_MUTE, 0x1008ff12, "XF86AudioMute"},
};

#define ARGS_MAX 6

/* Fixed argument vectors; only pactl's louder needs a number. */
static const char *const wpctl[][ARGS_MAX] = {
    [VOLUME_UP] = {"wpctl", "set-volume", "-l", "1.0", "@DEFAULT_AUDIO_SINK@",
	"5%+"},
    [VOLUME_DOWN] = {"wpctl", "set-volume", "@DEFAULT_AUDIO_SINK@", "5%-"},
    [VOLUME_MUTE] = {"wpctl", "set-mute", "@DEFAULT_AUDIO_SINK@", "toggle"},
};

static const char *const pactl[][ARGS_MAX] = {
    [VOLUME_UP] = {"pactl", "set-sink-volume", "@DEFAULT_SINK@", "+5%"},
    [VOLUME_DOWN] = {"pactl", "set-sink-volume", "@DEFAULT_SINK@", "-5%"},
    [VOLUME_MUTE] = {"pactl", "set-sink-mute", "@DEFAULT_SINK@", "toggle"},
};

static const char *const pactl_volume[ARGS_MAX] = {
    "pactl", "get-sink-volume", "@DEFAULT_SINK@"};
static const char *const pactl_full[ARGS_MAX] = {
    "pactl", "set-sink-volume", "@DEFAULT_SINK@", "100%"};

/* True when it ran and ended well; its output, if wanted, in `out`. */
static bool
runs(const char *const args[ARGS_MAX], struct buf *out, struct fault *fault)
{
	const char *argv[ARGS_MAX + 1] = {NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = PROGRAM_MS};
	int status;

	for (int i = 0; i < ARGS_MAX && args[i] != NULL; i++)
		argv[i] = args[i];
	if (child_run(&spec, out, &status, fault) != ERR_OK)
		return false;
	if (status != 0)
		fault_set(fault, args[0],
		    "the desktop refused: %s ended with status %d", args[0],
		    status);
	return status == 0;
}

/* The first "NN%" of a text; false when it has none. */
static bool
percent_in(int64_t *out, struct span text)
{
	size_t at = span_find(text, '%'), from = at;

	if (at == text.len)
		return false;
	while (
	    from > 0 && text.ptr[from - 1] >= '0' && text.ptr[from - 1] <= '9')
		from--;
	return num_int(out, span_sub(text, from, at - from), 0, 100000);
}

/* pactl would go beyond 100 %, which is loud enough. */
static bool
pactl_louder(struct fault *fault)
{
	struct buf text;
	int64_t percent = 0;
	bool known;

	buf_init(&text, OUTPUT_MAX);
	known = runs(pactl_volume, &text, fault) &&
	    percent_in(&percent, buf_span(&text));
	buf_fini(&text);
	if (!known)
		return false;
	if (percent >= 100)
		return true;
	return runs(
	    percent > 100 - STEP_PERCENT ? pactl_full : pactl[VOLUME_UP], NULL,
	    fault);
}

/* The program that set the volume, or NULL. */
static const char *
set_volume(enum volume volume, struct fault *fault)
{
	if (session_has_program("wpctl") && runs(wpctl[volume], NULL, fault))
		return "wpctl";
	if (!session_has_program("pactl"))
		return NULL;
	if (volume == VOLUME_UP ? pactl_louder(fault)
				: runs(pactl[volume], NULL, fault))
		return "pactl";
	return NULL;
}

static enum err
press_x11(const struct key *key, int64_t repeat, enum x11_ear *ear,
    struct fault *fault)
{
	struct x11 *x11;
	enum err err;

	err = x11_open(&x11, fault);
	while (err == ERR_OK && repeat-- > 0)
		err = x11_key(x11, key->symbol, ear, fault);
	x11_close(x11);
	return err;
}

static enum err
press_wayland(const struct key *key, int64_t repeat, struct fault *fault)
{
	const char *const args[ARGS_MAX] = {"wtype", "-k", key->symbol_name};

	while (repeat-- > 0)
		if (!runs(args, NULL, fault))
			return ERR_DENIED;
	return ERR_OK;
}

/* Not more than is known: a key that was pressed may have moved nothing. */
static void
tell_pressed(struct answer *answer, const struct key *key, enum x11_ear ear)
{
	const char *first = key->method != NULL
	    ? "no media player that speaks MPRIS is running"
	    : "neither wpctl nor pactl could set the volume";

	if (ear == X11_EAR_GRAB)
		answer_text(answer,
		    "The key %s was pressed, and a program that has grabbed "
		    "it was told (%s).",
		    key->name, first);
	else
		answer_text(answer,
		    "The key %s was pressed, but whether anything listens is "
		    "not known: %s, and %s.",
		    key->name, first,
		    ear == X11_EAR_FOCUS
			? "no program has grabbed the key, so it went to the "
			  "window with the focus"
			: "a compositor does not tell who takes a key");
}

/* Presses the key itself, when no program takes the command. */
static enum err
press(const struct tool_call *call, const struct key *key, int64_t repeat,
    struct answer *answer, const struct fault *first, struct fault *fault)
{
	enum x11_ear ear = X11_EAR_NONE;
	struct fault second;
	enum err err = ERR_NOT_READY;

	fault_clear(&second);
	switch (session_find(call->settings)) {
	case SESSION_X11:
		err = press_x11(key, repeat, &ear, &second);
		break;
	case SESSION_WAYLAND:
		err = press_wayland(key, repeat, &second);
		break;
	case SESSION_NONE:
		session_none(&second);
	}
	if (err == ERR_OK) {
		tell_pressed(answer, key, ear);
		return ERR_OK;
	}
	if (fault_is_set(first))
		fault_set(fault, "media_key",
		    "%s; and the key could not be "
		    "pressed: %s",
		    first->message, second.message);
	else
		*fault = second;
	return err;
}

static enum err
tell_player(const struct key *key, int64_t repeat, struct answer *answer,
    struct fault *fault)
{
	struct mpris *mpris;
	enum err err;

	err = mpris_open(&mpris, fault);
	while (err == ERR_OK && repeat-- > 0)
		err = mpris_tell(mpris, key->method, fault);
	if (err == ERR_OK)
		answer_text(
		    answer, "%s was told: %s.", mpris_player(mpris), key->name);
	mpris_close(mpris);
	return err;
}

static enum err
change_volume(const struct tool_call *call, const struct key *key,
    int64_t repeat, struct answer *answer, struct fault *fault)
{
	const char *by = NULL;
	struct fault first;

	fault_clear(&first);
	for (int64_t i = 0; i < repeat; i++) {
		by = set_volume(key->volume, &first);
		if (by == NULL)
			return press(
			    call, key, repeat - i, answer, &first, fault);
	}
	answer_text(answer, "Done by %s: %s.", by, key->name);
	return ERR_OK;
}

static const struct key *
find_key(struct span name)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (span_eq(name, span_of(keys[i].name)))
			return &keys[i];
	return NULL;
}

enum err
media_key(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	const struct key *key;
	struct fault first;
	struct span name;
	int64_t repeat;

	assert(call->settings != NULL && answer != NULL);
	if (!call_text(call, &name, "key", NULL, 64, fault) ||
	    !call_int(call, &repeat, "repeat", 1, 1, REPEAT_MAX, fault))
		return ERR_BAD_INPUT;
	key = find_key(name);
	if (key == NULL) {
		fault_set(fault, "key", "not allowed: no such media key");
		return ERR_BAD_INPUT;
	}
	if (key->method == NULL)
		return change_volume(call, key, repeat, answer, fault);
	fault_clear(&first);
	if (tell_player(key, repeat, answer, &first) == ERR_OK)
		return ERR_OK;
	return press(call, key, repeat, answer, &first, fault);
}
