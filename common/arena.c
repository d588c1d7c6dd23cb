/*
 * A chain of blocks, newest first; each allocation is cut off the newest one.
 * A block is twice as large as the one before it, up to BLOCK_MAX, and larger
 * only for an allocation that needs it. Text is packed without padding.
 */
#include "common/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK_FIRST ((size_t)8 * 1024)
#define BLOCK_MAX ((size_t)256 * 1024)

struct block {
	struct block *older;
	size_t size; /* of data */
	size_t used;
	alignas(max_align_t) char data[];
};

struct arena {
	struct block *newest; /* never NULL */
	size_t max;
	size_t used;
};

static struct block *
block_new(size_t size, struct block *older)
{
	struct block *block;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (block == NULL)
		return NULL;
	block->older = older;
	block->size = size;
	block->used = 0;
	return block;
}

struct arena *
arena_new(size_t max)
{
	struct arena *arena = malloc(sizeof(*arena));

	assert(max > 0);
	if (arena == NULL)
		return NULL;
	arena->max = max;
	arena->used = 0;
	arena->newest = block_new(BLOCK_FIRST, NULL);
	if (arena->newest == NULL) {
		free(arena);
		return NULL;
	}
	return arena;
}

void
arena_free(struct arena *arena)
{
	if (arena == NULL)
		return;
	arena_reset(arena);
	free(arena->newest);
	free(arena);
}

void
arena_reset(struct arena *arena)
{
	struct block *block = arena->newest;

	while (block->older != NULL) {
		struct block *older = block->older;

		free(block);
		block = older;
	}
	block->used = 0;
	arena->newest = block;
	arena->used = 0;
}

/* A new newest block that holds at least `size` bytes. */
static bool
grow(struct arena *arena, size_t size)
{
	size_t next = arena->newest->size * 2;
	struct block *block;

	if (next > BLOCK_MAX)
		next = BLOCK_MAX;
	block = block_new(size > next ? size : next, arena->newest);
	if (block == NULL)
		return false;
	arena->newest = block;
	return true;
}

static void *
cut(struct arena *arena, size_t size, size_t alignment)
{
	struct block *block = arena->newest;
	size_t pad = -block->used & (alignment - 1);
	void *at;

	if (size > arena->max - arena->used)
		return NULL;
	if (block->size - block->used < pad ||
	    block->size - block->used - pad < size) {
		if (!grow(arena, size))
			return NULL;
		block = arena->newest;
		pad = 0;
	}
	if (pad + size > arena->max - arena->used)
		return NULL;
	at = block->data + block->used + pad;
	block->used += pad + size;
	arena->used += pad + size;
	return at;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
	void *at = cut(arena, size == 0 ? 1 : size, alignof(max_align_t));

	if (at != NULL)
		memset(at, 0, size);
	return at;
}

void *
arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_alloc(arena, bytes);
}

struct span
arena_copy(struct arena *arena, struct span text)
{
	char *copy = NULL;

	assert(text.ptr != NULL || text.len == 0);
	if (text.len < SIZE_MAX)
		copy = cut(arena, text.len + 1, 1);
	if (copy == NULL)
		return span_make(NULL, 0);
	if (text.len > 0)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return span_make(copy, text.len);
}

size_t
arena_used(const struct arena *arena)
{
	return arena->used;
}
