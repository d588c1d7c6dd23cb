/*
 * run: the main() of every check program. A test file defines `test_suite`
 * and nothing else; CK_FORK, CK_RUN_CASE and CK_VERBOSITY are honoured.
 */
#pragma once

#include <check.h>

/* Defined by the test file. */
Suite *test_suite(void);
