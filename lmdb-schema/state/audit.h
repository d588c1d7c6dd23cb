/*
 * audit: the trail of changes with author and time, in the order of commits.
 * An entry is written in the transaction of the change it records, and never
 * altered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/state.h"

struct kv_txn;

struct audit_entry {
	uint64_t number; /* filled in by audit_note() */
	int64_t when_ms; /* 0: now */
	struct span event; /* see below */
	struct span actor; /* a key's or user's name, or "gridctl" */
	struct span supplier;
	struct span codein; /* or a key's id, a user's name: see below */
	struct span gamme, before; /* one letter, or empty */
	/* Of a proposal; empty where an earlier version wrote the entry */
	struct span motif; /* why it was proposed */
	struct span author; /* of the proposal that ends by this event */
	int64_t proposed_ms; /* when that was made; 0: none ends */
	struct span recorded; /* the recorded range, now; a letter or empty */
};

/*
 *	event      gamme             before
 *	proposed   proposed          recorded
 *	replaced   proposed          the older proposal, which is gone
 *	withdrawn  was pending       recorded: proposed as recorded again, or
 *	                             recorded as proposed by an import
 *	validated  was pending       recorded until then
 *	rejected   was pending       recorded
 *	edited     now recorded      recorded until then
 *	arrived    was validated     the same: the server has it now
 *
 * without ranges: key-created, key-revoked, user-added, user-password,
 * user-role, user-removed, hook-added, hook-removed; the motif of user-role,
 * and of user-added for another than an administrator, is the role;
 *
 * and, only where a hook wants them (hook.h), without a supplier:
 *
 *	event      codein                motif
 *	imported   "facts" or "network"  the generation
 *	computed   the supplier          the snapshot's generation
 *	failed     the supplier, or ""   why
 */

enum err audit_add(struct kv_txn *txn, const struct audit_entry *entry);

/*
 * A trail of entries in one transaction: the last number is read once, and
 * audit_end() writes it once; without that call no entry counts. Call
 * audit_end() in any case; it returns a failure that it is given, and then
 * writes nothing.
 */
struct audit {
	struct kv_txn *txn;
	struct buf value; /* an entry as it is stored */
	uint64_t last; /* the last entry's number, once it is read */
	bool known, noted;
};

void audit_begin(struct audit *audit, struct kv_txn *txn);
enum err audit_note(struct audit *audit, const struct audit_entry *entry);
enum err audit_end(struct audit *audit, enum err err);

/* Decodes an entry's value, which outlives the entry. ERR_DAMAGED. */
enum err audit_read(
    struct audit_entry *entry, uint64_t number, struct span value);

/*
 * For lmdb-schema's own files only: the entries that the table has, and no part
 * of the trail (trail_parts.h).
 */
enum err audit_each_in(struct kv_txn *txn, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/*
 * Calls `each` for the entries from `number` on, oldest first, wherever they are;
 * each is borrowed until `each` returns.
 */
enum err audit_each(struct state_view *view, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);
