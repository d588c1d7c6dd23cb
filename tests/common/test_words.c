/* tests/common/test_words.c: common/words.h */
#include "common/words.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

static char text[120];

/* Few letters, so that much is nearly a hit. */
static void
fill(void)
{
	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = "abc"[random_bits() % 3];
}

/*
 * In texts of their own on the heap, whose end the sanitizers guard: at a
 * limit that is the text's end, and at one behind it.
 */
static void
check(unsigned from, unsigned len, struct span word, unsigned behind)
{
	char *own = malloc(len + behind + 1u);
	const char *found, *wanted;

	ck_assert_ptr_nonnull(own);
	memcpy(own, text + from, len + behind);
	wanted = memmem(own, len, word.ptr, word.len);
	found = words_find(span_make(own, len), own + len + behind, word);
	ck_assert_msg(
	    found == wanted, "%.*s in %.*s", SPAN_ARG(word), (int)len, own);
	free(own);
}

START_TEST(what_memmem_finds_is_found)
{
	for (unsigned i = 0; i < 60000; i++) {
		unsigned from = (unsigned)(random_bits() % 40);
		unsigned len = (unsigned)(random_bits() % 60);
		unsigned at = (unsigned)(random_bits() % 100);
		unsigned size = (unsigned)(random_bits() % 20) + 1;
		unsigned behind = (unsigned)(random_bits() % 20);

		if (i % 100 == 0)
			fill();
		check(from, len, span_make(text + at, size), behind);
	}
}
END_TEST

START_TEST(long_word_is_compared_to_its_end)
{
	char word[60];

	fill();
	for (unsigned i = 0; i < sizeof(word); i++) {
		memcpy(word, text + 7, sizeof(word));
		check(0, 100, span_make(word, sizeof(word)), 0);
		word[i] ^= 1;
		check(0, 100, span_make(word, sizeof(word)), 0);
	}
}
END_TEST

static bool
holds(const char *row, const char *asked)
{
	struct words words;
	struct span span = span_of(row);

	words_split(&words, span_of(asked));
	return words_in(span, span.ptr + span.len, &words);
}

START_TEST(each_word_must_be_there)
{
	ck_assert(holds("lait entier bio", "bio lait"));
	ck_assert(holds("lait entier bio", "  o   e "));
	ck_assert(!holds("lait entier bio", "lait cru"));
	ck_assert(!holds("lait", "entier lait"));
	ck_assert(holds("lait", ""));
}
END_TEST

START_TEST(longest_is_known)
{
	struct words words;

	words_split(&words, SPAN("le lait entier  bio"));
	ck_assert(span_eq(words.longest, SPAN("entier")));
	ck_assert(!words_single(&words));
	words_split(&words, SPAN(" lait "));
	ck_assert(words_single(&words));
}
END_TEST

/* More than are taken apart: the last ones count too. */
START_TEST(many_words_are_all_looked_for)
{
	char row[1000] = "", asked[1000] = "";
	struct words words;
	size_t len = 0;

	for (unsigned i = 0; i < WORDS_APART + 20; i++)
		len += (size_t)snprintf(
		    asked + len, sizeof(asked) - len, "w%02u ", i);
	memcpy(row, asked, len + 1);
	ck_assert(holds(row, asked));
	row[len - 2] = 'x';
	ck_assert(!holds(row, asked));
	words_split(&words, span_of(asked));
	ck_assert_uint_eq(words.count, WORDS_APART);
	ck_assert_uint_eq(words.rest.len, 20 * 4);
	ck_assert(!words_single(&words));
	memcpy(asked + len, "thelongest", 11);
	words_split(&words, span_of(asked));
	ck_assert(span_eq(words.longest, SPAN("thelongest")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("words");
	TCase *tc = tcase_create("words");

	tcase_add_test(tc, what_memmem_finds_is_found);
	tcase_add_test(tc, long_word_is_compared_to_its_end);
	tcase_add_test(tc, each_word_must_be_there);
	tcase_add_test(tc, longest_is_known);
	tcase_add_test(tc, many_words_are_all_looked_for);
	suite_add_tcase(suite, tc);
	return suite;
}
