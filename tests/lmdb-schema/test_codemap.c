#include "lmdb-schema/codemap.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

static struct codemap *map;

static void
make(void)
{
	map = codemap_new();
	ck_assert_ptr_nonnull(map);
}

static void
drop(void)
{
	codemap_free(map);
}

static uint32_t
put(const char *code, enum err expected)
{
	uint32_t number = 99;

	ck_assert_int_eq(codemap_add(map, span_of(code), &number), expected);
	return number;
}

START_TEST(numbers_follow_the_order_of_arrival)
{
	ck_assert_uint_eq(put("b", ERR_OK), 0);
	ck_assert_uint_eq(put("a", ERR_OK), 1);
	ck_assert_uint_eq(put("", ERR_OK), 2);
	ck_assert_uint_eq(codemap_count(map), 3);
	ck_assert(span_eq(codemap_code(map, 1), SPAN("a")));
}
END_TEST

START_TEST(a_code_that_comes_again_keeps_its_number)
{
	put("x", ERR_OK);
	put("y", ERR_OK);
	ck_assert_uint_eq(put("x", ERR_EXISTS), 0);
	ck_assert_uint_eq(codemap_count(map), 2);
}
END_TEST

START_TEST(what_is_not_there_is_none)
{
	ck_assert_uint_eq(codemap_find(map, SPAN("x")), CODEMAP_NONE);
	put("x", ERR_OK);
	ck_assert_uint_eq(codemap_find(map, SPAN("xx")), CODEMAP_NONE);
	ck_assert_uint_eq(codemap_find(map, SPAN("")), CODEMAP_NONE);
}
END_TEST

START_TEST(it_keeps_its_own_copy)
{
	char code[] = "abc";

	put(code, ERR_OK);
	code[0] = 'z';
	ck_assert_uint_eq(codemap_find(map, SPAN("abc")), 0);
	ck_assert_uint_eq(codemap_find(map, SPAN("zbc")), CODEMAP_NONE);
}
END_TEST

START_TEST(codes_with_nul_and_of_all_lengths_differ)
{
	char zeros[40] = {0};
	uint32_t number;

	for (uint32_t len = 0; len < 40; len++) {
		ck_assert_int_eq(
		    codemap_add(map, span_make(zeros, len), &number), ERR_OK);
		ck_assert_uint_eq(number, len);
	}
}
END_TEST

START_TEST(a_hundred_thousand_codes_are_all_found)
{
	char text[32];
	uint32_t number;

	for (uint32_t i = 0; i < 100000; i++) {
		int len = snprintf(text, sizeof(text), "%u", i * 7919u);

		run_must(codemap_add(map, span_make(text, (size_t)len),
			     &number) == ERR_OK);
		run_must(number == i);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		int len = snprintf(text, sizeof(text), "%u", i * 7919u);

		run_must(codemap_find(map, span_make(text, (size_t)len)) == i);
	}
	ck_assert_uint_eq(codemap_find(map, SPAN("no")), CODEMAP_NONE);
}
END_TEST

static void
must_be_sorted(void)
{
	uint32_t *order = codemap_sorted(map);
	uint32_t count = codemap_count(map);
	char *seen = calloc(count + 1, 1);

	ck_assert_ptr_nonnull(order);
	for (uint32_t i = 0; i < count; i++) {
		run_must(order[i] < count && !seen[order[i]]);
		seen[order[i]] = 1;
		run_must(i == 0 ||
		    span_cmp(codemap_code(map, order[i - 1]),
			codemap_code(map, order[i])) < 0);
	}
	free(seen);
	free(order);
}

START_TEST(the_sorted_numbers_are_sorted)
{
	uint32_t number;

	must_be_sorted(); /* none */
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t noise = random_bits();

		codemap_add(map, span_make(&noise, 1 + i % 8), &number);
	}
	must_be_sorted();
}
END_TEST

START_TEST(what_came_sorted_stays_as_it_is)
{
	char text[16];
	uint32_t *order;

	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%04u", i);
		put(text, ERR_OK);
	}
	order = codemap_sorted(map);
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_eq(order[i], i);
	free(order);
}
END_TEST

START_TEST(freeing_none_is_fine)
{
	codemap_free(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("codemap");
	TCase *tc = tcase_create("codemap");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, numbers_follow_the_order_of_arrival);
	tcase_add_test(tc, a_code_that_comes_again_keeps_its_number);
	tcase_add_test(tc, what_is_not_there_is_none);
	tcase_add_test(tc, it_keeps_its_own_copy);
	tcase_add_test(tc, codes_with_nul_and_of_all_lengths_differ);
	tcase_add_test(tc, a_hundred_thousand_codes_are_all_found);
	tcase_add_test(tc, the_sorted_numbers_are_sorted);
	tcase_add_test(tc, what_came_sorted_stays_as_it_is);
	tcase_add_test(tc, freeing_none_is_fine);
	suite_add_tcase(suite, tc);
	return suite;
}
