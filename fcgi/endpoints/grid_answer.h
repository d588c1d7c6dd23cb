/*
 * grid_answer: rows of one supplier as an answer, in each format: what
 * GET /grid and POST /products/lookup have in common.
 */
#pragma once

#include <stdbool.h>

#include "fcgi/call.h"
#include "fcgi/http/format.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/since.h"
#include "fcgi/rows/snapview.h"

struct grid_answer {
	struct snapview *view;
	const struct rowset *set;
	struct paging pages;
	enum format format;
	bool computed; /* by this call */
	/* Codes that were asked for and not found; NULL: none were asked for */
	const struct span *missing;
	unsigned missing_count;
	const struct since *since; /* NULL: the rows are no changes */
};

/* The headers of the format, and the generation that the rows are of. */
void grid_answer_headers(
    struct call *call, const struct snapview *view, enum format format);

/* Sends the rows of the page; grid_answer_headers() comes before. */
enum err grid_answer_send(struct call *call, const struct grid_answer *answer);
