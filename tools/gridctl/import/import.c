#include "tools/gridctl/import/import.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "tools/gridctl/csv/csv_unpack.h"
#include "tools/gridctl/import/import_priv.h"

/*
 * Layout of the table of columns: a terminal's width, and the second column's
 * offset.
 */
#define LINE_COLUMNS 80
#define NAME_COLUMN 20

const char *
import_file_name(enum import_file file)
{
	assert(file < IMPORT_FILES);
	return import_rows[file].name;
}

void
import_print_columns(FILE *file)
{
	assert(file != NULL);
	for (unsigned i = 0; i < IMPORT_FILES; i++) {
		const struct import_row *row = &import_rows[i];
		int at = fprintf(file, "  %-18s", row->name);

		for (unsigned j = 0; j < row->count; j++) {
			const char *comma = j + 1 < row->count ? "," : "";
			int len =
			    (int)(strlen(row->columns[j]) + strlen(comma));

			if (at + 1 + len > LINE_COLUMNS)
				at =
				    fprintf(file, "\n%*s", NAME_COLUMN, "") - 1;
			at += fprintf(file, " %s%s", row->columns[j], comma);
		}
		fputc('\n', file);
	}
	fputs("  network.csv has columns of months behind these, named "
	      "YYYY-MM.\n",
	    file);
}

enum err
import_init(
    struct import *import, const char *dir, const char *work, size_t memory)
{
	enum err err;

	assert(import != NULL && dir != NULL && work != NULL && memory > 0);
	memset(import, 0, sizeof(*import));
	import->dir = dir;
	import->budget.limit = memory;
	err = sorter_new(&import->networks, work, &import->budget);
	return err == ERR_OK
	    ? sorter_new(&import->gammes, work, &import->budget)
	    : err;
}

void
import_fini(struct import *import)
{
	assert(import != NULL);
	sorter_free(import->networks);
	sorter_free(import->gammes);
}

/* The file, or the same one packed where only that is there. */
static enum err
file_path(
    char path[FS_PATH_MAX], const struct import *import, enum import_file file)
{
	const char *name = import_rows[file].name, *ending;
	enum err err = fs_path(path, "%s/%s", import->dir, name);

	if (err != ERR_OK || eaccess(path, F_OK) == 0)
		return err;
	for (unsigned i = 0; (ending = csv_unpack_ending(i)) != NULL; i++) {
		err = fs_path(path, "%s/%s%s", import->dir, name, ending);
		if (err != ERR_OK || eaccess(path, F_OK) == 0)
			return err;
	}
	return fs_path(path, "%s/%s", import->dir, name);
}

bool
import_has(const struct import *import, enum import_file file)
{
	char path[FS_PATH_MAX];

	assert(file < IMPORT_FILES && import->dir != NULL);
	return file_path(path, import, file) == ERR_OK &&
	    eaccess(path, F_OK) == 0;
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

uint64_t
import_file_bytes(const struct import *import, enum import_file file)
{
	char path[FS_PATH_MAX];
	uint64_t bytes = 0, on_disk;

	assert(file < IMPORT_FILES && import->dir != NULL);
	if (file_path(path, import, file) == ERR_OK)
		fs_size(path, &bytes, &on_disk);
	return bytes;
}

/* A file that could not be read to its end gets a fault, too. */
static enum err
end_reading(struct import_reading *reading)
{
	enum err err = csv_end(reading->field.csv);

	if (err == ERR_OK || err == ERR_BAD_INPUT)
		return err;
	csv_faults_add(&reading->import->faults[reading->file], reading->name,
	    0, NULL, "cannot be read: %s", err_text(err));
	return ERR_BAD_INPUT;
}

static enum err
read_records(struct import_reading *reading)
{
	struct import *import = reading->import;
	struct csv *csv = reading->field.csv;
	struct csv_record record;
	uint64_t told = 0;
	enum err err = ERR_OK;

	reading->field.record = &record;
	while (err == ERR_OK && csv_next(csv, &record)) {
		err = import_rows[reading->file].take(reading);
		if (++import->records[reading->file] % 4096 == 0) {
			import->bytes_done += csv_offset(csv) - told;
			import->lines_done += 4096;
			told = csv_offset(csv);
		}
	}
	import->bytes_done += csv_offset(csv) - told;
	import->partial[reading->file] |= csv_has_skipped(csv);
	return err == ERR_OK ? end_reading(reading) : err;
}

static enum series_kind
kind_of(enum import_file file)
{
	switch (file) {
	case IMPORT_SALES:
		return SERIES_SALES;
	case IMPORT_STOCK:
		return SERIES_STOCK;
	case IMPORT_RECEPTIONS:
		return SERIES_RECEPTIONS;
	case IMPORT_POSITIONS:
		return SERIES_POSITIONS;
	default:
		return SERIES_KINDS;
	}
}

static bool
is_folder(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* Of a file with faults, too, all that comes twice is told. */
static enum err
end_values(struct import *import, enum import_file file, enum err err)
{
	enum err twice = ERR_OK;

	if ((file == IMPORT_NETWORK || file == IMPORT_GAMMES) &&
	    (err == ERR_OK || err == ERR_BAD_INPUT))
		twice = import_end_values(import, file);
	return twice == ERR_OK ? err : twice;
}

enum err
import_read_path(struct import *import, enum import_file file, const char *path)
{
	struct csv_spec spec = {.columns = import_rows[file].columns,
	    .count = import_rows[file].count,
	    .extra = file == IMPORT_NETWORK ? import_is_month : NULL};
	struct import_reading reading = {
	    .import = import, .file = file, .name = last_part(path)};
	enum err err;

	assert(import != NULL);
	import->there[file] = true;
	snprintf(import->names[file], sizeof(import->names[file]), "%s",
	    reading.name);
	if (is_folder(path)) {
		import->partial[file] = true;
		csv_faults_add(&import->faults[file], path, 0, NULL,
		    "cannot be read: it is a folder, and a CSV file is wanted");
		return ERR_BAD_INPUT;
	}
	err = csv_open(&reading.field.csv, path, reading.name, &spec,
	    &import->faults[file]);
	if (err != ERR_OK)
		import->partial[file] = true;
	if (err == ERR_SYSTEM && import->faults[file].count == 0)
		csv_faults_add(&import->faults[file], path, 0, NULL,
		    "cannot be read: %s", err_text(err));
	if (err == ERR_OK && file == IMPORT_NETWORK)
		err = import_read_months(&reading);
	if (err == ERR_OK)
		err = read_records(&reading);
	csv_close(reading.field.csv);
	return end_values(import, file, err);
}

enum err
import_read(struct import *import, enum import_file file)
{
	enum series_kind kind = kind_of(file);
	char path[FS_PATH_MAX];
	enum err err = file_path(path, import, file);

	assert(import->gammes != NULL);
	if (err == ERR_OK && import_has(import, file))
		err = import_read_path(import, file, path);
	if (err == ERR_OK && kind != SERIES_KINDS)
		err = intake_end_series(import->intake, kind);
	return err;
}

/* --- what comes twice ----------------------------------------------------- */

static void
article_twice(void *context, struct span codein, uint64_t line)
{
	import_tell_twice(context, IMPORT_ARTICLES, 1,
	    "this supplier's article", codein, line);
}

enum err
import_seal(struct import *import)
{
	enum err err = intake_seal(import->intake, article_twice, import);

	return err == ERR_EXISTS ? ERR_BAD_INPUT : err;
}

static bool
is_the_same(const struct csv_record *record, const struct intake_twice *twice,
    bool monthly)
{
	int32_t month;

	return span_eq(record->fields[0], twice->supplier) &&
	    span_eq(record->fields[1], twice->codein) &&
	    span_eq(record->fields[2], twice->store) &&
	    (!monthly ||
		(date_month(&month, record->fields[3]) &&
		    month == twice->month));
}

enum err
import_find_twice(struct import *import, const struct intake_twice *twice)
{
	static const enum import_file of[SERIES_KINDS] = {
	    IMPORT_POSITIONS, IMPORT_SALES, IMPORT_STOCK, IMPORT_RECEPTIONS};
	enum import_file file = of[twice->kind];
	struct csv_faults *faults = &import->faults[file];
	struct csv_spec spec = {.columns = import_rows[file].columns,
	    .count = import_rows[file].count};
	struct csv_record record;
	struct csv *csv;
	char path[FS_PATH_MAX];
	uint64_t first = 0;
	enum err err = file_path(path, import, file);

	assert(twice->kind < SERIES_KINDS);
	if (err == ERR_OK)
		err = csv_open(&csv, path, last_part(path), &spec, faults);
	if (err != ERR_OK)
		return err;
	while (csv_next(csv, &record)) {
		if (!is_the_same(
			&record, twice, twice->kind != SERIES_POSITIONS))
			continue;
		if (first == 0)
			first = record.line;
		else
			csv_fault(csv, 2,
			    "comes twice for article %.*s of supplier "
			    "%.*s%s: line %llu has it too",
			    SPAN_ARG(twice->codein), SPAN_ARG(twice->supplier),
			    twice->kind == SERIES_POSITIONS ? ""
							    : " and this "
							      "month",
			    (unsigned long long)first);
	}
	csv_close(csv);
	return ERR_BAD_INPUT;
}

uint64_t
import_print_faults(const struct import *import)
{
	uint64_t count = 0;

	assert(import != NULL);
	for (unsigned i = 0; i < IMPORT_FILES; i++) {
		csv_faults_print(&import->faults[i], stderr);
		count += import->faults[i].count;
	}
	return count;
}
