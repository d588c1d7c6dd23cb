#include "common/jsonr.h"

#include <locale.h>
#include <stdio.h>

#include "common/count.h"
#include "tests/support/run.h"

static const struct jsonr_limits limits = {
    .bytes = 10000, .depth = 0, .issues = 5};

static struct jsonr *doc;
static struct fault fault;
static struct buf out;

static void
open_doc(void)
{
	doc = NULL;
	fault_clear(&fault);
	buf_init(&out, 1 << 16);
}

static void
close_doc(void)
{
	jsonr_free(doc);
	buf_fini(&out);
}

static const struct jsonr_value *
parse(const char *text)
{
	ck_assert_int_eq(
	    jsonr_parse(&doc, span_of(text), &limits, &fault), ERR_OK);
	ck_assert(!fault_is_set(&fault));
	return jsonr_root(doc);
}

static void
issues_are(const char *expected)
{
	struct jsonw json;

	buf_clear(&out);
	jsonw_init(&json, &out);
	jsonr_issues_write(doc, &json);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&out), span_of(expected)),
	    "%.*s is not %s", SPAN_ARG(buf_span(&out)), expected);
}

static const struct {
	struct span text;
	const char *place;
} malformed[] = {
    {{"", 0}, "JSON, line 1, column 0"},
    {{NULL, 0}, "JSON, line 1, column 0"},
    {{" ", 1}, NULL},
    {{"{", 1}, NULL},
    {{"}", 1}, NULL},
    {{"[1", 2}, NULL},
    {{"[1,]", 4}, "JSON, line 1, column 4"},
    {{"[1 2]", 5}, NULL},
    {{"{\"a\":1,}", 8}, NULL},
    {{"{a:1}", 5}, NULL},
    {{"{'a':1}", 7}, NULL},
    {{"{\"a\" 1}", 7}, NULL},
    {{"\n\n[tru]", 7}, "JSON, line 3, column 4"},
    {{"[1] x", 5}, NULL},
    {{"[1][2]", 6}, NULL},
    {{"1 2", 3}, NULL},
    {{"{}\0", 3}, NULL},
    {{"{\"a\":1,\"a\":2}", 13}, NULL},
    {{"{\"a\":1,\"\\u0061\":2}", 18}, NULL},
    {{"NaN", 3}, NULL},
    {{"[NaN]", 5}, NULL},
    {{"Infinity", 8}, NULL},
    {{"-Infinity", 9}, NULL},
    {{"01", 2}, NULL},
    {{"+1", 2}, NULL},
    {{".5", 2}, NULL},
    {{"5.", 2}, NULL},
    {{"1e", 2}, NULL},
    {{"0x1", 3}, NULL},
    {{"9223372036854775808", 19}, NULL},
    {{"-9223372036854775809", 20}, NULL},
    {{"[99999999999999999999999]", 25}, NULL},
    {{"1e999", 5}, NULL},
    {{"\"a\\u0000b\"", 10}, NULL},
    {{"{\"a\\u0000b\":1}", 14}, NULL},
    {{"\"a\0b\"", 5}, NULL},
    {{"\"a\nb\"", 5}, NULL},
    {{"\"a\tb\"", 5}, NULL},
    {{"\"\\x\"", 4}, NULL},
    {{"\"\\ud800\"", 8}, NULL},
    {{"\"\\udc00\\ud800\"", 14}, NULL},
    {{"\"\\u12\"", 6}, NULL},
    {{"\"\xff\"", 3}, NULL},
    {{"\"\xc0\x80\"", 4}, NULL},
    {{"\"\xed\xa0\x80\"", 5}, NULL},
    {{"\"\xc3\"", 3}, NULL},
    {{"\"abc", 4}, NULL},
    {{"\"abc\\", 5}, NULL},
    {{"\xef\xbb\xbf{}", 5}, NULL},
    {{"/* c */ 1", 9}, NULL},
    {{"nul", 3}, NULL},
    {{"True", 4}, NULL},
};

START_TEST(what_is_not_json_is_refused)
{
	ck_assert_int_eq(jsonr_parse(&doc, malformed[_i].text, &limits, &fault),
	    ERR_BAD_INPUT);
	ck_assert_ptr_null(doc);
	ck_assert_str_ne(fault.message, "");
	if (malformed[_i].place != NULL)
		ck_assert_str_eq(fault.place, malformed[_i].place);
	else
		ck_assert_ptr_nonnull(strstr(fault.place, "JSON, line "));
	ck_assert_int_eq(jsonr_parse(&doc, malformed[_i].text, &limits, NULL),
	    ERR_BAD_INPUT);
}
END_TEST

static const struct {
	struct span text;
	const char *words;
} told[] = {
    {{"{\"a\":\"b\\u0000\"}", 15}, "a text has \\u0000 in it"},
    {{"{\"a\\u0000b\":1}", 14}, "a member's name has \\u0000 in it"},
    {{"\xef\xbb\xbf{}", 5}, "begins with a byte order mark"},
    {{"\xef\xbb\xbf", 3}, "begins with a byte order mark"},
};

START_TEST(what_is_told_is_meant_for_a_person)
{
	ck_assert_int_eq(
	    jsonr_parse(&doc, told[_i].text, &limits, &fault), ERR_BAD_INPUT);
	ck_assert_msg(
	    strstr(fault.message, told[_i].words) != NULL, "%s", fault.message);
	ck_assert_ptr_null(strstr(fault.message, "JSON_"));
	ck_assert_ptr_nonnull(strstr(fault.place, "JSON, line 1, column "));
}
END_TEST

START_TEST(a_member_given_twice_is_named)
{
	jsonr_parse(&doc, SPAN("{\"a\":1,\n \"a\":2}"), &limits, &fault);
	ck_assert_ptr_nonnull(strstr(fault.message, "duplicate"));
	ck_assert_ptr_nonnull(strstr(fault.message, "\"a\""));
	ck_assert_ptr_nonnull(strstr(fault.place, "line 2"));
}
END_TEST

static const struct {
	const char *text;
	enum jsonr_type type;
	const char *written;
} values[] = {
    {"null", JSONR_NULL, "null"},
    {"true", JSONR_BOOL, "true"},
    {"false", JSONR_BOOL, "false"},
    {"0", JSONR_INT, "0"},
    {"-0", JSONR_INT, "0"},
    {"-12", JSONR_INT, "-12"},
    {"9223372036854775807", JSONR_INT, "9223372036854775807"},
    {"-9223372036854775808", JSONR_INT, "-9223372036854775808"},
    {"12.5", JSONR_REAL, "12.5"},
    {"0.1", JSONR_REAL, "0.1"},
    {"0.30000000000000004", JSONR_REAL, "0.30000000000000004"},
    {"1.0", JSONR_REAL, "1.0"},
    {"1e2", JSONR_REAL, "100.0"},
    {"1e300", JSONR_REAL, "1e300"},
    {"-2.5E-7", JSONR_REAL, "-2.5e-7"},
    {"\"\"", JSONR_STRING, "\"\""},
    {"\"a\\u00e9\\n\\\"\\/\\ud83d\\ude00\"", JSONR_STRING,
	"\"a\xc3\xa9\\n\\\"/\xf0\x9f\x98\x80\""},
    {"[]", JSONR_ARRAY, "[]"},
    {" [ 1 , [ ] , { } ] ", JSONR_ARRAY, "[1,[],{}]"},
    {"{}", JSONR_OBJECT, "{}"},
    {"{\"z\":1,\"a\":[null,true],\"\":{\"b\":\"c\"}}", JSONR_OBJECT,
	"{\"z\":1,\"a\":[null,true],\"\":{\"b\":\"c\"}}"},
};

START_TEST(a_value_has_its_type_and_is_written_compactly)
{
	const struct jsonr_value *root = parse(values[_i].text);

	ck_assert_int_eq(jsonr_type(root), values[_i].type);
	jsonr_write(root, &out);
	ck_assert_int_eq(buf_end(&out), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&out), span_of(values[_i].written)),
	    "%.*s is not %s", SPAN_ARG(buf_span(&out)), values[_i].written);
}
END_TEST

/* A locale with a decimal comma, where the machine has one. */
static const char *
comma_locale(void)
{
	static const char *const names[] = {
	    "fr_FR.UTF-8", "de_DE.UTF-8", "fr_FR.utf8", "de_DE.utf8"};
	const char *found = NULL;

	for (size_t i = 0; i < COUNT(names) && found == NULL; i++)
		if (setlocale(LC_NUMERIC, names[i]) != NULL)
			found = names[i];
	setlocale(LC_NUMERIC, "C");
	return found;
}

START_TEST(a_number_has_its_point_in_any_locale)
{
	ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, comma_locale()));
	parse("[0.1,0.30000000000000004]");
	jsonr_write(jsonr_root(doc), &out);
	setlocale(LC_NUMERIC, "C");
	ck_assert(span_eq(buf_span(&out), SPAN("[0.1,0.30000000000000004]")));
}
END_TEST

START_TEST(a_full_buffer_is_told)
{
	struct buf small;

	buf_init(&small, 4);
	jsonr_write(parse("[1,2,3]"), &small);
	ck_assert_int_eq(buf_end(&small), ERR_TOO_LARGE);
	buf_fini(&small);
}
END_TEST

START_TEST(the_text_need_not_outlive_the_call)
{
	char text[] = "{\"a\":\"bcd\"}";

	ck_assert_int_eq(
	    jsonr_parse(&doc, span_of(text), &limits, NULL), ERR_OK);
	memset(text, 0, sizeof(text));
	ck_assert(span_eq(
	    jsonr_as_string(jsonr_member(jsonr_root(doc), "a")), SPAN("bcd")));
}
END_TEST

/* `depth` brackets, the kinds in turn, with brackets in strings between. */
static void
nest(unsigned depth)
{
	unsigned i;

	buf_clear(&out);
	for (i = 0; i < depth; i++)
		if (i % 2)
			buf_add_text(&out, "{\"]]}[[[{{\\\"[\":");
		else
			buf_add_text(&out, "[\"}]\\\\\",");
	buf_add_text(&out, "\"[[[[[[\"");
	while (i-- > 0)
		buf_add_char(&out, i % 2 ? '}' : ']');
}

static enum err
parse_nested(unsigned depth, unsigned limit)
{
	struct jsonr_limits some = {.bytes = 1 << 16, .depth = limit};

	jsonr_free(doc);
	nest(depth);
	return jsonr_parse(&doc, buf_span(&out), &some, &fault);
}

START_TEST(nesting_goes_to_the_limit_and_no_further)
{
	ck_assert_int_eq(parse_nested(64, 0), ERR_OK);
	ck_assert_int_eq(parse_nested(64, 64), ERR_OK);
	ck_assert_int_eq(parse_nested(3, 3), ERR_OK);
	ck_assert_int_eq(parse_nested(0, 1), ERR_OK);
	ck_assert_int_eq(parse_nested(65, 0), ERR_TOO_LARGE);
	ck_assert_ptr_null(doc);
	ck_assert_str_eq(fault.message, "is nested deeper than 64 levels");
	ck_assert_int_eq(parse_nested(4, 3), ERR_TOO_LARGE);
	ck_assert_int_eq(parse_nested(3000, 0), ERR_TOO_LARGE);
}
END_TEST

START_TEST(the_deepest_nesting_is_written)
{
	struct buf again;

	ck_assert_int_eq(parse_nested(64, 0), ERR_OK);
	buf_init(&again, 1 << 16);
	jsonr_write(jsonr_root(doc), &again);
	ck_assert(span_eq(buf_span(&again), buf_span(&out)));
	buf_fini(&again);
}
END_TEST

START_TEST(brackets_side_by_side_are_not_deep)
{
	struct jsonr_limits some = {.bytes = 100, .depth = 2};

	ck_assert_int_eq(
	    jsonr_parse(&doc, SPAN("[[],[],{},{},[]]"), &some, &fault), ERR_OK);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_refused)
{
	struct jsonr_limits some = {.bytes = 4};

	ck_assert_int_eq(
	    jsonr_parse(&doc, SPAN("[12]"), &some, &fault), ERR_OK);
	jsonr_free(doc);
	ck_assert_int_eq(
	    jsonr_parse(&doc, SPAN("[123]"), &some, &fault), ERR_TOO_LARGE);
	ck_assert_ptr_null(doc);
	ck_assert_str_eq(fault.message, "has 5 bytes, more than 4");
}
END_TEST

START_TEST(members_are_found_by_name)
{
	const struct jsonr_value *root = parse("{\"a\":1,\"b\":null}");

	ck_assert_int_eq(jsonr_as_int(jsonr_member(root, "a")), 1);
	ck_assert_int_eq(jsonr_type(jsonr_member(root, "b")), JSONR_NULL);
	ck_assert_ptr_null(jsonr_member(root, "c"));
	ck_assert_ptr_null(jsonr_member(NULL, "a"));
	ck_assert_ptr_null(jsonr_member(jsonr_member(root, "a"), "a"));
	ck_assert_uint_eq(jsonr_count(root), 2);
}
END_TEST

START_TEST(elements_are_found_by_number)
{
	const struct jsonr_value *root = parse("[5,6]");

	ck_assert_uint_eq(jsonr_count(root), 2);
	ck_assert_int_eq(jsonr_as_int(jsonr_at(root, 1)), 6);
	ck_assert_ptr_null(jsonr_at(root, 2));
	ck_assert_ptr_null(jsonr_at(NULL, 0));
	ck_assert_ptr_null(jsonr_at(jsonr_at(root, 0), 0));
	ck_assert_uint_eq(jsonr_count(NULL), 0);
	ck_assert_uint_eq(jsonr_count(jsonr_at(root, 0)), 0);
}
END_TEST

START_TEST(members_are_walked_in_the_order_they_were_written)
{
	static const char *const names[] = {"z", "a", "", "m"};
	const struct jsonr_value *root =
	    parse("{\"z\":0,\"a\":1,\"\":2,\"m\":3}");
	const struct jsonr_value *value;
	struct span name;
	void *iter = NULL;
	unsigned count = 0;

	while (jsonr_next(root, &iter, &name, &value)) {
		ck_assert_uint_lt(count, 4);
		ck_assert(span_eq(name, span_of(names[count])));
		ck_assert_int_eq(jsonr_as_int(value), count);
		count++;
	}
	ck_assert_uint_eq(count, 4);
	iter = NULL;
	ck_assert(!jsonr_next(value, &iter, &name, &value));
	ck_assert(!jsonr_next(NULL, &iter, &name, &value));
}
END_TEST

START_TEST(a_value_of_another_type_reads_as_zero)
{
	const struct jsonr_value *root = parse("[\"s\",true,7,2.5,null,[],{}]");

	for (size_t i = 0; i <= jsonr_count(root); i++) {
		const struct jsonr_value *value = jsonr_at(root, i);

		ck_assert_uint_eq(jsonr_as_string(value).len, i == 0);
		ck_assert_int_eq(jsonr_as_bool(value), i == 1);
		ck_assert_int_eq(jsonr_as_int(value), i == 2 ? 7 : 0);
		ck_assert(jsonr_as_real(value) ==
		    (i == 2          ? 7.0
			    : i == 3 ? 2.5
				     : 0.0));
	}
}
END_TEST

START_TEST(a_value_of_the_type_is_given)
{
	const struct jsonr_value *root = parse(
	    "{\"s\":\"caf\xc3\xa9\",\"b\":true,\"i\":-5,\"a\":[],\"o\":{}}");
	struct span text;
	bool flag = false;
	int64_t number = 0;

	ck_assert(jsonr_want_object(doc, root, ""));
	ck_assert(jsonr_want_string(doc, &text, jsonr_member(root, "s"), "s"));
	ck_assert(span_eq(text, SPAN("caf\xc3\xa9")));
	ck_assert(jsonr_want_bool(doc, &flag, jsonr_member(root, "b"), "b"));
	ck_assert(flag);
	ck_assert(
	    jsonr_want_int(doc, &number, jsonr_member(root, "i"), "i", -5, -5));
	ck_assert_int_eq(number, -5);
	ck_assert(jsonr_want_array(doc, jsonr_member(root, "a"), "a"));
	ck_assert(jsonr_want_object(doc, jsonr_member(root, "o"), "o"));
	ck_assert_uint_eq(jsonr_issues(doc), 0);
	issues_are("[]");
}
END_TEST

START_TEST(a_value_of_another_type_is_an_issue)
{
	const struct jsonr_value *root =
	    parse("{\"n\":null,\"i\":7,\"r\":1.0}");
	const struct jsonr_value *seven = jsonr_member(root, "i");
	struct span text = SPAN("kept");
	bool flag = true;
	int64_t number = 77;

	ck_assert(!jsonr_want_string(doc, &text, seven, "i"));
	ck_assert(!jsonr_want_bool(doc, &flag, jsonr_member(root, "n"), "n"));
	ck_assert(!jsonr_want_int(
	    doc, &number, jsonr_member(root, "r"), "list[3].r", 0, 9));
	ck_assert(!jsonr_want_array(doc, root, ""));
	ck_assert(!jsonr_want_object(doc, jsonr_member(root, "x"), "x"));
	ck_assert(span_eq(text, SPAN("kept")));
	ck_assert(flag);
	ck_assert_int_eq(number, 77);
	ck_assert_uint_eq(jsonr_issues(doc), 5);
	issues_are("[{\"path\":\"i\",\"message\":\"must be a string, not a "
		   "whole number\"},"
		   "{\"path\":\"n\",\"message\":\"must be true or false, not "
		   "null\"},"
		   "{\"path\":\"list[3].r\",\"message\":\"must be a whole "
		   "number, not a number with a fraction\"},"
		   "{\"path\":\"\",\"message\":\"must be an array, not an "
		   "object\"},"
		   "{\"path\":\"x\",\"message\":\"is missing; must be an "
		   "object\"}]");
}
END_TEST

START_TEST(a_number_out_of_range_is_an_issue)
{
	const struct jsonr_value *root = parse("[0,10,1,9]");
	int64_t number = 77;

	ck_assert(
	    !jsonr_want_int(doc, &number, jsonr_at(root, 0), "[0]", 1, 9));
	ck_assert(
	    !jsonr_want_int(doc, &number, jsonr_at(root, 1), "[1]", 1, 9));
	ck_assert_int_eq(number, 77);
	ck_assert(jsonr_want_int(doc, &number, jsonr_at(root, 2), "[2]", 1, 9));
	ck_assert(jsonr_want_int(doc, &number, jsonr_at(root, 3), "[3]", 1, 9));
	issues_are("[{\"path\":\"[0]\",\"message\":\"must be from 1 to 9, not "
		   "0\"},"
		   "{\"path\":\"[1]\",\"message\":\"must be from 1 to 9, not "
		   "10\"}]");
}
END_TEST

START_TEST(a_member_that_is_not_listed_is_an_issue)
{
	static const char *const names[] = {"a", "b"};
	const struct jsonr_value *root =
	    parse("{\"a\":1,\"x\":2,\"in\":{\"b\":3,\"B\":4}}");

	jsonr_only(doc, root, "", names, 2);
	jsonr_only(doc, jsonr_member(root, "in"), "in", names, 2);
	jsonr_only(doc, NULL, "", names, 2);
	issues_are(
	    "[{\"path\":\"x\",\"message\":\"is not a known member\"},"
	    "{\"path\":\"in\",\"message\":\"is not a known member\"},"
	    "{\"path\":\"in.B\",\"message\":\"is not a known member\"}]");
}
END_TEST

/* Each shift puts the cut at another place inside a three-byte character. */
START_TEST(a_name_without_end_is_cut_between_characters)
{
	static const char *const names[] = {"a"};
	struct jsonw json;

	buf_add_text(&out, "{\"");
	for (int i = 0; i < _i; i++)
		buf_add_char(&out, 'a');
	for (int i = 0; i < 2000; i++)
		buf_add_text(&out, "\xe2\x82\xac");
	buf_add_text(&out, "\":1}");
	ck_assert_int_eq(
	    jsonr_parse(&doc, buf_span(&out), &limits, &fault), ERR_OK);
	jsonr_only(doc, jsonr_root(doc), "", names, 1);
	buf_clear(&out);
	jsonw_init(&json, &out);
	jsonr_issues_write(doc, &json);
	buf_add_char(&out, '\0');
	ck_assert_int_eq(buf_end(&out), ERR_OK);
	ck_assert_ptr_null(strstr(out.data, "\xef\xbf\xbd"));
	ck_assert_ptr_nonnull(strstr(out.data, "\xe2\x82\xac...\",\"mess"));
}
END_TEST

START_TEST(issues_beyond_the_limit_are_counted)
{
	parse("1");
	for (int i = 0; i < 9; i++)
		jsonr_issue(doc, "p", "no %d", i);
	ck_assert_uint_eq(jsonr_issues(doc), 9);
	issues_are("[{\"path\":\"p\",\"message\":\"no 0\"},"
		   "{\"path\":\"p\",\"message\":\"no 1\"},"
		   "{\"path\":\"p\",\"message\":\"no 2\"},"
		   "{\"path\":\"p\",\"message\":\"no 3\"},"
		   "{\"path\":\"p\",\"message\":\"no 4\"}]");
}
END_TEST

START_TEST(freeing_none_is_fine)
{
	jsonr_free(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("jsonr");
	TCase *in = tcase_create("parsing");
	TCase *walk = tcase_create("reading");
	TCase *want = tcase_create("issues");

	tcase_add_checked_fixture(in, open_doc, close_doc);
	tcase_add_loop_test(
	    in, what_is_not_json_is_refused, 0, COUNT(malformed));
	tcase_add_loop_test(
	    in, what_is_told_is_meant_for_a_person, 0, COUNT(told));
	tcase_add_test(in, a_member_given_twice_is_named);
	tcase_add_loop_test(in, a_value_has_its_type_and_is_written_compactly,
	    0, COUNT(values));
	if (comma_locale() != NULL)
		tcase_add_test(in, a_number_has_its_point_in_any_locale);
	tcase_add_test(in, a_full_buffer_is_told);
	tcase_add_test(in, the_text_need_not_outlive_the_call);
	tcase_add_test(in, nesting_goes_to_the_limit_and_no_further);
	tcase_add_test(in, the_deepest_nesting_is_written);
	tcase_add_test(in, brackets_side_by_side_are_not_deep);
	tcase_add_test(in, a_text_that_is_too_long_is_refused);
	tcase_add_test(in, freeing_none_is_fine);
	suite_add_tcase(suite, in);

	tcase_add_checked_fixture(walk, open_doc, close_doc);
	tcase_add_test(walk, members_are_found_by_name);
	tcase_add_test(walk, elements_are_found_by_number);
	tcase_add_test(walk, members_are_walked_in_the_order_they_were_written);
	tcase_add_test(walk, a_value_of_another_type_reads_as_zero);
	suite_add_tcase(suite, walk);

	tcase_add_checked_fixture(want, open_doc, close_doc);
	tcase_add_test(want, a_value_of_the_type_is_given);
	tcase_add_test(want, a_value_of_another_type_is_an_issue);
	tcase_add_test(want, a_number_out_of_range_is_an_issue);
	tcase_add_test(want, a_member_that_is_not_listed_is_an_issue);
	tcase_add_loop_test(
	    want, a_name_without_end_is_cut_between_characters, 1, 4);
	tcase_add_test(want, issues_beyond_the_limit_are_counted);
	suite_add_tcase(suite, want);
	return suite;
}
