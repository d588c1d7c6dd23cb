/* tests/lmdb-schema/snapshot/test_grams.c: lmdb-schema/snapshot/grams.h; that
 * searches find by
 * them what a scan finds is tests/fcgi/rows/test_match.c's. */
#include "lmdb-schema/snapshot/grams.h"

#include <stdlib.h>

#include "common/buf.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define MANY (GRAMS_CHUNK + 1000)

static struct grams_made made;
static struct grams grams;
static struct buf text;
static uint32_t *at;

static void
make_rows(uint32_t rows)
{
	at = calloc(rows + 1u, sizeof(*at));
	ck_assert_ptr_nonnull(at);
	for (uint32_t row = 0; row < rows; row++) {
		at[row] = (uint32_t)text.len;
		buf_addf(&text, "lait n%u", row);
		buf_add_char(&text, SNAP_TEXT_END);
		if (row % 1000 == 7)
			buf_add_text(&text, "xyz");
	}
	at[rows] = (uint32_t)text.len;
	ck_assert_int_eq(grams_make(&made, buf_span(&text), at, rows), ERR_OK);
	grams = (struct grams){made.at, made.lists, made.count, rows, NULL};
}

static void
make(void)
{
	buf_init(&text, 1u << 30);
}

static void
drop(void)
{
	grams_made_fini(&made);
	buf_fini(&text);
	free(at);
	at = NULL;
}

static uint32_t
find(const char *words, uint32_t *rows)
{
	struct grams_asked asked;
	uint32_t most, count;

	ck_assert(grams_ask(&asked, span_of(words)));
	ck_assert_int_eq(grams_most(&most, &grams, &asked), ERR_OK);
	ck_assert_int_eq(grams_find(rows, &count, &grams, &asked), ERR_OK);
	ck_assert_uint_le(count, most);
	return count;
}

START_TEST(rows_that_hold_a_word_are_found_in_every_chunk)
{
	uint32_t *rows = calloc(MANY, sizeof(*rows)), count, seen = 0;

	make_rows(MANY);
	ck_assert(grams_sound(&grams));
	count = find("xyz", rows);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(i == 0 || rows[i] > rows[i - 1]);
		seen += rows[i] % 1000 == 7;
	}
	ck_assert_uint_eq(seen, (MANY - 8) / 1000 + 1);
	ck_assert_uint_lt(count, 4000); /* others share its hash */
	ck_assert_uint_eq(find("lait", rows), MANY);
	free(rows);
}
END_TEST

START_TEST(no_gram_reaches_over_a_blank_or_an_end)
{
	struct grams_asked asked;
	uint32_t rows[1000];

	make_rows(1000);
	ck_assert(!grams_ask(&asked, SPAN("ab c de")));
	ck_assert(!grams_ask(&asked, SPAN("")));
	ck_assert(grams_ask(&asked, SPAN("ab cde")));
	ck_assert_uint_eq(asked.count, 1);
	ck_assert_uint_eq(find("lait xyz", rows), find("xyz", rows));
}
END_TEST

START_TEST(long_questions_are_cut)
{
	char words[200];
	struct grams_asked asked;

	for (unsigned i = 0; i < sizeof(words); i++)
		words[i] = (char)('a' + i % 26);
	ck_assert(grams_ask(&asked, span_make(words, sizeof(words))));
	ck_assert_uint_eq(asked.count, GRAMS_ASKED_MAX);
}
END_TEST

/* "lai" is in every row, "xyz" in each thousandth. */
START_TEST(grams_of_the_fewest_rows_are_left)
{
	struct grams_asked asked, rare;

	make_rows(MANY);
	ck_assert(grams_ask(&rare, SPAN("xyz")));
	ck_assert(grams_ask(&asked, SPAN("lait xyz")));
	ck_assert_uint_eq(asked.count, 3);
	grams_ask_fewest(&asked, &grams, 5);
	ck_assert_uint_eq(asked.count, 3);
	ck_assert_uint_eq(asked.hash[0], rare.hash[0]);
	grams_ask_fewest(&asked, &grams, 1);
	ck_assert_uint_eq(asked.count, 1);
	ck_assert_uint_eq(asked.hash[0], rare.hash[0]);
}
END_TEST

START_TEST(few_rows_have_none)
{
	ck_assert_uint_eq(grams_chunks(GRAMS_ROWS_MIN - 1), 0);
	ck_assert_uint_eq(grams_chunks(GRAMS_ROWS_MIN), 1);
	ck_assert_uint_eq(grams_chunks(GRAMS_CHUNK), 1);
	ck_assert_uint_eq(grams_chunks(GRAMS_CHUNK + 1), 2);
	make_rows(GRAMS_ROWS_MIN - 1);
	ck_assert_ptr_null(made.at);
}
END_TEST

/* Impossible offsets are refused; none leads outside. */
START_TEST(broken_lists_are_damage)
{
	struct grams_asked asked;
	uint32_t rows[1000], most, lists = UINT32_C(1) << grams_bits(1000);
	uint32_t hash;

	make_rows(1000);
	ck_assert(grams_ask(&asked, SPAN("xyz")));
	hash = asked.hash[0] >> (32 - grams_bits(1000));
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t bad[] = {UINT32_MAX, 0, 100000};
		uint32_t old = made.at[hash + 1];

		made.at[hash + 1] = bad[i];
		ck_assert_int_eq(
		    grams_most(&most, &grams, &asked), ERR_DAMAGED);
		ck_assert_int_eq(
		    grams_find(rows, &most, &grams, &asked), ERR_DAMAGED);
		ck_assert(!grams_sound(&grams));
		made.at[hash + 1] = old;
	}
	ck_assert(grams_sound(&grams));
	for (int i = 0; i < 1000; i++) {
		uint32_t *place = &made.at[random_bits() % (lists + 1)];
		uint32_t old = *place;

		*place = (uint32_t)(random_bits() % (2 * made.count));
		if (grams_most(&most, &grams, &asked) == ERR_OK) {
			ck_assert_uint_le(most, 1000);
			grams_find(rows, &most, &grams, &asked);
		}
		*place = old;
	}
	made.lists[made.at[hash]] = 1000; /* a row that is not there */
	ck_assert(!grams_sound(&grams));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("grams");
	TCase *tc = tcase_create("grams");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, rows_that_hold_a_word_are_found_in_every_chunk);
	tcase_add_test(tc, no_gram_reaches_over_a_blank_or_an_end);
	tcase_add_test(tc, long_questions_are_cut);
	tcase_add_test(tc, grams_of_the_fewest_rows_are_left);
	tcase_add_test(tc, few_rows_have_none);
	tcase_add_test(tc, broken_lists_are_damage);
	suite_add_tcase(suite, tc);
	return suite;
}
