/*
 * csv_fault: the errors in the files of an import, for the person who corrects
 * them: the first hundred of a file as "file:line: column: message", and the number
 * of the rest.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

#define CSV_FAULTS_KEPT 100

/* Initialise with zeros; owns nothing. Not for several threads. */
struct csv_faults {
	uint64_t count; /* all of them, kept or not */
	struct fault kept[CSV_FAULTS_KEPT];
	uint64_t lines[CSV_FAULTS_KEPT]; /* of these */
};

/*
 * Counts a fault, and keeps it while there is room. Line 0 and a NULL column
 * are left out of its place: a missing file has neither.
 */
void csv_faults_add(struct csv_faults *faults, const char *file, uint64_t line,
    const char *column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * The same for a fault that is found behind the file's end: it takes the place
 * of its line among the others.
 */
void csv_faults_add_late(struct csv_faults *faults, const char *file,
    uint64_t line, const char *column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Prints a line per fault, then the number of the rest, if any. */
void csv_faults_print(const struct csv_faults *faults, FILE *file);
