/* Internals of copy*.c. */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/upkeep/copy.h"

struct store;

struct copying {
	struct store *from, *to;
	const char *base; /* NULL: none */
	const struct copy_listener *listener; /* NULL: none */
	struct copy_counts *counts;
	struct fault *fault;
};

/*
 * Copies an immutable file, or links the base's. A hard link to the data
 * directory's would suffice on one disk, but a backup must be a copy.
 *
 * ERR_OK with *lost set: `from` cannot be read, and there is no `to`;
 * ERR_BAD_INPUT for no regular file. A failure, which the fault names, is of the
 * target.
 */
enum err copy_file(
    struct copying *copying, const char *from, const char *to, enum err *lost);

/* Of the base, where there is one, the file that `to` is copied from. */
enum err copy_base_path(
    char path[FS_PATH_MAX], const struct copying *copying, const char *to);

/* After *lost: the fault names `from`, and what to do. ERR_OK stays. */
enum err copy_lost(struct copying *copying, const char *from, enum err lost);

/* After a failure of the target: the fault names `to`. ERR_OK stays. */
enum err copy_unwritten(struct copying *copying, const char *to, enum err err);

/* The months of the trail that are in files. */
enum err copy_trail(struct copying *copying);
