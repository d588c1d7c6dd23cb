/*
 * old_facts: facts as version 2 wrote them, for tests of what is read of it: the
 * current facts, of one share, become an import and a merge into it.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"

struct store;

/*
 * Replaces the current facts by a file with everything and a newer one that has
 * `merged` alone, and refers to the first for the others and the listings.
 * Returns the generation of the second, which is current.
 */
uint64_t old_facts_make(struct store *store, struct span merged);
