#include "common/fs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define NOBODY 65534 /* any user but root */

static bool
exists(const char *name)
{
	struct stat st;

	return lstat(scratch_path(name), &st) == 0;
}

static enum err
join(void *context, const char *name)
{
	buf_addf(context, "%s ", name);
	return strcmp(name, "stop") == 0 ? ERR_CLOSED : ERR_OK;
}

START_TEST(folders_are_made_with_their_parents)
{
	struct stat st;

	ck_assert_int_eq(fs_mkdir(scratch_path("a//b/c/")), ERR_OK);
	ck_assert_int_eq(fs_mkdir(scratch_path("a/b/c")), ERR_OK);
	ck_assert_int_eq(fs_mkdir("/"), ERR_OK);
	ck_assert_int_eq(stat(scratch_path("a/b/c"), &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 027, 0);
	ck_assert_int_eq(quiet_lines(), 0);
	scratch_text("file", "");
	ck_assert_int_eq(fs_mkdir(scratch_path("file")), ERR_EXISTS);
	ck_assert_int_ne(fs_mkdir(scratch_path("file/below")), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 2);
}
END_TEST

START_TEST(names_come_sorted_and_may_be_stopped)
{
	struct buf buf;

	scratch_text("b", "");
	scratch_text("a", "");
	scratch_text(".hidden", "");
	scratch_text("Z", "");
	scratch_must_have(".hidden Z a b ");
	scratch_text("stop", "");
	scratch_text("z", "");
	buf_init(&buf, 100);
	ck_assert_int_eq(fs_list(scratch_dir(), join, &buf), ERR_CLOSED);
	ck_assert(span_eq(buf_span(&buf), SPAN(".hidden Z a b stop ")));
	buf_fini(&buf);
	ck_assert_int_eq(
	    fs_list(scratch_path("none"), join, &buf), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(what_a_file_system_keeps_for_itself_is_not_listed)
{
	ck_assert_int_eq(fs_mkdir(scratch_path("lost+found")), ERR_OK);
	scratch_text("lost+found.csv", "");
	scratch_must_have("lost+found.csv ");
	ck_assert_int_eq(fs_empty(scratch_dir()), ERR_OK);
	ck_assert_int_ne(access(scratch_path("lost+found"), F_OK), 0);
}
END_TEST

START_TEST(tree_is_removed_but_nothing_behind_a_link)
{
	ck_assert_int_eq(fs_mkdir(scratch_path("kept/in")), ERR_OK);
	scratch_text("kept/in/file", "kept");
	ck_assert_int_eq(fs_mkdir(scratch_path("tree/deep/deeper")), ERR_OK);
	scratch_text("tree/deep/deeper/file", "");
	scratch_text("tree/file", "");
	ck_assert_int_eq(
	    symlink(scratch_path("kept"), scratch_path("tree/link")), 0);
	ck_assert_int_eq(
	    symlink(scratch_path("kept"), scratch_path("link")), 0);
	ck_assert_int_eq(fs_remove_tree(scratch_path("tree")), ERR_OK);
	ck_assert_int_eq(fs_remove_tree(scratch_path("link")), ERR_OK);
	ck_assert_int_eq(fs_remove_tree(scratch_path("none")), ERR_OK);
	scratch_must_have("kept ");
	ck_assert(exists("kept/in/file"));
}
END_TEST

/*
 * Runs as a user that may not write to the folder "parent", but to
 * "parent/own".
 */
static void
stand_in_a_closed_parent(void)
{
	const char *own = scratch_path("parent/own");

	ck_assert_int_eq(fs_mkdir(own), ERR_OK);
	ck_assert_int_eq(fs_mkdir(scratch_path("parent/own/deep")), ERR_OK);
	scratch_text("parent/file", "");
	scratch_text("parent/own/file", "");
	scratch_text("parent/own/deep/file", "");
	ck_assert_int_eq(chmod(scratch_dir(), 0711), 0);
	ck_assert_int_eq(chmod(scratch_path("parent"), 0555), 0);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(own, NOBODY, NOBODY), 0);
	ck_assert_int_eq(
	    chown(scratch_path("parent/own/deep"), NOBODY, NOBODY), 0);
	ck_assert_int_eq(seteuid(NOBODY), 0);
}

static void
stand_up(void)
{
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(scratch_path("parent"), 0755), 0);
}

START_TEST(tree_in_a_folder_that_is_not_ours_is_emptied)
{
	enum err err, file_err;

	stand_in_a_closed_parent();
	err = fs_remove_tree(scratch_path("parent/own"));
	file_err = fs_remove_tree(scratch_path("parent/file"));
	stand_up();
	ck_assert_int_eq(err, ERR_DENIED);
	ck_assert(exists("parent/own"));
	ck_assert(!exists("parent/own/file"));
	ck_assert(!exists("parent/own/deep"));
	ck_assert_int_eq(file_err, ERR_DENIED);
	ck_assert(exists("parent/file"));
	ck_assert_int_eq(quiet_lines(), 2);
}
END_TEST

START_TEST(emptied_folder_stays)
{
	enum err err;

	stand_in_a_closed_parent();
	err = fs_empty(scratch_path("parent/own"));
	stand_up();
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_int_eq(rmdir(scratch_path("parent/own")), 0);
	ck_assert_int_eq(quiet_lines(), 0);
	ck_assert_int_eq(fs_empty(scratch_path("none")), ERR_NOT_FOUND);
	ck_assert_int_ne(fs_empty(scratch_path("parent/file")), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

START_TEST(what_lies_in_a_folder_is_within_it_by_links_too)
{
	char in[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(in, "%s", scratch_path("in")), ERR_OK);
	ck_assert_int_eq(fs_mkdir(in), ERR_OK);
	ck_assert_int_eq(fs_mkdir(scratch_path("in/deep")), ERR_OK);
	ck_assert_int_eq(fs_mkdir(scratch_path("inside")), ERR_OK);
	ck_assert_int_eq(
	    symlink(scratch_path("in/deep"), scratch_path("link")), 0);
	ck_assert(fs_is_within(scratch_path("in"), in));
	ck_assert(fs_is_within(scratch_path("in/deep"), in));
	ck_assert(fs_is_within(scratch_path("in/none/below"), in));
	ck_assert(fs_is_within(scratch_path("link"), in));
	ck_assert(fs_is_within(scratch_path("inside/../link/none"), in));
	ck_assert(fs_is_within(in, "/"));
	ck_assert(fs_is_within("/", "/"));
	ck_assert(!fs_is_within("/", in));
	ck_assert(!fs_is_within(scratch_path("inside"), in));
	ck_assert(!fs_is_within(scratch_dir(), in));
	ck_assert(!fs_is_within(scratch_path("none"), in));
	ck_assert(!fs_is_within(scratch_path("in"), scratch_path("none")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("fs_folder");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, folders_are_made_with_their_parents);
	tcase_add_test(tc, names_come_sorted_and_may_be_stopped);
	tcase_add_test(tc, what_a_file_system_keeps_for_itself_is_not_listed);
	tcase_add_test(tc, tree_is_removed_but_nothing_behind_a_link);
	tcase_add_test(tc, tree_in_a_folder_that_is_not_ours_is_emptied);
	tcase_add_test(tc, emptied_folder_stays);
	tcase_add_test(tc, what_lies_in_a_folder_is_within_it_by_links_too);
	suite_add_tcase(suite, tc);
	return suite;
}
