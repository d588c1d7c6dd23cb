/*
 * trail_look: where the entries of the trail's files (trail_parts.h) are to be
 * found, and how a person is told of it.
 */
#pragma once

#include "lmdb-schema/state/trail_parts.h"

enum trail_place {
	TRAIL_HERE,
	TRAIL_ARCHIVED, /* and no file is here */
	TRAIL_LOST, /* the file is missing or damaged */
	TRAIL_UNREADABLE /* it may be sound: permissions, its version, a disk */
};

/* Files of successive entries in one place; one that cannot be read is its own. */
struct trail_stretch {
	enum trail_place place;
	uint64_t first, last; /* entries */
	uint64_t files, bytes;
	uint32_t from, to; /* months */
	struct trail_parts_row row; /* of one that cannot be read, */
	enum err err; /* and why */
};

/*
 * Adds a file next to those of the stretch, on either side, or begins a stretch
 * that has none. `err` is trail_parts_open()'s. False, and nothing is done, when
 * the file belongs to another stretch.
 */
bool trail_stretch_add(struct trail_stretch *stretch,
    const struct trail_parts_row *row, enum err err);

/*
 * Calls `each` for the stretches of all files, oldest first. Of a file the head
 * alone is read and compared with its row; trail_part_verify() reads the rest.
 */
enum err trail_look(struct store *store,
    enum err (*each)(void *context, const struct trail_stretch *stretch),
    void *context);

#define TRAIL_MONTHS_MAX 32

/* "2026-01", or "2026-01 to 2026-03". */
void trail_months_text(
    char text[TRAIL_MONTHS_MAX], const struct trail_stretch *stretch);
