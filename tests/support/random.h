/*
 * random: numbers for tests that try many. They are the same in every run, so
 * that what failed once fails again.
 */
#pragma once

#include <stdint.h>

uint64_t random_bits(void);
