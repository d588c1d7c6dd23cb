#include "tools/gridhud/history/history.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tests/tools/gridhud/gridhud_make.h"

static struct history *history;

static void
reopen(int64_t keep)
{
	history_close(history);
	ck_assert_int_eq(
	    history_open(&history, scratch_path("h"), keep, 1 << 20), ERR_OK);
	ck_assert_int_eq(history_claim(history), ERR_OK);
}

static void
set_up(void)
{
	quiet_begin();
	scratch_make();
	history = NULL;
	reopen(1000);
	ck_assert_int_eq(history_set_epoch(history, "e1"), ERR_OK);
}

static void
tear_down(void)
{
	history_close(history);
	scratch_remove();
	quiet_end();
}

static struct message *
made(uint64_t seq)
{
	char text[200];

	snprintf(text, sizeof(text),
	    "{\"source\":\"s%llu\",\"text\":\"t\\u001b%llu\",\"kind\":"
	    "\"job\",\"status\":\"error\",\"priority\":\"high\",\"url\":"
	    "\"https://example.org/\",\"job\":{\"name\":\"j\"}}",
	    (unsigned long long)seq, (unsigned long long)seq);
	return make_event(seq, text);
}

static void
add(uint64_t seq, bool unread, bool alert, bool due)
{
	struct message *message = made(seq);

	message->unread = unread;
	message->alert = alert;
	message->say_due = due;
	ck_assert_int_eq(history_add_take(history, message), ERR_OK);
}

START_TEST(everything_is_there_after_a_restart)
{
	const struct message *message;

	add(1, true, true, true);
	add(2, true, false, false);
	reopen(1000);
	ck_assert_uint_eq(history_end(history) - history_first(history), 2);
	ck_assert_str_eq(history_epoch(history), "e1");
	ck_assert_uint_eq(history_last(history), 2);
	ck_assert_uint_eq(history_unread(history), 2);
	ck_assert_uint_eq(history_alerts(history), 1);
	message = history_at(history, history_first(history));
	ck_assert(span_eq(message->source, SPAN("s1")));
	ck_assert(span_eq(message->text, SPAN("t1")));
	ck_assert(span_eq(message->job, SPAN("j")));
	ck_assert(span_eq(message->url, SPAN("https://example.org/")));
	ck_assert(message_is_failure(message));
	ck_assert_int_eq(message->priority, PRIORITY_HIGH);
	ck_assert(message->say_due);
}
END_TEST

static void
count_unsaid(void *arg, const struct message *message)
{
	(void)message;
	++*(unsigned *)arg;
}

static unsigned
unsaid(void)
{
	unsigned count = 0;

	history_unsaid(history, count_unsaid, &count);
	return count;
}

START_TEST(marks_are_kept)
{
	add(1, true, true, true);
	add(2, true, true, true);
	ck_assert_int_eq(history_mark_said(history, 1), ERR_OK);
	ck_assert_uint_eq(unsaid(), 1);
	ck_assert_int_eq(history_mark_read(history), ERR_OK);
	add(3, true, true, true);
	reopen(1000);
	ck_assert_uint_eq(history_unread(history), 1);
	ck_assert_uint_eq(history_alerts(history), 3);
	ck_assert_uint_eq(unsaid(), 2);
	ck_assert_int_eq(history_mark_acknowledged(history), ERR_OK);
	reopen(1000);
	ck_assert_uint_eq(history_alerts(history), 0);
}
END_TEST

static void
add_about(uint64_t seq, const char *about, bool alert, bool duplicate)
{
	struct message *message;
	char text[160];

	snprintf(text, sizeof(text),
	    "{\"source\":\"s\",\"about\":\"%s\",\"duplicate\":%s}", about,
	    duplicate ? "true" : "false");
	message = make_event(seq, text);
	message->alert = alert;
	ck_assert_int_eq(history_add_take(history, message), ERR_OK);
}

START_TEST(alerts_are_settled_by_what_is_about_the_same)
{
	add_about(1, "s:disk", true, false);
	add_about(2, "s:fan", true, false);
	add_about(3, "s:disk", true, false);
	ck_assert_uint_eq(history_alerts(history), 2);
	ck_assert(history_at(history, history_first(history))->settled);
	add_about(4, "s:disk", false, true);
	ck_assert_uint_eq(history_alerts(history), 2);
	add_about(5, "s:disk", false, false);
	add_about(6, "", false, false);
	ck_assert_uint_eq(history_alerts(history), 1);
	reopen(1000);
	ck_assert_uint_eq(history_alerts(history), 1);
	ck_assert(!history_at(history, history_first(history))->alert);
	ck_assert(history_at(history, history_first(history) + 1)->alert);
}
END_TEST

START_TEST(mutes_are_kept)
{
	ck_assert_int_eq(
	    history_set_mute(history, SPAN("backup"), true), ERR_OK);
	ck_assert_int_eq(history_set_mute(history, SPAN("x"), true), ERR_OK);
	ck_assert_int_eq(history_set_mute(history, SPAN("x"), false), ERR_OK);
	reopen(1000);
	ck_assert(history_is_muted(history, SPAN("Backup")));
	ck_assert(!history_is_muted(history, SPAN("x")));
}
END_TEST

START_TEST(another_epoch_begins_anew)
{
	add(7, false, false, false);
	ck_assert_int_eq(history_set_epoch(history, "e2"), ERR_OK);
	ck_assert_uint_eq(history_last(history), 0);
	reopen(1000);
	ck_assert_str_eq(history_epoch(history), "e2");
	ck_assert_uint_eq(history_last(history), 0);
	add(1, false, false, false);
	reopen(1000);
	ck_assert_uint_eq(history_last(history), 1);
	ck_assert_uint_eq(history_end(history) - history_first(history), 2);
}
END_TEST

/* As a crash in the middle of writing leaves it. */
START_TEST(line_that_was_cut_short_never_was)
{
	struct stat st;
	off_t size;

	add(1, false, false, false);
	ck_assert_int_eq(stat(scratch_path("h"), &st), 0);
	size = st.st_size;
	add(2, false, false, false);
	ck_assert_int_eq(stat(scratch_path("h"), &st), 0);
	ck_assert_int_eq(truncate(scratch_path("h"), st.st_size - 1 - _i), 0);
	reopen(1000);
	ck_assert_uint_eq(history_last(history), 1);
	ck_assert_int_eq(stat(scratch_path("h"), &st), 0);
	ck_assert_int_eq(st.st_size, size);
	add(2, false, false, false);
	reopen(1000);
	ck_assert_uint_eq(history_last(history), 2);
}
END_TEST

START_TEST(damaged_line_costs_only_itself)
{
	static const char bad[] = "\x01{\"m\": nonsense\n";
	FILE *file;

	add(1, false, false, false);
	file = fopen(scratch_path("h"), "a");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(
	    fwrite(bad, 1, sizeof(bad) - 1, file), sizeof(bad) - 1);
	fclose(file);
	reopen(1000);
	add(2, false, false, false);
	reopen(1000);
	ck_assert_uint_eq(history_end(history) - history_first(history), 2);
}
END_TEST

START_TEST(oldest_go_and_the_file_stays_small)
{
	struct stat st;

	reopen(50);
	for (uint64_t seq = 1; seq <= 20000; seq++) {
		add(seq, true, false, false);
		if (seq % 100 == 0)
			ck_assert_int_eq(history_sync(history), ERR_OK);
	}
	ck_assert_uint_eq(history_end(history) - history_first(history), 50);
	ck_assert_uint_eq(history_unread(history), 50);
	ck_assert_int_eq(stat(scratch_path("h"), &st), 0);
	ck_assert_int_lt(st.st_size, 2 << 20);
	reopen(50);
	ck_assert_uint_eq(history_last(history), 20000);
	ck_assert_uint_eq(history_end(history) - history_first(history), 50);
}
END_TEST

START_TEST(two_windows_never_write_both)
{
	struct history *other;

	add(1, false, false, false);
	ck_assert_int_eq(
	    history_open(&other, scratch_path("h"), 1000, 1 << 20), ERR_OK);
	ck_assert_uint_eq(history_last(other), 1);
	ck_assert_int_eq(history_claim(other), ERR_BUSY);
	ck_assert_int_eq(history_add_take(other, made(2)), ERR_DENIED);
	add(2, false, false, false);
	history_yield(history);
	ck_assert_int_eq(history_claim(other), ERR_OK);
	ck_assert_uint_eq(history_last(other), 2);
	ck_assert_int_eq(history_add_take(history, made(3)), ERR_DENIED);
	ck_assert_int_eq(history_add_take(other, made(3)), ERR_OK);
	history_close(other);
	ck_assert_int_eq(history_claim(history), ERR_OK);
	ck_assert_uint_eq(history_last(history), 3);
	ck_assert_uint_eq(history_end(history) - history_first(history), 3);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud history");
	TCase *tc = tcase_create("history");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, everything_is_there_after_a_restart);
	tcase_add_test(tc, marks_are_kept);
	tcase_add_test(tc, alerts_are_settled_by_what_is_about_the_same);
	tcase_add_test(tc, mutes_are_kept);
	tcase_add_test(tc, another_epoch_begins_anew);
	tcase_add_loop_test(tc, line_that_was_cut_short_never_was, 0, 20);
	tcase_add_test(tc, damaged_line_costs_only_itself);
	tcase_add_test(tc, oldest_go_and_the_file_stays_small);
	tcase_add_test(tc, two_windows_never_write_both);
	suite_add_tcase(suite, tc);
	return suite;
}
