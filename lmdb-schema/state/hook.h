/*
 * hook: addresses that are told what happens, as an operator named them.
 *
 * The queue of a hook is the trail: entries behind the hook's place in it wait
 * to be sent (hook_at.h). A change and its entry are one commit, so that nothing
 * that was acknowledged is lost, and nothing is sent that was not.
 *
 * In the table meta:
 *
 *	"hook"                -> u64 id of the newest hook
 *	"hook" 00 name        -> packed: unsigned id; text url; unsigned events;
 *	                         text suppliers, each ended by '\n'; text secret;
 *	                         unsigned created ms, resumed ms
 *	"hook-at" 00 name     -> how far it has come (hook_at.h)
 *	"hook-lost" 00 name 00 u64 number
 *	                      -> an entry that was given up (hook_at.h)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/audit.h"

struct lease;
struct store;

enum hook_event {
	HOOK_PROPOSED = 1,
	HOOK_SAVED = 2,
	HOOK_CANCELLED = 4,
	HOOK_IMPORTED = 8,
	HOOK_COMPUTED = 16,
	HOOK_FAILED = 32
};

#define HOOK_EVENTS 6
#define HOOK_COUNT_MAX 32
#define HOOK_NAME_MAX 64 /* bytes */
#define HOOK_URL_MAX 2048
#define HOOK_SUPPLIERS_MAX 2048
#define HOOK_SECRET_MIN 24 /* bytes, as Standard Webhooks want them */
#define HOOK_SECRET_MAX 64

/* By places: event 1 << i. */
extern const struct span hook_event_names[HOOK_EVENTS];

/* The event that an entry of the trail is, or 0: hooks are not told of it. */
unsigned hook_event_of(const struct audit_entry *entry);

/* The name of one event. */
struct span hook_event_name(unsigned event);

/* The supplier that the entry is about; empty for an import. */
struct span hook_supplier_of(const struct audit_entry *entry);

/* "proposed,saved": false for another name, and for none. */
bool hook_events(unsigned *events, struct span list);

/* 1 to HOOK_NAME_MAX letters, digits, '-', '_' and '.'. */
bool hook_name_ok(struct span name);

struct hook {
	uint64_t id; /* of this one: a later hook of the name has another */
	struct span name, url;
	unsigned events;
	struct span suppliers; /* codes, each ended by '\n'; empty: all */
	struct span secret; /* bytes */
	int64_t created_ms;
	int64_t resumed_ms; /* a stop before that is over */
};

/* Whether the hook is to be told of the entry. */
bool hook_wants(const struct hook *hook, const struct audit_entry *entry);

/*
 * Adds a hook, which is told of all entries from now on; `id`, `created_ms` and
 * `resumed_ms` are set here.
 *
 *   ERR_EXISTS     there is one of that name
 *   ERR_TOO_LARGE  there are HOOK_COUNT_MAX
 */
enum err hook_add(
    struct store *store, const struct hook *hook, const char *actor);

/*
 * Removes a hook with all that waits. When the call returns, nothing is under
 * way to it, and nothing will be: it waits for what is. ERR_NOT_FOUND.
 */
enum err hook_remove(struct store *store, struct span name, const char *actor);

/*
 * Of nodes that share the state: how many hooks were removed, and of how many
 * the node that sends has ended all that was under way. hook_remove() waits for
 * that.
 */
struct hook_removals {
	uint64_t removed, ended;
};

#define HOOK_LEASE "hooks" /* the lease of the node that sends */

enum err hook_removals(struct hook_removals *out, struct state_view *view);

/* Notes that the first `removed` have ended. ERR_BUSY as lease_check(). */
enum err hook_removals_end(
    struct store *store, const struct lease *lease, uint64_t removed);

/*
 * Has entries that were given up sent again; *count is their number. A hook that
 * had stopped goes on. ERR_NOT_FOUND.
 */
enum err hook_resend(uint64_t *count, struct store *store, struct span name);

/* Borrowed from the view. ERR_NOT_FOUND, ERR_DAMAGED. */
enum err hook_get(struct hook *hook, struct state_view *view, struct span name);

/* By name. */
enum err hook_each(struct state_view *view,
    enum err (*each)(void *context, const struct hook *hook), void *context);

/* The events that any hook wants. */
enum err hook_wanted(unsigned *events, struct state_view *view);

/*
 * Writes an entry about what happens to the data, if a hook wants it: an import,
 * a computation, or a failure of either. `what` is what an import brought; else
 * the supplier, which may be empty. `detail` is cut where it is long.
 */
enum err hook_note(struct store *store, enum hook_event event,
    const char *actor, struct span what, struct span detail);
