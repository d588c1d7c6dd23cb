/* Finds the matching rows of each supplier in the scope. */
#include "fcgi/search/across.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/words.h"
#include "fcgi/rows/match.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/search/across_priv.h"
#include "lmdb-schema/facts/source.h"

struct found {
	uint32_t *rows;
	struct found *before;
};

void
across_begin(
    struct across *across, struct call *call, const struct rowset_query *query)
{
	assert(call != NULL && query != NULL);
	*across = (struct across){
	    .call = call, .query = *query, .column = rowset_column(query)};
}

/* Drops the search; its suppliers stay open for the answer. */
static void
forget(struct across *across)
{
	for (unsigned i = 0; i < across->count; i++)
		buf_fini(&across->streams[i].text);
	for (; across->found != NULL; across->found = across->found->before)
		free(across->found->rows);
	across->set = NULL;
	across->set_count = 0;
	across->scope = NULL;
	across->heap = NULL;
	across->count = 0;
	across->total = across->suppliers = across->absent = 0;
	across->sum = across->places = 0;
}

void
across_end(struct across *across)
{
	forget(across);
}

enum err
across_keep(struct across *across, uint32_t *rows)
{
	struct found *found =
	    arena_alloc(across->call->serving->arena, sizeof(*found));

	if (found == NULL) {
		free(rows);
		return ERR_NO_MEMORY;
	}
	*found = (struct found){rows, across->found};
	across->found = found;
	return ERR_OK;
}

/* --- streams -------------------------------------------------------------- */

/* Makes room for `more` streams; the old array is freed with the request. */
static enum err
need_streams(struct across *across, unsigned more)
{
	unsigned room = across->count + more;
	struct across_stream *streams;

	if (room <= across->room)
		return ERR_OK;
	if (across->count > 0)
		room *= 2; /* expect further parts */
	streams =
	    arena_array(across->call->serving->arena, room, sizeof(*streams));
	if (streams == NULL)
		return ERR_NO_MEMORY;
	if (across->count > 0)
		memcpy(
		    streams, across->streams, across->count * sizeof(*streams));
	across->streams = streams;
	across->room = room;
	return ERR_OK;
}

static struct across_stream *
new_stream(struct across *across, uint32_t place)
{
	struct across_stream *stream = &across->streams[across->count++];

	memset(stream, 0, sizeof(*stream));
	buf_init(&stream->text, 1 << 16);
	stream->place = place;
	return stream;
}

/* Adds a supplier's rows, in the requested order, as a stream. */
static enum err
add_stream(struct across *across, const struct snapview *view, uint32_t place,
    uint32_t *rows, uint32_t count)
{
	struct snapshot *snap = view->pinned->snap;
	struct across_stream *stream;
	enum err err =
	    match_keep(rows, &count, snap, view->ranges, &across->query);

	if (err == ERR_OK && count > 1)
		err = rowset_order(
		    rows, count, snap, view->ranges, &across->query);
	if (err != ERR_OK || count == 0)
		return snapview_blame(across->call, view, err);
	stream = new_stream(across, place);
	stream->view = view;
	stream->rows = rows;
	stream->count = count;
	across->total += count;
	return ERR_OK;
}

/* --- the index ------------------------------------------------------------ */

/* True when the search has the order of the ranks and no conditions. */
static bool
is_by_rank(const struct across *across)
{
	return !match_asks_columns(&across->query) &&
	    across->query.more_count == 0 && across->column == COL_totalCa &&
	    across->query.descending;
}

static enum err
search_index(struct across *across, struct scope *scope)
{
	uint32_t rows = word_index_head(scope->index)->rows;
	size_t size = word_index_set(rows);
	struct buf *set = &across->call->serving->ranks;
	struct words words;
	enum err err;

	buf_clear(set);
	across->set = (uint64_t *)(void *)buf_room(
	    set, (size + 1) * sizeof(*across->set));
	if (across->set == NULL)
		return buf_end(set);
	across->scope = scope;
	words_split(&words, across->query.words);
	err = word_index_find(
	    across->set, &across->set_count, scope->index, &words);
	if (err != ERR_OK || scope->there == NULL)
		return err;
	for (size_t i = 0; i < size; i++)
		across->set[i] &= scope->there[i];
	across->set_count = word_index_count(across->set, rows);
	return ERR_OK;
}

/* The rows of one supplier in the word index: a part of the list of all. */
struct share {
	uint32_t first, count;
};

bool
across_find(
    uint32_t *place, uint32_t *row, struct across *across, uint32_t rank)
{
	const struct scope *scope = across->scope;
	struct word_index_row found = {0, 0};

	assert(scope->index != NULL);
	*place = word_index_row(&found, scope->index, rank)
	    ? scope->place[found.supplier]
	    : SCOPE_NOWHERE;
	*row = found.row;
	across->damaged |= *place >= scope->count;
	return !across->damaged;
}

/* Counts the rows of each supplier, or with `rows` writes them. */
static bool
deal(struct share *shares, uint32_t *rows, struct across *across)
{
	const struct scope *scope = across->scope;
	size_t size = word_index_set(word_index_head(scope->index)->rows);

	for (size_t i = 0; i < size; i++)
		for (uint64_t bits = across->set[i]; bits != 0;
		     bits &= bits - 1) {
			uint32_t place, row,
			    rank = (uint32_t)(i * 64) +
			    (uint32_t)__builtin_ctzll(bits);

			if (!across_find(&place, &row, across, rank))
				return false;
			if (rows != NULL)
				rows[shares[place].first +
				    shares[place].count] = row;
			shares[place].count++;
		}
	return true;
}

/* Brings a supplier's rows from the order of the ranks into its own order. */
static bool
rows_fit(const uint32_t *rows, uint32_t count, uint32_t all)
{
	for (uint32_t i = 0; i < count; i++)
		if (rows[i] >= all || (i > 0 && rows[i - 1] >= rows[i]))
			return false;
	return true;
}

static enum err
add_share(struct across *across, uint32_t place, uint32_t *rows, uint32_t count)
{
	const struct snapview *view;
	enum err err = scope_view(&view, across->scope, across->call, place);

	if (err != ERR_OK)
		return err;
	across->damaged |=
	    !rows_fit(rows, count, snapshot_rows(view->pinned->snap));
	if (across->damaged)
		return ERR_DAMAGED;
	return add_stream(across, view, place, rows, count);
}

/* Adds a stream for each supplier that has rows in the set. */
static enum err
add_shares(struct across *across)
{
	unsigned suppliers = across->scope->count;
	struct share *shares = arena_array(
	    across->call->serving->arena, suppliers + 1u, sizeof(*shares));
	uint32_t *rows = malloc((across->set_count + 1u) * sizeof(*rows));
	uint32_t total = 0;
	enum err err;

	if (shares == NULL || rows == NULL) {
		free(rows);
		return ERR_NO_MEMORY;
	}
	err = across_keep(across, rows);
	if (err != ERR_OK)
		return err;
	memset(shares, 0, (suppliers + 1u) * sizeof(*shares));
	if (!deal(shares, NULL, across))
		return ERR_DAMAGED;
	for (unsigned i = 0; i < suppliers; i++) {
		shares[i].first = total;
		total += shares[i].count;
		shares[i].count = 0;
	}
	deal(shares, rows, across);
	err = need_streams(across, suppliers);
	for (unsigned i = 0; i < suppliers && err == ERR_OK; i++)
		if (shares[i].count > 0)
			err = add_share(
			    across, i, rows + shares[i].first, shares[i].count);
	return err;
}

static enum err
ask_index(struct across *across, struct scope *scope)
{
	enum err err = search_index(across, scope);

	across->damaged = err == ERR_DAMAGED;
	if (err != ERR_OK || across->set_count == 0)
		return err;
	if (!is_by_rank(across))
		return add_shares(across);
	err = need_streams(across, 1);
	if (err != ERR_OK)
		return err;
	new_stream(across, 0)->of_index = true;
	across->streams[across->count - 1].count = across->set_count;
	across->total += across->set_count;
	return ERR_OK;
}

/* --- suppliers one by one ------------------------------------------------- */

/* Adds the streams of suppliers with a match. */
static enum err
add_slices(struct across *across, const struct scope *scope,
    const struct match_slice *slices, uint32_t *rows)
{
	uint32_t before = (uint32_t)across->suppliers;
	unsigned more = 0;
	enum err err;

	for (unsigned i = 0; i < scope->loose_count; i++)
		more += slices[i].count > 0;
	err = need_streams(across, more);
	for (unsigned i = 0; i < scope->loose_count && err == ERR_OK; i++) {
		unsigned place = scope->loose[i];

		if (slices[i].count > 0)
			err = add_stream(across, &scope->views[place],
			    before + place, rows + slices[i].first,
			    slices[i].count);
	}
	return err;
}

static enum err
ask_loose(struct across *across, const struct scope *scope)
{
	struct match_slice *slices = arena_array(across->call->serving->arena,
	    scope->loose_count + (size_t)1, sizeof(*slices));
	struct match_rows rows = {NULL, 0, 0};
	unsigned blame = 0;
	enum err err, kept;

	if (slices == NULL)
		return ERR_NO_MEMORY;
	err = match_each(&rows, slices, scope->hays, scope->loose_count,
	    across->query.words, &blame);
	if (err != ERR_OK && scope->loose_count > 0)
		snapview_blame(
		    across->call, &scope->views[scope->loose[blame]], err);
	kept = across_keep(across, rows.rows);
	if (err == ERR_OK)
		err = kept;
	return err == ERR_OK ? add_slices(across, scope, slices, rows.rows)
			     : err;
}

static enum err
ask(struct across *across, struct scope *scope)
{
	enum err err = ERR_OK;

	if (scope->index != NULL)
		err = ask_index(across, scope);
	if (err == ERR_OK)
		err = ask_loose(across, scope);
	across->suppliers += scope->count;
	across->absent += scope->absent;
	across->sum += scope->sum;
	across->places += scope->places;
	return err;
}

/* The answer may refer to rows of a supplier that has a match. */
static enum err
ask_part(struct across *across, struct scope *scope)
{
	unsigned before = across->count;
	enum err err = ask(across, scope);

	if (across->count > before || across->scope == scope) {
		enum err held = scope_hold(scope, across->call);

		return err == ERR_OK ? held : err;
	}
	scope_release(scope);
	return err;
}

/* --- all, or one ---------------------------------------------------------- */

static enum err
ask_all(struct across *across)
{
	unsigned from = 0;
	enum err err;

	do {
		struct scope *scope;

		err = scope_all(&scope, across->call, from, across->wanted);
		if (err != ERR_OK)
			return err;
		from = scope->next;
		err = ask_part(across, scope);
	} while (err == ERR_OK && from > 0);
	return err;
}

/* The word index names rows that do not exist, so it is damaged. */
static enum err
ask_without_index(struct across *across)
{
	struct scope *scope;
	enum err err;

	forget(across);
	across->plain = true;
	err =
	    scope_plain(&scope, across->call, across->wanted, across->damaged);
	across->damaged = false;
	return err == ERR_OK ? ask_part(across, scope) : err;
}

static enum err
ask_one(struct across *across, struct span supplier)
{
	struct call *call = across->call;
	struct shared_source *source;
	struct source_supplier info;
	struct scope *scope;
	enum err err = shared_source_get(&source, call);

	if (err == ERR_OK)
		err = source_supplier(source->source, supplier, &info);
	if (err == ERR_OK && info.articles == 0)
		err = ERR_NOT_FOUND;
	shared_source_release(source);
	if (err == ERR_OK)
		err = scope_one(&scope, call, supplier);
	return err == ERR_OK ? ask_part(across, scope) : err;
}

enum err
across_ask(struct across *across, struct span supplier)
{
	enum err err;

	assert(across->call != NULL);
	forget(across);
	if (supplier.len > 0)
		return ask_one(across, supplier);
	if (across->plain)
		return ask_without_index(across);
	err = ask_all(across);
	if (across->scope != NULL &&
	    (err == ERR_NOT_READY || err == ERR_DAMAGED))
		return ask_without_index(across);
	return err;
}
