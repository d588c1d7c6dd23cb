/*
 * inbox: the folder that deliveries arrive in.
 *
 * A delivery is a folder NAME of CSV files. It is complete when NAME.done or
 * NAME.manifest stands beside it, or .done or .manifest in it. The names say how
 * far it has come, so that a crash loses and repeats nothing:
 *
 *	NAME            arrives; its sender may write
 *	NAME.taking     is taken: copied to the folder `work`, imported from there
 *	.NAME.taken     is imported, and about to be removed
 *	NAME.refused    has a fault; a person decides, and may rename it to NAME
 *
 * The sender is not trusted: only regular files are copied, what is imported is
 * the copy, and a manifest is compared with the copy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/upkeep/night.h"

#define INBOX_TAKEN_MAX 16 /* in a night; the others wait for the next */

struct inbox {
	const char *folder;
	const char *work; /* of ours alone */
};

struct inbox_names {
	char names[INBOX_TAKEN_MAX][NIGHT_NAME_MAX + 1];
	unsigned count;
};

/*
 * The complete deliveries, by name. Removes what a crash has left of imported
 * ones. ERR_NOT_FOUND: no folder.
 */
enum err inbox_list(struct inbox_names *out, const struct inbox *inbox);

/* A delivery that was not taken yet. */
struct inbox_waiting {
	const char *name;
	bool complete;
	int64_t changed_ms; /* the newest time of the folder and its files */
};

/* Calls `each` with these, and changes nothing. ERR_NOT_FOUND: no folder. */
enum err inbox_look(const struct inbox *inbox,
    void (*each)(void *context, const struct inbox_waiting *waiting),
    void *context);

/* Copies a delivery to `work`, whole or not at all. */
enum err inbox_take(const struct inbox *inbox, const char *name,
    uint64_t *files, struct fault *fault);

/* The copy of one, and whether to merge it. ERR_NOT_FOUND. */
enum err inbox_copy(
    char path[], bool *merge, const struct inbox *inbox, const char *name);

/* Removes an imported delivery and its copy. */
enum err inbox_finish(const struct inbox *inbox, const char *name);

/* Sets a delivery aside, and removes its copy. */
enum err inbox_refuse(const struct inbox *inbox, const char *name);
