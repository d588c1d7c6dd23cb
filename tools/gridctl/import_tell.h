/* import_tell: what an import says: its end, its check, its warnings. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct import;
struct import_changes;
struct intake;
struct live_counts;
struct source;

void import_tell_done(const struct import *import, bool merge,
    uint64_t suppliers_same, uint64_t bytes, double seconds);

/* A file that --ignore-unknown passes over; and the same with --quiet. */
void import_tell_ignored(const char *name);
void import_tell_nothing(const char *name);

/* The changes of an import; `before` is NULL where there are no facts. */
struct import_told {
	const struct source *before, *now;
	const struct import_changes *changes;
	const struct live_counts *live;
};
void import_tell_changes(const struct import_told *told);

/*
 * Names on standard error what looks like a mistake, such as a file cut in two:
 * half of the articles, of the suppliers or of a monthly file's lines would go.
 * True when anything does.
 */
bool import_tell_odd(const struct source *before, const struct source *now,
    const struct import_changes *changes);

/*
 * Warns on standard error of future months: names the files of this import, and
 * the base of a merge when its newest month is later.
 */
void import_warn_ahead(const struct intake *intake);
