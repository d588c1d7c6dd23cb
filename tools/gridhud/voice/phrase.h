/*
 * phrase: the words that the window itself speaks, in each language.
 */
#pragma once

#include "common/buf.h"
#include "tools/gridhud/message.h"
#include "tools/gridhud/settings.h"

#define PHRASE_NAMES_MAX 5

/* Messages that came while no window was open. */
struct away {
	unsigned messages;
	unsigned failures;
	/* The first of the jobs that failed, with ", " between them. */
	char names[512];
};

/* Adds one to the sum. */
void away_add(struct away *away, const struct message *message);

/* "backup: It is done. All is well." */
void phrase_message(struct buf *buf, const struct message *message,
    const struct hud_settings *settings);

/* "Job backup failed: no space left." */
void phrase_failure(struct buf *buf, const struct message *message,
    const struct hud_settings *settings);

/* "7 messages while you were away, 1 failure: backup" */
void phrase_away(
    struct buf *buf, const struct away *away, enum language language);

/* "and 4 more messages"; of failures the names are told too. */
void phrase_more(struct buf *buf, unsigned count, enum language language);
void phrase_more_failures(
    struct buf *buf, unsigned count, struct span names, enum language language);
