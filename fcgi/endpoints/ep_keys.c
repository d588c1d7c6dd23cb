/*
 * /app/keys: the API keys in the settings of the application. The store checks
 * again, when it writes, that the session is an administrator's: access.h.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/digest.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/fail.h"
#include "fcgi/http/members.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/state.h"

#define KEYS_MAX 100000

/* --- list ----------------------------------------------------------------- */

struct listing {
	struct access_key *keys; /* borrowed from the view */
	unsigned count, room;
};

static enum err
keep_key(void *context, const struct access_key *key)
{
	struct listing *listing = context;

	if (listing->count == listing->room) {
		unsigned room = listing->room * 2 + 64;
		struct access_key *more = room > KEYS_MAX
		    ? NULL
		    : reallocarray(listing->keys, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		listing->keys = more;
		listing->room = room;
	}
	listing->keys[listing->count++] = *key;
	return ERR_OK;
}

static int
newest_first(const void *a, const void *b)
{
	int64_t left = ((const struct access_key *)a)->created_ms;
	int64_t right = ((const struct access_key *)b)->created_ms;

	return left > right ? -1 : left < right;
}

/* The suppliers are null where it sees all. */
static void
add_bounds(struct jsonw *json, const struct access_bounds *bounds)
{
	members_time(json, "expiresAt", bounds->expires_ms);
	jsonw_key(json, "perMinute");
	if (bounds->per_minute == 0)
		jsonw_null(json);
	else
		jsonw_int(json, bounds->per_minute);
	members_codes(json, "suppliers", bounds->suppliers);
}

static enum err
answer_keys(struct call *call, struct listing *listing)
{
	struct answer answer;

	if (listing->count > 0)
		qsort(listing->keys, listing->count, sizeof(*listing->keys),
		    newest_first);
	answer_begin_unkept(&answer, call);
	jsonw_array_begin(&answer.json);
	for (unsigned i = 0; i < listing->count; i++) {
		const struct access_key *key = &listing->keys[i];

		jsonw_object_begin(&answer.json);
		members_text(&answer.json, "id", key->id);
		members_text(&answer.json, "name", key->name);
		members_text(&answer.json, "scope",
		    span_of(access_scope_text(key->scope)));
		members_time(&answer.json, "createdAt", key->created_ms);
		members_time(&answer.json, "lastUsedAt", key->used_ms);
		members_time(&answer.json, "revokedAt", key->revoked_ms);
		add_bounds(&answer.json, &key->bounds);
		jsonw_object_end(&answer.json);
	}
	jsonw_array_end(&answer.json);
	members_object(&answer.json, "meta");
	members_int(&answer.json, "total", listing->count);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

enum err
ep_keys(struct call *call)
{
	struct listing listing = {NULL, 0, 0};
	enum err err =
	    access_key_each(call->serving->views.state, keep_key, &listing);

	assert(call->subject.kind == SUBJECT_USER);
	if (err == ERR_OK)
		err = answer_keys(call, &listing);
	free(listing.keys);
	return err;
}

/* --- create --------------------------------------------------------------- */

struct sought {
	struct span name, id;
	int64_t created_ms, revoked_ms;
	bool found;
};

/* Of the keys that are in use. */
static enum err
find_name(void *context, const struct access_key *key)
{
	struct sought *sought = context;

	sought->found |= access_key_valid(key, date_now_ms()) &&
	    span_eq(key->name, sought->name);
	return ERR_OK;
}

static enum err
find_id(void *context, const struct access_key *key)
{
	struct sought *sought = context;

	if (span_eq(key->id, sought->id)) {
		sought->found = true;
		sought->created_ms = key->created_ms;
		sought->revoked_ms = key->revoked_ms;
	}
	return ERR_OK;
}

/* How the key stands now. */
static enum err
look_up(struct sought *sought, struct call *call)
{
	enum err err = state_view_renew(call->serving->views.state);

	if (err == ERR_OK)
		err = access_key_each(
		    call->serving->views.state, find_id, sought);
	return err;
}

static void
note_taken(struct jsonr *doc)
{
	jsonr_issue(doc, "name", "is the name of a key in use");
}

static enum err
answer_created(struct call *call, const struct access_wish *wish,
    struct span id, struct span key)
{
	struct sought sought = {.id = id};
	struct answer answer;
	enum err err = look_up(&sought, call);

	if (err != ERR_OK)
		return fail_write(call, err);
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_text(&answer.json, "id", id);
	members_text(&answer.json, "name", wish->name);
	members_text(
	    &answer.json, "scope", span_of(access_scope_text(wish->scope)));
	members_time(&answer.json, "createdAt", sought.created_ms);
	members_text(&answer.json, "key", key);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static struct access_actor
actor_of(const struct call *call)
{
	return (struct access_actor){.session = span_make(call->subject.session,
					 sizeof(call->subject.session))};
}

static enum err
refuse(struct call *call)
{
	return reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "Only an administrator may manage API keys and users.");
}

static enum err
create(struct call *call, struct jsonr *doc, struct access_wish *wish)
{
	char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];
	enum err err;

	wish->actor = actor_of(call);
	err = access_key_create(call->server->store, wish, key, id);
	if (err == ERR_OK)
		err = answer_created(call, wish, span_of(id), span_of(key));
	else if (err == ERR_EXISTS) {
		/* Another request has taken the name meanwhile. */
		note_taken(doc);
		err = body_check(call, doc);
	} else if (err == ERR_DENIED)
		err = refuse(call);
	else
		err = fail_write(call, err);
	digest_forget(key, sizeof(key));
	return err;
}

static enum err
read_key(struct call *call, struct jsonr *doc, struct access_wish *wish)
{
	static const char *const names[] = {"name", "scope"};
	const struct jsonr_value *root = jsonr_root(doc);
	struct sought sought = {.found = false};
	struct span text;
	enum err err = ERR_OK;

	jsonr_only(doc, root, "", names, 2);
	if (jsonr_want_string(
		doc, &wish->name, jsonr_member(root, "name"), "name")) {
		sought.name = wish->name;
		err = access_key_each(
		    call->serving->views.state, find_name, &sought);
		if (!access_name_ok(wish->name))
			jsonr_issue(doc, "name",
			    "must be 1 to %d bytes of text without control "
			    "characters",
			    ACCESS_NAME_MAX);
		else if (sought.found)
			note_taken(doc);
	}
	if (jsonr_want_string(
		doc, &text, jsonr_member(root, "scope"), "scope") &&
	    !access_scope(&wish->scope, text))
		jsonr_issue(doc, "scope", "must be read or propose");
	return err;
}

enum err
ep_key_create(struct call *call)
{
	struct access_wish wish = {.scope = ACCESS_READ, .alone = true};
	struct jsonr *doc;
	enum err err = body_open(&doc, call);

	assert(call->subject.kind == SUBJECT_USER);
	if (err != ERR_OK)
		return err;
	err = read_key(call, doc, &wish);
	if (err == ERR_OK)
		err = body_check(call, doc);
	if (err == ERR_OK)
		err = create(call, doc, &wish);
	jsonr_free(doc);
	return err;
}

/* --- revoke --------------------------------------------------------------- */

/* A key that is revoked already stays as it is. */
enum err
ep_key_revoke(struct call *call)
{
	struct sought sought = {.id = call->path[0]};
	struct access_actor actor = actor_of(call);
	struct answer answer;
	enum err err =
	    access_key_revoke(call->server->store, call->path[0], &actor);

	assert(call->subject.kind == SUBJECT_USER);
	if (err == ERR_DENIED)
		return refuse(call);
	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no key with this id; GET /app/keys lists them.");
	if (err == ERR_OK || err == ERR_EXISTS)
		err = look_up(&sought, call);
	if (err != ERR_OK)
		return fail_write(call, err);
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_text(&answer.json, "id", call->path[0]);
	members_time(&answer.json, "revokedAt", sought.revoked_ms);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}
