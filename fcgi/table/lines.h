/*
 * lines: an answer of JSON objects that each are a line: as they are in NDJSON,
 * as cells in a flat format, where a member of a nested object is a cell too.
 * For endpoints that make their objects with jsonw; rows of suppliers go
 * through rows/flat.h.
 *
 *	lines_begin(), for each object lines_add(), lines_end(); lines_fini()
 */
#pragma once

#include "fcgi/table/table.h"

struct lines {
	enum format format;
	struct reply *reply;
	struct table table;
};

/*
 * `columns`: the cells of each object, in the order of its members, nested ones
 * where their object stands. They must outlive the lines.
 */
enum err lines_begin(struct lines *lines, enum format format,
    struct reply *reply, const struct table_column *columns, unsigned count);

/* Every object has the same members, in the same order: else this asserts. */
enum err lines_add(struct lines *lines, struct span object);

enum err lines_end(struct lines *lines);
void lines_fini(struct lines *lines);
