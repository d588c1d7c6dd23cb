/*
 * How long it takes to open a published snapshot and read its first row, and
 * to close it again: as a worker does that meets the supplier for the first
 * time. usage: snapshot_open DATA SUPPLIER ROUNDS
 *
 * Prints the median and the 99th percentile in microseconds, and the bytes of
 * the file against those of its rows' JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"

#define ROUNDS_MAX 100000

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Times a round, in nanoseconds; -1 when anything fails. */
static int64_t
open_once(struct store *store, struct span supplier, uint64_t generation)
{
	int64_t start = date_monotonic_ns();
	struct snapshot_part flat, maps;
	struct snapshot *snap;
	volatile char first;

	if (snapshot_open(&snap, store, supplier, generation) != ERR_OK)
		return -1;
	if (!snapshot_flat(snap, 0, &flat) || !snapshot_maps(snap, 0, &maps)) {
		snapshot_close(snap);
		return -1;
	}
	first = flat.json[0];
	first = maps.json[0];
	(void)first;
	snapshot_close(snap);
	return date_monotonic_ns() - start;
}

static uint64_t
json_bytes(struct store *store, struct span supplier, uint64_t generation)
{
	struct snapshot_part flat, maps;
	struct snapshot *snap;
	uint64_t bytes = 0;

	if (snapshot_open(&snap, store, supplier, generation) != ERR_OK)
		return 0;
	for (uint32_t row = 0; row < snapshot_rows(snap); row++)
		if (snapshot_flat(snap, row, &flat) &&
		    snapshot_maps(snap, row, &maps))
			bytes += flat.off.flat[ROW_FLATS] +
			    maps.off.maps[ROW_MAPCOUNT];
	snapshot_close(snap);
	return bytes;
}

static int
measure(struct store *store, struct span supplier, int64_t rounds)
{
	static int64_t ns[ROUNDS_MAX];
	struct catalog_entry entry;

	if (catalog_current(store, supplier, &entry) != ERR_OK)
		return 1;
	for (int64_t i = 0; i < rounds; i++) {
		ns[i] = open_once(store, supplier, entry.generation);
		if (ns[i] < 0)
			return 1;
	}
	qsort(ns, (size_t)rounds, sizeof(*ns), compare);
	printf("%llu %.1f %.1f %llu %llu\n", (unsigned long long)entry.rows,
	    (double)ns[rounds / 2] / 1e3, (double)ns[rounds * 99 / 100] / 1e3,
	    (unsigned long long)entry.bytes,
	    (unsigned long long)json_bytes(store, supplier, entry.generation));
	return 0;
}

int
main(int argc, char **argv)
{
	struct store *store;
	struct fault fault;
	int64_t rounds;
	int result;

	log_open("snapshot_open", LOG_WARN_);
	if (argc != 4 || !num_int(&rounds, span_of(argv[3]), 1, ROUNDS_MAX)) {
		fprintf(stderr, "usage: snapshot_open DATA SUPPLIER ROUNDS\n");
		return 2;
	}
	fault_clear(&fault);
	if (store_open(&store, argv[1], &fault) != ERR_OK) {
		fprintf(stderr, "%s: %s\n", fault.place, fault.message);
		return 1;
	}
	result = measure(store, span_of(argv[2]), rounds);
	store_close(store);
	return result;
}
