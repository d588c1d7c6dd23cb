#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

/* Standard error goes into a file, and comes back after each test. */
static int kept_stderr;
static char text[16384];

static void
setup(void)
{
	int fd;

	scratch_make();
	kept_stderr = dup(STDERR_FILENO);
	fd = open(scratch_path("log"), O_RDWR | O_CREAT | O_APPEND, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	close(fd);
	unsetenv("JOURNAL_STREAM");
	log_open("gridtest", LOG_INFO_);
}

static void
teardown(void)
{
	log_catch(NULL);
	unsetenv("JOURNAL_STREAM");
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	log_open("test", LOG_ERROR_);
	scratch_remove();
}

static const char *
written(void)
{
	FILE *file = fopen(scratch_path("log"), "rb");

	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* The text after "...[pid]: " in the only line written. */
static const char *
sentence(void)
{
	const char *from = strstr(written(), "]: ");
	char *end;

	ck_assert_ptr_nonnull(from);
	end = strchr(from, '\n');
	ck_assert_ptr_nonnull(end);
	ck_assert_str_eq(end, "\n");
	*end = '\0';
	return from + 3;
}

START_TEST(line_tells_time_level_program_and_process)
{
	char rest[64];
	int64_t ms;

	log_warn("disk nearly full: left=%d", 7);
	snprintf(rest, sizeof(rest),
	    " warn gridtest[%d]: disk nearly full: left=7\n", (int)getpid());
	ck_assert_uint_eq(strlen(written()), 24 + strlen(rest));
	ck_assert_str_eq(text + 24, rest);
	ck_assert(date_instant(&ms, span_make(text, 24)));
	ck_assert_int_le(ms, date_now_ms());
	ck_assert_int_gt(ms, date_now_ms() - 60000);
}
END_TEST

START_TEST(levels_above_the_chosen_one_are_silent)
{
	log_open("gridtest", (enum log_level)_i);
	log_error("0");
	log_warn("1");
	log_info("2");
	log_debug("3");
	for (int level = LOG_ERROR_; level <= LOG_DEBUG_; level++) {
		char line[] = {']', ':', ' ', (char)('0' + level), '\n', 0};

		ck_assert_int_eq(strstr(written(), line) != NULL, level <= _i);
	}
}
END_TEST

START_TEST(journal_gets_a_priority_instead_of_the_time)
{
	static const char *const heads[] = {"<3>", "<4>", "<6>", "<7>"};
	char stream[64];
	struct stat st;
	char line[64];

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu",
	    (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	ck_assert_int_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
	log_open("gridtest", LOG_DEBUG_);
	log_line((enum log_level)_i, "hello");
	snprintf(line, sizeof(line), "%sgridtest[%d]: hello\n", heads[_i],
	    (int)getpid());
	ck_assert_str_eq(written(), line);
}
END_TEST

/* The variable is inherited by programs whose stderr is a file, too. */
START_TEST(another_stream_than_the_journals_keeps_the_time)
{
	ck_assert_int_eq(setenv("JOURNAL_STREAM", "1:2", 1), 0);
	log_open("gridtest", LOG_INFO_);
	log_info("hello");
	ck_assert(written()[0] != '<');
}
END_TEST

static const struct {
	const char *from, *to;
} cleaned[] = {
    {"plain", "plain"},
    {"two\nlines", "two?lines"},
    {"\r\033[31mred\177\001", "??[31mred??"},
    {"caf\303\251", "caf\303\251"},
    {"csi\302\2331m", "csi??1m"},
    {"nbsp\302\240", "nbsp\302\240"},
    {"odd\302", "odd\302"},
    {"%s %d", "%s %d"},
    {"", ""},
};

START_TEST(control_characters_are_shown_as_question_marks)
{
	log_info("%s", cleaned[_i].from);
	ck_assert_str_eq(sentence(), cleaned[_i].to);
}
END_TEST

START_TEST(long_line_is_cut_at_2048_bytes)
{
	char *longest = calloc(1, 5001);

	ck_assert_ptr_nonnull(longest);
	memset(longest, 'x', 5000);
	log_info("%s", longest);
	ck_assert_uint_eq(strlen(written()), 2048);
	ck_assert_str_eq(text + 2048 - 5, "x...\n");
	free(longest);
}
END_TEST

START_TEST(long_line_is_not_cut_inside_a_character)
{
	char *longest = calloc(1, 5001);
	const char *cut;

	ck_assert_ptr_nonnull(longest);
	for (int i = _i; i < 4998; i += 2)
		memcpy(longest + i, "\303\251", 2);
	memset(longest, 'x', (size_t)_i);
	log_info("%s", longest);
	cut = sentence();
	cut += strlen(cut) - 4;
	ck_assert_str_eq(cut, "\251...");
	ck_assert_uint_le(strlen(text), 2047);
	free(longest);
}
END_TEST

START_TEST(program_name_may_be_absurdly_long)
{
	char *name = calloc(1, 5001);

	ck_assert_ptr_nonnull(name);
	memset(name, 'n', 5000);
	log_open(name, LOG_INFO_);
	log_info("hello");
	ck_assert_str_eq(sentence(), "hello");
	log_open("gridtest", LOG_INFO_);
	free(name);
}
END_TEST

static char caught[64];

static void catch (enum log_level level, const char *line)
{
	snprintf(caught, sizeof(caught), "%d %s", (int)level, line);
}

START_TEST(caught_line_has_no_head_and_is_not_written)
{
	log_catch(catch);
	log_error("hello %d\n", 1);
	ck_assert_str_eq(caught, "0 hello 1?");
	ck_assert_str_eq(written(), "");
	log_catch(NULL);
	log_error("again");
	ck_assert_str_eq(sentence(), "again");
}
END_TEST

START_TEST(errno_is_left_as_it_was)
{
	close(STDERR_FILENO);
	errno = ENOSPC;
	log_error("nobody hears this");
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, line_tells_time_level_program_and_process);
	tcase_add_loop_test(tc, levels_above_the_chosen_one_are_silent,
	    LOG_ERROR_, LOG_DEBUG_ + 1);
	tcase_add_loop_test(tc, journal_gets_a_priority_instead_of_the_time,
	    LOG_ERROR_, LOG_DEBUG_ + 1);
	tcase_add_test(tc, another_stream_than_the_journals_keeps_the_time);
	tcase_add_loop_test(tc, control_characters_are_shown_as_question_marks,
	    0, sizeof(cleaned) / sizeof(cleaned[0]));
	tcase_add_test(tc, long_line_is_cut_at_2048_bytes);
	tcase_add_loop_test(tc, long_line_is_not_cut_inside_a_character, 0, 2);
	tcase_add_test(tc, program_name_may_be_absurdly_long);
	tcase_add_test(tc, caught_line_has_no_head_and_is_not_written);
	tcase_add_test(tc, errno_is_left_as_it_was);
	suite_add_tcase(suite, tc);
	return suite;
}
