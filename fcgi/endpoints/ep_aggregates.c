/*
 * GET /grid/aggregates: columns summed over a supplier's rows that match, by
 * groups, the greatest first sum first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/aggregate_cells.h"
#include "fcgi/endpoints/aggregate_value.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/http/members.h"
#include "fcgi/rows/aggregate.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/http/format.h"
#include "fcgi/table/lines.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

/* Rows whose maps are read one by one: longer than a page may take. */
#define MAPS_ROWS 5000

/* A group's cell, and what it is sorted by. */
struct line {
	uint32_t group;
	unsigned cell;
	bool null;
	__int128 sum;
};

struct summing {
	struct call *call;
	struct snapshot *snap;
	struct aggregate aggregate;
	struct line *lines;
	uint32_t count;
	uint32_t rows; /* that match */
	struct snapshot_terms brands;
	struct snapshot_stores stores;
	struct answer answer;
	enum format format;
};

/* --- lines ---------------------------------------------------------------- */

static bool
has_values(const struct aggregate *aggregate, const struct aggregate_value *at)
{
	for (unsigned i = 0; i < aggregate->columns.count; i++)
		if (at[i].count > 0)
			return true;
	return false;
}

/* A month or store without any value makes no line. */
static enum err
list_lines(struct summing *summing)
{
	const struct aggregate *aggregate = &summing->aggregate;
	unsigned cells = aggregate_cells(aggregate);
	bool all = !group_has_cells(&aggregate->groups);

	summing->lines = calloc(
	    (size_t)aggregate->count * cells + 1, sizeof(*summing->lines));
	if (summing->lines == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t group = 0; group < aggregate->count; group++)
		for (unsigned cell = 0; cell < cells; cell++) {
			const struct aggregate_value *at =
			    aggregate_at(aggregate, group, cell);

			if (all || has_values(aggregate, at))
				summing->lines[summing->count++] =
				    (struct line){group, cell, at[0].count == 0,
					at[0].sum};
		}
	return ERR_OK;
}

/* Sorts keep no order of equals: group and cell decide, as they were found. */
static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->null != y->null)
		return x->null - y->null;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static int
compare_ascending(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->null == y->null && x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return compare_lines(a, b);
}

/* --- values --------------------------------------------------------------- */

static void
add_values(struct summing *summing, const struct aggregate_value *values,
    const struct aggregate_value *totals)
{
	const struct value_list *columns = &summing->aggregate.columns;
	struct jsonw *json = &summing->answer.json;

	members_object(json, totals == NULL ? "totaux" : "valeurs");
	for (unsigned i = 0; i < columns->count; i++)
		aggregate_value_write(json, columns->columns[i], &values[i],
		    totals == NULL ? NULL : &totals[i]);
	jsonw_object_end(json);
}

/* --- keys ----------------------------------------------------------------- */

/* The label of a class; empty when it has none. */
static enum err
class_label(
    struct span *out, struct snapshot *snap, unsigned level, uint32_t code)
{
	struct snapshot_classes classes;
	uint32_t low = 0;

	*out = SPAN("");
	if (!snapshot_classes(snap, level, &classes))
		return ERR_DAMAGED;
	for (uint32_t high = classes.count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (classes.class[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < classes.count && classes.class[low].code == code)
		*out = snapshot_class_label(&classes, &classes.class[low]);
	return ERR_OK;
}

static enum err
add_class(struct summing *summing, enum group_key key, uint32_t code)
{
	const struct group_info *info = &group_infos[key];
	struct jsonw *json = &summing->answer.json;
	unsigned level = (unsigned)(key - GROUP_CODE1) + 1;
	struct span label = SPAN("");
	char text[16] = "";
	enum err err = ERR_OK;

	if (code != AGGREGATE_NONE) {
		snprintf(text, sizeof(text), "%0*u", (int)level * 2, code);
		err = class_label(&label, summing->snap, level, code);
	}
	members_null_text(json, info->name, span_of(text));
	members_null_text(json, info->label, label);
	return err;
}

static struct span
month_text(char text[DATE_TEXT_MAX], const struct summing *summing,
    const struct line *line)
{
	int32_t first =
	    snapshot_head(summing->snap)->last_month - (SCHEMA_MONTHS - 1);
	unsigned month = line->cell % summing->aggregate.months;

	return span_make(text, date_month_text(text, first + (int32_t)month));
}

static enum err
add_key(struct summing *summing, const struct line *line, enum group_key key)
{
	static const char *const trends[] = {"", "up", "down", "flat"};
	const struct aggregate *aggregate = &summing->aggregate;
	uint32_t value = aggregate_key(aggregate, line->group, key);
	bool none = value == AGGREGATE_NONE;
	const char *name = group_infos[key].name;
	struct jsonw *json = &summing->answer.json;
	char text[DATE_TEXT_MAX];

	switch (key) {
	case GROUP_MARQUE:
		members_null_text(json, name,
		    none ? SPAN("") : snapshot_term(&summing->brands, value));
		return ERR_OK;
	case GROUP_GAMME:
		members_gamme(
		    json, name, none ? ROW_GAMME_NONE : (uint8_t)value);
		return ERR_OK;
	case GROUP_TREND:
		members_null_text(
		    json, name, span_of(none ? "" : trends[value % 4]));
		return ERR_OK;
	case GROUP_MONTH:
		members_text(json, name, month_text(text, summing, line));
		return ERR_OK;
	case GROUP_STORE:
		members_text(json, name,
		    snapshot_store_code(
			&summing->stores, line->cell / aggregate->months));
		return ERR_OK;
	default:
		return add_class(summing, key, value);
	}
}

/* --- the answer ----------------------------------------------------------- */

static enum err
add_line(struct summing *summing, const struct line *line)
{
	const struct aggregate *aggregate = &summing->aggregate;
	struct jsonw *json = &summing->answer.json;
	enum err err = ERR_OK;

	jsonw_object_begin(json);
	for (unsigned i = 0; i < aggregate->groups.count && err == ERR_OK; i++)
		err = add_key(summing, line, aggregate->groups.keys[i]);
	members_int(json, "articles", aggregate->articles[line->group]);
	add_values(summing, aggregate_at(aggregate, line->group, line->cell),
	    aggregate->totals);
	jsonw_object_end(json);
	return err;
}

static void
add_meta(struct summing *summing, const struct paging *pages, bool computed)
{
	const struct params *params = &summing->call->params;
	const struct snap_head *head = snapshot_head(summing->snap);
	struct jsonw *json = &summing->answer.json;
	char generation[KEY_GENERATION_LEN + 1];
	int64_t first;

	key_generation_text(generation, head->generation);
	members_object(json, "meta");
	paging_meta(json, summing->call, pages, paging_rows(&first, pages),
	    PAGING_HOW_LIST);
	members_bool(json, "computedOnDemand", computed);
	members_int(json, "articles", summing->rows);
	add_values(summing, summing->aggregate.totals, NULL);
	members_text(json, "snapshot", span_of(generation));
	members_time(json, "computedAt", head->computed_ms);
	answer_days(json, head);
	members_text(json, "codeFournisseur", snapshot_supplier(summing->snap));
	members_null_text(json, "nomFournisseur", snapshot_name(summing->snap));
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

static enum err
add_lines(
    struct summing *summing, struct lines *lines, int64_t first, int64_t shown)
{
	struct buf *text = &summing->call->serving->text;
	enum err err = ERR_OK;

	for (int64_t i = first; i < first + shown && err == ERR_OK; i++) {
		buf_clear(text);
		jsonw_init(&summing->answer.json, text);
		err = add_line(summing, &summing->lines[i]);
		if (err == ERR_OK)
			err = jsonw_end(&summing->answer.json);
		if (err == ERR_OK)
			err = lines_add(lines, buf_span(text));
	}
	return err == ERR_OK ? lines_end(lines) : err;
}

/* Lines of a page as NDJSON, or as cells. */
static enum err
answer_lines(struct summing *summing, int64_t first, int64_t shown)
{
	struct table_column columns[AGGREGATE_CELLS_MAX];
	struct reply *reply = summing->call->reply;
	struct lines lines = {0};
	unsigned count;
	enum err err = aggregate_cell_columns(columns, &count,
	    &summing->aggregate, summing->call->serving->arena);

	if (err == ERR_OK)
		err =
		    lines_begin(&lines, summing->format, reply, columns, count);
	if (err == ERR_OK && shown > ROWSET_GATHERED)
		reply_stream(reply, -1);
	if (err == ERR_OK)
		err = add_lines(summing, &lines, first, shown);
	lines_fini(&lines);
	return err;
}

static enum err
answer(struct summing *summing, bool computed)
{
	const struct params *params = &summing->call->params;
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct paging pages = paging_of(params->page, limit, summing->count);
	struct reply *reply = summing->call->reply;
	struct jsonw *json = &summing->answer.json;
	int64_t first, shown = paging_rows(&first, &pages);
	enum err err = ERR_OK, ended;

	paging_headers(summing->call, &pages, summing->format);
	if (summing->format != FORMAT_JSON)
		return answer_lines(summing, first, shown);
	if (shown > ROWSET_GATHERED)
		reply_stream(reply, -1);
	answer_begin(&summing->answer, summing->call);
	jsonw_array_begin(json);
	for (int64_t i = 0; i < shown && err == ERR_OK; i++) {
		if (!reply_flush_row(reply, i))
			break; /* the reply has kept the failure */
		err = add_line(summing, &summing->lines[first + i]);
		if (reply->streaming)
			answer_put(&summing->answer);
	}
	jsonw_array_end(json);
	paging_member(json, &pages);
	add_meta(summing, &pages, computed);
	ended = answer_end(&summing->answer);
	return err == ERR_OK ? ended : err;
}

/* --- summing -------------------------------------------------------------- */

static enum err
refuse_size(struct call *call)
{
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
	    "groups makes too many groups: take fewer or coarser ones, or "
	    "narrow the rows by filters.");
}

/* Brands and stores by their names, as the keys need them. */
static enum err
find_names(struct summing *summing)
{
	const struct group_list *groups = &summing->aggregate.groups;

	if (group_has(groups, GROUP_MARQUE) &&
	    !snapshot_terms(summing->snap, COL_marque, &summing->brands))
		return ERR_DAMAGED;
	if (group_has(groups, GROUP_STORE) &&
	    !snapshot_stores(summing->snap, &summing->stores))
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
sum(struct summing *summing, struct snapview *view,
    const struct rowset_query *query, const struct rowset *set, bool computed)
{
	const struct call *call = summing->call;
	bool descending = call->params.descending;
	enum err err = aggregate_make(&summing->aggregate, set->order,
	    set->total, summing->snap, view->ranges, query,
	    call->request->slow_pool ? call->serving->server->figures : NULL);

	summing->rows = set->total;
	if (err == ERR_TOO_LARGE && !call->request->slow_pool)
		return ensure_hand_over(summing->call);
	if (err == ERR_TOO_LARGE)
		return refuse_size(summing->call);
	if (err == ERR_OK)
		err = find_names(summing);
	if (err == ERR_OK)
		err = list_lines(summing);
	if (err != ERR_OK)
		return err;
	qsort(summing->lines, summing->count, sizeof(*summing->lines),
	    descending ? compare_lines : compare_ascending);
	return answer(summing, computed);
}

static enum err
send(struct call *call, struct snapview *view, bool computed)
{
	const struct params *params = &call->params;
	const struct snap_head *head = snapshot_head(view->pinned->snap);
	const uint64_t tag[] = {head->generation,
	    live_network_generation(call->serving->views.live),
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state, computed};
	bool maps = group_has(&params->groups, GROUP_STORE) &&
	    (group_has(&params->groups, GROUP_MONTH) ||
		!snapshot_has_stores(view->pinned->snap));
	struct summing summing = {.call = call,
	    .snap = view->pinned->snap,
	    .aggregate = {.groups = params->groups,
		.columns = params->values,
		.most = call->request->slow_pool ? AGGREGATE_VALUES_MAX
						 : AGGREGATE_VALUES_FEW},
	    .format = negotiate_format(call)};
	struct rowset_query query;
	struct rowset set;
	enum err err;

	negotiate_headers(
	    call, summing.format, "aggregates", params->fournisseur);
	if (etag_matches(call, tag, 5, summing.format))
		return ERR_ANSWERED;
	err = asked_rows(&query, call, params->search);
	/* The order of the request is that of the groups. */
	query.descending = true;
	if (err == ERR_OK)
		err =
		    rowset_get(&set, view->pinned, view->ranges, &query, 1, 0);
	if (err != ERR_OK)
		return err;
	if (maps && set.total > MAPS_ROWS && !call->request->slow_pool)
		err = ensure_hand_over(call);
	else
		err = sum(&summing, view, &query, &set, computed);
	aggregate_fini(&summing.aggregate);
	free(summing.lines);
	rowset_release(&set);
	return err;
}

enum err
ep_aggregates(struct call *call)
{
	struct snapview view;
	bool computed;
	enum err err = ensure_asked(&view, call, &computed);

	if (err != ERR_OK)
		return err;
	return snapview_close(&view, call, send(call, &view, computed));
}
