#include <string.h>

#include "lmdb-schema/state/trail_part_priv.h"

/* --- what is wanted ------------------------------------------------------- */

enum err
trail_part_find_name(
    const uint64_t **map, struct trail_part *part, char kind, struct span name)
{
	uint64_t words = trail_part_words(&part->head);
	uint64_t rows = part->head.names * sizeof(struct trail_part_name);
	const struct trail_part_name *names =
	    trail_part_bytes(part, TRAIL_PART_NAMES, 0, rows);

	*map = NULL;
	if (names == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < part->head.names; i++) {
		const char *text;

		if (names[i].len != name.len + 1)
			continue;
		text = trail_part_bytes(
		    part, TRAIL_PART_NAMES, names[i].at, names[i].len);
		if (text == NULL)
			return ERR_DAMAGED;
		if (text[0] != kind ||
		    memcmp(text + 1, name.ptr, name.len) != 0)
			continue;
		*map = trail_part_bytes(part, TRAIL_PART_NAMES,
		    rows + i * words * sizeof(uint64_t),
		    words * sizeof(uint64_t));
		return *map == NULL ? ERR_DAMAGED : ERR_OK;
	}
	return ERR_OK;
}

/* A filter, as far as this part has its names. */
struct search {
	const struct trail_wanted *wanted; /* NULL: everything */
	const uint64_t *supplier, *author; /* NULL: any */
	bool none; /* the part has nothing of it */
};

static enum err
begin_search(struct search *search, struct trail_part *part,
    const struct trail_wanted *wanted)
{
	enum err err = ERR_OK;

	*search = (struct search){.wanted = wanted};
	if (wanted == NULL)
		return ERR_OK;
	search->none = part->head.newest_ms < wanted->from_ms ||
	    (wanted->until_ms != 0 && part->head.oldest_ms >= wanted->until_ms);
	if (wanted->supplier.len > 0 && !search->none) {
		err = trail_part_find_name(&search->supplier, part,
		    TRAIL_PART_SUPPLIER, wanted->supplier);
		search->none = search->supplier == NULL;
	}
	if (err == ERR_OK && wanted->author.len > 0 && !search->none) {
		err = trail_part_find_name(
		    &search->author, part, TRAIL_PART_AUTHOR, wanted->author);
		search->none = search->author == NULL;
	}
	return err;
}

static enum err
may_have(bool *may, const struct search *search, struct trail_part *part,
    uint32_t block)
{
	const struct trail_part_block *row;

	*may = search->wanted == NULL;
	if (*may)
		return ERR_OK;
	row = trail_part_row(part, block);
	if (row == NULL)
		return ERR_DAMAGED;
	*may = row->newest_ms >= search->wanted->from_ms &&
	    (search->wanted->until_ms == 0 ||
		row->oldest_ms < search->wanted->until_ms) &&
	    trail_part_may_have(part, search->supplier, block) &&
	    trail_part_may_have(part, search->author, block);
	return ERR_OK;
}

/* --- walking -------------------------------------------------------------- */

struct walking {
	uint64_t from, to;
	bool back;
	enum err (*each)(void *context, const struct audit_entry *entry);
	void *context;
};

/* The entries of a block, as far as they are asked for. */
static enum err
walk_block(
    struct trail_part *part, uint32_t block, const struct walking *walking)
{
	enum err err = trail_part_load(part, block);

	for (uint32_t i = 0; err == ERR_OK && i < part->loaded_count; i++) {
		uint32_t at = walking->back ? part->loaded_count - 1 - i : i;
		uint64_t number = part->head.first + part->place + at;
		struct audit_entry entry;

		if (number < walking->from || number > walking->to)
			continue;
		err = audit_read(&entry, number, trail_part_value(part, at));
		if (err == ERR_DAMAGED)
			return trail_part_damaged(
			    part, TRAIL_PART_ENTRIES, number, "entry");
		err = walking->each(walking->context, &entry);
	}
	return err;
}

/* The first and last block of what is asked for. */
static enum err
span_of_walk(uint32_t *first, uint32_t *last, struct trail_part *part,
    const struct walking *walking)
{
	enum err err = trail_part_block_of(
	    first, part, (uint32_t)(walking->from - part->head.first));

	return err == ERR_OK ? trail_part_block_of(last, part,
				   (uint32_t)(walking->to - part->head.first))
			     : err;
}

/* --- what is left out ------------------------------------------------------ */

/* Successive damaged blocks, in the order of the walk. */
struct lacking {
	struct trail_part *part;
	const struct walking *walking;
	const struct trail_left_out *left_out;
	uint32_t first, count; /* blocks */
	bool any; /* so far */
};

static void
tell_places(const struct lacking *lacking, uint64_t place, uint64_t end)
{
	const struct walking *walking = lacking->walking;
	uint64_t first = lacking->part->head.first + place,
		 last = lacking->part->head.first + end - 1;

	if (first < walking->from)
		first = walking->from;
	if (last > walking->to)
		last = walking->to;
	if (first <= last)
		lacking->left_out->lacks(
		    lacking->left_out->context, first, last);
}

/* Where rows of blocks are damaged, from and to the next ones that are not. */
static void
tell_blocks(struct lacking *lacking)
{
	struct trail_part *part = lacking->part;
	uint32_t begin = lacking->first, end = begin + lacking->count;
	const struct trail_part_block *row = NULL;
	uint64_t place = 0;

	if (lacking->count == 0)
		return;
	while (begin > 0 && (row = trail_part_row(part, begin)) == NULL)
		begin--;
	if (begin > 0)
		place = row->place;
	row = NULL;
	while (end < part->head.blocks &&
	    (row = trail_part_row(part, end)) == NULL)
		end++;
	tell_places(lacking, place, row == NULL ? part->count : row->place);
	lacking->count = 0;
}

static void
note_block(struct lacking *lacking, uint32_t block)
{
	lacking->any = true;
	if (lacking->count++ == 0 || lacking->walking->back)
		lacking->first = block;
}

/* A part that cannot be searched is lacking as a whole. */
static enum err
lacks_all(const struct lacking *lacking, enum err err)
{
	if (err != ERR_OK && lacking->left_out != NULL)
		tell_places(lacking, 0, lacking->part->count);
	return err;
}

enum err
trail_part_each(struct trail_part *part, const struct trail_wanted *wanted,
    uint64_t from, uint64_t to, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	const struct trail_part_head *head = &part->head;
	struct walking walking = {from > head->first ? from : head->first,
	    to < head->last ? to : head->last, back, each, context};
	struct search search = {.none = true};
	struct lacking lacking = {.part = part,
	    .walking = &walking,
	    .left_out = wanted == NULL ? NULL : wanted->left_out};
	uint32_t first, last;
	enum err err = trail_part_map(part);

	if (err == ERR_OK)
		err = begin_search(&search, part, wanted);
	if (err == ERR_OK && (search.none || walking.from > walking.to))
		return err;
	if (err == ERR_OK)
		err = span_of_walk(&first, &last, part, &walking);
	if (err != ERR_OK)
		return lacks_all(&lacking, err);
	for (uint32_t i = 0; err == ERR_OK && i <= last - first; i++) {
		uint32_t block = back ? last - i : first + i;
		bool may;

		err = may_have(&may, &search, part, block);
		if (err == ERR_OK && may)
			err = walk_block(part, block, &walking);
		if (err == ERR_DAMAGED && lacking.left_out != NULL) {
			note_block(&lacking, block);
			err = ERR_OK;
		} else
			tell_blocks(&lacking);
	}
	tell_blocks(&lacking);
	return err == ERR_OK && lacking.any ? ERR_DAMAGED : err;
}
