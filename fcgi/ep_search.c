/*
 * GET /products/search: across all suppliers that have been computed, or one.
 *
 * Each supplier's matches come in the order asked for; the page is cut out of
 * their merge. The total is exact: every supplier is asked.
 */
#include <stdlib.h>

#include "common/fold.h"
#include "common/num.h"
#include "fcgi/endpoint.h"
#include "fcgi/ready.h"
#include "fcgi/rows.h"
#include "lmdb-schema/order.h"

#define DEFAULT_LIMIT 100

/* One supplier's matches, and how far the merge has come in them. */
struct stream {
	struct rows_view view;
	struct rowset set;
	uint32_t at;
	uint32_t row; /* the one at `at` */
	int64_t number; /* its sort value */
	struct buf text; /* the same for text columns, folded */
	bool null;
};

struct search {
	struct call *call;
	struct rowset_query query;
	unsigned column; /* that is sorted by */
	struct stream *streams;
	unsigned count, room;
	struct stream **heap;
	int64_t total;
	int64_t suppliers; /* asked */
	uint64_t tag; /* of all that they showed */
};

/* --- gathering
 * ---------------------------------------------------------------- */

static struct stream *
new_stream(struct search *search)
{
	struct stream *streams;

	if (search->count == search->room) {
		unsigned room = search->room == 0 ? 64 : search->room * 2;

		streams = reallocarray(search->streams, room, sizeof(*streams));
		if (streams == NULL)
			return NULL;
		search->streams = streams;
		search->room = room;
	}
	memset(&search->streams[search->count], 0, sizeof(struct stream));
	buf_init(&search->streams[search->count].text, 1 << 16);
	return &search->streams[search->count];
}

static void
close_stream(struct search *search, struct stream *stream)
{
	rowset_release(&stream->set);
	rows_close(&stream->view, search->call);
	buf_fini(&stream->text);
}

static void
mix_view(struct search *search, const struct rows_view *view)
{
	const uint64_t parts[] = {snapshot_head(view->pinned->snap)->generation,
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state};

	search->tag = rows_mix(search->tag, parts, sizeof(parts));
}

/*
 * Those without a match are closed at once. `generation` is what the catalogue
 * has, or 0 to ask it.
 */
static enum err
ask(struct search *search, struct span supplier, uint64_t generation)
{
	struct stream *stream = new_stream(search);
	enum err err;

	if (stream == NULL)
		return ERR_NO_MEMORY;
	if (generation == 0)
		err = rows_open(&stream->view, search->call, supplier, 0);
	else
		err = rows_open_known(
		    &stream->view, search->call, supplier, generation);
	if (err == ERR_NOT_READY)
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	err = rows_blame(search->call, &stream->view,
	    rowset_search(&stream->set, stream->view.pinned,
		stream->view.ranges, &search->query));
	search->suppliers++;
	mix_view(search, &stream->view);
	if (err == ERR_OK && stream->set.total > 0) {
		search->total += stream->set.total;
		search->count++;
		return ERR_OK;
	}
	rowset_release(&stream->set);
	rows_drop(&stream->view, search->call);
	return err;
}

static enum err
ask_each(void *context, struct span supplier, const struct catalog_entry *entry)
{
	return ask(context, supplier, entry->generation);
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
	struct snapshot *snap = stream->view.pinned->snap;
	struct span value;

	stream->row = rowset_row(&stream->set, stream->at);
	if (stream->row >= snapshot_rows(snap))
		return ERR_DAMAGED;
	if (row_is_number(search->column)) {
		const int64_t *numbers = snapshot_numbers(snap, search->column);

		if (numbers == NULL)
			return ERR_DAMAGED;
		stream->number = numbers[stream->row];
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
	    snapshot_value(stream->view.pinned->snap, stream->row, COL_codein);

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

static enum err
build_heap(struct search *search)
{
	enum err err = ERR_OK;

	search->heap = calloc(search->count + 1, sizeof(*search->heap));
	if (search->heap == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < search->count && err == ERR_OK; i++) {
		search->heap[i] = &search->streams[i];
		err = rows_blame(search->call, &search->streams[i].view,
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

	splice_turn(splice, stream->view.pinned->snap, stream->view.ranges);
	return splice_row(splice, stream->row, &call->reply->body);
}

/* Passes over `first` rows, then adds `count`. */
static enum err
merge(struct search *search, int64_t first, int64_t count)
{
	struct call *call = search->call;
	const struct rows_view *any = &search->streams[0].view;
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
		if (err == ERR_OK && ++top->at < top->set.total)
			err = load(search, top);
		else
			search->heap[0] = search->heap[--left];
		rows_blame(call, &top->view, err);
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
		pieces_text(body, ",\"meta\":{\"fournisseurs\":");
		rows_int(body, search->suppliers);
		rows_member_bool(body, "complet", !pages.more);
		pieces_text(body, "}}");
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
	enum err err;

	if (call->params.fournisseur.len == 0)
		return catalog_each(call->serving->catalog, ask_each, search);
	err = server_source(&source, call);
	if (err == ERR_OK)
		err = source_supplier(
		    source->source, call->params.fournisseur, &info);
	if (err == ERR_OK && info.articles == 0)
		err = ERR_NOT_FOUND;
	server_release_source(source);
	return err == ERR_OK ? ask(search, call->params.fournisseur, 0) : err;
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
		close_stream(&search, &search.streams[i]);
	free(search.streams);
	free(search.heap);
}
