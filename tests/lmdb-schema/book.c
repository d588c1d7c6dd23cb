#include "tests/lmdb-schema/book.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

/* --- making --------------------------------------------------------------- */

static void
put_article(struct intake *intake, const struct book_row *row)
{
	struct source_article article = facts_article(row->codein);

	article.libelle1 = span_of(row->label);
	ck_assert_int_eq(
	    intake_article(intake, span_of(row->supplier), &article, 0),
	    ERR_OK);
}

static void
compute_all(const struct book_row *rows, unsigned count)
{
	struct compute_result result;
	struct catalog_entry entry;

	for (unsigned i = 0; i < count; i++)
		if (catalog_current(facts, span_of(rows[i].supplier), &entry) ==
			ERR_NOT_FOUND ||
		    i == 0 ||
		    strcmp(rows[i].supplier, rows[i - 1].supplier) != 0)
			ck_assert_int_eq(
			    facts_compute(rows[i].supplier, &result), ERR_OK);
}

void
book_import(const struct book_row *rows, unsigned count)
{
	struct intake *intake = facts_begin(NULL);

	ck_assert_int_eq(intake_store(intake, SPAN("001"), SPAN("")), ERR_OK);
	for (unsigned i = 0; i < count; i++)
		if (!intake_has_supplier(intake, span_of(rows[i].supplier)))
			ck_assert_int_eq(
			    intake_supplier(
				intake, span_of(rows[i].supplier), SPAN("")),
			    ERR_OK);
	for (unsigned i = 0; i < count; i++)
		put_article(intake, &rows[i]);
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (unsigned i = 0; i < count; i++)
		if (rows[i].turnover != NUM_NULL)
			facts_put(intake, SERIES_SALES, rows[i].supplier,
			    rows[i].codein, "001", FACTS_MONTH,
			    rows[i].turnover);
	facts_end_series(intake);
	facts_end(intake);
	compute_all(rows, count);
}

struct word_index_result
book_make(void)
{
	struct word_index_options options = {.at = NULL};
	struct word_index_result result;

	ck_assert_int_eq(word_index_make(&result, facts, &options), ERR_OK);
	return result;
}

uint64_t
book_noted(void)
{
	struct catalog_view *view;
	uint64_t generation;

	ck_assert_int_eq(catalog_view_open(&view, facts), ERR_OK);
	generation = catalog_words(view);
	catalog_view_close(view);
	return generation;
}

const char *
book_path(const char *suffix)
{
	static char path[FS_PATH_MAX];

	ck_assert_int_eq(word_index_path(path, facts, suffix), ERR_OK);
	return path;
}

/* --- the snapshots that it was made of ------------------------------------ */

#define SNAPS 64

static struct snapshot *snaps[SNAPS];
static const struct word_index *snaps_of;

static void
close_snapshots(void)
{
	for (unsigned i = 0; i < SNAPS; i++) {
		snapshot_close(snaps[i]);
		snaps[i] = NULL;
	}
	snaps_of = NULL;
}

void
book_close(struct word_index **book)
{
	close_snapshots();
	word_index_close(*book);
	*book = NULL;
}

static struct snapshot *
snapshot_of(const struct word_index *book, uint32_t supplier)
{
	run_must(supplier < SNAPS);
	if (snaps_of != book)
		close_snapshots();
	snaps_of = book;
	if (snaps[supplier] == NULL)
		ck_assert_int_eq(
		    snapshot_open(&snaps[supplier], facts,
			word_index_code(book, supplier),
			word_index_supplier(book, supplier)->generation),
		    ERR_OK);
	return snaps[supplier];
}

struct span
book_text(const struct word_index *book, uint32_t rank)
{
	struct word_index_row row;
	struct span text;
	const uint32_t *at;

	run_must(word_index_row(&row, book, rank));
	run_must(snapshot_text(snapshot_of(book, row.supplier), &text, &at));
	return span_sub(text, at[row.row], at[row.row + 1] - at[row.row]);
}

const char *
book_at(const struct word_index *book, uint32_t rank)
{
	static char text[2 * SCHEMA_CODE_MAX + 80];
	struct word_index_row row;
	struct span code;

	run_must(word_index_row(&row, book, rank));
	code = snapshot_value(
	    snapshot_of(book, row.supplier), row.row, COL_codein);
	snprintf(text, sizeof(text), "%.*s/%.*s",
	    SPAN_ARG(word_index_code(book, row.supplier)), SPAN_ARG(code));
	return text;
}

/* --- by a plain look ------------------------------------------------------ */

struct plain {
	int64_t turnover;
	char code[SCHEMA_CODE_MAX + 1];
	struct word_index_row row;
};

static void
fill(struct plain *plain, struct snapshot *snap, struct word_index_row row)
{
	struct span json = snapshot_value(snap, row.row, COL_codein);
	size_t len = 0;

	plain->row = row;
	plain->turnover = snapshot_numbers(snap, COL_totalCa)[row.row];
	for (size_t i = 1; i + 1 < json.len; i++) {
		i += json.ptr[i] == '\\';
		plain->code[len++] = json.ptr[i];
	}
	plain->code[len] = '\0';
}

static int
compare(const void *a, const void *b)
{
	const struct plain *left = a, *right = b;
	int order = strcmp(left->code, right->code);

	if ((left->turnover == NUM_NULL) != (right->turnover == NUM_NULL))
		return left->turnover == NUM_NULL ? 1 : -1;
	if (left->turnover != right->turnover)
		return left->turnover < right->turnover ? 1 : -1;
	if (order != 0)
		return order;
	return (int)left->row.supplier - (int)right->row.supplier;
}

static void
must_be_in_order(const struct word_index *book)
{
	uint32_t rows = word_index_head(book)->rows, at = 0;
	struct plain *plain = calloc(rows + 1u, sizeof(*plain));

	for (uint32_t i = 0; i < word_index_head(book)->suppliers; i++) {
		struct snapshot *snap = snapshot_of(book, i);

		run_must(
		    snapshot_rows(snap) == word_index_supplier(book, i)->rows);
		for (uint32_t k = 0; k < snapshot_rows(snap); k++)
			fill(&plain[at++], snap, (struct word_index_row){i, k});
	}
	run_must(at == rows);
	qsort(plain, rows, sizeof(*plain), compare);
	for (uint32_t i = 0; i < rows; i++) {
		struct word_index_row row;

		run_must(word_index_row(&row, book, i));
		run_must(memcmp(&plain[i].row, &row, sizeof(row)) == 0);
	}
	free(plain);
}

struct word_index *
book_open(void)
{
	struct word_index *book;

	ck_assert_int_eq(word_index_open(&book, facts), ERR_OK);
	ck_assert_int_eq(word_index_verify(book), ERR_OK);
	must_be_in_order(book);
	return book;
}

unsigned
book_find(const struct word_index *book, struct span question)
{
	uint32_t rows = word_index_head(book)->rows;
	size_t words_of_set = word_index_set(rows);
	uint64_t *set = malloc((words_of_set + 1) * sizeof(*set));
	struct words words;
	unsigned found = 0;
	uint32_t count;

	/* Fill the set: its old contents must not show. */
	memset(set, 0xa5, words_of_set * sizeof(*set));
	words_split(&words, question);
	ck_assert_int_eq(word_index_find(set, &count, book, &words), ERR_OK);
	for (uint32_t rank = 0; rank < rows; rank++) {
		struct span text = book_text(book, rank);
		bool has = (set[rank / 64] >> rank % 64 & 1) != 0;

		if (has != words_in(text, text.ptr + text.len, &words))
			ck_abort_msg("'%.*s' and '%.*s'", SPAN_ARG(question),
			    SPAN_ARG(text));
		found += has;
	}
	for (size_t i = rows; i < words_of_set * 64; i++)
		run_must((set[i / 64] >> i % 64 & 1) == 0);
	free(set);
	ck_assert_uint_eq(count, found);
	return found;
}
