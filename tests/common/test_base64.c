/* tests/common/test_base64.c: common/base64.h */
#include "common/base64.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/run.h"

/* RFC 4648, section 10, and bytes that are no text. */
static const struct {
	const char *plain, *text;
} pairs[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd\xfb", "//79+w=="},
};

START_TEST(text_is_that_of_the_rfc_and_is_read_back)
{
	struct span plain = span_of(pairs[_i].plain);
	uint8_t bytes[16];
	struct buf buf;
	size_t len;

	buf_init(&buf, 64);
	base64_add(&buf, plain);
	ck_assert(span_eq(buf_span(&buf), span_of(pairs[_i].text)));
	ck_assert(base64_bytes(bytes, sizeof(bytes), &len, buf_span(&buf)));
	ck_assert(span_eq(span_make(bytes, len), plain));
	buf_fini(&buf);
}
END_TEST

START_TEST(other_text_and_too_much_of_it_are_refused)
{
	uint8_t bytes[3];
	size_t len;

	ck_assert(!base64_bytes(bytes, 3, &len, SPAN("Zm9!")));
	ck_assert(!base64_bytes(bytes, 3, &len, SPAN("Zm 9")));
	ck_assert(!base64_bytes(bytes, 3, &len, SPAN("Zm9vYg==")));
	ck_assert(base64_bytes(bytes, 3, &len, SPAN("Zm9v")));
	ck_assert_uint_eq(len, 3);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("base64");
	TCase *tc = tcase_create("base64");

	tcase_add_loop_test(tc, text_is_that_of_the_rfc_and_is_read_back, 0,
	    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tc, other_text_and_too_much_of_it_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
