/*
 * policy: what is done about a message that came in. The first rule that
 * speaks of a case decides it:
 *
 *	1  a scheduled job failed             spoken, also in quiet hours
 *	2  high priority, or a priority word  spoken; in quiet hours unless they
 *	                                      are strict; so is what its sender
 *	                                      asks to be, from a source that is
 *	                                      not muted
 *	3  quiet hours, or a muted source     silent
 *	4  anything else                      its summary is spoken, when
 *	                                      speech is on
 *
 * What came in while no window was there is never spoken by itself: a sentence
 * sums it up. A repeated message, and one whose sender asked for silence, are
 * silent too; but rule 1 knows only the first of these exceptions.
 */
#pragma once

#include <stdbool.h>

#include "tools/gridhud/message.h"

struct policy_facts {
	bool failure;
	enum priority priority;
	bool matched; /* a priority word is in it */
	bool quiet;
	bool muted;
	bool replayed;

	bool duplicate;
	bool silenced; /* the sender says so */
	bool asked; /* the sender wants it to be read aloud */
	bool firing; /* an alert that is on */

	/* The user's settings. */
	bool speech_on, speak_failures, quiet_strict;
};

enum utterance { SAY_NOTHING, SAY_SUMMARY, SAY_FAILURE };

struct verdict {
	enum utterance say;
	enum priority priority; /* at least high with a priority word */
	bool bell;
	bool alert; /* until it is acknowledged */
	bool counts; /* as unread, when the user does not look */
	bool in_summary; /* of what came in meanwhile */
};

struct verdict policy_decide(const struct policy_facts *facts);

/* How the summary of what came in meanwhile is to be told: aloud or not. */
bool policy_speaks_summary(unsigned failures, const struct policy_facts *facts);
