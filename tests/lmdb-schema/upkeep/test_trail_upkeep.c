/* Backup, check and prune with months of the trail in files. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

static struct copy_counts copied;
static struct copy_lost_month lost_month;
static char lost_base[FS_PATH_MAX], bent_base[FS_PATH_MAX];

static void
note_lost(void *context, const struct copy_lost_month *month)
{
	(void)context;
	lost_month = *month;
	snprintf(lost_base, sizeof(lost_base), "%s", month->base);
}

static void
note_base(void *context, const char *path)
{
	(void)context;
	snprintf(bent_base, sizeof(bent_base), "%s", path);
}

/* The months that are not sound in the data directory. */
static uint64_t
copy_onto(const char *name, const char *base)
{
	static const struct copy_listener listener = {
	    note_lost, note_base, NULL};
	char path[FS_PATH_MAX] = "", from[FS_PATH_MAX];
	struct fault fault;

	fault_clear(&fault);
	states_close();
	snprintf(from, sizeof(from), "%s", scratch_path("data"));
	if (base != NULL)
		snprintf(path, sizeof(path), "%s", scratch_path(base));
	ck_assert_int_eq(
	    store_copy(from, scratch_path(name), base == NULL ? NULL : path,
		&listener, &copied, &fault),
	    ERR_OK);
	states_open();
	return copied.months_lost;
}

static uint64_t
copy(const char *name)
{
	return copy_onto(name, NULL);
}

/* Another byte at the beginning of a section; the time of writing stays. */
static void
bend(const char *name, unsigned section)
{
	struct trail_part_head head;
	struct stat st;
	char byte;
	int fd = open(scratch_path(name), O_RDWR);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(
	    pread(fd, &byte, 1, (off_t)head.section[section].at), 1);
	byte ^= 4;
	ck_assert_int_eq(
	    pwrite(fd, &byte, 1, (off_t)head.section[section].at), 1);
	ck_assert_int_eq(
	    futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
	close(fd);
}

/* Leaves no entry of February, in one of six ways. */
static void
spoil_february(int way)
{
	char path[FS_PATH_MAX];

	snprintf(path, sizeof(path), "%s", scratch_path(FEBRUARY));
	if (way == 0) {
		ck_assert_int_eq(truncate(path, 0), 0);
	} else if (way == 1) {
		ck_assert_int_eq(truncate(path, 400), 0);
	} else {
		ck_assert_int_eq(unlink(path), 0);
		if (way == 2)
			ck_assert_int_eq(link(scratch_path(JANUARY), path), 0);
		else if (way == 3)
			ck_assert_int_eq(mkdir(path, 0700), 0);
		else if (way == 4)
			ck_assert_int_eq(mkfifo(path, 0600), 0);
	}
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
	bend(FEBRUARY, (unsigned)_i);
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

static void
must_be_whole(const char *name)
{
	struct fault fault;
	struct store *store;

	ck_assert_int_eq(
	    store_open(&store, scratch_path(name), &fault), ERR_OK);
	told_check(store);
	ck_assert_str_eq(told, "");
	store_close(store);
}

START_TEST(a_month_that_is_spoilt_comes_from_the_base)
{
	ck_assert_uint_eq(copy("first"), 0);
	spoil_february(_i);
	ck_assert_uint_eq(copy_onto("copy", "first"), 1);
	ck_assert_uint_eq(copied.months_of_base, 1);
	ck_assert_str_eq(lost_month.lost.path, scratch_path(FEBRUARY));
	ck_assert_int_eq(lost_month.irregular, _i == 3 || _i == 4);
	ck_assert_ptr_nonnull(strstr(lost_base, "first/trail/2026-02-"));
	must_be_whole("copy");
	if (_i == 3)
		ck_assert_int_eq(rmdir(scratch_path(FEBRUARY)), 0);
}
END_TEST

START_TEST(without_a_base_all_else_is_copied)
{
	spoil_february(_i);
	ck_assert_uint_eq(copy("copy"), 1);
	ck_assert_uint_eq(copied.months_of_base, 0);
	ck_assert_str_eq(lost_base, "");
	ck_assert_int_eq(
	    access(
		scratch_path("copy/trail/2026-01-0000000000000001.part"), F_OK),
	    0);
	ck_assert_int_ne(
	    access(
		scratch_path("copy/trail/2026-02-0000000000000385.part"), F_OK),
	    0);
	if (_i == 3)
		ck_assert_int_eq(rmdir(scratch_path(FEBRUARY)), 0);
}
END_TEST

START_TEST(a_month_with_another_byte_comes_from_the_base)
{
	ck_assert_uint_eq(copy("first"), 0);
	bend(FEBRUARY, (unsigned)_i);
	ck_assert_uint_eq(copy_onto("copy", "first"), 1);
	ck_assert_uint_eq(copied.months_of_base, 1);
	ck_assert_uint_eq(copied.linked, 2); /* each month once */
	must_be_whole("copy");
}
END_TEST

START_TEST(a_bent_month_of_the_base_is_not_linked)
{
	ck_assert_uint_eq(copy("first"), 0);
	bend("first/trail/2026-02-0000000000000385.part", (unsigned)_i);
	ck_assert_uint_eq(copy_onto("copy", "first"), 0);
	ck_assert_ptr_nonnull(strstr(bent_base, "first/trail/2026-02-"));
	ck_assert_uint_eq(copied.linked, 1);
	must_be_whole("copy");
}
END_TEST

/* The other blocks of the month can be read. */
START_TEST(without_a_base_a_month_with_another_byte_is_told_and_kept)
{
	bend(FEBRUARY, TRAIL_PART_ENTRIES);
	ck_assert_uint_eq(copy("copy"), 1);
	ck_assert_uint_eq(copied.months_of_base, 0);
	ck_assert_int_eq(
	    access(
		scratch_path("copy/trail/2026-02-0000000000000385.part"), F_OK),
	    0);
}
END_TEST

/* A bad file of the base is none to take, and a sound one of here is. */
START_TEST(a_spoilt_base_is_not_taken)
{
	ck_assert_uint_eq(copy("first"), 0);
	scratch_text("first/trail/2026-02-0000000000000385.part", "cut");
	ck_assert_uint_eq(copy_onto("copy", "first"), 0);
	must_be_whole("copy");
	spoil_february(0);
	ck_assert_uint_eq(copy_onto("second", "first"), 1);
	ck_assert_uint_eq(copied.months_of_base, 0);
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
	scratch_text(JANUARY ".bak", "a copy of one");
	scratch_text("data/trail/2025-12-0000000000000001.part", "no month's");
	told_check(states);
	ck_assert_uint_eq(told_counts.leftovers, 2);
	ck_assert_uint_eq(told_counts.strays, 3);
	ck_assert_int_eq(prune_all(states, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 2);
	ck_assert_int_ne(access(scratch_path(unfinished), F_OK), 0);
	ck_assert_int_ne(access(scratch_path(without_row), F_OK), 0);
	ck_assert_int_eq(access(scratch_path("data/trail/notes"), F_OK), 0);
	told_check(states);
	ck_assert_uint_eq(told_counts.leftovers, 0);
	ck_assert_uint_eq(told_counts.strays, 3);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(the_bytes_of_parts_are_counted)
{
	char other[20000] = "";
	uint64_t bytes;
	struct stat_counts counts;

	ck_assert_int_eq(stat_collect(&counts, states), ERR_OK);
	ck_assert_uint_gt(counts.trail_bytes, 1000);
	bytes = counts.trail_bytes;
	/* Not those of others in the folder. */
	memset(other, 'x', sizeof(other) - 1);
	scratch_text("data/trail/notes", other);
	ck_assert_int_eq(stat_collect(&counts, states), ERR_OK);
	ck_assert_uint_eq(counts.trail_bytes, bytes);
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
	tcase_add_loop_test(
	    tc, a_month_that_is_spoilt_comes_from_the_base, 0, 6);
	tcase_add_loop_test(tc, without_a_base_all_else_is_copied, 0, 6);
	tcase_add_loop_test(tc, a_month_with_another_byte_comes_from_the_base,
	    0, TRAIL_PART_SECTIONS);
	tcase_add_loop_test(
	    tc, a_bent_month_of_the_base_is_not_linked, 0, TRAIL_PART_SECTIONS);
	tcase_add_test(
	    tc, without_a_base_a_month_with_another_byte_is_told_and_kept);
	tcase_add_test(tc, a_spoilt_base_is_not_taken);
	tcase_add_test(
	    tc, leftovers_of_a_closing_are_removed_and_parts_are_not);
	tcase_add_test(tc, the_bytes_of_parts_are_counted);
	suite_add_tcase(suite, tc);
	return suite;
}
