/*
 * conf: settings from an INI file, read by a table. The door to inih.
 *
 * One table lists every setting of a program: name, type, destination, limits
 * and a line of help. The same table prints the settings file with its
 * defaults, and the man page's list is checked against it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

enum conf_type {
	CONF_TEXT, /* char *: malloc'ed copy */
	CONF_INT, /* int64_t, min..max */
	CONF_BOOL, /* bool: yes/no, true/false, on/off, 1/0 */
	CONF_SIZE, /* int64_t bytes: 64M, 2G, 512 */
	CONF_SECONDS, /* int64_t: 90, 90s, 15m, 12h, 3d */
	CONF_CHOICE /* int: index into choices */
};

struct conf_row {
	const char *section;
	const char *name;
	enum conf_type type;
	size_t offset; /* of the member in the program's settings struct */
	const char *fallback; /* the default, as it would be written */
	int64_t min, max;
	const char *const *choices; /* CONF_CHOICE: NULL-ended */
	const char *help;
};

/* Fills every member from its default. */
enum err conf_defaults(void *settings, const struct conf_row *rows,
    size_t count, struct fault *fault);

/*
 * Overwrites the settings that the file names; of one that stands there twice the
 * last one counts, so that lines may be added below all defaults. An unknown section
 * or name, a value that does not fit or a malformed line is ERR_BAD_INPUT, with
 * "path:line" as the place; ERR_NOT_FOUND when there is no file. Reading stops
 * at the first error.
 */
enum err conf_read(void *settings, const struct conf_row *rows, size_t count,
    const char *path, struct fault *fault);

/*
 * The same for a file that is written by hand: a setting that stands there twice is
 * ERR_BAD_INPUT.
 */
enum err conf_read_once(void *settings, const struct conf_row *rows,
    size_t count, const char *path, struct fault *fault);

/*
 * As conf_read(), for a check: each setting that stands there again is told, as
 * "[trail] keep is set twice (lines 3 and 20): the later one counts".
 */
typedef void conf_twice(void *context, const char *text);
enum err conf_read_telling(void *settings, const struct conf_row *rows,
    size_t count, const char *path, conf_twice *twice, void *context,
    struct fault *fault);

/* Sets one setting from its text, as a command line or a test does. */
enum err conf_set(void *settings, const struct conf_row *rows, size_t count,
    const char *section, const char *name, const char *value,
    struct fault *fault);

/* Frees the CONF_TEXT members. */
void conf_fini(void *settings, const struct conf_row *rows, size_t count);

/* Writes a commented file that holds every setting at its default. */
void conf_print(FILE *file, const struct conf_row *rows, size_t count);
