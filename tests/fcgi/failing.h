/*
 * failing: allocations of our own code that are counted, or fail. The test
 * program is linked with FAILING_LDFLAGS, which puts these in the way; what
 * libraries allocate passes by.
 */
#pragma once

#include <stdbool.h>

/* Counts from 0 on; the `nth` from now (1 is the next) fails, 0: none. */
void failing_begin(unsigned long nth);

/* Stops; how many there were. */
unsigned long failing_end(void);
