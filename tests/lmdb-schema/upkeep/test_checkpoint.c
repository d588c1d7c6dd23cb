/*
 * The rule by which checkpoints are forgotten and the log is trimmed: two cover
 * what goes, nothing goes that is younger than asked for, and something does.
 */
#include "lmdb-schema/upkeep/checkpoint.h"

#include <check.h>
#include <string.h>

#include "tests/support/run.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_S INT64_C(86400)

static struct checkpoints checkpoints;
static bool forget[CHECKPOINTS_MAX];

static void
add(uint64_t number, int64_t made_ms)
{
	checkpoints.list[checkpoints.count++] =
	    (struct checkpoint){.number = number, .made_ms = made_ms};
}

static uint64_t
sort_out(int64_t now_ms)
{
	uint64_t cover = 77;

	checkpoint_sort_out(forget, &checkpoints, DAY_S, now_ms, &cover);
	return cover;
}

static void
drop(void)
{
	unsigned left = 0;

	for (unsigned i = 0; i < checkpoints.count; i++)
		if (!forget[i])
			checkpoints.list[left++] = checkpoints.list[i];
	checkpoints.count = left;
}

START_TEST(nothing_is_trimmed_before_there_are_two)
{
	checkpoints.count = 0;
	ck_assert_uint_eq(sort_out(0), 0);
	add(10, 0);
	ck_assert_uint_eq(sort_out(100 * HOUR_MS), 0);
	ck_assert(!forget[0]);
	add(20, 99 * HOUR_MS);
	ck_assert_uint_eq(sort_out(100 * HOUR_MS), 10);
	ck_assert(!forget[0] && !forget[1]);
}
END_TEST

START_TEST(what_is_younger_than_asked_for_stays)
{
	checkpoints.count = 0;
	add(10, 1);
	add(20, 2);
	ck_assert_uint_eq(sort_out(24 * HOUR_MS), 0);
	ck_assert_uint_eq(sort_out(24 * HOUR_MS + 1), 10);
}
END_TEST

START_TEST(those_before_the_one_that_covers_are_forgotten)
{
	checkpoints.count = 0;
	for (unsigned i = 0; i < 5; i++)
		add(10 * (i + 1), 30 * HOUR_MS * i);
	ck_assert_uint_eq(sort_out(30 * HOUR_MS * 4), 40);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(forget[i], i < 3);
}
END_TEST

/* _i: one each so many minutes; the oldest is the one that covers. */
START_TEST(however_often_they_are_made_the_log_is_trimmed)
{
	const int64_t every_ms = (int64_t)_i * HOUR_MS / 60;
	uint64_t cover = 0, number = 0;
	int64_t now = 0;

	checkpoints.count = 0;
	for (; now < 20 * 24 * HOUR_MS; now += every_ms) {
		uint64_t before = cover;

		add(++number, now);
		cover = sort_out(now);
		ck_assert_uint_ge(cover, before);
		drop();
		ck_assert_uint_le(checkpoints.count, 8);
		if (cover > 0) {
			ck_assert_uint_eq(checkpoints.list[0].number, cover);
			ck_assert_int_le(
			    checkpoints.list[0].made_ms, now - 24 * HOUR_MS);
			ck_assert_uint_ge(checkpoints.count, 2);
		}
		/* Not older than twice that, and one more. */
		if (now > 48 * HOUR_MS + every_ms)
			ck_assert_int_ge(checkpoints.list[0].made_ms,
			    now - 48 * HOUR_MS - every_ms);
	}
}
END_TEST

START_TEST(a_note_is_read_as_a_checkpoint)
{
#define SHA "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	static const char *const wrong[][2] = {{"checkpoint/", "1 " SHA " 5"},
	    {"checkpoint/00000000000004d", "1 " SHA " 5"},
	    {"other/00000000000004d2", "1 " SHA " 5"},
	    {"checkpoint/00000000000004d2", ""},
	    {"checkpoint/00000000000004d2", "1 " SHA},
	    {"checkpoint/00000000000004d2", "1 " SHA " x"},
	    {"checkpoint/00000000000004d2", SHA " 5"}};
	struct checkpoint found;

	ck_assert(checkpoint_read(&found, SPAN("checkpoint/00000000000004d2"),
	    SPAN("123 " SHA " 1764000000000")));
	ck_assert_uint_eq(found.number, 1234);
	ck_assert_uint_eq(found.parcel.bytes, 123);
	ck_assert_str_eq(found.parcel.name, SHA);
	ck_assert_int_eq(found.made_ms, 1764000000000);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert(!checkpoint_read(
		    &found, span_of(wrong[i][0]), span_of(wrong[i][1])));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("checkpoint");
	TCase *tc = tcase_create("checkpoint");

	tcase_add_test(tc, nothing_is_trimmed_before_there_are_two);
	tcase_add_test(tc, what_is_younger_than_asked_for_stays);
	tcase_add_test(tc, those_before_the_one_that_covers_are_forgotten);
	tcase_add_loop_test(
	    tc, however_often_they_are_made_the_log_is_trimmed, 1, 60);
	tcase_add_test(tc, a_note_is_read_as_a_checkpoint);
	suite_add_tcase(suite, tc);
	return suite;
}
