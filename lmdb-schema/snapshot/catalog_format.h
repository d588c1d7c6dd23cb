/*
 * catalog_format: of which version of the format (snapfile.h) each supplier's current
 * snapshot is, so that no file is opened to tell. In the catalogue's table meta:
 *
 *	"format" 00 supplier -> packed: unsigned generation, unsigned version
 *
 * A record counts for its generation alone, whose file never changes: a program of
 * before, which writes none, leaves one of an older generation. What has no record is
 * told by the head of its file until catalog_note_formats().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct catalog_view;
struct kv_txn;
struct store;

/* Notes a snapshot as one of this program's version; and forgets the record. */
enum err catalog_format_put(
    struct kv_txn *txn, struct span supplier, uint64_t generation);
enum err catalog_format_drop(struct kv_txn *txn, struct span supplier);

/* The version that is noted; 0: none is. */
uint64_t catalog_format_noted(
    struct kv_txn *txn, struct span supplier, uint64_t generation);

/*
 * Whether a current snapshot is of another version than this program's. A file that
 * is missing or damaged is not. *noted is false where the file was opened; it may be
 * NULL.
 */
bool catalog_is_foreign(bool *noted, struct catalog_view *view,
    struct store *store, struct span supplier, uint64_t generation);

/* Notes the version of each current snapshot of which none is. Synced. */
enum err catalog_note_formats(struct store *store);
