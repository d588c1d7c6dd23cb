/*
 * state: the API's own data, in state.mdb. Every acknowledged write is on disk
 * before the answer.
 *
 *	meta       "schema"   u32 SCHEMA_VERSION, or SCHEMA_STATE_PARTS once the
 *	             trail has parts
 *	           "access"   u64 generation of the last change of keys, users
 *	           "sent" 00 supplier 00 codein -> packed: text gamme, unsigned
 *	             mixed (0, 1): exported, not arrived yet (proposal_priv.h)
 *	           "audit"    u64 number of the last entry of the trail
 *	           "trail", "trail" 00 ...: an index of the trail (trail.h)
 *	           "parts", "part" 00 ...: files with its older entries
 *	             (trail_parts.h)
 *	           "hook", "hook" 00 ..., "hook-at" 00 ..., "hook-lost" 00 ...:
 *	             addresses that are told what happens (hook.h, hook_at.h)
 *	           "lease" 00 name: which node does a work (lease.h)
 *	           "kept" 00 owner 00 name -> what the screen keeps (kept.h)
 *	           "nodes", "node" 00 name: which node keeps what (share.h)
 *	keys       id -> packed: text SHA-256 of the whole key (32 bytes),
 *	             text name, unsigned scope (1 read, 2 propose),
 *	             unsigned created ms, revoked ms (0: not), last use ms;
 *	             and where one is set, unsigned expires ms, unsigned
 *	             requests a minute, text suppliers (access.h)
 *	users      name -> packed: text password hash (digest.h's form),
 *	             unsigned created ms; and where it is no administrator,
 *	             unsigned role, text suppliers (rights.h)
 *	sessions   SHA-256 of the token (32 bytes) -> packed: text user,
 *	             unsigned created ms, last use ms; and of a person from
 *	             outside, unsigned role, text suppliers (rights.h)
 *	pending    supplier 00 codein -> packed: text gamme (one letter),
 *	             text author, unsigned when ms, and text motif where one
 *	             was given
 *	validated  supplier 00 codein -> the same; the author is the validating
 *	             buyer, the motif that of the proposal
 *	audit      what no part of the trail has:
 *	           u64 number -> packed: unsigned when ms, text event,
 *	             text actor, text supplier, text codein, text gamme,
 *	             text gamme before; and where one of these is not empty,
 *	             text motif, text author of the proposal that ends,
 *	             unsigned when ms it was made, text recorded gamme
 *	versions   supplier -> u64 generation of the last change of its pending
 *	             or validated ranges
 *
 * Members behind "and" are new: an earlier program takes a record that has them
 * for damaged, and a record without them is as it always was.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;
struct kv_txn;
struct trail_part;

/* A consistent view. One thread at a time. */
struct state_view;

enum err state_view_open(struct state_view **out, struct store *store);
void state_view_close(struct state_view *view);

/* Releases the view between uses, and takes the newest one. */
void state_view_rest(struct state_view *view);
enum err state_view_renew(struct state_view *view);

/* Grows with each commit: equal numbers mean equal contents. */
uint64_t state_view_version(const struct state_view *view);

/*
 * Of several nodes: the number of the last entry of their log that the view
 * shows, read as all else in it.
 */
enum err state_view_number(uint64_t *number, struct state_view *view);

/* For lmdb-schema's own files only. */
struct kv_txn *state_view_txn(struct state_view *view);
struct store *state_view_store(struct state_view *view);

/* The part of the trail that was read last: trail_parts_read.c; NULL. */
struct trail_part **state_view_part(struct state_view *view);
