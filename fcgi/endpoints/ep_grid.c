/*
 * GET /grid: rows of one supplier. A supplier without snapshot is computed, by
 * the slow pool.
 */
#include <assert.h>

#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/grid_answer.h"
#include "fcgi/endpoints/grid_since.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/negotiate.h"
#include "lmdb-schema/facts/live.h"

static enum err
send(struct call *call, struct snapview *view, bool computed)
{
	const struct params *params = &call->params;
	const struct snap_head *head = snapshot_head(view->pinned->snap);
	enum format format = negotiate_format(call);
	const uint64_t tag[] = {head->generation,
	    live_network_generation(call->serving->views.live),
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state, computed};
	struct rowset_query query;
	struct rowset set;
	enum err err;

	grid_answer_headers(call, view, format);
	if (etag_matches(call, tag, 5, format))
		return ERR_ANSWERED;
	if (params->since_generation != 0)
		return grid_since_send(call, view, computed);
	err = asked_rows(&query, call, params->search);
	if (err == ERR_OK)
		err = rowset_get(&set, view->pinned, view->ranges, &query,
		    params->page, params->limit);
	if (err != ERR_OK)
		return err;
	if (set.count > negotiate_rows(call, ROWSET_DUMP) &&
	    !call->request->slow_pool) {
		rowset_release(&set);
		return ensure_hand_over(call);
	}
	err = grid_answer_send(call,
	    &(struct grid_answer){.view = view,
		.set = &set,
		.pages = paging_of(params->page, params->limit, set.total),
		.format = format,
		.computed = computed});
	rowset_release(&set);
	return err;
}

enum err
ep_grid(struct call *call)
{
	struct snapview view;
	bool computed;
	enum err err = negotiate_check(call, negotiate_format(call));

	assert(call->params.page >= 1);
	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK && call->params.since_generation != 0)
		err = grid_since_check(call);
	if (err == ERR_OK)
		err = ensure_asked(&view, call, &computed);
	if (err != ERR_OK)
		return err;
	return snapview_close(&view, call, send(call, &view, computed));
}
