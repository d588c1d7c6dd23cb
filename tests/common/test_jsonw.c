#include "common/jsonw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/count.h"
#include "common/num.h"
#include "common/utf8.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct buf buf;
static struct jsonw json;

static void
open_json(void)
{
	buf_init(&buf, 1 << 16);
	jsonw_init(&json, &buf);
}

static void
close_json(void)
{
	buf_fini(&buf);
}

static void
holds(struct span expected)
{
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&buf), expected), "%.*s is not %.*s",
	    SPAN_ARG(buf_span(&buf)), SPAN_ARG(expected));
}

START_TEST(every_kind_of_value_in_an_object)
{
	jsonw_object_begin(&json);
	jsonw_key(&json, "s");
	jsonw_string(&json, SPAN("a\"b"));
	jsonw_key(&json, "t");
	jsonw_text(&json, "x");
	jsonw_key(&json, "n");
	jsonw_text(&json, NULL);
	jsonw_key_span(&json, SPAN("i"));
	jsonw_int(&json, INT64_MIN);
	jsonw_key(&json, "m");
	jsonw_micro(&json, -12500000);
	jsonw_key(&json, "u");
	jsonw_micro(&json, NUM_NULL);
	jsonw_key(&json, "b");
	jsonw_bool(&json, true);
	jsonw_key(&json, "c");
	jsonw_bool(&json, false);
	jsonw_key(&json, "z");
	jsonw_null(&json);
	jsonw_key(&json, "r");
	jsonw_raw(&json, SPAN("{\"raw\":1}"));
	jsonw_object_end(&json);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	holds(SPAN("{\"s\":\"a\\\"b\",\"t\":\"x\",\"n\":null,"
		   "\"i\":-9223372036854775808,\"m\":-12.5,\"u\":null,"
		   "\"b\":true,\"c\":false,\"z\":null,\"r\":{\"raw\":1}}"));
}
END_TEST

START_TEST(commas_stand_between_elements_only)
{
	jsonw_array_begin(&json);
	jsonw_array_begin(&json);
	jsonw_array_end(&json);
	jsonw_object_begin(&json);
	jsonw_object_end(&json);
	jsonw_int(&json, 1);
	jsonw_array_begin(&json);
	jsonw_string(&json, SPAN(""));
	jsonw_array_end(&json);
	jsonw_object_begin(&json);
	jsonw_key(&json, "");
	jsonw_array_begin(&json);
	jsonw_array_end(&json);
	jsonw_key(&json, "k");
	jsonw_object_begin(&json);
	jsonw_object_end(&json);
	jsonw_object_end(&json);
	jsonw_null(&json);
	jsonw_array_end(&json);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	holds(SPAN("[[],{},1,[\"\"],{\"\":[],\"k\":{}},null]"));
}
END_TEST

START_TEST(a_lone_value_is_a_document)
{
	jsonw_int(&json, 42);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	holds(SPAN("42"));
}
END_TEST

START_TEST(the_deepest_nesting_is_written)
{
	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_array_begin(&json);
	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_array_end(&json);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	ck_assert_uint_eq(buf.len, 2 * JSONW_DEPTH_MAX);
}
END_TEST

START_TEST(a_full_buffer_is_told_at_the_end)
{
	struct buf small;

	buf_init(&small, 3);
	jsonw_init(&json, &small);
	jsonw_array_begin(&json);
	jsonw_text(&json, "abc");
	jsonw_int(&json, 1);
	jsonw_array_end(&json);
	ck_assert_int_eq(jsonw_end(&json), ERR_TOO_LARGE);
	buf_fini(&small);
}
END_TEST

static void
key_in_array(void)
{
	jsonw_array_begin(&json);
	jsonw_key(&json, "a");
}

static void
value_without_key(void)
{
	jsonw_object_begin(&json);
	jsonw_int(&json, 1);
}

static void
key_behind_key(void)
{
	jsonw_object_begin(&json);
	jsonw_key(&json, "a");
	jsonw_key(&json, "b");
}

static void
key_without_value(void)
{
	jsonw_object_begin(&json);
	jsonw_key(&json, "a");
	jsonw_object_end(&json);
}

static void
key_outside(void)
{
	jsonw_key(&json, "a");
}

static void
other_bracket(void)
{
	jsonw_array_begin(&json);
	jsonw_object_end(&json);
}

static void
end_of_nothing(void)
{
	jsonw_array_end(&json);
}

static void
left_open(void)
{
	jsonw_array_begin(&json);
	jsonw_end(&json);
}

static void
two_roots(void)
{
	jsonw_int(&json, 1);
	jsonw_int(&json, 2);
}

static void
too_deep(void)
{
	for (int i = 0; i <= JSONW_DEPTH_MAX; i++)
		jsonw_array_begin(&json);
}

static void (*const misuses[])(void) = {
    key_in_array,
    value_without_key,
    key_behind_key,
    key_without_value,
    key_outside,
    other_bracket,
    end_of_nothing,
    left_open,
    two_roots,
    too_deep,
};

START_TEST(misuse_aborts)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	misuses[_i]();
}
END_TEST

static const struct {
	struct span text;
	struct span escaped;
} escapes[] = {
    {{NULL, 0}, {"", 0}},
    {{"abc", 3}, {"abc", 3}},
    {{"\"\\/", 3}, {"\\\"\\\\/", 5}},
    {{"\b\f\n\r\t", 5}, {"\\b\\f\\n\\r\\t", 10}},
    {{"\0\x01\x1f\x7f", 4}, {"\\u0000\\u0001\\u001f\x7f", 19}},
    {{"caf\xc3\xa9", 5}, {"caf\xc3\xa9", 5}},
    {{"\xe2\x82\xac\xf0\x9f\x98\x80", 7}, {"\xe2\x82\xac\xf0\x9f\x98\x80", 7}},
    {{"a\xff z", 4}, {"a\xef\xbf\xbd z", 6}},
    {{"\xc3", 1}, {"\xef\xbf\xbd", 3}},
    {{"\xc3\"", 2}, {"\xef\xbf\xbd\\\"", 5}},
    {{"\xed\xa0\x80", 3}, {"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 9}},
    {{"\xe2\x82", 2}, {"\xef\xbf\xbd\xef\xbf\xbd", 6}},
    {{"\xc0\xaf", 2}, {"\xef\xbf\xbd\xef\xbf\xbd", 6}},
};

START_TEST(strings_are_escaped)
{
	jsonw_escape(&buf, escapes[_i].text);
	holds(escapes[_i].escaped);
}
END_TEST

START_TEST(a_quoted_string_has_its_quotes)
{
	jsonw_quote(&buf, SPAN("a\nb"));
	jsonw_quote(&buf, span_make(NULL, 0));
	holds(SPAN("\"a\\nb\"\"\""));
}
END_TEST

/* One byte after the other, and nothing in bulk. */
static void
escape_slowly(struct buf *out, struct span text)
{
	static const char named[] = "\"\\\b\f\n\r\t";
	static const char names[] = "\"\\bfnrt";
	size_t at = 0;

	while (at < text.len) {
		unsigned char byte = (unsigned char)text.ptr[at];
		const char *name = byte == 0 ? NULL : strchr(named, byte);
		size_t step = utf8_step(text.ptr + at, text.len - at);

		if (name != NULL)
			buf_addf(out, "\\%c", names[name - named]);
		else if (byte < 0x20)
			buf_addf(out, "\\u%04x", byte);
		else if (step > 0)
			buf_add(out, text.ptr + at, step);
		else
			buf_add_text(out, "\xef\xbf\xbd");
		at += step == 0 ? 1 : step;
	}
}

static void
check_escape(struct span text)
{
	struct buf slow;

	buf_init(&slow, 1 << 16);
	escape_slowly(&slow, text);
	buf_clear(&buf);
	jsonw_escape(&buf, text);
	run_must(span_eq(buf_span(&buf), buf_span(&slow)));
	run_must(jsonw_is_plain(text) == span_eq(text, buf_span(&slow)));
	buf_fini(&slow);
}

/* Every byte at each place of the words that are looked at in bulk. */
START_TEST(every_byte_at_every_place_is_seen)
{
	char text[24];

	for (int byte = 0; byte < 256; byte++) {
		for (size_t place = 0; place < sizeof(text); place++) {
			memset(text, 'a', sizeof(text));
			text[place] = (char)byte;
			check_escape(span_make(text, sizeof(text)));
			check_escape(span_make(text, place + 1));
		}
	}
}
END_TEST

START_TEST(any_bytes_are_escaped_alike_in_bulk_and_one_by_one)
{
	static const char often[] =
	    "aZ09 \"\\\n\x1f\x20\x21\x7f\x80\xc3\xa9\xff";
	char text[200];

	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)round % sizeof(text);

		for (size_t i = 0; i < len; i++) {
			uint64_t bits = random_bits();

			text[i] = bits >> 60 == 0
			    ? (char)(bits >> 40)
			    : often[(bits >> 33) % (sizeof(often) - 1)];
		}
		check_escape(span_make(text, len));
	}
}
END_TEST

static bool
forks(void)
{
	const char *mode = getenv("CK_FORK");

	return mode == NULL || strcmp(mode, "no") != 0;
}

START_TEST(what_was_quoted_comes_back)
{
	char all[0x80];
	struct buf plain;
	struct span text;
	size_t at = 0;

	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	buf_init(&plain, 1 << 16);
	jsonw_quote(&buf, span_make(all, sizeof(all)));
	jsonw_unquote(&plain, buf_span(&buf));
	ck_assert_int_eq(buf_end(&plain), ERR_OK);
	ck_assert(span_eq(buf_span(&plain), span_make(all, sizeof(all))));
	text = jsonw_inside(buf_span(&buf));
	for (unsigned i = 0; i < sizeof(all); i++)
		ck_assert_int_eq(jsonw_plain_byte(text, &at), all[i]);
	ck_assert_uint_eq(at, text.len);
	buf_fini(&plain);
}
END_TEST

static const struct {
	struct span quoted, plain;
} unquoted[] = {
    {{"\"\"", 2}, {"", 0}},
    {{"\"", 1}, {"", 0}},
    {{"", 0}, {"", 0}},
    {{"\"\\\"", 3}, {"\\", 1}},
    {{"\"a\\u00\"", 7}, {"au00", 4}},
    {{"\"\\/\"", 4}, {"/", 1}},
    {{"\"\xc3\xa9\\t\"", 6}, {"\xc3\xa9\t", 3}},
};

START_TEST(what_nobody_quoted_is_read_to_its_end)
{
	char *text = span_dup(unquoted[_i].quoted);
	struct buf plain;

	ck_assert_ptr_nonnull(text);
	buf_init(&plain, 1 << 16);
	jsonw_unquote(&plain, span_make(text, unquoted[_i].quoted.len));
	ck_assert_msg(span_eq(buf_span(&plain), unquoted[_i].plain), "%d: %.*s",
	    _i, SPAN_ARG(buf_span(&plain)));
	buf_fini(&plain);
	free(text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("jsonw");
	TCase *tc = tcase_create("values");
	TCase *text = tcase_create("strings");

	tcase_add_checked_fixture(tc, open_json, close_json);
	tcase_add_test(tc, every_kind_of_value_in_an_object);
	tcase_add_test(tc, commas_stand_between_elements_only);
	tcase_add_test(tc, a_lone_value_is_a_document);
	tcase_add_test(tc, the_deepest_nesting_is_written);
	tcase_add_test(tc, a_full_buffer_is_told_at_the_end);
	if (forks()) /* a test that aborts needs a process to itself */
		tcase_add_loop_test_raise_signal(
		    tc, misuse_aborts, SIGABRT, 0, COUNT(misuses));
	suite_add_tcase(suite, tc);

	tcase_add_checked_fixture(text, open_json, close_json);
	tcase_add_loop_test(text, strings_are_escaped, 0, COUNT(escapes));
	tcase_add_test(text, a_quoted_string_has_its_quotes);
	tcase_add_test(text, every_byte_at_every_place_is_seen);
	tcase_add_test(
	    text, any_bytes_are_escaped_alike_in_bulk_and_one_by_one);
	tcase_add_test(text, what_was_quoted_comes_back);
	tcase_add_loop_test(
	    text, what_nobody_quoted_is_read_to_its_end, 0, COUNT(unquoted));
	suite_add_tcase(suite, text);
	return suite;
}
