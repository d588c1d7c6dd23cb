/*
 * exec: the Exec line of a desktop entry as an argument vector, by the rules
 * of the Desktop Entry Specification. Nothing is ever given to a shell.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct arena;

/* Values for the field codes of the line. */
struct exec_fields {
	struct span name; /* %c: the entry's name in the user's language */
	struct span icon; /* %i: "--icon" and this, or nothing */
	struct span path; /* %k: the entry's file */
	/*
	 * %f, %F, %u, %U: a caller's files or URLs to open. %f and %u take
	 * one. Each becomes one argument, or the end of one ("--file=%f").
	 */
	const struct span *args;
	size_t args_count;
};

/*
 *   ERR_BAD_INPUT  an unknown field code, a quote left open, an empty line;
 *                  or texts that would go into a quoted argument, or to a
 *                  shell as its script
 *   ERR_TOO_LARGE  more texts than the line takes, which may be none
 *
 * The vector is NULL-ended and lives in `arena`.
 */
enum err exec_expand(const char ***out, struct span line,
    const struct exec_fields *fields, struct arena *arena, struct fault *fault);
