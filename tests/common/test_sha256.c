#include "common/sha256.h"

#include <string.h>

#include "common/count.h"
#include "common/digest.h"
#include "common/hex.h"
#include "tests/support/run.h"

#define LONGEST 400

/* From FIPS 180-4's examples; the last one is a million times "a". */
static const struct {
	const char *data, *hex;
	unsigned times;
} hashes[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 1},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	1},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", 1},
    {"aaaaaaaaaa",
	"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	100000},
};

static void
fill(char *bytes, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(unsigned char)(i * 167 + seed * 31 + i / 7);
}

START_TEST(it_gives_the_standards_examples)
{
	uint8_t hash[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	struct sha256 sha;

	sha256_begin(&sha);
	for (unsigned i = 0; i < hashes[_i].times; i++)
		sha256_add(&sha, span_of(hashes[_i].data));
	sha256_end(&sha, hash);
	hex_text(hex, hash, sizeof(hash));
	ck_assert_str_eq(hex, hashes[_i].hex);
}
END_TEST

START_TEST(each_length_hashes_as_by_openssl)
{
	uint8_t own[SHA256_LEN], openssl[DIGEST_SHA256_LEN];
	char bytes[LONGEST];

	for (size_t len = 0; len <= LONGEST; len++) {
		fill(bytes, len, (unsigned)len);
		sha256_hash(own, span_make(bytes, len));
		digest_sha256(openssl, span_make(bytes, len));
		ck_assert_mem_eq(own, openssl, sizeof(own));
	}
}
END_TEST

START_TEST(parts_hash_as_the_whole_wherever_it_is_cut)
{
	uint8_t whole[SHA256_LEN], parts[SHA256_LEN];
	char bytes[LONGEST];
	struct sha256 sha;

	fill(bytes, sizeof(bytes), 5);
	sha256_hash(whole, span_make(bytes, sizeof(bytes)));
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		sha256_begin(&sha);
		sha256_add(&sha, span_make(bytes, cut));
		sha256_add(&sha, span_make(NULL, 0));
		sha256_add(&sha, span_make(bytes + cut, sizeof(bytes) - cut));
		sha256_end(&sha, parts);
		ck_assert_mem_eq(whole, parts, sizeof(whole));
	}
}
END_TEST

START_TEST(the_end_wipes_what_was_hashed)
{
	struct sha256 sha, nothing;
	uint8_t hash[SHA256_LEN];

	memset(&nothing, 0, sizeof(nothing));
	sha256_begin(&sha);
	sha256_add(&sha, SPAN("a secret"));
	sha256_end(&sha, hash);
	ck_assert_mem_eq(&sha, &nothing, sizeof(sha));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("sha256");
	TCase *tc = tcase_create("sha256");

	tcase_add_loop_test(
	    tc, it_gives_the_standards_examples, 0, COUNT(hashes));
	tcase_add_test(tc, each_length_hashes_as_by_openssl);
	tcase_add_test(tc, parts_hash_as_the_whole_wherever_it_is_cut);
	tcase_add_test(tc, the_end_wipes_what_was_hashed);
	suite_add_tcase(suite, tc);
	return suite;
}
