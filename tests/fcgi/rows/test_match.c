/*
 * tests/fcgi/rows/test_match.c: fcgi/rows/match.h. Snapshots of made-up text
 * are asked
 * thousands of questions; what a plain scan finds is what must come out, with
 * grams and without.
 */
#include "fcgi/rows/match.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/fold.h"
#include "lmdb-schema/snapshot/snapwrite.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define ROWS 3000
#define MANY (GRAMS_CHUNK + 5000) /* two chunks of grams */
#define QUESTIONS 2000

static struct snapshot *snap;
static struct buf text;
static uint32_t *at, rows;
static uint64_t generation;

/* --- made-up rows --------------------------------------------------------- */

static const char *const words[] = {"Crème", "brûlée", "œuf", "Lait", "entier",
    "demi-écrémé", "1,5 L", "pâté", "Maïs", "ÉTÉ", "straße", "a", "12", "100",
    "½", "l'eau", "牛乳", "soft\u00ad", "naïve", "yaourt"};
#define WORDS (sizeof(words) / sizeof(words[0]))

static unsigned
pick(unsigned below)
{
	return (unsigned)(random_bits() % below);
}

static void
add_columns(uint32_t row)
{
	char cells[4][160];

	snprintf(cells[0], sizeof(cells[0]), "%08u", row * 7);
	snprintf(cells[1], sizeof(cells[1]), "%s %s %s", words[pick(WORDS)],
	    words[pick(WORDS)], words[pick(WORDS)]);
	snprintf(cells[2], sizeof(cells[2]), "3%012llu",
	    (unsigned long long)(random_bits() % 1000000000000));
	snprintf(cells[3], sizeof(cells[3]), "%s-%u",
	    pick(3) == 0 ? "RÉF" : "X", pick(1000));
	for (unsigned i = 0; i < 4; i++) {
		if (pick(10) > 0)
			fold_add(&text, span_of(cells[i]));
		buf_add_char(&text, SNAP_TEXT_END);
	}
}

static void
put_grams(struct snapwrite *write, bool broken)
{
	struct grams_made made;

	ck_assert_int_eq(grams_make(&made, buf_span(&text), at, rows), ERR_OK);
	/* A row that is not there, in every list. */
	for (size_t i = 0; broken && i < made.count; i++)
		made.lists[i] = UINT16_MAX;
	snapwrite_put(write, SNAP_GRAM_AT, made.at,
	    grams_at_count(rows) * sizeof(*made.at));
	snapwrite_put(
	    write, SNAP_GRAMS, made.lists, made.count * sizeof(*made.lists));
	grams_made_fini(&made);
}

static void
write_snapshot(bool with_grams, bool broken)
{
	struct snap_head head = {
	    .rows = rows, .slice_rows = 1u << 20, .generation = ++generation};
	uint8_t *gammes = calloc(rows, 1);
	uint32_t *codes = calloc(rows, sizeof(*codes));
	struct snapwrite *write;
	uint64_t bytes;

	for (uint32_t i = 0; i < rows; i++) {
		gammes[i] = (uint8_t)(i % 6);
		codes[i] = i % 7 * 10000;
	}
	ck_assert_int_eq(
	    snapwrite_begin(&write, facts, SPAN("S"), SPAN(""), &head), ERR_OK);
	snapwrite_put(write, SNAP_GAMME, gammes, rows);
	snapwrite_put(write, SNAP_CODE3, codes, rows * sizeof(*codes));
	snapwrite_put(write, SNAP_TEXT, text.data, text.len);
	snapwrite_put(
	    write, SNAP_TEXT_AT, at, (rows + (size_t)1) * sizeof(*at));
	if (with_grams)
		put_grams(write, broken);
	ck_assert_int_eq(snapwrite_end(write, &bytes), ERR_OK);
	free(gammes);
	free(codes);
	snapshot_close(snap);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("S"), generation), ERR_OK);
}

static void
make_text(uint32_t count)
{
	rows = count;
	buf_init(&text, 1u << 30);
	at = calloc(rows + 1u, sizeof(*at));
	ck_assert_ptr_nonnull(at);
	for (uint32_t row = 0; row < rows; row++) {
		at[row] = (uint32_t)text.len;
		add_columns(row);
	}
	at[rows] = (uint32_t)text.len;
	ck_assert_int_eq(buf_end(&text), ERR_OK);
}

static void
make(void)
{
	facts_make();
	snap = NULL;
	generation = 1;
}

static void
drop(void)
{
	snapshot_close(snap);
	buf_fini(&text);
	free(at);
	facts_remove();
}

/* --- questions ------------------------------------------------------------ */

static bool
row_holds(uint32_t row, struct span asked)
{
	struct span word;

	while (span_cut(&word, &asked, ' '))
		if (memmem(text.data + at[row], at[row + 1] - at[row], word.ptr,
			word.len) == NULL)
			return false;
	return true;
}

static void
check(struct span asked, const struct rowset_query *filter)
{
	struct rowset_query query = *filter;
	struct matches found;
	uint32_t place = 0;

	query.words = asked;
	ck_assert_int_eq(match_words(&found, snap, NULL, &query), ERR_OK);
	for (uint32_t row = 0; row < rows; row++) {
		if ((query.gamme != ROW_GAMME_NONE && row % 6 != query.gamme) ||
		    (query.code_count > 0 && row % 7 != query.codes[0].code) ||
		    !row_holds(row, asked))
			continue;
		ck_assert_msg(place < found.count && found.rows[place] == row,
		    "\"%.*s\": row %u", SPAN_ARG(asked), row);
		place++;
	}
	ck_assert_msg(place == found.count, "\"%.*s\": %u, not %u",
	    SPAN_ARG(asked), found.count, place);
	free(found.rows);
}

/* Part of a word that some row has, or a word that none may have. */
static void
add_part(struct buf *out)
{
	uint32_t row = pick(rows);
	uint32_t len = at[row + 1] - at[row], from, step;

	if (out->len > 0)
		buf_add_char(out, ' ');
	if (pick(5) == 0 || len < 8) {
		for (unsigned i = pick(6) + 1; i > 0; i--)
			buf_add_char(out, "abelrst0123"[pick(11)]);
		return;
	}
	from = at[row] + pick(len - 1);
	step = pick(3) == 0 ? 13 : pick(5) + 1;
	for (; step > 0 && from < at[row + 1]; step--, from++) {
		char byte = text.data[from];

		if (byte != ' ' && byte != SNAP_TEXT_END)
			buf_add_char(out, byte);
	}
	if (out->len == 0)
		buf_add_char(out, 'a');
}

static void
ask_many(unsigned count)
{
	static const struct code_filter codes[] = {{3, 10000}};
	struct rowset_query query = {.codes = codes, .sort = -1};
	struct buf asked;

	buf_init(&asked, 10000);
	for (unsigned i = 0; i < count; i++) {
		buf_clear(&asked);
		for (unsigned k = pick(3) + 1; k > 0; k--)
			add_part(&asked);
		query.gamme =
		    pick(4) == 0 ? (uint8_t)(pick(5) + 1) : ROW_GAMME_NONE;
		query.code_count = pick(4) == 0;
		check(buf_span(&asked), &query);
	}
	buf_fini(&asked);
}

START_TEST(grams_find_what_a_scan_finds)
{
	make_text(ROWS);
	write_snapshot(true, false);
	ask_many(QUESTIONS);
}
END_TEST

START_TEST(without_grams_the_scan_finds_the_same)
{
	make_text(ROWS);
	write_snapshot(false, false);
	ask_many(QUESTIONS / 4);
}
END_TEST

START_TEST(more_rows_than_a_chunk_are_searched_whole)
{
	make_text(MANY);
	write_snapshot(true, false);
	ask_many(QUESTIONS / 40);
}
END_TEST

static const uint32_t few[] = {
    1, 2, 15, 16, 17, GRAMS_ROWS_MIN - 1, GRAMS_ROWS_MIN};

START_TEST(few_rows_are_searched)
{
	make_text(few[_i]);
	write_snapshot(few[_i] >= GRAMS_ROWS_MIN, false);
	ask_many(300);
}
END_TEST

/* Wherever it stands, also over the ends of what is compared at once. */
START_TEST(word_is_found_at_every_place_and_length)
{
	struct rowset_query query = {.sort = -1};
	char line[128];

	rows = 1;
	buf_init(&text, 1000);
	at = calloc(2, sizeof(*at));
	memset(line, '-', sizeof(line));
	for (unsigned place = 0; place < 40; place++)
		line[place] = (char)('A' + place);
	buf_add(&text, line, 40);
	at[1] = 40;
	write_snapshot(false, false);
	for (unsigned from = 0; from < 40; from++)
		for (unsigned len = 1; from + len <= 40; len++) {
			check(span_make(line + from, len), &query);
			line[from + len] ^= 1;
			check(span_make(line + from, len + 1), &query);
			line[from + len] ^= 1;
		}
}
END_TEST

/* --- many at once --------------------------------------------------------- */

#define HAYS 40

/* Haystacks with few rows, with many, without grams; over and over. */
static void
make_hays(struct haystack *hays, struct snapshot **snaps, bool break_last)
{
	static const uint32_t sizes[] = {1, 90, 300, 5000, 20};

	for (unsigned i = 0; i < HAYS; i++) {
		bool last = i == HAYS - 1;

		make_text(last ? 300 : sizes[i % 5] + i);
		write_snapshot(
		    rows >= GRAMS_ROWS_MIN && i % 7 != 3, break_last && last);
		snaps[i] = snap;
		snap = NULL;
		ck_assert_int_eq(haystack_of(&hays[i], snaps[i]), ERR_OK);
		buf_fini(&text);
		free(at);
	}
	make_text(1); /* for drop(), and for add_part() */
}

static void
close_hays(struct snapshot **snaps)
{
	for (unsigned i = 0; i < HAYS; i++)
		snapshot_close(snaps[i]);
}

static void
check_each(struct haystack *hays, struct snapshot **snaps, struct span asked)
{
	struct rowset_query query = {.sort = -1, .words = asked};
	struct match_slice slices[HAYS];
	struct match_rows found;
	struct matches alone;
	unsigned blame;

	ck_assert_int_eq(
	    match_each(&found, slices, hays, HAYS, asked, &blame), ERR_OK);
	for (unsigned i = 0; i < HAYS; i++) {
		ck_assert_int_eq(
		    match_words(&alone, snaps[i], NULL, &query), ERR_OK);
		ck_assert_msg(slices[i].count == alone.count,
		    "\"%.*s\": %u, not %u", SPAN_ARG(asked), slices[i].count,
		    alone.count);
		ck_assert(alone.count == 0 ||
		    memcmp(found.rows + slices[i].first, alone.rows,
			alone.count * sizeof(*alone.rows)) == 0);
		free(alone.rows);
	}
	free(found.rows);
}

START_TEST(many_are_searched_as_each_alone)
{
	static const char *const some[] = {"yaourt", "lait", "creme brulee",
	    "12", "a", "300", "zzz", "e", "oeuf straße", "ref-1", "yaourt zzz",
	    "demi-ecreme", "3 lait 1"};
	struct haystack hays[HAYS];
	struct snapshot *snaps[HAYS];
	struct buf asked;

	make_hays(hays, snaps, false);
	for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		check_each(hays, snaps, span_of(some[i]));
	buf_init(&asked, 10000);
	for (unsigned i = 0; i < 200; i++) {
		buf_clear(&asked);
		for (unsigned k = pick(3) + 1; k > 0; k--)
			add_part(&asked);
		check_each(hays, snaps, buf_span(&asked));
	}
	buf_fini(&asked);
	close_hays(snaps);
}
END_TEST

START_TEST(the_damaged_one_of_many_is_named)
{
	struct haystack hays[HAYS];
	struct snapshot *snaps[HAYS];
	struct match_slice slices[HAYS];
	struct match_rows found;
	unsigned blame;

	make_hays(hays, snaps, true);
	quiet_begin();
	ck_assert_int_eq(
	    match_each(&found, slices, hays, HAYS, SPAN("3000"), &blame),
	    ERR_DAMAGED);
	ck_assert_uint_eq(blame, HAYS - 1);
	free(found.rows);
	close_hays(snaps);
}
END_TEST

START_TEST(lists_of_rows_that_are_not_there_are_damage)
{
	struct rowset_query query = {.sort = -1, .words = SPAN("yaourt")};
	struct matches found;

	make_text(ROWS);
	write_snapshot(true, true);
	quiet_begin();
	ck_assert_int_eq(match_words(&found, snap, NULL, &query), ERR_DAMAGED);
	ck_assert_ptr_null(found.rows);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("match");
	TCase *tc = tcase_create("match");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, grams_find_what_a_scan_finds);
	tcase_add_test(tc, without_grams_the_scan_finds_the_same);
	tcase_add_test(tc, more_rows_than_a_chunk_are_searched_whole);
	tcase_add_loop_test(
	    tc, few_rows_are_searched, 0, sizeof(few) / sizeof(few[0]));
	tcase_add_test(tc, word_is_found_at_every_place_and_length);
	tcase_add_test(tc, many_are_searched_as_each_alone);
	tcase_add_test(tc, the_damaged_one_of_many_is_named);
	tcase_add_test(tc, lists_of_rows_that_are_not_there_are_damage);
	suite_add_tcase(suite, tc);
	return suite;
}
