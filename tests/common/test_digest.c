#include "common/digest.h"
#include "common/count.h"
#include "common/hex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/quiet.h"
#include "tests/support/run.h"

/* From FIPS 180-4's examples. */
static const struct {
	const char *data, *hex;
} hashes[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

START_TEST(sha256_gives_the_standards_examples)
{
	uint8_t hash[DIGEST_SHA256_LEN];
	char hex[2 * DIGEST_SHA256_LEN + 1];

	digest_sha256(hash, span_of(hashes[_i].data));
	hex_text(hex, hash, sizeof(hash));
	ck_assert_str_eq(hex, hashes[_i].hex);
}
END_TEST

START_TEST(sha256_of_no_pointer_is_that_of_nothing)
{
	uint8_t one[DIGEST_SHA256_LEN], two[DIGEST_SHA256_LEN];

	digest_sha256(one, span_make(NULL, 0));
	digest_sha256(two, SPAN(""));
	ck_assert_mem_eq(one, two, sizeof(one));
}
END_TEST

START_TEST(sha256_of_parts_counts_their_lengths)
{
	/* 02 00 00 00 00 00 00 00 'a' 'b' 01 00 00 00 00 00 00 00 'c' */
	static const char joined[] = "\2\0\0\0\0\0\0\0ab\1\0\0\0\0\0\0\0c";
	uint8_t one[DIGEST_SHA256_LEN], two[DIGEST_SHA256_LEN];
	struct digest_parts *parts;

	digest_sha256(one, span_make(joined, sizeof(joined) - 1));
	ck_assert_int_eq(digest_parts_new(&parts), ERR_OK);
	digest_parts_add(parts, SPAN("ab"));
	digest_parts_add(parts, SPAN("c"));
	ck_assert_int_eq(digest_parts_end(parts, two), ERR_OK);
	ck_assert_mem_eq(one, two, sizeof(one));
	digest_parts_add(parts, SPAN("a")); /* the next one */
	digest_parts_add(parts, SPAN("bc"));
	ck_assert_int_eq(digest_parts_end(parts, two), ERR_OK);
	ck_assert_mem_ne(one, two, sizeof(one));
	ck_assert_int_eq(digest_parts_end(parts, two), ERR_OK);
	digest_sha256(one, SPAN("")); /* of no part */
	ck_assert_mem_eq(one, two, sizeof(one));
	digest_parts_free(parts);
	digest_parts_free(NULL);
}
END_TEST

START_TEST(sha256_of_pieces_is_that_of_the_bytes)
{
	uint8_t one[DIGEST_SHA256_LEN], two[DIGEST_SHA256_LEN];
	struct digest_parts *parts;

	digest_sha256(one, SPAN("abc"));
	ck_assert_int_eq(digest_parts_new(&parts), ERR_OK);
	digest_parts_more(parts, SPAN("a"));
	digest_parts_more(parts, SPAN(""));
	digest_parts_more(parts, SPAN("bc"));
	ck_assert_int_eq(digest_parts_end(parts, two), ERR_OK);
	ck_assert_mem_eq(one, two, sizeof(one));
	digest_parts_free(parts);
}
END_TEST

/* Each of 62 letters comes 1000 times, give or take six deviations. */
START_TEST(random_text_is_of_letters_and_digits_evenly)
{
	enum { LEN = 62000 };
	char *text = malloc(LEN + 1);
	unsigned count[256] = {0};
	unsigned different = 0;

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(digest_random_text(text, LEN), ERR_OK);
	ck_assert_uint_eq(strlen(text), LEN);
	for (int i = 0; i < LEN; i++)
		count[(unsigned char)text[i]]++;
	for (int c = 0; c < 256; c++) {
		if (count[c] == 0)
			continue;
		different++;
		ck_assert((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		    (c >= 'a' && c <= 'z'));
		ck_assert_uint_gt(count[c], 1000 - 190);
		ck_assert_uint_lt(count[c], 1000 + 190);
	}
	ck_assert_uint_eq(different, 62);
	ck_assert_int_eq(digest_random_text(text, 0), ERR_OK);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(random_bytes_differ_each_time)
{
	uint8_t one[16] = {0}, two[16] = {0}, zeros[16] = {0};

	ck_assert_int_eq(digest_random(one, sizeof(one)), ERR_OK);
	ck_assert_int_eq(digest_random(two, sizeof(two)), ERR_OK);
	ck_assert_mem_ne(one, two, sizeof(one));
	ck_assert_mem_ne(one, zeros, sizeof(one));
}
END_TEST

static const struct {
	const char *a, *b;
	bool equal;
} pairs[] = {
    {"", "", true},
    {"secret", "secret", true},
    {"secret", "secreT", false},
    {"Secret", "secret", false},
    {"secret", "secret ", false},
    {"", "secret", false},
};

START_TEST(texts_are_equal_when_all_of_them_is)
{
	struct span a = span_of(pairs[_i].a);
	struct span b = span_of(pairs[_i].b);

	ck_assert_int_eq(digest_equal_text(a, b), pairs[_i].equal);
	if (a.len == b.len)
		ck_assert_int_eq(
		    digest_equal(a.ptr, b.ptr, a.len), pairs[_i].equal);
}
END_TEST

START_TEST(password_fits_its_own_record_only)
{
	char one[DIGEST_PASSWORD_MAX], two[DIGEST_PASSWORD_MAX];

	ck_assert_int_eq(digest_password_make(one, SPAN("correct")), ERR_OK);
	ck_assert_int_eq(digest_password_make(two, SPAN("correct")), ERR_OK);
	ck_assert_str_ne(one, two); /* the salt */
	ck_assert_int_eq(strncmp(one, "scrypt$65536$8$1$", 17), 0);
	ck_assert_ptr_null(strstr(one, "correct"));
	ck_assert(digest_password_check(one, SPAN("correct")));
	ck_assert(digest_password_check(two, SPAN("correct")));
	ck_assert(!digest_password_check(one, SPAN("Correct")));
	ck_assert(!digest_password_check(one, SPAN("")));
	ck_assert(!digest_password_check(NULL, SPAN("correct")));
}
END_TEST

/* N=16 r=1 p=1 of "" and a salt of zeros, by Python's hashlib. */
#define SCRYPT_EMPTY \
	"b2972034c2bf1a57feb1115e69387a00" \
	"e4b7d086511502f8e53cbf9dd2ba17bc"

START_TEST(password_check_is_plain_scrypt)
{
	ck_assert(digest_password_check(
	    "scrypt$16$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
	    SPAN("")));
}
END_TEST

static const char *const damaged[] = {
    "",
    "scrypt",
    "scrypt$65536$8$1$00$00",
    "bcrypt$16$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
    "scrypt$16$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY "$",
    "scrypt$16$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY "0",
    "scrypt$0$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
    "scrypt$-16$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
    "scrypt$1048576$8$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
    "scrypt$16$99$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
    "scrypt$15$1$1$00000000000000000000000000000000$" SCRYPT_EMPTY,
};

START_TEST(damaged_record_fits_no_password)
{
	ck_assert(!digest_password_check(damaged[_i], SPAN("")));
}
END_TEST

/* Measures processor time, so that other work on the machine does not count. */
static clock_t
time_of_check(const char *stored)
{
	clock_t begin = clock();

	ck_assert(!digest_password_check(stored, SPAN("wrong")));
	return clock() - begin;
}

/* Within a factor of three: the time must not show whether a user exists. */
START_TEST(unknown_user_takes_as_long_as_a_wrong_password)
{
	char stored[DIGEST_PASSWORD_MAX];
	clock_t known, unknown;

	ck_assert_int_eq(digest_password_make(stored, SPAN("right")), ERR_OK);
	known = time_of_check(stored);
	unknown = time_of_check(NULL);
	ck_assert_int_gt(unknown, known / 3);
	ck_assert_int_lt(unknown, known * 3);
}
END_TEST

START_TEST(forgotten_secret_is_gone)
{
	char secret[] = "secret";
	static const char zeros[sizeof(secret)];

	digest_forget(secret, sizeof(secret));
	ck_assert_mem_eq(secret, zeros, sizeof(secret));
}
END_TEST

/* RFC 4231; the key of the last is longer than a block. */
START_TEST(hmac_of_parts_is_that_of_the_whole)
{
	static const struct {
		const char *key;
		size_t times; /* that the key is repeated */
		struct span parts[2];
		const char *hex;
	} macs[] = {
	    {"Jefe", 1, {SPAN("what do ya want "), SPAN("for nothing?")},
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec"
		"3843"},
	    {"\x0b", 20, {SPAN("Hi There"), SPAN("")},
		"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32"
		"cff7"},
	    {"\xaa", 131,
		{SPAN("Test Using Larger Than Block-Size Key"),
		    SPAN(" - Hash Key First")},
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee3"
		"7f54"},
	};
	uint8_t mac[DIGEST_SHA256_LEN];
	char key[256], hex[2 * DIGEST_SHA256_LEN + 1];
	size_t j, len;

	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		for (j = len = 0; j < macs[i].times; j++) {
			memcpy(key + len, macs[i].key, strlen(macs[i].key));
			len += strlen(macs[i].key);
		}
		digest_hmac_sha256(mac, span_make(key, len), macs[i].parts, 2);
		hex_text(hex, mac, sizeof(mac));
		ck_assert_str_eq(hex, macs[i].hex);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("digest");
	TCase *tc = tcase_create("digest");

	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(
	    tc, sha256_gives_the_standards_examples, 0, COUNT(hashes));
	tcase_add_test(tc, sha256_of_no_pointer_is_that_of_nothing);
	tcase_add_test(tc, sha256_of_parts_counts_their_lengths);
	tcase_add_test(tc, sha256_of_pieces_is_that_of_the_bytes);
	tcase_add_test(tc, random_text_is_of_letters_and_digits_evenly);
	tcase_add_test(tc, random_bytes_differ_each_time);
	tcase_add_loop_test(
	    tc, texts_are_equal_when_all_of_them_is, 0, COUNT(pairs));
	tcase_add_test(tc, password_fits_its_own_record_only);
	tcase_add_test(tc, password_check_is_plain_scrypt);
	tcase_add_loop_test(
	    tc, damaged_record_fits_no_password, 0, COUNT(damaged));
	tcase_add_test(tc, unknown_user_takes_as_long_as_a_wrong_password);
	tcase_add_test(tc, forgotten_secret_is_gone);
	tcase_add_test(tc, hmac_of_parts_is_that_of_the_whole);
	suite_add_tcase(suite, tc);
	return suite;
}
