/*
 * hook_at: how far a hook has come in the trail, what waits for another try, and
 * what was given up.
 *
 * All entries up to `read` have been looked at. An entry that is under way, or
 * waits for another try, has a lane; a supplier has one lane at most, so that
 * its events arrive in order. Entries of its supplier that came meanwhile wait
 * behind it: the first of them has a number, and the others are found in the
 * trail. When all lanes are taken, no further entry is read.
 *
 * "hook-at" 00 name -> packed: unsigned id, read, delivered, repeated, given up,
 * success ms, failure ms, stopped ms; text error; unsigned count of lanes, then
 * of each: text supplier, unsigned number, behind, tries, first ms, due ms
 *
 * "hook-lost" 00 name 00 u64 number -> packed: unsigned when ms, tries, again
 * (0, 1); text error
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lmdb-schema/key.h"
#include "lmdb-schema/state/hook.h"

#define HOOK_LANES 16
#define HOOK_ERROR_MAX 200 /* bytes, with a NUL */
#define HOOK_LOST_MAX 1000 /* given up; then the hook stops */

struct lease;

struct hook_lane {
	char supplier[SCHEMA_CODE_MAX + 1];
	uint64_t number; /* the entry that is to be sent */
	uint64_t behind; /* the next of the supplier up to `read`; 0: none */
	unsigned tries; /* that failed */
	int64_t first_ms; /* the first try; 0: none yet */
	int64_t due_ms; /* the next */
};

struct hook_at {
	uint64_t id; /* of the hook */
	uint64_t read;
	uint64_t delivered, repeated, given_up; /* since it was added */
	int64_t success_ms, failure_ms; /* the last; 0: none */
	int64_t stopped_ms; /* 0, or before the hook was resumed: it goes on */
	char error[HOOK_ERROR_MAX]; /* of the last failure */
	struct hook_lane lanes[HOOK_LANES];
	unsigned lane_count;
};

static inline bool
hook_is_stopped(const struct hook *hook, const struct hook_at *at)
{
	return at->stopped_ms > hook->resumed_ms;
}

enum hook_state {
	HOOK_NEW, /* never tried */
	HOOK_FINE,
	HOOK_CATCHING_UP, /* the last try succeeded, events wait for another */
	HOOK_FAILING, /* the last try failed */
	HOOK_STOPPED
};
enum hook_state hook_state_of(
    const struct hook *hook, const struct hook_at *at);

/* When the next event whose try has failed is due; 0: there is none. */
int64_t hook_next_ms(const struct hook_at *at);

/* ERR_NOT_FOUND, ERR_DAMAGED. */
enum err hook_at_get(
    struct hook_at *at, struct state_view *view, struct span name);

/* An entry that was given up. */
struct hook_lost {
	uint64_t number;
	int64_t when_ms;
	unsigned tries;
	bool again; /* it is to be sent again */
	char error[HOOK_ERROR_MAX];
};

/* Oldest first. */
enum err hook_lost_each(struct state_view *view, struct span name,
    enum err (*each)(void *context, const struct hook_lost *lost),
    void *context);

/*
 * Stores how far a hook has come, with entries that it has given up, or that
 * have arrived after all (`tries` 0). ERR_NOT_FOUND, and nothing is stored, when
 * the hook with at->id has been removed; ERR_BUSY where the lease, which may be
 * NULL, is another process's by now.
 */
enum err hook_at_save(struct store *store, struct span name,
    const struct hook_at *at, const struct hook_lost *lost, unsigned count,
    const struct lease *lease);

/* The entry of the supplier that follows `number`, up to `last`; or 0. */
enum err hook_next_of(uint64_t *next, struct state_view *view,
    const struct hook *hook, struct span supplier, uint64_t number,
    uint64_t last);

struct hook_waiting {
	uint64_t count;
	int64_t oldest_ms; /* when the oldest was written; 0: none waits */
	uint64_t lost;
};

/* Counts what waits, and what was given up. */
enum err hook_count(struct hook_waiting *waiting, struct state_view *view,
    const struct hook *hook, const struct hook_at *at);
