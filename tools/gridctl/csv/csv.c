/*
 * Two parsers for a record, with the same result. Nearly all lines hold no
 * quote, no stray carriage return and no NUL: they are cut at their commas,
 * eight bytes at a time. Any other record goes to csv_quoted.c, a line at a
 * time until the record is complete, which is about ten times slower.
 */
#include "tools/gridctl/csv/csv_priv.h"

#include <assert.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/utf8.h"
#include "tools/gridctl/csv/csv_quoted.h"

#define EACH_BYTE UINT64_C(0x0101010101010101)

const char csv_lost[] = "";

const char *
csv_column_name(const struct csv *csv, unsigned i)
{
	unsigned last = csv->columns == 0 ? 0 : csv->columns - 1;

	if (csv->columns == 0)
		return csv->spec->columns[0];
	return csv->titles[i < last ? i : last];
}

/* Skips a record that its line at `from` makes too long. */
static void
refuse_long(struct csv *csv, size_t from)
{
	csv_refuse(
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
		csv_refuse(csv, csv->count,
		    "a quote stands where none may be (put the field in "
		    "quotes, and write each quote in it twice)");
		break;
	case CSV_QUOTED_RETURN:
		csv_refuse(csv, csv->count == 0 ? 0 : csv->count - 1,
		    "a carriage return stands outside quotes and ends no line");
		break;
	case CSV_QUOTED_OPEN:
		csv_refuse(csv, csv->count, "the quoted field does not end");
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

bool
csv_cut_record(struct csv *csv)
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
	if (special || csv->spec->slow || csv->separator != ',')
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
		csv_refuse(csv, 0, "the line is empty");
		return false;
	}
	if (csv->count == csv->columns)
		return true;
	if (csv->count < csv->columns)
		csv_refuse(csv, csv->count,
		    "is missing: the line has %u fields, the header %u",
		    csv->count, csv->columns);
	else
		csv_refuse(csv, csv->columns,
		    "is followed by more: the line has %u fields, the header "
		    "%u",
		    csv->count, csv->columns);
	return false;
}

static bool
is_sound(struct csv *csv, unsigned i)
{
	struct span field = csv->fields[csv->place[i]];

	if (csv->place[i] == CSV_UNKNOWN)
		return true; /* its column is a fault already */
	if (field.len > CSV_FIELD_MAX)
		csv_refuse(csv, i, "is longer than %d bytes", CSV_FIELD_MAX);
	else if (field.len > 0 && memchr(field.ptr, '\0', field.len) != NULL)
		csv_refuse(csv, i, "holds a NUL byte");
	else if (csv->has_high && !utf8_is_valid(field))
		csv_refuse(
		    csv, i, "is not UTF-8 (Excel: save as \"CSV UTF-8\")");
	else
		return true;
	csv->fields[csv->place[i]] = (struct span){csv_lost, 0};
	return false;
}

bool
csv_all_sound(struct csv *csv)
{
	bool sound = true;

	if (!csv->has_nul && !csv->has_high && csv->len <= CSV_FIELD_MAX)
		return true;
	for (unsigned i = 0; i < csv->count; i++)
		sound = is_sound(csv, i) && sound;
	return sound;
}

void
csv_tell_packed(struct csv *csv)
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
		csv_tell_packed(csv);
	return csv->err == ERR_OK && csv->block.err == ERR_OK &&
	    csv->block.begin < csv->block.end;
}

bool
csv_next(struct csv *csv, struct csv_record *record)
{
	assert(csv != NULL && record != NULL);
	while (begin_record(csv)) {
		if (!csv_cut_record(csv) || csv->block.err != ERR_OK) {
			csv->skipped = true; /* or cut by a read error */
			continue;
		}
		if (!has_right_count(csv)) {
			csv->skipped = true;
			continue;
		}
		(void)csv_all_sound(csv); /* says what is not */
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

	assert(column < csv->spec->count + csv->extras);
	if (csv->fields[column].ptr == csv_lost)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	csv->refused = true;
	csv_faults_add(csv->faults, csv->name, csv->line,
	    csv->names[column].ptr, "%s", message);
}

bool
csv_has_skipped(const struct csv *csv)
{
	assert(csv != NULL);
	return csv->skipped;
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
	csv->separator = ',';
	err = open_file(csv, path);
	if (err != ERR_OK)
		goto out;
	err = make_parser(csv);
	if (err != ERR_OK)
		goto out;
	err = csv_read_header(csv);
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
	if (block->unpack != NULL)
		return block->offset;
	return block->offset - (block->end - block->begin);
}

uint64_t
csv_size(const struct csv *csv)
{
	assert(csv != NULL);
	return csv->block.size;
}
