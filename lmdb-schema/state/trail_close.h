/*
 * trail_close: moves the entries of a month that is over from state.mdb into a
 * part (trail_part.h), which is immutable from then on.
 *
 * A part has successive entries, from the first one that is in none. It ends
 * before the first entry of a later month than its first entry has, or of a
 * month that lies more than one before it (the clock had been wrong), and in
 * any case after `most` entries. So the entries alone decide what is in which
 * part; a month is closed when an entry of a later one comes.
 *
 *	1. the file is written aside, and synced
 *	2. it gets its name
 *	3. a commit puts its row: from then on the file is read
 *	4. commits of a few entries each remove them, and their index, from
 *	   state.mdb; each is compared with the file before
 *
 * After a kill before 3 the part is made again; after one in 4 the removing goes
 * on. These commits are local: in a cluster each node closes its own months.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

struct trail_closed {
	uint64_t parts, entries; /* made, and what they have */
	uint64_t removed; /* entries, from state.mdb */
};

/*
 * Closes what is over: one step at least, then on until date_monotonic_ns() has
 * reached `end_ns`. `most` is at most TRAIL_PART_ENTRIES_MAX. A state of schema 1, without checksums, stays
 * as it is.
 *
 *   ERR_BUSY     another process is at it
 *   ERR_DAMAGED  an entry or a part cannot be read, and the log says which;
 *                what follows it stays where it is
 */
enum err trail_close(struct trail_closed *closed, struct store *store,
    uint32_t most, int64_t end_ns);
