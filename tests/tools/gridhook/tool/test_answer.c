#include "tests/support/run.h"

#include "tools/gridhook/tool/answer.h"
#include "common/base64.h"

static const struct {
	const char *plain, *coded;
} pairs[] = {
    /* RFC 4648, 10 */
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd", "//79"},
    {"\xfb\xf0", "+/A="},
};

START_TEST(bytes_are_coded_as_the_standard_shows)
{
	struct buf buf;

	buf_init(&buf, 100);
	base64_add(&buf, span_of(pairs[_i].plain));
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	buf_add_char(&buf, '\0');
	ck_assert_str_eq(buf.data, pairs[_i].coded);
	buf_fini(&buf);
}
END_TEST

static void
check_written(struct answer *answer, const char *expected)
{
	struct buf out;

	buf_init(&out, 10000);
	ck_assert_int_eq(answer_write(answer, &out), ERR_OK);
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, expected);
	buf_fini(&out);
	answer_fini(answer);
}

START_TEST(text_and_image_items_stand_in_order)
{
	struct answer answer;

	answer_init(&answer);
	answer_text(&answer, "a \"%s\"", "b");
	answer_image(&answer, SPAN("foo"), "image/png");
	check_written(&answer,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"a \\\"b\\\"\"},"
	    "{\"type\":\"image\",\"data\":\"Zm9v\","
	    "\"mimeType\":\"image/png\"}],\"isError\":false}\n");
}
END_TEST

START_TEST(an_object_is_also_text_where_there_is_no_other)
{
	struct answer answer;
	struct jsonw *object;

	answer_init(&answer);
	object = answer_object_begin(&answer);
	jsonw_key(object, "n");
	jsonw_int(object, 1);
	answer_object_end(&answer);
	check_written(&answer,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"}],"
	    "\"structuredContent\":{\"n\":1},\"isError\":false}\n");
}
END_TEST

START_TEST(an_object_leaves_other_text_alone)
{
	struct answer answer;

	answer_init(&answer);
	answer_object_begin(&answer);
	answer_object_end(&answer);
	answer_text(&answer, "said");
	check_written(&answer,
	    "{\"content\":[{\"type\":\"text\",\"text\":\"said\"}],"
	    "\"structuredContent\":{},\"isError\":false}\n");
}
END_TEST

START_TEST(a_failure_is_an_error_with_its_text)
{
	struct buf out;

	buf_init(&out, 1000);
	ck_assert_int_eq(answer_write_failure(&out, "no \x01 display"), ERR_OK);
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data,
	    "{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"no \\u0001 display\"}],\"isError\":true}\n");
	buf_fini(&out);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool answer");
	TCase *tc = tcase_create("answer");

	tcase_add_loop_test(tc, bytes_are_coded_as_the_standard_shows, 0,
	    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tc, text_and_image_items_stand_in_order);
	tcase_add_test(tc, an_object_is_also_text_where_there_is_no_other);
	tcase_add_test(tc, an_object_leaves_other_text_alone);
	tcase_add_test(tc, a_failure_is_an_error_with_its_text);
	suite_add_tcase(suite, tc);
	return suite;
}
