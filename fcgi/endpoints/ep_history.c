/*
 * GET /products/{codein}/gammes: what happened to the ranges of one article, at
 * one supplier or at all of them.
 */
#include <assert.h>
#include <stdlib.h>

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

struct history {
	struct call *call;
	struct state_view *view;
	struct trail_numbers numbers;
};

/* An article that is no longer listed has its history by its supplier's name. */
static enum err
find(struct history *history, const struct listed *listed)
{
	struct call *call = history->call;
	struct span named = call->params.fournisseur;
	enum err err = ERR_OK;

	if (named.len > 0 && call_sees(call, named))
		err = trail_of(history->view, named, call->path[0],
		    trail_numbers_add, &history->numbers);
	for (unsigned i = 0;
	     i < listed->count && named.len == 0 && err == ERR_OK; i++)
		err = trail_of(history->view, listed->codes[i], call->path[0],
		    trail_numbers_add, &history->numbers);
	trail_numbers_sort(&history->numbers);
	return err;
}

static enum err
add_entries(
    struct history *history, struct jsonw *json, const struct paging *pages)
{
	bool newest_first = history->call->params.descending;
	int64_t first, count = paging_rows(&first, pages);
	enum err err = ERR_OK;

	for (int64_t i = first; i < first + count && err == ERR_OK; i++) {
		size_t place = newest_first
		    ? history->numbers.count - 1 - (size_t)i
		    : (size_t)i;
		struct audit_entry entry;

		err = trail_get(
		    history->view, history->numbers.at[place], &entry);
		if (err == ERR_OK && feed_entry_state(&entry) != 0)
			feed_entry_write(json, &entry);
	}
	return err;
}

static enum err
answer(struct history *history)
{
	struct call *call = history->call;
	const struct params *params = &call->params;
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct paging pages =
	    paging_of(params->page, limit, (int64_t)history->numbers.count);
	struct answer answer;
	int64_t first;
	enum err err;

	paging_headers(call, &pages, FORMAT_JSON);
	answer_begin(&answer, call);
	jsonw_array_begin(&answer.json);
	err = add_entries(history, &answer.json, &pages);
	jsonw_array_end(&answer.json);
	members_object(&answer.json, "meta");
	paging_meta(&answer.json, call, &pages, paging_rows(&first, &pages),
	    PAGING_HOW_LIST);
	members_int(&answer.json, "total", (int64_t)history->numbers.count);
	if (err == ERR_OK)
		err = feed_write_kept(&answer.json, history->view,
		    call->server->settings->trail_keep);
	members_names(
	    &answer.json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(&answer.json);
	return err == ERR_OK ? answer_end(&answer) : err;
}

static enum err
run(struct history *history, const struct listed *listed)
{
	struct call *call = history->call;
	struct span named = call->params.fournisseur;
	enum err err = find(history, listed);

	if (err != ERR_OK)
		return err;
	if (history->numbers.count == 0 &&
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
	err = run(&history, listed);
	free(history.numbers.at);
	return err;
}
