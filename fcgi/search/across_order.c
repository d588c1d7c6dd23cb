/*
 * Merges the streams, and opens the word index's suppliers as far as a page
 * reaches.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/fold.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/rows/shown.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/sort_bytes.h"
#include "fcgi/rows/sort_keys.h"
#include "fcgi/search/across.h"
#include "fcgi/search/across_priv.h"

/* The text between the quotes of a JSON string, folded as sorts fold it. */
static void
fold_json(struct buf *out, struct span json, struct buf *plain)
{
	buf_clear(plain);
	jsonw_unquote(plain, json);
	buf_clear(out);
	fold_add(out, buf_span(plain));
}

/* The supplier and row at which the index's stream is; its view is open. */
static void
turn(struct across *across, struct across_stream *stream)
{
	uint32_t rank = stream->rows[stream->at];

	across_find(&stream->place, &stream->row, across, rank);
	stream->view = &across->scope->views[stream->place];
	stream->numbers = NULL;
}

/* Whether its rows are ordered by values that may have changed. */
static bool
is_of_today(const struct across *across, const struct across_stream *stream)
{
	const struct snapview *view = stream->view;

	return row_is_gamme(across->column) ||
	    shown_differs(view->pinned->snap, view->ranges, &across->query);
}

/* Reads the sort value of the stream's current row. */
static enum err
load_value(struct across *across, struct across_stream *stream)
{
	const struct snapview *view = stream->view;
	struct snapshot *snap = view->pinned->snap;
	struct span value;

	if (stream->of_index)
		stream->today = is_of_today(across, stream);
	if (stream->today) {
		enum err err = shown_value(&stream->number, stream->row, snap,
		    view->ranges, &across->query);

		stream->null = stream->number == NUM_NULL;
		return err;
	}
	if (row_is_number(across->column) && stream->numbers == NULL)
		stream->numbers = snapshot_numbers(snap, across->column);
	if (row_is_number(across->column)) {
		if (stream->numbers == NULL)
			return ERR_DAMAGED;
		stream->number = stream->numbers[stream->row];
		stream->null = stream->number == NUM_NULL;
		return ERR_OK;
	}
	value = snapshot_value(snap, stream->row, across->column);
	if (value.len == 0)
		return ERR_DAMAGED;
	stream->null = value.ptr[0] != '"';
	fold_json(&stream->text, stream->null ? SPAN("\"\"") : value,
	    &across->call->serving->label);
	return buf_end(&stream->text);
}

/* The stream's current row; a single stream needs no sort value. */
static enum err
load(struct across *across, struct across_stream *stream)
{
	enum err err = ERR_OK;

	if (stream->of_index)
		turn(across, stream);
	else
		stream->row = stream->rows[stream->at];
	if (across->count > 1)
		err = load_value(across, stream);
	return snapview_blame(across->call, stream->view, err);
}

/* The text between the quotes: a quote would sort after a blank. */
static struct span
codein_of(struct across *across, struct across_stream *stream)
{
	struct span json =
	    snapshot_value(stream->view->pinned->snap, stream->row, COL_codein);

	if (json.len == 0)
		across->broken = stream;
	return jsonw_inside(json);
}

/* By the codes as they were imported. */
static int
compare_codes(struct span a, struct span b)
{
	size_t i = 0, k = 0;

	while (i < a.len && k < b.len) {
		unsigned char of_a = (unsigned char)jsonw_plain_byte(a, &i);
		unsigned char of_b = (unsigned char)jsonw_plain_byte(b, &k);

		if (of_a != of_b)
			return of_a < of_b ? -1 : 1;
	}
	return (i < a.len) - (k < b.len);
}

/* Range codes have numbers in their order. */
static bool
is_by_number(const struct across *across)
{
	return row_is_number(across->column) || row_is_gamme(across->column);
}

/* By the further keys, which few comparisons need. */
static int
compare_more(
    struct across *across, struct across_stream *a, struct across_stream *b)
{
	struct sort_place of_a = {
	    a->view->pinned->snap, a->view->ranges, a->row};
	struct sort_place of_b = {
	    b->view->pinned->snap, b->view->ranges, b->row};
	int way = 0;

	if (across->query.more_count > 0 &&
	    sort_keys_compare(&way, &of_a, &of_b, &across->query) != ERR_OK)
		across->broken = a;
	return way;
}

/* Decides for before() when a value is null or the numbers are equal. */
static __attribute__((noinline)) bool
before_otherwise(
    struct across *across, struct across_stream *a, struct across_stream *b)
{
	int way = 0;

	if (a->null != b->null)
		return b->null;
	if (!a->null && !is_by_number(across))
		way = span_cmp(buf_span(&a->text), buf_span(&b->text));
	if (way != 0)
		return across->query.descending ? way > 0 : way < 0;
	way = compare_more(across, a, b);
	if (way != 0)
		return way < 0;
	way = compare_codes(codein_of(across, a), codein_of(across, b));
	return way != 0 ? way < 0 : a->place < b->place;
}

/*
 * True when `a` comes first: nulls last, ties by codein, then by supplier.
 * Mostly two different numbers decide.
 */
static inline bool
before(struct across *across, struct across_stream *a, struct across_stream *b)
{
	if (a->null || b->null || a->number == b->number ||
	    !is_by_number(across))
		return before_otherwise(across, a, b);
	return (a->number > b->number) == across->query.descending;
}

/* Without a comparison there is no order: the search fails. */
static enum err
blame_broken(struct across *across)
{
	return snapview_blame(across->call, across->broken->view, ERR_DAMAGED);
}

static void
sift_down(struct across *across, unsigned at, unsigned count)
{
	struct across_stream **heap = across->heap;

	for (;;) {
		unsigned child = 2 * at + 1;
		struct across_stream *swap;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    before(across, heap[child + 1], heap[child]))
			child++;
		if (!before(across, heap[child], heap[at]))
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

/*
 * Each stream's first number is at another address: prefetch all of them
 * together.
 */
static void
find_numbers(struct across *across)
{
	for (unsigned i = 0; i < across->count; i++) {
		struct across_stream *stream = &across->streams[i];

		if (stream->of_index)
			continue;
		stream->numbers = snapshot_numbers(
		    stream->view->pinned->snap, across->column);
		if (stream->numbers != NULL)
			span_expect_line(stream->numbers + stream->rows[0]);
	}
}

static enum err
build_heap(struct across *across)
{
	enum err err = ERR_OK;

	across->heap = arena_array(across->call->serving->arena,
	    across->count + (size_t)1, sizeof(*across->heap));
	if (across->heap == NULL)
		return ERR_NO_MEMORY;
	if (row_is_number(across->column) && across->count > 1)
		find_numbers(across);
	for (unsigned i = 0; i < across->count && err == ERR_OK; i++) {
		struct across_stream *stream = &across->streams[i];

		across->heap[i] = stream;
		if (across->count > 1 && !stream->of_index)
			stream->today = is_of_today(across, stream);
		err = load(across, across->heap[i]);
	}
	for (unsigned i = across->count / 2; i > 0 && err == ERR_OK; i--)
		sift_down(across, i - 1, across->count);
	return err == ERR_OK && across->broken != NULL ? blame_broken(across)
						       : err;
}

/* --- the index's ranks ---------------------------------------------------- */

/* Where one supplier is to be opened, the others of the page follow. */
static void
expect_ranks(struct across *across, const uint32_t *ranks, uint32_t count)
{
	uint32_t place, row;

	for (uint32_t i = 0; i < count; i++)
		if (across_find(&place, &row, across, ranks[i]))
			scope_expect(across->scope, across->call, place);
}

/*
 * Opens the view of the first rank's row, and checks that it has the row; the
 * other ranks are next.
 */
static enum err
open_rank(struct across *across, const uint32_t *ranks, uint32_t count,
    bool *expected)
{
	const struct snapview *view;
	uint32_t place, row;
	enum err err;

	if (!across_find(&place, &row, across, ranks[0]))
		return ERR_DAMAGED;
	if (!*expected && !scope_is_open(across->scope, place)) {
		expect_ranks(across, ranks, count);
		*expected = true;
	}
	err = scope_view(&view, across->scope, across->call, place);
	if (err != ERR_OK)
		return err;
	across->damaged |= row >= snapshot_rows(view->pinned->snap);
	if (across->damaged)
		return ERR_DAMAGED;
	/*
	 * When the last view is open, the prefetched offsets of the first have
	 * arrived.
	 */
	snapshot_expect(view->pinned->snap, row, true);
	return ERR_OK;
}

/* Gets ranks of the set in their order, from the `from`th on. */
static void
list_ranks(uint32_t *ranks, const uint64_t *set, uint32_t from, uint32_t count)
{
	uint32_t done = 0;

	for (uint32_t i = 0; done < count; i++) {
		uint64_t bits = set[i];

		if (bits == 0)
			continue;
		if (from >= 64) {
			from -= (uint32_t)__builtin_popcountll(bits);
			continue;
		}
		for (; bits != 0 && done < count; bits &= bits - 1) {
			if (from > 0)
				from--;
			else
				ranks[done++] =
				    i * 64 + (uint32_t)__builtin_ctzll(bits);
		}
	}
}

/* Limits the index's stream to the ranks from..to, all of them open. */
static enum err
open_ranks(struct across *across, struct across_stream *stream, uint32_t from,
    uint32_t to)
{
	uint32_t *ranks = malloc((to - from + 1u) * sizeof(*ranks));
	bool expected = false;
	enum err err = ERR_NO_MEMORY;

	if (ranks != NULL) {
		list_ranks(ranks, across->set, from, to - from);
		err = across_keep(across, ranks);
	}
	if (err != ERR_OK)
		return err;
	stream->rows = ranks;
	stream->count = to - from;
	for (uint32_t i = 0; i < stream->count && err == ERR_OK; i++)
		err =
		    open_rank(across, ranks + i, stream->count - i, &expected);
	if (err != ERR_DAMAGED && err != ERR_NOT_READY)
		return err;
	across->plain = true;
	return ERR_NOT_READY;
}

/* --- rows in order -------------------------------------------------------- */

/* Advances the stream at the top of the heap, and restores the heap. */
static enum err
step(struct across *across)
{
	struct across_stream *top = across->heap[0];
	enum err err = ERR_OK;

	if (++top->at < top->count)
		err = load(across, top);
	else
		across->heap[0] = across->heap[--across->left];
	if (err == ERR_OK && across->left > 1)
		sift_down(across, 0, across->left);
	return err == ERR_OK && across->broken != NULL ? blame_broken(across)
						       : err;
}

enum err
across_seek(struct across *across, int64_t first, int64_t count)
{
	bool alone = across->count == 1;
	enum err err = ERR_OK;

	assert(first >= 0 && count >= 0);
	if (count == 0) /* no row is shown, so no view is opened */
		return ERR_OK;
	for (unsigned i = 0; i < across->count && err == ERR_OK; i++) {
		struct across_stream *stream = &across->streams[i];
		int64_t end = first + count;

		if (stream->of_index)
			err = open_ranks(across, stream,
			    alone ? (uint32_t)first : 0,
			    end < stream->count ? (uint32_t)end
						: stream->count);
		else if (alone)
			stream->at = (uint32_t)first;
	}
	if (err == ERR_OK)
		err = build_heap(across);
	across->left = across->count;
	for (int64_t i = 0; i < first && !alone && err == ERR_OK; i++)
		err = step(across);
	return err;
}

/* A single stream has no sort values, as its rows are in their order. */
static enum err
load_alone(struct across *across, struct across_stream *stream)
{
	if (across->count > 1)
		return ERR_OK;
	if (!stream->of_index)
		stream->today = is_of_today(across, stream);
	return snapview_blame(
	    across->call, stream->view, load_value(across, stream));
}

enum err
across_order(struct buf *out, struct across *across)
{
	struct across_stream *top = across->heap[0];
	struct snapshot *snap = top->view->pinned->snap;
	const struct sort_place place = {snap, top->view->ranges, top->row};
	struct buf *label = &across->call->serving->label;
	bool descending = across->query.descending;
	enum err err = load_alone(across, top);

	assert(across->left > 0);
	if (err != ERR_OK)
		return err;
	if (top->null)
		sort_bytes_null(out);
	else if (is_by_number(across))
		sort_bytes_number(out, top->number, descending);
	else
		sort_bytes_text(out, buf_span(&top->text), descending);
	err = sort_keys_bytes(out, &place, &across->query);
	if (err == ERR_OK && codein_of(across, top).len == 0)
		err = ERR_DAMAGED;
	if (err != ERR_OK)
		return snapview_blame(across->call, top->view, err);
	buf_clear(label);
	jsonw_unquote(label, snapshot_value(snap, top->row, COL_codein));
	sort_bytes_text(out, buf_span(label), false);
	sort_bytes_text(out, snapshot_supplier(snap), false);
	return buf_end(label);
}

enum err
across_next(struct across *across, const struct snapview **view, uint32_t *row)
{
	assert(across->heap != NULL && across->left > 0);
	*view = across->heap[0]->view;
	*row = across->heap[0]->row;
	return step(across);
}
