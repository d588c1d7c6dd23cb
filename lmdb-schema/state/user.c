#include "lmdb-schema/state/user.h"

#include <assert.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/kept.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/store/store.h"

bool
user_password_ok(struct span password)
{
	return password.len >= USER_PASSWORD_MIN &&
	    password.len <= USER_PASSWORD_MAX;
}

struct user_record {
	struct span hash;
	struct user user;
};

static enum err
read_record(struct user_record *record, struct span name, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	record->hash = unpack_text(&from);
	record->user.name = name;
	record->user.created_ms = (int64_t)unpack_unsigned(&from);
	record->user.rights = (struct rights){.role = ROLE_ADMINISTRATOR};
	if (from.at < from.end && !rights_unpack(&record->user.rights, &from))
		return ERR_DAMAGED;
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

static enum err
get_record(struct user_record *record, struct kv_txn *txn, struct span name)
{
	struct span value;
	enum err err = access_name_ok(name)
	    ? kv_get(txn, STATE_USERS, name, &value)
	    : ERR_NOT_FOUND;

	return err == ERR_OK ? read_record(record, name, value) : err;
}

enum err
user_hash(struct kv_txn *txn, struct span name, struct span *hash)
{
	struct user_record record;
	enum err err = get_record(&record, txn, name);

	*hash = err == ERR_OK ? record.hash : SPAN("");
	return err;
}

enum err
user_get(struct user *user, struct state_view *view, struct span name)
{
	struct user_record record;
	enum err err = get_record(&record, state_view_txn(view), name);

	if (err == ERR_OK)
		*user = record.user;
	return err;
}

enum err
user_each(struct state_view *view,
    enum err (*each)(void *context, const struct user *user), void *context)
{
	struct kv_walk *walk = kv_walk_begin(
	    state_view_txn(view), STATE_USERS, SPAN(""), SPAN(""));
	struct user_record record;
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_record(&record, key, value);
		if (err == ERR_OK)
			err = each(context, &record.user);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

/* --- changing ------------------------------------------------------------- */

enum change { ADD, PASSWD, RIGHTS, REMOVE };

struct work {
	enum change change;
	struct span name, actor;
	struct rights rights; /* of ADD and RIGHTS */
	const char
	    *seen; /* the hash that PASSWD takes the place of; NULL: any */
	char hash[DIGEST_PASSWORD_MAX];
};

/* As earlier programs have it where it gives all rights. */
static enum err
put_record(struct kv_txn *txn, const struct user_record *record)
{
	struct buf value;

	buf_init(&value, 1024 + ACCESS_SUPPLIERS_MAX);
	pack_add_text(&value, record->hash);
	pack_add_unsigned(&value, (uint64_t)record->user.created_ms);
	if (record->user.rights.role != ROLE_ADMINISTRATOR)
		rights_pack(&value, &record->user.rights);
	return store_put(txn, STATE_USERS, record->user.name, &value);
}

static enum err
add_user(const struct work *work, struct kv_txn *txn)
{
	return put_record(txn,
	    &(struct user_record){
		.hash = span_of(work->hash),
		.user = {work->name, date_now_ms(), work->rights},
	    });
}

/* Removes a user's kept values and sessions; *found: there was one of them. */
static enum err
remove_rest(struct kv_txn *txn, struct span name, bool *found)
{
	uint64_t kept, sessions = 0;
	enum err err = kept_remove_all(txn, name, &kept);

	if (err == ERR_OK)
		err = session_end_all(txn, name, &sessions);
	*found = err == ERR_OK && kept + sessions > 0;
	return err;
}

static enum err
remove_user(const struct work *work, struct kv_txn *txn, bool known)
{
	bool found;
	enum err err = known ? kv_del(txn, STATE_USERS, work->name) : ERR_OK;

	if (err == ERR_OK)
		err = remove_rest(txn, work->name, &found);
	return err == ERR_OK && !known && !found ? ERR_NOT_FOUND : err;
}

static enum err
alter(const struct work *work, struct kv_txn *txn)
{
	struct user_record record;
	uint64_t ended;
	enum err err = get_record(&record, txn, work->name);

	if (work->change == ADD) {
		if (err == ERR_NOT_FOUND)
			return add_user(work, txn);
		return err == ERR_OK ? ERR_EXISTS : err;
	}
	/*
	 * A damaged record may still be removed, and the user then added again.
	 */
	if (work->change == REMOVE && access_name_ok(work->name) &&
	    (err == ERR_OK || err == ERR_DAMAGED || err == ERR_NOT_FOUND))
		return remove_user(work, txn, err != ERR_NOT_FOUND);
	if (err != ERR_OK)
		return err;
	if (work->seen != NULL && !span_eq(record.hash, span_of(work->seen)))
		return ERR_DENIED;
	if (work->change == RIGHTS) {
		record.user.rights = work->rights;
		return put_record(txn, &record);
	}
	record.hash = span_of(work->hash);
	err = put_record(txn, &record);
	return err == ERR_OK ? session_end_all(txn, work->name, &ended) : err;
}

static enum err
change(void *context, struct kv_txn *txn)
{
	static const struct span events[] = {
	    [ADD] = {"user-added", 10},
	    [PASSWD] = {"user-password", 13},
	    [RIGHTS] = {"user-role", 9},
	    [REMOVE] = {"user-removed", 12},
	};
	const struct work *work = context;
	struct span role = SPAN("");
	enum err err = alter(work, txn);

	if (work->change == RIGHTS ||
	    (work->change == ADD && work->rights.role != ROLE_ADMINISTRATOR))
		role = span_of(role_text(work->rights.role));

	if (err == ERR_OK)
		err = access_touch(txn);
	if (err != ERR_OK)
		return err;
	return audit_add(txn,
	    &(struct audit_entry){.event = events[work->change],
		.actor = work->actor,
		.codein = work->name,
		.motif = role});
}

/* Hash before the transaction: it takes a tenth of a second. */
static enum err
change_password(struct store *store, struct work *work, struct span password)
{
	enum err err;

	if (!access_name_ok(work->name) ||
	    !span_eq(span_trim(work->name), work->name) ||
	    !user_password_ok(password))
		return ERR_BAD_INPUT;
	err = digest_password_make(work->hash, password);
	if (err == ERR_OK)
		err = store_write(store, STORE_STATE, change, work);
	digest_forget(work->hash, sizeof(work->hash));
	return err;
}

enum err
user_add(struct store *store, struct span name, struct span password,
    const char *actor)
{
	static const struct rights all = {.role = ROLE_ADMINISTRATOR};

	return user_add_as(store, name, password, &all, actor);
}

enum err
user_add_as(struct store *store, struct span name, struct span password,
    const struct rights *rights, const char *actor)
{
	assert(actor != NULL && rights_ok(rights));
	return change_password(store,
	    &(struct work){.change = ADD,
		.name = name,
		.actor = span_of(actor),
		.rights = *rights},
	    password);
}

enum err
user_set_rights(struct store *store, struct span name,
    const struct rights *rights, const char *actor)
{
	struct work work = {.change = RIGHTS,
	    .name = name,
	    .actor = span_of(actor),
	    .rights = *rights};

	assert(actor != NULL && rights_ok(rights));
	return store_write(store, STORE_STATE, change, &work);
}

enum err
user_passwd(struct store *store, struct span name, struct span password,
    const char *actor)
{
	assert(actor != NULL);
	return change_password(store,
	    &(struct work){
		.change = PASSWD, .name = name, .actor = span_of(actor)},
	    password);
}

/* A copy, as no view stays open while a password is hashed. */
static enum err
copy_hash(char out[DIGEST_PASSWORD_MAX], struct store *store, struct span name)
{
	struct state_view *view = NULL;
	struct span hash;
	enum err err = state_view_open(&view, store);

	if (err != ERR_OK)
		return err;
	err = user_hash(state_view_txn(view), name, &hash);
	if (err == ERR_OK && !span_copy(out, DIGEST_PASSWORD_MAX, hash))
		err = ERR_DAMAGED;
	state_view_close(view);
	return err;
}

enum err
user_renew(struct store *store, struct span name, struct span old,
    struct span password)
{
	char seen[DIGEST_PASSWORD_MAX];
	enum err err;

	if (!user_password_ok(password))
		return ERR_BAD_INPUT;
	err = copy_hash(seen, store, name);
	if (err == ERR_OK && !digest_password_check(seen, old))
		err = ERR_DENIED;
	if (err == ERR_OK)
		err = change_password(store,
		    &(struct work){.change = PASSWD,
			.name = name,
			.actor = name,
			.seen = seen},
		    password);
	digest_forget(seen, sizeof(seen));
	return err == ERR_NOT_FOUND ? ERR_DENIED : err;
}

enum err
user_remove(struct store *store, struct span name, const char *actor)
{
	struct work work = {
	    .change = REMOVE, .name = name, .actor = span_of(actor)};

	assert(actor != NULL);
	return store_write(store, STORE_STATE, change, &work);
}
