/*
 * Open addressing over a power of two, at most half full. A slot holds the
 * number and the upper half of the hash, so that nearly every probe is decided
 * without reading the code itself.
 */
#include "lmdb-schema/codemap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"

struct slot {
	uint32_t number;
	uint32_t hash;
};

struct codemap {
	struct arena *arena;
	struct span *codes;
	struct slot *slots;
	uint32_t count;
	uint32_t room; /* of codes */
	uint32_t mask; /* slots - 1 */
};

#define ARENA_MAX ((size_t)4 << 30)

static uint64_t
hash_of(struct span code)
{
	uint64_t hash = 0x9e3779b97f4a7c15u ^ code.len;
	uint64_t word;
	size_t i = 0;

	for (; i + 8 <= code.len; i += 8) {
		memcpy(&word, code.ptr + i, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	word = 0;
	if (i < code.len)
		memcpy(&word, code.ptr + i, code.len - i);
	hash = (hash ^ word) * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 29;
}

static enum err
resize(struct codemap *map, uint32_t slots)
{
	struct slot *old = map->slots;
	uint32_t old_mask = map->mask;

	map->slots = malloc(slots * sizeof(*map->slots));
	if (map->slots == NULL) {
		map->slots = old;
		return ERR_NO_MEMORY;
	}
	memset(map->slots, 0xff, slots * sizeof(*map->slots));
	map->mask = slots - 1;
	for (uint32_t i = 0; old != NULL && i <= old_mask; i++) {
		uint32_t at;

		if (old[i].number == CODEMAP_NONE)
			continue;
		at = (uint32_t)hash_of(map->codes[old[i].number]) & map->mask;
		while (map->slots[at].number != CODEMAP_NONE)
			at = (at + 1) & map->mask;
		map->slots[at] = old[i];
	}
	free(old);
	return ERR_OK;
}

struct codemap *
codemap_new(void)
{
	struct codemap *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return NULL;
	map->arena = arena_new(ARENA_MAX);
	if (map->arena == NULL || resize(map, 1024) != ERR_OK) {
		codemap_free(map);
		return NULL;
	}
	return map;
}

void
codemap_free(struct codemap *map)
{
	if (map == NULL)
		return;
	arena_free(map->arena);
	free(map->codes);
	free(map->slots);
	free(map);
}

/* The slot that has the code, or the empty one where it would go. */
static struct slot *
probe(const struct codemap *map, struct span code, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & map->mask;

	for (;; at = (at + 1) & map->mask) {
		struct slot *slot = &map->slots[at];

		if (slot->number == CODEMAP_NONE)
			return slot;
		if (slot->hash == (uint32_t)(hash >> 32) &&
		    span_eq(map->codes[slot->number], code))
			return slot;
	}
}

static enum err
make_room(struct codemap *map)
{
	struct span *codes;
	uint32_t room;

	if (map->count == UINT32_MAX / 4)
		return ERR_TOO_LARGE;
	if (map->count * 2 > map->mask) {
		enum err err = resize(map, (map->mask + 1) * 2);

		if (err != ERR_OK)
			return err;
	}
	if (map->count < map->room)
		return ERR_OK;
	room = map->room == 0 ? 512 : map->room * 2;
	codes = reallocarray(map->codes, room, sizeof(*codes));
	if (codes == NULL)
		return ERR_NO_MEMORY;
	map->codes = codes;
	map->room = room;
	return ERR_OK;
}

enum err
codemap_add(struct codemap *map, struct span code, uint32_t *number)
{
	uint64_t hash = hash_of(code);
	struct slot *slot;
	struct span copy;
	enum err err = make_room(map);

	assert(map->count <= map->mask);
	if (err != ERR_OK)
		return err;
	slot = probe(map, code, hash);
	if (slot->number != CODEMAP_NONE) {
		*number = slot->number;
		return ERR_EXISTS;
	}
	copy = arena_copy(map->arena, code);
	if (copy.ptr == NULL)
		return ERR_NO_MEMORY;
	*number = map->count++;
	map->codes[*number] = copy;
	*slot = (struct slot){*number, (uint32_t)(hash >> 32)};
	return ERR_OK;
}

uint32_t
codemap_find(const struct codemap *map, struct span code)
{
	assert(map->count <= map->mask);
	return probe(map, code, hash_of(code))->number;
}

uint32_t
codemap_count(const struct codemap *map)
{
	return map->count;
}

struct span
codemap_code(const struct codemap *map, uint32_t number)
{
	assert(number < map->count);
	return map->codes[number];
}

static int
compare_codes(const void *a, const void *b, void *context)
{
	const struct codemap *map = context;

	return span_cmp(
	    map->codes[*(const uint32_t *)a], map->codes[*(const uint32_t *)b]);
}

/* Files mostly come sorted, so that no sort is needed. */
uint32_t *
codemap_sorted(const struct codemap *map)
{
	uint32_t *numbers = calloc(map->count + 1u, sizeof(*numbers));
	bool sorted = true;
	struct codemap alias = *map;

	if (numbers == NULL)
		return NULL;
	for (uint32_t i = 0; i < map->count; i++) {
		numbers[i] = i;
		if (i > 0 && span_cmp(map->codes[i - 1], map->codes[i]) > 0)
			sorted = false;
	}
	if (!sorted)
		qsort_r(numbers, map->count, sizeof(*numbers), compare_codes,
		    &alias);
	return numbers;
}
