/* GET /fournisseurs: the suppliers, and which of them have a snapshot. */
#include <assert.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/http/format.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/upkeep/computed.h"

/* A supplier that is shown; its texts are of the facts. */
struct row {
	struct span code, name;
	int64_t rows, computed_ms; /* of its snapshot; 0: there is none */
	bool there;
};

struct listing {
	struct call *call;
	struct buf shown; /* rows, as they were looked up */
	struct span words;
	struct buf folded;
	int64_t first, end; /* places that are shown */
	int64_t total, absent;
	uint64_t tag;
	bool healed; /* one of the damaged entries of the catalogue */
};

static void
show(struct jsonw *json, const struct row *row)
{
	jsonw_object_begin(json);
	members_text(json, "code", row->code);
	members_null_text(json, "nom", row->name);
	members_bool(json, "hasSnapshot", row->there);
	members_int(json, "rowCount", row->rows);
	members_time(json, "computedAt", row->computed_ms);
	jsonw_object_end(json);
}

/* Of a supplier that other nodes keep. */
static enum err
find_elsewhere(struct catalog_entry *entry, bool *there, struct call *call,
    struct span supplier)
{
	enum err err = computed_newest(
	    entry, state_view_txn(call->serving->views.state), supplier);

	*there = err == ERR_OK;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/*
 * The supplier's entry, which is *there or not, or was *lost to damage. One of
 * the damaged entries is healed at once.
 */
static enum err
find_entry(struct catalog_entry *entry, bool *there, bool *lost,
    struct listing *listing, struct span supplier)
{
	struct call *call = listing->call;
	struct catalog_view *catalog = call->serving->views.catalog;
	bool here;
	enum err err = holder_is_here(&here, call, supplier);

	*lost = false;
	if (err == ERR_OK && !here)
		return find_elsewhere(entry, there, call, supplier);
	if (err == ERR_OK)
		err = catalog_get(catalog, supplier, entry);
	*there = err == ERR_OK;
	*lost = err == ERR_DAMAGED;
	if (*lost && !listing->healed) {
		snapview_heal(call, supplier);
		listing->healed = true;
	}
	if (err == ERR_NOT_FOUND)
		err = catalog_lost(catalog, supplier, lost);
	if (err != ERR_DAMAGED)
		return err;
	*lost = true; /* as far as can be known */
	return ERR_OK;
}

/*
 * The tag is of what is shown, whichever node shows it: a catalogue has suppliers that
 * are gone, or that are elsewhere.
 */
static void
mix(struct listing *listing, const struct catalog_entry *entry, bool lost)
{
	const uint64_t parts[] = {entry != NULL ? entry->generation : 0, lost};

	listing->tag = etag_mix(listing->tag, parts, sizeof(parts));
}

static void
add_row(struct listing *listing, const struct source_supplier *supplier,
    const struct catalog_entry *entry)
{
	bool there = entry != NULL;
	const struct row row = {supplier->code, supplier->name,
	    there ? (int64_t)entry->rows : 0, there ? entry->computed_ms : 0,
	    there};

	if (listing->total >= listing->first && listing->total < listing->end)
		buf_add(&listing->shown, &row, sizeof(row));
	listing->total++;
}

static enum err
add_supplier(void *context, const struct source_supplier *supplier)
{
	struct listing *listing = context;
	struct call *call = listing->call;
	struct catalog_entry entry;
	bool there, lost;
	enum err err;

	if (!call_sees(call, supplier->code))
		return ERR_OK;
	err = find_entry(&entry, &there, &lost, listing, supplier->code);
	if (err != ERR_OK)
		return err;
	mix(listing, there ? &entry : NULL, lost);
	if ((call->params.with_data && !there && !lost) ||
	    !asked_named(&listing->folded, listing->words, supplier->code,
		supplier->name))
		return buf_end(&listing->folded);
	listing->absent += !there;
	if (call->params.with_data && lost)
		return ERR_OK; /* counted: a reader must know of it */
	add_row(listing, supplier, there ? &entry : NULL);
	return buf_end(&listing->shown);
}

static void
add_meta(struct jsonw *json, struct listing *listing, struct paging *pages)
{
	const struct params *params = &listing->call->params;

	members_object(json, "meta");
	paging_meta(json, listing->call, pages,
	    paging_rows(&listing->first, pages), PAGING_HOW_LIST);
	members_int(json, "total", listing->total);
	members_int(json, "sansSnapshot", listing->absent);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

static enum err
send(struct listing *listing, int64_t limit)
{
	struct call *call = listing->call;
	struct paging pages =
	    paging_of(call->params.page, limit, listing->total);
	const struct row *rows = (const struct row *)listing->shown.data;
	size_t count = listing->shown.len / sizeof(*rows);
	struct answer answer;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, &listing->tag, 1, FORMAT_JSON))
		return ERR_ANSWERED;
	answer_begin(&answer, call);
	jsonw_array_begin(&answer.json);
	for (size_t i = 0; i < count; i++)
		show(&answer.json, &rows[i]);
	paging_headers(call, &pages, FORMAT_JSON);
	jsonw_array_end(&answer.json);
	add_meta(&answer.json, listing, &pages);
	return answer_end(&answer);
}

/* The facts stay open until the answer has their texts. */
static enum err
list(struct listing *listing, int64_t limit)
{
	struct shared_source *source;
	enum err err = shared_source_get(&source, listing->call);

	listing->tag = live_facts(listing->call->serving->views.live);
	if (err == ERR_OK)
		err = source_suppliers(source->source, add_supplier, listing);
	else if (err == ERR_NOT_FOUND)
		err = ERR_OK; /* nothing imported: nobody there */
	if (err == ERR_OK)
		err = send(listing, limit);
	shared_source_release(source);
	return err;
}

enum err
ep_fournisseurs(struct call *call)
{
	const struct params *params = &call->params;
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct paging pages = paging_of(params->page, limit, INT64_MAX);
	struct listing listing = {.call = call};
	enum err err = holder_pass_import(call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = call_fold(&listing.words, call, params->search);
	if (err != ERR_OK)
		return err;
	listing.end = paging_rows(&listing.first, &pages);
	listing.end += listing.first;
	buf_init(&listing.folded, 1 << 16);
	buf_init(&listing.shown, (size_t)limit * sizeof(struct row));
	err = list(&listing, limit);
	buf_fini(&listing.shown);
	buf_fini(&listing.folded);
	return err;
}
