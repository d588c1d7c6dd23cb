#include "tools/gridhud/gtk/markup.h"

#include <locale.h>

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/tools/gridhud/gridhud_make.h"
#include "tools/gridhud/gtk/filter.h"

#define HEAD "{\"source\":\"src\",\"received\":\"2026-01-31T21:04:00.000Z\","

static const struct {
	const char *event;
	size_t bytes_max;
	const char *markup;
} table[] = {
    {HEAD "\"text\":\"a <b> & \\\"c'\"}", 0, "a &lt;b&gt; &amp; &quot;c&#39;"},
    {HEAD "\"text\":\"**b** *i*\"}", 0, "**b** *i*"},
    {HEAD "\"text\":\"# H <\\n**b** *i* `c`\\n- x\\n```\\n*y*\\n```\","
	  "\"format\":\"markdown\"}",
	0,
	"<b>H &lt;</b>\n<b>b</b> <i>i</i> <tt>c</tt>\n\xE2\x80\xA2 x\n"
	"<tt>*y*</tt>"},
    {HEAD "\"text\":\"<https://a.example/?b=c&d|t> urgent\"}", 0,
	"<a href=\"https://a.example/?b=c&amp;d\">t</a> "
	"<span background='#f5c211' foreground='#1e1e1e'>urgent</span>"},
    {HEAD "\"text\":\"the n\xC3\xA9"
	  "edle here\"}",
	0,
	"the <span background='#f9f06b' foreground='#1e1e1e'>n\xC3\xA9"
	"edle</span> here"},
    {HEAD "\"text\":\"ab\xC3\xA9"
	  "cd\"}",
	3, "ab"},
    {HEAD "\"text\":\"x\",\"kind\":\"job\",\"status\":\"error\",\"job\":"
	  "{\"error\":\"<why>\"}}",
	0, "x\n&lt;why&gt;"},
};

START_TEST(text_of_strangers_is_no_markup)
{
	struct message *message = make_event(1, table[_i].event);
	struct markup_options options = {
	    .search = SPAN("needle"), .bytes_max = table[_i].bytes_max};
	struct hud_words *words;
	struct buf buf;

	setlocale(LC_CTYPE, "C.UTF-8");
	ck_assert_int_eq(words_new(&words, "urgent"), ERR_OK);
	options.words = words;
	buf_init(&buf, 65536);
	markup_body(&buf, message, &options);
	buf_add_char(&buf, '\0');
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_str_eq(buf.data, table[_i].markup);
	buf_fini(&buf);
	words_free(words);
	message_free(message);
}
END_TEST

static const struct {
	bool unread, alerts;
	const char *source, *search;
	bool takes;
} filters[] = {
    {false, false, "", "", true},
    {true, false, "", "", true},
    {false, true, "", "", false},
    {false, false, "src", "", true},
    {false, false, "sr", "", false},
    {false, false, "", "NEEDLE", true},
    {false, false, "", "src", true},
    {false, false, "", "nothing", false},
    {true, false, "src", "needle", true},
    {true, false, "other", "needle", false},
};

START_TEST(filter_takes_what_fits_all_of_it)
{
	struct message *message = make_event(1,
	    HEAD "\"text\":\"a n\xC3\xA9"
		 "edle\"}");
	struct filter filter;

	message->unread = true;
	filter_init(&filter);
	ck_assert(filter_is_open(&filter));
	filter.unread = filters[_i].unread;
	filter.alerts = filters[_i].alerts;
	span_copy(
	    filter.source, sizeof(filter.source), span_of(filters[_i].source));
	filter_search(&filter, span_of(filters[_i].search));
	ck_assert_int_eq(filter_takes(&filter, message), filters[_i].takes);
	ck_assert_int_eq(filter_is_open(&filter), _i == 0);
	filter_fini(&filter);
	message_free(message);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud markup");
	TCase *tc = tcase_create("markup");

	tcase_add_loop_test(
	    tc, text_of_strangers_is_no_markup, 0, COUNT(table));
	tcase_add_loop_test(
	    tc, filter_takes_what_fits_all_of_it, 0, COUNT(filters));
	suite_add_tcase(suite, tc);
	return suite;
}
