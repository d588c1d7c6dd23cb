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

uint64_t sorter_count(const struct sorter *sorter);
