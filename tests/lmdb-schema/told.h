/*
 * told: the faults that a check of a store finds, as one text, a line per
 * fault.
 */
#pragma once

#include "lmdb-schema/upkeep/check.h"

extern char told[4096];
extern struct check_counts told_counts;

/*
 * Checks the store, asserting that the check succeeds; drops the faults of the
 * last check.
 */
void told_check(struct store *store);

/* Fails the test unless the faults contain this text. */
void told_must_have(const char *words);
