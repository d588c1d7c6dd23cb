/*
 * libcsv calls back for each field and looks at each byte.
 */
#include "tools/gridctl/csv/csv_quoted.h"

#include <assert.h>
#include <csv.h>
#include <stdlib.h>

#include "common/buf.h"
#include "tools/gridctl/csv/csv.h"
#include "tools/gridctl/csv/csv_block.h"

struct csv_quoted {
	struct csv_parser parser;
	struct buf text; /* the fields, end to end */
	size_t ends[CSV_COLUMNS_MAX];
	unsigned count;
	unsigned rows; /* ends of records that libcsv has seen */
};

static int
never(unsigned char byte)
{
	(void)byte;
	return 0; /* blanks around a field are the field's */
}

struct csv_quoted *
csv_quoted_new(void)
{
	struct csv_quoted *quoted = calloc(1, sizeof(*quoted));

	if (quoted == NULL)
		return NULL;
	if (csv_init(&quoted->parser, CSV_STRICT | CSV_REPALL_NL) != 0) {
		free(quoted);
		return NULL;
	}
	csv_set_space_func(&quoted->parser, never);
	csv_set_blk_size(&quoted->parser, 4096);
	buf_init(&quoted->text, CSV_LINE_MAX);
	return quoted;
}

void
csv_quoted_free(struct csv_quoted *quoted)
{
	if (quoted == NULL)
		return;
	csv_free(&quoted->parser);
	buf_fini(&quoted->text);
	free(quoted);
}

void
csv_quoted_separate(struct csv_quoted *quoted, char separator)
{
	assert(quoted != NULL);
	csv_set_delim(&quoted->parser, (unsigned char)separator);
}

void
csv_quoted_begin(struct csv_quoted *quoted)
{
	assert(quoted != NULL);
	/* Drops the rest of a refused record, but keeps the memory. */
	csv_fini(&quoted->parser, NULL, NULL, NULL);
	buf_clear(&quoted->text);
	quoted->count = 0;
	quoted->rows = 0;
}

static void
on_field(void *text, size_t len, void *context)
{
	struct csv_quoted *quoted = context;

	if (quoted->rows > 0)
		return;
	buf_add(&quoted->text, text, len);
	if (quoted->count < CSV_COLUMNS_MAX)
		quoted->ends[quoted->count] = quoted->text.len;
	quoted->count++;
}

static void
on_row(int byte, void *context)
{
	struct csv_quoted *quoted = context;

	(void)byte;
	quoted->rows++;
}

/* CSV_QUOTED_MORE when there is no error so far. */
static enum csv_quoted_state
feed(struct csv_quoted *quoted, struct span bytes)
{
	if (csv_parse(&quoted->parser, bytes.ptr, bytes.len, on_field, on_row,
		quoted) == bytes.len)
		return CSV_QUOTED_MORE;
	return csv_error(&quoted->parser) == CSV_EPARSE ? CSV_QUOTED_STRAY
							: CSV_QUOTED_FAILED;
}

enum csv_quoted_state
csv_quoted_line(struct csv_quoted *quoted, struct span line, bool ends)
{
	bool crlf = ends && line.len > 0 && line.ptr[line.len - 1] == '\r';
	enum csv_quoted_state state;

	assert(quoted != NULL);
	state = feed(quoted, crlf ? span_sub(line, 0, line.len - 1) : line);
	if (state != CSV_QUOTED_MORE)
		return state;
	if (quoted->rows > 0)
		return CSV_QUOTED_RETURN;
	if (crlf)
		state = feed(quoted, SPAN("\r"));
	if (state == CSV_QUOTED_MORE && quoted->rows == 0)
		state = feed(quoted, SPAN("\n"));
	if (state != CSV_QUOTED_MORE)
		return state;
	if (quoted->rows == 0)
		return ends ? CSV_QUOTED_MORE : CSV_QUOTED_OPEN;
	return buf_end(&quoted->text) == ERR_OK ? CSV_QUOTED_DONE
						: CSV_QUOTED_FAILED;
}

unsigned
csv_quoted_count(const struct csv_quoted *quoted)
{
	assert(quoted != NULL);
	return quoted->count;
}

struct span
csv_quoted_field(const struct csv_quoted *quoted, unsigned i)
{
	const char *text = quoted->text.len > 0 ? quoted->text.data : "";
	size_t start = i == 0 ? 0 : quoted->ends[i - 1];

	assert(i < quoted->count && i < CSV_COLUMNS_MAX);
	return span_make(text + start, quoted->ends[i] - start);
}
