#include "common/opt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/count.h"
#include "common/span.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

struct values {
	bool quiet;
	bool verbose;
	const char *data;
	int64_t jobs;
	int64_t any;
	int64_t wait;
	int64_t age;
};

static const struct opt_row rows[] = {
    {"--quiet", 'q', OPT_FLAG, offsetof(struct values, quiet), 0, 0, NULL,
	"show no progress"},
    {"--verbose", 'v', OPT_FLAG, offsetof(struct values, verbose), 0, 0, NULL,
	"tell more"},
    {"--data", 'd', OPT_TEXT, offsetof(struct values, data), 0, 0, "DIR",
	"where everything is stored"},
    {"--jobs", 'j', OPT_INT, offsetof(struct values, jobs), 1, 64, "N",
	"how many suppliers are computed at the same time, which is best about "
	"as many as the machine has processors"},
    {"--any", 0, OPT_INT, offsetof(struct values, any), 0, 0, "N", "anything"},
    {"--wait", 'w', OPT_SECONDS, offsetof(struct values, wait), 0, 3600, "TIME",
	"how long to wait"},
    {"--age-that-is-quite-long", 0, OPT_SECONDS, offsetof(struct values, age),
	0, 0, "TIME", "how old"},
};

static const struct opt_spec spec = {
    .usage = "gridctl import-all [OPTION]... DIR",
    .about = "Imports what is in a folder. Nothing is seen of it before the "
	     "whole folder was read and found to be sound.",
    .rows = rows,
    .count = COUNT(rows),
    .args_min = 1,
    .args_max = 2,
};

/* --- standard error and output, caught ------------------------------------ */

static int kept[3];
static char text[8192];

static void catch (int fd, const char *name)
{
	int file = open(scratch_path(name), O_RDWR | O_CREAT | O_APPEND, 0600);

	ck_assert_int_ge(file, 0);
	fflush(NULL);
	kept[fd] = dup(fd);
	ck_assert_int_ge(dup2(file, fd), 0);
	close(file);
}

static void
setup(void)
{
	scratch_make();
	catch (STDOUT_FILENO, "out");
	catch (STDERR_FILENO, "err");
}

static void
teardown(void)
{
	fflush(NULL);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	scratch_remove();
}

static const char *
written(const char *name)
{
	FILE *file;

	fflush(NULL);
	file = fopen(scratch_path(name), "rb");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* --- reading -------------------------------------------------------------- */

/* The words of a line, in argv. */
struct line {
	char text[256];
	char *argv[16];
	int argc;
};

static void
split(struct line *line, const char *from)
{
	struct span rest = span_of(from);
	struct span word;
	char *to = line->text;

	line->argc = 0;
	while (span_cut(&word, &rest, ' ')) {
		ck_assert(span_copy(
		    to, sizeof(line->text) - (size_t)(to - line->text), word));
		line->argv[line->argc++] = to;
		to += word.len + 1;
	}
	line->argv[line->argc] = NULL;
}

static struct values
defaults(void)
{
	return (struct values){.data = "/srv", .jobs = 1, .any = 7, .wait = 5};
}

static const struct {
	const char *line;
	struct values values;
	const char *operands;
} good[] = {
    {"x a", {.data = "/srv", .jobs = 1, .any = 7, .wait = 5}, "a "},
    {"x -q a b",
	{.quiet = true, .data = "/srv", .jobs = 1, .any = 7, .wait = 5},
	"a b "},
    {"x a --jobs 2 b --quiet",
	{.quiet = true, .data = "/srv", .jobs = 2, .any = 7, .wait = 5},
	"a b "},
    {"x --jobs=64 --data=/tmp a",
	{.data = "/tmp", .jobs = 64, .any = 7, .wait = 5}, "a "},
    {"x -j2 -d/tmp a", {.data = "/tmp", .jobs = 2, .any = 7, .wait = 5}, "a "},
    {"x -j 2 -d /tmp a", {.data = "/tmp", .jobs = 2, .any = 7, .wait = 5},
	"a "},
    {"x -qvj3 a",
	{.quiet = true,
	    .verbose = true,
	    .data = "/srv",
	    .jobs = 3,
	    .any = 7,
	    .wait = 5},
	"a "},
    {"x --jobs 2 --jobs 3 a", {.data = "/srv", .jobs = 3, .any = 7, .wait = 5},
	"a "},
    {"x -- -q --jobs", {.data = "/srv", .jobs = 1, .any = 7, .wait = 5},
	"-q --jobs "},
    {"x a -- --", {.data = "/srv", .jobs = 1, .any = 7, .wait = 5}, "a -- "},
    {"x -", {.data = "/srv", .jobs = 1, .any = 7, .wait = 5}, "- "},
    {"x --any -5 a", {.data = "/srv", .jobs = 1, .any = -5, .wait = 5}, "a "},
    {"x --data= a", {.data = "", .jobs = 1, .any = 7, .wait = 5}, "a "},
    {"x --data --quiet a", {.data = "--quiet", .jobs = 1, .any = 7, .wait = 5},
	"a "},
    {"x --data=a=b a", {.data = "a=b", .jobs = 1, .any = 7, .wait = 5}, "a "},
    {"x -w 15m a", {.data = "/srv", .jobs = 1, .any = 7, .wait = 900}, "a "},
    {"x --age-that-is-quite-long=3d a",
	{.data = "/srv", .jobs = 1, .any = 7, .wait = 5, .age = 259200}, "a "},
};

START_TEST(good_line_is_read)
{
	const struct values *wanted = &good[_i].values;
	struct values got = defaults();
	char operands[64] = "";
	struct line line = {0};
	size_t len = 0;
	int count;

	split(&line, good[_i].line);
	ck_assert_int_eq(
	    opt_read(&got, &spec, line.argc, line.argv, &count), OPT_GO);
	for (int i = 1; i <= count; i++)
		len += (size_t)snprintf(operands + len, sizeof(operands) - len,
		    "%s ", line.argv[i]);
	ck_assert_str_eq(operands, good[_i].operands);
	ck_assert_int_eq(got.quiet, wanted->quiet);
	ck_assert_int_eq(got.verbose, wanted->verbose);
	ck_assert_str_eq(got.data, wanted->data);
	ck_assert_int_eq(got.jobs, wanted->jobs);
	ck_assert_int_eq(got.any, wanted->any);
	ck_assert_int_eq(got.wait, wanted->wait);
	ck_assert_int_eq(got.age, wanted->age);
	ck_assert_str_eq(written("err"), "");
	ck_assert_str_eq(written("out"), "");
}
END_TEST

static const struct {
	const char *line;
	const char *told;
} bad[] = {
    {"x --foo a", "unknown option --foo"},
    {"x --foo=1 a", "unknown option --foo"},
    {"x --job 2 a", "unknown option --job"},
    {"x --\033[31m a", "unknown option --?[31m"},
    {"x -x a", "unknown option -x"},
    {"x -qx a", "unknown option -x"},
    {"x --quiet=yes a", "option --quiet takes no value"},
    {"x a --jobs", "option --jobs needs a value: --jobs N"},
    {"x a -j", "option --jobs needs a value: --jobs N"},
    {"x -j0 a", "--jobs is a whole number from 1 to 64, not \"0\""},
    {"x -j65 a", "--jobs is a whole number from 1 to 64, not \"65\""},
    {"x -j 2x a", "--jobs is a whole number from 1 to 64, not \"2x\""},
    {"x --jobs= a", "--jobs is a whole number from 1 to 64, not \"\""},
    {"x --any=1.5 a", "--any is a whole number, not \"1.5\""},
    {"x --wait=2h a",
	"--wait is a time such as 90, 15m, 12h or 3d, from 0 to 3600 seconds, "
	"not \"2h\""},
    {"x --age-that-is-quite-long=x a",
	"--age-that-is-quite-long is a time such as 90, 15m, 12h or 3d, not "
	"\"x\""},
    {"x", "an operand is missing: gridctl import-all [OPTION]... DIR"},
    {"x -q", "an operand is missing: gridctl import-all [OPTION]... DIR"},
    {"x a b c", "unexpected operand \"c\""},
    {"x --foo --help a", "unknown option --foo"},
};

START_TEST(bad_line_is_told_with_a_hint)
{
	struct values values = defaults();
	struct line line = {0};
	char wanted[512];
	int count;

	split(&line, bad[_i].line);
	ck_assert_int_eq(
	    opt_read(&values, &spec, line.argc, line.argv, &count), OPT_WRONG);
	snprintf(wanted, sizeof(wanted),
	    "gridctl import-all: %s; try 'gridctl import-all --help'\n",
	    bad[_i].told);
	ck_assert_str_eq(written("err"), wanted);
	ck_assert_str_eq(written("out"), "");
}
END_TEST

/* The command is the words before the first thing that a caller fills in. */
static const struct {
	const char *usage, *told;
} commands[] = {
    {"x DIR", "x"},
    {"x [--data DIR] take in [OPTION]... FILE", "x take in"},
    {"x [--data DIR]", "x"},
    {"x make --out DIR", "x make"},
    {"x make [--out DIR]", "x make"},
    {"x [OPTION]... import", "x"},
    {"x [--data", "x"},
};

START_TEST(hint_names_the_whole_command)
{
	struct opt_spec other = spec;
	struct values values = defaults();
	struct line line = {0};
	char wanted[128];
	int count;

	other.usage = commands[_i].usage;
	split(&line, "x a b c");
	ck_assert_int_eq(
	    opt_read(&values, &other, line.argc, line.argv, &count), OPT_WRONG);
	snprintf(wanted, sizeof(wanted),
	    "%s: unexpected operand \"c\"; try '%s --help'\n",
	    commands[_i].told, commands[_i].told);
	ck_assert_str_eq(written("err"), wanted);
}
END_TEST

START_TEST(operands_may_be_as_many_as_they_like)
{
	struct opt_spec any = spec;
	struct values values = defaults();
	struct line line = {0};
	int count;

	any.args_max = -1;
	split(&line, "x a b c d e f");
	ck_assert_int_eq(
	    opt_read(&values, &any, line.argc, line.argv, &count), OPT_GO);
	ck_assert_int_eq(count, 6);
}
END_TEST

/* Room for as many as there may be, and one more is told. */
START_TEST(list_keeps_every_value_in_order)
{
	static const struct opt_row list_row = {
	    "--set", 's', OPT_LIST, 0, 0, 0, "NAME=VALUE", "set it"};
	static const struct opt_spec list_spec = {
	    .usage = "gridapi", .about = "", .rows = &list_row, .count = 1};
	struct opt_list list = {.count = 0};
	char *argv[OPT_LIST_MAX + 3] = {"x", "--set=a", "-sb"};
	int args;

	ck_assert_int_eq(opt_read(&list, &list_spec, 3, argv, &args), OPT_GO);
	ck_assert_int_eq(list.count, 2);
	ck_assert_str_eq(list.items[0], "a");
	ck_assert_str_eq(list.items[1], "b");

	for (int i = 1; i <= OPT_LIST_MAX + 1; i++)
		argv[i] = "-sc";
	list.count = 0;
	ck_assert_int_eq(
	    opt_read(&list, &list_spec, OPT_LIST_MAX + 1, argv, &args), OPT_GO);
	ck_assert_int_eq(list.count, OPT_LIST_MAX);
	list.count = 0;
	ck_assert_int_eq(
	    opt_read(&list, &list_spec, OPT_LIST_MAX + 2, argv, &args),
	    OPT_WRONG);
	ck_assert_ptr_nonnull(strstr(written("err"), "64 times"));
}
END_TEST

START_TEST(program_without_arguments_at_all_is_read)
{
	struct opt_spec none = spec;
	struct values values = defaults();
	char *argv[] = {NULL};
	int count = -1;

	none.args_min = 0;
	ck_assert_int_eq(opt_read(&values, &none, 0, argv, &count), OPT_GO);
	ck_assert_int_eq(count, 0);
}
END_TEST

static const struct {
	const char *line;
	enum opt_result result;
	int first;
} heads[] = {
    {"x -q import --foo", OPT_GO, 2},
    {"x import -q", OPT_GO, 1},
    {"x --data /tmp import", OPT_GO, 3},
    {"x -- --import", OPT_GO, 2},
    {"x --foo import", OPT_WRONG, 2},
    {"x -q", OPT_WRONG, 2},
    {"x", OPT_WRONG, 1},
    {"x --help import", OPT_HELP, 2},
};

START_TEST(head_ends_at_the_first_operand)
{
	struct values values = defaults();
	struct line line = {0};
	int first;

	split(&line, heads[_i].line);
	ck_assert_int_eq(
	    opt_read_head(&values, &spec, line.argc, line.argv, &first),
	    heads[_i].result);
	ck_assert_int_eq(first, heads[_i].first);
}
END_TEST

/* --- help ----------------------------------------------------------------- */

static const char help[] =
    "usage: gridctl import-all [OPTION]... DIR\n"
    "\n"
    "Imports what is in a folder. Nothing is seen of it before the whole "
    "folder was\n"
    "read and found to be sound.\n"
    "\n"
    "  -q, --quiet             show no progress\n"
    "  -v, --verbose           tell more\n"
    "  -d, --data DIR          where everything is stored\n"
    "  -j, --jobs N            how many suppliers are computed at the same "
    "time,\n"
    "                          which is best about as many as the machine has\n"
    "                          processors [1 to 64]\n"
    "      --any N             anything\n"
    "  -w, --wait TIME         how long to wait [0s to 1h]\n"
    "      --age-that-is-quite-long TIME\n"
    "                          how old\n"
    "  -h, --help              show this help and exit\n";

START_TEST(help_is_printed_from_the_same_table)
{
	static const char *const lines[] = {
	    "x --help", "x -h", "x -qh", "x a b --help c"};
	struct values values = defaults();
	struct line line = {0};
	int count;

	split(&line, lines[_i]);
	ck_assert_int_eq(
	    opt_read(&values, &spec, line.argc, line.argv, &count), OPT_HELP);
	ck_assert_str_eq(written("out"), help);
	ck_assert_str_eq(written("err"), "");
}
END_TEST

START_TEST(letter_h_may_be_the_programs_own)
{
	static const struct opt_row host[] = {{"--host", 'h', OPT_TEXT,
	    offsetof(struct values, data), 0, 0, "NAME", "whom to ask"}};
	struct opt_spec own = {"gridhud [OPTION]...", "Shows.", host, 1, 0, 0};
	struct values values = defaults();
	struct line line = {0};
	int count;

	split(&line, "x -h localhost");
	ck_assert_int_eq(
	    opt_read(&values, &own, line.argc, line.argv, &count), OPT_GO);
	ck_assert_str_eq(values.data, "localhost");
	opt_help(stdout, &own);
	ck_assert_str_eq(written("out"),
	    "usage: gridhud [OPTION]...\n"
	    "\n"
	    "Shows.\n"
	    "\n"
	    "  -h, --host NAME         whom to ask\n"
	    "      --help              show this help and exit\n");
}
END_TEST

/* --- times ---------------------------------------------------------------- */

static const struct {
	const char *text;
	int64_t seconds; /* -1: refused */
} times[] = {
    {"0", 0},
    {"90", 90},
    {"90s", 90},
    {"15m", 900},
    {"12h", 43200},
    {"3d", 259200},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775808", -1},
    {"153722867280912930m", INT64_C(9223372036854775800)},
    {"153722867280912931m", -1},
    {"", -1},
    {"s", -1},
    {"-1", -1},
    {"+1", -1},
    {"1.5h", -1},
    {"1 h", -1},
    {"1hh", -1},
    {"1w", -1},
    {"1M", -1},
};

START_TEST(time_is_a_number_and_at_most_one_unit)
{
	int64_t got = -1;

	ck_assert_int_eq(
	    opt_seconds(&got, times[_i].text), times[_i].seconds != -1);
	ck_assert_int_eq(got, times[_i].seconds);
}
END_TEST

static const struct {
	const char *line;
	bool goes;
	int code;
} ends[] = {
    {"x a", true, 1}, {"x --help", false, 0}, {"x --foo a", false, OPT_USAGE}};

START_TEST(only_help_and_a_wrong_line_end_the_program)
{
	struct values values = defaults();
	struct line line = {0};
	int count, code = 1;

	split(&line, ends[_i].line);
	ck_assert_int_eq(
	    opt_go(&code, &values, &spec, line.argc, line.argv, &count),
	    ends[_i].goes);
	ck_assert_int_eq(code, ends[_i].code);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("opt");
	TCase *tc = tcase_create("opt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, good_line_is_read, 0, COUNT(good));
	tcase_add_loop_test(tc, bad_line_is_told_with_a_hint, 0, COUNT(bad));
	tcase_add_loop_test(
	    tc, hint_names_the_whole_command, 0, COUNT(commands));
	tcase_add_loop_test(
	    tc, only_help_and_a_wrong_line_end_the_program, 0, COUNT(ends));
	tcase_add_test(tc, operands_may_be_as_many_as_they_like);
	tcase_add_test(tc, list_keeps_every_value_in_order);
	tcase_add_test(tc, program_without_arguments_at_all_is_read);
	tcase_add_loop_test(
	    tc, head_ends_at_the_first_operand, 0, COUNT(heads));
	tcase_add_loop_test(tc, help_is_printed_from_the_same_table, 0, 4);
	tcase_add_test(tc, letter_h_may_be_the_programs_own);
	tcase_add_loop_test(
	    tc, time_is_a_number_and_at_most_one_unit, 0, COUNT(times));
	suite_add_tcase(suite, tc);
	return suite;
}
