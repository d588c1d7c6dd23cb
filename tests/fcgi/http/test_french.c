#include <string.h>

#include "fcgi/http/french.h"
#include "tests/support/run.h"

/* The conversions of a format, each with a blank behind it. */
static void
conversions(char out[256], const char *format)
{
	size_t len = 0;

	while ((format = strchr(format, '%')) != NULL) {
		size_t more = 1 + strspn(format + 1, ".*lz") + 1;

		memcpy(out + len, format, more);
		len += more;
		out[len++] = ' ';
		format += more;
	}
	out[len] = '\0';
}

START_TEST(each_sentence_takes_the_same_values_in_both_languages)
{
	const char *english, *french;
	char one[256], other[256];
	unsigned i = 0;

	for (; french_row(i, &english, &french); i++) {
		conversions(one, english);
		conversions(other, french);
		ck_assert_str_eq(one, other);
		ck_assert_str_ne(english, french);
	}
	ck_assert_uint_gt(i, 100);
}
END_TEST

START_TEST(no_sentence_stands_twice)
{
	const char *english, *french, *other;

	for (unsigned i = 0; french_row(i, &english, &french); i++)
		for (unsigned k = 0; k < i; k++) {
			french_row(k, &other, &french);
			ck_assert_str_ne(english, other);
		}
}
END_TEST

START_TEST(a_text_without_a_row_stays_as_it_is)
{
	char text[256];

	ck_assert_str_eq(french_of("no such text"), "no such text");
	ck_assert_str_eq(
	    french_made(text, sizeof(text), "no such text"), "no such text");
	ck_assert(span_eq(french_span(SPAN("no such")), SPAN("no such")));
}
END_TEST

START_TEST(a_made_text_keeps_its_value)
{
	char text[256];

	ck_assert_str_eq(
	    french_made(text, sizeof(text), "has over 64 parameters"),
	    "a plus de 64 paramètres");
	ck_assert_str_eq(french_made(text, sizeof(text), "must be 0 or 1"),
	    "doit être 0 ou 1");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("french");
	TCase *tc = tcase_create("french");

	tcase_add_test(
	    tc, each_sentence_takes_the_same_values_in_both_languages);
	tcase_add_test(tc, no_sentence_stands_twice);
	tcase_add_test(tc, a_text_without_a_row_stays_as_it_is);
	tcase_add_test(tc, a_made_text_keeps_its_value);
	suite_add_tcase(suite, tc);
	return suite;
}
