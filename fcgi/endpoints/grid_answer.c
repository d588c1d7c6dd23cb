#include "fcgi/endpoints/grid_answer.h"

#include <assert.h>

#include "common/date.h"
#include "common/members.h"
#include "fcgi/dump/dump.h"
#include "fcgi/dump/page.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/rows/flat.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/key.h"

#define BATCH 8 /* rows that are expected together */
#define LOOK_ROWS 512 /* after so many the file is looked at again */

static void
add_missing(struct jsonw *json, const struct grid_answer *answer)
{
	if (answer->missing == NULL)
		return;
	jsonw_key(json, "introuvables");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < answer->missing_count; i++)
		jsonw_string(json, answer->missing[i]);
	jsonw_array_end(json);
}

/* On the first page alone. */
static void
add_gone(struct jsonw *json, const struct call *call,
    const struct grid_answer *answer)
{
	const struct since *since = answer->since;
	char generation[KEY_GENERATION_LEN + 1];
	struct span code, rest;

	if (since == NULL)
		return;
	key_generation_text(generation, call->params.since_generation);
	members_text(json, "depuis", span_of(generation));
	jsonw_key(json, "disparus");
	jsonw_array_begin(json);
	rest = answer->pages.page == 1 ? buf_span(&since->gone) : SPAN("");
	while (span_cut(&code, &rest, '\0'))
		if (code.len > 0)
			jsonw_string(json, code);
	jsonw_array_end(json);
}

static void
add_meta(struct jsonw *json, const struct call *call,
    const struct grid_answer *answer)
{
	const struct params *params = &call->params;
	struct snapshot *snap = answer->view->pinned->snap;
	const struct snap_head *head = snapshot_head(snap);
	char generation[KEY_GENERATION_LEN + 1];

	key_generation_text(generation, head->generation);
	members_object(json, "meta");
	paging_meta(
	    json, call, &answer->pages, answer->set->count, PAGING_HOW_GRID);
	members_bool(json, "computedOnDemand", answer->computed);
	add_missing(json, answer);
	add_gone(json, call, answer);
	if (snapshot_left_out(snap) > 0)
		members_int(json, "articlesEcartes", snapshot_left_out(snap));
	members_text(json, "snapshot", span_of(generation));
	members_time(json, "computedAt", head->computed_ms);
	answer_days(json, head);
	members_text(json, "codeFournisseur", snapshot_supplier(snap));
	members_null_text(json, "nomFournisseur", snapshot_name(snap));
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

/* Rows of a page that follow one another. */
struct batch {
	const uint32_t *rows;
	unsigned count;
	uint32_t own[BATCH]; /* where there is no list of them */
};

/* The rows from place `from` of the page on; none before its first. */
static void
batch_take(struct batch *batch, const struct rowset *set, int64_t from)
{
	uint32_t first = set->first + (uint32_t)from;

	batch->count = 0;
	if (from < 0 || from >= set->count)
		return;
	batch->count =
	    set->count - from < BATCH ? set->count - (uint32_t)from : BATCH;
	batch->rows = set->order == NULL ? batch->own : set->order + first;
	if (set->order == NULL)
		for (unsigned i = 0; i < BATCH; i++)
			batch->own[i] = first + i;
}

static void
expect_batch(struct splice *splice, const struct rowset *set, int64_t from,
    enum splice_step step)
{
	struct batch batch;

	batch_take(&batch, set, from);
	if (batch.count > 0)
		splice_expect(splice, batch.rows, batch.count, step);
}

static enum err
add_batch(struct call *call, const struct rowset *set, int64_t from)
{
	struct batch batch;
	enum err err = ERR_OK;

	batch_take(&batch, set, from);
	for (unsigned i = 0; i < batch.count && err == ERR_OK; i++)
		err = splice_row(
		    call->serving->splice, batch.rows[i], &call->reply->body);
	return err;
}

/*
 * Rows of a sorted page lie anywhere in hundreds of megabytes, and kept ones
 * anywhere in memory. While a batch is added, the text of the one behind it is
 * on its way, and so are the offsets of the next but one, or what is kept of it:
 * to wait for many takes as long as to wait for one.
 */
static void
expect_rows(struct splice *splice, const struct rowset *set, int64_t i)
{
	/* The processor itself expects rows in the order of the file. */
	if (set->order == NULL && splice->kept == NULL)
		return;
	expect_batch(splice, set, i + 3 * BATCH, SPLICE_KEPT);
	expect_batch(splice, set, i + 2 * BATCH, SPLICE_OFFSETS);
	expect_batch(splice, set, i + BATCH, SPLICE_TEXT);
}

static enum err
add_rows(
    struct call *call, const struct snapview *view, const struct rowset *set)
{
	struct splice *splice = call->serving->splice;

	for (int64_t i = -3 * BATCH; i < set->count; i += BATCH) {
		enum err err;

		expect_rows(splice, set, i);
		if (!reply_flush_row(call->reply, i))
			break; /* the reply has kept the failure */
		/* A dump takes seconds: its file may be touched meanwhile. */
		if (call->reply->streaming && i % LOOK_ROWS == 0)
			snapcache_look(view->pinned, date_monotonic_ns());
		err = add_batch(call, set, i);
		if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

/* A whole dump as it lies in the snapshot; -1 for all else. */
static int64_t
known_length(struct splice *splice, const struct rowset *set, size_t frame)
{
	bool dump = set->count == snapshot_rows(splice->snap);

	if (!dump || !splice_is_plain(splice) || splice->form != SPLICE_JSON ||
	    set->count == 0)
		return -1;
	return snapshot_rows_bytes(splice->snap) - 1 + (int64_t)frame;
}

/* The JSON round the rows, made before them so that its length is known. */
struct frame {
	struct answer answer;
	struct span start, tail;
};

static enum err
make_frame(
    struct frame *frame, struct call *call, const struct grid_answer *answer)
{
	struct jsonw *json = &frame->answer.json;
	size_t start;

	answer_begin(&frame->answer, call);
	jsonw_array_begin(json);
	start = json->buf->len;
	jsonw_array_end(json);
	paging_member(json, &answer->pages);
	add_meta(json, call, answer);
	jsonw_object_end(json);
	frame->start = span_sub(buf_span(json->buf), 0, start);
	frame->tail = span_from(buf_span(json->buf), start);
	return jsonw_end(json);
}

static enum err
send_plain(struct call *call, const struct snapview *view,
    const struct rowset *set, const struct frame *frame)
{
	struct splice *splice = call->serving->splice;
	struct iovbuf *body = &call->reply->body;
	enum err err;

	if (set->count > ROWSET_GATHERED)
		reply_stream(call->reply,
		    known_length(
			splice, set, frame->start.len + frame->tail.len));
	iovbuf_add(body, frame->start);
	err = add_rows(call, view, set);
	if (set->count > 0)
		iovbuf_drop_last(body);
	iovbuf_refer_all(body, frame->tail.ptr, frame->tail.len);
	return err;
}

static enum err
send_json(struct call *call, const struct grid_answer *answer)
{
	struct frame frame;
	struct packed *packed;
	enum err err = make_frame(&frame, call, answer);

	if (err != ERR_OK)
		return err;
	if (dump_get(&packed, call, answer->view, answer->set))
		return dump_send(
		    call, answer->view, packed, frame.start, frame.tail);
	if (page_put(
		&err, call, answer->view, answer->set, frame.start, frame.tail))
		return err;
	return send_plain(call, answer->view, answer->set, &frame);
}

static enum err
send_lines(struct call *call, const struct grid_answer *answer)
{
	if (answer->set->count > ROWSET_GATHERED)
		reply_stream(call->reply, -1);
	return add_rows(call, answer->view, answer->set);
}

static enum err
add_cells(
    struct flat *flat, const struct snapview *view, const struct rowset *set)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < set->count && err == ERR_OK; i++) {
		uint32_t at = set->first + i;

		if (i % LOOK_ROWS == 0)
			snapcache_look(view->pinned, date_monotonic_ns());
		err = flat_row(flat, set->order == NULL ? at : set->order[at]);
	}
	return err == ERR_OK ? flat_end(flat) : err;
}

static enum err
send_cells(struct call *call, const struct grid_answer *answer)
{
	struct flat flat;
	enum err err =
	    flat_begin(&flat, call, answer->format, answer->view->pinned->snap);

	if (err == ERR_OK) {
		if (answer->set->count > negotiate_rows(call, ROWSET_GATHERED))
			reply_stream(call->reply, -1);
		err = add_cells(&flat, answer->view, answer->set);
	}
	flat_fini(&flat);
	return err;
}

static enum err
send_rows(struct call *call, const struct grid_answer *answer)
{
	if (answer->format == FORMAT_JSON)
		return send_json(call, answer);
	return format_infos[answer->format].flat ? send_cells(call, answer)
						 : send_lines(call, answer);
}

void
grid_answer_headers(
    struct call *call, const struct snapview *view, enum format format)
{
	char generation[KEY_GENERATION_LEN + 1];

	assert(view->pinned != NULL);
	negotiate_headers(
	    call, format, "grid", snapshot_supplier(view->pinned->snap));
	key_generation_text(
	    generation, snapshot_head(view->pinned->snap)->generation);
	reply_header_text(call->reply, "X-Snapshot", span_of(generation));
}

enum err
grid_answer_send(struct call *call, const struct grid_answer *answer)
{
	const struct params *params = &call->params;
	struct splice *splice = call->serving->splice;
	enum err err;

	assert(answer->view->pinned != NULL && !call->reply->streaming);
	paging_headers(call, &answer->pages, answer->format);
	if (answer->format != FORMAT_JSON && answer->missing != NULL)
		reply_header(
		    call->reply, "X-Introuvables", "%u", answer->missing_count);
	if (answer->format != FORMAT_JSON && answer->since != NULL)
		reply_header(
		    call->reply, "X-Disparus", "%u", answer->since->gone_count);
	splice_begin(splice, answer->view->pinned->snap, answer->view->ranges,
	    call->serving->views.live, params->enrich, &params->fields,
	    answer->format == FORMAT_JSON ? SPLICE_JSON : SPLICE_NDJSON);
	if (answer->set->count <= ROWSET_GATHERED &&
	    !format_infos[answer->format].flat)
		splice_keep(splice, call->server->row_cache);
	else if (answer->set->order == NULL)
		splice_in_order(splice);
	err = send_rows(call, answer);
	splice_release(splice);
	return err;
}
