#include "tools/gridhook/mcp/helper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

/* The program of all these tests: its argument says what it does. */
static const char script[] =
    "#!/bin/sh\n"
    "say() { printf '{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],"
    "\"isError\":false}' \"$1\"; }\n"
    "case $1 in\n"
    "echo) say \"$(cat)\" ;;\n"
    "secret) say \"$GRIDHOOK_SECRET$CREDENTIALS_DIRECTORY-"
    "$GRIDHOOK_TOOL_SETTINGS\" ;;\n"
    "sleep) sleep 1000 & echo $$ >pid; echo $! >new; mv new child; wait ;;\n"
    "brief) sleep 0.2; say x ;;\n"
    "crash) kill -SEGV $$ ;;\n"
    "babble) echo '{\"content\":[' ;;\n"
    "deaf) exec <&-; say deaf ;;\n"
    "large) head -c 30000000 /dev/zero | tr '\\0' x ;;\n"
    "esac\n";

/* Longer than any of them takes that is to end by itself. */
#define PLENTY_MS 50000

static struct loop *loop;
static struct helper_pool *pool;
static char program[FS_PATH_MAX];
static int answers, errors;
static char last[4096];

static void
on_done(void *arg, const struct result *result)
{
	(void)arg;
	answers++;
	errors += result->is_error;
	snprintf(
	    last, sizeof(last), "%.*s", SPAN_ARG(buf_span(&result->content)));
}

static void
open_pool(const char *path, int64_t most)
{
	const struct helper_spec spec = {
	    .program = path, .settings = "own", .most = most};

	helper_pool_free(pool);
	pool = helper_pool_new(loop, &spec);
	ck_assert_ptr_nonnull(pool);
}

static void
set_up(void)
{
	scratch_make();
	quiet_begin();
	scratch_text("helper", script);
	snprintf(program, sizeof(program), "%s", scratch_path("helper"));
	ck_assert_int_eq(chmod(program, 0700), 0);
	ck_assert_int_eq(chdir(scratch_dir()), 0);
	ck_assert_int_eq(loop_open(&loop), ERR_OK);
	pool = NULL;
	answers = errors = 0;
	open_pool(program, 4);
}

static void
tear_down(void)
{
	helper_pool_free(pool);
	loop_close(loop);
	ck_assert_int_eq(chdir("/"), 0);
	quiet_end();
	scratch_remove();
}

static void
run_until(int wanted)
{
	int64_t end = date_monotonic_ns() + INT64_C(60000000000);

	while (answers < wanted && date_monotonic_ns() < end)
		ck_assert_int_eq(loop_once(loop, 100), ERR_OK);
	ck_assert_int_eq(answers, wanted);
}

static struct helper *
start(const char *name, struct span args, int deadline_ms)
{
	struct helper *helper =
	    helper_start(pool, name, args, deadline_ms, on_done, NULL);

	ck_assert_ptr_nonnull(helper);
	return helper;
}

START_TEST(arguments_go_in_and_the_result_comes_out)
{
	start("echo", SPAN("12 34"), PLENTY_MS);
	ck_assert_int_eq(answers, 0);
	run_until(1);
	ck_assert_int_eq(errors, 0);
	ck_assert_str_eq(last, "[{\"type\":\"text\",\"text\":\"12 34\"}]");
}
END_TEST

START_TEST(secret_does_not_go_to_it)
{
	setenv("GRIDHOOK_SECRET", "hush", 1);
	setenv("CREDENTIALS_DIRECTORY", "/hush", 1);
	open_pool(program, 1);
	start("secret", SPAN("{}"), PLENTY_MS);
	run_until(1);
	ck_assert_str_eq(last, "[{\"type\":\"text\",\"text\":\"-own\"}]");
	unsetenv("GRIDHOOK_SECRET");
	unsetenv("CREDENTIALS_DIRECTORY");
}
END_TEST

static const char *const failing[] = {"crash", "babble", "nothing", "large"};

START_TEST(one_that_fails_is_an_error_in_words)
{
	start(failing[_i], SPAN("{}"), PLENTY_MS);
	run_until(1);
	ck_assert_int_eq(errors, 1);
	ck_assert_msg(strstr(last, "gave no answer") != NULL, "%s", last);
	ck_assert_int_gt(quiet_lines(), 0);
}
END_TEST

START_TEST(one_that_does_not_listen_can_answer_all_the_same)
{
	static char much[1000000];

	memset(much, 'x', sizeof(much));
	start("deaf", span_make(much, sizeof(much)), PLENTY_MS);
	run_until(1);
	ck_assert_int_eq(errors, 0);
}
END_TEST

static pid_t
pid_in(const char *name)
{
	struct buf text;
	pid_t pid;

	buf_init(&text, 100);
	while (fs_read(&text, scratch_path(name)) != ERR_OK || text.len == 0)
		ck_assert_int_eq(loop_once(loop, 10), ERR_OK);
	buf_add_char(&text, '\0');
	pid = (pid_t)strtol(text.data, NULL, 10);
	buf_fini(&text);
	return pid;
}

static void
wait_for_end(pid_t pid)
{
	int64_t end = date_monotonic_ns() + INT64_C(60000000000);

	while (kill(pid, 0) == 0 && date_monotonic_ns() < end)
		ck_assert_int_eq(loop_once(loop, 10), ERR_OK);
	ck_assert_int_ne(kill(pid, 0), 0);
}

START_TEST(deadline_answers_at_once_and_ends_the_children_too)
{
	/* On a slow machine it may not have begun within the first. */
	static const int deadlines[] = {400, 4000, 40000};
	char words[64];
	unsigned i = 0;

	do {
		ck_assert_uint_lt(i, 3);
		start("sleep", SPAN("{}"), deadlines[i]);
		run_until((int)i + 1);
		ck_assert_int_eq(errors, (int)i + 1);
		snprintf(words, sizeof(words), "sleep timed out after %d ms.",
		    deadlines[i]);
		ck_assert_msg(strstr(last, words) != NULL, "%s", last);
		i++;
	} while (access(scratch_path("child"), F_OK) != 0);
	wait_for_end(pid_in("pid"));
	wait_for_end(pid_in("child"));
}
END_TEST

START_TEST(cancelled_one_ends_and_says_nothing)
{
	struct helper *helper = start("sleep", SPAN("{}"), 60000);
	pid_t own = pid_in("pid"), child = pid_in("child");

	helper_cancel(helper);
	wait_for_end(own);
	wait_for_end(child);
	ck_assert_int_eq(answers, 0);
	helper_cancel(start("echo", SPAN("{}"), 1000)); /* before its turn */
	start("echo", SPAN("1"), PLENTY_MS);
	run_until(1);
}
END_TEST

START_TEST(more_than_may_run_wait_their_turn)
{
	int64_t began;

	open_pool(program, 1);
	began = date_monotonic_ns();
	for (int i = 0; i < 4; i++)
		start("brief", SPAN("{}"), PLENTY_MS);
	run_until(4);
	ck_assert_int_eq(errors, 0);
	ck_assert_int_ge(date_monotonic_ns() - began, INT64_C(800000000));
}
END_TEST

START_TEST(too_few_descriptors_cost_a_call_and_no_more)
{
	struct rlimit was, low;
	int wanted = 0, lowest = dup(STDIN_FILENO), more;

	ck_assert_int_ge(lowest, 0);
	close(lowest);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	open_pool(program, 1);
	low = was;
	for (more = 0; more < 8; more++) {
		low.rlim_cur = (rlim_t)(lowest + more);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
		start("echo", SPAN("1"), PLENTY_MS);
		run_until(++wanted);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
		ck_assert_msg(strstr(last, "timed out") == NULL, "%s", last);
		start("echo", SPAN("2"), PLENTY_MS);
		run_until(++wanted);
		ck_assert_str_eq(last, "[{\"type\":\"text\",\"text\":\"2\"}]");
	}
	ck_assert_int_gt(errors, 0);
	ck_assert_int_lt(errors, 8);
}
END_TEST

START_TEST(missing_program_is_told)
{
	open_pool(scratch_path("none"), 1);
	start("echo", SPAN("{}"), PLENTY_MS);
	run_until(1);
	ck_assert_int_eq(errors, 1);
	ck_assert_msg(
	    strstr(last, "gridhook-tool is missing") != NULL, "%s", last);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook helper");
	TCase *tc = tcase_create("helper");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, arguments_go_in_and_the_result_comes_out);
	tcase_add_test(tc, secret_does_not_go_to_it);
	tcase_add_loop_test(tc, one_that_fails_is_an_error_in_words, 0, 4);
	tcase_add_test(tc, one_that_does_not_listen_can_answer_all_the_same);
	tcase_add_test(tc, deadline_answers_at_once_and_ends_the_children_too);
	tcase_add_test(tc, cancelled_one_ends_and_says_nothing);
	tcase_add_test(tc, more_than_may_run_wait_their_turn);
	tcase_add_test(tc, too_few_descriptors_cost_a_call_and_no_more);
	tcase_add_test(tc, missing_program_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
