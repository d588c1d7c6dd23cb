/*
 * progress: reports how far long work has come. On a terminal, one line that
 * redraws itself (share done, units a second, time left); elsewhere, one log
 * line every ten seconds, and none for shorter work.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "import sales.csv" */
	const char *unit; /* "rows" */
	uint64_t total; /* 0: not known */
	uint64_t done;
	const char *item; /* NULL: people count in `unit` */
	uint64_t items;
	int64_t start_ns, last_ns;
	bool terminal;
	bool quiet;
	bool drawn;
};

/* Draws to standard error. With `quiet`, nothing is shown. */
void progress_begin(struct progress *progress, const char *what,
    const char *unit, uint64_t total, bool quiet);

/*
 * Cheap enough to call every thousand units; the call checks the clock itself.
 */
void progress_at(struct progress *progress, uint64_t done);

/*
 * As progress_at(), when the share is measured in one unit and shown in
 * another: bytes of the files, and "lines" read so far.
 */
void progress_items(
    struct progress *progress, uint64_t done, const char *item, uint64_t items);

/* Erases the line. */
void progress_end(struct progress *progress);
