/*
 * date: days, months and instants as plain numbers, and their ISO texts.
 *
 *	day    days since 1970-01-01           "2025-03-09"
 *	month  year * 12 + (month - 1)         "202503", "2025-03"
 *	ms     milliseconds since the epoch    "2025-03-09T12:00:00.250Z"
 *
 * All are UTC and proleptic Gregorian, years 1 to 9999. A number outside them,
 * DATE_NULL for one, has the empty text, and turns into DATE_NULL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

#define DATE_NULL INT32_MIN
#define DATE_TEXT_MAX 32

bool date_day(int32_t *out, struct span text); /* YYYY-MM-DD */
bool date_month(int32_t *out, struct span text); /* YYYYMM */
bool date_month_dashed(int32_t *out, struct span text); /* YYYY-MM */

/*
 * RFC 3339: date, 'T', time, optional fraction, 'Z' or an offset. Digits below
 * a millisecond are dropped; a leap second counts as the second after it.
 */
bool date_instant(int64_t *out_ms, struct span text);

size_t date_day_text(char text[DATE_TEXT_MAX], int32_t day);
size_t date_month_text(char text[DATE_TEXT_MAX], int32_t month);
size_t date_month_dashed_text(char text[DATE_TEXT_MAX], int32_t month);
size_t date_instant_text(char text[DATE_TEXT_MAX], int64_t ms);

int32_t date_day_of(int year, int month, int day); /* month 1..12 */
int32_t date_day_from_ms(int64_t ms);
int32_t date_month_of_day(int32_t day);
int32_t date_month_last_day(int32_t month); /* as a day */

/* The clocks: wall time, and a monotonic clock. */
int64_t date_now_ms(void);
int64_t date_monotonic_ns(void);
