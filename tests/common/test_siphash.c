/* tests/common/test_siphash.c: common/siphash.h */
#include "common/siphash.h"

#include <string.h>

#include "common/hex.h"
#include "tests/support/run.h"

/*
 * The key is the bytes 00 to 0f, the text the bytes 00, 01 and so on; for
 * i in 0 1 7 8 15 63:  head -c i TEXT | openssl mac -macopt size:16 \
 *     -macopt hexkey:000102030405060708090a0b0c0d0e0f SIPHASH
 */
static const struct {
	size_t len;
	const char *hash;
} cases[] = {
    {0, "a3817f04ba25a8e66df67214c7550293"},
    {1, "da87c1d86b99af44347659119b22fc45"},
    {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
    {8, "3b62a9ba6258f5610f83e264f31497b4"},
    {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
    {63, "5150d1772f50834a503e069a973fbd7c"},
};

START_TEST(texts_of_all_lengths_have_the_standards_hashes)
{
	uint8_t key[SIPHASH_KEY_LEN], out[SIPHASH_LEN];
	char data[64], text[2 * SIPHASH_LEN + 1];

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (char)i;
	siphash(out, key, span_make(data, cases[_i].len));
	hex_text(text, out, sizeof(out));
	ck_assert_str_eq(text, cases[_i].hash);
}
END_TEST

START_TEST(another_key_gives_another_hash)
{
	uint8_t key[SIPHASH_KEY_LEN] = {1}, other[SIPHASH_KEY_LEN] = {2};
	uint8_t a[SIPHASH_LEN], b[SIPHASH_LEN];

	siphash(a, key, SPAN("text"));
	siphash(b, other, SPAN("text"));
	ck_assert_mem_ne(a, b, sizeof(a));
	siphash(b, key, SPAN("text"));
	ck_assert_mem_eq(a, b, sizeof(a));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("siphash");
	TCase *tc = tcase_create("siphash");

	tcase_add_loop_test(tc, texts_of_all_lengths_have_the_standards_hashes,
	    0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, another_key_gives_another_hash);
	suite_add_tcase(suite, tc);
	return suite;
}
