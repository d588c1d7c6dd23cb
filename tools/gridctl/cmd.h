/*
 * cmd: the code shared by gridctl's commands, and the commands themselves, one
 * file each, with its option table on top. A command gets its own argv, and
 * returns the exit code.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/jsonw.h"
#include "common/span.h"

struct stat;
struct store;

#define CMD_DONE 0
#define CMD_FAILED 1
#define CMD_USAGE 2
#define CMD_BUSY 3 /* compute --no-wait: all places are taken */
#define CMD_LATE 4 /* --limit: the time is over */
#define CMD_FULL 5 /* compute, pack, index: the disk is full */

/* The end of what a check says that looks at what is odd; the night reads it. */
#define CMD_IF_MEANT "if it is meant, give --yes"

int cmd_backup(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_cluster(int argc, char **argv);
int cmd_cluster_nginx(int argc, char **argv);
int cmd_cluster_status(int argc, char **argv);
int cmd_compute(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_gammes(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_hook(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_network(int argc, char **argv);
int cmd_night(int argc, char **argv);
int cmd_proposals(int argc, char **argv);
int cmd_prune(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_suppliers(int argc, char **argv);
int cmd_user(int argc, char **argv);

/*
 * Reads a command's options. CMD_GO to go on; any other value is the exit code
 * to return: --help was printed, or an error was reported.
 */
#define CMD_GO (-1)
struct opt_spec;
int cmd_options(void *values, const struct opt_spec *spec, int argc,
    char **argv, int *args);

/* The data directory: --data, else $GRID_DATA, else the built-in one. */
const char *cmd_data_dir(void);
void cmd_set_data_dir(const char *dir);

/* Opens the store; on failure prints the reason and returns CMD_FAILED. */
int cmd_open(struct store **store, const char *command);

/*
 * The same for a command that reads a few records: store_open_piecemeal(), which
 * takes milliseconds whatever the size of the store.
 */
int cmd_open_to_look(struct store **store, const char *command);

/*
 * Reads the options and, when they say to go on, opens the store: CMD_GO. Any
 * other value is the exit code to return.
 */
int cmd_start(struct store **store, const char *command, void *values,
    const struct opt_spec *spec, int argc, char **argv, int *args);

/*
 * Ends the program after so many seconds, whatever it is doing, with a message
 * and CMD_LATE; the limit holds even after the parent process has died. 0 is no
 * limit. Unfinished work is dropped, as by a kill.
 */
void cmd_end_after(const char *command, int64_t seconds);

/*
 * How much a command has done: articles, suppliers, lines, files. 0 until a
 * command says so; for the table of `gridctl night`.
 */
void cmd_set_rows(uint64_t rows);
uint64_t cmd_rows(void);

/*
 * As gridctl backup, without noting that one was made; `base` may be NULL. *whole:
 * the backup has all, also where the data directory is at fault and the result is
 * CMD_FAILED, since the base had what is damaged there.
 */
int cmd_backup_copy(bool *whole, const char *to, const char *base);

/* As gridctl restore, without what it says of a node's state. */
int cmd_restore_copy(const char *from, const char *ssh);

/* Runs a command with these words, NULL-ended, its name first: its exit code. */
int cmd_by_words(int (*run)(int argc, char **argv), const char *const *words);

/*
 * "gridctl import: PLACE: MESSAGE", or the code's own text where the fault is
 * empty. A user who may not, and is neither root nor the data directory's owner,
 * is told who may. Returns CMD_FAILED.
 */
int cmd_fail(const char *command, enum err err, const struct fault *fault);

/*
 * Retires the validated changes that the server has by now, and withdraws the
 * proposals of ranges that are recorded by now; prints how many, unless
 * `quiet`. `imported` is proposal_settle()'s. CMD_DONE, or CMD_FAILED.
 */
int cmd_settle(
    struct store *store, const char *command, bool imported, bool quiet);

/*
 * Finds the data directory, or the first folder or file in it, of which `is` is true;
 * nothing below that is looked at. False: there is none.
 */
bool cmd_below(char path[FS_PATH_MAX],
    bool (*is)(const void *context, const char *path, const struct stat *found),
    const void *context);

/*
 * Finds the first folder or file in the data directory that this user may not use,
 * for an ERR_DENIED whose place is not known; `own`: it belongs to this user, and
 * its mode is the reason. False: there is none.
 */
bool cmd_denied(char path[FS_PATH_MAX], bool *own);

/* Has hooks told of a failure; the supplier may be empty. */
void cmd_note_failure(struct store *store, const char *command,
    struct span supplier, const char *why);

/* "2026-01-31T09:00:00.250Z", or "-" for 0. */
void cmd_time(char text[DATE_TEXT_MAX], int64_t ms);

/* True when the month lies after the present one, by UTC. */
bool cmd_lies_ahead(int32_t month);

/* Writes a JSON member with such a time, or null. */
void cmd_json_time(struct jsonw *json, const char *name, int64_t ms);

/* A list that a command prints: lines, or with --json an array. */
struct cmd_list {
	struct buf text;
	struct jsonw json;
	bool as_json;
};
void cmd_list_begin(struct cmd_list *list, bool as_json);
/* Prints the list, unless `err` says why it is not whole. */
int cmd_list_end(struct cmd_list *list, const char *command, enum err err);

/*
 * Codes by commas, with or without spaces round them -> each ended by '\n', of at
 * most `max` bytes. False for other text, and for an empty code.
 */
bool cmd_codes(char *list, size_t max, const char *text);

/* Warns of each of these codes that no imported supplier has. */
void cmd_warn_codes(
    struct store *store, const char *command, struct span codes);

/*
 * Such codes in a list: a JSON member, null for none; else ", NAME A,B", or
 * nothing for none.
 */
void cmd_add_codes(struct cmd_list *list, const char *name, struct span codes);

/*
 * Prints the contents of `text` to standard output, and frees it. CMD_DONE: all is
 * written.
 */
int cmd_print(struct buf *text, const char *command);

/*
 * Writes out what was printed. Where that fails, also before, the reason is told, and
 * CMD_DONE becomes CMD_FAILED; any other exit code stays.
 */
int cmd_flush(int result);

/* Says that words.idx is missing, and what makes it again. */
void cmd_words_missing(void);

/* Formats 1234567 as "1,234,567"; uses eight static buffers in turn. */
const char *cmd_count(unsigned long long number);

/* Formats bytes as "579 MB"; uses the same buffers. */
const char *cmd_bytes(unsigned long long bytes);

/* A subcommand's table: "gammes" has import and export. */
struct cmd_row {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* NULL: not shown in help */
};

/* Prints the table as help. CMD_DONE. */
int cmd_help_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count);

/*
 * Runs the subcommand that argv[1] names; its argv begins with that name.
 * Prints help, and reports unknown names.
 */
int cmd_run_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count, int argc, char **argv);
