#include "common/progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/support/run.h"

#define SECOND INT64_C(1000000000)

static char logged[512];
static unsigned lines_logged;
static int kept_stderr;
static int master; /* of a terminal that stands for standard error */

static void
keep_line(enum log_level level, const char *line)
{
	ck_assert_int_eq(level, LOG_INFO_);
	snprintf(logged, sizeof(logged), "%s", line);
	lines_logged++;
}

static void
setup(void)
{
	int null = open("/dev/null", O_WRONLY);

	kept_stderr = dup(STDERR_FILENO);
	ck_assert_int_ge(dup2(null, STDERR_FILENO), 0);
	close(null);
	master = -1;
	lines_logged = 0;
	setenv("TERM", "xterm", 1);
	log_open("test", LOG_INFO_);
	log_catch(keep_line);
}

static void
teardown(void)
{
	log_catch(NULL);
	log_open("test", LOG_ERROR_);
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	if (master >= 0)
		close(master);
}

static void
use_terminal(unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int slave;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(ioctl(slave, TIOCSWINSZ, &size), 0);
	ck_assert_int_ge(dup2(slave, STDERR_FILENO), 0);
	close(slave);
}

/* The bytes sent to the terminal since the last call; "" when none. */
static const char *
drawn(void)
{
	static char text[1024];
	ssize_t got = read(master, text, sizeof(text) - 1);

	text[got < 0 ? 0 : got] = '\0';
	return text;
}

/* As though it had begun, and last been told, so many seconds ago. */
static void
turn_back(struct progress *progress, int64_t ns)
{
	progress->start_ns -= ns;
	progress->last_ns -= ns;
}

/* As though it had been told just now, and for a while: the machine may pause
 * between two lines of a test. */
static void
told_just_now(struct progress *progress)
{
	progress->last_ns += 100 * SECOND;
}

START_TEST(short_work_is_not_logged)
{
	struct progress progress;

	progress_begin(&progress, "import", "rows", 100, false);
	ck_assert(!progress.terminal);
	progress_at(&progress, 50);
	turn_back(&progress, 5 * SECOND);
	progress_at(&progress, 100);
	progress_end(&progress);
	ck_assert_uint_eq(lines_logged, 0);
}
END_TEST

START_TEST(long_work_is_logged_each_ten_seconds)
{
	struct progress progress;

	progress_begin(&progress, "import sales.csv", "rows", 1000, false);
	turn_back(&progress, 10 * SECOND);
	progress_at(&progress, 250);
	progress_at(&progress, 300);
	ck_assert_uint_eq(lines_logged, 1);
	ck_assert_str_eq(
	    logged, "import sales.csv: 25 %, 250 rows, 25 rows/s, 0:30 left");
	turn_back(&progress, 10 * SECOND);
	progress_at(&progress, 500);
	ck_assert_uint_eq(lines_logged, 2);
	progress_end(&progress);
	ck_assert_uint_eq(lines_logged, 2);
}
END_TEST

static const struct {
	uint64_t total, done;
	int64_t seconds;
	const char *line;
} lines[] = {
    {0, 500, 10, "work: 500 rows, 50 rows/s"},
    {1000, 0, 10, "work: 0 %, 0 rows, 0 rows/s"},
    {1000, 1000, 10, "work: 100 %, 1000 rows, 100 rows/s"},
    {1000, 2000, 10, "work: 200 %, 2000 rows, 200 rows/s"},
    {1000000, 1000, 10, "work: 0 %, 1000 rows, 100 rows/s, 166:30 left"},
};

START_TEST(line_tells_share_speed_and_time_left)
{
	struct progress progress;

	progress_begin(&progress, "work", "rows", lines[_i].total, false);
	turn_back(&progress, lines[_i].seconds * SECOND);
	progress_at(&progress, lines[_i].done);
	ck_assert_str_eq(logged, lines[_i].line);
}
END_TEST

START_TEST(share_of_bytes_may_be_told_in_lines)
{
	struct progress progress;

	progress_begin(&progress, "read", "bytes", 1000, false);
	turn_back(&progress, 10 * SECOND);
	progress_items(&progress, 250, "lines", 40);
	ck_assert_str_eq(logged, "read: 25 %, 40 lines, 4 lines/s, 0:30 left");
}
END_TEST

START_TEST(quiet_work_shows_nothing)
{
	struct progress progress;

	use_terminal(80);
	progress_begin(&progress, "work", "rows", 10, true);
	turn_back(&progress, 100 * SECOND);
	progress_at(&progress, 5);
	progress_end(&progress);
	ck_assert_uint_eq(progress.done, 5);
	ck_assert_uint_eq(lines_logged, 0);
	ck_assert_str_eq(drawn(), "");
}
END_TEST

START_TEST(terminal_line_is_redrawn_and_wiped)
{
	struct progress progress;

	use_terminal(80);
	progress_begin(&progress, "work", "rows", 100, false);
	ck_assert(progress.terminal);
	told_just_now(&progress);
	progress_at(&progress, 1); /* too soon */
	ck_assert_str_eq(drawn(), "");
	turn_back(&progress, 10 * SECOND);
	progress.last_ns -= 100 * SECOND;
	progress_at(&progress, 50);
	ck_assert_str_eq(
	    drawn(), "\rwork: 50 %, 50 rows, 5 rows/s, 0:10 left\033[K");
	told_just_now(&progress);
	progress_at(&progress, 51); /* too soon */
	ck_assert_str_eq(drawn(), "");
	progress_end(&progress);
	ck_assert_str_eq(drawn(), "\r\033[K");
	progress_end(&progress);
	ck_assert_str_eq(drawn(), "");
	ck_assert_uint_eq(lines_logged, 0);
}
END_TEST

START_TEST(terminal_line_is_cut_to_its_width)
{
	struct progress progress;

	use_terminal(20);
	progress_begin(&progress, "work", "rows", 100, false);
	turn_back(&progress, 10 * SECOND);
	progress_at(&progress, 50);
	ck_assert_str_eq(drawn(), "\rwork: 50 %, 50 rows\033[K");
	progress_end(&progress);
}
END_TEST

START_TEST(dumb_terminal_gets_log_lines)
{
	struct progress progress;

	use_terminal(80);
	setenv("TERM", "dumb", 1);
	progress_begin(&progress, "work", "rows", 100, false);
	ck_assert(!progress.terminal);
	turn_back(&progress, 10 * SECOND);
	progress_at(&progress, 50);
	ck_assert_uint_eq(lines_logged, 1);
	ck_assert_str_eq(drawn(), "");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("progress");
	TCase *tc = tcase_create("progress");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, short_work_is_not_logged);
	tcase_add_test(tc, long_work_is_logged_each_ten_seconds);
	tcase_add_loop_test(tc, line_tells_share_speed_and_time_left, 0,
	    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tc, share_of_bytes_may_be_told_in_lines);
	tcase_add_test(tc, quiet_work_shows_nothing);
	tcase_add_test(tc, terminal_line_is_redrawn_and_wiped);
	tcase_add_test(tc, terminal_line_is_cut_to_its_width);
	tcase_add_test(tc, dumb_terminal_gets_log_lines);
	suite_add_tcase(suite, tc);
	return suite;
}
