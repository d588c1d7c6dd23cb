/*
 * num: strict number parsing, and exact decimals.
 *
 * A decimal is an int64_t that counts millionths: 12.5 is 12500000. Sums are
 * exact, and a quotient is rounded once, half away from zero. A name that
 * holds millionths ends in _micro, or says so beside it. "Fits" means from
 * -INT64_MAX to INT64_MAX: INT64_MIN is kept for "no value".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

#define NUM_MICRO INT64_C(1000000)

/* Stands for "no value" wherever a decimal may be null. */
#define NUM_NULL INT64_MIN

/* Longest text of any value below, its NUL included. */
#define NUM_TEXT_MAX 32

/*
 * The whole span must be the number: digits, with one '-' before them where min
 * is negative. No blank, no '+', no leading zero beyond "0" itself. False for
 * any other text and outside min..max; *out is then untouched.
 */
bool num_int(int64_t *out, struct span text, int64_t min, int64_t max);

/*
 * "-12.5", "0.000001", "3": digits, at most one point with digits on both
 * sides, at most six after it (more are fine while they are zeros). Leading
 * zeros are fine. No exponent. False for any other text, or when the value does
 * not fit.
 */
bool num_decimal(int64_t *out_micro, struct span text);

/* Shortest exact text ("12.5", "-0.000001", "3"); returns its length. */
size_t num_decimal_text(char text[NUM_TEXT_MAX], int64_t micro);
size_t num_int_text(char text[NUM_TEXT_MAX], int64_t value);

void num_add_decimal(struct buf *buf, int64_t micro);
void num_add_int(struct buf *buf, int64_t value);

/*
 * top / bottom in millionths, both in the same unit; NUM_NULL when bottom is 0
 * or the result does not fit.
 */
int64_t num_ratio(__int128 top, __int128 bottom);

/*
 * a * b of two decimals, in millionths; NUM_NULL when the product does not fit,
 * or when a or b is NUM_NULL.
 */
int64_t num_times(int64_t a_micro, int64_t b_micro);

/* a + b; false when it does not fit. */
bool num_add(int64_t *out, int64_t a, int64_t b);

/* Rounded to whole units, half away from zero; NUM_NULL stays what it is. */
int64_t num_round_units(int64_t micro);

/* "00" to "99", concatenated. */
extern const char num_pairs[201];

/* Two digits of a value below 100, for texts of fixed width. */
static inline void
num_put_pair(char *to, unsigned value)
{
	memcpy(to, num_pairs + 2 * value, 2);
}
