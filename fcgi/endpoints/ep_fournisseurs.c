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

struct listing {
	struct call *call;
	struct answer answer;
	struct span words;
	struct buf folded;
	int64_t first, end; /* places that are shown */
	int64_t total, absent;
	uint64_t tag;
	bool healed; /* one of the damaged entries of the catalogue */
};

static void
show(struct jsonw *json, const struct source_supplier *supplier,
    const struct catalog_entry *entry)
{
	bool there = entry != NULL;

	jsonw_object_begin(json);
	members_text(json, "code", supplier->code);
	members_null_text(json, "nom", supplier->name);
	members_bool(json, "hasSnapshot", there);
	members_int(json, "rowCount", there ? (int64_t)entry->rows : 0);
	members_time(json, "computedAt", there ? entry->computed_ms : 0);
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
	if ((call->params.with_data && !there && !lost) ||
	    !asked_named(&listing->folded, listing->words, supplier->code,
		supplier->name))
		return buf_end(&listing->folded);
	listing->absent += !there;
	if (call->params.with_data && lost)
		return ERR_OK; /* counted: a reader must know of it */
	if (listing->total >= listing->first && listing->total < listing->end)
		show(&listing->answer.json, supplier, there ? &entry : NULL);
	listing->total++;
	return buf_end(listing->answer.json.buf);
}

static enum err
each_supplier(struct listing *listing,
    enum err (*each)(void *context, const struct source_supplier *supplier))
{
	struct shared_source *source;
	enum err err = shared_source_get(&source, listing->call);

	if (err == ERR_NOT_FOUND)
		return ERR_OK; /* nothing imported: nobody there */
	if (err == ERR_OK)
		err = source_suppliers(source->source, each, listing);
	shared_source_release(source);
	return err;
}

static enum err
mix_supplier(void *context, const struct source_supplier *supplier)
{
	struct listing *listing = context;
	struct catalog_entry entry;
	bool there, lost;
	uint64_t parts[2];
	enum err err;

	if (!call_sees(listing->call, supplier->code))
		return ERR_OK;
	err = find_entry(&entry, &there, &lost, listing, supplier->code);
	parts[0] = there ? entry.generation : 0;
	parts[1] = lost;
	listing->tag = etag_mix(listing->tag, parts, sizeof(parts));
	return err;
}

/*
 * ERR_ANSWERED: the client has this answer. The tag is of what is shown, whichever
 * node shows it: a catalogue has suppliers that are gone, or that are elsewhere.
 */
static enum err
check_modified(struct listing *listing)
{
	struct call *call = listing->call;
	enum err err;

	listing->tag = live_facts(call->serving->views.live);
	err = each_supplier(listing, mix_supplier);
	reply_header(call->reply, "Content-Type", "application/json");
	if (err != ERR_OK)
		return err;
	return etag_matches(call, &listing->tag, 1, FORMAT_JSON) ? ERR_ANSWERED
								 : ERR_OK;
}

enum err
ep_fournisseurs(struct call *call)
{
	const struct params *params = &call->params;
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct paging pages = paging_of(params->page, limit, INT64_MAX);
	struct listing listing = {.call = call};
	struct jsonw *json = &listing.answer.json;
	enum err err = holder_pass_import(call), ended;

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = check_modified(&listing);
	if (err != ERR_OK)
		return err;
	err = call_fold(&listing.words, call, params->search);
	listing.end = paging_rows(&listing.first, &pages);
	listing.end += listing.first;
	buf_init(&listing.folded, 1 << 16);
	answer_begin(&listing.answer, call);
	jsonw_array_begin(json);
	if (err == ERR_OK)
		err = each_supplier(&listing, add_supplier);
	pages = paging_of(params->page, limit, listing.total);
	paging_headers(call, &pages, FORMAT_JSON);
	jsonw_array_end(json);
	members_object(json, "meta");
	paging_meta(json, call, &pages, paging_rows(&listing.first, &pages),
	    PAGING_HOW_LIST);
	members_int(json, "total", listing.total);
	members_int(json, "sansSnapshot", listing.absent);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
	ended = answer_end(&listing.answer);
	buf_fini(&listing.folded);
	return err == ERR_OK ? ended : err;
}
