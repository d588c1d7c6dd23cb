/*
 * scratch: a folder of its own for each test, removed by the checked fixture.
 *
 *	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
 */
#pragma once

void scratch_make(void);
void scratch_remove(void);

/* The folder's path; a file in it: scratch_path("x.csv"), valid until the
 * eighth call after. */
const char *scratch_dir(void);
const char *scratch_path(const char *name);

/* Writes a file in it, whole. */
void scratch_write(const char *name, const void *data, unsigned long len);
void scratch_text(const char *name, const char *text);

/* The names in the folder, sorted, each with a blank behind it, and no others. */
void scratch_must_have(const char *names);
