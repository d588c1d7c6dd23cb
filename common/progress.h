/*
 * progress: how far long work has come. On a terminal one line that redraws
 * itself (share done, units a second, time left); elsewhere one log line each
 * ten seconds, and nothing for work that is over before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "import sales.csv" */
	const char *unit; /* "rows" */
	uint64_t total; /* 0: not known */
	uint64_t done;
	const char *item; /* NULL: it is the unit that a person counts in */
	uint64_t items;
	int64_t start_ns, last_ns;
	bool terminal;
	bool quiet;
	bool drawn;
};

/* Draws to standard error. `quiet` shows nothing at all. */
void progress_begin(struct progress *progress, const char *what,
    const char *unit, uint64_t total, bool quiet);

/* Cheap enough for each thousand units; it looks at the clock itself. */
void progress_at(struct progress *progress, uint64_t done);

/*
 * The same, where shares are of one thing and a person counts in another:
 * bytes of the files, and "lines" read so far.
 */
void progress_items(
    struct progress *progress, uint64_t done, const char *item, uint64_t items);

/* Wipes the line. */
void progress_end(struct progress *progress);
