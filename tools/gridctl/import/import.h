/*
 * import: reads the CSV files of a folder into an intake and live values.
 *
 * Reading only fills an intake and sorters, and collects all faults. Nothing is
 * stored before every file was read to its end without a fault.
 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "lmdb-schema/facts/intake.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/sorter.h"
#include "tools/gridctl/csv/csv_fault.h"

enum import_file {
	IMPORT_SUPPLIERS,
	IMPORT_STORES,
	IMPORT_CLASSES,
	IMPORT_ARTICLES,
	IMPORT_SALES,
	IMPORT_STOCK,
	IMPORT_RECEPTIONS,
	IMPORT_POSITIONS,
	IMPORT_NETWORK,
	IMPORT_GAMMES,
	IMPORT_FILES
};

/* "sales.csv" */
const char *import_file_name(enum import_file file);

/* Formats the columns of each file as a table for people. */
void import_print_columns(FILE *file);

struct import {
	const char *dir;
	struct intake *intake; /* NULL when only live values are imported: */
	struct source *source; /* then these facts have the known codes */
	struct csv_faults faults[IMPORT_FILES];
	uint64_t records[IMPORT_FILES];
	bool there[IMPORT_FILES];
	/*
	 * Lines of it are missing in the intake, after faults: what refers to
	 * them is no fault of its own.
	 */
	bool partial[IMPORT_FILES];
	unsigned jobs; /* threads that read monthly files */
	char names[IMPORT_FILES][NAME_MAX + 1]; /* as faults have them */
	/* The live values: import_values.c. */
	struct sorter_budget budget;
	struct sorter *networks, *gammes;
	bool networks_sealed, gammes_sealed;
	atomic_ullong bytes_done, lines_done; /* about, for progress */
};

/*
 * Files without a name are made in `work`, when the live values take more than
 * `memory` bytes.
 */
enum err import_init(
    struct import *import, const char *dir, const char *work, size_t memory);
void import_fini(struct import *import);

/*
 * Looks for other files in the folder: unknown ones, such as "article.csv", and
 * unsupported packings, such as "articles.csv.zst". Each is a fault, except
 * that `ignored`, when not NULL, is called with the names of unknown files
 * instead. Folders and names that begin with a point are skipped.
 */
enum err import_check_folder(
    struct import *import, void (*ignored)(const char *name));

/*
 * The same (after which the files that are there can be read for their faults),
 * and that the folder is there with the files that an import needs:
 * any of the ten for a merge, suppliers and articles else.
 */
enum err import_check_files(
    struct import *import, bool merge, void (*ignored)(const char *name));

/* True when the folder has that file, as it is or packed: "sales.csv.gz", "sales.csv.zst". */
bool import_has(const struct import *import, enum import_file file);
uint64_t import_file_bytes(const struct import *import, enum import_file file);

/*
 * Seals the intake. ERR_BAD_INPUT when articles.csv has an article twice.
 */
enum err import_seal(struct import *import);

/*
 * Reads one file. ERR_BAD_INPUT when it has a fault, or the error that stopped
 * reading. The four monthly files may be read side by side.
 */
enum err import_read(struct import *import, enum import_file file);

/*
 * Reads the four monthly files, by as many threads as import->jobs says, and
 * calls `show` meanwhile, each 0.1 s at least.
 */
enum err import_read_monthly(
    struct import *import, void (*show)(void *context), void *context);

/* As import_read(), from a given path: `gridctl network FILE`. */
enum err import_read_path(
    struct import *import, enum import_file file, const char *path);

/* Puts the metrics and ranges into `change`. */
enum err import_live(struct import *import, struct live_change *change);

/* Finds two lines for the same fact, and adds a fault that names both. */
enum err import_find_twice(
    struct import *import, const struct intake_twice *twice);

/* Prints the faults of all files to standard error; returns their number. */
uint64_t import_print_faults(const struct import *import);
