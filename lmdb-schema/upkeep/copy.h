/*
 * copy: a data directory into another one, while it is in use.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct copy_counts {
	uint64_t snapshots, bytes;
	uint64_t skipped; /* snapshots that cannot be read: left out */
};

/*
 * `to` must not exist, or be an empty folder, and is so again after a failure.
 *
 *   ERR_EXISTS     there is something at `to`
 *   ERR_NOT_FOUND  `from` is no data directory
 *   ERR_DAMAGED    in `from` a link, or no file at all, where one should be
 */
enum err store_copy(const char *from, const char *to,
    struct copy_counts *counts, struct fault *fault);
