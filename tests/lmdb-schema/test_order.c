#include "lmdb-schema/order.h"

#include <stdlib.h>

#include "common/num.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define MOST 5000

static uint32_t asc[MOST], desc[MOST], plain[MOST];
static int64_t numbers[MOST];
static struct span texts[MOST];
static int way;

/* Without a value last in both ways, ties by the given order. */
static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	bool xnull = numbers[x] == NUM_NULL, ynull = numbers[y] == NUM_NULL;

	if (xnull != ynull)
		return xnull ? 1 : -1;
	if (numbers[x] != numbers[y])
		return numbers[x] < numbers[y] ? -way : way;
	return x < y ? -1 : 1;
}

static int
compare_texts(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	bool xnull = texts[x].ptr == NULL, ynull = texts[y].ptr == NULL;
	int order;

	if (xnull != ynull)
		return xnull ? 1 : -1;
	order = xnull ? 0 : span_cmp(texts[x], texts[y]);
	if (order != 0)
		return order < 0 ? -way : way;
	return x < y ? -1 : 1;
}

static void
must_be_sorted(uint32_t count, int (*compare)(const void *a, const void *b))
{
	for (way = 1; way >= -1; way -= 2) {
		const uint32_t *made = way > 0 ? asc : desc;

		for (uint32_t i = 0; i < count; i++)
			plain[i] = i;
		qsort(plain, count, sizeof(*plain), compare);
		for (uint32_t i = 0; i < count; i++)
			run_must(made[i] == plain[i]);
	}
}

static const uint32_t counts[] = {0, 1, 2, 3, 24, 25, 100, MOST};

START_TEST(numbers_sort_as_qsort_sorts_them)
{
	uint32_t count = counts[_i];

	/* Few values make many ties; many bits use every byte. */
	for (unsigned bits = 1; bits <= 64; bits += 9) {
		for (uint32_t i = 0; i < count; i++) {
			numbers[i] = (int64_t)(random_bits() >> (64 - bits));
			if (random_bits() % 2 == 0)
				numbers[i] = (int64_t) - (uint64_t)numbers[i];
			if (random_bits() % 8 == 0)
				numbers[i] = NUM_NULL;
		}
		ck_assert_int_eq(
		    order_numbers(asc, desc, numbers, count), ERR_OK);
		must_be_sorted(count, compare_numbers);
	}
}
END_TEST

START_TEST(the_largest_and_smallest_numbers_sort)
{
	static const int64_t edges[] = {
	    INT64_MAX, 0, -INT64_MAX, NUM_NULL, 1, -1, 256, -256, INT64_MAX};

	memcpy(numbers, edges, sizeof(edges));
	ck_assert_int_eq(order_numbers(asc, desc, numbers, 9), ERR_OK);
	must_be_sorted(9, compare_numbers);
}
END_TEST

START_TEST(nothing_but_nulls_keeps_its_order)
{
	for (uint32_t i = 0; i < 50; i++) {
		numbers[i] = NUM_NULL;
		texts[i] = (struct span){NULL, 0};
	}
	ck_assert_int_eq(order_numbers(asc, desc, numbers, 50), ERR_OK);
	must_be_sorted(50, compare_numbers);
	ck_assert_int_eq(order_texts(asc, desc, texts, 50), ERR_OK);
	must_be_sorted(50, compare_texts);
}
END_TEST

/* Texts that agree for `same` bytes, and differ in a few letters after. */
static void
draw_texts(char *room, uint32_t count, unsigned same)
{
	for (uint32_t i = 0; i < count; i++) {
		char *text = room + (size_t)i * 64;
		size_t len = same + random_bits() % 12;

		memset(text, 'x', same);
		for (size_t k = same; k < len; k++)
			text[k] = (char)(random_bits() % 3 == 0
				? 0xc3
				: 'a' + random_bits() % 2);
		texts[i] = span_make(text, len);
		if (random_bits() % 9 == 0)
			texts[i] = (struct span){NULL, 0};
	}
}

START_TEST(texts_sort_as_qsort_sorts_them)
{
	static const unsigned same[] = {0, 1, 7, 8, 9, 16, 40};
	char *room = malloc((size_t)MOST * 64);

	for (unsigned i = 0; i < 7; i++) {
		draw_texts(room, counts[_i], same[i]);
		ck_assert_int_eq(
		    order_texts(asc, desc, texts, counts[_i]), ERR_OK);
		must_be_sorted(counts[_i], compare_texts);
	}
	free(room);
}
END_TEST

START_TEST(an_empty_text_is_a_value_and_comes_first)
{
	texts[0] = SPAN("a");
	texts[1] = (struct span){NULL, 0};
	texts[2] = SPAN("");
	ck_assert_int_eq(order_texts(asc, desc, texts, 3), ERR_OK);
	must_be_sorted(3, compare_texts);
	ck_assert_uint_eq(asc[0], 2);
	ck_assert_uint_eq(asc[2], 1);
}
END_TEST

START_TEST(long_texts_that_are_all_the_same_are_no_burden)
{
	char *room = malloc(4096);

	memset(room, 'a', 4096);
	for (uint32_t i = 0; i < MOST; i++)
		texts[i] = span_make(room, 4096);
	ck_assert_int_eq(order_texts(asc, desc, texts, MOST), ERR_OK);
	must_be_sorted(MOST, compare_texts);
	free(room);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("order");
	TCase *tc = tcase_create("order");
	int sizes = sizeof(counts) / sizeof(counts[0]);

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, numbers_sort_as_qsort_sorts_them, 0, sizes);
	tcase_add_test(tc, the_largest_and_smallest_numbers_sort);
	tcase_add_test(tc, nothing_but_nulls_keeps_its_order);
	tcase_add_loop_test(tc, texts_sort_as_qsort_sorts_them, 0, sizes);
	tcase_add_test(tc, an_empty_text_is_a_value_and_comes_first);
	tcase_add_test(tc, long_texts_that_are_all_the_same_are_no_burden);
	suite_add_tcase(suite, tc);
	return suite;
}
