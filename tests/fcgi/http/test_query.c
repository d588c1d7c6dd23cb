/* tests/fcgi/http/test_query.c: fcgi/http/query.h */
#include "fcgi/http/query.h"

#include <string.h>

#include "tests/support/run.h"

static struct arena *arena;
static struct query query;
static struct fault fault;

static void
make(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
}

static void
drop(void)
{
	arena_free(arena);
}

static enum err
parse(const char *uri)
{
	fault_clear(&fault);
	arena_reset(arena);
	return query_parse(&query, span_of(uri), arena, &fault);
}

START_TEST(path_is_cut_into_decoded_segments)
{
	ck_assert_int_eq(parse("/api/v1/products/a%20b+c?x=1"), ERR_OK);
	ck_assert_uint_eq(query.segment_count, 4);
	ck_assert(span_eq(query.segments[3], SPAN("a b+c")));
	ck_assert(!query.no_path);
}
END_TEST

START_TEST(escaped_slash_stays_in_its_segment)
{
	ck_assert_int_eq(parse("/products/a%2Fb"), ERR_OK);
	ck_assert_uint_eq(query.segment_count, 2);
	ck_assert(span_eq(query.segments[1], SPAN("a/b")));
}
END_TEST

START_TEST(pairs_are_decoded_plus_is_a_blank)
{
	ck_assert_int_eq(parse("/g?a=1&&b=x+y%26z&c&=e&d=%C3%A9=f"), ERR_OK);
	ck_assert_uint_eq(query.pair_count, 5);
	ck_assert(span_eq(query.pairs[1].name, SPAN("b")));
	ck_assert(span_eq(query.pairs[1].value, SPAN("x y&z")));
	ck_assert(span_eq(query.pairs[2].name, SPAN("c")));
	ck_assert_uint_eq(query.pairs[2].value.len, 0);
	ck_assert_uint_eq(query.pairs[3].name.len, 0);
	ck_assert(span_eq(query.pairs[4].value, SPAN("\xc3\xa9=f")));
}
END_TEST

/* Eight bytes are looked at together: each place of them, and the rest. */
START_TEST(each_byte_is_looked_at_wherever_it_stands)
{
	for (int byte = 1; byte < 256; byte++) {
		for (int at = 5; at < 24; at++) {
			char uri[] = "/g?v=0123456789abcdefghijk";
			bool bad = byte < 0x20 || byte >= 0x7f;

			if (byte == '&' || byte == '%')
				continue;
			uri[at] = (char)byte;
			ck_assert_int_eq(
			    parse(uri), bad ? ERR_BAD_INPUT : ERR_OK);
			if (!bad)
				ck_assert_int_eq(
				    query.pairs[0].value.ptr[at - 5],
				    byte == '+' ? ' ' : byte);
		}
	}
	for (int at = 5; at < 21; at++) {
		char uri[] = "/g?v=0123456789abcdefghijk";

		memcpy(uri + at, "%41", 3);
		ck_assert_int_eq(parse(uri), ERR_OK);
		ck_assert_int_eq(query.pairs[0].value.ptr[at - 5], 'A');
		ck_assert_uint_eq(query.pairs[0].value.len, 19);
	}
}
END_TEST

START_TEST(raw_query_is_kept_as_sent)
{
	ck_assert_int_eq(parse("/g?a=%41&b"), ERR_OK);
	ck_assert(span_eq(query.raw, SPAN("a=%41&b")));
	ck_assert_int_eq(parse("/g"), ERR_OK);
	ck_assert_ptr_null(query.raw.ptr);
}
END_TEST

static const struct {
	const char *uri, *place, *part; /* part: of the message */
} bad[] = {
    {"/g?q=%", "q", "escape"},
    {"/g?q=%4", "q", "escape"},
    {"/g?q=%4g", "q", "escape"},
    {"/g?q=%00", "q", "NUL"},
    {"/g?q=%0a", "q", "control"},
    {"/g?q=%7f", "q", "control"},
    {"/g?q=\x01", "q", "control"},
    {"/g?q=%c3", "q", "UTF-8"},
    {"/g?q=%c0%80", "q", "UTF-8"},
    {"/g?q=%ed%a0%80", "q", "UTF-8"},
    {"/g?q=%f4%90%80%80", "q", "UTF-8"},
    {"/g?q=\xff", "q", "UTF-8"},
    {"/g?%ff=1", "parameter name", "UTF-8"},
    {"/%zz", "path", "escape"},
    {"/a%00", "path", "NUL"},
    {"/%ff", "path", "UTF-8"},
};

START_TEST(malformed_is_told_with_its_place)
{
	ck_assert_int_eq(parse(bad[_i].uri), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, bad[_i].place);
	ck_assert_ptr_nonnull(strstr(fault.message, bad[_i].part));
}
END_TEST

static const struct {
	const char *uri;
	bool no_path;
} paths[] = {
    {"/a", false},
    {"/a/b/c/d/e/f/g/h", false},
    {"/a/b/c/d/e/f/g/h/i", true},
    {"//a", true},
    {"/a/", true},
    {"/", true},
    {"", true},
    {"a", true},
    {"*", true},
    {"?a=1", true},
};

START_TEST(path_that_can_be_none_of_ours_is_marked)
{
	ck_assert_int_eq(parse(paths[_i].uri), ERR_OK);
	ck_assert_int_eq(query.no_path, paths[_i].no_path);
}
END_TEST

START_TEST(pairs_have_a_ceiling)
{
	char uri[512] = "/g?";

	for (unsigned i = 0; i < QUERY_PAIRS_MAX; i++)
		memcpy(uri + strlen(uri), "a=&", 4);
	ck_assert_int_eq(parse(uri), ERR_OK);
	memcpy(uri + strlen(uri), "a=", 3);
	ck_assert_int_eq(parse(uri), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "query");
}
END_TEST

START_TEST(long_bad_name_is_cut_to_whole_characters)
{
	/* 39 letters and a character of two bytes at the cut. */
	ck_assert_int_eq(
	    parse("/g?aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%C3%A9=%ff"),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "parameter");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("query");
	TCase *tc = tcase_create("query");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, path_is_cut_into_decoded_segments);
	tcase_add_test(tc, escaped_slash_stays_in_its_segment);
	tcase_add_test(tc, pairs_are_decoded_plus_is_a_blank);
	tcase_add_test(tc, each_byte_is_looked_at_wherever_it_stands);
	tcase_add_test(tc, raw_query_is_kept_as_sent);
	tcase_add_loop_test(tc, malformed_is_told_with_its_place, 0,
	    sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(tc, path_that_can_be_none_of_ours_is_marked, 0,
	    sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(tc, pairs_have_a_ceiling);
	tcase_add_test(tc, long_bad_name_is_cut_to_whole_characters);
	suite_add_tcase(suite, tc);
	return suite;
}
