/*
 * opt: command line options, described by a table. The same table prints
 * --help, and a test compares it with the man page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

#define OPT_USAGE 2 /* the exit code of a wrong command line */

enum opt_type {
	OPT_FLAG, /* bool: set to true */
	OPT_TEXT, /* const char *: borrowed from argv */
	OPT_INT, /* int64_t, min..max */
	OPT_SECONDS, /* int64_t: 90, 90s, 15m, 12h, 3d */
	OPT_LIST /* struct opt_list: may be given many times */
};

#define OPT_LIST_MAX 64

struct opt_list {
	const char *items[OPT_LIST_MAX]; /* borrowed from argv, in order */
	int count;
};

struct opt_row {
	const char *name; /* "--articles" */
	char letter; /* 'j' for -j, or 0 */
	enum opt_type type;
	size_t offset; /* of the member in the command's struct */
	int64_t min, max; /* both 0: any number; --help shows them */
	const char *operand; /* shown in help: "N"; NULL for a flag */
	const char *help;
};

struct opt_spec {
	const char *usage; /* "gridctl import [OPTION]... DIR" */
	const char *about; /* one or more sentences for --help */
	const struct opt_row *rows;
	size_t count;
	int args_min, args_max; /* operands that are not options; -1: any */
};

enum opt_result {
	OPT_GO, /* parsed; go on */
	OPT_HELP, /* --help was asked for, and printed to stdout */
	OPT_WRONG /* reported on stderr with a hint; exit with OPT_USAGE */
};

/*
 * Reads argv[1..] into `values`, which holds the defaults. "--name value",
 * "--name=value", "-j 2", "-j2" and "--" are known; options and operands may
 * be mixed. The operands end up in argv[1..*args_count], in order.
 */
enum opt_result opt_read(void *values, const struct opt_spec *spec, int argc,
    char **argv, int *args_count);

/*
 * opt_read() for a program that goes on with OPT_GO alone. False: the program
 * ends, with
 * `code`, which OPT_GO leaves as it is.
 */
bool opt_go(int *code, void *values, const struct opt_spec *spec, int argc,
    char **argv, int *args_count);

/* As opt_read(), but stops at the first operand: for "gridctl [--data D] cmd".
 */
enum opt_result opt_read_head(void *values, const struct opt_spec *spec,
    int argc, char **argv, int *first_operand);

void opt_help(FILE *file, const struct opt_spec *spec);

/* "90", "90s", "15m", "12h", "3d" as seconds. */
bool opt_seconds(int64_t *out, const char *text);
