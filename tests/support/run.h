/*
 * run: the main() of every check program. A test file defines `test_suite`
 * and nothing else; CK_FORK, CK_RUN_CASE and CK_VERBOSITY are honoured.
 */
#pragma once

#include <check.h>
#include <stdbool.h>

/*
 * ck_assert() for loops of millions: it tells check nothing unless it fails,
 * which makes it a thousand times as fast.
 */
#define run_must(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("failed: %s", #condition); \
	} while (0)

/* Defined by the test file. */
Suite *test_suite(void);

/*
 * true: a process for each test, whatever CK_FORK says. Defined by a test file
 * whose tests leave behind what the next one may not meet.
 */
extern const bool run_forks __attribute__((weak));
