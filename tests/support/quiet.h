/*
 * quiet: log lines are counted instead of written, for tests that provoke
 * them. As a checked fixture beside scratch_make:
 *
 *	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
 */
#pragma once

void quiet_begin(void);
void quiet_end(void);

/*
 * Lines logged since quiet_begin(), or the last call of this; what is logged once a
 * minute is logged again.
 */
int quiet_lines(void);
