/* copy: copies a data directory while it is in use. */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct copy_counts {
	uint64_t snapshots, bytes;
	uint64_t skipped; /* unreadable snapshots, left out */
	uint64_t parts_missing; /* of the trail, which were not there */
	uint64_t linked, linked_bytes; /* files shared with `base` */
};

/*
 * `to` must not exist or be an empty folder; a failure leaves it as it was.
 *
 * `base` is NULL, or an earlier copy on the same disk as `to`: a file that never
 * changes, and is there with the same name, size and time of writing, is not
 * copied again but linked. Copies keep the time of writing.
 *
 *   ERR_EXISTS     `to` exists and is not an empty folder
 *   ERR_NOT_FOUND  `from` is no data directory
 *   ERR_DAMAGED    `from` has a link, or no regular file, where a file belongs
 */
enum err store_copy(const char *from, const char *to, const char *base,
    struct copy_counts *counts, struct fault *fault);

/* Copies from one open file to another, from where they are. */
enum err copy_file_bytes(int from, int to);
