#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/sorter.h"
#include "tests/support/limit.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define COUNT 20000

static struct sorter_budget budget;
static struct sorter *sorter;

static void
make(size_t limit)
{
	budget.limit = limit;
	atomic_store(&budget.used, 0);
	ck_assert_int_eq(sorter_new(&sorter, scratch_dir(), &budget), ERR_OK);
}

static void
drop(void)
{
	sorter_free(sorter);
	sorter = NULL;
	ck_assert_uint_eq(atomic_load(&budget.used), 0);
}

/* A key and the number of its arrival, as what was put in. */
struct pair {
	char key[24];
	unsigned number;
};

static int
by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = span_cmp(span_of(x->key), span_of(y->key));

	return order != 0 ? order : x->number < y->number ? -1 : 1;
}

static void
expect_one(const struct pair *pair, struct span key, struct span value)
{
	unsigned number;

	ck_assert(span_eq(key, span_of(pair->key)));
	ck_assert_uint_ge(value.len, sizeof(number));
	memcpy(&number, value.ptr, sizeof(number));
	ck_assert_uint_eq(number, pair->number);
	ck_assert_uint_eq(value.len, sizeof(number) + number % 300);
}

static void
expect(const struct pair *pairs)
{
	struct span key, value;

	for (unsigned i = 0; i < COUNT; i++) {
		ck_assert(sorter_next(sorter, &key, &value));
		expect_one(&pairs[i], key, value);
	}
	ck_assert(!sorter_next(sorter, &key, &value));
}

/* The first that is not below a key. */
static unsigned
place_of(const struct pair *pairs, const char *from)
{
	unsigned at = 0;

	while (
	    at < COUNT && span_cmp(span_of(pairs[at].key), span_of(from)) < 0)
		at++;
	return at;
}

/* Several at once, each from a key on that is there, or not. */
#define WALKS 5
static void
expect_walks(const struct pair *pairs, const char *begin)
{
	char froms[WALKS][32] = {"", "", "", "\x7f", ""};
	struct sorter_walk *walks[WALKS];
	struct span key, value;
	unsigned at[WALKS];

	snprintf(froms[1], sizeof(froms[1]), "%s", pairs[COUNT / 3].key);
	snprintf(froms[2], sizeof(froms[2]), "%s!", pairs[COUNT / 2].key);
	snprintf(froms[4], sizeof(froms[4]), "%s", begin);
	for (unsigned i = 0; i < WALKS; i++) {
		ck_assert_int_eq(
		    sorter_walk_begin(&walks[i], sorter, span_of(froms[i])),
		    ERR_OK);
		at[i] = place_of(pairs, froms[i]);
	}
	for (unsigned k = 0; k < COUNT; k++)
		for (unsigned i = 0; i < WALKS; i++)
			if (at[i] < COUNT) {
				ck_assert(
				    sorter_walk_next(walks[i], &key, &value));
				expect_one(&pairs[at[i]++], key, value);
			}
	for (unsigned i = 0; i < WALKS; i++) {
		ck_assert(!sorter_walk_next(walks[i], &key, &value));
		sorter_walk_end(walks[i]);
	}
}

/* Memory for all, for some, and for next to nothing; keys of one length and of several. */
static const struct {
	size_t limit;
	const char *begin;
	int width;
	unsigned keys;
} rows[] = {
    {64u << 20, "", 1, COUNT},
    {64u << 20, "", 8, 500},
    {1u << 20, "", 1, COUNT},
    {1u << 20, "", 8, 500},
    {1u << 20, "supplier/", 1, 100},
    {1u << 20, "", 5, 10 * COUNT},
    {4096, "", 1, 1000},
    {1, "", 4, 300},
    {1u << 20, "the same", 1, 1},
};

START_TEST(records_come_in_order_and_equal_keys_as_they_came)
{
	struct pair *pairs = calloc(COUNT, sizeof(*pairs));
	char value[400] = "";

	make(rows[_i].limit);
	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(pairs[i].key, sizeof(pairs[i].key), "%s%0*u",
		    rows[_i].begin, rows[_i].width,
		    (unsigned)(random_bits() % rows[_i].keys));
		pairs[i].number = i;
		memcpy(value, &i, sizeof(i));
		ck_assert_int_eq(sorter_add(sorter, span_of(pairs[i].key),
				     span_make(value, sizeof(i) + i % 300)),
		    ERR_OK);
		/* A run is written when more is used, and what a sort takes. */
		ck_assert_uint_le(atomic_load(&budget.used),
		    rows[_i].limit + rows[_i].limit / 32 + 16384);
	}
	ck_assert_uint_eq(sorter_count(sorter), COUNT);
	ck_assert_int_eq(sorter_seal(sorter), ERR_OK);
	qsort(pairs, COUNT, sizeof(*pairs), by_key);
	expect(pairs);
	sorter_rewind(sorter);
	expect(pairs);
	expect_walks(pairs, rows[_i].begin);
	free(pairs);
	drop();
}
END_TEST

START_TEST(an_empty_sorter_has_nothing)
{
	struct sorter_walk *walk;
	struct span key, value;

	make(1);
	ck_assert_int_eq(sorter_seal(sorter), ERR_OK);
	ck_assert(!sorter_next(sorter, &key, &value));
	ck_assert_int_eq(sorter_walk_begin(&walk, sorter, SPAN("a")), ERR_OK);
	ck_assert(!sorter_walk_next(walk, &key, &value));
	sorter_walk_end(walk);
	sorter_walk_end(NULL);
	drop();
	sorter_free(NULL);
}
END_TEST

START_TEST(a_large_record_has_its_place)
{
	size_t len = 3u << 20;
	char *large = calloc(1, len);
	struct span key, value;

	make(1u << 20);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    sorter_add(sorter, SPAN("b"), span_make(large, len)),
		    ERR_OK);
		ck_assert_int_eq(
		    sorter_add(sorter, SPAN("a"), SPAN("")), ERR_OK);
	}
	ck_assert_int_eq(sorter_seal(sorter), ERR_OK);
	for (unsigned i = 0; i < 6; i++) {
		ck_assert(sorter_next(sorter, &key, &value));
		ck_assert_uint_eq(value.len, i < 3 ? 0 : len);
	}
	free(large);
	drop();
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	enum err err = ERR_OK;

	make(65536);
	quiet_begin();
	limit_files(1 << 20);
	for (unsigned i = 0; i < 100000 && err == ERR_OK; i++)
		err = sorter_add(sorter, span_make(&i, sizeof(i)),
		    SPAN("some bytes of a record"));
	limit_end();
	ck_assert_int_eq(quiet_lines(), 1);
	quiet_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	drop();
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("sorter");
	TCase *tc = tcase_create("sorter");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_loop_test(tc,
	    records_come_in_order_and_equal_keys_as_they_came, 0,
	    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, an_empty_sorter_has_nothing);
	tcase_add_test(tc, a_large_record_has_its_place);
	tcase_add_test(tc, a_full_disk_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
