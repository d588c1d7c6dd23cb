/* Backup, check and prune with months of the trail in files. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check.h"
#include "lmdb-schema/upkeep/copy.h"
#include "lmdb-schema/upkeep/prune.h"
#include "lmdb-schema/upkeep/stat.h"
#include "tests/lmdb-schema/states.h"
#include "tests/lmdb-schema/told.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define JANUARY "data/trail/2026-01-0000000000000001.part"
#define FEBRUARY "data/trail/2026-02-0000000000000385.part"

static uint64_t
copy(const char *name)
{
	struct copy_counts counts;
	struct fault fault;

	fault_clear(&fault);
	states_close();
	ck_assert_int_eq(store_copy(scratch_path("data"), scratch_path(name),
			     NULL, &counts, &fault),
	    ERR_OK);
	states_open();
	return counts.parts_missing;
}

/* --- check ---------------------------------------------------------------- */

START_TEST(sound_parts_are_checked_and_nothing_is_told)
{
	told_check(states);
	ck_assert_str_eq(told, "");
	ck_assert_uint_ge(told_counts.entries, 1010);
	ck_assert_uint_eq(told_counts.leftovers, 0);
}
END_TEST

START_TEST(a_damaged_part_is_told_with_its_entries)
{
	struct trail_part_head head;
	char byte;
	int fd = open(scratch_path(FEBRUARY), O_RDWR);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)head.section[_i].at), 1);
	byte ^= 4;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)head.section[_i].at), 1);
	close(fd);
	told_check(states);
	ck_assert_uint_eq(told_counts.damages, 1);
	told_must_have("entries 901 to 1000 of the audit trail");
	told_must_have("2026-02-0000000000000385.part");
}
END_TEST

START_TEST(a_missing_part_is_told_by_check_and_backup)
{
	ck_assert_int_eq(unlink(scratch_path(JANUARY)), 0);
	told_check(states);
	ck_assert_uint_eq(told_counts.damages, 1);
	told_must_have("entries 1 to 900 of the audit trail");
	ck_assert_uint_eq(copy("copy"), 1);
}
END_TEST

/* Where each of the two is to be found is told, and nothing else. */
START_TEST(a_lost_month_is_told_with_where_it_may_be_found)
{
	ck_assert_int_eq(unlink(scratch_path(JANUARY)), 0);
	told_check(states);
	told_must_have("(2026-01): the file is missing: copy the file back "
		       "from a backup, or from the archive of gridapi's "
		       "setting [trail] archive where that has it");
}
END_TEST

static void
take_january(void)
{
	uint64_t moved;

	ck_assert_int_eq(mkdir(scratch_path("archive"), 0750), 0);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     (int64_t)date_day_of(2026, 2, 1) * 86400000, NULL),
	    ERR_OK);
	ck_assert_uint_eq(moved, 1);
}

START_TEST(an_archived_month_is_counted_and_no_damage)
{
	take_january();
	told_check(states);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.archived, 1);
}
END_TEST

START_TEST(a_bad_copy_of_an_archived_month_is_to_come_from_the_archive)
{
	take_january();
	scratch_text(JANUARY, "cut");
	told_check(states);
	ck_assert_uint_eq(told_counts.damages, 1);
	ck_assert_uint_eq(told_counts.archived, 0);
	told_must_have("entries 1 to 900 of the audit trail (2026-01): "
		       "stored data damaged: the month is in the archive: copy "
		       "the file from there again");
}
END_TEST

/* --- backup --------------------------------------------------------------- */

START_TEST(a_backup_has_the_parts)
{
	struct fault fault;
	struct store *store;

	ck_assert_uint_eq(copy("copy"), 0);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("copy"), &fault), ERR_OK);
	told_check(store);
	ck_assert_str_eq(told, "");
	ck_assert_uint_ge(told_counts.entries, 1010);
	store_close(store);
}
END_TEST

/* --- prune and stat ------------------------------------------------------- */

START_TEST(leftovers_of_a_closing_are_removed_and_parts_are_not)
{
	static const char unfinished[] =
	    "data/trail/2026-03-00000000000003e9.part.tmp";
	static const char without_row[] =
	    "data/trail/2026-03-00000000000003e9.part";
	struct pruned pruned;

	scratch_text(unfinished, "x");
	scratch_text(without_row, "x");
	scratch_text("data/trail/notes", "of an operator");
	told_check(states);
	ck_assert_uint_eq(told_counts.leftovers, 2);
	ck_assert_int_eq(prune_all(states, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 2);
	ck_assert_int_ne(access(scratch_path(unfinished), F_OK), 0);
	ck_assert_int_ne(access(scratch_path(without_row), F_OK), 0);
	ck_assert_int_eq(access(scratch_path("data/trail/notes"), F_OK), 0);
	told_check(states);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(the_bytes_of_parts_are_counted)
{
	struct stat_counts counts;

	ck_assert_int_eq(stat_collect(&counts, states), ERR_OK);
	ck_assert_uint_gt(counts.trail_bytes, 1000);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_upkeep");
	TCase *tc = tcase_create("trail_upkeep");

	tcase_add_checked_fixture(tc, states_three_months, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, sound_parts_are_checked_and_nothing_is_told);
	tcase_add_loop_test(tc, a_damaged_part_is_told_with_its_entries, 0,
	    TRAIL_PART_SECTIONS);
	tcase_add_test(tc, a_missing_part_is_told_by_check_and_backup);
	tcase_add_test(tc, a_lost_month_is_told_with_where_it_may_be_found);
	tcase_add_test(tc, an_archived_month_is_counted_and_no_damage);
	tcase_add_test(
	    tc, a_bad_copy_of_an_archived_month_is_to_come_from_the_archive);
	tcase_add_test(tc, a_backup_has_the_parts);
	tcase_add_test(
	    tc, leftovers_of_a_closing_are_removed_and_parts_are_not);
	tcase_add_test(tc, the_bytes_of_parts_are_counted);
	suite_add_tcase(suite, tc);
	return suite;
}
