#include "tools/gridhud/inline.h"

#include <stdio.h>

#include "common/count.h"
#include "tests/support/run.h"

static char told[2000];

/* "plain" "B(bold)" "I(italic)" "C(code)" "L(text|url)". */
static const char *
pieces(const char *line, bool markdown)
{
	struct inline_reader reader;
	struct inline_piece piece;
	size_t at = 0;

	told[0] = '\0';
	inline_begin(&reader, span_of(line), markdown);
	while (inline_next(&reader, &piece)) {
		bool is_plain = piece.url.len == 0 && !piece.bold &&
		    !piece.italic && !piece.code;

		at += (size_t)snprintf(told + at, sizeof(told) - at,
		    "%s%s%s%s%s%.*s", piece.bold ? "B" : "",
		    piece.italic ? "I" : "", piece.code ? "C" : "",
		    piece.url.len > 0 ? "L" : "", is_plain ? "" : "(",
		    SPAN_ARG(piece.text));
		if (piece.url.len > 0)
			at += (size_t)snprintf(told + at, sizeof(told) - at,
			    "|%.*s", SPAN_ARG(piece.url));
		if (!is_plain)
			at +=
			    (size_t)snprintf(told + at, sizeof(told) - at, ")");
	}
	return told;
}

static const struct {
	const char *line;
	bool markdown;
	const char *pieces;
} table[] = {
    {"", true, ""},
    {"plain * text_with_names 2*3", true, "plain * text_with_names 2*3"},
    {"a **b** c", true, "a B(b) c"},
    {"a **b** c", false, "a **b** c"},
    {"*i* _i_ __b__", true, "I(i) I(i) B(b)"},
    {"**b *bi* b**", true, "B(b )BI(bi)B( b)"},
    {"`c*d*` *x", true, "C(c*d*) *x"},
    {"**open", true, "**open"},
    {"* item*", true, "* item*"},
    {"***", true, "***"},
    {"x ``` y", true, "x ``` y"},
    {"snake_case_name _it_", true, "snake_case_name I(it)"},
    {"see https://a.example/b.", false,
	"see L(https://a.example/b|https://a.example/b)."},
    {"(https://a.example/x_(y))", false,
	"(L(https://a.example/x_(y)|https://a.example/x_(y)))"},
    {"http:// https://", false, "http:// https://"},
    {"<https://a.example/|the text> end", false,
	"L(the text|https://a.example/) end"},
    {"<https://a.example/>", false, "L(https://a.example/|https://a.example/)"},
    {"<b> <https://a", false, "<b> <L(https://a|https://a)"},
    {"[t](https://a.example/) !", true, "L(t|https://a.example/) !"},
    {"![t](https://a.example/i.png \"T\")", true,
	"L(t|https://a.example/i.png)"},
    {"[t](https://a.example/)", false,
	"[t](L(https://a.example/|https://a.example/))"},
    {"[t](javascript:x) [t]", true, "[t](javascript:x) [t]"},
    {"[t](https://a", true, "[t](L(https://a|https://a)"},
    {"javascript:alert(1)", false, "javascript:alert(1)"},
};

START_TEST(line_has_these_pieces)
{
	ck_assert_str_eq(
	    pieces(table[_i].line, table[_i].markdown), table[_i].pieces);
}
END_TEST

START_TEST(links_are_named_once_the_messages_own_first)
{
	struct span links[INLINE_LINKS_MAX];
	unsigned count = inline_links(links, SPAN("https://own.example/"),
	    SPAN("a https://b.example/ https://own.example/\n"
		 "<https://c.example/|c> https://b.example/"),
	    false);

	ck_assert_uint_eq(count, 3);
	ck_assert(span_eq(links[0], SPAN("https://own.example/")));
	ck_assert(span_eq(links[1], SPAN("https://b.example/")));
	ck_assert(span_eq(links[2], SPAN("https://c.example/")));
	ck_assert_uint_eq(
	    inline_links(links, SPAN("ftp://x"), SPAN("none"), true), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud inline");
	TCase *tc = tcase_create("inline");

	tcase_add_loop_test(tc, line_has_these_pieces, 0, COUNT(table));
	tcase_add_test(tc, links_are_named_once_the_messages_own_first);
	suite_add_tcase(suite, tc);
	return suite;
}
