/*
 * GET /products/search: across all suppliers that have been computed, or one.
 *
 * Each supplier's matches come in the order asked for; the page is cut out of
 * their merge. The total is exact: every supplier is asked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/fold.h"
#include "common/num.h"
#include "fcgi/endpoint.h"
#include "fcgi/match.h"
#include "fcgi/ready.h"
#include "fcgi/roster.h"
#include "lmdb-schema/order.h"

#define DEFAULT_LIMIT 100

/* One supplier's matches, and how far the merge has come in them. */
struct stream {
	const struct rows_view *view;
	const uint32_t *rows; /* in the order asked for */
	uint32_t count, at;
	uint32_t row; /* the one at `at` */
	const int64_t *numbers; /* the column, when it is one of numbers */
	int64_t number; /* its sort value */
	struct buf text; /* the same for text columns, folded */
	bool null;
};

/* Of each part of the roster. */
struct found {
	uint32_t *rows;
	struct found *before;
};

struct search {
	struct call *call;
	struct rowset_query query;
	unsigned column; /* that is sorted by */
	struct stream *streams;
	unsigned count, room;
	struct found *found; /* the streams' rows */
	struct stream **heap;
	int64_t total;
	int64_t suppliers; /* asked */
	int64_t absent; /* never computed, or not to be read */
	uint64_t tag; /* of all that they showed */
};

/* --- gathering ------------------------------------------------------------ */

/* Room for so many streams more; the old ones go with the request. */
static enum err
need_streams(struct search *search, unsigned more)
{
	unsigned room = search->count + more;
	struct stream *streams;

	if (room <= search->room)
		return ERR_OK;
	if (search->count > 0)
		room *= 2; /* there will be further parts */
	streams =
	    arena_array(search->call->serving->arena, room, sizeof(*streams));
	if (streams == NULL)
		return ERR_NO_MEMORY;
	if (search->count > 0)
		memcpy(
		    streams, search->streams, search->count * sizeof(*streams));
	search->streams = streams;
	search->room = room;
	return ERR_OK;
}

/* What one supplier has, in the order asked for, as a stream. */
static enum err
add_stream(struct search *search, const struct rows_view *view, uint32_t *rows,
    uint32_t count)
{
	struct stream *stream = &search->streams[search->count];
	struct snapshot *snap = view->pinned->snap;
	enum err err =
	    match_keep(rows, &count, snap, view->ranges, &search->query);

	if (err == ERR_OK && count > 1)
		err = rowset_order(rows, count, snap, &search->query);
	if (err != ERR_OK || count == 0)
		return err;
	memset(stream, 0, sizeof(*stream));
	buf_init(&stream->text, 1 << 16);
	stream->view = view;
	stream->rows = rows;
	stream->count = count;
	search->count++;
	search->total += count;
	return ERR_OK;
}

/* The streams of those that have a match. */
static enum err
add_streams(struct search *search, const struct roster *roster,
    const struct match_slice *slices, uint32_t *rows)
{
	unsigned more = 0;
	enum err err;

	for (unsigned i = 0; i < roster->count; i++)
		more += slices[i].count > 0;
	err = need_streams(search, more);
	for (unsigned i = 0; i < roster->count && err == ERR_OK; i++)
		if (slices[i].count > 0)
			err = rows_blame(search->call, &roster->views[i],
			    add_stream(search, &roster->views[i],
				rows + slices[i].first, slices[i].count));
	return err;
}

/* The rows are kept until the search ends. */
static enum err
keep_rows(struct search *search, uint32_t *rows)
{
	struct found *found =
	    arena_alloc(search->call->serving->arena, sizeof(*found));

	if (found == NULL) {
		free(rows);
		return ERR_NO_MEMORY;
	}
	*found = (struct found){rows, search->found};
	search->found = found;
	return ERR_OK;
}

static enum err
ask(struct search *search, const struct roster *roster)
{
	struct match_slice *slices = arena_array(search->call->serving->arena,
	    roster->count + (size_t)1, sizeof(*slices));
	struct match_rows rows = {NULL, 0, 0};
	unsigned blame = 0;
	enum err err, kept;

	if (slices == NULL)
		return ERR_NO_MEMORY;
	err = match_each(&rows, slices, roster->hays, roster->count,
	    search->query.words, &blame);
	if (err != ERR_OK && roster->count > 0)
		rows_blame(search->call, &roster->views[blame], err);
	kept = keep_rows(search, rows.rows);
	if (err == ERR_OK)
		err = kept;
	if (err == ERR_OK)
		err = add_streams(search, roster, slices, rows.rows);
	search->suppliers += roster->count;
	search->absent += roster->absent;
	search->tag = rows_mix(search->tag, &roster->tag, sizeof(roster->tag));
	return err;
}

/* Rows of it may be in the answer when it has a match. */
static enum err
ask_part(struct search *search, struct roster *roster)
{
	unsigned before = search->count;
	enum err err = ask(search, roster);

	if (search->count > before) {
		enum err held = roster_hold(roster, search->call);

		return err == ERR_OK ? held : err;
	}
	roster_release(roster);
	return err;
}

static enum err
ask_all(struct search *search)
{
	unsigned from = 0;
	enum err err;

	do {
		struct roster *roster;

		err = roster_all(&roster, search->call, from);
		if (err != ERR_OK)
			return err;
		from = roster->next;
		err = ask_part(search, roster);
	} while (err == ERR_OK && from > 0);
	return err;
}

/* --- the merge
 * ------------------------------------------------------------------ */

/* The text between the quotes of a JSON string, folded as sorts are. */
static void
fold_json(struct buf *out, struct span json, struct buf *plain)
{
	buf_clear(plain);
	for (size_t i = 1; i + 1 < json.len; i++) {
		if (json.ptr[i] == '\\' && i + 2 < json.len)
			i++;
		buf_add_char(plain, json.ptr[i]);
	}
	buf_clear(out);
	fold_add(out, buf_span(plain));
}

/* Reads the sort value of the row that the stream stands on. */
static enum err
load(struct search *search, struct stream *stream)
{
	struct snapshot *snap = stream->view->pinned->snap;
	struct span value;

	stream->row = stream->rows[stream->at];
	if (row_is_number(search->column)) {
		if (stream->numbers == NULL)
			return ERR_DAMAGED;
		stream->number = stream->numbers[stream->row];
		stream->null = stream->number == NUM_NULL;
		return ERR_OK;
	}
	value = snapshot_value(snap, stream->row, search->column);
	if (value.len == 0)
		return ERR_DAMAGED;
	stream->null = value.ptr[0] != '"';
	fold_json(&stream->text, stream->null ? SPAN("\"\"") : value,
	    &search->call->serving->message);
	return buf_end(&stream->text);
}

/* The text between the quotes: a quote would sort after a blank. */
static struct span
codein_of(const struct stream *stream)
{
	struct span json =
	    snapshot_value(stream->view->pinned->snap, stream->row, COL_codein);

	return span_sub(json, 1, json.len < 2 ? 0 : json.len - 2);
}

/* True when `a` comes first: nulls last, ties by codein, then by supplier. */
static bool
before(
    const struct search *search, const struct stream *a, const struct stream *b)
{
	int way = 0;

	if (a->null != b->null)
		return b->null;
	if (!a->null && row_is_number(search->column))
		way = a->number < b->number ? -1 : a->number > b->number;
	else if (!a->null)
		way = span_cmp(buf_span(&a->text), buf_span(&b->text));
	if (way != 0)
		return search->query.descending ? way > 0 : way < 0;
	way = span_cmp(codein_of(a), codein_of(b));
	return way != 0 ? way < 0 : a < b;
}

static void
sift_down(struct search *search, unsigned at, unsigned count)
{
	struct stream **heap = search->heap;

	for (;;) {
		unsigned child = 2 * at + 1;
		struct stream *swap;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    before(search, heap[child + 1], heap[child]))
			child++;
		if (!before(search, heap[child], heap[at]))
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

/* Each stream's first number lies elsewhere: all are asked for at once. */
static void
find_numbers(struct search *search)
{
	for (unsigned i = 0; i < search->count; i++) {
		struct stream *stream = &search->streams[i];

		stream->numbers = snapshot_numbers(
		    stream->view->pinned->snap, search->column);
		if (stream->numbers != NULL)
			__builtin_prefetch(stream->numbers + stream->rows[0]);
	}
}

static enum err
build_heap(struct search *search)
{
	enum err err = ERR_OK;

	search->heap = arena_array(search->call->serving->arena,
	    search->count + (size_t)1, sizeof(*search->heap));
	if (search->heap == NULL)
		return ERR_NO_MEMORY;
	if (row_is_number(search->column))
		find_numbers(search);
	for (unsigned i = 0; i < search->count && err == ERR_OK; i++) {
		search->heap[i] = &search->streams[i];
		err = rows_blame(search->call, search->streams[i].view,
		    load(search, search->heap[i]));
	}
	for (unsigned i = search->count / 2; i > 0 && err == ERR_OK; i--)
		sift_down(search, i - 1, search->count);
	return err;
}

static enum err
add_row(struct search *search, struct stream *stream)
{
	struct call *call = search->call;
	struct splice *splice = &call->serving->splice;

	splice_turn(splice, stream->view->pinned->snap, stream->view->ranges);
	return splice_row(splice, stream->row, &call->reply->body);
}

/* Passes over `first` rows, then adds `count`. */
static enum err
merge(struct search *search, int64_t first, int64_t count)
{
	struct call *call = search->call;
	const struct rows_view *any = search->streams[0].view;
	unsigned left = search->count;
	enum err err = build_heap(search);

	splice_begin(&call->serving->splice, any->pinned->snap, any->ranges,
	    call->serving->live, call->params.enrich, &call->params.fields,
	    rows_form(call->request));
	for (int64_t i = 0; i < first + count && left > 0 && err == ERR_OK;
	     i++) {
		struct stream *top = search->heap[0];

		if (i >= first) {
			if (!rows_flush(call, i - first))
				break; /* the reply has kept the failure */
			err = add_row(search, top);
		}
		if (err == ERR_OK && ++top->at < top->count)
			err = load(search, top);
		else
			search->heap[0] = search->heap[--left];
		rows_blame(call, top->view, err);
		sift_down(search, 0, left);
	}
	return err;
}

/* --- the answer
 * -------------------------------------------------------------------- */

/* How many rows the page shows, and how many come before it. */
static int64_t
page_of(int64_t *first, const struct rows_pages *pages)
{
	__int128 before = (__int128)(pages->page - 1) * pages->limit;

	*first = before < pages->total ? (int64_t)before : pages->total;
	return pages->total - *first < pages->limit ? pages->total - *first
						    : pages->limit;
}

static void
add_meta(struct pieces *body, const struct search *search,
    const struct rows_pages *pages)
{
	char text[160];

	pieces_text(body, ",\"meta\":{\"fournisseurs\":");
	rows_int(body, search->suppliers);
	rows_member_int(body, "sansSnapshot", search->absent);
	rows_member_bool(body, "complet", !pages->more);
	if (search->absent > 0) {
		snprintf(text, sizeof(text),
		    "%lld fournisseur(s) sans snapshot : leurs articles n'ont "
		    "pas été cherchés ; /grid les calcule un "
		    "par un.",
		    (long long)search->absent);
		rows_member_text(body, "avertissement", span_of(text));
	}
	pieces_text(body, "}}");
}

static void
send(struct search *search)
{
	struct call *call = search->call;
	struct pieces *body = &call->reply->body;
	enum splice_form form = rows_form(call->request);
	int64_t limit =
	    call->params.limit == 0 ? DEFAULT_LIMIT : call->params.limit;
	struct rows_pages pages =
	    rows_pages(call->params.page, limit, search->total);
	int64_t first, count;
	const uint64_t tag[] = {
	    search->tag, live_network_generation(call->serving->live)};
	enum err err = ERR_OK;

	rows_headers(call, form, false);
	if (rows_not_modified(call, tag, 2, form))
		return;
	count = page_of(&first, &pages);
	/* To pass over many rows takes as long as to show them. */
	if (count > 0 && first + count > ROWS_DUMP &&
	    !call->request->slow_pool) {
		ready_hand_over(call);
		return;
	}
	rows_page_headers(call, &pages, form);
	splice_columns(&call->serving->splice, &call->params.fields);
	if (count > ROWS_GATHERED)
		reply_stream(call->reply, -1);
	if (form == SPLICE_JSON)
		pieces_text(body, "{\"data\":[");
	else if (form == SPLICE_CSV)
		splice_csv_header(&call->serving->splice, body);
	if (count > 0)
		err = merge(search, first, count);
	if (form == SPLICE_JSON) {
		if (count > 0)
			pieces_drop_last(body);
		pieces_text(body, "]");
		rows_pagination(body, &pages);
		add_meta(body, search, &pages);
	}
	if (err != ERR_OK)
		rows_storage_failed(call, err);
}

/* One supplier, or all that were computed. */
static enum err
gather(struct search *search)
{
	struct call *call = search->call;
	struct shared_source *source;
	struct source_supplier info;
	struct roster *roster;
	enum err err;

	if (call->params.fournisseur.len == 0)
		return ask_all(search);
	err = server_source(&source, call);
	if (err == ERR_OK)
		err = source_supplier(
		    source->source, call->params.fournisseur, &info);
	if (err == ERR_OK && info.articles == 0)
		err = ERR_NOT_FOUND;
	server_release_source(source);
	if (err == ERR_OK)
		err = roster_one(&roster, call, call->params.fournisseur);
	return err == ERR_OK ? ask_part(search, roster) : err;
}

static bool
make_query(struct search *search)
{
	struct call *call = search->call;
	const struct params *params = &call->params;
	enum err err;

	search->query = (struct rowset_query){.gamme = params->gamme,
	    .raw = !params->enrich,
	    .sort = params->sort,
	    .descending = params->descending};
	search->column =
	    params->sort < 0 ? COL_totalCa : (unsigned)params->sort;
	err = rows_words(&search->query.words, call, params->q);
	if (err != ERR_OK) {
		rows_storage_failed(call, err);
		return false;
	}
	if (search->query.words.len == 0)
		reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "q has nothing to look for: give a word, or a part of "
		    "one");
	return search->query.words.len > 0;
}

void
ep_search(struct call *call)
{
	struct search search = {.call = call};
	enum err err;

	if (!make_query(&search))
		return;
	err = gather(&search);
	if (err == ERR_OK)
		send(&search);
	else if (err == ERR_NOT_FOUND)
		rows_no_supplier(call, call->params.fournisseur);
	else
		rows_storage_failed(call, err);
	for (unsigned i = 0; i < search.count; i++)
		buf_fini(&search.streams[i].text);
	for (; search.found != NULL; search.found = search.found->before)
		free(search.found->rows);
}
