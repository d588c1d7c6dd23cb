/* plane: figures of rows, as narrow as they allow, and their sums. */
#pragma once

#include <stdint.h>

/*
 * A figure a row: i16 or i32 units, the least number of the width being none,
 * or i64 millionths, NUM_NULL being none.
 */
struct plane {
	const void *values;
	unsigned width; /* 2, 4 or 8 */
	int64_t unit; /* millionths; 1 where the width is 8 */
};

/* In millionths. Without a figure, only the count is set. */
struct plane_sum {
	__int128 sum;
	int64_t min, max;
	uint32_t count;
};

/* Over `count` rows, the first ones when `rows` is NULL. */
struct plane_sum plane_sum(
    const struct plane *plane, const uint32_t *rows, uint32_t count);
