#include "common/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/support/run.h"

static struct arena *arena;

static void
open_arena(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
}

static void
close_arena(void)
{
	arena_free(arena);
}

static bool
is_zero(const char *at, size_t size)
{
	while (size > 0 && *at == 0) {
		at++;
		size--;
	}
	return size == 0;
}

START_TEST(freeing_none_is_fine)
{
	arena_free(NULL);
}
END_TEST

START_TEST(memory_is_zeroed_and_aligned)
{
	for (size_t size = 0; size < 400; size++) {
		char *at = arena_alloc(arena, size);

		ck_assert_ptr_nonnull(at);
		ck_assert_uint_eq((uintptr_t)at % alignof(max_align_t), 0);
		ck_assert(is_zero(at, size));
		memset(at, 0xff, size);
		arena_copy(arena, SPAN("x")); /* puts it off the alignment */
	}
}
END_TEST

START_TEST(memory_is_zeroed_after_a_reset_too)
{
	char *at = arena_alloc(arena, 1000);

	memset(at, 0xff, 1000);
	arena_reset(arena);
	at = arena_alloc(arena, 1000);
	ck_assert(is_zero(at, 1000));
}
END_TEST

/* Every piece keeps its own bytes, through many blocks. */
START_TEST(pieces_do_not_overlap)
{
	unsigned char *pieces[1000];

	for (unsigned i = 0; i < 1000; i++) {
		pieces[i] = arena_alloc(arena, i);
		ck_assert_ptr_nonnull(pieces[i]);
		memset(pieces[i], (int)(i % 251), i);
	}
	for (unsigned i = 1; i < 1000; i++) {
		ck_assert_uint_eq(pieces[i][0], i % 251);
		ck_assert_uint_eq(pieces[i][i - 1], i % 251);
	}
}
END_TEST

START_TEST(a_piece_may_be_larger_than_a_block)
{
	char *at = arena_alloc(arena, 900000);

	ck_assert_ptr_nonnull(at);
	ck_assert(is_zero(at, 900000));
	ck_assert_ptr_nonnull(arena_alloc(arena, 1000));
}
END_TEST

START_TEST(an_array_that_overflows_is_refused)
{
	ck_assert_ptr_null(arena_array(arena, SIZE_MAX / 2, 3));
	ck_assert_ptr_null(arena_array(arena, SIZE_MAX, SIZE_MAX));
	ck_assert_ptr_nonnull(arena_array(arena, 0, 8));
	ck_assert_ptr_nonnull(arena_array(arena, 8, 8));
}
END_TEST

START_TEST(a_copy_ends_with_nul)
{
	struct span copy = arena_copy(arena, span_make("abcdef", 3));

	ck_assert_str_eq(copy.ptr, "abc");
	ck_assert_uint_eq(copy.len, 3);
	copy = arena_copy(arena, span_make(NULL, 0));
	ck_assert_str_eq(copy.ptr, "");
	ck_assert_uint_eq(copy.len, 0);
}
END_TEST

START_TEST(what_is_used_is_counted)
{
	ck_assert_uint_eq(arena_used(arena), 0);
	arena_alloc(arena, 100);
	ck_assert_uint_eq(arena_used(arena), 100);
	arena_copy(arena, SPAN("abc"));
	ck_assert_uint_eq(arena_used(arena), 104);
	arena_alloc(arena, 1); /* from 112 on */
	ck_assert_uint_eq(arena_used(arena), 113);
	arena_reset(arena);
	ck_assert_uint_eq(arena_used(arena), 0);
}
END_TEST

START_TEST(the_ceiling_can_be_reached_but_not_passed)
{
	struct arena *small = arena_new(100);

	ck_assert_ptr_null(arena_alloc(small, 101));
	ck_assert_ptr_null(arena_alloc(small, SIZE_MAX));
	ck_assert_ptr_nonnull(arena_alloc(small, 96));
	ck_assert_ptr_nonnull(arena_copy(small, SPAN("abc")).ptr);
	ck_assert_uint_eq(arena_used(small), 100);
	ck_assert_ptr_null(arena_copy(small, SPAN("")).ptr);
	ck_assert_ptr_null(arena_alloc(small, 0));
	ck_assert_ptr_null(arena_copy(small, span_make("", SIZE_MAX)).ptr);
	arena_reset(small);
	ck_assert_ptr_nonnull(arena_alloc(small, 100));
	arena_free(small);
}
END_TEST

START_TEST(the_ceiling_counts_across_blocks)
{
	size_t count = 0;

	while (arena_alloc(arena, 4096) != NULL)
		count++;
	ck_assert_uint_eq(count, (1 << 20) / 4096);
}
END_TEST

START_TEST(a_ceiling_that_no_machine_has_is_no_memory)
{
	struct arena *large = arena_new(SIZE_MAX);

	ck_assert_ptr_null(arena_alloc(large, SIZE_MAX / 2));
	ck_assert_ptr_null(arena_alloc(large, SIZE_MAX - 8));
	ck_assert_ptr_nonnull(arena_alloc(large, 8));
	arena_free(large);
}
END_TEST

START_TEST(the_first_block_is_kept_for_the_next_round)
{
	char *first = arena_alloc(arena, 16);

	arena_alloc(arena, 500000);
	arena_reset(arena);
	ck_assert_ptr_eq(arena_alloc(arena, 16), first);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("arena");
	TCase *tc = tcase_create("arena");

	tcase_add_checked_fixture(tc, open_arena, close_arena);
	tcase_add_test(tc, freeing_none_is_fine);
	tcase_add_test(tc, memory_is_zeroed_and_aligned);
	tcase_add_test(tc, memory_is_zeroed_after_a_reset_too);
	tcase_add_test(tc, pieces_do_not_overlap);
	tcase_add_test(tc, a_piece_may_be_larger_than_a_block);
	tcase_add_test(tc, an_array_that_overflows_is_refused);
	tcase_add_test(tc, a_copy_ends_with_nul);
	tcase_add_test(tc, what_is_used_is_counted);
	tcase_add_test(tc, the_ceiling_can_be_reached_but_not_passed);
	tcase_add_test(tc, the_ceiling_counts_across_blocks);
	tcase_add_test(tc, a_ceiling_that_no_machine_has_is_no_memory);
	tcase_add_test(tc, the_first_block_is_kept_for_the_next_round);
	suite_add_tcase(suite, tc);
	return suite;
}
