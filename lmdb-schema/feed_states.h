/*
 * feed_states: the states that the feed of proposals tells, by their names in
 * the parameter `etat` and in entries.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"

enum feed_state {
	FEED_PROPOSED = 1,
	FEED_VALIDATED = 2,
	FEED_REJECTED = 4,
	FEED_WITHDRAWN = 8,
	FEED_EDITED = 16,
	FEED_ARRIVED = 32
};

#define FEED_STATES 6

/* By places: state 1 << i. */
extern const struct span feed_state_names[FEED_STATES];

struct span feed_state_name(enum feed_state state);

/*
 * How far a reader has come: "NUMBER-MS", an entry and when it was written, so
 * that a trail from a backup is not taken for the one that was read.
 */
struct feed_cursor {
	uint64_t number;
	int64_t when_ms;
};

#define FEED_CURSOR_MAX 48
void feed_cursor_text(
    char text[FEED_CURSOR_MAX], const struct feed_cursor *cursor);
bool feed_cursor(struct feed_cursor *cursor, struct span text);
