#include "tools/gridhook/events/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct journal *journal;
static struct journal_spec spec;

static void
reopen(void)
{
	journal_close(journal);
	ck_assert_int_eq(journal_open(&journal, &spec), ERR_OK);
}

static void
set_up(void)
{
	scratch_make();
	spec = (struct journal_spec){.folder = scratch_path("j"),
	    .keep_events = 10,
	    .keep_ms = 1000 * 3600,
	    .keep_bytes = 1 << 20};
	journal = NULL;
	reopen();
}

static void
tear_down(void)
{
	journal_close(journal);
	scratch_remove();
}

static bool
add(const char *text, const char *dedupe)
{
	struct event event = {.source = SPAN("t"),
	    .text = span_of(text),
	    .dedupe = span_of(dedupe)};
	struct event_place place = {.push = SPAN("p"), .count = 1};

	ck_assert_int_eq(journal_add(journal, &event, &place), ERR_OK);
	return place.duplicate;
}

static void
commit(void)
{
	ck_assert_int_eq(journal_commit(journal), ERR_OK);
}

/* The record of that number, or ERR_NOT_FOUND. */
static bool
has(uint64_t seq, const char *part)
{
	struct buf buf;
	uint64_t found;
	bool is = false;

	buf_init(&buf, 1 << 20);
	if (journal_read(journal, seq, &found, &buf) == ERR_OK)
		is = found == seq &&
		    memmem(buf.data, buf.len, part, strlen(part)) != NULL;
	buf_fini(&buf);
	return is;
}

START_TEST(events_are_there_once_committed_and_after_a_restart)
{
	char epoch[32];

	snprintf(epoch, sizeof(epoch), "%s", journal_epoch(journal));
	ck_assert_uint_eq(journal_next(journal), 1);
	add("one", NULL);
	add("two", NULL);
	ck_assert(journal_is_pending(journal));
	ck_assert_uint_eq(journal_next(journal), 1);
	ck_assert(!has(1, "one"));
	commit();
	ck_assert_uint_eq(journal_next(journal), 3);
	ck_assert(has(1, "\"text\":\"one\""));
	reopen();
	ck_assert_str_eq(journal_epoch(journal), epoch);
	ck_assert_uint_eq(journal_next(journal), 3);
	ck_assert(has(2, "\"text\":\"two\""));
	ck_assert(!has(3, ""));
}
END_TEST

START_TEST(numbers_go_on_when_all_events_have_gone)
{
	for (int i = 0; i < 30; i++) {
		add("x", NULL);
		commit();
		journal_ack(journal, (uint64_t)i + 1);
	}
	ck_assert_uint_eq(journal_count(journal), 10);
	ck_assert_uint_eq(journal_first(journal), 21);
	reopen();
	add("y", NULL);
	commit();
	ck_assert(has(31, "\"y\""));
	ck_assert_uint_eq(journal_acked(journal), 30);
}
END_TEST

START_TEST(unread_events_that_go_are_counted)
{
	for (int i = 0; i < 25; i++)
		add("x", NULL);
	commit();
	ck_assert_uint_eq(journal_count(journal), 10);
	ck_assert(has(1, "16 messages were dropped"));
	ck_assert(has(17, "\"x\""));
	journal_ack(journal, 25);
	for (int i = 0; i < 10; i++)
		add("y", NULL);
	commit();
	ck_assert(has(26, "\"y\""));
	ck_assert_uint_eq(journal_first(journal), 26);
}
END_TEST

static unsigned lines;

static void
count_line(enum log_level level, const char *line)
{
	if (level == LOG_WARN_ && strstr(line, "unread events are being") &&
	    strstr(line, "keep_events=10 "))
		lines++;
}

static void
add_many(int count)
{
	for (int i = 0; i < count; i++) {
		add("x", NULL);
		commit();
	}
}

START_TEST(each_run_of_drops_is_one_line_of_the_log)
{
	lines = 0;
	log_open("test", LOG_WARN_);
	log_catch(count_line);
	add_many(10);
	ck_assert_uint_eq(lines, 0);
	add_many(15);
	ck_assert_uint_eq(lines, 1);
	reopen();
	add_many(5);
	ck_assert_uint_eq(lines, 1);
	journal_ack(journal, 30);
	add_many(10); /* read ones go */
	ck_assert_uint_eq(lines, 1);
	add_many(5);
	ck_assert_uint_eq(lines, 2);
	log_catch(NULL);
	log_open("test", LOG_ERROR_);
}
END_TEST

START_TEST(pending_events_are_those_that_are_there)
{
	ck_assert_uint_eq(journal_pending(journal), 0);
	add_many(7);
	journal_ack(journal, 3);
	ck_assert_uint_eq(journal_pending(journal), 4);
	add_many(8); /* the notice, and 7 to 15 */
	ck_assert_uint_eq(journal_first(journal), 4);
	ck_assert_uint_eq(journal_count(journal), 10);
	ck_assert_uint_eq(journal_pending(journal), 10);
	journal_ack(journal, 4); /* the notice */
	ck_assert_uint_eq(journal_pending(journal), 9);
	journal_ack(journal, 14);
	ck_assert_uint_eq(journal_pending(journal), 1);
	add("not committed yet", NULL);
	ck_assert_uint_eq(journal_pending(journal), 1);
	commit();
	ck_assert_uint_eq(journal_pending(journal), 2);
	journal_ack(journal, 16);
	ck_assert_uint_eq(journal_pending(journal), 0);
}
END_TEST

START_TEST(acknowledgements_only_grow)
{
	add("a", NULL);
	add("b", NULL);
	commit();
	journal_ack(journal, 99);
	ck_assert_uint_eq(journal_acked(journal), 0);
	journal_ack(journal, 2);
	journal_ack(journal, 1);
	ck_assert_uint_eq(journal_acked(journal), 2);
	reopen();
	ck_assert_uint_eq(journal_acked(journal), 2);
}
END_TEST

START_TEST(same_key_is_a_duplicate)
{
	ck_assert(!add("a", "k"));
	ck_assert(add("b", "k"));
	ck_assert(!add("c", "other"));
	ck_assert(!add("d", NULL));
	commit();
	reopen();
	ck_assert(add("e", "k"));
	commit();
	ck_assert(has(2, "\"duplicate\":true"));
}
END_TEST

START_TEST(second_opener_is_refused)
{
	struct journal *second;

	ck_assert_int_eq(journal_open(&second, &spec), ERR_BUSY);
	ck_assert_ptr_null(second);
}
END_TEST

START_TEST(journal_in_memory_leaves_nothing_behind)
{
	struct journal *second;
	struct event event = {.source = SPAN("t"), .text = SPAN("x")};
	struct event_place place = {.push = SPAN("p"), .count = 1};
	struct journal_spec memory = spec;

	memory.folder = NULL;
	ck_assert_int_eq(journal_open(&second, &memory), ERR_OK);
	ck_assert_int_eq(journal_add(second, &event, &place), ERR_OK);
	ck_assert_int_eq(journal_commit(second), ERR_OK);
	ck_assert_uint_eq(journal_count(second), 1);
	ck_assert_str_ne(journal_epoch(second), journal_epoch(journal));
	journal_close(second);
}
END_TEST

START_TEST(records_have_a_ceiling_in_bytes)
{
	static char large[EVENT_TEXT_MAX];

	memset(large, 'x', sizeof(large) - 1);
	spec.keep_events = 1000;
	spec.keep_bytes = 100000;
	reopen();
	for (int i = 0; i < 50; i++)
		add(large, NULL);
	commit();
	ck_assert_uint_lt(journal_count(journal), 8);
	ck_assert(has(50, "xxx"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook journal");
	TCase *tc = tcase_create("journal");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, events_are_there_once_committed_and_after_a_restart);
	tcase_add_test(tc, numbers_go_on_when_all_events_have_gone);
	tcase_add_test(tc, unread_events_that_go_are_counted);
	tcase_add_test(tc, each_run_of_drops_is_one_line_of_the_log);
	tcase_add_test(tc, pending_events_are_those_that_are_there);
	tcase_add_test(tc, acknowledgements_only_grow);
	tcase_add_test(tc, same_key_is_a_duplicate);
	tcase_add_test(tc, second_opener_is_refused);
	tcase_add_test(tc, journal_in_memory_leaves_nothing_behind);
	tcase_add_test(tc, records_have_a_ceiling_in_bytes);
	suite_add_tcase(suite, tc);
	return suite;
}
