/*
 * shelf: the articles of an import, in order, in files without a name that are
 * mapped: an import of any size keeps none of them in its own memory.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct shelf_entry {
	uint64_t prefix; /* of the codein, big-endian: compared at once */
	uint64_t at; /* of the record */
};

/* Begin with zeros. */
struct shelf {
	const char *records;
	const struct shelf_entry *entries; /* one more than `count` */
	uint64_t bytes;
	uint32_t count;
};

struct shelf_making;

/* Files are made in `dir`. Pair with shelf_end() in any case. */
enum err shelf_begin(struct shelf_making **out, const char *dir);

/*
 * Adds an article's record, which begins with its codein as a packed text.
 * ERR_NO_SPACE, ERR_TOO_LARGE.
 */
enum err shelf_add(
    struct shelf_making *making, struct span codein, struct span record);

/* With ERR_OK so far, maps the shelf. Returns the first failure. */
enum err shelf_end(
    struct shelf *shelf, struct shelf_making *making, enum err err);

void shelf_fini(struct shelf *shelf);

/*
 * Shelves that are made one by one, on one pair of files that is mapped once: a
 * process may have 65,530 maps, and a merge may load more suppliers. `bytes` and
 * `entries` bound the records of all and their number, with one more a shelf.
 */
struct shelf_pile;
enum err shelf_pile_new(
    struct shelf_pile **out, const char *dir, uint64_t bytes, uint64_t entries);

/*
 * Adds to the shelf that shelf_pile_end() ends and gives; it lives as long as
 * the pile, and needs no shelf_fini(). Further ones may be made while it is
 * read. Beyond the bounds ERR_DAMAGED.
 */
enum err shelf_pile_add(
    struct shelf_pile *pile, struct span codein, struct span record);
enum err shelf_pile_end(struct shelf *shelf, struct shelf_pile *pile);
void shelf_pile_free(struct shelf_pile *pile);

struct span shelf_record(const struct shelf *shelf, uint32_t place);
struct span shelf_codein(const struct shelf *shelf, uint32_t place);

/*
 * The place of an article among `count` from `from` on, which ascend;
 * UINT32_MAX: it is none of them. Several threads may look at once.
 */
uint32_t shelf_find(const struct shelf *shelf, uint32_t from, uint32_t count,
    struct span codein);
