/*
 * GET /products/{codein}/gammes: what happened to the ranges of one article, at
 * one supplier or at all of them.
 */
#include <assert.h>

#include "common/members.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/feed.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/trail.h"
#include "fcgi/endpoints/listed.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/paging.h"
#include "lmdb-schema/facts/live.h"

/* Entries behind the index that a thread for pages looks through. */
#define BEHIND_MAX 20000

/* Bytes of a page's entries. */
#define SHOWN_MAX ((size_t)64 << 20)

struct history {
	struct call *call;
	struct state_view *view;
	const struct listed *listed;
	int64_t first, limit; /* of the page */
	int64_t total; /* so far */
	struct buf shown; /* the page's entries, as a JSON array */
	struct jsonw json;
};

static enum err
look(void *context, const struct audit_entry *entry)
{
	struct history *history = context;
	int64_t place;

	if (history->call->params.fournisseur.len == 0 &&
	    !listed_has(history->listed, entry->supplier))
		return ERR_OK;
	place = history->total++ - history->first;
	if (place < 0 || place >= history->limit ||
	    feed_entry_state(entry) == 0)
		return ERR_OK;
	feed_entry_write(&history->json, entry);
	return buf_end(&history->shown);
}

/* An article that is no longer listed has its history by its supplier's name. */
static enum err
find(struct history *history)
{
	struct call *call = history->call;
	const struct listed *listed = history->listed;
	struct trail_article article = {.supplier = call->params.fournisseur,
	    .codein = call->path[0],
	    .back = call->params.descending};

	if (article.supplier.len > 0 ? !call_sees(call, article.supplier)
				     : listed->count == 0)
		return ERR_OK;
	if (listed->count == 1 && article.supplier.len == 0)
		article.supplier = listed->codes[0];
	return feed_count(
	    call, trail_history(history->view, &article, look, history));
}

static enum err
answer(struct history *history)
{
	struct call *call = history->call;
	const struct params *params = &call->params;
	struct paging pages =
	    paging_of(params->page, history->limit, history->total);
	struct answer answer;
	int64_t first;
	enum err err = jsonw_end(&history->json);

	if (err != ERR_OK)
		return err;
	paging_headers(call, &pages, FORMAT_JSON);
	answer_begin(&answer, call);
	jsonw_raw(&answer.json, buf_span(&history->shown));
	members_object(&answer.json, "meta");
	paging_meta(&answer.json, call, &pages, paging_rows(&first, &pages),
	    PAGING_HOW_LIST);
	members_int(&answer.json, "total", history->total);
	err = feed_write_kept(
	    &answer.json, history->view, call->server->settings->trail_keep);
	members_names(
	    &answer.json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(&answer.json);
	return err == ERR_OK ? answer_end(&answer) : err;
}

static enum err
run(struct history *history)
{
	struct call *call = history->call;
	const struct listed *listed = history->listed;
	struct span named = call->params.fournisseur;
	enum err err;

	jsonw_array_begin(&history->json);
	err = find(history);
	jsonw_array_end(&history->json);
	if (err != ERR_OK)
		return err;
	if (history->total == 0 &&
	    (named.len > 0 ? !listed_has(listed, named) : listed->count == 0))
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    named.len > 0 ? "This supplier has no such article."
				  : "There is no such article.");
	return answer(history);
}

enum err
ep_history(struct call *call)
{
	struct history history = {
	    .call = call, .view = call->serving->views.state};
	struct listed *listed;
	struct paging pages;
	uint64_t tag[2], behind;
	enum err err = trail_behind(history.view, &behind);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK && behind > BEHIND_MAX && !call->request->slow_pool)
		return ensure_hand_over(call);
	if (err == ERR_OK)
		err = trail_last(history.view, &tag[0]);
	if (err == ERR_OK)
		err = listed_find(&listed, call);
	if (err != ERR_OK)
		return err;
	tag[1] = live_facts(call->serving->views.live);
	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 2, FORMAT_JSON))
		return ERR_ANSWERED;
	history.listed = listed;
	history.limit =
	    call->params.limit == 0 ? PAGING_LIMIT : call->params.limit;
	pages = paging_of(call->params.page, history.limit, INT64_MAX);
	paging_rows(&history.first, &pages);
	buf_init(&history.shown, SHOWN_MAX);
	jsonw_init(&history.json, &history.shown);
	err = run(&history);
	buf_fini(&history.shown);
	return err;
}
