/*
 * arena: allocations that die together. Nothing is freed one by one; what a
 * request or an import line needs is taken here and given back in one call.
 */
#pragma once

#include <stddef.h>

#include "common/span.h"

struct arena; /* opaque */

/* Allocations may take `max` bytes in all. NULL when memory is out. */
struct arena *arena_new(size_t max);

/* Frees everything that was allocated. NULL is fine. */
void arena_free(struct arena *arena);

/* Empties the arena but keeps its first block for the next round. */
void arena_reset(struct arena *arena);

/* Zeroed, aligned for any type; NULL at the ceiling or out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* `count` times `size`, checked for overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy with a NUL behind it; .ptr is NULL when there was no room. */
struct span arena_copy(struct arena *arena, struct span text);

/*
 * Bytes handed out since the last reset, padding included, for budgets and
 * tests. The ceiling limits this number.
 */
size_t arena_used(const struct arena *arena);
