/* two: a store with two computed suppliers, BIG and SMALL, and a word index. */
#pragma once

#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/search/word_index.h"

extern struct compute_result two_big, two_small;
extern struct word_index *two_book; /* closed by two_drop(), if it is open */
extern struct word_index_head two_head; /* as it was made */

/* A checked fixture. */
void two_make(void);
void two_drop(void);

/* Asserts that the existing index is unchanged and sound. */
void two_are_as_before(void);
