/* normalise_kit: a push normalised by the package's families, as a record. */
#pragma once

#include "tools/gridhook/events/normalise.h"

/* The fixture of each test. */
void normalise_kit_set_up(void);
void normalise_kit_tear_down(void);

/* Of the present test. */
struct arena *normalise_kit_arena(void);

/* The events of a push; valid until the next push. */
struct events normalise_kit_take(const char *json, const struct hints *hints);

/* The event's record as the window gets it; valid until the next one. */
struct jval normalise_kit_written(const struct event *event);

/* Checks that the record has every member of `want`, with the same text. */
void normalise_kit_compare(struct jval got, const char *want);
