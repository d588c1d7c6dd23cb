#include "common/span.h"

#include <stdlib.h>

#include "common/count.h"
#include "tests/support/run.h"

#define NONE span_make(NULL, 0)

static void
same(struct span got, struct span expected)
{
	ck_assert_msg(span_eq(got, expected), "\"%.*s\" is not \"%.*s\"",
	    SPAN_ARG(got), SPAN_ARG(expected));
}

static int
sign(int value)
{
	return (value > 0) - (value < 0);
}

static const struct {
	struct span a;
	struct span b;
	int order;
	bool same_nocase;
	bool starts; /* a with b */
	bool ends;
} pairs[] = {
    {{"", 0}, {"", 0}, 0, true, true, true},
    {{NULL, 0}, {"", 0}, 0, true, true, true},
    {{NULL, 0}, {NULL, 0}, 0, true, true, true},
    {{"a", 1}, {NULL, 0}, 1, false, true, true},
    {{NULL, 0}, {"a", 1}, -1, false, false, false},
    {{"ab", 2}, {"ab", 2}, 0, true, true, true},
    {{"ab", 2}, {"a", 1}, 1, false, true, false},
    {{"ab", 2}, {"b", 1}, -1, false, false, true},
    {{"ab", 2}, {"AB", 2}, 1, true, false, false},
    {{"\xff", 1}, {"a", 1}, 1, false, false, false},
    {{"a\0b", 3}, {"a\0c", 3}, -1, false, false, false},
    {{"a\0b", 3}, {"A\0B", 3}, 1, true, false, false},
    {{"@", 1}, {"`", 1}, -1, false, false, false},
    {{"[", 1}, {"{", 1}, -1, false, false, false},
    {{"Content-Type", 12}, {"content-tYPE", 12}, -1, true, false, false},
};

START_TEST(pairs_compare)
{
	struct span a = pairs[_i].a;
	struct span b = pairs[_i].b;

	ck_assert_int_eq(sign(span_cmp(a, b)), pairs[_i].order);
	ck_assert_int_eq(sign(span_cmp(b, a)), -pairs[_i].order);
	ck_assert_int_eq(span_eq(a, b), pairs[_i].order == 0);
	ck_assert_int_eq(span_eq_nocase(a, b), pairs[_i].same_nocase);
	ck_assert_int_eq(span_eq_nocase(b, a), pairs[_i].same_nocase);
	ck_assert_int_eq(span_starts(a, b), pairs[_i].starts);
	ck_assert_int_eq(span_ends(a, b), pairs[_i].ends);
}
END_TEST

START_TEST(a_span_of_no_text_is_empty)
{
	ck_assert_uint_eq(span_of(NULL).len, 0);
	ck_assert_ptr_null(span_of(NULL).ptr);
	ck_assert_uint_eq(span_of("abc").len, 3);
	ck_assert_uint_eq(SPAN("a\0b").len, 3);
}
END_TEST

START_TEST(a_byte_is_found_or_the_length_is_given)
{
	ck_assert_uint_eq(span_find(SPAN("a,b,c"), ','), 1);
	ck_assert_uint_eq(span_find(SPAN("abc"), ','), 3);
	ck_assert_uint_eq(span_find(SPAN("ab\0c"), '\0'), 2);
	ck_assert_uint_eq(span_find(SPAN("a\xff"), '\xff'), 1);
	ck_assert_uint_eq(span_find(NONE, ','), 0);
}
END_TEST

static const struct {
	const char *text;
	size_t start;
	size_t len;
	const char *from;
	const char *sub;
} parts[] = {
    {"abcdef", 0, 2, "abcdef", "ab"},
    {"abcdef", 2, 2, "cdef", "cd"},
    {"abcdef", 4, 9, "ef", "ef"},
    {"abcdef", 6, 1, "", ""},
    {"abcdef", 7, 1, "", ""},
    {"abcdef", SIZE_MAX, SIZE_MAX, "", ""},
    {"abcdef", 1, SIZE_MAX, "bcdef", "bcdef"},
    {"abcdef", 1, 0, "bcdef", ""},
    {"", 0, 3, "", ""},
    {"", 3, 3, "", ""},
    {NULL, 3, 3, "", ""},
};

START_TEST(parts_are_cut_to_what_there_is)
{
	struct span text = span_of(parts[_i].text);

	same(span_from(text, parts[_i].start), span_of(parts[_i].from));
	same(span_sub(text, parts[_i].start, parts[_i].len),
	    span_of(parts[_i].sub));
}
END_TEST

static const struct {
	const char *text;
	const char *trimmed;
} blanks[] = {
    {"abc", "abc"},
    {"  abc", "abc"},
    {"abc\t ", "abc"},
    {"\t a b\tc \t", "a b\tc"},
    {"\nabc\n", "\nabc\n"},
    {" \t ", ""},
    {"", ""},
    {NULL, ""},
};

START_TEST(blanks_are_trimmed_at_both_ends)
{
	same(span_trim(span_of(blanks[_i].text)), span_of(blanks[_i].trimmed));
}
END_TEST

static const struct {
	const char *text;
	size_t count;
	const char *pieces[4];
} lists[] = {
    {"a,b,c", 3, {"a", "b", "c"}},
    {"a,,b", 3, {"a", "", "b"}},
    {",", 2, {"", ""}},
    {"a,", 2, {"a", ""}},
    {",a", 2, {"", "a"}},
    {"abc", 1, {"abc"}},
    {"", 1, {""}},
    {NULL, 0, {NULL}},
};

START_TEST(a_list_is_cut_into_its_pieces)
{
	struct span rest = span_of(lists[_i].text);
	struct span piece;
	size_t count = 0;

	while (span_cut(&piece, &rest, ',')) {
		ck_assert_uint_lt(count, lists[_i].count);
		same(piece, span_of(lists[_i].pieces[count]));
		count++;
	}
	ck_assert_uint_eq(count, lists[_i].count);
	ck_assert_ptr_null(rest.ptr);
}
END_TEST

START_TEST(a_duplicate_ends_with_nul)
{
	char *copy = span_dup(span_make("abcdef", 3));

	ck_assert_str_eq(copy, "abc");
	free(copy);
	copy = span_dup(NONE);
	ck_assert_str_eq(copy, "");
	free(copy);
	ck_assert_ptr_null(span_dup(span_make("", SIZE_MAX)));
}
END_TEST

START_TEST(a_copy_fits_whole_or_not_at_all)
{
	char to[4] = "???";

	ck_assert(span_copy(to, sizeof(to), SPAN("abc")));
	ck_assert_str_eq(to, "abc");
	ck_assert(!span_copy(to, sizeof(to), SPAN("abcd")));
	ck_assert_str_eq(to, "");
	ck_assert(span_copy(to, sizeof(to), NONE));
	ck_assert_str_eq(to, "");
	ck_assert(span_copy(to, 1, SPAN("")));
	ck_assert(!span_copy(to, 1, SPAN("a")));
}
END_TEST

START_TEST(a_copy_with_nul_inside_is_refused)
{
	char to[8] = "???";

	ck_assert(!span_copy(to, sizeof(to), SPAN("a\0b")));
	ck_assert_str_eq(to, "");
	ck_assert(!span_copy(to, sizeof(to), SPAN("\0")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("span");
	TCase *tc = tcase_create("span");

	tcase_add_loop_test(tc, pairs_compare, 0, COUNT(pairs));
	tcase_add_test(tc, a_span_of_no_text_is_empty);
	tcase_add_test(tc, a_byte_is_found_or_the_length_is_given);
	tcase_add_loop_test(
	    tc, parts_are_cut_to_what_there_is, 0, COUNT(parts));
	tcase_add_loop_test(
	    tc, blanks_are_trimmed_at_both_ends, 0, COUNT(blanks));
	tcase_add_loop_test(tc, a_list_is_cut_into_its_pieces, 0, COUNT(lists));
	tcase_add_test(tc, a_duplicate_ends_with_nul);
	tcase_add_test(tc, a_copy_fits_whole_or_not_at_all);
	tcase_add_test(tc, a_copy_with_nul_inside_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
