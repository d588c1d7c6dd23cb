/* tests/common/test_hex.c: common/hex.h */
#include "common/hex.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/run.h"

static const struct {
	const char *text;
	size_t len;
	bool good;
} hexes[] = {
    {"00ff7A", 3, true},
    {"", 0, true},
    {"00ff7", 3, false},
    {"00ff7a0", 3, false},
    {"00ff7a00", 3, false},
    {"00ff7g", 3, false},
    {"00ff7 ", 3, false},
    {"0x0000", 3, false},
    {"", 1, false},
};

START_TEST(hex_is_read_only_when_exact)
{
	uint8_t bytes[3] = {0};

	ck_assert_int_eq(
	    hex_bytes(bytes, hexes[_i].len, span_of(hexes[_i].text)),
	    hexes[_i].good);
	if (hexes[_i].good && hexes[_i].len > 0)
		ck_assert_mem_eq(bytes, "\x00\xff\x7a", 3);
}
END_TEST

START_TEST(text_of_bytes_is_read_back)
{
	uint8_t bytes[256], back[256];
	char text[2 * sizeof(bytes) + 1];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	hex_text(text, bytes, sizeof(bytes));
	ck_assert_uint_eq(strlen(text), 2 * sizeof(bytes));
	ck_assert(hex_bytes(back, sizeof(back), span_of(text)));
	ck_assert_mem_eq(bytes, back, sizeof(bytes));
}
END_TEST

START_TEST(digits_are_those_of_strtol)
{
	for (int c = -128; c < 128; c++) {
		char text[] = {(char)c, '\0'};
		const char *place =
		    c == 0 ? NULL : strchr("0123456789abcdef", c);
		const char *upper =
		    c == 0 ? NULL : strchr("0123456789ABCDEF", c);

		if (place == NULL && upper == NULL)
			ck_assert_int_eq(hex_digit(text[0]), -1);
		else
			ck_assert_int_eq(
			    hex_digit(text[0]), strtol(text, NULL, 16));
	}
}
END_TEST

/* `good` is how many of the bytes were none of a bad escape. */
static const struct {
	struct span in, out;
	unsigned bad;
} percents[] = {
    {{"", 0}, {"", 0}, 0},
    {{"a%20b", 5}, {"a b", 3}, 0},
    {{"%2F%2f", 6}, {"//", 2}, 0},
    {{"%00", 3}, {"\0", 1}, 0},
    {{"%", 1}, {"%", 1}, 1},
    {{"%4", 2}, {"%4", 2}, 1},
    {{"%zz%41", 6}, {"%zzA", 4}, 1},
    {{"%%41", 4}, {"%A", 2}, 1},
    {{"a+b", 3}, {"a+b", 3}, 0},
};

START_TEST(escapes_are_bytes_and_bad_ones_stay)
{
	struct span rest = percents[_i].in;
	char out[16];
	size_t len = 0;
	unsigned bad = 0;

	while (rest.len > 0)
		bad += !hex_percent(&out[len++], &rest);
	ck_assert_uint_eq(bad, percents[_i].bad);
	ck_assert(span_eq(span_make(out, len), percents[_i].out));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hex");
	TCase *tc = tcase_create("hex");

	tcase_add_loop_test(tc, hex_is_read_only_when_exact, 0,
	    sizeof(hexes) / sizeof(hexes[0]));
	tcase_add_test(tc, text_of_bytes_is_read_back);
	tcase_add_test(tc, digits_are_those_of_strtol);
	tcase_add_loop_test(tc, escapes_are_bytes_and_bad_ones_stay, 0,
	    sizeof(percents) / sizeof(percents[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
