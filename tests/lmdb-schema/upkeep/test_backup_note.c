#include "lmdb-schema/upkeep/backup_note.h"

#include <stdio.h>
#include <sys/stat.h>

#include "common/date.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct backup_note note;

static void
make(void)
{
	scratch_make();
	ck_assert_int_eq(mkdir(scratch_path("data"), 0750), 0);
	ck_assert_int_eq(mkdir(scratch_path("data/locks"), 0750), 0);
}

static enum err
read_note(void)
{
	return backup_note_read(&note, scratch_path("data"));
}

START_TEST(at_first_there_is_none)
{
	ck_assert_int_eq(read_note(), ERR_OK);
	for (unsigned i = 0; i < BACKUP_EVENTS; i++)
		ck_assert_int_eq(note.ms[i], 0);
}
END_TEST

START_TEST(each_event_is_noted_beside_the_others)
{
	int64_t before = date_now_ms();

	for (unsigned event = 0; event < BACKUP_EVENTS; event++) {
		ck_assert_int_eq(
		    backup_note_set(scratch_path("data"), event), ERR_OK);
		ck_assert_int_eq(read_note(), ERR_OK);
		for (unsigned i = 0; i < BACKUP_EVENTS; i++)
			ck_assert((note.ms[i] >= before) == (i <= event));
	}
}
END_TEST

static const char *const damaged[] = {
    "",
    "{",
    "[]",
    "{\"version\":2,\"made\":null,\"sent\":null,\"tested\":null}",
    "{\"version\":1,\"made\":null,\"sent\":null}",
    "{\"version\":1,\"made\":5,\"sent\":null,\"tested\":null}",
    "{\"version\":1,\"made\":\"today\",\"sent\":null,\"tested\":null}",
};

START_TEST(a_damaged_file_is_told_and_begun_anew)
{
	scratch_text("data/backups.json", damaged[_i]);
	ck_assert_int_eq(read_note(), ERR_DAMAGED);
	ck_assert_int_eq(note.ms[BACKUP_MADE], 0);
	ck_assert_int_eq(
	    backup_note_set(scratch_path("data"), BACKUP_SENT), ERR_OK);
	ck_assert_int_eq(read_note(), ERR_OK);
	ck_assert_int_eq(note.ms[BACKUP_MADE], 0);
	ck_assert_int_gt(note.ms[BACKUP_SENT], 0);
}
END_TEST

START_TEST(a_longer_file_is_damaged)
{
	static char text[10000];

	snprintf(text, sizeof(text), "%9999s", "{}");
	scratch_text("data/backups.json", text);
	quiet_begin();
	ck_assert_int_eq(read_note(), ERR_DAMAGED);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("backup_note");
	TCase *tc = tcase_create("backup_note");

	tcase_add_checked_fixture(tc, make, scratch_remove);
	tcase_add_test(tc, at_first_there_is_none);
	tcase_add_test(tc, each_event_is_noted_beside_the_others);
	tcase_add_loop_test(tc, a_damaged_file_is_told_and_begun_anew, 0,
	    sizeof(damaged) / sizeof(damaged[0]));
	tcase_add_test(tc, a_longer_file_is_damaged);
	suite_add_tcase(suite, tc);
	return suite;
}
