#include "tools/gridhud/voice/prose.h"

#include <locale.h>

#include "common/count.h"
#include "tests/support/run.h"

static const struct {
	const char *in, *out;
} proses[] = {
    {"plain text", "plain text"},
    {"two\nlines", "two lines"},
    {"one paragraph\n\nanother", "one paragraph. another"},
    {"# Heading\nText follows.", "Heading. Text follows."},
    {"**bold** and *soft* and `code`", "bold and soft and code"},
    {"my_file_name stays, _this_ goes", "my_file_name stays, this goes"},
    {"- one\n- two\n- three", "one. two. three."},
    {"1. one\n2. two", "one. two."},
    {"> quoted", "quoted."},
    {"before\n```c\nint x = 1;\n```\nafter", "before. after"},
    {"before\n| a | b |\n|---|---|\n| 1 | 2 |\nafter", "before. after"},
    {"see [the page](https://example.org/a?b) now", "see the page now"},
    {"![a picture](x.png) here", "a picture here"},
    {"see https://example.org/a?b=c. Then", "see . Then"},
    {"(www.example.org) x", "() x"},
    {"done \xF0\x9F\x8E\x89\xF0\x9F\x8E\x89 well \xE2\x9C\x85", "done well"},
    {"a\t b \xC2\xA0 c", "a b c"},
    {"----\ntext\n====", "text."},
    {"", ""},
    {"```\nonly code\n```", ""},
    {"ends:\n- a", "ends: a."},
};

START_TEST(prose_is_what_can_be_read_aloud)
{
	struct buf buf;

	buf_init(&buf, 4096);
	prose_add(&buf, span_of(proses[_i].in));
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&buf), span_of(proses[_i].out)),
	    "got \"%.*s\"", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

/* The text's sentences, with | between them. */
static const struct {
	const char *in, *out;
} sentences[] = {
    {"One. Two! Three? Four", "One.|Two!|Three?|Four"},
    {"Version 3.14 is out. Good.", "Version 3.14 is out.|Good."},
    {"Dr. Smith met Mr. J. Doe. They spoke.",
	"Dr. Smith met Mr. J. Doe.|They spoke."},
    {"See fig. 5 and no. 7. No. We wait.",
	"See fig. 5 and no. 7.|No.|We wait."},
    {"Use e.g. this, i.e. that. End.", "Use e.g. this, i.e. that.|End."},
    {"Apples, pears, etc. are there. Etc. The end.",
	"Apples, pears, etc. are there.|Etc.|The end."},
    {"At 5 p.m. it ended. Fine.", "At 5 p.m. it ended.|Fine."},
    {"Hosted at example.org. Up.", "Hosted at example.org.|Up."},
    {"Wait... what? Yes\xE2\x80\xA6 Now.",
	"Wait... what?|Yes\xE2\x80\xA6|Now."},
    {"He said \"No.\" Then he left.", "He said \"No.\"|Then he left."},
    {"(It works.) Good.", "(It works.)|Good."},
    {"Really?! Yes.", "Really?!|Yes."},
    {"In 2024. Then.", "In 2024.|Then."},
    {"1. First thing. Second.", "1. First thing.|Second."},
    {"The U.S. law holds. Yes.", "The U.S. law holds.|Yes."},
    /* French */
    {"M. Durand et Mme. Petit sont l\xC3\xA0. Bien.",
	"M. Durand et Mme. Petit sont l\xC3\xA0.|Bien."},
    {"Bonjour ! \xC3\x87"
     "a va ? Oui.",
	"Bonjour !|\xC3\x87"
	"a va ?|Oui."},
    {"Voir p. ex. la page, c.-\xC3\xA0-d. celle-ci. Fin.",
	"Voir p. ex. la page, c.-\xC3\xA0-d. celle-ci.|Fin."},
    {"R\xC3\xA9"
     "f. 12 du 3 f\xC3\xA9vr. 2026. Suite.",
	"R\xC3\xA9"
	"f. 12 du 3 f\xC3\xA9vr. 2026.|Suite."},
    {"Le Pr. Blanc habite av. Foch. Merci.",
	"Le Pr. Blanc habite av. Foch.|Merci."},
    {"\xC2\xAB Oui. \xC2\xBB Il part.", "\xC2\xAB Oui.|\xC2\xBB Il part."},
    /* full width, without blanks */
    {"\xE5\xAE\x8C\xE3\x80\x82\xE5\xA5\xBD\xEF\xBC\x81",
	"\xE5\xAE\x8C\xE3\x80\x82|\xE5\xA5\xBD\xEF\xBC\x81"},
    {"   ", ""},
    {"no end", "no end"},
};

START_TEST(sentences_end_where_they_do)
{
	struct span rest = span_of(sentences[_i].in);
	struct span sentence;
	struct buf buf;

	buf_init(&buf, 4096);
	while (prose_sentence(&sentence, &rest)) {
		if (buf.len > 0)
			buf_add_char(&buf, '|');
		buf_add_span(&buf, sentence);
	}
	ck_assert_msg(span_eq(buf_span(&buf), span_of(sentences[_i].out)),
	    "got \"%.*s\"", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

static const struct {
	const char *in;
	unsigned sentences;
	size_t chars;
	const char *out;
} summaries[] = {
    {"One. Two. Three.", 2, 240, "One. Two."},
    {"One. Two. Three.", 1, 240, "One."},
    {"One. Two. Three.", 9, 240, "One. Two. Three."},
    {"One. This one is too long to fit.", 2, 20, "One."},
    {"This first one is too long to fit here.", 2, 20,
	"This first one is\xE2\x80\xA6"},
    {"Abcdefghijklmnopqrstuvwxyz", 2, 10, "Abcdefghi\xE2\x80\xA6"},
    {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9. Two.", 2, 10,
	"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9. Two."},
    {"", 2, 240, ""},
};

START_TEST(summary_is_the_first_sentences)
{
	struct buf buf;

	buf_init(&buf, 4096);
	prose_summary(&buf, span_of(summaries[_i].in), summaries[_i].sentences,
	    summaries[_i].chars);
	ck_assert_msg(span_eq(buf_span(&buf), span_of(summaries[_i].out)),
	    "got \"%.*s\"", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud prose");
	TCase *tc = tcase_create("prose");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(
	    tc, prose_is_what_can_be_read_aloud, 0, COUNT(proses));
	tcase_add_loop_test(
	    tc, sentences_end_where_they_do, 0, COUNT(sentences));
	tcase_add_loop_test(
	    tc, summary_is_the_first_sentences, 0, COUNT(summaries));
	suite_add_tcase(suite, tc);
	return suite;
}
