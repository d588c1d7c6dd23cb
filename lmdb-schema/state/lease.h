/*
 * lease: a work that one process at a time does, of all nodes that share the
 * state. The record is part of the state, so that taking and renewing it are
 * entries of the log (write_log.h), and of two that take it at once one finds
 * the other's entry.
 *
 * Clocks of different machines are not compared. The holder counts from the
 * beginning of its last write, the others from when they saw that write, which
 * is later: it lets go after LEASE_HELD_NS, and they take it after LEASE_ENDS_NS.
 * A holder that was stopped in between is told by the token, which grows with
 * each change of hands: lease_check() in the transaction of what it writes.
 *
 * "lease" 00 name, or "lease" 00 name 00 subject
 *                 -> packed: unsigned token, beat; text holder, empty: released;
 *                    text name of its node, for people, where one was given
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/key.h"

struct kv_txn;
struct store;

#define LEASE_RENEWED_NS INT64_C(2500000000) /* behind the write before */
#define LEASE_HELD_NS INT64_C(7000000000)
#define LEASE_ENDS_NS INT64_C(10000000000)
#define LEASE_HOLDER_MAX 33 /* with a NUL */
#define LEASE_WHO_MAX 64

struct lease_record {
	uint64_t token, beat; /* 0: nobody has ever held it */
	char holder[LEASE_HOLDER_MAX];
	char who[LEASE_WHO_MAX]; /* "": not told */
};

struct lease {
	struct key key; /* of its record */
	char who[LEASE_WHO_MAX]; /* this node, to be told; "": not */
	char holder[LEASE_HOLDER_MAX]; /* random: this process */
	uint64_t token; /* 0: it is not held */
	int64_t written_ns; /* when the last write of a held one began */
	struct lease_record seen;
	int64_t seen_ns; /* when it changed last */
};

enum err lease_init(struct lease *lease, const char *name);

/* Of the work `name` for one subject, such as a supplier: name 00 subject. */
enum err lease_init_for(
    struct lease *lease, const char *name, struct span subject);

/*
 * Takes the lease, or renews it where it is time. `now_ns` is monotonic.
 *
 *   ERR_BUSY     another process holds it, or has taken it over
 *   others       of the storage: lease_is_held() says whether it still holds
 */
enum err lease_hold(struct lease *lease, struct store *store, int64_t now_ns);

/*
 * The same for a process that has a lock of this node for the work: a holder
 * whose `who` is this node's has ended, so that its lease may be taken at once.
 */
enum err lease_hold_alone(
    struct lease *lease, struct store *store, int64_t now_ns);

/* Renews it where it is time, and never takes it. ERR_BUSY: it is lost. */
enum err lease_renew(struct lease *lease, struct store *store, int64_t now_ns);

/* Looks whether it may be taken, and does not take it. */
enum err lease_look(struct lease *lease, struct store *store, int64_t now_ns,
    bool *is_free_now);

/* Whether nobody else can have taken it yet. */
bool lease_is_held(const struct lease *lease, int64_t now_ns);

/* The process that holds it is known to have ended: it may be taken at once. */
void lease_expire(struct lease *lease);

/* Another process may take it at once; the same as a part of another write. */
void lease_release(struct lease *lease, struct store *store);
enum err lease_give_back(const struct lease *lease, struct kv_txn *txn);

/*
 * Removes the record of a subject that is no more. Tokens begin anew, so that
 * something else must refuse a holder of before.
 */
enum err lease_forget(
    struct kv_txn *txn, const char *name, struct span subject);

/* ERR_BUSY: another process has taken it since. */
enum err lease_check(const struct lease *lease, struct kv_txn *txn);
