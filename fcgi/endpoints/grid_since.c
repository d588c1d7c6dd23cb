#include "fcgi/endpoints/grid_since.h"

#include <assert.h>

#include "fcgi/call.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/grid_answer.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/match.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/since.h"

/* To compare more rows takes too long for the pool of pages. */
#define ROWS_AT_ONCE 2048

static bool
has_filter(const struct params *params)
{
	for (unsigned i = 0; i < 4; i++)
		if (params->codes[i].code != PARAMS_NO_CODE)
			return true;
	return params->search.len > 0 || params->gamme != ROW_GAMME_NONE ||
	    params->pending || params->condition_count > 0;
}

enum err
grid_since_check(struct call *call)
{
	assert(call->params.since_generation != 0);
	if (!has_filter(&call->params))
		return ERR_OK;
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
	    "depuis goes without filters: a row that leaves a filter would be "
	    "neither changed nor gone. Filter what comes, or ask without "
	    "depuis.");
}

static enum err
fail_gone(struct call *call)
{
	return reply_fail(call->reply, 404, CODE_NOT_FOUND,
	    "The generation that depuis names is not kept any more: fetch all "
	    "rows, without depuis.");
}

static enum err
find(struct since *since, struct call *call, struct snapview *view,
    const struct snapview *then)
{
	enum err err =
	    since_find(since, view->pinned, then->pinned, &call->params.fields);
	struct rowset_query query;

	if (err == ERR_OK)
		err = asked_rows(&query, call, SPAN(""));
	return err == ERR_OK ? rowset_order(since->rows, since->count,
				   view->pinned->snap, view->ranges, &query)
			     : err;
}

static enum err
send(struct call *call, struct snapview *view, const struct since *since,
    bool computed)
{
	const struct params *params = &call->params;
	struct grid_answer answer = {.view = view,
	    .pages = paging_of(params->page, params->limit, since->count),
	    .format = negotiate_format(call),
	    .computed = computed,
	    .since = since};
	struct rowset set;

	rowset_of(&set, since->rows, since->count, params->page, params->limit);
	answer.set = &set;
	return grid_answer_send(call, &answer);
}

enum err
grid_since_send(struct call *call, struct snapview *view, bool computed)
{
	struct since since = {.count = 0};
	struct snapview then;
	enum err err;

	if (snapshot_rows(view->pinned->snap) > ROWS_AT_ONCE &&
	    !call->request->slow_pool)
		return ensure_hand_over(call);
	err = snapview_pin(&then, call, snapshot_supplier(view->pinned->snap),
	    call->params.since_generation);
	if (err == ERR_NOT_FOUND || err == ERR_NOT_READY || err == ERR_DAMAGED)
		return fail_gone(call);
	if (err != ERR_OK)
		return err;
	err = find(&since, call, view, &then);
	if (snapshot_is_damaged(then.pinned->snap)) {
		snapview_drop(&then, call, ERR_DAMAGED);
		err = err == ERR_DAMAGED &&
			!snapshot_is_damaged(view->pinned->snap)
		    ? fail_gone(call)
		    : err;
	} else
		snapview_drop(&then, call, ERR_OK);
	if (err == ERR_OK)
		err = send(call, view, &since, computed);
	since_fini(&since);
	return err;
}
