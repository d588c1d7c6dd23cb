/* copy: copies a data directory while it is in use. */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/state/trail_lost.h"

struct copy_counts {
	uint64_t snapshots, bytes;
	uint64_t skipped; /* unreadable snapshots, left out */
	uint64_t months_lost; /* of the trail, which are not sound in `from` */
	uint64_t months_of_base; /* of these, taken from `base` */
	uint64_t linked, linked_bytes; /* files shared with `base` */
};

/* A month whose file in `from` is missing, damaged or closed. */
struct copy_lost_month {
	struct trail_lost lost; /* of `from`, and what to do there */
	bool irregular; /* a link, a folder or the like is in its place */
	const char *base; /* the file that was copied instead, or empty */
};

struct copy_listener {
	void (*tell)(void *context, const struct copy_lost_month *month);
	/* A month of `base` that is damaged, and copied instead of linked. */
	void (*tell_base)(void *context, const char *path);
	void *context;
};

/*
 * `to` must not exist or be an empty folder; a failure leaves it as it was.
 *
 * `base` is NULL, or an earlier copy on the same disk as `to`: a file that never
 * changes, and is there with the same name, size and time of writing, is not
 * copied again but linked. Copies keep the time of writing.
 *
 * Each month's file of the trail is compared with its row, and so is the base's
 * before it is linked. Where it is not sound, the base's is taken, or else it is
 * left out: the listener, which may be NULL, is told, and all else is copied.
 *
 *   ERR_EXISTS     `to` exists and is not an empty folder
 *   ERR_NOT_FOUND  `from` is no data directory
 *   ERR_DAMAGED    `from` has a link, or no regular file, where a file belongs
 */
enum err store_copy(const char *from, const char *to, const char *base,
    const struct copy_listener *listener, struct copy_counts *counts,
    struct fault *fault);

/* Compares a copy's trail in the same way, and counts the months only. */
enum err store_copy_verify(const char *dir,
    const struct copy_listener *listener, struct copy_counts *counts,
    struct fault *fault);

/* Copies from one open file to another, from where they are. */
enum err copy_file_bytes(int from, int to);
