#include "lmdb-schema/key.h"

#include "common/date.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static const struct {
	const char *bytes;
	size_t len;
	bool ok;
} codes[] = {
    {"7", 1, true},
    {"A-1 b/%.\"\\", 10, true},
    {"caf\xc3\xa9", 5, true},
    {"", 0, false},
    {"a\0b", 3, false},
    {"a\nb", 3, false},
    {"\x1f", 1, false},
    {"\x7f", 1, false},
    {"0123456789012345678901234567890123456789012345678901234567890123", 64,
	true},
    {"01234567890123456789012345678901234567890123456789012345678901234", 65,
	false},
};

START_TEST(a_code_has_1_to_64_bytes_and_no_control)
{
	ck_assert_int_eq(key_code_ok(span_make(codes[_i].bytes, codes[_i].len)),
	    codes[_i].ok);
}
END_TEST

START_TEST(a_pair_comes_apart_again)
{
	struct key key = key_pair(SPAN("F12"), SPAN("00771"));

	ck_assert_uint_eq(key.len, 9);
	ck_assert_mem_eq(key.bytes, "F12\00000771", 9);
	ck_assert(span_eq(key_first(key_span(&key)), SPAN("F12")));
	ck_assert(span_eq(key_second(key_span(&key)), SPAN("00771")));
}
END_TEST

START_TEST(what_has_no_separator_has_no_second)
{
	ck_assert_uint_eq(key_second(SPAN("F12")).len, 0);
	ck_assert_uint_eq(key_second(SPAN("")).len, 0);
	ck_assert(span_eq(key_first(SPAN("F12")), SPAN("F12")));
}
END_TEST

START_TEST(a_prefix_begins_its_pairs_and_no_others)
{
	struct key prefix = key_prefix(SPAN("F1"));
	struct key pair = key_pair(SPAN("F1"), SPAN("2"));
	struct key other = key_pair(SPAN("F12"), SPAN("2"));

	ck_assert(span_starts(key_span(&pair), key_span(&prefix)));
	ck_assert(!span_starts(key_span(&other), key_span(&prefix)));
}
END_TEST

START_TEST(the_longest_pairs_fit)
{
	char a[SCHEMA_CODE_MAX], b[SCHEMA_CODE_MAX];
	struct key key;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	key = key_pair(span_make(a, sizeof(a)), span_make(b, sizeof(b)));
	ck_assert_uint_eq(key.len, 2 * SCHEMA_CODE_MAX + 1);
	key = key_pair_u64(span_make(a, sizeof(a)), UINT64_MAX);
	ck_assert_uint_eq(key.len, SCHEMA_CODE_MAX + 9);
}
END_TEST

START_TEST(what_is_no_code_is_cut_and_harms_nothing)
{
	char a[1000];
	struct key key;

	memset(a, 'a', sizeof(a));
	key = key_pair(span_make(a, sizeof(a)), span_make(a, sizeof(a)));
	ck_assert_uint_eq(key.len, 2 * SCHEMA_CODE_MAX + 1);
}
END_TEST

START_TEST(numbers_in_keys_sort)
{
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t a = random_bits() >> random_bits() % 64;
		uint64_t b = random_bits() >> random_bits() % 64;
		struct key ka = key_pair_u64(SPAN("S"), a);
		struct key kb = key_pair_u64(SPAN("S"), b);
		int way = span_cmp(key_span(&ka), key_span(&kb));

		run_must((way < 0) == (a < b) && (way == 0) == (a == b));
		run_must(key_read_u64(key_second(key_span(&ka))) == a ||
		    memchr(ka.bytes + 2, 0, 8) != NULL);
		run_must(key_read_u64(span_from(key_span(&ka), 2)) == a);
		ka = key_pair_u32(SPAN("S"), (uint32_t)a);
		run_must(
		    key_read_u32(span_from(key_span(&ka), 2)) == (uint32_t)a);
	}
}
END_TEST

START_TEST(numbers_of_another_length_are_0)
{
	ck_assert_uint_eq(key_read_u32(SPAN("abc")), 0);
	ck_assert_uint_eq(key_read_u64(SPAN("abcd")), 0);
	ck_assert_uint_eq(key_value_u32(SPAN("")), 0);
	ck_assert_uint_eq(key_value_u64(SPAN("123456789")), 0);
}
END_TEST

START_TEST(values_are_little_endian)
{
	struct key value = key_of_u64(UINT64_C(0x0102030405060708));

	ck_assert_mem_eq(value.bytes, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
	ck_assert_uint_eq(
	    key_value_u64(key_span(&value)), UINT64_C(0x0102030405060708));
	ck_assert_uint_eq(key_value_u32(SPAN("\x01\x02\x00\x00")), 0x0201);
}
END_TEST

START_TEST(a_generations_text_reads_back)
{
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t gen = random_bits() >> i % 64, back = 0;
		char text[KEY_GENERATION_LEN + 1];

		key_generation_text(text, gen);
		ck_assert_uint_eq(strlen(text), KEY_GENERATION_LEN);
		ck_assert(key_generation(&back, span_of(text)));
		ck_assert_uint_eq(back, gen);
	}
}
END_TEST

static const char *const no_generations[] = {"", "019a1b2c3d4e5f6",
    "019a1b2c3d4e5f601", "019A1B2C3D4E5F60", "019a1b2c3d4e5f6g",
    " 19a1b2c3d4e5f60", "0x9a1b2c3d4e5f60", "-19a1b2c3d4e5f60"};

START_TEST(what_is_no_generation_is_refused)
{
	uint64_t gen = 7;

	ck_assert(!key_generation(&gen, span_of(no_generations[_i])));
	ck_assert_uint_eq(gen, 7);
}
END_TEST

START_TEST(generations_grow_also_when_the_clock_does_not)
{
	uint64_t now = key_generation_next(0), last = now;

	ck_assert_uint_ge(now, (uint64_t)(date_now_ms() - 5000) * 1000);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t next = key_generation_next(last);

		ck_assert_uint_gt(next, last);
		last = next;
	}
	ck_assert_uint_eq(
	    key_generation_next(UINT64_C(1) << 62), (UINT64_C(1) << 62) + 1);
}
END_TEST

START_TEST(a_generation_after_a_lost_one_is_new)
{
	uint64_t last = key_generation_next(0);

	for (int i = 0; i < 500; i++)
		last = key_generation_next(last);
	ck_assert_uint_gt(key_generation_next(key_generation_lost()), last);
}
END_TEST

static const struct {
	const char *code, *file;
} files[] = {
    {"F-1_a", "F-1_a"},
    {"../../x", "%2E%2E%2F%2E%2E%2Fx"},
    {".", "%2E"},
    {"a b%", "a%20b%25"},
    {"\xc3\xa9", "%C3%A9"},
};

START_TEST(a_code_in_a_file_name_cannot_leave_its_folder)
{
	char text[KEY_FILE_MAX];

	key_file_text(text, span_of(files[_i].code));
	ck_assert_str_eq(text, files[_i].file);
}
END_TEST

START_TEST(the_longest_code_has_a_file_name)
{
	char code[SCHEMA_CODE_MAX], text[KEY_FILE_MAX];

	memset(code, '/', sizeof(code));
	key_file_text(text, span_make(code, sizeof(code)));
	ck_assert_uint_eq(strlen(text), 3 * SCHEMA_CODE_MAX);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("key");
	TCase *tc = tcase_create("key");

	tcase_add_loop_test(tc, a_code_has_1_to_64_bytes_and_no_control, 0,
	    sizeof(codes) / sizeof(codes[0]));
	tcase_add_test(tc, a_pair_comes_apart_again);
	tcase_add_test(tc, what_has_no_separator_has_no_second);
	tcase_add_test(tc, a_prefix_begins_its_pairs_and_no_others);
	tcase_add_test(tc, the_longest_pairs_fit);
	tcase_add_test(tc, what_is_no_code_is_cut_and_harms_nothing);
	tcase_add_test(tc, numbers_in_keys_sort);
	tcase_add_test(tc, numbers_of_another_length_are_0);
	tcase_add_test(tc, values_are_little_endian);
	tcase_add_test(tc, a_generations_text_reads_back);
	tcase_add_test(tc, a_generation_after_a_lost_one_is_new);
	tcase_add_loop_test(tc, what_is_no_generation_is_refused, 0,
	    sizeof(no_generations) / sizeof(no_generations[0]));
	tcase_add_test(tc, generations_grow_also_when_the_clock_does_not);
	tcase_add_loop_test(tc, a_code_in_a_file_name_cannot_leave_its_folder,
	    0, sizeof(files) / sizeof(files[0]));
	tcase_add_test(tc, the_longest_code_has_a_file_name);
	suite_add_tcase(suite, tc);
	return suite;
}
