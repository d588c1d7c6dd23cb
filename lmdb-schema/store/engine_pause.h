/*
 * engine_pause: what doors (engine.h) keep of failures.
 *
 * After a failure, appends fail at once for a while. An append whose outcome is
 * not known is known again by its id.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/date.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

#define ENGINE_NS_A_MS INT64_C(1000000)
#define ENGINE_REQUEST_MS 650
#define ENGINE_BYTES_A_MS 4096 /* what a long request has beyond that */
#define ENGINE_PAUSE_MS 1000

struct engine_pause {
	_Atomic int64_t failed_ns; /* the last failure; 0: none since */
};

enum engine_change { ENGINE_AS_BEFORE, ENGINE_WENT, ENGINE_CAME };

/* Sets or ends the pause. */
static inline enum engine_change
engine_note(struct engine_pause *pause, enum err err)
{
	bool failed = err == ERR_AWAY || err == ERR_UNKNOWN;
	int64_t now = failed ? date_monotonic_ns() : 0;
	int64_t before = atomic_exchange(&pause->failed_ns, now);

	if ((before == 0) == (now == 0))
		return ENGINE_AS_BEFORE;
	return now != 0 ? ENGINE_WENT : ENGINE_CAME;
}

static inline bool
engine_has_failed(struct engine_pause *pause)
{
	return atomic_load(&pause->failed_ns) != 0;
}

/* Whether an append fails at once. */
static inline bool
engine_pauses(struct engine_pause *pause)
{
	int64_t failed = atomic_load(&pause->failed_ns);

	return failed != 0 &&
	    date_monotonic_ns() - failed < ENGINE_PAUSE_MS * ENGINE_NS_A_MS;
}

/* The end of a request that begins now. */
static inline int64_t
engine_end_ns(size_t bytes)
{
	return date_monotonic_ns() +
	    (ENGINE_REQUEST_MS + (int64_t)(bytes / ENGINE_BYTES_A_MS)) *
	    ENGINE_NS_A_MS;
}

struct engine_doubt {
	bool is;
	char id[ENGINE_ID_LEN];
};

static inline bool
engine_doubts(const struct engine_doubt *doubt, struct span id)
{
	return doubt->is && memcmp(doubt->id, id.ptr, ENGINE_ID_LEN) == 0;
}

/* The outcome of an append: its first request may have arrived, or may still. */
static inline enum err
engine_settle(struct engine_doubt *doubt, struct span id, enum err err)
{
	if (engine_doubts(doubt, id) && err != ERR_OK && err != ERR_BEHIND)
		err = ERR_UNKNOWN;
	doubt->is = err == ERR_UNKNOWN;
	memcpy(doubt->id, id.ptr, ENGINE_ID_LEN);
	return err;
}
