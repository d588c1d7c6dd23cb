/* stat: counts and sizes of a store's contents. */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

/* Of all hooks together. */
struct stat_hooks {
	uint64_t fine, catching_up, failing, stopped; /* hooks */
	uint64_t waiting, lost; /* events */
	uint64_t oldest_ms; /* of those that wait; 0: none does */
	uint64_t delivered, repeated,
	    given_up; /* tries, since each was added */
};

struct stat_counts {
	uint64_t facts; /* generation; 0: nothing imported */
	int32_t newest_month;
	int32_t oldest_sales; /* month; 0: none, or not known */
	uint64_t suppliers, stores, classes, articles;
	uint64_t sales, stock, receptions, positions;
	uint64_t networks, gammes;
	uint64_t snapshots, stale, rows, retired;
	uint64_t foreign; /* of those that are stale: of another version */
	uint64_t unnoted; /* of all: a file told the version */
	uint64_t lost; /* suppliers whose snapshot was found damaged */
	uint64_t absent; /* suppliers with articles and without a snapshot */
	uint64_t indexed; /* snapshots that the word index covers */
	uint64_t pending, validated; /* proposed ranges */
	uint64_t pending_since_ms; /* the oldest of them; 0: there is none */
	struct stat_hooks hooks;
	/* Snapshots that nodes share: those that this one made, and took;
	   suppliers that have one and that it keeps; and those of them whose
	   newest one it does not show. */
	uint64_t made, taken, kept, lacking;
	uint64_t facts_bytes, snapshot_bytes, packed_rows_bytes, words_bytes;
	uint64_t live_bytes, catalog_bytes, state_bytes, trail_bytes,
	    free_bytes;
};

enum err stat_collect(struct stat_counts *counts, struct store *store);
