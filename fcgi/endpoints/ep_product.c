/*
 * GET /products/{codein}: one article's row. At several suppliers, without one
 * named, the row with the highest turnover.
 */
#include <assert.h>

#include "common/arena.h"
#include "common/members.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/listed.h"
#include "fcgi/fail.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/catalog.h"

/* 404; when other suppliers list it, they are named. */
static enum err
absent(struct call *call, const struct listed *listed, struct span why)
{
	struct jsonw json;

	if (listed->count == 0)
		return reply_error(
		    call->reply, 404, CODE_NOT_FOUND, why, SPAN(""));
	fail_begin(&json, call);
	listed_write(&json, listed);
	return fail_end(&json, call, 404, CODE_NOT_FOUND, why);
}

/* 404 of a snapshot that does not have the article. */
static enum err
absent_at(struct call *call, const struct listed *listed, struct span supplier)
{
	char text[LISTED_TEXT_MAX];

	return absent(call, listed,
	    listed_has(listed, supplier)
		? listed_not_yet(text, call->reply,
		      reply_words(call->reply, "This article"), supplier)
		: SPAN("This supplier has no such article."));
}

/* Suppliers that other nodes keep. */
struct others {
	struct span *codes;
	unsigned count;
};

static uint64_t
mix_others(const struct others *others)
{
	uint64_t tag = 0;

	for (unsigned i = 0; i < others->count; i++)
		tag = etag_mix(tag, others->codes[i].ptr, others->codes[i].len);
	return tag;
}

static enum err
send(struct call *call, struct snapview *view, uint32_t row,
    const struct listed *listed, const struct others *others, bool computed)
{
	const struct snap_head *head = snapshot_head(view->pinned->snap);
	const uint64_t tag[] = {head->generation,
	    live_network_generation(call->serving->views.live),
	    live_facts(call->serving->views.live),
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state, computed,
	    mix_others(others)};
	struct iovbuf *body = &call->reply->body;
	struct answer answer;
	enum err err;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 7, FORMAT_JSON))
		return ERR_ANSWERED;
	splice_begin(call->serving->splice, view->pinned->snap, view->ranges,
	    call->serving->views.live, call->params.enrich,
	    &call->params.fields, SPLICE_JSON);
	answer_begin(&answer, call);
	answer_put(&answer);
	err = splice_row(call->serving->splice, row, body);
	if (err != ERR_OK)
		return err;
	iovbuf_drop_last(body);
	jsonw_raw(&answer.json, SPAN("")); /* the row */
	members_object(&answer.json, "meta");
	listed_write(&answer.json, listed);
	if (others->count > 0)
		members_names(
		    &answer.json, "autresNoeuds", others->codes, others->count);
	members_time(&answer.json, "computedAt", head->computed_ms);
	answer_days(&answer.json, head);
	members_bool(&answer.json, "computedOnDemand", computed);
	members_names(&answer.json, "ignores", call->params.ignored,
	    call->params.ignored_count);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static enum err
at_supplier(struct call *call, const struct listed *listed)
{
	const struct others none = {NULL, 0};
	struct snapview view;
	bool computed;
	uint32_t row;
	enum err err = ensure_supplier(
	    &view, call, call->params.fournisseur, 0, true, &computed);

	if (err != ERR_OK)
		return err;
	err = snapshot_find(view.pinned->snap, call->path[0], &row);
	if (err == ERR_OK)
		err = send(call, &view, row, listed, &none, computed);
	else if (err == ERR_NOT_FOUND)
		err = absent_at(call, listed, call->params.fournisseur);
	return snapview_close(&view, call, err);
}

/* The best row so far, among those with a snapshot. */
struct best {
	struct snapview view;
	uint32_t row;
	int64_t ca;
};

/* Damage took its snapshot, and none was computed since, as far as is known. */
static bool
is_lost(struct call *call, struct span supplier)
{
	bool lost = false;

	return catalog_lost(call->serving->views.catalog, supplier, &lost) !=
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
	if (err != ERR_OK || (best->view.pinned != NULL && ca[row] <= best->ca))
		return snapview_drop(&view, call, err);
	snapview_drop(&best->view, call, ERR_OK);
	*best = (struct best){view, row, ca[row]};
	return ERR_OK;
}

/* With `may_be_computed`, naming a supplier has its snapshot computed. */
static enum err
absent_anywhere(
    struct call *call, const struct listed *listed, bool may_be_computed)
{
	if (listed->count == 0)
		return absent(call, listed, SPAN("There is no such article."));
	if (may_be_computed)
		return absent(call, listed,
		    SPAN("This article is in no computed snapshot: name one "
			 "of its suppliers with fournisseur."));
	return absent_at(call, listed, listed->codes[0]);
}

/* A node that keeps all of them answers, or this one without those of others. */
static enum err
find_others(
    struct others *others, struct call *call, const struct listed *listed)
{
	enum err err = ERR_OK;
	bool here;

	others->count = 0;
	others->codes = arena_array(
	    call->serving->arena, listed->count + 1, sizeof(*others->codes));
	if (others->codes == NULL)
		return ERR_NO_MEMORY;
	if (listed->count > 0)
		err = holder_pass_all(call, listed->codes, listed->count);
	for (unsigned i = 0; i < listed->count && err == ERR_OK; i++) {
		err = holder_is_here(&here, call, listed->codes[i]);
		if (err == ERR_OK && !here)
			others->codes[others->count++] = listed->codes[i];
	}
	return err;
}

static bool
is_other(const struct others *others, struct span code)
{
	for (unsigned i = 0; i < others->count; i++)
		if (span_eq(others->codes[i], code))
			return true;
	return false;
}

/* Among the suppliers with a snapshot, the row that sells most. */
static enum err
anywhere(struct call *call, const struct listed *listed)
{
	struct best best = {.view = {NULL, NULL, false}};
	struct others others;
	bool may_be_computed = false;
	enum err err = find_others(&others, call, listed);

	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < listed->count && err == ERR_OK; i++) {
		if (is_other(&others, listed->codes[i])) {
			may_be_computed = true;
			continue;
		}
		err = consider(&best, call, listed->codes[i]);
		may_be_computed = may_be_computed || err == ERR_NOT_READY;
		if (err == ERR_NOT_READY || err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	if (err != ERR_OK) {
		/* The failure is of another view, which is dropped. */
		snapview_drop(&best.view, call, ERR_OK);
		return err;
	}
	if (best.view.pinned == NULL)
		return absent_anywhere(call, listed, may_be_computed);
	err = send(call, &best.view, best.row, listed, &others, false);
	return snapview_close(&best.view, call, err);
}

enum err
ep_product(struct call *call)
{
	struct listed *listed;
	enum err err = listed_find(&listed, call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err != ERR_OK)
		return err;
	return call->params.fournisseur.len > 0 ? at_supplier(call, listed)
						: anywhere(call, listed);
}
