/*
 * GET /products/search: across all suppliers that have been computed, or one.
 *
 * The total is exact: every supplier is asked, those that other nodes keep of these
 * (search/gather.h).
 */
#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/members.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/fail.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/flat.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/across.h"
#include "fcgi/search/gather.h"
#include "fcgi/search/part_row.h"
#include "lmdb-schema/facts/live.h"

struct search {
	struct call *call;
	struct across across;
	struct gather *gather; /* from several nodes; NULL: from this one */
	int64_t suppliers, absent; /* searched, and not */
	uint64_t tag;
	struct paging pages;
	int64_t first, count; /* the page's rows, of all that match */
	bool elsewhere; /* where requests may take longer */
	enum splice_form form;
	struct flat *flat; /* NULL: rows are no cells */
};

/* --- finding -------------------------------------------------------------- */

/*
 * Of what is shown, the same from a node that has all suppliers and from one that asks
 * the others, but where some are absent: the two say so in other words.
 */
static uint64_t
tag_of(const struct search *search, uint64_t sum)
{
	const uint64_t parts[] = {(uint64_t)search->absent,
	    search->absent > 0 && search->call->server->keeps_part};

	return etag_mix(sum, parts, sizeof(parts));
}

/* Asks who has what, and goes to the page. */
static enum err
ask(struct search *search)
{
	struct call *call = search->call;
	int64_t limit =
	    call->params.limit == 0 ? PAGING_LIMIT : call->params.limit;
	enum err err = across_ask(&search->across, call->params.fournisseur);

	if (err != ERR_OK)
		return err;
	search->suppliers = search->across.suppliers;
	search->absent = search->across.absent;
	search->tag = tag_of(search, search->across.sum);
	search->pages =
	    paging_of(call->params.page, limit, search->across.total);
	search->count = paging_rows(&search->first, &search->pages);
	/* To pass over many rows takes as long as to show them. */
	search->elsewhere = search->count > 0 &&
	    search->first + search->count > negotiate_rows(call, ROWSET_DUMP) &&
	    !call->request->slow_pool;
	return search->elsewhere
	    ? ERR_OK
	    : across_seek(&search->across, search->first, search->count);
}

static enum err
find(struct search *search)
{
	enum err err = ask(search);

	/* A snapshot could not be opened: ask again, without its supplier. */
	return err == ERR_NOT_READY ? ask(search) : err;
}

/* --- of several nodes ------------------------------------------------------ */

#define TRIES 3

/* Whether rows that show something else may match, or stand elsewhere. */
static bool
is_steady(const struct rowset_query *query)
{
	return !query->pending && query->gamme == ROW_GAMME_NONE &&
	    query->condition_count == 0 && query->more_count == 0 &&
	    !row_is_gamme(rowset_column(query)) &&
	    (row_info[rowset_column(query)].flags & ROW_LIVE) == 0;
}

static enum err
own_part(struct buf *out, struct call *call,
    const struct part_question *question, void *context)
{
	const struct search *search = context;

	return part_search(out, call, &search->across.query, question);
}

/* As far as the page that is asked for, if there are as many rows. */
static uint64_t
rows_up_to(const struct params *params, int64_t limit)
{
	struct paging pages = paging_of(params->page, limit, UINT32_MAX);
	int64_t first, count = paging_rows(&first, &pages);

	return (uint64_t)(first + count);
}

static enum err
gather_once(struct search *search, const struct span *codes, unsigned count,
    int64_t absent)
{
	const struct params *params = &search->call->params;
	struct gather *gather = search->gather;
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	enum err err = gather_ask(
	    gather, codes, count, rows_up_to(params, limit), params->page == 1);

	if (err != ERR_OK)
		return err;
	search->suppliers = gather->suppliers;
	search->absent = absent + gather->absent;
	search->tag = tag_of(search, gather->sum);
	search->pages = paging_of(params->page, limit, gather->total);
	search->count = paging_rows(&search->first, &search->pages);
	return gather_seek(
	    gather, (uint64_t)search->first, (uint64_t)search->count);
}

/* Of the form that the answer has, separator and all. */
static enum err
add_gathered(struct search *search)
{
	struct call *call = search->call;
	struct iovbuf *body = &call->reply->body;
	struct span values[ROW_COLUMNS], text;
	enum err err = gather_next(search->gather, &text);

	if (err == ERR_OK && search->flat != NULL)
		err = part_row_read(values, text, call->serving->splice);
	if (err != ERR_OK)
		return err;
	if (search->flat != NULL)
		return flat_row_given(search->flat, values);
	iovbuf_add(body, text);
	iovbuf_add(body, search->form == SPLICE_JSON ? SPAN(",") : SPAN("\n"));
	return ERR_OK;
}

/* --- the answer ----------------------------------------------------------- */

/* Of several nodes: the ones that keep a supplier may be away. */
static int
elsewhere_text(char *text, size_t size, const struct search *search)
{
	long long absent = (long long)search->absent;
	bool one = absent == 1;

	if (request_french(search->call->request))
		return snprintf(text, size,
		    "%lld fournisseur%s n'%s pas été cherché%s : sans "
		    "snapshot, ou gardé%s par des nœuds qui ne répondent pas.",
		    absent, one ? "" : "s", one ? "a" : "ont", one ? "" : "s",
		    one ? "" : "s");
	return snprintf(text, size,
	    "%lld supplier%s not searched: without snapshot, or kept by nodes "
	    "that do not answer.",
	    absent, one ? " was" : "s were");
}

static int
absent_text(char *text, size_t size, const struct search *search)
{
	long long absent = (long long)search->absent;
	bool one = absent == 1;

	if (search->call->server->keeps_part)
		return elsewhere_text(text, size, search);
	if (request_french(search->call->request))
		return snprintf(text, size,
		    "%lld fournisseur%s sans snapshot : %s articles n'ont pas "
		    "été cherchés ; /grid les calcule un par un.",
		    absent, one ? "" : "s", one ? "ses" : "leurs");
	return snprintf(text, size,
	    "%lld supplier%s without snapshot: %s articles were not searched; "
	    "/grid computes them one by one.",
	    absent, one ? "" : "s", one ? "its" : "their");
}

/* Says what is left out: rows behind the limit, suppliers, or both. */
static void
add_warning(struct jsonw *json, const struct search *search)
{
	char text[2 * PAGING_WARNING_MAX];
	size_t len = 0;

	if (search->pages.more)
		len = paging_warning(text, search->call, &search->pages,
		    search->count, PAGING_HOW_LIST);
	if (search->pages.more && search->absent > 0)
		text[len++] = ' ';
	if (search->absent > 0)
		len +=
		    (size_t)absent_text(text + len, sizeof(text) - len, search);
	if (len > 0)
		members_text(json, "avertissement", span_make(text, len));
}

static void
add_meta(struct jsonw *json, const struct search *search)
{
	const struct params *params = &search->call->params;

	members_object(json, "meta");
	members_int(json, "fournisseurs", search->suppliers);
	members_int(json, "sansSnapshot", search->absent);
	members_bool(json, "complet", !search->pages.more);
	add_warning(json, search);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

static enum err
add_row(struct search *search, uint32_t row)
{
	struct call *call = search->call;

	if (search->flat != NULL)
		return flat_row(search->flat, row);
	return splice_row(call->serving->splice, row, &call->reply->body);
}

static enum err
add_rows(struct search *search)
{
	struct call *call = search->call;
	struct splice *splice = call->serving->splice;
	enum err err = ERR_OK;

	for (int64_t i = 0; i < search->count && err == ERR_OK; i++) {
		const struct snapview *view;
		uint32_t row;

		if (!reply_flush_row(call->reply, i))
			break; /* the reply has kept the failure */
		if (search->gather != NULL) {
			err = add_gathered(search);
			continue;
		}
		err = across_next(&search->across, &view, &row);
		if (err != ERR_OK)
			break;
		if (i == 0)
			splice_begin(splice, view->pinned->snap, view->ranges,
			    call->serving->views.live, call->params.enrich,
			    &call->params.fields, search->form);
		else
			splice_turn(splice, view->pinned->snap, view->ranges);
		err = snapview_blame(call, view, add_row(search, row));
	}
	return err;
}

static enum err
send_json(struct search *search)
{
	struct answer answer;
	enum err err, ended;

	answer_begin(&answer, search->call);
	jsonw_array_begin(&answer.json);
	answer_put(&answer);
	err = add_rows(search);
	if (search->count > 0)
		iovbuf_drop_last(&search->call->reply->body);
	jsonw_array_end(&answer.json);
	paging_member(&answer.json, &search->pages);
	add_meta(&answer.json, search);
	ended = answer_end(&answer);
	return err == ERR_OK ? ended : err;
}

static enum err
send_cells(struct search *search, enum format format)
{
	struct flat flat;
	enum err err = flat_begin(&flat, search->call, format, NULL);

	search->flat = &flat;
	if (err == ERR_OK)
		err = add_rows(search);
	if (err == ERR_OK)
		err = flat_end(&flat);
	search->flat = NULL;
	flat_fini(&flat);
	return err;
}

static enum err
send(struct search *search)
{
	struct call *call = search->call;
	enum format format = negotiate_format(call);
	const uint64_t tag[] = {
	    search->tag, live_network_generation(call->serving->views.live)};

	negotiate_headers(call, format, "products", call->params.fournisseur);
	if (etag_matches(call, tag, 2, format))
		return ERR_ANSWERED;
	if (search->elsewhere)
		return ensure_hand_over(call);
	paging_headers(call, &search->pages, format);
	if (format != FORMAT_JSON)
		reply_header(call->reply, "X-Sans-Snapshot", "%lld",
		    (long long)search->absent);
	splice_columns(call->serving->splice, &call->params.fields);
	if (search->count > negotiate_rows(call, ROWSET_GATHERED))
		reply_stream(call->reply, -1);
	search->form = format == FORMAT_JSON ? SPLICE_JSON : SPLICE_NDJSON;
	if (format == FORMAT_JSON)
		return send_json(search);
	return format_infos[format].flat ? send_cells(search, format)
					 : add_rows(search);
}

static bool
sorts_by_month(const struct params *params)
{
	bool found = false;

	for (unsigned i = 0; i < params->sorts.count; i++)
		found |= params->sorts.keys[i].month != 0;
	return found;
}

static enum err
make_query(struct rowset_query *query, struct call *call)
{
	enum err err = asked_rows(query, call, call->params.q);

	if (err == ERR_OK)
		err = negotiate_check(call, negotiate_format(call));
	if (err == ERR_OK && call->params.months == MONTHS_COLUMNS)
		return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "mois=%s is for the rows of one supplier, of /grid; here "
		    "mois=%s is possible",
		    FORMAT_COLUMNS_NAME, FORMAT_LINES_NAME);
	if (err == ERR_OK && sorts_by_month(&call->params))
		return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "A month to sort by is for the rows of one supplier, of "
		    "/grid: each supplier has its own months");
	if (err == ERR_OK && query->words.len == 0)
		return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "q has nothing to look for: give a word, or a part of "
		    "one");
	return err;
}

/*
 * A key that may see some suppliers asks one of them: the index of all words
 * knows nothing of keys.
 */
static enum err
check_seen(struct call *call)
{
	struct span *asked = &call->params.fournisseur;
	struct span only = call->subject.suppliers;

	if (only.len > 0 && asked->len == 0 &&
	    span_find(only, '\n') == only.len - 1)
		*asked = span_sub(only, 0, only.len - 1);
	if (only.len > 0 && asked->len == 0)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "This key may see some suppliers only: name one of them in "
		    "fournisseur; /fournisseurs lists them.");
	return call_sees(call, *asked) ? ERR_OK
				       : fail_no_supplier(call, *asked);
}

/* Rows may have to be asked for while they are sent. */
static enum err
gather(struct search *search)
{
	struct gather *gather = search->gather;
	struct span *codes = NULL;
	unsigned count = 0;
	int64_t absent = 0;
	enum err err = gather_begin(gather, search->call);

	gather->own = own_part;
	gather->context = search;
	gather->steady = is_steady(&search->across.query);
	if (err == ERR_OK)
		err = cover_suppliers(&codes, &count, &absent, gather->cover);
	if (err != ERR_OK)
		return err;
	err = ERR_BUSY;
	for (unsigned i = 0;
	     i < TRIES && err == ERR_BUSY && reply_restart(search->call->reply);
	     i++) {
		err = gather_once(search, codes, count, absent);
		if (err == ERR_OK)
			err = send(search);
	}
	return err;
}

static enum err
across_nodes(struct search *search)
{
	struct call *call = search->call;
	enum err err;

	/* A thread that serves pages waits for no other node. */
	if (!call->request->slow_pool)
		return ensure_hand_over(call);
	search->gather =
	    arena_alloc(call->serving->arena, sizeof(*search->gather));
	if (search->gather == NULL)
		return ERR_NO_MEMORY;
	err = gather(search);
	gather_end(search->gather);
	return err == ERR_BUSY && !call->reply->begun ? gather_refuse(call)
						      : err;
}

enum err
ep_search(struct call *call)
{
	struct search search = {.call = call};
	struct rowset_query query;
	enum err err = check_seen(call);

	assert(call->params.page >= 1);
	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = make_query(&query, call);
	if (err == ERR_OK)
		err = call->params.fournisseur.len > 0
		    ? holder_pass(call, call->params.fournisseur)
		    : holder_pass_import(call);
	if (err != ERR_OK)
		return err;
	across_begin(&search.across, call, &query);
	if (call->server->keeps_part && call->params.fournisseur.len == 0)
		return across_nodes(&search);
	err = find(&search);
	if (err == ERR_OK)
		err = send(&search);
	else if (err == ERR_NOT_FOUND)
		err = fail_no_supplier(call, call->params.fournisseur);
	across_end(&search.across);
	return err;
}
