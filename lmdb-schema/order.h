/*
 * order: sort permutations, all stable, so that ties keep the order they came
 * in.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

/*
 * Sorts 0 .. count-1 by their values. `asc` gets them ascending and `desc`
 * descending, equal values in their given order in both, and those without a
 * value (NUM_NULL) last in both.
 */
enum err order_numbers(
    uint32_t *asc, uint32_t *desc, const int64_t *values, uint32_t count);

/* The same for texts, bytewise; .ptr NULL is one without a value. */
enum err order_texts(
    uint32_t *asc, uint32_t *desc, const struct span *texts, uint32_t count);
