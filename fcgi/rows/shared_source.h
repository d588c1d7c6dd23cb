/*
 * shared_source: the current facts, shared by threads, and opened anew when an
 * import has replaced them.
 */
#pragma once

#include <stdatomic.h>

#include "common/err.h"

struct call;
struct source;
struct source_slot; /* where the present one is kept */

/* A use of the facts, which stay open while an import replaces them. */
struct shared_source {
	atomic_uint users;
	struct source *source;
};

struct source_slot *source_slot_new(void); /* NULL when memory is out */
void source_slot_free(struct source_slot *slot); /* NULL is fine */

/* ERR_NOT_FOUND: nothing was imported. Pair with shared_source_release(). */
enum err shared_source_get(struct shared_source **out, struct call *call);
void shared_source_release(struct shared_source *source); /* NULL is fine */
