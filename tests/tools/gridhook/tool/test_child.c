#include "tests/support/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/gridhook/tool/child.h"

static struct fault fault;
static struct buf out;

static void
set_up(void)
{
	fault_clear(&fault);
	buf_init(&out, 4 * 1024 * 1024);
}

static void
tear_down(void)
{
	buf_fini(&out);
}

START_TEST(much_input_comes_back_whole)
{
	const char *argv[] = {"cat", NULL};
	size_t len = 1000000;
	char *text = malloc(len);
	struct child_spec spec = {.argv = argv, .timeout_ms = 60000};
	int status = 1;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', len);
	text[len - 1] = '!';
	spec.input = span_make(text, len);
	ck_assert_int_eq(child_run(&spec, &out, &status, &fault), ERR_OK);
	ck_assert_int_eq(status, 0);
	ck_assert(span_eq(buf_span(&out), spec.input));
	free(text);
}
END_TEST

START_TEST(a_program_that_reads_nothing_is_no_trouble)
{
	const char *argv[] = {"false", NULL};
	struct child_spec spec = {
	    .argv = argv, .input = SPAN("unread"), .timeout_ms = 60000};
	int status = 0;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(child_run(&spec, &out, &status, &fault), ERR_OK);
	ck_assert_int_eq(status, 1);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_told)
{
	const char *argv[] = {"no-such-program-here", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = 60000};
	int status;

	ck_assert_int_eq(
	    child_run(&spec, &out, &status, &fault), ERR_NOT_FOUND);
	ck_assert_str_eq(
	    fault.message, "not found: program no-such-program-here");
	ck_assert_int_eq(
	    child_start(argv, 100, &status, &fault), ERR_NOT_FOUND);
}
END_TEST

START_TEST(a_program_that_hangs_is_ended)
{
	const char *argv[] = {"sleep", "1000", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = 200};
	int status;

	ck_assert_int_eq(
	    child_run(&spec, &out, &status, &fault), ERR_TIMED_OUT);
	ck_assert_int_eq(status, 128 + SIGKILL);
	ck_assert_str_eq(fault.message, "timed out after 200 ms: sleep");
}
END_TEST

START_TEST(output_beyond_the_ceiling_ends_it)
{
	const char *argv[] = {"yes", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = 60000};
	int status;

	ck_assert_int_eq(
	    child_run(&spec, &out, &status, &fault), ERR_TOO_LARGE);
	ck_assert_uint_eq(out.len, out.max);
	ck_assert_int_eq(buf_end(&out), ERR_OK);
}
END_TEST

START_TEST(it_gets_none_of_our_descriptors)
{
	const char *argv[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = 60000};
	int status, leak = open("/dev/null", O_RDONLY);

	ck_assert_int_ge(leak, 0);
	ck_assert_int_ge(dup2(leak, 77), 0);
	ck_assert_int_eq(child_run(&spec, &out, &status, &fault), ERR_OK);
	/* 0, 1, 2 and the one that ls reads the folder by. */
	ck_assert(span_eq(span_trim(buf_span(&out)), SPAN("4\n")) ||
	    span_eq(buf_span(&out), SPAN("4\n")));
	close(77);
	close(leak);
}
END_TEST

START_TEST(what_is_started_for_good_is_watched_for_a_moment)
{
	const char *quick[] = {"sh", "-c", "exit 3", NULL};
	const char *slow[] = {"sleep", "5", NULL};
	int status;

	ck_assert_int_eq(child_start(quick, 60000, &status, &fault), ERR_OK);
	ck_assert_int_eq(status, 3);
	ck_assert_int_eq(child_start(slow, 50, &status, &fault), ERR_OK);
	ck_assert_int_eq(status, CHILD_RUNNING);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool child");
	TCase *tc = tcase_create("child");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, much_input_comes_back_whole);
	tcase_add_test(tc, a_program_that_reads_nothing_is_no_trouble);
	tcase_add_test(tc, a_program_that_is_not_there_is_told);
	tcase_add_test(tc, a_program_that_hangs_is_ended);
	tcase_add_test(tc, output_beyond_the_ceiling_ends_it);
	tcase_add_test(tc, it_gets_none_of_our_descriptors);
	tcase_add_test(tc, what_is_started_for_good_is_watched_for_a_moment);
	suite_add_tcase(suite, tc);
	return suite;
}
