/*
 * The articles of versions 1 and 2, which are never written any more:
 *
 *	u32 starts[2^bits + 1], then pairs of u32: of an entry about an article its
 *	print, and its place, 0 for the first of the part. The upper half of a print
 *	is the lower 16 bits of the hash of the article's code, the lower half those
 *	of its supplier's; in version 1 it is the lower 32 bits of the hash of the
 *	code. The pairs of bucket b, the upper `bits` bits of the hash of the code,
 *	are starts[b] to starts[b + 1] of them, in the order of their places
 */
#include "lmdb-schema/state/trail_part_priv.h"

#define BITS_MAX 21

struct pair {
	uint32_t print, place;
};

/* A print's bits for the article's code; the others are for its supplier. */
#define PRINT_CODE UINT32_C(0xffff0000)

uint64_t
trail_part_pairs_key(uint32_t version, struct span supplier, struct span codein)
{
	uint64_t hash = trail_part_hash(codein);
	uint32_t print = version == TRAIL_PART_VERSION_BARE
	    ? (uint32_t)hash
	    : (uint32_t)hash << 16 | (uint16_t)trail_part_hash(supplier);

	/* No bucket needs the lowest of the upper bits. */
	return (hash & ~UINT64_C(0x1ffffffff)) | print;
}

static uint32_t
bucket(uint64_t key, unsigned bits)
{
	return bits == 0 ? 0 : (uint32_t)(key >> (64 - bits));
}

bool
trail_part_pairs_fit(const struct trail_part_head *head)
{
	return head->article_bits <= BITS_MAX &&
	    head->section[TRAIL_PART_ARTICLES].bytes >=
	    ((UINT64_C(1) << head->article_bits) + 1) * sizeof(uint32_t);
}

/* --- looking up ----------------------------------------------------------- */

/* The pairs of a key's bucket; NULL: damaged. */
static const struct pair *
bucket_of(uint32_t *count, struct trail_part *part, uint64_t key)
{
	unsigned bits = part->head.article_bits;
	uint64_t table = ((UINT64_C(1) << bits) + 1) * sizeof(uint32_t);
	const uint32_t *start = trail_part_bytes(part, TRAIL_PART_ARTICLES,
	    (uint64_t)bucket(key, bits) * sizeof(uint32_t),
	    2 * sizeof(uint32_t));

	if (start == NULL)
		return NULL;
	if (start[0] > start[1]) {
		trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, start[0], "order");
		return NULL;
	}
	*count = start[1] - start[0];
	return trail_part_bytes(part, TRAIL_PART_ARTICLES,
	    table + start[0] * sizeof(struct pair),
	    (uint64_t)*count * sizeof(struct pair));
}

/* An article's pairs: which are its own, as far as they tell. */
struct looking {
	struct trail_part *part;
	struct span supplier, codein;
	uint32_t print, mask;
	const uint64_t *map; /* the blocks of its supplier; NULL: not asked */
};

/* ERR_NOT_FOUND: the part has nothing of the supplier. */
static enum err
begin_looking(struct looking *looking, struct trail_part *part,
    struct span supplier, uint64_t key)
{
	bool bare = part->head.version == TRAIL_PART_VERSION_BARE;
	bool any = supplier.len == 0;
	enum err err;

	*looking = (struct looking){.part = part,
	    .print = (uint32_t)key,
	    .mask = any && !bare ? PRINT_CODE : UINT32_MAX};
	if (any || !bare)
		return ERR_OK;
	err = trail_part_find_name(
	    &looking->map, part, TRAIL_PART_SUPPLIER, supplier);
	return err == ERR_OK && looking->map == NULL ? ERR_NOT_FOUND : err;
}

static enum err
is_own(bool *own, const struct looking *looking, const struct pair *pair)
{
	uint32_t block;
	enum err err;

	*own = ((pair->print ^ looking->print) & looking->mask) == 0;
	if (!*own)
		return ERR_OK;
	if (pair->place >= looking->part->count)
		return trail_part_damaged(
		    looking->part, TRAIL_PART_ARTICLES, pair->place, "place");
	if (looking->map == NULL)
		return ERR_OK;
	err = trail_part_block_of(&block, looking->part, pair->place);
	*own = err == ERR_OK &&
	    trail_part_may_have(looking->part, looking->map, block);
	return err;
}

/* Reads an entry that the index names; rarely that is another article's. */
static enum err
read_entry(const struct looking *looking, uint32_t place,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
    void *context)
{
	struct trail_part *part = looking->part;
	uint64_t number = part->head.first + place;
	struct audit_entry entry = {.number = number};
	struct span value;
	enum err err = trail_part_get(part, number, &value);

	if (err == ERR_OK)
		err = audit_read(&entry, number, value);
	if (err != ERR_OK || !span_eq(entry.codein, looking->codein) ||
	    (looking->supplier.len > 0 &&
		!span_eq(entry.supplier, looking->supplier)))
		return err;
	return each(context, &entry, value);
}

enum err
trail_part_pairs_of(struct trail_part *part, struct span supplier,
    struct span codein,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
    void *context)
{
	uint64_t key =
	    trail_part_pairs_key(part->head.version, supplier, codein);
	const struct pair *pairs;
	struct looking looking;
	uint32_t count;
	enum err err = begin_looking(&looking, part, supplier, key);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	looking.codein = codein;
	looking.supplier = supplier;
	pairs = bucket_of(&count, part, key);
	if (pairs == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		bool own;

		err = is_own(&own, &looking, &pairs[i]);
		if (err == ERR_OK && own)
			err =
			    read_entry(&looking, pairs[i].place, each, context);
	}
	return err;
}

/* --- verifying ------------------------------------------------------------ */

/* Places ascend within a bucket, so that none is there twice. */
static bool
pair_fits(const struct trail_part *part, const uint64_t *keys,
    const struct pair *pair, uint32_t in, int64_t before)
{
	uint64_t key;

	if (pair->place >= part->count || (int64_t)pair->place <= before)
		return false;
	key = keys[pair->place];
	return key != TRAIL_PART_NO_ARTICLE && pair->print == (uint32_t)key &&
	    bucket(key, part->head.article_bits) == in;
}

/* As many pairs as entries about articles, and each fits one of them. */
enum err
trail_part_pairs_verify(
    struct trail_part *part, const uint64_t *keys, uint64_t about)
{
	uint32_t buckets = UINT32_C(1) << part->head.article_bits;
	uint64_t bytes = part->head.section[TRAIL_PART_ARTICLES].bytes;
	uint64_t table = ((uint64_t)buckets + 1) * sizeof(uint32_t);
	const uint32_t *starts =
	    trail_part_bytes(part, TRAIL_PART_ARTICLES, 0, bytes);
	const struct pair *pairs;

	if (starts == NULL)
		return ERR_DAMAGED;
	pairs = (const void *)((const char *)starts + table);
	if (bytes != table + about * sizeof(*pairs) || starts[0] != 0 ||
	    starts[buckets] != about)
		return trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, 0, "count");
	for (uint32_t i = 0; i < buckets; i++) {
		int64_t before = -1;

		if (starts[i] > starts[i + 1] || starts[i + 1] > about)
			return trail_part_damaged(
			    part, TRAIL_PART_ARTICLES, i, "order");
		for (uint32_t j = starts[i]; j < starts[i + 1]; j++) {
			if (!pair_fits(part, keys, &pairs[j], i, before))
				return trail_part_damaged(
				    part, TRAIL_PART_ARTICLES, j, "place");
			before = pairs[j].place;
		}
	}
	return ERR_OK;
}
