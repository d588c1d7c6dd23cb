/* Shared by across.c, which gathers, and across_order.c, which merges. */
#pragma once

#include "fcgi/search/across.h"
#include "fcgi/search/scope.h"

/*
 * The matches of one supplier, or of all in the word index, and the position of
 * the merge.
 */
struct across_stream {
	const struct snapview *view; /* of the row at `at` */
	const uint32_t *rows; /* in the requested order; the index's: ranks */
	uint32_t count, at;
	bool of_index;
	uint32_t place; /* of the supplier, among all searched */
	uint32_t row; /* the row at `at`, in its snapshot */
	bool today; /* the sort value may have changed since */
	const int64_t *numbers; /* the column, if numeric */
	int64_t number; /* its sort value */
	struct buf text; /* the same for text columns, folded */
	bool null;
};

/* A list of rows, valid until across_end(). ERR_NO_MEMORY has freed it. */
enum err across_keep(struct across *across, uint32_t *rows);

/*
 * Finds the row of a rank: its supplier in the scope that has the word index, and
 * its number in the supplier's snapshot. False, with across->damaged, when there
 * is no such row.
 */
bool across_find(
    uint32_t *place, uint32_t *row, struct across *across, uint32_t rank);
