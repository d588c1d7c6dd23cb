/*
 * hours: times of day that come back each day or on some days of the week:
 * quiet hours, night hours. Local wall clock, which the caller passes in.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

#define HOURS_MAX 8

/* A moment as a clock on the wall shows it. */
struct wall {
	int minute; /* of the day: 0..1439 */
	int weekday; /* 0 is Sunday */
};

struct hours {
	struct hours_range {
		int start, end; /* minutes; the end is not part of it */
		unsigned days; /* bit 0: Sunday; the day on which it starts */
	} ranges[HOURS_MAX];
	unsigned count;
};

/*
 * "22:00-07:00", "mon-fri 22:00-07:00, sat+sun 23:30-09:00", "" for never.
 * An end before the start is on the next day; an end like the start is never;
 * 00:00-24:00 is always.
 */
enum err hours_parse(struct hours *hours, const char *text, const char *place,
    struct fault *fault);

bool hours_contain(const struct hours *hours, struct wall wall);
