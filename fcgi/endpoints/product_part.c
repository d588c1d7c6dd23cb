#include "fcgi/endpoints/product_part.h"

#include <limits.h>

#include "fcgi/call.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/rows/sort_bytes.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/part.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/snapshot/catalog.h"

#define TEXT_MAX ((size_t)1 << 24)
#define HEAD_MAX (6 * PACK_NUMBER_MAX)

/* Damage took its snapshot, and none was computed since, as far as is known. */
static bool
is_lost(struct call *call, struct span supplier)
{
	bool lost = false;

	return catalog_lost(call->serving->views.catalog, supplier, &lost) !=
	    ERR_OK ||
	    lost;
}

/*
 * Takes the row of the article of call->path at `supplier` when it sells more than
 * the best. ERR_NOT_READY: no snapshot; ERR_NOT_FOUND: not in it.
 */
static enum err
consider(struct best *best, struct call *call, struct span supplier)
{
	struct snapview view;
	const int64_t *ca;
	uint32_t row;
	enum err err = snapview_open(&view, call, supplier, 0);

	/* Another supplier's row instead would look like an answer. */
	if (err == ERR_NOT_READY && (view.damaged || is_lost(call, supplier)))
		return ERR_DAMAGED;
	if (err != ERR_OK)
		return err;
	ca = snapshot_numbers(view.pinned->snap, COL_totalCa);
	err = ca == NULL
	    ? ERR_DAMAGED
	    : snapshot_find(view.pinned->snap, call->path[0], &row);
	if (err != ERR_OK || (best->view.pinned != NULL && ca[row] <= best->ca))
		return snapview_drop(&view, call, err);
	snapview_drop(&best->view, call, ERR_OK);
	*best = (struct best){view, row, ca[row]};
	return ERR_OK;
}

enum err
best_find(struct best *best, uint64_t *searched, struct call *call,
    const struct span *suppliers, unsigned count)
{
	enum err err = ERR_OK;

	*best = (struct best){.view = {NULL, NULL, false}};
	*searched = 0;
	for (unsigned i = 0; i < count && err == ERR_OK; i++) {
		err = consider(best, call, suppliers[i]);
		*searched += err == ERR_OK || err == ERR_NOT_FOUND;
		if (err == ERR_NOT_READY || err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	/* The failure is of another view, which is dropped. */
	if (err != ERR_OK)
		snapview_drop(&best->view, call, ERR_OK);
	return err;
}

/* --- for another node ----------------------------------------------------- */

void
product_head_of(struct product_head *out, const struct snapview *view)
{
	const struct snap_head *head = snapshot_head(view->pinned->snap);
	const struct ranges *ranges = view->ranges;

	*out = (struct product_head){.generation = head->generation,
	    .gamme = ranges == NULL ? 0 : ranges->gamme,
	    .state = ranges == NULL ? 0 : ranges->state,
	    .computed_ms = head->computed_ms,
	    .as_of_day = head->as_of_day,
	    .oldest_sales = head->oldest_sales};
}

static void
write_head(struct buf *out, const struct product_head *head)
{
	pack_add_unsigned(out, head->generation);
	pack_add_unsigned(out, head->gamme);
	pack_add_unsigned(out, head->state);
	pack_add_signed(out, head->computed_ms);
	pack_add_signed(out, head->as_of_day);
	pack_add_signed(out, head->oldest_sales);
}

static bool
is_day(int64_t day)
{
	return day >= INT32_MIN && day <= INT32_MAX;
}

enum err
product_head_read(struct product_head *out, struct span bytes)
{
	struct unpack from;

	unpack_init(&from, bytes);
	out->generation = unpack_unsigned(&from);
	out->gamme = unpack_unsigned(&from);
	out->state = unpack_unsigned(&from);
	out->computed_ms = unpack_signed(&from);
	out->as_of_day = unpack_signed(&from);
	out->oldest_sales = unpack_signed(&from);
	return unpack_done(&from) && is_day(out->as_of_day) &&
		is_day(out->oldest_sales)
	    ? ERR_OK
	    : ERR_BAD_INPUT;
}

/* As the search's order of turnovers: the first supplier of equal ones. */
static enum err
write_row(struct buf *out, struct call *call, const struct best *best)
{
	struct splice *splice = call->serving->splice;
	struct snapshot *snap = best->view.pinned->snap;
	struct buf order;
	struct iovbuf row;
	enum err err;

	buf_init(&order, TEXT_MAX);
	iovbuf_init(&row);
	sort_bytes_number(&order, best->ca, true);
	sort_bytes_text(&order, snapshot_supplier(snap), false);
	splice_begin(splice, snap, best->view.ranges, call->serving->views.live,
	    call->params.enrich, &call->params.fields, SPLICE_NDJSON);
	err = splice_row(splice, best->row, &row);
	if (err == ERR_OK)
		err = row.err == ERR_OK ? buf_end(&order) : row.err;
	if (err == ERR_OK)
		part_write_pieces(out, buf_span(&order), &row);
	iovbuf_fini(&row);
	buf_fini(&order);
	return err;
}

static enum err
write_best(struct buf *out, struct call *call, struct best *best,
    struct part *part, const struct scope_wanted *wanted)
{
	struct product_head head;
	struct buf text;
	enum err err;

	buf_init(&text, HEAD_MAX);
	if (best->view.pinned != NULL) {
		product_head_of(&head, &best->view);
		write_head(&text, &head);
		part->total = 1;
	}
	part->head = buf_span(&text);
	part_write_lacking(out, part, call, wanted);
	buf_fini(&text);
	if (best->view.pinned == NULL)
		return ERR_OK;
	err = write_row(out, call, best);
	return snapview_close(&best->view, call, err);
}

enum err
product_part(struct buf *out, struct call *call,
    const struct part_question *question, void *context)
{
	const struct scope_wanted *wanted = &question->wanted;
	struct part part = {.total = 0};
	struct best best;
	enum err err = best_find(
	    &best, &part.suppliers, call, wanted->codes, wanted->count);

	(void)context;
	buf_clear(out);
	if (err != ERR_OK)
		return err;
	err = write_best(out, call, &best, &part, wanted);
	part_write_end(out);
	return err == ERR_OK ? buf_end(out) : err;
}
