/*
 * flat: rows of suppliers as cells: which columns a table of them has, and a
 * row's values in their order, with the maps by month as the parameter `mois`
 * says (http/format.h).
 *
 *	splice_columns() or splice_begin(), flat_begin(), for each row
 *	flat_row(), flat_end(); flat_fini() in any case
 */
#pragma once

#include "common/date.h"
#include "common/err.h"
#include "fcgi/table/table.h"

struct arena;
struct call;
struct flat_entry;
struct snapshot;
struct splice;

struct flat {
	struct table table;
	struct splice *splice; /* its columns are chosen */
	enum format_months months;
	int32_t first_month; /* of the period: MONTHS_COLUMNS */
	struct snapshot *snap; /* the same */
	const struct span *given; /* of a row that is of no snapshot here */
	struct span values[ROW_COLUMNS]; /* of a row */
	char month[DATE_TEXT_MAX + 2]; /* of a line: MONTHS_LINES */
	struct flat_entry *entries; /* of its maps */
	size_t count, room;
	struct span *wide; /* cells of a map: MONTHS_COLUMNS */
};

/*
 * Begins the table in the call's answer. `snap` has the months and stores that
 * MONTHS_COLUMNS makes columns of; NULL with the other choices. ERR_ANSWERED
 * when there would be more columns than a table has: the 400 is then made.
 */
enum err flat_begin(struct flat *flat, struct call *call, enum format format,
    struct snapshot *snap);

/* A row of the snapshot that the splice is at. */
enum err flat_row(struct flat *flat, uint32_t row);

/* A row of another node: the values of the chosen columns, in their order. */
enum err flat_row_given(struct flat *flat, const struct span *values);

enum err flat_end(struct flat *flat);
void flat_fini(struct flat *flat);
