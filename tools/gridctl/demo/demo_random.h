/*
 * demo_random: numbers that look random and are the same on any machine
 * (splitmix64). A stream is seeded by its purpose and numbers, never passed
 * around, so that threads may make the parts of a file in any order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct demo_random {
	uint64_t state;
};

/* The purpose of a stream; it separates streams with equal numbers. */
enum demo_stream {
	DEMO_OF_PLAN = 1,
	DEMO_OF_SUPPLIER,
	DEMO_OF_PRODUCT,
	DEMO_OF_LISTING,
	DEMO_OF_STORE,
	DEMO_OF_SHELF, /* a listing in a store */
	DEMO_OF_POSITION,
	DEMO_OF_NETWORK,
	DEMO_OF_SHUFFLE,
	DEMO_OF_YEAR_BEFORE /* a listing in a store, its older sales */
};

static inline uint64_t
demo_next(struct demo_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static inline struct demo_random
demo_random(uint64_t seed, enum demo_stream stream, uint64_t a, uint64_t b)
{
	struct demo_random random = {seed};

	random.state = demo_next(&random) ^ ((uint64_t)stream << 56);
	random.state = demo_next(&random) ^ a;
	random.state = demo_next(&random) ^ b;
	return random;
}

/* 0..limit-1; limit at least 1. */
static inline uint32_t
demo_below(struct demo_random *random, uint32_t limit)
{
	return (uint32_t)(((demo_next(random) >> 32) * limit) >> 32);
}

/* min..max, both included. */
static inline int64_t
demo_between(struct demo_random *random, int64_t min, int64_t max)
{
	return min + demo_below(random, (uint32_t)(max - min + 1));
}

/* True with a probability of `percent`. */
static inline bool
demo_chance(struct demo_random *random, uint32_t percent)
{
	return demo_below(random, 100) < percent;
}
