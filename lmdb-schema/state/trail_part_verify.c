/*
 * Reads a part as a whole: what the index has must be what follows from the
 * entries, no more and no less.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/state/trail_part_priv.h"

struct verifying {
	struct trail_part *part;
	uint64_t next; /* the number that comes */
	uint64_t *keys; /* of each entry; TRAIL_PART_NO_ARTICLE */
	uint64_t about; /* entries about articles */
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

static enum err
verify_entry(void *context, const struct audit_entry *entry)
{
	struct verifying *verifying = context;
	struct trail_part *part = verifying->part;
	const struct trail_part_block *row = trail_part_row(part, part->loaded);
	bool about = entry->supplier.len > 0 && entry->codein.len > 0;
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
	verifying->keys[verifying->next++ - part->head.first] = about
	    ? trail_part_key(part->head.version, entry->supplier, entry->codein)
	    : TRAIL_PART_NO_ARTICLE;
	verifying->about += about;
	err = verify_name(verifying, TRAIL_PART_SUPPLIER, entry->supplier);
	if (err == ERR_OK)
		err = verify_name(verifying, TRAIL_PART_AUTHOR, entry->actor);
	return err == ERR_OK
	    ? verify_name(verifying, TRAIL_PART_AUTHOR, entry->author)
	    : err;
}

/* Places ascend within a bucket, so that none is there twice. */
static bool
pair_fits(const struct verifying *verifying, const struct trail_part_pair *pair,
    uint32_t bucket, int64_t before)
{
	const struct trail_part *part = verifying->part;
	uint64_t key;

	if (pair->place >= part->count || (int64_t)pair->place <= before)
		return false;
	key = verifying->keys[pair->place];
	return key != TRAIL_PART_NO_ARTICLE && pair->print == (uint32_t)key &&
	    trail_part_bucket(key, part->head.article_bits) == bucket;
}

/* As many pairs as entries about articles, and each fits one of them. */
static enum err
verify_articles(const struct verifying *verifying)
{
	struct trail_part *part = verifying->part;
	uint32_t buckets = UINT32_C(1) << part->head.article_bits;
	uint64_t bytes = part->head.section[TRAIL_PART_ARTICLES].bytes;
	uint64_t table = ((uint64_t)buckets + 1) * sizeof(uint32_t);
	const uint32_t *starts =
	    trail_part_bytes(part, TRAIL_PART_ARTICLES, 0, bytes);
	const struct trail_part_pair *pairs;

	if (starts == NULL)
		return ERR_DAMAGED;
	pairs = (const void *)((const char *)starts + table);
	if (bytes != table + verifying->about * sizeof(*pairs) ||
	    starts[0] != 0 || starts[buckets] != verifying->about)
		return trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, 0, "count");
	for (uint32_t i = 0; i < buckets; i++) {
		int64_t before = -1;

		if (starts[i] > starts[i + 1] ||
		    starts[i + 1] > verifying->about)
			return trail_part_damaged(
			    part, TRAIL_PART_ARTICLES, i, "order");
		for (uint32_t j = starts[i]; j < starts[i + 1]; j++) {
			if (!pair_fits(verifying, &pairs[j], i, before))
				return trail_part_damaged(
				    part, TRAIL_PART_ARTICLES, j, "place");
			before = pairs[j].place;
		}
	}
	return ERR_OK;
}

enum err
trail_part_compare(struct trail_part *part)
{
	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++)
		if (!blocks_all(&part->sections[i]))
			return ERR_DAMAGED;
	return ERR_OK;
}

enum err
trail_part_verify(struct trail_part *part)
{
	struct verifying verifying = {.part = part, .next = part->head.first};
	enum err err = trail_part_compare(part);

	if (err != ERR_OK)
		return err;
	verifying.names = codemap_new();
	verifying.keys = calloc(part->count, sizeof(*verifying.keys));
	if (verifying.names == NULL || verifying.keys == NULL)
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
		err = verify_articles(&verifying);
	codemap_free(verifying.names);
	free(verifying.keys);
	return err;
}
