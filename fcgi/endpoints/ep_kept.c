/*
 * /app/kept: what the screen keeps for a user, or for all users: edits that are
 * not saved yet, and views. The values are the screen's own: text, not read here.
 */
#include <assert.h>
#include <stdio.h>

#include "common/date.h"
#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/fail.h"
#include "lmdb-schema/state/kept.h"
#include "lmdb-schema/state/state.h"

/* --- whose, and which ----------------------------------------------------- */

static bool
is_shared(const struct call *call)
{
	return span_eq(call->path[0], SPAN("shared"));
}

static struct span
owner_of(const struct call *call)
{
	return is_shared(call) ? SPAN("") : call->subject.name;
}

static enum err
check_path(struct call *call)
{
	assert(call->subject.kind == SUBJECT_USER);
	if (!is_shared(call) && !span_eq(call->path[0], SPAN("mine")))
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "What is kept stands at /app/kept/mine or "
		    "/app/kept/shared.");
	if (!kept_name_ok(call->path[1]))
		return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "The name of what is kept has 1 to 150 bytes without "
		    "control characters.");
	return ERR_OK;
}

/* Only managers and administrators change the values of all users. */
static enum err
check_writer(struct call *call)
{
	enum err err = check_path(call);

	if (err == ERR_OK && is_shared(call) &&
	    !rights_share(&call->subject.rights))
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only a manager or an administrator may change what all "
		    "users share; /app/kept/mine is the user's own.");
	return err;
}

static enum err
tell_none(struct call *call)
{
	return reply_fail(call->reply, 404, CODE_NOT_FOUND,
	    "Nothing is kept by this name; GET /app/kept lists what is.");
}

/* --- reading -------------------------------------------------------------- */

static void
write_kept(struct jsonw *json, const struct kept *kept, bool shared)
{
	members_text(json, "name", kept->name);
	members_bool(json, "shared", shared);
	members_text(json, "author", kept->author);
	members_time(json, "at", kept->when_ms);
	members_int(json, "version", (int64_t)kept->version);
	members_int(json, "bytes", (int64_t)kept->value.len);
}

struct listing {
	struct answer answer;
	bool shared;
	int64_t total;
};

static enum err
list_one(void *context, const struct kept *kept)
{
	struct listing *listing = context;

	jsonw_object_begin(&listing->answer.json);
	write_kept(&listing->answer.json, kept, listing->shared);
	jsonw_object_end(&listing->answer.json);
	listing->total++;
	return ERR_OK;
}

/* All names, without the values: one's own, then those of all. */
enum err
ep_kept(struct call *call)
{
	struct state_view *view = call->serving->views.state;
	struct listing listing = {.shared = false};
	enum err err;

	assert(call->subject.kind == SUBJECT_USER);
	answer_begin_unkept(&listing.answer, call);
	jsonw_array_begin(&listing.answer.json);
	err = kept_each(view, call->subject.name, list_one, &listing);
	listing.shared = true;
	if (err == ERR_OK)
		err = kept_each(view, SPAN(""), list_one, &listing);
	if (err != ERR_OK)
		return err;
	jsonw_array_end(&listing.answer.json);
	members_object(&listing.answer.json, "meta");
	members_int(&listing.answer.json, "total", listing.total);
	jsonw_object_end(&listing.answer.json);
	return answer_end(&listing.answer);
}

enum err
ep_kept_one(struct call *call)
{
	struct answer answer;
	struct kept kept;
	enum err err = check_path(call);

	if (err == ERR_OK)
		err = kept_get(&kept, call->serving->views.state,
		    owner_of(call), call->path[1]);
	if (err == ERR_NOT_FOUND)
		return tell_none(call);
	if (err != ERR_OK)
		return err;
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	write_kept(&answer.json, &kept, is_shared(call));
	members_text(&answer.json, "value", kept.value);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

/* --- writing -------------------------------------------------------------- */

/* The version that the caller knew is not the newest any more: nothing was done. */
static enum err
tell_changed(struct call *call)
{
	struct kept now = {.version = 0};
	struct jsonw json;
	enum err err = state_view_renew(call->serving->views.state);

	if (err == ERR_OK)
		err = kept_get(&now, call->serving->views.state, owner_of(call),
		    call->path[1]);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	fail_begin(&json, call);
	members_int(&json, "version", (int64_t)now.version);
	return fail_end(&json, call, 409, CODE_BAD_REQUEST,
	    SPAN("It was changed meanwhile: read it, and ask again with its "
		 "newest version."));
}

static enum err
tell_full(struct call *call)
{
	char text[200];

	snprintf(text, sizeof(text),
	    "Too much would be kept: a value may have %u MB, all of a user "
	    "%u MB in %u names. Remove something first.",
	    KEPT_VALUE_MAX >> 20, KEPT_BYTES_MAX >> 20, KEPT_COUNT_MAX);
	return reply_fail(call->reply, 413, CODE_BAD_REQUEST, "%s", text);
}

static void
read_kept(struct kept *kept, struct jsonr *doc)
{
	static const char *const names[] = {"value", "version"};
	const struct jsonr_value *root = jsonr_root(doc);
	const struct jsonr_value *known = jsonr_member(root, "version");
	int64_t version = 0;

	jsonr_only(doc, root, "", names, 2);
	jsonr_want_string(
	    doc, &kept->value, jsonr_member(root, "value"), "value");
	if (known == NULL)
		kept->version = KEPT_ANY;
	else if (jsonr_want_int(doc, &version, known, "version", 0, INT64_MAX))
		kept->version = (uint64_t)version;
}

static enum err
put(struct call *call, struct kept *kept)
{
	struct answer answer;
	uint64_t version;
	enum err err =
	    kept_put(&version, call->server->store, owner_of(call), kept);

	if (err == ERR_EXISTS)
		return tell_changed(call);
	if (err == ERR_TOO_LARGE)
		return tell_full(call);
	if (err != ERR_OK)
		return fail_write(call, err);
	kept->version = version;
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	write_kept(&answer.json, kept, is_shared(call));
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

enum err
ep_kept_put(struct call *call)
{
	struct kept kept = {.name = call->path[1],
	    .author = call->subject.name,
	    .when_ms = date_now_ms()};
	struct jsonr *doc;
	enum err err = check_writer(call);

	if (err == ERR_OK)
		err = body_open(&doc, call);
	if (err != ERR_OK)
		return err;
	read_kept(&kept, doc);
	err = body_check(call, doc);
	if (err == ERR_OK)
		err = put(call, &kept);
	jsonr_free(doc);
	return err;
}

enum err
ep_kept_remove(struct call *call)
{
	int64_t known = call->params.kept_version;
	struct answer answer;
	enum err err = check_writer(call);

	if (err != ERR_OK)
		return err;
	err = kept_remove(call->server->store, owner_of(call), call->path[1],
	    known == 0 ? KEPT_ANY : (uint64_t)known);
	if (err == ERR_NOT_FOUND)
		return tell_none(call);
	if (err == ERR_EXISTS)
		return tell_changed(call);
	if (err != ERR_OK)
		return fail_write(call, err);
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_text(&answer.json, "name", call->path[1]);
	members_bool(&answer.json, "shared", is_shared(call));
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}
