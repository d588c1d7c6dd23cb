/*
 * Reads a part as a whole: what the index has must be what follows from the
 * entries, no more and no less.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/state/trail_part_priv.h"

struct verifying {
	struct trail_part *part;
	uint64_t next; /* the number that comes */
	uint64_t about; /* entries about articles */
	uint64_t sum; /* of entry_sum() of each */
	uint64_t *keys; /* before version 3: of each entry */
	struct codemap *names; /* with their kinds, numbered as in the file */
	const uint64_t *maps;
};

static enum err
list_names(struct verifying *verifying)
{
	struct trail_part *part = verifying->part;
	uint64_t rows = part->head.names * sizeof(struct trail_part_name);
	const struct trail_part_name *names =
	    trail_part_bytes(part, TRAIL_PART_NAMES, 0, rows);
	enum err err = ERR_OK;

	verifying->maps = trail_part_bytes(part, TRAIL_PART_NAMES, rows,
	    part->head.names * trail_part_words(&part->head) *
		sizeof(uint64_t));
	if (names == NULL || verifying->maps == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < part->head.names && err == ERR_OK; i++) {
		const char *text = trail_part_bytes(
		    part, TRAIL_PART_NAMES, names[i].at, names[i].len);
		uint32_t number;

		err = text == NULL
		    ? ERR_DAMAGED
		    : codemap_add(verifying->names,
			  span_make(text, names[i].len), &number);
		if (err == ERR_EXISTS)
			err = trail_part_damaged(
			    part, TRAIL_PART_NAMES, i, "twice");
	}
	return err;
}

/* The block's bit of a name must be set. */
static enum err
verify_name(const struct verifying *verifying, char kind, struct span name)
{
	struct trail_part *part = verifying->part;
	uint64_t words = trail_part_words(&part->head);
	char text[TRAIL_PART_NAME_MAX];
	uint32_t number;

	if (name.len == 0 || name.len >= sizeof(text))
		return ERR_OK;
	text[0] = kind;
	memcpy(text + 1, name.ptr, name.len);
	number = codemap_find(verifying->names, span_make(text, name.len + 1));
	if (number == CODEMAP_NONE ||
	    !trail_part_has(
		&part->head, verifying->maps + number * words, part->loaded))
		return trail_part_damaged(
		    part, TRAIL_PART_NAMES, part->loaded, "name");
	return ERR_OK;
}

/* Sums of these tell whether two sets of entries are the same. */
static uint64_t
entry_sum(uint32_t place, struct span value)
{
	uint64_t sum =
	    (uint64_t)place << 32 | deflate_crc(0, value.ptr, value.len);

	sum = (sum ^ sum >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return sum ^ sum >> 32;
}

static void
note_article(struct verifying *verifying, const struct audit_entry *entry)
{
	struct trail_part *part = verifying->part;
	uint32_t place = (uint32_t)(verifying->next++ - part->head.first);
	bool about = trail_part_is_about(entry);

	verifying->about += about;
	if (verifying->keys != NULL)
		verifying->keys[place] = about
		    ? trail_part_pairs_key(
			  part->head.version, entry->supplier, entry->codein)
		    : TRAIL_PART_NO_ARTICLE;
	else if (about)
		verifying->sum += entry_sum(
		    place, trail_part_value(part, place - part->place));
}

static enum err
verify_entry(void *context, const struct audit_entry *entry)
{
	struct verifying *verifying = context;
	struct trail_part *part = verifying->part;
	const struct trail_part_block *row = trail_part_row(part, part->loaded);
	enum err err;

	if (row == NULL)
		return ERR_DAMAGED;
	if (entry->number != verifying->next ||
	    entry->when_ms < row->oldest_ms ||
	    entry->when_ms > row->newest_ms ||
	    row->oldest_ms < part->head.oldest_ms ||
	    row->newest_ms > part->head.newest_ms)
		return trail_part_damaged(
		    part, TRAIL_PART_BLOCKS, part->loaded, "entry");
	note_article(verifying, entry);
	err = verify_name(verifying, TRAIL_PART_SUPPLIER, entry->supplier);
	if (err == ERR_OK)
		err = verify_name(verifying, TRAIL_PART_AUTHOR, entry->actor);
	return err == ERR_OK
	    ? verify_name(verifying, TRAIL_PART_AUTHOR, entry->author)
	    : err;
}

/* --- the articles --------------------------------------------------------- */

struct articles {
	struct trail_part *part;
	uint64_t at; /* where the next run begins */
	uint64_t key; /* of the last item */
	uint64_t count, sum;
	uint32_t place;
};

static enum err
verify_item(struct articles *articles, uint32_t place, struct span value)
{
	struct trail_part *part = articles->part;
	struct audit_entry entry;
	enum err err = audit_read(&entry, part->head.first + place, value);
	uint64_t key;

	if (err != ERR_OK)
		return err;
	key = trail_part_key(entry.supplier, entry.codein);
	if (articles->count > 0 &&
	    (key < articles->key ||
		(key == articles->key && place <= articles->place)))
		return ERR_DAMAGED;
	articles->key = key;
	articles->place = place;
	articles->count++;
	articles->sum += entry_sum(place, value);
	return ERR_OK;
}

static enum err
verify_run(struct articles *articles, const struct trail_part_run *run)
{
	struct trail_part *part = articles->part;
	enum err err = trail_part_load_run(part, run);
	struct unpack from;
	struct span value;
	uint32_t place;

	if (err != ERR_OK)
		return err;
	if (run->at != articles->at)
		return ERR_DAMAGED;
	articles->at += run->packed;
	unpack_init(&from, buf_span(&part->plain));
	for (bool first = true;; first = false) {
		err = trail_part_item(&place, &value, &from, part);
		if (err == ERR_OK)
			err = verify_item(articles, place, value);
		if (err == ERR_OK && first && articles->key != run->first)
			err = ERR_DAMAGED;
		if (err != ERR_OK)
			break;
	}
	if (err != ERR_NOT_FOUND)
		return err;
	return articles->key == run->last ? ERR_OK : ERR_DAMAGED;
}

/* The runs have the entries about articles, each once, and in order. */
static enum err
verify_runs(const struct verifying *verifying)
{
	struct trail_part *part = verifying->part;
	struct articles articles = {.part = part};
	enum err err = ERR_OK;
	uint32_t i = 0;

	for (; i < part->head.runs && err == ERR_OK; i++) {
		struct trail_part_run run;

		err = trail_part_run(&run, part, i);
		if (err == ERR_OK)
			err = verify_run(&articles, &run);
	}
	if (err == ERR_OK &&
	    (articles.count != verifying->about ||
		articles.sum != verifying->sum ||
		trail_part_runs_at(&part->head) - articles.at >=
		    sizeof(uint64_t)))
		err = ERR_DAMAGED;
	return err == ERR_DAMAGED
	    ? trail_part_damaged(part, TRAIL_PART_ARTICLES, i, "run")
	    : err;
}

enum err
trail_part_compare(struct trail_part *part)
{
	enum err err = trail_part_map(part);

	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++)
		if (!blocks_all(&part->sections[i]))
			return ERR_DAMAGED;
	return ERR_OK;
}

enum err
trail_part_verify(struct trail_part *part)
{
	struct verifying verifying = {.part = part, .next = part->head.first};
	bool pairs = part->head.version <= TRAIL_PART_VERSION_PAIRS;
	enum err err = trail_part_compare(part);

	if (err != ERR_OK)
		return err;
	verifying.names = codemap_new();
	if (pairs)
		verifying.keys = calloc(part->count, sizeof(*verifying.keys));
	if (verifying.names == NULL || (pairs && verifying.keys == NULL))
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = list_names(&verifying);
	if (err == ERR_OK)
		err = trail_part_each(part, NULL, part->head.first,
		    part->head.last, false, verify_entry, &verifying);
	if (err == ERR_OK && verifying.next != part->head.last + 1)
		err = trail_part_damaged(
		    part, TRAIL_PART_BLOCKS, verifying.next, "count");
	if (err == ERR_OK)
		err = pairs ? trail_part_pairs_verify(
				  part, verifying.keys, verifying.about)
			    : verify_runs(&verifying);
	codemap_free(verifying.names);
	free(verifying.keys);
	return err;
}
