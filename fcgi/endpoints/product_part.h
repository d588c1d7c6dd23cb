/*
 * product_part: the row of an article that sells most, of some suppliers that this
 * node keeps (search/part.h), and what its answer says of the snapshot.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/rows/snapview.h"

struct call;
struct part_question;

/* The best row, among suppliers with a snapshot. */
struct best {
	struct snapview view; /* not pinned: there is none */
	uint32_t row;
	int64_t ca;
};

/*
 * The row of the article of call->path that sells most at these suppliers;
 * *searched of them have a snapshot. After a failure there is no view to close.
 */
enum err best_find(struct best *best, uint64_t *searched, struct call *call,
    const struct span *suppliers, unsigned count);

/* Of the snapshot that an answer shows a row of. */
struct product_head {
	uint64_t generation, gamme, state;
	int64_t computed_ms, as_of_day, oldest_sales;
};

void product_head_of(struct product_head *out, const struct snapview *view);

/* ERR_BAD_INPUT: it is none. */
enum err product_head_read(struct product_head *out, struct span bytes);

enum err product_part(struct buf *out, struct call *call,
    const struct part_question *question, void *context);
