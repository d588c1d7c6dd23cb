/* one: a store with one computed supplier, BIG, and its snapshot. */
#pragma once

#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/snapshot/snapshot.h"

extern struct compute_result one_result;
extern struct snapshot *one_snap; /* open */
extern unsigned one_rows;

/* As a checked fixture: makes the store with so many rows, and removes it. */
void one_make(unsigned rows);
void one_drop(void);
