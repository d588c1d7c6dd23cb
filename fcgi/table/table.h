/*
 * table: an answer of cells, in one of the flat formats, written as it grows.
 *
 *	table_begin(), then for each row table_cell() as often as there are
 *	columns, and table_row_end(); table_end(); table_fini() in any case.
 *
 * Cells are JSON values, as rows have them; what a format makes of each follows
 * from it and from the column's type.
 */
#pragma once

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
	uint64_t rows; /* ended so far */
	const struct table_ops *ops; /* NULL: not begun */
	void *writer; /* what the format keeps, or NULL */
};

/* `columns` must outlive the table. A failure has begun nothing. */
enum err table_begin(struct table *table, enum format format,
    struct reply *reply, const struct table_column *columns, unsigned count);

enum err table_cell(struct table *table, struct span json);

/*
 * Ends the row; the reply puts what has been gathered when it streams.
 * ERR_CLOSED: nobody reads any more.
 */
enum err table_row_end(struct table *table);

enum err table_end(struct table *table);

/* Frees what the format keeps; one of zeros, which was never begun, is fine. */
void table_fini(struct table *table);
