/*
 * POST /products/lookup: the rows of many articles of one supplier, named by
 * codein or by GTIN. It reads; a body holds what no address has room for.
 *
 *	body -> codes -> a mask over the rows -> filters, sort, page -> /grid's
 *	answer, with the codes that were not found
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/grid_answer.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/match.h"
#include "fcgi/rows/negotiate.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

#define CODES_MAX 10000

struct lookup {
	struct call *call;
	struct jsonr *doc;
	bool by_gtin;
	struct codemap *codes; /* each once, in the order of the request */
	bool *found; /* by their numbers */
	struct span *missing;
	unsigned missing_count;
	uint32_t *rows; /* that have one of the codes, and match */
	uint32_t count;
};

/* --- the body ------------------------------------------------------------- */

static enum err
take_codes(struct lookup *lookup, const struct jsonr_value *list,
    const char *name, size_t count)
{
	enum err err = ERR_OK;

	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		char path[32];
		struct span code;
		uint32_t number;

		snprintf(path, sizeof(path), "%s[%zu]", name, i);
		if (!body_code(lookup->doc, &code, jsonr_at(list, i), path))
			continue;
		err = codemap_add(lookup->codes, code, &number);
		err = err == ERR_EXISTS ? ERR_OK : err;
	}
	return err;
}

/* Issues are noted in the document, and no failure. */
static enum err
read_body(struct lookup *lookup, const struct jsonr_value *root)
{
	static const char *const names[] = {"codein", "gtin"};
	const struct jsonr_value *list;
	struct jsonr *doc = lookup->doc;
	const char *name;

	jsonr_only(doc, root, "", names, 2);
	lookup->by_gtin =
	    jsonr_type(jsonr_member(root, "codein")) == JSONR_ABSENT;
	name = names[lookup->by_gtin];
	list = jsonr_member(root, name);
	if (jsonr_type(list) == JSONR_ABSENT ||
	    (!lookup->by_gtin &&
		jsonr_type(jsonr_member(root, "gtin")) != JSONR_ABSENT)) {
		jsonr_issue(doc, "", "must have one of codein and gtin");
		return ERR_OK;
	}
	return take_codes(
	    lookup, list, name, body_array(doc, list, name, 1, CODES_MAX));
}

/* --- finding -------------------------------------------------------------- */

/* In the order of the codes, so that each search begins at the one before. */
static enum err
find_codeins(struct lookup *lookup, struct snapshot *snap, uint8_t *mask)
{
	uint32_t *sorted = codemap_sorted(lookup->codes);
	uint32_t row, place = 0;
	enum err err = sorted == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < codemap_count(lookup->codes) && err == ERR_OK;
	     i++) {
		err = snapshot_find_next(
		    snap, codemap_code(lookup->codes, sorted[i]), &place, &row);
		if (err == ERR_OK) {
			lookup->found[sorted[i]] = true;
			mask[row] = 1;
		}
		err = err == ERR_NOT_FOUND ? ERR_OK : err;
	}
	free(sorted);
	return err;
}

/* The terms of the column that were asked for; ERR_DAMAGED. */
static enum err
find_terms(
    struct lookup *lookup, const struct snapshot_terms *terms, uint8_t *wanted)
{
	for (uint32_t i = 0; i < codemap_count(lookup->codes); i++) {
		struct span gtin = codemap_code(lookup->codes, i), folded;
		enum err err = call_fold(&folded, lookup->call, gtin);
		uint32_t term;

		if (err != ERR_OK)
			return err;
		term = snapshot_term_find(terms, gtin, folded);
		if (term == SNAP_NO_TERM)
			continue;
		if (term >= terms->count)
			return ERR_DAMAGED;
		wanted[term] = 1;
		lookup->found[i] = true;
	}
	return ERR_OK;
}

/* Several articles may have one GTIN: all of them are found. */
static enum err
find_gtins(struct lookup *lookup, struct snapshot *snap, uint8_t *mask)
{
	struct snapshot_terms terms;
	uint8_t *wanted;
	enum err err;

	if (!snapshot_terms(snap, COL_gtin, &terms))
		return ERR_DAMAGED;
	wanted = calloc(terms.count + 1u, 1);
	if (wanted == NULL)
		return ERR_NO_MEMORY;
	err = find_terms(lookup, &terms, wanted);
	for (uint32_t row = 0; row < snapshot_rows(snap) && err == ERR_OK;
	     row++) {
		uint32_t term = snapshot_term_of(&terms, row);

		mask[row] = term != SNAP_NO_TERM && wanted[term] != 0;
	}
	free(wanted);
	return err;
}

static enum err
list_missing(struct lookup *lookup)
{
	uint32_t count = codemap_count(lookup->codes);

	lookup->missing = arena_array(
	    lookup->call->serving->arena, count + 1, sizeof(*lookup->missing));
	if (lookup->missing == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		if (!lookup->found[i])
			lookup->missing[lookup->missing_count++] =
			    codemap_code(lookup->codes, i);
	return ERR_OK;
}

static enum err
find_marked(struct lookup *lookup, struct snapshot *snap, uint8_t *mask)
{
	uint32_t rows = snapshot_rows(snap);
	enum err err = lookup->by_gtin ? find_gtins(lookup, snap, mask)
				       : find_codeins(lookup, snap, mask);

	for (uint32_t row = 0; row < rows && err == ERR_OK; row++)
		if (mask[row] != 0)
			lookup->rows[lookup->count++] = row;
	return err;
}

static enum err
find(struct lookup *lookup, const struct snapview *view)
{
	struct snapshot *snap = view->pinned->snap;
	uint32_t rows = snapshot_rows(snap);
	uint8_t *mask = calloc(rows + 1u, 1);
	struct rowset_query query = {.sort = -1};
	enum err err = ERR_NO_MEMORY;

	lookup->found = arena_array(lookup->call->serving->arena,
	    codemap_count(lookup->codes) + 1, sizeof(*lookup->found));
	lookup->rows = malloc((rows + 1u) * sizeof(*lookup->rows));
	if (mask != NULL && lookup->found != NULL && lookup->rows != NULL)
		err = find_marked(lookup, snap, mask);
	free(mask);
	if (err == ERR_OK)
		err = list_missing(lookup);
	if (err == ERR_OK)
		err = asked_rows(&query, lookup->call, SPAN(""));
	if (err == ERR_OK && match_asks_columns(&query))
		err = match_keep(
		    lookup->rows, &lookup->count, snap, view->ranges, &query);
	return err == ERR_OK ? rowset_order(lookup->rows, lookup->count, snap,
				   view->ranges, &query)
			     : err;
}

/* --- the answer ----------------------------------------------------------- */

static enum err
send(struct lookup *lookup, struct snapview *view, bool computed)
{
	struct call *call = lookup->call;
	const struct params *params = &call->params;
	struct grid_answer answer = {.view = view,
	    .pages = paging_of(params->page, params->limit, lookup->count),
	    .format = negotiate_format(call),
	    .computed = computed,
	    .missing = lookup->missing,
	    .missing_count = lookup->missing_count};
	struct rowset set;

	rowset_of(
	    &set, lookup->rows, lookup->count, params->page, params->limit);
	answer.set = &set;
	if (set.count > negotiate_rows(call, ROWSET_DUMP) &&
	    !call->request->slow_pool)
		return ensure_hand_over(call);
	grid_answer_headers(call, view, answer.format);
	reply_header_text(call->reply, "Cache-Control", SPAN("no-store"));
	return grid_answer_send(call, &answer);
}

static enum err
answer(struct lookup *lookup)
{
	struct call *call = lookup->call;
	struct snapview view;
	bool computed;
	enum err err = ensure_asked(&view, call, &computed);

	if (err != ERR_OK)
		return err;
	err = find(lookup, &view);
	if (err == ERR_OK)
		err = send(lookup, &view, computed);
	return snapview_close(&view, call, err);
}

enum err
ep_lookup(struct call *call)
{
	struct lookup lookup = {.call = call};
	enum err err = negotiate_check(call, negotiate_format(call));

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = body_open(&lookup.doc, call);
	if (err != ERR_OK)
		return err;
	lookup.codes = codemap_new();
	err = lookup.codes == NULL ? ERR_NO_MEMORY
				   : read_body(&lookup, jsonr_root(lookup.doc));
	if (err == ERR_OK)
		err = body_check(call, lookup.doc);
	if (err == ERR_OK)
		err = answer(&lookup);
	free(lookup.rows);
	codemap_free(lookup.codes);
	jsonr_free(lookup.doc);
	return err;
}
