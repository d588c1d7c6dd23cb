/*
 * clock: the three times that the window goes by. The wall's can be moved, to
 * try settings out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/gridhud/hours.h"

#define CLOCK_TEXT_MAX 48

struct clock {
	int64_t shift_ms; /* of the wall's time against the machine's */
};

/* Local "2026-01-31T23:30" or "23:30" of today as what it is now. */
bool clock_pretend(struct clock *clock, const char *text);

int64_t clock_now_ms(const struct clock *clock); /* since the epoch */
int64_t clock_steady_ms(void); /* never steps back */

/* The local wall clock at that time. */
struct wall clock_wall(int64_t ms);

/* "21:04", and "Friday 21 November"; in the locale of the process. */
void clock_time_text(char text[CLOCK_TEXT_MAX], int64_t ms);
void clock_day_text(char text[CLOCK_TEXT_MAX], int64_t ms);

/* Days are the same, by the local clock. */
bool clock_same_day(int64_t a_ms, int64_t b_ms);
