#include "tests/support/run.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/scratch.h"
#include "tools/gridhook/tool/namematch.h"
#include "tools/gridhook/tool/walk.h"

static bool
fits_all(void *context, const char *name)
{
	(void)context;
	(void)name;
	return true;
}

static bool
count_found(void *context, const char *path, const struct stat *info)
{
	unsigned *count = context;

	(void)path;
	(void)info;
	++*count;
	return true;
}

static bool
stop_at_three(void *context, const char *path, const struct stat *info)
{
	unsigned *count = context;

	return count_found(context, path, info) && *count < 3;
}

static unsigned found_count;

static struct walk
plain_walk(void)
{
	found_count = 0;
	return (struct walk){
	    .limits = {1000, 12, date_monotonic_ns() / 1000000 + 60000},
	    .fits = fits_all,
	    .found = count_found,
	    .context = &found_count};
}

static int
open_scratch(void)
{
	int fd = open(scratch_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void
make_folder(const char *name)
{
	ck_assert_int_eq(mkdir(scratch_path(name), 0700), 0);
}

static void
make_link(const char *to, const char *name)
{
	ck_assert_int_eq(symlink(to, scratch_path(name)), 0);
}

/* a/ a/file b/ b/up -> .. b/loop -> loop root -> / passwd -> /etc/passwd */
static void
make_traps(void)
{
	make_folder("a");
	scratch_text("a/file", "x");
	make_folder("b");
	make_link("..", "b/up");
	make_link("loop", "b/loop");
	make_link("/", "root");
	make_link("/etc/passwd", "passwd");
}

START_TEST(no_link_is_followed)
{
	struct walk walk = plain_walk();

	make_traps();
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_uint_eq(walk.entries, 7);
	ck_assert_uint_eq(found_count, 7);
	ck_assert_uint_eq(walk.skipped, 0);
	ck_assert_ptr_null(walk.stopped);
}
END_TEST

START_TEST(hidden_names_are_seen_only_when_asked_for)
{
	struct walk walk = plain_walk();

	make_folder(".git");
	scratch_text(".git/config", "x");
	scratch_text("seen", "x");
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_uint_eq(found_count, 1);
	walk = plain_walk();
	walk.hidden = true;
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_uint_eq(found_count, 3);
}
END_TEST

START_TEST(each_limit_ends_it_and_is_named)
{
	struct walk walk = plain_walk();

	make_traps();
	walk.limits.entries = 4;
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_str_eq(walk.stopped, "entries");
	ck_assert_uint_eq(walk.entries, 4);

	walk = plain_walk();
	walk.limits.deadline_ms = 0;
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_str_eq(walk.stopped, "time");

	walk = plain_walk();
	walk.found = stop_at_three;
	walk_folder(&walk, open_scratch(), scratch_dir());
	ck_assert_str_eq(walk.stopped, "results");
	ck_assert_uint_eq(found_count, 3);
}
END_TEST

START_TEST(a_deep_tree_ends_at_the_limit)
{
	struct walk walk = plain_walk();
	char path[600] = "d";

	for (unsigned depth = 1; depth <= 60; depth++) {
		make_folder(path);
		strncat(path, "/d", sizeof(path) - strlen(path) - 1);
	}
	walk_folder(&walk, open_scratch(), scratch_dir());
	/* The root's own entry, and one in each of 12 folders below. */
	ck_assert_uint_eq(walk.entries, 13);
	ck_assert_uint_eq(walk.too_deep, 1);
}
END_TEST

START_TEST(what_cannot_be_opened_is_counted)
{
	struct rlimit limit, old;
	struct walk walk = plain_walk();
	int fd;

	make_traps();
	fd = open_scratch();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	limit = old;
	limit.rlim_cur = (rlim_t)fd + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	walk_folder(&walk, fd, scratch_dir());
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_uint_eq(walk.skipped, 2);
	ck_assert_uint_eq(found_count, 4);
}
END_TEST

static const struct {
	const char *below;
	int code; /* 0: opens */
} ways[] = {
    {".", 0},
    {"a", 0},
    {"a/.", 0},
    {"b/up", ELOOP},
    {"b/up/a", ELOOP},
    {"b/loop", ELOOP},
    {"root/etc", ELOOP},
    {"root", ELOOP},
    {"..", EXDEV},
    {"a/../..", EXDEV},
    {"/etc", EXDEV},
    {"a/file", ENOTDIR},
    {"passwd", ELOOP},
    {"none", ENOENT},
};

START_TEST(a_folder_is_opened_only_below_its_root)
{
	int root = -1, fd;

	make_traps();
	root = open_scratch();
	errno = 0;
	fd = walk_open_below(root, ways[_i].below);
	if (fd >= 0) {
		ck_assert_int_eq(ways[_i].code, 0);
		close(fd);
	} else if (ways[_i].code == ELOOP)
		/* A last link is ELOOP or, wanting a folder, ENOTDIR. */
		ck_assert(errno == ELOOP || errno == ENOTDIR);
	else
		ck_assert_int_eq(errno, ways[_i].code);
	close(root);
}
END_TEST

static const struct {
	const char *query, *name;
	bool fits;
} fits_pairs[] = {
    {"port", "Report.pdf", true},
    {"REPORT", "report.pdf", true},
    {"resume", "R\xc3\xa9sum\xc3\xa9.odt", true},
    {"r\xc3\xa9sum\xc3\xa9", "RESUME", true},
    {"*.pdf", "a.PDF", true},
    {"*.pdf", "a.pdf.txt", false},
    {"report", "repo.rt", false},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"?", "\xe6\x97\xa5", true},
    {"[x]", "a[x]b", true},
    {"[", "a", false},
    {"*", "anything", true},
    {"abc",
	"\xff"
	"ABC\xff",
	true},
    {"*\xc3\xa9*", "\xff", false},
};

START_TEST(a_name_fits_by_part_or_by_glob)
{
	struct namematch match;

	setlocale(LC_CTYPE, "C.UTF-8");
	ck_assert_int_eq(
	    namematch_init(&match, span_of(fits_pairs[_i].query)), ERR_OK);
	ck_assert_int_eq(
	    namematch_fits(&match, fits_pairs[_i].name), fits_pairs[_i].fits);
	namematch_fini(&match);
}
END_TEST

START_TEST(an_empty_query_is_refused)
{
	struct namematch match;

	ck_assert_int_eq(namematch_init(&match, SPAN("")), ERR_BAD_INPUT);
	namematch_fini(&match);
	ck_assert_int_eq(namematch_init(&match, SPAN("  ")), ERR_BAD_INPUT);
	namematch_fini(&match);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool walk");
	TCase *tc = tcase_create("walk");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_test(tc, no_link_is_followed);
	tcase_add_test(tc, hidden_names_are_seen_only_when_asked_for);
	tcase_add_test(tc, each_limit_ends_it_and_is_named);
	tcase_add_test(tc, a_deep_tree_ends_at_the_limit);
	tcase_add_test(tc, what_cannot_be_opened_is_counted);
	tcase_add_loop_test(tc, a_folder_is_opened_only_below_its_root, 0,
	    sizeof(ways) / sizeof(ways[0]));
	tcase_add_loop_test(tc, a_name_fits_by_part_or_by_glob, 0,
	    sizeof(fits_pairs) / sizeof(fits_pairs[0]));
	tcase_add_test(tc, an_empty_query_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
