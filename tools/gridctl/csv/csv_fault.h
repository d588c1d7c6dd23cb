/*
 * csv_fault: what is wrong with the files of an import, for the person who
 * mends them: the first twenty as "file:line: column: what is wrong", and how
 * many more there are.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

#define CSV_FAULTS_KEPT 20

/* Set to zeros to begin with; it owns nothing. Not for several threads. */
struct csv_faults {
	uint64_t count; /* all of them, kept or not */
	struct fault kept[CSV_FAULTS_KEPT];
};

/*
 * Counts one, and keeps it while there is room. Line 0 and a NULL column are
 * left out of its place: a file that is not there has neither.
 */
void csv_faults_add(struct csv_faults *faults, const char *file, uint64_t line,
    const char *column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts those of `from` behind: for files that were read side by side. */
void csv_faults_join(struct csv_faults *faults, const struct csv_faults *from);

/* A line each, then a line with the count of the rest where there are any. */
void csv_faults_print(const struct csv_faults *faults, FILE *file);
