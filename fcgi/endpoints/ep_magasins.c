/* GET /magasins: the own stores that facts are of, by code. */
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
#include "fcgi/http/format.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"

#define FOLDED_MAX (1u << 16)

struct listing {
	struct call *call;
	struct answer answer;
	const struct source *source;
	struct span words;
	struct buf folded;
	int64_t first, end; /* places that are shown */
	int64_t total;
};

static enum err
add_store(struct listing *listing, uint16_t store)
{
	struct jsonw *json = &listing->answer.json;
	struct span code = source_store_code(listing->source, store);
	struct span name = source_store_name(listing->source, store);

	if (!asked_named(&listing->folded, listing->words, code, name))
		return buf_end(&listing->folded);
	if (listing->total >= listing->first && listing->total < listing->end) {
		jsonw_object_begin(json);
		members_text(json, "code", code);
		members_null_text(json, "nom", name);
		jsonw_object_end(json);
	}
	listing->total++;
	return ERR_OK;
}

static enum err
list(struct listing *listing)
{
	struct shared_source *source;
	enum err err = shared_source_get(&source, listing->call);
	uint64_t stores;

	if (err == ERR_NOT_FOUND)
		return ERR_OK; /* nothing imported: no store */
	if (err != ERR_OK)
		return err;
	listing->source = source->source;
	stores = source_header(source->source)->stores;
	for (uint64_t i = 0; i < stores && err == ERR_OK; i++)
		err = add_store(listing, (uint16_t)i);
	shared_source_release(source);
	return err;
}

static void
add_meta(struct listing *listing, const struct paging *pages)
{
	const struct params *params = &listing->call->params;
	struct jsonw *json = &listing->answer.json;
	int64_t first;

	members_object(json, "meta");
	paging_meta(json, listing->call, pages, paging_rows(&first, pages),
	    PAGING_HOW_LIST);
	members_int(json, "total", listing->total);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

enum err
ep_magasins(struct call *call)
{
	const struct params *params = &call->params;
	const uint64_t tag[] = {live_facts(call->serving->views.live)};
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct paging pages = paging_of(params->page, limit, INT64_MAX);
	struct listing listing = {.call = call};
	enum err err = holder_pass_import(call), ended;

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err != ERR_OK)
		return err;
	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 1, FORMAT_JSON))
		return ERR_ANSWERED;
	err = call_fold(&listing.words, call, params->search);
	if (err != ERR_OK)
		return err;
	listing.end = paging_rows(&listing.first, &pages);
	listing.end += listing.first;
	buf_init(&listing.folded, FOLDED_MAX);
	answer_begin(&listing.answer, call);
	jsonw_array_begin(&listing.answer.json);
	err = list(&listing);
	pages = paging_of(params->page, limit, listing.total);
	paging_headers(call, &pages, FORMAT_JSON);
	jsonw_array_end(&listing.answer.json);
	add_meta(&listing, &pages);
	ended = answer_end(&listing.answer);
	buf_fini(&listing.folded);
	return err == ERR_OK ? ended : err;
}
