/*
 * /app/users: who works in the Grid screen, for administrators. The store checks
 * again, when it writes, that the session is an administrator's: user.h.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/login_place.h"
#include "fcgi/fail.h"
#include "fcgi/rows/ensure.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/user.h"

#define USERS_MAX 100000

/* --- list ----------------------------------------------------------------- */

struct listed_user {
	struct user user; /* borrowed from the view */
	int64_t seen_ms; /* 0: no session tells */
};

struct listing {
	struct listed_user *users; /* by name */
	unsigned count, room;
};

static enum err
keep_user(void *context, const struct user *user)
{
	struct listing *listing = context;

	if (listing->count == listing->room) {
		unsigned room = listing->room * 2 + 64;
		struct listed_user *more = room > USERS_MAX
		    ? NULL
		    : reallocarray(listing->users, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		listing->users = more;
		listing->room = room;
	}
	listing->users[listing->count++] = (struct listed_user){*user, 0};
	return ERR_OK;
}

static int
by_name(const void *key, const void *element)
{
	return span_cmp(*(const struct span *)key,
	    ((const struct listed_user *)element)->user.name);
}

static enum err
note_session(void *context, struct span id, const struct session_record *record)
{
	struct listing *listing = context;
	struct listed_user *found = NULL;

	(void)id;
	if (listing->count > 0 && !record->outside)
		found = bsearch(&record->user, listing->users, listing->count,
		    sizeof(*found), by_name);
	if (found != NULL && found->seen_ms < record->used_ms)
		found->seen_ms = record->used_ms;
	return ERR_OK;
}

static enum err
answer_users(struct call *call, const struct listing *listing)
{
	struct answer answer;

	answer_begin_unkept(&answer, call);
	jsonw_array_begin(&answer.json);
	for (unsigned i = 0; i < listing->count; i++) {
		const struct listed_user *one = &listing->users[i];

		jsonw_object_begin(&answer.json);
		members_text(&answer.json, "name", one->user.name);
		answer_rights(&answer, &one->user.rights);
		members_time(&answer.json, "createdAt", one->user.created_ms);
		members_time(&answer.json, "lastSeenAt", one->seen_ms);
		jsonw_object_end(&answer.json);
	}
	jsonw_array_end(&answer.json);
	members_object(&answer.json, "meta");
	members_int(&answer.json, "total", listing->count);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

enum err
ep_users(struct call *call)
{
	struct state_view *view = call->serving->views.state;
	struct listing listing = {NULL, 0, 0};
	enum err err = user_each(view, keep_user, &listing);

	assert(call->subject.kind == SUBJECT_USER);
	if (err == ERR_OK)
		err = session_each(view, note_session, &listing);
	if (err == ERR_OK)
		err = answer_users(call, &listing);
	free(listing.users);
	return err;
}

/* --- what is asked for ------------------------------------------------------ */

struct asked_user {
	struct user_change change;
	char suppliers[ACCESS_SUPPLIERS_MAX];
};

static void
read_name(struct jsonr *doc, struct asked_user *asked)
{
	struct span *name = &asked->change.name;

	if (jsonr_want_string(
		doc, name, jsonr_member(jsonr_root(doc), "name"), "name") &&
	    (!access_name_ok(*name) || !span_eq(span_trim(*name), *name)))
		jsonr_issue(doc, "name",
		    "must be 1 to %d bytes of text without control "
		    "characters, and without blanks at its ends",
		    ACCESS_NAME_MAX);
}

static void
read_password(struct jsonr *doc, struct asked_user *asked)
{
	if (jsonr_want_string(doc, &asked->change.password,
		jsonr_member(jsonr_root(doc), "password"), "password") &&
	    !user_password_ok(asked->change.password))
		jsonr_issue(doc, "password", "must have %d to %d bytes",
		    USER_PASSWORD_MIN, USER_PASSWORD_MAX);
}

static void
read_suppliers(struct jsonr *doc, struct asked_user *asked,
    const struct jsonr_value *value)
{
	size_t count =
	    body_array(doc, value, "suppliers", 1, ACCESS_SUPPLIERS_MAX);
	size_t len = 0;
	struct span code;

	for (size_t i = 0; i < count; i++) {
		if (!body_code(doc, &code, jsonr_at(value, i), "suppliers"))
			return;
		if (len + code.len + 1 > sizeof(asked->suppliers)) {
			jsonr_issue(doc, "suppliers", "is too long");
			return;
		}
		memcpy(asked->suppliers + len, code.ptr, code.len);
		len += code.len;
		asked->suppliers[len++] = '\n';
	}
	asked->change.rights.suppliers = span_make(asked->suppliers, len);
}

static void
read_rights(struct jsonr *doc, struct asked_user *asked)
{
	const struct jsonr_value *root = jsonr_root(doc);
	const struct jsonr_value *suppliers = jsonr_member(root, "suppliers");
	enum role *role = &asked->change.rights.role;
	bool all = jsonr_type(suppliers) == JSONR_ABSENT ||
	    jsonr_type(suppliers) == JSONR_NULL;
	struct span text;

	if (!jsonr_want_string(doc, &text, jsonr_member(root, "role"), "role"))
		return;
	if (!role_read(role, text))
		jsonr_issue(
		    doc, "role", "must be buyer, manager or administrator");
	else if (!all && *role == ROLE_BUYER)
		read_suppliers(doc, asked, suppliers);
	else if (!all)
		jsonr_issue(doc, "suppliers",
		    "must be null: only a buyer decides for some suppliers");
}

/* --- doing it --------------------------------------------------------------- */

/* The user as it is now; after a removal, the name. */
static enum err
answer_user(struct call *call, const struct user_change *change)
{
	struct state_view *view = call->serving->views.state;
	struct user user = {.name = change->name};
	struct answer answer;
	enum err err = ERR_OK;

	if (change->act != USER_REMOVE)
		err = state_view_renew(view);
	if (change->act != USER_REMOVE && err == ERR_OK)
		err = user_get(&user, view, change->name);
	if (err != ERR_OK)
		return fail_write(call, err);
	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_text(&answer.json, "name", change->name);
	if (change->act != USER_REMOVE)
		answer_rights(&answer, &user.rights);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

/* `doc` is NULL where there is no body. */
static enum err
change_user(
    struct call *call, const struct user_change *change, struct jsonr *doc)
{
	enum err err = user_change_by(call->server->store, change,
	    span_make(call->subject.session, sizeof(call->subject.session)));

	if (err == ERR_OK)
		return answer_user(call, change);
	if (err == ERR_DENIED)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only an administrator may manage API keys and users.");
	if (err == ERR_LAST)
		return reply_fail(call->reply, 409, CODE_BAD_REQUEST,
		    "This is the last administrator with a password: make "
		    "another one first. Nothing was done.");
	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no user of this name; GET /app/users lists "
		    "them.");
	if (err == ERR_EXISTS && doc != NULL) {
		jsonr_issue(doc, "name", "is the name of a user");
		return body_check(call, doc);
	}
	return fail_write(call, err);
}

/* As change_user(), where a password is hashed. */
static enum err
change_in_place(
    struct call *call, const struct user_change *change, struct jsonr *doc)
{
	int place;
	enum err err = login_place_take(&place, call);

	if (err != ERR_OK)
		return err;
	err = change_user(call, change, doc);
	close(place);
	return err;
}

/* Reads the body, whose members are `names`, and makes the change. */
static enum err
change_by_body(struct call *call, struct asked_user *asked,
    const char *const *names, size_t count)
{
	const struct user_change *change = &asked->change;
	bool hashes = change->act != USER_RIGHTS;
	struct jsonr *doc;
	enum err err;

	assert(call->subject.kind == SUBJECT_USER);
	if (hashes && !call->request->slow_pool)
		return ensure_hand_over_to(call, "@login");
	err = body_open(&doc, call);
	if (err != ERR_OK)
		return err;
	jsonr_only(doc, jsonr_root(doc), "", names, count);
	if (change->act == USER_ADD)
		read_name(doc, asked);
	if (hashes)
		read_password(doc, asked);
	if (change->act != USER_PASSWD)
		read_rights(doc, asked);
	err = body_check(call, doc);
	if (err == ERR_OK)
		err = hashes ? change_in_place(call, change, doc)
			     : change_user(call, change, doc);
	jsonr_free(doc);
	return err;
}

enum err
ep_user_add(struct call *call)
{
	static const char *const names[] = {
	    "name", "password", "role", "suppliers"};
	struct asked_user asked = {.change = {.act = USER_ADD}};

	return change_by_body(call, &asked, names, 4);
}

enum err
ep_user_rights(struct call *call)
{
	static const char *const names[] = {"role", "suppliers"};
	struct asked_user asked = {
	    .change = {.act = USER_RIGHTS, .name = call->path[0]}};

	return change_by_body(call, &asked, names, 2);
}

/* Not one's own, which needs the present one: a session may be another's. */
enum err
ep_user_password(struct call *call)
{
	static const char *const names[] = {"password"};
	struct asked_user asked = {
	    .change = {.act = USER_PASSWD, .name = call->path[0]}};

	if (!call->subject.outside &&
	    span_eq(call->subject.name, call->path[0]))
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "One's own password is changed by PUT /app/password, with "
		    "the present one.");
	return change_by_body(call, &asked, names, 1);
}

enum err
ep_user_remove(struct call *call)
{
	assert(call->subject.kind == SUBJECT_USER);
	return change_user(call,
	    &(struct user_change){.act = USER_REMOVE, .name = call->path[0]},
	    NULL);
}
