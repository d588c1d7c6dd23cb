/*
 * cmd: what the commands of gridctl share, and the commands themselves: one
 * file each, with its option table on top. A command gets its own argv, and
 * returns the exit code.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct store;

#define CMD_DONE 0
#define CMD_FAILED 1
#define CMD_USAGE 2
#define CMD_BUSY 3 /* compute --no-wait: all places are taken */

int cmd_backup(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compute(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_gammes(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_network(int argc, char **argv);
int cmd_prune(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_suppliers(int argc, char **argv);

/* The data directory: --data, else $GRID_DATA, else the built-in one. */
const char *cmd_data_dir(void);
void cmd_set_data_dir(const char *dir);

/* Opens the store; on failure it has said why and gives CMD_FAILED. */
int cmd_open(struct store **store, const char *command);

/*
 * "gridctl import: PLACE: MESSAGE", or the code's own text where the fault is
 * empty. Returns CMD_FAILED.
 */
int cmd_fail(const char *command, enum err err, const struct fault *fault);

/* 1234567 as "1,234,567"; eight buffers in turn. */
const char *cmd_count(unsigned long long number);

/* Bytes as "579 MB"; the same buffers. */
const char *cmd_bytes(unsigned long long bytes);

/* A subcommand's table: "gammes" has import and export. */
struct cmd_row {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* NULL: not shown in help */
};

/*
 * Runs the row that argv[1] names, with its name first in what it gets. Help
 * and wrong names are told here.
 */
int cmd_run_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count, int argc, char **argv);
