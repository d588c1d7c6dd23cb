#include "tools/gridhud/voice/speech.h"

#include <locale.h>
#include <stdio.h>

#include "tests/support/run.h"
#include "tests/tools/gridhud/gridhud_make.h"

static struct speech speech;
static struct hud_settings settings;
static uint64_t seq;
static char dropped[1000];

static void
note_dropped(void *arg, const struct speech_item *item)
{
	size_t len = strlen(dropped);

	(void)arg;
	snprintf(dropped + len, sizeof(dropped) - len, "%s|",
	    item->text == NULL ? "" : item->text);
}

static void
set_up(void)
{
	struct fault fault = {.place = ""};

	setlocale(LC_CTYPE, "C.UTF-8");
	ck_assert_int_eq(settings_load(&settings, "/dev/null", &fault), ERR_OK);
	speech_init(&speech);
	speech.dropped = note_dropped;
	dropped[0] = '\0';
	seq = 0;
}

static void
tear_down(void)
{
	speech_fini(&speech);
	settings_fini(&settings);
}

static enum err
add(const char *name, bool failure, const char *priority, int64_t now_ms)
{
	struct message *message;
	char text[300];
	enum err err;

	snprintf(text, sizeof(text),
	    "{\"source\":\"s\",\"kind\":\"%s\",\"status\":\"%s\","
	    "\"priority\":\"%s\",\"job\":{\"name\":\"%s\"},\"text\":\"%s.\"}",
	    failure ? "job" : "message", failure ? "error" : "ok", priority,
	    name, name);
	message = make_event(++seq, text);
	err = speech_add_message(&speech, &settings, message,
	    failure ? SPEECH_FAILURE : SPEECH_MESSAGE, now_ms);
	message_free(message);
	return err;
}

/* All that can be said at that time, with | between. */
static const char *
heard(int64_t now_ms)
{
	static char text[8000];
	struct speech_item *item;
	size_t len = 0;

	text[0] = '\0';
	while ((item = speech_take(&speech, &settings, now_ms)) != NULL) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
		    len == 0 ? "" : "|", item->text);
		speech_item_free(item);
	}
	return text;
}

START_TEST(few_messages_are_each_spoken)
{
	add("a", false, "normal", 0);
	add("b", false, "normal", 100);
	add("c", false, "normal", 200);
	ck_assert_str_eq(heard(200), "s: a.|s: b.|s: c.");
	ck_assert_int_eq(speech_due_ms(&speech), -1);
}
END_TEST

START_TEST(burst_is_its_first_and_how_many_more)
{
	for (unsigned i = 0; i < 10; i++)
		add("x", false, "normal", i * 10);
	ck_assert_str_eq(heard(100), "s: x.");
	ck_assert_int_eq(speech_due_ms(&speech), 5000);
	ck_assert_str_eq(heard(4999), "");
	ck_assert_str_eq(heard(5000), "and 9 more messages");
}
END_TEST

START_TEST(slow_messages_are_no_burst)
{
	for (unsigned i = 0; i < 4; i++)
		add("x", false, "normal", i * 5000);
	ck_assert_str_eq(heard(20000), "s: x.|s: x.|s: x.|s: x.");
}
END_TEST

START_TEST(what_was_spoken_already_is_not_counted_again)
{
	add("a", false, "normal", 0);
	add("b", false, "normal", 10);
	ck_assert_str_eq(heard(20), "s: a.|s: b.");
	add("c", false, "normal", 30);
	add("d", false, "normal", 40);
	ck_assert_str_eq(heard(5000), "and 2 more messages");
}
END_TEST

START_TEST(failures_in_a_burst_are_each_spoken_up_to_five)
{
	char name[16];

	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		add(name, true, "high", i);
		add("x", false, "normal", i);
	}
	ck_assert_str_eq(heard(10),
	    "Job j0 failed: j0.|s: x.|Job j1 failed: j1.|Job j2 failed: "
	    "j2.|Job j3 failed: j3.|Job j4 failed: j4.");
	ck_assert_str_eq(
	    heard(5000), "and 7 more messages|and 3 more failures: j5, j6, j7");
}
END_TEST

START_TEST(full_queue_drops_the_oldest_of_the_least_important)
{
	settings.queue_max = 4;
	settings.burst_count = 100;
	add("a", false, "high", 0);
	add("b", false, "low", 0);
	add("c", false, "normal", 0);
	add("d", false, "low", 0);
	add("e", false, "normal", 0);
	ck_assert_str_eq(dropped, "s: b.|");
	add("f", true, "high", 0);
	ck_assert_str_eq(dropped, "s: b.|s: d.|");
	ck_assert_str_eq(heard(0), "s: a.|s: c.|s: e.|Job f failed: f.");
}
END_TEST

START_TEST(no_failure_is_ever_lost)
{
	char name[16];
	unsigned count = 0;
	struct speech_item *item;

	settings.queue_max = 2;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		ck_assert_int_eq(
		    add(name, true, "high", (int64_t)i * 6000), ERR_OK);
	}
	ck_assert_int_eq(add("x", false, "normal", 700000), ERR_BUSY);
	while ((item = speech_take(&speech, &settings, 800000)) != NULL) {
		count++;
		speech_item_free(item);
	}
	ck_assert_uint_eq(count, 100);
	ck_assert_str_eq(dropped, "");
}
END_TEST

START_TEST(clearing_tells_what_was_not_spoken)
{
	add("a", false, "normal", 0);
	add("b", true, "high", 0);
	speech_clear(&speech);
	ck_assert_str_eq(dropped, "s: a.|Job b failed: b.|");
	ck_assert_str_eq(heard(10000), "");
	ck_assert_uint_eq(speech.waiting, 0);
}
END_TEST

START_TEST(call_that_was_cancelled_is_not_spoken)
{
	struct speech_item *item;

	ck_assert_int_eq(speech_add_text(&speech, &settings, SPAN("one"),
			     SPEECH_TOOL, &item),
	    ERR_OK);
	item->call = 7;
	ck_assert_int_eq(speech_add_text(&speech, &settings, SPAN("two"),
			     SPEECH_TOOL, &item),
	    ERR_OK);
	item->call = 8;
	speech_drop_call(&speech, 7);
	ck_assert_str_eq(heard(0), "two");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud speech");
	TCase *tc = tcase_create("speech");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, few_messages_are_each_spoken);
	tcase_add_test(tc, burst_is_its_first_and_how_many_more);
	tcase_add_test(tc, slow_messages_are_no_burst);
	tcase_add_test(tc, what_was_spoken_already_is_not_counted_again);
	tcase_add_test(tc, failures_in_a_burst_are_each_spoken_up_to_five);
	tcase_add_test(tc, full_queue_drops_the_oldest_of_the_least_important);
	tcase_add_test(tc, no_failure_is_ever_lost);
	tcase_add_test(tc, clearing_tells_what_was_not_spoken);
	tcase_add_test(tc, call_that_was_cancelled_is_not_spoken);
	suite_add_tcase(suite, tc);
	return suite;
}
