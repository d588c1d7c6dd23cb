/* tests/lmdb-schema/state/test_trail_look.c: lmdb-schema/state/trail_look.h */
#include "lmdb-schema/state/trail_look.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_lost.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define MONTHS 5 /* of 40 entries each, in files; a sixth is the running one */

static void
make(void)
{
	struct trail_closed closed;

	states_make();
	mirror_drop();
	for (int month = 1; month <= MONTHS + 1; month++)
		states_month(2026, month, 40);
	ck_assert_int_eq(
	    trail_close(&closed, states, TRAIL_PART_ENTRIES_MAX, INT64_MAX),
	    ERR_OK);
	ck_assert_uint_eq(closed.parts, MONTHS);
	ck_assert_int_eq(mkdir(scratch_path("archive"), 0750), 0);
}

static const char *
path_of(const char *folder, int month)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/2026-%02d-%016x.part", folder, month,
	    (unsigned)(month - 1) * 40 + 1);
	return scratch_path(path);
}

static void
archive_before(int month)
{
	uint64_t moved;

	ck_assert_int_eq(
	    trail_archive(&moved, states, scratch_path("archive"),
		(int64_t)date_day_of(2026, month, 1) * 86400000, NULL),
	    ERR_OK);
}

/* "archived 1-80 2026-01 to 2026-02 2; here 81-200 2026-03 to 2026-05 3; " */
static enum err
add_stretch(void *context, const struct trail_stretch *stretch)
{
	static const char *const places[] = {
	    "here", "archived", "lost", "unreadable"};
	char months[TRAIL_MONTHS_MAX];
	struct buf *text = context;

	trail_months_text(months, stretch);
	ck_assert_uint_gt(stretch->bytes, 100 * stretch->files);
	buf_addf(text, "%s %llu-%llu %s %llu; ", places[stretch->place],
	    (unsigned long long)stretch->first,
	    (unsigned long long)stretch->last, months,
	    (unsigned long long)stretch->files);
	return ERR_OK;
}

static const char *
looks(void)
{
	static char said[512];
	struct buf text;

	buf_init(&text, sizeof(said));
	ck_assert_int_eq(trail_look(states, add_stretch, &text), ERR_OK);
	buf_add_char(&text, '\0');
	ck_assert_int_eq(buf_end(&text), ERR_OK);
	snprintf(said, sizeof(said), "%s", text.data);
	buf_fini(&text);
	return said;
}

START_TEST(files_that_are_here_are_one_stretch)
{
	ck_assert_str_eq(looks(), "here 1-200 2026-01 to 2026-05 5; ");
}
END_TEST

START_TEST(archived_months_are_a_stretch_and_one_that_came_back_is_here)
{
	archive_before(4);
	ck_assert_str_eq(looks(),
	    "archived 1-120 2026-01 to 2026-03 3; "
	    "here 121-200 2026-04 to 2026-05 2; ");
	ck_assert_int_eq(
	    link(path_of("archive", 2), path_of("data/trail", 2)), 0);
	ck_assert_str_eq(looks(),
	    "archived 1-40 2026-01 1; here 41-80 2026-02 1; "
	    "archived 81-120 2026-03 1; here 121-200 2026-04 to 2026-05 2; ");
}
END_TEST

START_TEST(each_lost_file_is_told_by_itself)
{
	ck_assert_int_eq(unlink(path_of("data/trail", 2)), 0);
	ck_assert_int_eq(truncate(path_of("data/trail", 3), 300), 0);
	ck_assert_str_eq(looks(),
	    "here 1-40 2026-01 1; lost 41-80 2026-02 1; "
	    "lost 81-120 2026-03 1; here 121-200 2026-04 to 2026-05 2; ");
}
END_TEST

static void
flip_version(int month, bool and_its_sum)
{
	int fd = open(path_of("data/trail", month), O_RDWR);
	unsigned char head[16];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, head, sizeof(head), 0), sizeof(head));
	head[8] ^= 4; /* 3 becomes 7 */
	head[12] ^= and_its_sum ? 1 : 0;
	ck_assert_int_eq(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	close(fd);
}

/* The checksum tells a flipped bit from a file of a later program. */
START_TEST(a_flipped_version_is_damage_and_a_later_one_is_unreadable)
{
	struct trail_parts_row row = {.first = 41, .last = 80, .month = 24314};
	struct trail_lost lost;

	flip_version(2, false);
	flip_version(3, true);
	ck_assert_str_eq(looks(),
	    "here 1-40 2026-01 1; lost 41-80 2026-02 1; "
	    "unreadable 81-120 2026-03 1; here 121-200 2026-04 to 2026-05 2; ");
	trail_lost(&lost, states, &row, ERR_VERSION);
	ck_assert_ptr_nonnull(strstr(lost.todo, "the version that wrote it"));
	ck_assert_ptr_nonnull(
	    strstr(lost.todo, "from a backup or the archive"));
	/* A copy by root is root's, unless it keeps its owner. */
	ck_assert_ptr_nonnull(strstr(lost.todo, "'cp -p'"));
	trail_lost(&lost, states, &row, ERR_DAMAGED);
	ck_assert_ptr_nonnull(strstr(lost.todo, "'cp -p'"));
}
END_TEST

/* As a reader of the newest entries first comes by. */
START_TEST(a_stretch_grows_on_either_side)
{
	struct trail_parts_row row = {.first = 81, .last = 120, .month = 24315};
	struct trail_stretch stretch = {.files = 0};

	ck_assert(trail_stretch_add(&stretch, &row, ERR_NOT_FOUND));
	row = (struct trail_parts_row){.first = 41, .last = 80, .month = 24314};
	ck_assert(!trail_stretch_add(&stretch, &row, ERR_OK));
	ck_assert(trail_stretch_add(&stretch, &row, ERR_NOT_FOUND));
	row = (struct trail_parts_row){.first = 1, .last = 39, .month = 24313};
	ck_assert(!trail_stretch_add(&stretch, &row, ERR_NOT_FOUND));
	ck_assert_uint_eq(stretch.first, 41);
	ck_assert_uint_eq(stretch.last, 120);
	ck_assert_uint_eq(stretch.from, 24314);
	ck_assert_uint_eq(stretch.to, 24315);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_look");
	TCase *tc = tcase_create("trail_look");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, files_that_are_here_are_one_stretch);
	tcase_add_test(
	    tc, archived_months_are_a_stretch_and_one_that_came_back_is_here);
	tcase_add_test(tc, each_lost_file_is_told_by_itself);
	tcase_add_test(
	    tc, a_flipped_version_is_damage_and_a_later_one_is_unreadable);
	tcase_add_test(tc, a_stretch_grows_on_either_side);
	suite_add_tcase(suite, tc);
	return suite;
}
