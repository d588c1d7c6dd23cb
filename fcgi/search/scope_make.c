/*
 * Makes a scope: each supplier of the catalogue, in the word index or opened.
 */
#include <assert.h>
#include <stdlib.h>

#include "fcgi/rows/etag.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/search/scope_priv.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/proposal.h"

/*
 * With this many suppliers or more the word index is used, and made again when
 * this many, or one row in this many, are not in it.
 */
#define BOOK_SUPPLIERS 64
#define LOOSE_SUPPLIERS 64
#define LOOSE_ROWS 16

struct making {
	struct call *call;
	struct scope_kept *kept;
	unsigned from, room, seen; /* entries of the catalogue */
	const struct scope_wanted *wanted; /* or NULL */
	unsigned passed; /* of the wanted ones, all before the entry */
	uint32_t in_index; /* the index's first supplier not passed yet */
};

static enum err
begin(struct making *making, struct call *call, unsigned room)
{
	struct scope_kept *kept = calloc(1, sizeof(*kept));
	struct scope *scope;

	*making = (struct making){.call = call, .kept = kept, .room = room};
	if (kept == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&kept->users, 1);
	pthread_mutex_init(&kept->lock, NULL);
	scope = &kept->scope;
	kept->snapcache = call->server->snapcache;
	scope->views = calloc(room + 1u, sizeof(struct snapview));
	scope->hays = calloc(room + 1u, sizeof(struct haystack));
	scope->loose = calloc(room + 1u, sizeof(*scope->loose));
	kept->open = calloc(room + 1u, sizeof(*kept->open));
	kept->generations = calloc(room + 1u, sizeof(*kept->generations));
	kept->codes = calloc(room + 1u, sizeof(*kept->codes));
	return scope->views == NULL || scope->hays == NULL ||
		scope->loose == NULL || kept->open == NULL ||
		kept->generations == NULL || kept->codes == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static enum err
end(struct scope **out, struct making *making, enum err err)
{
	*out = NULL;
	if (err == ERR_OK)
		*out = &making->kept->scope;
	else if (making->kept != NULL)
		scope_release(&making->kept->scope);
	return err;
}

/* Counts a supplier that is in the scope. */
static void
count(struct making *making, struct span supplier, uint64_t generation,
    uint64_t rows)
{
	const struct serving *serving = making->call->serving;
	struct scope *scope = &making->kept->scope;
	const uint64_t parts[] = {generation,
	    live_gamme_generation(serving->views.live, supplier),
	    proposal_version(serving->views.state, supplier)};
	const uint64_t code = etag_mix(0, supplier.ptr, supplier.len);

	scope->places += etag_mix(code, parts, sizeof(parts[0]));
	scope->sum += etag_mix(code, parts, sizeof(parts));
	making->kept->generations[scope->count++] = generation;
	making->kept->rows += rows;
}

/* Opens a supplier. `generation` comes from the catalogue; 0: look there. */
static enum err
add(struct making *making, struct span supplier, uint64_t generation)
{
	struct scope_kept *kept = making->kept;
	struct scope *scope = &kept->scope;
	struct snapview *view = &scope->views[scope->count];
	struct haystack *hay = &scope->hays[scope->loose_count];
	enum err err = generation == 0
	    ? snapview_open(view, making->call, supplier, 0)
	    : snapview_open_known(view, making->call, supplier, generation);

	if (err != ERR_OK)
		return err;
	err = haystack_of(hay, view->pinned->snap);
	if (err != ERR_OK)
		return snapview_drop(view, making->call, err);
	atomic_init(&kept->open[scope->count], 1);
	scope->loose[scope->loose_count++] = scope->count;
	kept->loose_rows += hay->rows;
	count(making, supplier, snapshot_head(view->pinned->snap)->generation,
	    hay->rows);
	return ERR_OK;
}

/* Damage of one supplier does not stop a search through the others. */
static enum err
add_or_count(struct making *making, struct span supplier, uint64_t generation)
{
	enum err err = add(making, supplier, generation);

	if (err != ERR_NOT_READY && err != ERR_DAMAGED)
		return err;
	making->kept->scope.absent++;
	return ERR_OK;
}

/* Both lists are in the order of the codes. */
static bool
is_in_index(struct making *making, struct span supplier, uint64_t generation)
{
	const struct word_index *index = making->kept->scope.index;

	return index != NULL &&
	    word_index_has(index, &making->in_index, supplier, generation);
}

static void
add_from_index(struct making *making)
{
	struct scope_kept *kept = making->kept;
	struct scope *scope = &kept->scope;
	const struct word_index_supplier *supplier =
	    word_index_supplier(scope->index, making->in_index);
	struct span code = word_index_code(scope->index, making->in_index);

	scope->place[making->in_index++] = scope->count;
	kept->codes[scope->count] = code;
	count(making, code, supplier->generation, supplier->rows);
}

/* Both lists are in the order of the codes. */
static bool
is_wanted(struct making *making, struct span supplier)
{
	const struct scope_wanted *wanted = making->wanted;
	int way = -1;

	if (wanted == NULL)
		return true;
	while (making->passed < wanted->count &&
	    (way = span_cmp(wanted->codes[making->passed], supplier)) < 0)
		making->passed++;
	return making->passed < wanted->count && way == 0;
}

static enum err
add_entry(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct making *making = context;
	unsigned place = making->seen++;

	if (place < making->from || !is_wanted(making, supplier))
		return ERR_OK;
	if (place - making->from >= making->room) {
		if (making->kept->scope.next == 0)
			making->kept->scope.next = place;
		return ERR_OK;
	}
	if (!is_in_index(making, supplier, entry->generation))
		return add_or_count(making, supplier, entry->generation);
	add_from_index(making);
	return ERR_OK;
}

struct counting {
	struct call *call;
	int64_t absent;
	bool healed; /* a repair of one damaged entry has begun */
};

static enum err
count_absent(void *context, const struct source_supplier *supplier)
{
	struct counting *counting = context;
	struct catalog_entry entry;
	enum err err;

	if (supplier->articles == 0)
		return ERR_OK;
	err = catalog_get(
	    counting->call->serving->views.catalog, supplier->code, &entry);
	if (err != ERR_NOT_FOUND && err != ERR_DAMAGED)
		return err;
	if (err == ERR_DAMAGED && !counting->healed) {
		snapview_heal(counting->call, supplier->code);
		counting->healed = true;
	}
	counting->absent++;
	return ERR_OK;
}

/*
 * Counts suppliers without snapshot. Only the facts list them: when the facts
 * cannot be read, a search goes on without, as pages do, and the log has the
 * reason.
 */
static enum err
add_absent(struct scope *scope, struct call *call)
{
	struct counting counting = {.call = call};
	struct shared_source *source;
	enum err err = shared_source_get(&source, call);

	if (err == ERR_OK)
		err = source_suppliers(source->source, count_absent, &counting);
	shared_source_release(source);
	scope->absent += counting.absent;
	return err == ERR_NO_MEMORY || err == ERR_NO_FILES ? err : ERR_OK;
}

/* Of all entries: a damaged one names no supplier to check. */
static enum err
add_entries(struct making *making)
{
	enum err err = catalog_each(
	    making->call->serving->views.catalog, add_entry, making);

	return err == ERR_DAMAGED ? ERR_OK : err;
}

/* --- the index ------------------------------------------------------------ */

/*
 * Makes room for the places of its suppliers; without memory the index is not
 * used.
 */
static enum err
use_index(struct scope_kept *kept, struct word_index *index)
{
	uint32_t all = word_index_head(index)->suppliers;
	uint32_t *place = malloc((all + 1u) * sizeof(*place));

	if (place == NULL) {
		word_index_close(index);
		return ERR_NO_MEMORY;
	}
	for (uint32_t i = 0; i < all; i++)
		place[i] = SCOPE_NOWHERE;
	kept->scope.index = index;
	kept->scope.place = place;
	return ERR_OK;
}

/*
 * Marks the rows of suppliers with a place, when not all have one. ERR_DAMAGED: a
 * row of the index is.
 */
static enum err
mark_there(struct scope *scope)
{
	const struct word_index_head *head = word_index_head(scope->index);

	if (scope->count - scope->loose_count == head->suppliers)
		return ERR_OK;
	scope->there =
	    calloc(word_index_set(head->rows) + 1, sizeof(*scope->there));
	if (scope->there == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < head->rows; i++) {
		struct word_index_row row;

		if (!word_index_row(&row, scope->index, i))
			return ERR_DAMAGED;
		if (scope->place[row.supplier] != SCOPE_NOWHERE)
			scope->there[i / 64] |= UINT64_C(1) << i % 64;
	}
	return ERR_OK;
}

/*
 * An index costs seconds of a processor, so a few changes do not justify one.
 */
bool
scope_wants_index(const struct scope *scope)
{
	const struct scope_kept *kept = (const struct scope_kept *)scope;

	assert(scope->loose_count <= scope->count);
	return scope->count >= BOOK_SUPPLIERS &&
	    (scope->loose_count >= LOOSE_SUPPLIERS ||
		kept->loose_rows * LOOSE_ROWS > kept->rows);
}

/* --- all suppliers -------------------------------------------------------- */

/* Reads the entries from `from` on, as many as there is room for. */
static enum err
add_all(struct making *making, struct word_index *index)
{
	struct scope_kept *kept = making->kept;
	enum err err = index == NULL ? ERR_OK : use_index(kept, index);

	if (err == ERR_OK)
		err = add_entries(making);
	if (err == ERR_OK && kept->scope.index != NULL)
		err = mark_there(&kept->scope);
	if (err == ERR_OK && making->from == 0 && making->wanted == NULL)
		err = add_absent(&kept->scope, making->call);
	return err;
}

enum err
scope_make(struct scope **out, struct call *call, unsigned from, unsigned room,
    const struct scope_wanted *wanted, struct word_index *index)
{
	struct making making;
	enum err err = begin(&making, call, room);

	making.from = from;
	making.wanted = wanted;
	if (err == ERR_OK)
		err = add_all(&making, index);
	else
		word_index_close(index);
	return end(out, &making, err);
}

enum err
scope_one(struct scope **out, struct call *call, struct span supplier)
{
	struct making making;
	enum err err = begin(&making, call, 1);

	assert(supplier.len > 0);
	if (err == ERR_OK)
		err = add(&making, supplier, 0);
	if (err == ERR_NOT_READY) {
		making.kept->scope.absent = 1;
		err = ERR_OK;
	}
	return end(out, &making, err);
}
