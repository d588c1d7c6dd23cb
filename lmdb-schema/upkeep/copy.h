/* copy: copies a data directory while it is in use. */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct copy_counts {
	uint64_t snapshots, bytes;
	uint64_t skipped; /* unreadable snapshots, left out */
	uint64_t parts_missing; /* of the trail, which were not there */
};

/*
 * `to` must not exist or be an empty folder; a failure leaves it as it was.
 *
 *   ERR_EXISTS     `to` exists and is not an empty folder
 *   ERR_NOT_FOUND  `from` is no data directory
 *   ERR_DAMAGED    `from` has a link, or no regular file, where a file belongs
 */
enum err store_copy(const char *from, const char *to,
    struct copy_counts *counts, struct fault *fault);
