/* Shared by across.c, which gathers, and across_order.c, which merges. */
#pragma once

#include "fcgi/search/across.h"
#include "fcgi/search/scope.h"

/* Matches of one supplier, or of all in the book; and how far a merge is. */
struct across_stream {
	const struct snapview *view; /* of the row at `at` */
	const uint32_t *rows; /* in the order asked for; the book's: ranks */
	uint32_t count, at;
	bool of_book;
	uint32_t place; /* of the supplier, among all that were asked */
	uint32_t row; /* the one at `at`, in its snapshot */
	bool today; /* the sort value may have changed since */
	const int64_t *numbers; /* the column, when it is one of numbers */
	int64_t number; /* its sort value */
	struct buf text; /* the same for text columns, folded */
	bool null;
};

/* A list of rows, until across_end(). ERR_NO_MEMORY has freed it. */
enum err across_keep(struct across *across, uint32_t *rows);

/*
 * Where the row of a rank is: which supplier's of the scope that has the
 * book. False, and across->damaged, when there is no such place.
 */
bool across_place(uint32_t *place, struct across *across, uint32_t rank);
