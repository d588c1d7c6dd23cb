/*
 * GET /products/{codein}: one article's row. At several suppliers, without one
 * named, the row with the highest turnover.
 */
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/listed.h"
#include "fcgi/rows/ready.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/facts/live.h"
#include "fcgi/fail.h"
#include "fcgi/http/members.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/snapview.h"
#include "lmdb-schema/snapshot/catalog.h"

/* 404; when other suppliers list it, they are named. */
static void
absent(struct call *call, const struct listed *listed, struct span why)
{
	struct buf *details = &call->serving->details;

	buf_clear(details);
	if (listed->count > 0) {
		buf_add_text(details, "{\"fournisseurs\":");
		listed_write(details, listed);
		buf_add_char(details, '}');
	}
	if (buf_end(details) != ERR_OK) {
		fail_storage(call, buf_end(details));
		return;
	}
	reply_error(call->reply, 404, CODE_NOT_FOUND, why, buf_span(details));
}

/* 404 of a snapshot that does not have the article. */
static void
absent_at(struct call *call, const struct listed *listed, struct span supplier)
{
	char text[LISTED_TEXT_MAX];

	absent(call, listed,
	    listed_has(listed, supplier)
		? listed_not_yet(text, "This article", supplier)
		: SPAN("This supplier has no such article."));
}

static void
send(struct call *call, struct snapview *view, uint32_t row,
    const struct listed *listed, bool computed)
{
	const struct snap_head *head = snapshot_head(view->pinned->snap);
	const uint64_t tag[] = {head->generation,
	    live_network_generation(call->serving->live),
	    live_facts(call->serving->live),
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state, computed};
	struct pieces *body = &call->reply->body;
	struct buf *codes = &call->serving->details;
	enum err err;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 6, SPLICE_JSON))
		return;
	splice_begin(call->serving->splice, view->pinned->snap, view->ranges,
	    call->serving->live, call->params.enrich, &call->params.fields,
	    SPLICE_JSON);
	pieces_text(body, "{\"data\":");
	err = splice_row(call->serving->splice, row, body);
	if (err != ERR_OK) {
		fail_storage(call, snapview_blame(call, view, err));
		return;
	}
	pieces_drop_last(body);
	buf_clear(codes);
	listed_write(codes, listed);
	pieces_text(body, ",\"meta\":{\"fournisseurs\":");
	pieces_add(body, buf_span(codes));
	if (buf_end(codes) != ERR_OK)
		body->err = buf_end(codes);
	members_time(body, "computedAt", head->computed_ms);
	members_day(body, "donneesAu", head->as_of_day);
	members_bool(body, "computedOnDemand", computed);
	pieces_text(body, "}}");
}

static void
at_supplier(struct call *call, const struct listed *listed)
{
	struct snapview view;
	bool computed;
	uint32_t row;
	enum err err;

	if (!ready_supplier(
		&view, call, call->params.fournisseur, 0, true, &computed))
		return;
	err = snapshot_find(view.pinned->snap, call->path[0], &row);
	if (err == ERR_OK)
		send(call, &view, row, listed, computed);
	else if (err == ERR_NOT_FOUND)
		absent_at(call, listed, call->params.fournisseur);
	else
		fail_storage(call, snapview_blame(call, &view, err));
	snapview_close(&view, call);
}

/* The best row so far, among those with a snapshot. */
struct best {
	struct snapview view;
	uint32_t row;
	int64_t ca;
};

/* One that was damaged, until it is computed anew; or that cannot be known. */
static bool
is_lost(struct call *call, struct span supplier)
{
	bool lost = false;

	return catalog_lost(call->serving->catalog, supplier, &lost) !=
	    ERR_OK ||
	    lost;
}

/* Takes the article's row at `supplier` when it sells more than the best. */
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
	if (err == ERR_OK &&
	    (best->view.pinned == NULL || ca[row] > best->ca)) {
		snapview_drop(&best->view, call);
		*best = (struct best){view, row, ca[row]};
	} else {
		snapview_blame(call, &view, err);
		snapview_drop(&view, call);
	}
	return err;
}

/* Naming a supplier helps where that has one computed that has none yet. */
static void
absent_anywhere(
    struct call *call, const struct listed *listed, bool may_be_computed)
{
	if (listed->count == 0)
		absent(call, listed, SPAN("There is no such article."));
	else if (may_be_computed)
		absent(call, listed,
		    SPAN("This article is in no computed snapshot: name one "
			 "of its suppliers with fournisseur."));
	else
		absent_at(call, listed, listed->codes[0]);
}

/* Among the suppliers with a snapshot, the row that sells most. */
static void
anywhere(struct call *call, const struct listed *listed)
{
	struct best best = {.view = {NULL, NULL, false}};
	bool may_be_computed = false;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < listed->count && err == ERR_OK; i++) {
		err = consider(&best, call, listed->codes[i]);
		may_be_computed = may_be_computed || err == ERR_NOT_READY;
		if (err == ERR_NOT_READY || err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	if (err != ERR_OK)
		fail_storage(call, err);
	else if (best.view.pinned == NULL)
		absent_anywhere(call, listed, may_be_computed);
	else
		send(call, &best.view, best.row, listed, false);
	snapview_close(&best.view, call);
}

void
ep_product(struct call *call)
{
	struct listed *listed;
	enum err err = listed_find(&listed, call);

	if (err != ERR_OK)
		fail_storage(call, err);
	else if (call->params.fournisseur.len > 0)
		at_supplier(call, listed);
	else
		anywhere(call, listed);
}
