/*
 * The entries of a part by article. An article's are together, so that its history
 * unpacks a run or two of a part, however many entries the part has.
 */
#include <assert.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/state/trail_part_priv.h"
#include "lmdb-schema/zstd.h"

/* A run ends with the entry that reaches TRAIL_PART_RUN. */
#define PLAIN_MAX ((size_t)1 << 20)

uint64_t
trail_part_key(struct span supplier, struct span codein)
{
	return (trail_part_hash(codein) & ~UINT64_C(0xffffffff)) |
	    (uint32_t)trail_part_hash(supplier);
}

uint32_t
trail_part_run_crc(const struct trail_part_run *row, uint32_t run)
{
	uint32_t crc = deflate_crc(0, &run, sizeof(run));

	return deflate_crc(crc, row, offsetof(struct trail_part_run, crc));
}

/* Bytes of the articles. */
static enum err
read_articles(struct trail_part *part, void *to, size_t len, uint64_t at)
{
	enum err err = ERR_DAMAGED;

	if (at <= part->head.section[TRAIL_PART_ARTICLES].bytes &&
	    len <= part->head.section[TRAIL_PART_ARTICLES].bytes - at)
		err = sealed_read(&part->file, to, len,
		    part->head.section[TRAIL_PART_ARTICLES].at + at);
	return err == ERR_DAMAGED
	    ? trail_part_damaged(part, TRAIL_PART_ARTICLES, at, "cut")
	    : err;
}

/* Reads those about a run: searches come near to what they look for. */
static enum err
read_rows(struct trail_part *part, uint32_t run)
{
	uint32_t runs = part->head.runs, count = TRAIL_PART_ROWS;
	uint32_t first = run < count / 2 ? 0 : run - count / 2;
	enum err err;

	if (count > runs)
		count = runs;
	if (first > runs - count)
		first = runs - count;
	part->rows_count = 0;
	err = read_articles(part, part->rows, count * sizeof(*part->rows),
	    trail_part_runs_at(&part->head) + first * sizeof(*part->rows));
	if (err != ERR_OK)
		return err;
	part->rows_first = first;
	part->rows_count = count;
	return ERR_OK;
}

enum err
trail_part_run(
    struct trail_part_run *row, struct trail_part *part, uint32_t run)
{
	enum err err = ERR_OK;

	assert(run < part->head.runs);
	if (run < part->rows_first ||
	    run - part->rows_first >= part->rows_count)
		err = read_rows(part, run);
	if (err != ERR_OK)
		return err;
	*row = part->rows[run - part->rows_first];
	return trail_part_run_crc(row, run) == row->crc
	    ? ERR_OK
	    : trail_part_damaged(part, TRAIL_PART_ARTICLES, run, "checksum");
}

enum err
trail_part_load_run(struct trail_part *part, const struct trail_part_run *run)
{
	char *packed;
	enum err err;

	trail_part_unload(part);
	buf_clear(&part->packed);
	if (run->plain > PLAIN_MAX || run->packed > PLAIN_MAX ||
	    run->at > trail_part_runs_at(&part->head))
		return trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, run->at, "length");
	packed = buf_room(&part->packed, run->packed);
	if (packed == NULL)
		return buf_end(&part->packed);
	err = read_articles(part, packed, run->packed, run->at);
	if (err != ERR_OK)
		return err;
	if (deflate_crc(0, packed, run->packed) != run->frame_crc)
		return trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, run->at, "checksum");
	part->loads++;
	err = zstd_unpack(
	    &part->plain, span_make(packed, run->packed), run->plain);
	return err == ERR_BAD_INPUT
	    ? trail_part_damaged(part, TRAIL_PART_ARTICLES, run->at, "frame")
	    : err;
}

enum err
trail_part_item(uint32_t *place, struct span *value, struct unpack *from,
    struct trail_part *part)
{
	uint64_t number;

	if (from->at == from->end)
		return ERR_NOT_FOUND;
	number = unpack_unsigned(from);
	*value = unpack_text(from);
	if (from->bad || number >= part->count)
		return trail_part_damaged(
		    part, TRAIL_PART_ARTICLES, number, "item");
	*place = (uint32_t)number;
	return ERR_OK;
}

/* --- an article's --------------------------------------------------------- */

/*
 * A search for the first run whose last key is not below `key`: it is from `low`
 * to `high`. The keys are those of the runs before `low` and of `high`.
 */
struct search {
	struct trail_part *part;
	uint64_t key, low_key, high_key;
	uint32_t low, high;
};

/* Narrows the search by the row of a run from `low` to before `high`. */
static enum err
compare(struct search *search, uint32_t run)
{
	struct trail_part_run row;
	enum err err = trail_part_run(&row, search->part, run);

	if (err != ERR_OK)
		return err;
	if (row.last < search->key) {
		search->low = run + 1;
		search->low_key = row.last;
	} else {
		search->high = run;
		search->high_key = row.last;
	}
	return ERR_OK;
}

/* Steps that take all keys for equally far apart; then the span is halved. */
#define STEPS_EVEN 4

static uint32_t
guess(const struct search *search, unsigned step)
{
	uint64_t runs = search->high - search->low;
	uint64_t far = (search->key - search->low_key) >> 32;
	uint64_t span = ((search->high_key - search->low_key) >> 32) + 1;

	return search->low +
	    (uint32_t)(step < STEPS_EVEN ? far * runs / span : runs / 2);
}

/* Reads the rows about where the run may be, and compares their ends. */
static enum err
come_near(struct search *search, unsigned step)
{
	struct trail_part *part = search->part;
	enum err err = read_rows(part, guess(search, step));
	uint32_t first = part->rows_first, last = first + part->rows_count - 1;

	if (err != ERR_OK)
		return err;
	if (last >= search->high)
		last = search->high - 1;
	err = compare(search, last);
	if (err == ERR_OK && search->high == last && first > search->low)
		err = compare(search, first);
	return err;
}

static bool
are_read(const struct search *search)
{
	const struct trail_part *part = search->part;

	return search->low >= part->rows_first &&
	    search->high <= part->rows_first + part->rows_count;
}

/* The first run whose last key is not below `key`; the runs' count: none is. */
static enum err
first_run(uint32_t *run, struct trail_part *part, uint64_t key)
{
	struct search search = {part, key, 0, UINT64_MAX, 0, part->head.runs};
	enum err err = ERR_OK;

	for (unsigned step = 0; search.low < search.high && err == ERR_OK;
	     step++)
		err = are_read(&search)
		    ? compare(
			  &search, search.low + (search.high - search.low) / 2)
		    : come_near(&search, step);
	*run = search.low;
	return err;
}

static enum err
read_run(struct trail_part *part, const struct trail_part_run *run,
    struct span supplier, struct span codein,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
    void *context)
{
	enum err err = trail_part_load_run(part, run);
	struct unpack from;
	struct span value;
	uint32_t place;

	if (err != ERR_OK)
		return err;
	unpack_init(&from, buf_span(&part->plain));
	while ((err = trail_part_item(&place, &value, &from, part)) == ERR_OK) {
		struct audit_entry entry;

		err = audit_read(&entry, part->head.first + place, value);
		if (err != ERR_OK)
			return trail_part_damaged(
			    part, TRAIL_PART_ARTICLES, place, "entry");
		if (span_eq(entry.codein, codein) &&
		    (supplier.len == 0 || span_eq(entry.supplier, supplier)))
			err = each(context, &entry, value);
		if (err != ERR_OK)
			return err;
	}
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
trail_part_of(struct trail_part *part, struct span supplier, struct span codein,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
    void *context)
{
	uint64_t low = trail_part_key(supplier, codein), high = low;
	uint32_t i;
	enum err err;

	if (part->head.version <= TRAIL_PART_VERSION_PAIRS)
		return trail_part_pairs_of(
		    part, supplier, codein, each, context);
	if (supplier.len == 0) {
		low &= ~UINT64_C(0xffffffff);
		high = low | UINT64_C(0xffffffff);
	}
	err = first_run(&i, part, low);
	for (; err == ERR_OK && i < part->head.runs; i++) {
		struct trail_part_run run;

		err = trail_part_run(&run, part, i);
		if (err == ERR_OK && run.first > high)
			break;
		if (err == ERR_OK)
			err = read_run(
			    part, &run, supplier, codein, each, context);
	}
	return err;
}
