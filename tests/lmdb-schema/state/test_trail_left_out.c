/*
 * tests/lmdb-schema/state/test_trail_left_out.c: readings that go on behind files
 * that are lost or archived (struct trail_left_out, lmdb-schema/state/trail_parts.h).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_parts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define JANUARY "data/trail/2026-01-0000000000000001.part"
#define FEBRUARY "data/trail/2026-02-0000000000000385.part"
#define LAST 1010 /* January has 1 to 900, February 901 to 1000 */
#define LONG 30000 /* entries of a January of several blocks of checksums */

/* --- readings ------------------------------------------------------------- */

static bool seen[LONG + 100], lacking[LONG + 100];
static unsigned seen_count, told_count;
static uint64_t told_first, told_last, before;
static enum err told_err;
static bool backwards;

static void
tell(void *context, const struct trail_parts_row *row, enum err err)
{
	(void)context;
	told_count++;
	told_first = row->first;
	told_last = row->last;
	told_err = err;
}

static void
lacks(void *context, uint64_t first, uint64_t last)
{
	(void)context;
	ck_assert_uint_le(first, last);
	for (uint64_t number = first; number <= last; number++) {
		ck_assert(!lacking[number]);
		lacking[number] = true;
	}
}

static const struct trail_left_out left_out = {tell, lacks, NULL};

static enum err
see(void *context, const struct audit_entry *entry)
{
	(void)context;
	ck_assert(before == 0 ||
	    (backwards ? entry->number < before : entry->number > before));
	before = entry->number;
	ck_assert_uint_lt(entry->number, sizeof(seen));
	seen[entry->number] = true;
	seen_count++;
	return ERR_OK;
}

/* All entries with `codein` NULL, or that article's at S2. */
static enum err
reads(const char *codein, bool back, const struct trail_left_out *to)
{
	const struct trail_wanted wanted = {.left_out = to};
	const struct trail_article article = {.supplier = SPAN("S2"),
	    .codein = span_of(codein),
	    .back = back,
	    .left_out = to};
	struct state_view *view;
	enum err err;

	memset(seen, 0, sizeof(seen));
	memset(lacking, 0, sizeof(lacking));
	seen_count = told_count = 0;
	before = 0;
	backwards = back;
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	err = codein != NULL
	    ? trail_history(view, &article, see, NULL)
	    : trail_each(view, &wanted, back ? LONG + 100 : 1, back, see, NULL);
	state_view_close(view);
	return err;
}

static void
must_be_told(uint64_t first, uint64_t last, enum err err)
{
	ck_assert_uint_eq(told_count, 1);
	ck_assert_uint_eq(told_first, first);
	ck_assert_uint_eq(told_last, last);
	ck_assert_int_eq(told_err, err);
}

/* --- what is lost --------------------------------------------------------- */

/* In the middle of a section of January's file. */
static void
flip(unsigned section)
{
	struct trail_part_head head;
	char byte;
	off_t at;
	int fd = open(scratch_path(JANUARY), O_RDWR);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	at =
	    (off_t)(head.section[section].at + head.section[section].bytes / 2);
	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= 16;
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

START_TEST(all_is_read_and_nothing_told_of_what_is_sound)
{
	ck_assert_int_eq(reads(NULL, _i != 0, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, LAST);
	ck_assert_uint_eq(told_count, 0);
}
END_TEST

START_TEST(the_others_are_read_where_a_file_is_missing)
{
	const bool back = _i != 0;

	ck_assert_int_eq(reads("A7", back, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, 35); /* 30, 4, 1 */
	ck_assert_int_eq(unlink(scratch_path(FEBRUARY)), 0);
	ck_assert_int_eq(reads(NULL, back, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, LAST - 100);
	ck_assert(lacking[901] && lacking[1000]);
	ck_assert(!lacking[900] && !lacking[1001]);
	must_be_told(901, 1000, ERR_DAMAGED);
	ck_assert_int_eq(reads("A7", back, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, 31);
	must_be_told(901, 1000, ERR_DAMAGED);
}
END_TEST

START_TEST(an_archived_file_is_told_as_one)
{
	uint64_t moved;

	ck_assert_int_eq(mkdir(scratch_path("archive"), 0750), 0);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     (int64_t)date_day_of(2026, 2, 1) * 86400000, NULL),
	    ERR_OK);
	ck_assert_int_eq(reads(NULL, _i != 0, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, LAST - 900);
	must_be_told(1, 900, ERR_NOT_FOUND);
	ck_assert_int_eq(reads("A7", _i != 0, &left_out), ERR_OK);
	ck_assert_uint_eq(seen_count, 5);
	must_be_told(1, 900, ERR_NOT_FOUND);
	ck_assert_int_eq(reads(NULL, _i != 0, NULL), ERR_OK);
	ck_assert_uint_eq(seen_count, LAST - 900);
}
END_TEST

START_TEST(an_article_is_found_in_a_file_whose_articles_are_damaged)
{
	const bool back = _i != 0;
	unsigned found = 0;

	flip(TRAIL_PART_ARTICLES);
	for (unsigned i = 0; i < 30; i++) {
		char codein[8];

		snprintf(codein, sizeof(codein), "A%u", i);
		ck_assert_int_eq(reads(codein, back, &left_out), ERR_OK);
		for (unsigned number = 1; number <= LAST; number++)
			ck_assert(!lacking[number]);
		ck_assert_uint_eq(seen_count,
		    i % 5 != 2   ? 0
			: i < 10 ? 35
				 : 33);
		found += told_count;
	}
	ck_assert_uint_gt(found, 0); /* by those that need these bytes */
}
END_TEST

START_TEST(damage_still_ends_a_reading_that_is_not_to_go_on)
{
	ck_assert_int_eq(unlink(scratch_path(JANUARY)), 0);
	ck_assert_int_eq(reads(NULL, _i != 0, NULL), ERR_DAMAGED);
	ck_assert_int_eq(reads("A7", _i != 0, NULL), ERR_DAMAGED);
}
END_TEST

/* --- a damaged block ------------------------------------------------------ */

static void
make_long(void)
{
	struct trail_closed closed;

	states_make();
	mirror_drop();
	states_month(2026, 1, LONG);
	states_month(2026, 2, 10);
	ck_assert_int_eq(
	    trail_close(&closed, states, TRAIL_PART_ENTRIES_MAX, INT64_MAX),
	    ERR_OK);
	ck_assert_uint_eq(closed.parts, 1);
}

static void
must_lack_what_was_not_seen(uint64_t last)
{
	for (uint64_t number = 1; number <= last; number++)
		ck_assert_msg(seen[number] != lacking[number], "entry %llu",
		    (unsigned long long)number);
}

START_TEST(the_entries_of_a_damaged_list_of_blocks_are_told)
{
	flip(TRAIL_PART_BLOCKS);
	ck_assert_int_eq(reads(NULL, _i != 0, &left_out), ERR_OK);
	must_be_told(1, LONG, ERR_DAMAGED);
	must_lack_what_was_not_seen(LONG + 10);
}
END_TEST

START_TEST(entries_on_both_sides_of_a_damaged_block_are_read)
{
	flip(TRAIL_PART_ENTRIES);
	ck_assert_int_eq(reads(NULL, _i != 0, &left_out), ERR_OK);
	must_lack_what_was_not_seen(LONG + 10);
	must_be_told(1, LONG, ERR_DAMAGED);
	ck_assert_uint_gt(seen_count, LONG / 10);
	ck_assert_uint_lt(seen_count, LONG);
	ck_assert(seen[1] && seen[LONG] && seen[LONG + 10]);
	ck_assert(!seen[LONG / 2]);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_left_out");
	TCase *tc = tcase_create("trail_left_out");

	tcase_add_checked_fixture(tc, states_three_months, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	/* Each forwards, and backwards. */
	tcase_add_loop_test(
	    tc, all_is_read_and_nothing_told_of_what_is_sound, 0, 2);
	tcase_add_loop_test(
	    tc, the_others_are_read_where_a_file_is_missing, 0, 2);
	tcase_add_loop_test(tc, an_archived_file_is_told_as_one, 0, 2);
	tcase_add_loop_test(
	    tc, an_article_is_found_in_a_file_whose_articles_are_damaged, 0, 2);
	tcase_add_loop_test(
	    tc, damage_still_ends_a_reading_that_is_not_to_go_on, 0, 2);
	suite_add_tcase(suite, tc);
	tc = tcase_create("long");
	tcase_add_checked_fixture(tc, make_long, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_loop_test(
	    tc, entries_on_both_sides_of_a_damaged_block_are_read, 0, 2);
	tcase_add_loop_test(
	    tc, the_entries_of_a_damaged_list_of_blocks_are_told, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
