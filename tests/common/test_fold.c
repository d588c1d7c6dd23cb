/*
 * The reference is utf8proc's result for the whole text: the code under test
 * folds character by character, by its own tables where it can.
 */
#include "common/fold.h"
#include "common/count.h"
#include "common/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

#define POINT_END 0x110000

static bool
is_surrogate(int32_t point)
{
	return point >= 0xd800 && point < 0xe000;
}

static struct span
encode(utf8proc_uint8_t bytes[4], int32_t point)
{
	return span_make(bytes, (size_t)utf8proc_encode_char(point, bytes));
}

static bool
is_blank(int32_t point)
{
	utf8proc_category_t category = utf8proc_category(point);

	return category == UTF8PROC_CATEGORY_CC ||
	    category == UTF8PROC_CATEGORY_ZS ||
	    category == UTF8PROC_CATEGORY_ZL ||
	    category == UTF8PROC_CATEGORY_ZP;
}

/* Ligatures and blanks, on what utf8proc made of the text. */
static void
finish(struct buf *out, const utf8proc_uint8_t *at, utf8proc_ssize_t len)
{
	bool blank = false;
	size_t start = out->len;

	while (len > 0) {
		utf8proc_int32_t point;
		utf8proc_ssize_t step = utf8proc_iterate(at, len, &point);

		run_must(step > 0);
		if (is_blank(point)) {
			blank = out->len > start;
		} else {
			if (blank)
				buf_add_char(out, ' ');
			blank = false;
			if (point == 0xe6)
				buf_add_text(out, "ae");
			else if (point == 0x153)
				buf_add_text(out, "oe");
			else
				buf_add(out, at, (size_t)step);
		}
		at += step;
		len -= step;
	}
}

static void
reference(struct buf *out, struct span text)
{
	utf8proc_uint8_t *mapped = NULL;
	utf8proc_ssize_t len = utf8proc_map((const utf8proc_uint8_t *)text.ptr,
	    (utf8proc_ssize_t)text.len, &mapped,
	    UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
		UTF8PROC_STRIPMARK | UTF8PROC_IGNORE);

	run_must(len >= 0);
	buf_clear(out);
	finish(out, mapped, len);
	free(mapped);
	run_must(buf_end(out) == ERR_OK);
}

static struct buf got;
static struct buf again;
static struct buf expected;

static void
open_bufs(void)
{
	buf_init(&got, 1 << 20);
	buf_init(&again, 1 << 20);
	buf_init(&expected, 1 << 20);
}

static void
close_bufs(void)
{
	buf_fini(&got);
	buf_fini(&again);
	buf_fini(&expected);
}

static void
check_fold(struct span text)
{
	buf_clear(&got);
	fold_add(&got, text);
	run_must(buf_end(&got) == ERR_OK);
	reference(&expected, text);
	run_must(span_eq(buf_span(&got), buf_span(&expected)));
	run_must(utf8_is_valid(buf_span(&got)));
	buf_clear(&again);
	fold_add(&again, buf_span(&got));
	run_must(buf_end(&again) == ERR_OK);
	run_must(span_eq(buf_span(&again), buf_span(&got)));
}

START_TEST(every_character_folds_as_utf8proc_says_and_once_is_enough)
{
	utf8proc_uint8_t bytes[4];

	for (int32_t point = 0; point < POINT_END; point++)
		if (!is_surrogate(point))
			check_fold(encode(bytes, point));
}
END_TEST

/* Blanks at both ends of a character may melt together with its own. */
START_TEST(every_character_folds_between_others)
{
	utf8proc_uint8_t bytes[4];
	char text[16];

	for (int32_t point = 0; point < 0x30000; point++) {
		struct span one;

		if (is_surrogate(point))
			continue;
		one = encode(bytes, point);
		memcpy(text, "A ", 2);
		memcpy(text + 2, one.ptr, one.len);
		memcpy(text + 2 + one.len, " b", 2);
		check_fold(span_make(text, one.len + 4));
	}
}
END_TEST

/* Mostly ASCII and accented letters, now and then anything. */
static int32_t
random_point(void)
{
	static const int32_t ends[] = {
	    0x80, 0x80, 0x80, 0x180, 0x180, 0x370, 0x3000, 0x10000, POINT_END};
	int32_t point;

	if (random_bits() % 6 == 0)
		return ' ';
	do
		point = (int32_t)(random_bits() %
		    (uint64_t)ends[random_bits() % COUNT(ends)]);
	while (is_surrogate(point));
	return point;
}

START_TEST(long_texts_fold_as_utf8proc_says)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	for (int i = 0; i < 2000; i++) {
		uint64_t count = random_bits() % 1200;

		buf_clear(&text);
		while (count-- > 0) {
			utf8proc_uint8_t bytes[4];

			buf_add_span(&text, encode(bytes, random_point()));
		}
		check_fold(buf_span(&text));
	}
	buf_fini(&text);
}
END_TEST

/* The text is put together in chunks; blanks stand across their borders. */
START_TEST(blanks_melt_wherever_a_chunk_ends)
{
	char text[1400];

	for (size_t before = 400; before < 1100; before++) {
		memset(text, 'A', sizeof(text));
		memset(text + before, ' ', 300);
		check_fold(span_make(text, sizeof(text)));
		check_fold(span_make(text, before + 300));
		run_must(got.len == before);
	}
}
END_TEST

static const struct {
	const char *text;
	const char *folded;
} folds[] = {
    {"", ""},
    {NULL, ""},
    {"abc", "abc"},
    {"ABC xyz", "abc xyz"},
    {"Crème BRÛLÉE", "creme brulee"},
    {"creme brulee", "creme brulee"},
    {"Cre\xcc\x80me", "creme"},
    {"Œuf, cœur, ŒUVRE", "oeuf, coeur, oeuvre"},
    {"Æther ex æquo ǽ Ǣ", "aether ex aequo ae ae"},
    {"Straße STRASSE ẞ", "strasse strasse ss"},
    {"ﬁn ﬂan ﬀ", "fin flan ff"},
    {"Ŀl ŀ ŉ ſ", "l·l l· ʼn s"},
    {"№ 5 ™ ½ ²", "no 5 tm 1⁄2 2"},
    {"ＦＵＬＬ　width", "full width"},
    {"ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"},
    {"Ёлка ЙОГУРТ", "елка иогурт"},
    {"İstanbul", "istanbul"},
    {"  a  b\t\tc \n", "a b c"},
    {"a\xc2\xa0"
     "b\xe2\x80\xa8"
     "c\xc2\x85"
     "d",
	"a b c d"},
    {"\x01\x1f\x7f", ""},
    {"a\x01\x1f\x7fz", "a z"},
    {"co\xc2\xadop", "coop"},
    {"\xef\xbb\xbf"
     "bom",
	"bom"},
    {"zero\xe2\x80\x8bwidth", "zerowidth"},
    {"\xcc\x81", ""},
    {" \xcc\x81 ", ""},
    {"a \xcc\x81 b", "a b"},
    {"¨", ""},
    {"a¨b", "a b"},
    {"100 % - (x) [y] {z} ~^`", "100 % - (x) [y] {z} ~^`"},
};

START_TEST(texts_fold)
{
	fold_add(&got, span_of(folds[_i].text));
	ck_assert_int_eq(buf_end(&got), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&got), span_of(folds[_i].folded)),
	    "\"%.*s\" is not \"%s\"", SPAN_ARG(buf_span(&got)),
	    folds[_i].folded);
}
END_TEST

START_TEST(nul_is_a_blank)
{
	fold_add(&got, SPAN("\0A\0\0B\0"));
	ck_assert(span_eq(buf_span(&got), SPAN("a b")));
}
END_TEST

START_TEST(it_is_appended_and_a_space_before_it_stays)
{
	buf_add_text(&got, "X ");
	fold_add(&got, SPAN(" A "));
	fold_add(&got, SPAN("  "));
	fold_add(&got, SPAN("B"));
	ck_assert(span_eq(buf_span(&got), SPAN("X ab")));
}
END_TEST

START_TEST(the_ceiling_is_for_what_comes_out)
{
	struct buf small;

	buf_init(&small, 3);
	fold_add(&small, SPAN("  \xc3\x89t\xc3\xa9   "));
	ck_assert_int_eq(buf_end(&small), ERR_OK);
	ck_assert(span_eq(buf_span(&small), SPAN("ete")));
	buf_clear(&small);
	fold_add(&small, SPAN("\xc3\x89t\xc3\xa9s"));
	ck_assert_int_eq(buf_end(&small), ERR_TOO_LARGE);
	buf_fini(&small);
}
END_TEST

static const char *const malformed[] = {
    "\x80",
    "\xbf",
    "\xc0\x80",
    "\xc1\xbf",
    "\xc2",
    "\xc2 ",
    "\xc3\xc3",
    "\xc5",
    "\xe0\x80\x80",
    "\xe0\x9f\xbf",
    "\xe2\x82",
    "\xe2\x82 ",
    "\xed\xa0\x80",
    "\xed\xbf\xbf",
    "\xf0\x80\x80\x80",
    "\xf0\x8f\xbf\xbf",
    "\xf0\x9f\x98",
    "\xf4\x90\x80\x80",
    "\xf5\x80\x80\x80",
    "\xf8\x88\x80\x80\x80",
    "\xfe",
    "\xff",
    "\xe9t\xe9",
};

START_TEST(what_is_not_utf8_is_refused)
{
	struct span bad = span_of(malformed[_i]);
	struct buf text;

	ck_assert(!utf8_is_valid(bad));
	fold_add(&got, bad);
	ck_assert_int_eq(buf_end(&got), ERR_BAD_INPUT);
	/* Behind text that the fast ways take, too. */
	buf_init(&text, 100);
	buf_add_text(&text, "abcdefghijklmnop\xc3\xa9");
	ck_assert(utf8_is_valid(buf_span(&text)));
	buf_add_span(&text, bad);
	ck_assert(!utf8_is_valid(buf_span(&text)));
	fold_add(&again, buf_span(&text));
	ck_assert_int_eq(buf_end(&again), ERR_BAD_INPUT);
	buf_fini(&text);
}
END_TEST

/* A decoder by the letter of the standard: value first, rules after. */
static size_t
decode(const unsigned char *at, size_t len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t step = at[0] < 0x80   ? 1
	    : (at[0] & 0xe0) == 0xc0 ? 2
	    : (at[0] & 0xf0) == 0xe0 ? 3
	    : (at[0] & 0xf8) == 0xf0 ? 4
				     : 0;
	uint32_t point;

	if (step == 0 || step > len)
		return 0;
	if (step == 1)
		return 1;
	point = at[0] & (0x7fU >> step);
	for (size_t i = 1; i < step; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (at[i] & 0x3f);
	}
	if (point < least[step] || point >= POINT_END ||
	    is_surrogate((int32_t)point))
		return 0;
	return step;
}

/* All first bytes with all second ones, and the telling third and fourth. */
START_TEST(a_step_is_what_the_standard_says)
{
	static const unsigned char tails[] = {
	    0x00, 0x41, 0x7f, 0x80, 0x8f, 0xbf, 0xc0, 0xff};

	for (unsigned lead = 0; lead < 0x10000; lead++) {
		for (size_t i = 0; i < COUNT(tails) * COUNT(tails); i++) {
			unsigned char text[4] = {(unsigned char)(lead >> 8),
			    (unsigned char)lead, tails[i % COUNT(tails)],
			    tails[i / COUNT(tails)]};

			for (size_t len = 1; len <= 4; len++)
				run_must(utf8_step((const char *)text, len) ==
				    decode(text, len));
		}
	}
	ck_assert_uint_eq(utf8_step("", 0), 0);
}
END_TEST

START_TEST(every_character_counts_as_one)
{
	utf8proc_uint8_t bytes[4];

	for (int32_t point = 0; point < POINT_END; point++) {
		struct span one;

		if (is_surrogate(point))
			continue;
		one = encode(bytes, point);
		run_must(utf8_is_valid(one));
		run_must(utf8_count(one) == 1);
	}
	ck_assert_uint_eq(utf8_count(span_make(NULL, 0)), 0);
	ck_assert_uint_eq(utf8_count(SPAN("caf\xc3\xa9 \xf0\x9f\x98\x80")), 6);
	ck_assert(utf8_is_valid(span_make(NULL, 0)));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("fold");
	TCase *tables = tcase_create("tables");
	TCase *all = tcase_create("everything");

	tcase_add_checked_fixture(tables, open_bufs, close_bufs);
	tcase_add_loop_test(tables, texts_fold, 0, COUNT(folds));
	tcase_add_test(tables, nul_is_a_blank);
	tcase_add_test(tables, it_is_appended_and_a_space_before_it_stays);
	tcase_add_test(tables, the_ceiling_is_for_what_comes_out);
	tcase_add_loop_test(
	    tables, what_is_not_utf8_is_refused, 0, COUNT(malformed));
	suite_add_tcase(suite, tables);

	tcase_add_checked_fixture(all, open_bufs, close_bufs);
	tcase_set_timeout(all, 300);
	tcase_add_test(
	    all, every_character_folds_as_utf8proc_says_and_once_is_enough);
	tcase_add_test(all, every_character_folds_between_others);
	tcase_add_test(all, long_texts_fold_as_utf8proc_says);
	tcase_add_test(all, blanks_melt_wherever_a_chunk_ends);
	tcase_add_test(all, a_step_is_what_the_standard_says);
	tcase_add_test(all, every_character_counts_as_one);
	suite_add_tcase(suite, all);
	return suite;
}
