/*
 * Two parsers for a record, with the same result. Nearly all lines hold no
 * quote, no stray carriage return and no NUL: they are cut at their commas,
 * eight bytes at a time. Any other record goes to csv_quoted.c, a line at a
 * time until the record is complete, which is about ten times slower.
 */
#include "tools/gridctl/csv/csv.h"

#include <assert.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/utf8.h"
#include "tools/gridctl/csv/csv_block.h"
#include "tools/gridctl/csv/csv_quoted.h"

#define EACH_BYTE UINT64_C(0x0101010101010101)

struct csv {
	const struct csv_spec *spec;
	struct csv_faults *faults;
	const char *name;
	struct csv_block block;
	enum err err;
	bool refused; /* a fault was found in this file */

	uint64_t line; /* where the record begins */
	size_t len; /* bytes of the record in the block */
	unsigned count; /* fields found in it */
	bool has_nul, has_high; /* may hold NUL, may hold non-ASCII */
	struct span fields[CSV_COLUMNS_MAX];

	/* The header: place[i] is where the file's field i goes. */
	unsigned columns;
	unsigned char place[CSV_COLUMNS_MAX];
	struct span names[CSV_COLUMNS_MAX]; /* by place */
	struct arena *arena;

	struct csv_quoted *quoted;
};

/* The name of the file's field `i`, for a person. */
static const char *
column_name(const struct csv *csv, unsigned i)
{
	unsigned last = csv->columns == 0 ? 0 : csv->columns - 1;

	if (csv->columns == 0)
		return csv->spec->columns[0];
	return csv->names[csv->place[i < last ? i : last]].ptr;
}

#define refuse(csv, i, ...) \
	do { \
		(csv)->refused = true; \
		csv_faults_add((csv)->faults, (csv)->name, (csv)->line, \
		    column_name((csv), (i)), __VA_ARGS__); \
	} while (0)

/* Skips a record that its line at `from` makes too long. */
static void
refuse_long(struct csv *csv, size_t from)
{
	refuse(
	    csv, csv->count, "the line is longer than %d bytes", CSV_LINE_MAX);
	csv->block.begin += from;
	csv_block_skip(&csv->block);
}

/* --- the fast way ---------------------------------------------------------*/

static inline void
put_field(struct csv *csv, const char *start, const char *end)
{
	if (csv->count < CSV_COLUMNS_MAX)
		csv->fields[csv->place[csv->count]] =
		    span_make(start, end - start);
	csv->count++;
}

/*
 * Cuts the line at csv->block.begin into fields; returns where it ends, at the
 * latest at the end of the block. *special is set when the record needs libcsv.
 * The bytes that matter are all below '-', which one subtraction finds in eight
 * bytes at once (and a few others, which do no harm).
 */
static const char *
cut_line(struct csv *csv, bool *special)
{
	const char *at = csv->block.data + csv->block.begin, *field = at, *end;
	uint64_t word, hits, high = 0;

	*special = false;
	csv->count = 0;
	for (;; at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		word = le64toh(word);
		high |= word;
		hits = (word - EACH_BYTE * '-') & ~word & EACH_BYTE * 0x80;
		for (; hits != 0; hits &= hits - 1) {
			end = at + __builtin_ctzll(hits) / 8;
			if (*end == ',') {
				put_field(csv, field, end);
				field = end + 1;
			} else if (*end == '\n')
				goto out;
			else if (*end == '"' || *end == '\0' ||
			    (*end == '\r' && end[1] != '\n'))
				*special = true;
		}
	}
out:
	csv->has_nul = false;
	csv->has_high = (high & EACH_BYTE * 0x80) != 0;
	if (end > field && end[-1] == '\r')
		put_field(csv, field, end - 1);
	else
		put_field(csv, field, end);
	return end;
}

/* --- the other way --------------------------------------------------------*/

/* Says why a line was refused. */
static void
refuse_line(struct csv *csv, enum csv_quoted_state state)
{
	switch (state) {
	case CSV_QUOTED_STRAY:
		refuse(csv, csv->count,
		    "a quote stands where none may be (put the field in "
		    "quotes, and write each quote in it twice)");
		break;
	case CSV_QUOTED_RETURN:
		refuse(csv, csv->count == 0 ? 0 : csv->count - 1,
		    "a carriage return stands outside quotes and ends no line");
		break;
	case CSV_QUOTED_OPEN:
		refuse(csv, csv->count, "the quoted field does not end");
		break;
	default:
		csv->err = ERR_NO_MEMORY;
	}
}

static void
point_fields(struct csv *csv)
{
	for (unsigned i = 0; i < csv->count && i < CSV_COLUMNS_MAX; i++)
		csv->fields[csv->place[i]] = csv_quoted_field(csv->quoted, i);
	csv->has_nul = true;
	csv->has_high = true;
}

/* Reads a record line by line; false when it was refused and skipped. */
static bool
parse_record(struct csv *csv)
{
	struct csv_block *block = &csv->block;
	enum csv_quoted_state state = CSV_QUOTED_MORE;
	size_t from = 0, stop = 0;

	csv_quoted_begin(csv->quoted);
	while (state == CSV_QUOTED_MORE) {
		if (from > 0)
			block->line++;
		if (!csv_block_find(block, from, &stop)) {
			csv->count = csv_quoted_count(csv->quoted);
			refuse_long(csv, from);
			return false;
		}
		state = csv_quoted_line(csv->quoted,
		    span_make(block->data + block->begin + from, stop - from),
		    block->begin + stop < block->end);
		from = stop + 1;
	}
	csv->count = csv_quoted_count(csv->quoted);
	csv->len = stop;
	csv_block_use(block, stop);
	if (state != CSV_QUOTED_DONE) {
		if (block->err == ERR_OK) /* else that is reported */
			refuse_line(csv, state);
		return false;
	}
	point_fields(csv);
	return true;
}

/* --- records --------------------------------------------------------------*/

/* Reads a record by either parser; false when it was refused and skipped. */
static bool
cut_record(struct csv *csv)
{
	const char *stop;
	bool special;

	for (;;) {
		stop = cut_line(csv, &special);
		if (stop < csv->block.data + csv->block.end ||
		    csv->block.at_end)
			break;
		if (csv->block.end - csv->block.begin > CSV_LINE_MAX)
			break;
		csv_block_fill(&csv->block);
	}
	/* A carriage return at the very end of the file ends no line. */
	if (stop == csv->block.data + csv->block.end && stop[-1] == '\r')
		special = true;
	if (special || csv->spec->slow)
		return parse_record(csv);
	csv->len = stop - (csv->block.data + csv->block.begin);
	if (csv->len > CSV_LINE_MAX) {
		csv->count--;
		refuse_long(csv, 0);
		return false;
	}
	csv_block_use(&csv->block, csv->len);
	return true;
}

/* True for an empty line: not even an empty field in quotes. */
static bool
is_blank(const struct csv *csv)
{
	return csv->len <= 1 && csv->count <= 1 &&
	    (csv->count == 0 || csv->fields[csv->place[0]].len == 0);
}

static bool
has_right_count(struct csv *csv)
{
	if (is_blank(csv)) {
		refuse(csv, 0, "the line is empty");
		return false;
	}
	if (csv->count == csv->columns)
		return true;
	if (csv->count < csv->columns)
		refuse(csv, csv->count,
		    "is missing: the line has %u fields, the header %u",
		    csv->count, csv->columns);
	else
		refuse(csv, csv->columns,
		    "is followed by more: the line has %u fields, the header "
		    "%u",
		    csv->count, csv->columns);
	return false;
}

static bool
is_sound(struct csv *csv, unsigned i)
{
	struct span field = csv->fields[csv->place[i]];

	if (field.len > CSV_FIELD_MAX)
		refuse(csv, i, "is longer than %d bytes", CSV_FIELD_MAX);
	else if (field.len > 0 && memchr(field.ptr, '\0', field.len) != NULL)
		refuse(csv, i, "holds a NUL byte");
	else if (csv->has_high && !utf8_is_valid(field))
		refuse(csv, i, "is not UTF-8");
	else
		return true;
	return false;
}

static bool
all_are_sound(struct csv *csv)
{
	if (!csv->has_nul && !csv->has_high && csv->len <= CSV_FIELD_MAX)
		return true;
	for (unsigned i = 0; i < csv->count; i++)
		if (!is_sound(csv, i))
			return false;
	return true;
}

/* A packed file that cannot be unpacked gets one fault of its own. */
static void
tell_packed(struct csv *csv)
{
	if (csv->err != ERR_OK || csv_block_why(&csv->block) == NULL)
		return;
	csv->refused = true;
	csv->err = ERR_BAD_INPUT;
	csv_faults_add(
	    csv->faults, csv->name, 0, NULL, "%s", csv_block_why(&csv->block));
}

/* False at the end of the file, or after a failure. */
static bool
begin_record(struct csv *csv)
{
	if (csv->block.begin == csv->block.end)
		csv_block_fill(&csv->block);
	csv->line = csv->block.line;
	if (csv->block.err != ERR_OK)
		tell_packed(csv);
	return csv->err == ERR_OK && csv->block.err == ERR_OK &&
	    csv->block.begin < csv->block.end;
}

bool
csv_next(struct csv *csv, struct csv_record *record)
{
	assert(csv != NULL && record != NULL);
	while (begin_record(csv)) {
		if (!cut_record(csv) || csv->block.err != ERR_OK)
			continue; /* truncated by a read error */
		if (!has_right_count(csv) || !all_are_sound(csv))
			continue;
		record->fields = csv->fields;
		record->line = csv->line;
		return true;
	}
	return false;
}

void
csv_fault(struct csv *csv, unsigned column, const char *format, ...)
{
	char message[sizeof(csv->faults->kept[0].message)];
	va_list args;

	assert(column < csv->columns);
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	csv->refused = true;
	csv_faults_add(csv->faults, csv->name, csv->line,
	    csv->names[column].ptr, "%s", message);
}

enum err
csv_end(const struct csv *csv)
{
	assert(csv != NULL);
	if (csv->err != ERR_OK)
		return csv->err;
	if (csv->block.err != ERR_OK)
		return csv->block.err;
	return csv->refused ? ERR_BAD_INPUT : ERR_OK;
}

/* --- the header -----------------------------------------------------------*/

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

static enum err
place_columns(struct csv *csv)
{
	struct span found[CSV_COLUMNS_MAX];
	unsigned used = csv->spec->count, count = csv->count;
	enum err err;

	memcpy(found, csv->fields, sizeof(found));
	for (unsigned i = 0; i < count; i++) {
		err = place_column(csv, i, found[i], &used);
		if (err != ERR_OK)
			return err;
	}
	for (unsigned i = 0; i < csv->spec->count; i++)
		if (csv->names[i].ptr == NULL)
			refuse_header(csv, csv->spec->columns[i],
			    "the column is missing");
	csv->columns = count;
	return csv->refused ? ERR_BAD_INPUT : ERR_OK;
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
	tell_packed(csv);
	return csv->err != ERR_OK ? csv->err : csv->block.err;
}

/* Reports a file of another kind by one fault, instead of one per column. */
static bool
is_commas(struct csv *csv)
{
	static const struct {
		char byte;
		const char *name;
	} others[] = {
	    {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}};
	struct csv_block *block = &csv->block;
	struct span line = {block->data + block->begin, 0};
	size_t stop;

	if (!csv_block_find(block, 0, &stop))
		return true; /* too long; reported below */
	line = span_make(block->data + block->begin, stop);
	if (span_starts(line, SPAN("\x1f\x8b"))) {
		refuse_header(csv, NULL,
		    "the file is packed by gzip: its name must end with .gz");
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
			return false;
		}
	return true;
}

static enum err
read_header(struct csv *csv)
{
	skip_mark(csv);
	csv->line = csv->block.line;
	if (csv->block.err != ERR_OK)
		return reading_failed(csv);
	if (csv->block.begin == csv->block.end) {
		refuse(csv, 0,
		    "the file is empty: it must begin with a "
		    "header line");
		return ERR_BAD_INPUT;
	}
	if (!is_commas(csv))
		return ERR_BAD_INPUT;
	if (!cut_record(csv) && csv->block.err == ERR_OK)
		return csv->err != ERR_OK ? csv->err : ERR_BAD_INPUT;
	if (csv->block.err != ERR_OK)
		return reading_failed(csv);
	if (csv->count > CSV_COLUMNS_MAX) {
		refuse(csv, 0, "the header has more than %d columns",
		    CSV_COLUMNS_MAX);
		return ERR_BAD_INPUT;
	}
	if (!all_are_sound(csv))
		return ERR_BAD_INPUT;
	return place_columns(csv);
}

unsigned
csv_extra_count(const struct csv *csv)
{
	assert(csv->columns >= csv->spec->count);
	return csv->columns - csv->spec->count;
}

struct span
csv_extra_name(const struct csv *csv, unsigned extra)
{
	assert(extra < csv->columns - csv->spec->count);
	return csv->names[csv->spec->count + extra];
}

/* --- opening --------------------------------------------------------------*/

static enum err
open_file(struct csv *csv, const char *path)
{
	enum err err = csv_block_init(&csv->block, path);

	if (err != ERR_OK && err != ERR_NO_MEMORY) {
		csv->refused = true;
		csv_faults_add(csv->faults, path, 0, NULL,
		    "cannot be opened: %s", err_text(err));
	}
	return err;
}

static enum err
make_parser(struct csv *csv)
{
	for (unsigned i = 0; i < CSV_COLUMNS_MAX; i++)
		csv->place[i] = i;
	csv->arena = arena_new((size_t)2 * CSV_LINE_MAX);
	csv->quoted = csv_quoted_new();
	return csv->arena == NULL || csv->quoted == NULL ? ERR_NO_MEMORY
							 : ERR_OK;
}

enum err
csv_open(struct csv **out, const char *path, const char *name,
    const struct csv_spec *spec, struct csv_faults *faults)
{
	struct csv *csv;
	enum err err;

	assert(path != NULL && name != NULL && faults != NULL);
	assert(spec->count > 0 && spec->count <= CSV_COLUMNS_MAX);
	*out = NULL;
	csv = calloc(1, sizeof(*csv));
	if (csv == NULL)
		return ERR_NO_MEMORY;
	csv->spec = spec;
	csv->faults = faults;
	csv->name = name;
	err = open_file(csv, path);
	if (err != ERR_OK)
		goto out;
	err = make_parser(csv);
	if (err != ERR_OK)
		goto out;
	err = read_header(csv);
	if (err != ERR_OK)
		goto out;

	*out = csv;
	csv = NULL; /* the caller's now */
out:
	csv_close(csv);
	return err;
}

void
csv_close(struct csv *csv)
{
	if (csv == NULL)
		return;
	csv_block_fini(&csv->block);
	csv_quoted_free(csv->quoted);
	arena_free(csv->arena);
	free(csv);
}

uint64_t
csv_offset(const struct csv *csv)
{
	const struct csv_block *block = &csv->block;

	assert(block->begin <= block->end);
	/* The unread part of a packed file cannot be measured. */
	if (block->gunzip != NULL)
		return block->offset;
	return block->offset - (block->end - block->begin);
}

uint64_t
csv_size(const struct csv *csv)
{
	assert(csv != NULL);
	return csv->block.size;
}
