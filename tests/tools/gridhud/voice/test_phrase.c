#include "tools/gridhud/voice/phrase.h"

#include <locale.h>
#include <stdio.h>

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/tools/gridhud/gridhud_make.h"

static const struct {
	bool failure;
	enum language language;
	const char *event, *out;
} table[] = {
    {false, LANGUAGE_EN,
	"{\"source\":\"backup\",\"text\":\"It is done. All is well. "
	"More.\"}",
	"backup: It is done. All is well."},
    {false, LANGUAGE_EN,
	"{\"source\":\"backup\",\"title\":\"Nightly\",\"text\":\"It is "
	"done.\"}",
	"backup: Nightly. It is done."},
    {false, LANGUAGE_EN,
	"{\"source\":\"a\",\"title\":\"Same\",\"text\":\"Same text.\"}",
	"a: Same text."},
    {true, LANGUAGE_EN,
	"{\"source\":\"cron\",\"kind\":\"job\",\"status\":\"error\","
	"\"job\":{\"name\":\"certs\",\"error\":\"no network. Sorry.\"}}",
	"Job certs failed: no network."},
    {true, LANGUAGE_EN,
	"{\"source\":\"cron\",\"kind\":\"job\",\"status\":\"error\","
	"\"job\":{\"id\":\"j1\"},\"text\":\"exit code 3\"}",
	"Job j1 failed: exit code 3"},
    {true, LANGUAGE_EN,
	"{\"source\":\"cron\",\"kind\":\"job\",\"status\":\"error\","
	"\"text\":\"\"}",
	"Job cron failed."},
    {true, LANGUAGE_FR,
	"{\"source\":\"cron\",\"kind\":\"job\",\"status\":\"error\","
	"\"job\":{\"name\":\"sauvegarde\"},\"text\":\"disque plein.\"}",
	"La t\xC3\xA2"
	"che sauvegarde a \xC3\xA9"
	"chou\xC3\xA9 : disque plein."},
};

START_TEST(message_is_told_in_few_words)
{
	struct hud_settings settings = {.sentences = 2,
	    .max_chars = 240,
	    .language = (int)table[_i].language};
	struct message *message = make_event(1, table[_i].event);
	struct buf buf;

	buf_init(&buf, 4096);
	ck_assert_int_eq(message_is_failure(message), table[_i].failure);
	if (table[_i].failure)
		phrase_failure(&buf, message, &settings);
	else
		phrase_message(&buf, message, &settings);
	ck_assert_msg(span_eq(buf_span(&buf), span_of(table[_i].out)),
	    "got \"%.*s\"", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
	message_free(message);
}
END_TEST

static const struct {
	unsigned messages, failures;
	enum language language;
	const char *out;
} aways[] = {
    {1, 0, LANGUAGE_EN, "1 message while you were away"},
    {7, 0, LANGUAGE_EN, "7 messages while you were away"},
    {7, 1, LANGUAGE_EN, "7 messages while you were away, 1 failure: job0"},
    {7, 2, LANGUAGE_EN,
	"7 messages while you were away, 2 failures: job0, job1"},
    {9, 7, LANGUAGE_EN,
	"9 messages while you were away, 7 failures: job0, job1, job2, job3, "
	"job4 and 2 more"},
    {2, 1, LANGUAGE_FR,
	"2 messages pendant votre absence, 1 \xC3\xA9"
	"chec : job0"},
};

START_TEST(what_came_meanwhile_is_one_sentence)
{
	struct away away = {.messages = 0};
	struct message *message;
	struct buf buf;

	for (unsigned i = 0; i < aways[_i].messages; i++) {
		char text[200];

		snprintf(text, sizeof(text),
		    "{\"source\":\"s\",\"kind\":\"job\",\"status\":\"%s\","
		    "\"job\":{\"name\":\"job%u\"}}",
		    i < aways[_i].failures ? "error" : "ok", i);
		message = make_event(i + 1, text);
		away_add(&away, message);
		message_free(message);
	}
	buf_init(&buf, 4096);
	phrase_away(&buf, &away, aways[_i].language);
	ck_assert_msg(span_eq(buf_span(&buf), span_of(aways[_i].out)),
	    "got \"%.*s\"", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud phrase");
	TCase *tc = tcase_create("phrase");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(tc, message_is_told_in_few_words, 0, COUNT(table));
	tcase_add_loop_test(
	    tc, what_came_meanwhile_is_one_sentence, 0, COUNT(aways));
	suite_add_tcase(suite, tc);
	return suite;
}
