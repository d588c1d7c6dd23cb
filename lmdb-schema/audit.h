/*
 * audit: who did what when, in the order it happened. Entries are written in
 * the transaction of what they tell of, and never altered.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state.h"

struct kv_txn;

struct audit_entry {
	uint64_t number; /* filled in when it is written */
	int64_t when_ms; /* 0: now */
	struct span event; /* see below */
	struct span actor; /* a key's or user's name, or "gridctl" */
	struct span supplier;
	struct span codein; /* or the key's id, the user's name */
	struct span gamme, before; /* one letter, or empty */
};

/*
 *	event      gamme             before
 *	proposed   proposed          recorded
 *	replaced   proposed          the older proposal, which is gone
 *	withdrawn  was pending       recorded, and proposed once more
 *	validated  was pending       recorded until then
 *	rejected   was pending       recorded
 *	edited     now recorded      recorded until then
 *	arrived    was validated     the same: the server has it now
 *
 * and without ranges: key-created, key-revoked, user-added, user-password,
 * user-removed.
 */

enum err audit_add(struct kv_txn *txn, const struct audit_entry *entry);

/* From `number` on, oldest first. */
enum err audit_each(struct state_view *view, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);
