/*
 * told: what a check of a store finds, gathered as one text, a line a fault.
 */
#pragma once

#include "lmdb-schema/upkeep/check.h"

extern char told[4096];
extern struct check_counts told_counts;

/* Checks the store, which must be possible; what was told before goes. */
void told_check(struct store *store);

/* Fails the test when that was not told, somewhere. */
void told_must_have(const char *words);
