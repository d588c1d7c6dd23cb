/*
 * notice: imports, computations and their failures as entries of the trail, for
 * hooks.
 *
 * They are noticed by what they have published, so that no kill between a
 * publication and its entry loses one: the generations that have been noticed
 * are kept in state.mdb, and others are new. Of several that a supplier had
 * between two looks, the last one is noticed. Computations that failed or were
 * killed are noticed by the notes that they leave (begun.h), each of them once.
 *
 * Of nodes that share snapshots (computed.h) the records say which is new: it is
 * noticed when this node has it, or by its record alone where other nodes keep
 * the supplier.
 *
 * In the table meta:
 *
 *	"seen-facts", "seen-network" -> u64 generation
 *	"seen" 00 supplier           -> u64 generation, 8 bytes
 *	"seen-failed" 00 supplier    -> u64 id of the last note, 8 bytes
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

/*
 * Takes what there is by now as noticed, without an entry: for the first hook
 * that wants to hear of it.
 */
enum err notice_begin(struct store *store, unsigned wanted);

/*
 * Writes the entries. `wanted` has HOOK_IMPORTED, HOOK_COMPUTED or both; what is
 * not wanted is not looked at.
 */
enum err notice_look(struct store *store, unsigned wanted);

/* Writes an entry for each computation that failed. */
enum err notice_failures(struct store *store);
