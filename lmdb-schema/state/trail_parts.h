/*
 * trail_parts: the files that hold the older entries of the audit trail
 * (trail_part.h). Their rows are in state.mdb's table meta:
 *
 *	"part" 00 u64 first -> packed: unsigned last number; unsigned month;
 *	                       unsigned bytes; unsigned crc of the file's head;
 *	                       signed oldest, newest ms; unsigned 1 when it was
 *	                       taken to an archive, else 0
 *	"parts"             -> u64 last number of the last part
 *
 * Up to "parts" the trail is read from the files, whatever the table audit still
 * has of it; behind that from the table. Rows and files are each machine's own:
 * a cluster's nodes have the same entries in the same parts, but close them at
 * different times (trail_close.h).
 */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/state/trail_part.h"

struct store;
struct trail_article; /* trail.h */

struct trail_parts_row {
	uint64_t first, last, bytes;
	uint32_t month, crc;
	int64_t oldest_ms, newest_ms;
	bool away; /* in an archive: the file may be here or not */
};

/* Calls `each` for each part, oldest first. */
enum err trail_parts_each(struct kv_txn *txn,
    enum err (*each)(void *context, const struct trail_parts_row *row),
    void *context);

/* The part that begins with that entry; ERR_NOT_FOUND, ERR_DAMAGED. */
enum err trail_parts_row(
    struct trail_parts_row *row, struct kv_txn *txn, uint64_t first);

/* The last number that is in a part; 0: none is. */
enum err trail_parts_last(struct kv_txn *txn, uint64_t *number);

/* The first number that the table audit has; 0: it is empty. */
enum err trail_parts_left(struct kv_txn *txn, uint64_t *first);

enum err trail_parts_put(struct kv_txn *txn, const struct trail_parts_row *row);
enum err trail_parts_put_last(struct kv_txn *txn, uint64_t number);

/* The file's path, with `suffix` behind it: "" or ".tmp". */
enum err trail_parts_path(char path[FS_PATH_MAX], const struct store *store,
    uint32_t month, uint64_t first, const char *suffix);

/*
 * The first number in a file's name; 0 for any other name. *temporary is set for
 * one that ends in ".tmp".
 */
uint64_t trail_parts_first(const char *name, bool *temporary);

/*
 * Opens the row's file, and compares the row with its head.
 *
 *   ERR_NOT_FOUND  the file is in an archive
 *   ERR_DAMAGED    it is missing, damaged, or another one
 *
 * The log tells of each failure: trail_lost.h.
 */
enum err trail_parts_open(struct trail_part **out, const struct store *store,
    const struct trail_parts_row *row);

/* Whether a file is the row's, by its head: what is behind that may be damaged. */
static inline bool
trail_parts_is_of(
    const struct trail_part *part, const struct trail_parts_row *row)
{
	const struct trail_part_head *head = trail_part_head(part);

	return head->first == row->first && head->last == row->last &&
	    head->crc == row->crc;
}

/* Whether its row leaves it possible that the part has what is wanted. */
static inline bool
trail_parts_may_have(
    const struct trail_parts_row *row, const struct trail_wanted *wanted)
{
	return wanted == NULL ||
	    (row->newest_ms >= wanted->from_ms &&
		(wanted->until_ms == 0 || row->oldest_ms < wanted->until_ms));
}

/* --- reading, for trail.c ------------------------------------------------- */

/* As trail_part_each() over all parts that are here. */
enum err trail_parts_walk(struct state_view *view,
    const struct trail_wanted *wanted, uint64_t from, uint64_t to, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/* ERR_NOT_FOUND for an entry that is in no part, or in an archived one. */
enum err trail_parts_get(
    struct state_view *view, uint64_t number, struct audit_entry *entry);

/* As trail_history() over all parts that are here. */
enum err trail_parts_history(struct state_view *view,
    const struct trail_article *article,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);
