#include "common/jscan.h"

#include <stdlib.h>

#include "common/count.h"
#include "tests/support/run.h"

static struct jscan doc;
static struct arena *arena;

static void
set_up(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
}

static void
tear_down(void)
{
	jscan_fini(&doc);
	arena_free(arena);
}

static struct jval
parse(const char *text)
{
	jscan_fini(&doc);
	ck_assert_int_eq(jscan_parse(&doc, span_of(text), 64, NULL), ERR_OK);
	return jscan_root(&doc);
}

static const char *const good[] = {"{}", "[]", " [ 1 , 2 ] ", "0", "-0",
    "1.5e+3", "\"\\u0000\"", "\"\\ud800\"", "{\"a\":{\"b\":[]}}", "null",
    "\"\xC3\xA9\"", "\"\x7F\"", "1e999"};

START_TEST(good_text_is_taken)
{
	parse(good[_i]);
}
END_TEST

static const char *const bad[] = {"", " ", "{", "[1,]", "{\"a\":1,}", "01",
    "1.", "-", "+1", ".5", "1e", "NaN", "tru", "nulll", "'a'", "\"", "\"\\x\"",
    "\"\\u12g4\"", "\"\n\"", "{} {}", "{1:2}", "{\"a\" 1}", "[1 2]", "]", "[}",
    "{]", "\"\xC3\"", "\"\xED\xA0\x80\"", "\"\xC0\x80\"", "\xEF\xBB\xBF{}",
    "{\"a\"}", "{,}", "[,]", "--1"};

START_TEST(bad_text_is_refused)
{
	struct fault fault = {.place = ""};

	ck_assert_int_eq(
	    jscan_parse(&doc, span_of(bad[_i]), 64, &fault), ERR_BAD_INPUT);
	ck_assert(fault_is_set(&fault));
	ck_assert_ptr_null(jscan_root(&doc).node);
}
END_TEST

START_TEST(each_cut_of_a_text_is_refused)
{
	const char *text = "{\"a\":[1,-2.5e3,\"x\\u00e9\",true,null,{}]}";

	for (size_t len = 0; len < strlen(text); len++) {
		ck_assert_int_eq(
		    jscan_parse(&doc, span_make(text, len), 64, NULL),
		    ERR_BAD_INPUT);
	}
	parse(text);
}
END_TEST

START_TEST(depth_has_a_limit_and_costs_no_stack)
{
	size_t len = 1000000;
	char *text = malloc(len);

	memset(text, '[', len / 2);
	memset(text + len / 2, ']', len / 2);
	ck_assert_int_eq(
	    jscan_parse(&doc, span_make(text, len), 500000, NULL), ERR_OK);
	jscan_fini(&doc);
	ck_assert_int_eq(jscan_parse(&doc, span_make(text, len), 499999, NULL),
	    ERR_TOO_LARGE);
	free(text);
}
END_TEST

START_TEST(raw_bytes_come_back)
{
	struct jval root = parse(" {\"id\" : 12345678901234567890 , "
				 "\"s\":\"a\\u0041\" , \"o\" : { } }");

	ck_assert(span_eq(
	    jval_raw(jval_member(root, "id")), SPAN("12345678901234567890")));
	ck_assert(
	    span_eq(jval_raw(jval_member(root, "s")), SPAN("\"a\\u0041\"")));
	ck_assert(span_eq(jval_raw(jval_member(root, "o")), SPAN("{ }")));
	ck_assert(jval_is_absent(jval_member(root, "x")));
	ck_assert(jval_is_absent(jval_member(jval_member(root, "id"), "x")));
}
END_TEST

START_TEST(last_of_equal_names_counts)
{
	struct jval root = parse("{\"a\":1,\"\\u0061\":2}");
	int64_t value;

	ck_assert(jval_int(jval_member(root, "a"), &value));
	ck_assert_int_eq(value, 2);
	ck_assert_uint_eq(jval_count(root), 2);
}
END_TEST

static const struct {
	const char *json;
	struct span text;
} strings[] = {
    {"\"plain\"", {"plain", 5}},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
    {"\"a\\u0000b\"", {"a\0b", 3}},
    {"\"\\u00e9\\u4e16\"", {"\xC3\xA9\xE4\xB8\x96", 5}},
    {"\"\\ud83d\\ude00\"", {"\xF0\x9F\x98\x80", 4}},
    {"\"\\ud83d\"", {"\xEF\xBF\xBD", 3}},
    {"\"\\ud83dx\"", {"\xEF\xBF\xBDx", 4}},
    {"\"\\ude00\\ud83d\"", {"\xEF\xBF\xBD\xEF\xBF\xBD", 6}},
    {"\"\\ud83d\\u0041\"",
	{"\xEF\xBF\xBD"
	 "A",
	    4}},
};

START_TEST(strings_are_decoded)
{
	struct jval root = parse(strings[_i].json);

	ck_assert(span_eq(jval_text(root, arena), strings[_i].text));
	ck_assert(jval_is(root, strings[_i].text));
	ck_assert(!jval_is(root, SPAN("other")));
	ck_assert(!jval_is(
	    root, span_sub(strings[_i].text, 0, strings[_i].text.len - 1)));
}
END_TEST

static const struct {
	const char *json;
	bool is_int;
	int64_t value;
} ints[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"-17", true, -17},
    {"5.0", true, 5},
    {"5.5", false, 0},
    {"5e0", false, 0},
    {"9223372036854775807", true, INT64_MAX},
    {"9223372036854775808", false, 0},
    {"\"5\"", false, 0},
    {"true", false, 0},
};

START_TEST(integers_are_exact)
{
	struct jval root = parse(ints[_i].json);
	int64_t value = 0;

	ck_assert_int_eq(jval_int(root, &value), ints[_i].is_int);
	ck_assert_int_eq(value, ints[_i].value);
}
END_TEST

START_TEST(compact_text_is_one_line)
{
	struct jval root =
	    parse("{ \"a b\" : [ 1 ,\n\t2 ] , \"q\\\" \" : \" x \" }");
	struct buf buf;

	buf_init(&buf, 4096);
	jval_compact(root, &buf);
	ck_assert(span_eq(
	    buf_span(&buf), SPAN("{\"a b\":[1,2],\"q\\\" \":\" x \"}")));
	buf_fini(&buf);
}
END_TEST

START_TEST(walk_gives_members_in_order)
{
	struct jval root = parse("{\"a\":[1,[2,3]],\"b\":{},\"c\":4}");
	struct jwalk walk = jwalk_begin(root);
	struct jval name, value;

	ck_assert(jwalk_next(&walk, &name, &value));
	ck_assert(jval_is(name, SPAN("a")));
	ck_assert_uint_eq(jval_count(value), 2);
	ck_assert(jwalk_next(&walk, &name, &value));
	ck_assert(jval_is(name, SPAN("b")));
	ck_assert(jwalk_next(&walk, &name, &value));
	ck_assert_int_eq(jval_type(value), JNUMBER);
	ck_assert(!jwalk_next(&walk, &name, &value));
	ck_assert(jval_is_absent(value));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook jscan");
	TCase *tc = tcase_create("jscan");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, good_text_is_taken, 0, COUNT(good));
	tcase_add_loop_test(tc, bad_text_is_refused, 0, COUNT(bad));
	tcase_add_test(tc, each_cut_of_a_text_is_refused);
	tcase_add_test(tc, depth_has_a_limit_and_costs_no_stack);
	tcase_add_test(tc, raw_bytes_come_back);
	tcase_add_test(tc, last_of_equal_names_counts);
	tcase_add_loop_test(tc, strings_are_decoded, 0, COUNT(strings));
	tcase_add_loop_test(tc, integers_are_exact, 0, COUNT(ints));
	tcase_add_test(tc, compact_text_is_one_line);
	tcase_add_test(tc, walk_gives_members_in_order);
	suite_add_tcase(suite, tc);
	return suite;
}
