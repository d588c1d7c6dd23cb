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
#include "fcgi/endpoints/product_part.h"
#include "fcgi/fail.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/gather.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/snapfile.h"

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

/* A row of a snapshot here, or the text of another node's. */
struct shown_row {
	struct product_head head;
	const struct snapview *view; /* NULL: */
	struct span text;
	uint32_t row;
	bool computed;
};

static enum err
add_row(struct call *call, const struct shown_row *shown)
{
	struct iovbuf *body = &call->reply->body;
	const struct snapview *view = shown->view;
	enum err err;

	if (view == NULL) {
		iovbuf_add(body, shown->text);
		return ERR_OK;
	}
	splice_begin(call->serving->splice, view->pinned->snap, view->ranges,
	    call->serving->views.live, call->params.enrich,
	    &call->params.fields, SPLICE_JSON);
	err = splice_row(call->serving->splice, shown->row, body);
	if (err == ERR_OK)
		iovbuf_drop_last(body);
	return err;
}

static enum err
send(struct call *call, const struct shown_row *shown,
    const struct listed *listed, const struct others *others)
{
	const struct product_head *head = &shown->head;
	const struct snap_head days = {.as_of_day = (int32_t)head->as_of_day,
	    .oldest_sales = (int32_t)head->oldest_sales};
	const uint64_t tag[] = {head->generation,
	    live_network_generation(call->serving->views.live),
	    live_facts(call->serving->views.live), head->gamme, head->state,
	    shown->computed, mix_others(others)};
	struct answer answer;
	enum err err;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 7, FORMAT_JSON))
		return ERR_ANSWERED;
	answer_begin(&answer, call);
	answer_put(&answer);
	err = add_row(call, shown);
	if (err != ERR_OK)
		return err;
	jsonw_raw(&answer.json, SPAN("")); /* the row */
	members_object(&answer.json, "meta");
	listed_write(&answer.json, listed);
	if (others->count > 0)
		members_names(
		    &answer.json, "autresNoeuds", others->codes, others->count);
	members_time(&answer.json, "computedAt", head->computed_ms);
	answer_days(&answer.json, &days);
	members_bool(&answer.json, "computedOnDemand", shown->computed);
	members_names(&answer.json, "ignores", call->params.ignored,
	    call->params.ignored_count);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static enum err
send_here(struct call *call, const struct snapview *view, uint32_t row,
    const struct listed *listed, bool computed)
{
	const struct others none = {NULL, 0};
	struct shown_row shown = {
	    .view = view, .row = row, .computed = computed};

	product_head_of(&shown.head, view);
	return send(call, &shown, listed, &none);
}

static enum err
at_supplier(struct call *call, const struct listed *listed)
{
	struct snapview view;
	bool computed;
	uint32_t row;
	enum err err = ensure_supplier(
	    &view, call, call->params.fournisseur, 0, true, &computed);

	if (err != ERR_OK)
		return err;
	err = snapshot_find(view.pinned->snap, call->path[0], &row);
	if (err == ERR_OK)
		err = send_here(call, &view, row, listed, computed);
	else if (err == ERR_NOT_FOUND)
		err = absent_at(call, listed, call->params.fournisseur);
	return snapview_close(&view, call, err);
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

/* Among the suppliers with a snapshot, the row that sells most. */
static enum err
anywhere(struct call *call, const struct listed *listed)
{
	struct best best;
	uint64_t searched;
	enum err err =
	    best_find(&best, &searched, call, listed->codes, listed->count);

	if (err != ERR_OK)
		return err;
	if (best.view.pinned == NULL)
		return absent_anywhere(call, listed, searched < listed->count);
	err = send_here(call, &best.view, best.row, listed, false);
	return snapview_close(&best.view, call, err);
}

/* --- of several nodes ------------------------------------------------------ */

static enum err
send_gathered(struct call *call, struct gather *gather,
    const struct listed *listed, bool may_be_computed)
{
	const struct others others = {gather->left, gather->left_count};
	struct shown_row shown = {.view = NULL};
	enum err err;

	if (gather->total == 0)
		return absent_anywhere(
		    call, listed, may_be_computed || others.count > 0);
	err = gather_seek(gather, 0, 1);
	if (err == ERR_OK)
		err = gather_next(gather, &shown.text);
	if (err == ERR_OK)
		err = product_head_read(&shown.head, gather->top->part.head);
	return err == ERR_OK ? send(call, &shown, listed, &others) : err;
}

/* The listed suppliers that some node has computed. */
static enum err
find_computed(struct span **codes, unsigned *count, struct gather *gather,
    const struct listed *listed)
{
	enum err err = ERR_OK;

	*count = 0;
	*codes = arena_array(
	    gather->call->serving->arena, listed->count + 1, sizeof(**codes));
	if (*codes == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < listed->count && err == ERR_OK; i++) {
		bool computed = false;

		err = cover_is_computed(
		    &computed, gather->cover, listed->codes[i]);
		if (err == ERR_OK && computed)
			(*codes)[(*count)++] = listed->codes[i];
	}
	return err;
}

static enum err
gather_best(
    struct gather *gather, struct call *call, const struct listed *listed)
{
	struct span *codes = NULL;
	unsigned count = 0;
	enum err err = gather_begin(gather, call);

	gather->own = product_part;
	gather->context = NULL;
	gather->steady = false;
	if (err == ERR_OK)
		err = find_computed(&codes, &count, gather, listed);
	if (err == ERR_OK)
		err = gather_ask(gather, codes, count, 1, true);
	if (err == ERR_OK)
		err =
		    send_gathered(call, gather, listed, count < listed->count);
	return err;
}

/* A node that keeps all of them answers, or this one asks the others. */
static enum err
across_nodes(struct call *call, const struct listed *listed)
{
	struct gather *gather;
	bool here = true;
	enum err err = ERR_OK;

	if (listed->count > 0)
		err = holder_pass_all(call, listed->codes, listed->count);
	for (unsigned i = 0; i < listed->count && here && err == ERR_OK; i++)
		err = holder_is_here(&here, call, listed->codes[i]);
	if (err != ERR_OK || here)
		return err == ERR_OK ? anywhere(call, listed) : err;
	/* A thread that serves pages waits for no other node. */
	if (!call->request->slow_pool)
		return ensure_hand_over(call);
	gather = arena_alloc(call->serving->arena, sizeof(*gather));
	if (gather == NULL)
		return ERR_NO_MEMORY;
	err = gather_best(gather, call, listed);
	gather_end(gather);
	return err == ERR_BUSY ? gather_refuse(call) : err;
}

enum err
ep_product(struct call *call)
{
	struct listed *listed;
	enum err err = holder_pass_import(call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = listed_find(&listed, call);
	if (err != ERR_OK)
		return err;
	if (call->params.fournisseur.len > 0)
		return at_supplier(call, listed);
	return call->server->keeps_part ? across_nodes(call, listed)
					: anywhere(call, listed);
}
