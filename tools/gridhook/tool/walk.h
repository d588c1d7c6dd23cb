/*
 * walk: a tree of folders, by file descriptors from its root down. No link is
 * followed, no other file system entered, and every amount has a limit, so it
 * ends soon whatever the tree holds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"

struct walk_limits {
	uint64_t entries; /* names looked at */
	unsigned depth; /* folders below the root */
	int64_t deadline_ms; /* of the monotonic clock */
};

struct walk {
	struct walk_limits limits;
	bool hidden; /* names with a dot in front, too */
	/* True when the name is wanted. */
	bool (*fits)(void *context, const char *name);
	/* Told of each one, with lstat()'s facts; true to go on. */
	bool (*found)(void *context, const char *path, const struct stat *info);
	void *context;

	/* Results; the caller zeroes these once. */
	uint64_t entries;
	uint64_t skipped; /* could not be looked at */
	uint64_t too_deep; /* folders at the limit of depth */
	const char *stopped; /* "entries", "time", "results", or NULL */

	char path[FS_PATH_MAX]; /* scratch */
};

/* Walks the folder behind `fd`, which is closed. `path` is how to call it. */
void walk_folder(struct walk *walk, int fd, const char *path);

/*
 * Opens the folder `below` ("." for itself) under the folder behind `root`,
 * and never anything else: no link on the way, no "..", no other file system.
 * -1 and errno when that cannot be.
 */
int walk_open_below(int root, const char *below);
