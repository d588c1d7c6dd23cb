/*
 * sorter: puts records in the order of their keys with bounded memory. Those
 * that the memory does not hold are sorted and written as runs into a file
 * without a name, which the kernel deletes with its last user, and merged as they
 * are read.
 *
 * Sorters of one import share a budget, and may be filled by several threads,
 * one each.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct sorter;

struct sorter_budget {
	size_t limit; /* bytes of all together, about */
	atomic_size_t used;
};

#define SORTER_KEY_MAX UINT16_MAX

/* The file is made in `dir`, when it is needed. NULL only without memory. */
enum err sorter_new(
    struct sorter **out, const char *dir, struct sorter_budget *budget);
void sorter_free(struct sorter *sorter);

/*
 * Copies key and value. ERR_NO_SPACE, ERR_NO_MEMORY, ERR_SYSTEM; the log names
 * the folder.
 */
enum err sorter_add(struct sorter *sorter, struct span key, struct span value);

/* Call when every record is added. Only then: */
enum err sorter_seal(struct sorter *sorter);

/*
 * Gets the next record, in the bytewise order of the keys; equal keys in the
 * order of arrival. Borrowed until sorter_free(). False at the end.
 */
bool sorter_next(struct sorter *sorter, struct span *key, struct span *value);

/* The next record is the first again. */
void sorter_rewind(struct sorter *sorter);

/*
 * Readers of their own, each at a place of its own, of a sealed sorter: one
 * thread each. The first record is the first whose key is not below `from`.
 */
struct sorter_walk;
enum err sorter_walk_begin(
    struct sorter_walk **out, const struct sorter *sorter, struct span from);
bool sorter_walk_next(
    struct sorter_walk *walk, struct span *key, struct span *value);
void sorter_walk_end(struct sorter_walk *walk);

uint64_t sorter_count(const struct sorter *sorter);
