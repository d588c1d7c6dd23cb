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

enum change { ADD, PASSWD, REMOVE };

struct work {
	enum change change;
	struct span name, actor;
	const char
	    *seen; /* the hash that PASSWD takes the place of; NULL: any */
	char hash[DIGEST_PASSWORD_MAX];
};

static enum err
put_record(struct kv_txn *txn, const struct work *work, int64_t created_ms)
{
	struct buf value;

	buf_init(&value, 1024);
	pack_add_text(&value, span_of(work->hash));
	pack_add_unsigned(&value, (uint64_t)created_ms);
	return store_put(txn, STATE_USERS, work->name, &value);
}

static enum err
alter(const struct work *work, struct kv_txn *txn)
{
	struct user_record record;
	enum err err = get_record(&record, txn, work->name);

	if (work->change == ADD) {
		if (err == ERR_NOT_FOUND)
			return put_record(txn, work, date_now_ms());
		return err == ERR_OK ? ERR_EXISTS : err;
	}
	/*
	 * A damaged record may still be removed, and the user then added again.
	 */
	if (err == ERR_DAMAGED && work->change == REMOVE)
		err = ERR_OK;
	if (err != ERR_OK)
		return err;
	if (work->seen != NULL && !span_eq(record.hash, span_of(work->seen)))
		return ERR_DENIED;
	if (work->change == PASSWD)
		err = put_record(txn, work, record.user.created_ms);
	else
		err = kv_del(txn, STATE_USERS, work->name);
	if (err == ERR_OK && work->change == REMOVE)
		err = kept_remove_all(txn, work->name);
	return err == ERR_OK ? session_end_all(txn, work->name) : err;
}

static enum err
change(void *context, struct kv_txn *txn)
{
	static const struct span events[] = {
	    [ADD] = {"user-added", 10},
	    [PASSWD] = {"user-password", 13},
	    [REMOVE] = {"user-removed", 12},
	};
	const struct work *work = context;
	enum err err = alter(work, txn);

	if (err == ERR_OK)
		err = access_touch(txn);
	if (err != ERR_OK)
		return err;
	return audit_add(txn,
	    &(struct audit_entry){.event = events[work->change],
		.actor = work->actor,
		.codein = work->name});
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
	assert(actor != NULL);
	return change_password(store,
	    &(struct work){
		.change = ADD, .name = name, .actor = span_of(actor)},
	    password);
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
