/*
 * speaker: makes one text heard at a time. espeak-ng writes it to a sound file
 * and a player plays that; or speech-dispatcher does both. Everything runs in
 * a process group of its own with a deadline, so that it can be stopped and
 * nothing that hangs holds up the window.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "tools/gridhud/settings.h"

struct speaker;

enum err speaker_new(struct speaker **out);

/* Stops what is spoken. */
void speaker_free(struct speaker *speaker);

/*
 * Whether a text could be spoken at all: the programs are there. The fault
 * says what is missing, and the package that has it.
 */
bool speaker_can(const struct hud_settings *settings, struct fault *fault);

/*
 * Begins. ERR_BUSY while something is spoken. `voice` "" and `rate` 0 are
 * those of the settings.
 */
enum err speaker_start(struct speaker *speaker,
    const struct hud_settings *settings, struct span text, const char *voice,
    int64_t rate, int64_t now_ms);

bool speaker_is_busy(const struct speaker *speaker);

/* Kills what speaks; speaker_poll() tells the end as any other. */
void speaker_stop(struct speaker *speaker);

enum speaker_end {
	SPEAKER_NOTHING, /* it goes on, or nothing was spoken */
	SPEAKER_DONE,
	SPEAKER_STOPPED,
	SPEAKER_FAILED /* `fault` says why, and what to do */
};

/* Looks after the processes; call after SIGCHLD and when due. */
enum speaker_end speaker_poll(struct speaker *speaker,
    const struct hud_settings *settings, int64_t now_ms, struct fault *fault);

/* The deadline of what runs; -1 for none. */
int64_t speaker_due_ms(const struct speaker *speaker);
