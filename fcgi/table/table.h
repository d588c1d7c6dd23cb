/*
 * table: an answer of cells, in one of the flat formats, written as it grows.
 *
 *	table_begin(), then for each row table_cell() as often as there are
 *	columns, and table_row_end(); table_end(); table_fini() in any case.
 *
 * Cells are JSON values, as rows have them; what a format makes of each follows
 * from it and from the column's type. They are gathered, and written when their
 * row ends: their bytes must stay until then.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "fcgi/http/format.h"
#include "lmdb-schema/row.h"

struct reply;
struct table_ops;

struct table_column {
	struct span name;
	enum row_type type; /* ROW_OBJECT: a cell is JSON text */
};

#define TABLE_COLUMNS_MAX 16384 /* as many as a spreadsheet has */

struct table {
	enum format format;
	struct reply *reply;
	const struct table_column *columns; /* the caller's */
	unsigned count;
	unsigned at; /* the next cell */
	struct span *cells; /* of the row, `count` */
	uint64_t rows; /* ended so far */
	const struct table_ops *ops; /* NULL: not begun */
	void *writer; /* what the format keeps, or NULL */
};

/* `columns` must outlive the table. A failure has begun nothing. */
enum err table_begin(struct table *table, enum format format,
    struct reply *reply, const struct table_column *columns, unsigned count);

/* The next `count` cells, for the caller to fill. */
static inline struct span *
table_cells(struct table *table, unsigned count)
{
	assert(count <= table->count - table->at);
	table->at += count;
	return table->cells + table->at - count;
}

static inline void
table_cell(struct table *table, struct span json)
{
	assert(table->at < table->count && json.len > 0);
	table->cells[table->at++] = json;
}

/*
 * Writes the row; the reply puts what has been gathered when it streams.
 * ERR_CLOSED: nobody reads any more.
 */
enum err table_row_end(struct table *table);

enum err table_end(struct table *table);

/* Frees the cells, and what the format keeps; a table of zeros is fine. */
void table_fini(struct table *table);
