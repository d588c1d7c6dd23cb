/* The header line: the file is CSV, and each column gets its place. */
#include "tools/gridctl/csv/csv_priv.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "tools/gridctl/csv/csv_quoted.h"

/* The place of a column in the table; spec->count when it is not in it. */
static unsigned
find_column(const struct csv_spec *spec, struct span name)
{
	for (unsigned i = 0; i < spec->count; i++)
		if (span_eq(span_of(spec->columns[i]), name))
			return i;
	return spec->count;
}

static bool
is_taken(const struct csv *csv, struct span name, unsigned columns)
{
	for (unsigned i = 0; i < columns; i++)
		if (csv->names[i].ptr != NULL && span_eq(csv->names[i], name))
			return true;
	return false;
}

#define refuse_header(csv, column, ...) \
	do { \
		(csv)->refused = true; \
		csv_faults_add((csv)->faults, (csv)->name, (csv)->line, \
		    (column), __VA_ARGS__); \
	} while (0)

/* Gives each name of the header its place; `used` counts places so far. */
static enum err
place_column(struct csv *csv, unsigned i, struct span found, unsigned *used)
{
	struct span name = arena_copy(csv->arena, found);
	unsigned place = find_column(csv->spec, found);
	bool extra = place == csv->spec->count;

	if (name.ptr == NULL)
		return ERR_NO_MEMORY;
	csv->titles[i] = name.ptr;
	csv->place[i] = CSV_UNKNOWN;
	if (is_taken(csv, name, *used))
		refuse_header(csv, name.ptr, "the column is there twice");
	else if (extra && *used == CSV_COLUMNS_MAX)
		refuse_header(csv, name.ptr, "there are more than %d columns",
		    CSV_COLUMNS_MAX);
	else if (extra && (csv->spec->extra == NULL || !csv->spec->extra(name)))
		refuse_header(csv, name.ptr, "there is no such column");
	else {
		if (extra)
			place = (*used)++;
		csv->place[i] = place;
		csv->names[place] = name;
	}
	return ERR_OK;
}

/* No header, or that of another file: one fault instead of one per column. */
static bool
is_header(struct csv *csv)
{
	const struct csv_spec *spec = csv->spec;
	char line[256];
	size_t len = 0;

	for (unsigned i = 0; i < csv->count; i++)
		if (find_column(spec, csv->fields[i]) < spec->count)
			return true;
	for (unsigned i = 0; i < spec->count && len < sizeof(line); i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s",
		    i == 0 ? "" : ",", spec->columns[i]);
	refuse_header(csv, NULL,
	    "the first line names none of the columns: it must name, in any "
	    "order, %s",
	    line);
	return false;
}

static enum err
place_columns(struct csv *csv)
{
	struct span found[CSV_COLUMNS_MAX];
	unsigned used = csv->spec->count, count = csv->count;
	enum err err;

	memcpy(found, csv->fields, count * sizeof(found[0]));
	for (unsigned i = 0; i < count; i++) {
		err = place_column(csv, i, found[i], &used);
		if (err != ERR_OK)
			return err;
	}
	/* A line with too many fields must not fill those that are missing. */
	for (unsigned i = count; i < CSV_COLUMNS_MAX; i++)
		csv->place[i] = CSV_UNKNOWN;
	for (unsigned i = 0; i < csv->spec->count; i++) {
		if (csv->names[i].ptr != NULL)
			continue;
		csv->fields[i] = (struct span){csv_lost, 0};
		refuse_header(
		    csv, csv->spec->columns[i], "the column is missing");
	}
	csv->columns = count;
	csv->extras = used - csv->spec->count;
	return ERR_OK;
}

static void
skip_mark(struct csv *csv)
{
	/* A pipe may deliver the first bytes one at a time. */
	while (csv->block.end < 3 && !csv->block.at_end)
		csv_block_fill(&csv->block);
	if (csv->block.end >= 3 &&
	    memcmp(csv->block.data, "\xEF\xBB\xBF", 3) == 0)
		csv->block.begin = 3;
	if (csv->block.begin == csv->block.end)
		csv_block_fill(&csv->block);
}

static enum err
reading_failed(struct csv *csv)
{
	csv_tell_packed(csv);
	return csv->err != ERR_OK ? csv->err : csv->block.err;
}

/*
 * A file of another kind is one fault, instead of one per column. Where only the
 * separator is another one, the file is read by it for the other faults.
 */
static bool
is_text_of_fields(struct csv *csv)
{
	static const struct {
		char byte;
		const char *name;
	} others[] = {
	    {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}};
	static const struct {
		struct span begin;
		const char *by;
	} packed[] = {
	    {SPAN("\x1f\x8b"), "gzip: its name must end with .gz"},
	    {SPAN("\x28\xb5\x2f\xfd"), "zstd: its name must end with .zst"},
	};
	struct csv_block *block = &csv->block;
	struct span line = {block->data + block->begin, 0};
	size_t stop;

	if (!csv_block_find(block, 0, &stop))
		return true; /* too long; reported below */
	line = span_make(block->data + block->begin, stop);
	if (span_starts(line, SPAN("\xFF\xFE")) ||
	    span_starts(line, SPAN("\xFE\xFF")) ||
	    (line.len > 1 && (line.ptr[0] == '\0' || line.ptr[1] == '\0'))) {
		refuse_header(csv, NULL,
		    "the file is UTF-16: UTF-8 is needed (Excel: save as \"CSV "
		    "UTF-8\")");
		return false;
	}
	for (unsigned i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (span_starts(line, packed[i].begin)) {
			refuse_header(csv, NULL, "the file is packed by %s",
			    packed[i].by);
			return false;
		}
	if (csv->spec->count < 2 || span_find(line, ',') < line.len)
		return true;
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (span_find(line, others[i].byte) < line.len) {
			refuse_header(csv, NULL,
			    "the fields are separated by %s: commas are "
			    "needed, and a point in numbers",
			    others[i].name);
			csv->separator = others[i].byte;
			csv_quoted_separate(csv->quoted, others[i].byte);
			break;
		}
	return true;
}

enum err
csv_read_header(struct csv *csv)
{
	skip_mark(csv);
	csv->line = csv->block.line;
	if (csv->block.err != ERR_OK)
		return reading_failed(csv);
	if (csv->block.begin == csv->block.end) {
		csv_refuse(csv, 0,
		    "the file is empty: it must begin with a "
		    "header line");
		return ERR_BAD_INPUT;
	}
	if (!is_text_of_fields(csv))
		return ERR_BAD_INPUT;
	if (!csv_cut_record(csv) && csv->block.err == ERR_OK)
		return csv->err != ERR_OK ? csv->err : ERR_BAD_INPUT;
	if (csv->block.err != ERR_OK)
		return reading_failed(csv);
	if (csv->count > CSV_COLUMNS_MAX) {
		csv_refuse(csv, 0, "the header has more than %d columns",
		    CSV_COLUMNS_MAX);
		return ERR_BAD_INPUT;
	}
	if (!csv_all_sound(csv))
		return ERR_BAD_INPUT;
	return is_header(csv) ? place_columns(csv) : ERR_BAD_INPUT;
}

unsigned
csv_extra_count(const struct csv *csv)
{
	return csv->extras;
}

struct span
csv_extra_name(const struct csv *csv, unsigned extra)
{
	assert(extra < csv->extras);
	return csv->names[csv->spec->count + extra];
}
