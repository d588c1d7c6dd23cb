/* order: sort permutations, all stable: ties keep their given order. */
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

/* As order_numbers(), for texts, bytewise; .ptr NULL is no value. */
enum err order_texts(
    uint32_t *asc, uint32_t *desc, const struct span *texts, uint32_t count);
