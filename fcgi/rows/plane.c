/*
 * Figures come and go without an order that a processor could guess, so nothing
 * here branches on one: a mask of ones takes out what is none.
 */
#include "fcgi/rows/plane.h"

#include <assert.h>
#include <string.h>

#include "common/num.h"

/* In units. The least number is none, and as ~none the greatest one. */
struct units {
	int64_t sum, min, max;
	uint32_t none;
};

static inline void
add_unit(struct units *units, int64_t value, int64_t none)
{
	int64_t absent = -(int64_t)(value == none), low = value ^ absent;

	units->none -= (uint32_t)absent;
	units->sum += value & ~absent;
	units->max = value > units->max ? value : units->max;
	units->min = low < units->min ? low : units->min;
}

static void
add_32(struct units *to, const int32_t *values, const uint32_t *rows,
    uint32_t count)
{
	struct units units = *to;

	for (uint32_t i = 0; i < count; i++)
		add_unit(&units, values[rows == NULL ? i : rows[i]], INT32_MIN);
	*to = units;
}

static void
add_16(struct units *to, const int16_t *values, const uint32_t *rows,
    uint32_t count)
{
	struct units units = *to;

	for (uint32_t i = 0; i < count; i++)
		add_unit(&units, values[rows == NULL ? i : rows[i]], INT16_MIN);
	*to = units;
}

/* --- 16 bytes at a time --------------------------------------------------- */

#define TURNS_MAX INT16_MAX /* that a lane can count, and sum */

typedef int16_t lanes16 __attribute__((vector_size(16)));
typedef int32_t lanes32 __attribute__((vector_size(16)));

#define LANES16 (sizeof(lanes16) / sizeof(int16_t))
#define LANES32 (sizeof(lanes32) / sizeof(int32_t))

static inline lanes16
choose16(lanes16 mask, lanes16 a, lanes16 b)
{
	return (a & mask) | (b & ~mask);
}

static inline lanes32
choose32(lanes32 mask, lanes32 a, lanes32 b)
{
	return (a & mask) | (b & ~mask);
}

/* Adds the figures of one lane, which was never wider than an i32. */
static void
add_lane(struct units *to, int64_t min, int64_t max, int64_t none)
{
	to->none += (uint32_t)none;
	to->max = max > to->max ? max : to->max;
	to->min = min < to->min ? min : to->min;
}

static void
turn_16(struct units *to, const int16_t *values, unsigned turns)
{
	lanes16 none = {0}, min = none + INT16_MAX, max = none + INT16_MIN;
	lanes32 even = {0}, odd = {0};

	for (unsigned i = 0; i < turns; i++, values += LANES16) {
		lanes16 value, absent, low;
		lanes32 there;

		memcpy(&value, values, sizeof(value));
		absent = value == INT16_MIN;
		low = value ^ absent;
		there = (lanes32)(value & ~absent);
		none -= absent;
		max = choose16(value > max, value, max);
		min = choose16(low < min, low, min);
		even += there << 16 >> 16; /* two numbers are in each lane */
		odd += there >> 16;
	}
	for (unsigned i = 0; i < LANES16; i++)
		add_lane(to, min[i], max[i], none[i]);
	for (unsigned i = 0; i < LANES32; i++)
		to->sum += (int64_t)even[i] + odd[i];
}

static void
turn_32(struct units *to, const int32_t *values, unsigned turns)
{
	lanes32 none = {0}, min = none + INT32_MAX, max = none + INT32_MIN;
	lanes32 lower = {0}, upper = {0}; /* halves, so that they fit */

	for (unsigned i = 0; i < turns; i++, values += LANES32) {
		lanes32 value, absent, low, there;

		memcpy(&value, values, sizeof(value));
		absent = value == INT32_MIN;
		low = value ^ absent;
		there = value & ~absent;
		none -= absent;
		max = choose32(value > max, value, max);
		min = choose32(low < min, low, min);
		lower += there & 0xffff;
		upper += there >> 16;
	}
	for (unsigned i = 0; i < LANES32; i++) {
		add_lane(to, min[i], max[i], none[i]);
		to->sum += (int64_t)upper[i] * 65536 + lower[i];
	}
}

static void
add_first_16(struct units *to, const int16_t *values, uint32_t count)
{
	uint32_t turns;

	for (uint32_t left = count / LANES16; left > 0; left -= turns) {
		turns = left < TURNS_MAX ? left : TURNS_MAX;
		turn_16(to, values, turns);
		values += (size_t)turns * LANES16;
	}
	add_16(to, values, NULL, count % LANES16);
}

static void
add_first_32(struct units *to, const int32_t *values, uint32_t count)
{
	uint32_t turns;

	for (uint32_t left = count / LANES32; left > 0; left -= turns) {
		turns = left < TURNS_MAX ? left : TURNS_MAX;
		turn_32(to, values, turns);
		values += (size_t)turns * LANES32;
	}
	add_32(to, values, NULL, count % LANES32);
}

/* --- all widths ----------------------------------------------------------- */

static struct plane_sum
sum_wide(const int64_t *values, const uint32_t *rows, uint32_t count)
{
	struct plane_sum sum = {0, INT64_MAX, INT64_MIN, 0};

	for (uint32_t i = 0; i < count; i++) {
		int64_t value = values[rows == NULL ? i : rows[i]];

		if (value == NUM_NULL)
			continue;
		sum.count++;
		sum.sum += value;
		sum.max = value > sum.max ? value : sum.max;
		sum.min = value < sum.min ? value : sum.min;
	}
	return sum;
}

struct plane_sum
plane_sum(const struct plane *plane, const uint32_t *rows, uint32_t count)
{
	struct units units = {0, INT64_MAX, INT64_MIN, 0};

	assert(plane->width == 2 || plane->width == 4 || plane->width == 8);
	if (plane->width == 8)
		return sum_wide(plane->values, rows, count);
	if (rows == NULL && plane->width == 2)
		add_first_16(&units, plane->values, count);
	else if (rows == NULL)
		add_first_32(&units, plane->values, count);
	else if (plane->width == 2)
		add_16(&units, plane->values, rows, count);
	else
		add_32(&units, plane->values, rows, count);
	if (units.none == count)
		return (struct plane_sum){0, 0, 0, 0};
	return (struct plane_sum){.sum = (__int128)units.sum * plane->unit,
	    .min = units.min * plane->unit,
	    .max = units.max * plane->unit,
	    .count = count - units.none};
}
