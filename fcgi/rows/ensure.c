#include "fcgi/rows/ensure.h"

#include <assert.h>

#include "fcgi/fail.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/settings.h"
#include "lmdb-schema/facts/source.h"

#define RETRY_SECONDS 5

/* The 202 of a supplier that has no snapshot. */
static enum err
refuse(struct call *call, const char *why, unsigned retry_after)
{
	reply_fail(call->reply, 202, CODE_NOT_READY, "%s",
	    reply_words(call->reply, why));
	if (retry_after > 0)
		reply_header(call->reply, "Retry-After", "%u", retry_after);
	return ERR_ANSWERED;
}

/* ERR_NOT_FOUND: unknown, or without article. */
static enum err
check_known(struct call *call, struct span supplier)
{
	struct shared_source *source;
	struct source_supplier info = {.articles = 0};
	enum err err;

	if (!call_sees(call, supplier))
		return ERR_NOT_FOUND;
	err = shared_source_get(&source, call);
	if (err != ERR_OK)
		return err;
	err = source_supplier(source->source, supplier, &info);
	if (err == ERR_OK && info.articles == 0)
		err = ERR_NOT_FOUND;
	shared_source_release(source);
	return err;
}

enum err
ensure_hand_over(struct call *call)
{
	return ensure_hand_over_to(call, "@slow");
}

enum err
ensure_hand_over_to(struct call *call, const char *location)
{
	const struct subject *subject = &call->subject;

	assert(!call->handed_over && !call->reply->begun);
	reply_restart(call->reply);
	reply_header(call->reply, "X-Accel-Redirect", "%s", location);
	/* nginx counts the request for this caller: a key or a person. */
	if (subject->kind == SUBJECT_KEY)
		reply_header(call->reply, "X-Grid-Caller", "key %.*s",
		    SPAN_ARG(subject->id));
	else if (subject->kind == SUBJECT_USER)
		reply_header(call->reply, "X-Grid-Caller", "user %.*s",
		    SPAN_ARG(subject->name));
	call->handed_over = true;
	return ERR_ANSWERED;
}

static enum err
tell_failure(struct call *call, struct span supplier, enum err err)
{
	long long limit = (long long)call->server->settings->compute_timeout_s;

	if (err == ERR_BUSY)
		return refuse(call,
		    "Too many suppliers are being computed: try again in some "
		    "seconds.",
		    RETRY_SECONDS);
	if (err == ERR_TIMED_OUT)
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The computation of supplier %.*s took longer than %lld "
		    "seconds and was ended; the next call may try again.",
		    SPAN_ARG(supplier), limit);
	return reply_fail(call->reply, 500, CODE_INTERNAL,
	    "The computation of supplier %.*s failed; the server's log says "
	    "why.",
	    SPAN_ARG(supplier));
}

static enum err
compute(struct snapview *view, struct call *call, struct span supplier)
{
	enum err err = on_demand_compute(call, supplier);

	/* The views are as the request found them: look again. */
	if (err == ERR_OK) {
		views_rest(&call->serving->views);
		err = views_renew(&call->serving->views);
	}
	if (err == ERR_OK)
		err = snapview_pin(view, call, supplier, 0);
	if (err == ERR_OK)
		return ERR_OK;
	if (err != ERR_BUSY && err != ERR_CLOSED &&
	    holder_fall_back(call, supplier) == ERR_ANSWERED)
		return ERR_ANSWERED;
	return tell_failure(call, supplier, err);
}

enum err
ensure_snapshot(struct snapview *view, struct call *call, struct span supplier,
    uint64_t generation, bool may_compute, bool *computed)
{
	enum err err = check_known(call, supplier);

	assert(supplier.len > 0 && supplier.len <= SCHEMA_CODE_MAX);
	*computed = false;
	if (err == ERR_NOT_FOUND)
		return holder_pass_import(call) == ERR_ANSWERED
		    ? ERR_ANSWERED
		    : fail_no_supplier(call, supplier);
	if (err == ERR_OK && generation == 0)
		err = holder_pass(call, supplier);
	if (err == ERR_OK)
		err = snapview_pin(view, call, supplier, generation);
	/* A replaced one may still be here, or is at a holder. */
	if ((err == ERR_NOT_FOUND || err == ERR_NOT_READY) && generation != 0 &&
	    holder_pass(call, supplier) == ERR_ANSWERED)
		return ERR_ANSWERED;
	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "This generation of supplier %.*s is not kept any more: "
		    "begin again with its first page, without snapshot.",
		    SPAN_ARG(supplier));
	if (err != ERR_NOT_READY)
		return err;
	if (generation != 0)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "This generation of supplier %.*s cannot be read.",
		    SPAN_ARG(supplier));
	if (!may_compute)
		return refuse(call,
		    "This supplier has not been computed yet: GET /grid "
		    "computes it, unless compute=0 says not to.",
		    0);
	if (!call->request->slow_pool)
		return ensure_hand_over(call);
	*computed = true;
	return compute(view, call, supplier);
}

enum err
ensure_supplier(struct snapview *view, struct call *call, struct span supplier,
    uint64_t generation, bool may_compute, bool *computed)
{
	enum err err = ensure_snapshot(
	    view, call, supplier, generation, may_compute, computed);

	assert(computed != NULL);
	return err == ERR_OK ? snapview_add_ranges(view, call) : err;
}

enum err
ensure_asked(struct snapview *view, struct call *call, bool *computed)
{
	const struct params *params = &call->params;

	assert(params->fournisseur.len > 0);
	return ensure_supplier(view, call, params->fournisseur,
	    params->snapshot, params->compute, computed);
}
