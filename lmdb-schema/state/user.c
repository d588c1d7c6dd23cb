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

struct work {
	struct user_change wanted;
	/* The author by name, or an administrator's session. */
	struct span actor, session;
	/* The hash that USER_PASSWD takes the place of; NULL: any. */
	const char *seen;
	char hash[DIGEST_PASSWORD_MAX];
};

enum err
user_administrator(struct span *name, struct kv_txn *txn, struct span session)
{
	struct session_record found;
	struct user_record record;
	enum err err = session_read(&found, txn, session);

	if (err == ERR_OK && !found.outside) {
		err = get_record(&record, txn, found.user);
		found.rights = record.user.rights;
	}
	*name = found.user;
	if (err == ERR_NOT_FOUND ||
	    (err == ERR_OK && found.rights.role != ROLE_ADMINISTRATOR))
		return ERR_DENIED;
	return err;
}

/* ERR_LAST where nobody but `name` is an administrator here. */
static enum err
find_another(struct kv_txn *txn, struct span name)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_USERS, SPAN(""), SPAN(""));
	struct user_record record;
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK ||
	    (err == ERR_DAMAGED && key.len > 0)) {
		/* A damaged user cannot log in. */
		if (err == ERR_OK &&
		    read_record(&record, key, value) == ERR_OK &&
		    record.user.rights.role == ROLE_ADMINISTRATOR &&
		    !span_eq(key, name))
			return kv_walk_done(walk, ERR_OK);
	}
	err = kv_walk_done(walk, err);
	return err == ERR_OK ? ERR_LAST : err;
}

/*
 * In the transaction of the change: what was true when the request came may not
 * be any more. *actor is borrowed until the first write.
 */
static enum err
check_actor(struct span *actor, const struct work *work, struct kv_txn *txn)
{
	const struct user_change *wanted = &work->wanted;
	bool stays = wanted->act != USER_REMOVE &&
	    (wanted->act != USER_RIGHTS ||
		wanted->rights.role == ROLE_ADMINISTRATOR);
	struct user_record record;
	enum err err;

	*actor = work->actor;
	if (work->session.len == 0)
		return ERR_OK;
	err = user_administrator(actor, txn, work->session);
	if (err != ERR_OK || stays ||
	    get_record(&record, txn, wanted->name) != ERR_OK ||
	    record.user.rights.role != ROLE_ADMINISTRATOR)
		return err;
	return find_another(txn, wanted->name);
}

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
		.user = {work->wanted.name, date_now_ms(), work->wanted.rights},
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
	enum err err =
	    known ? kv_del(txn, STATE_USERS, work->wanted.name) : ERR_OK;

	if (err == ERR_OK)
		err = remove_rest(txn, work->wanted.name, &found);
	return err == ERR_OK && !known && !found ? ERR_NOT_FOUND : err;
}

static enum err
alter(const struct work *work, struct kv_txn *txn)
{
	enum user_act act = work->wanted.act;
	struct span name = work->wanted.name;
	struct user_record record;
	uint64_t ended;
	enum err err = get_record(&record, txn, name);

	if (act == USER_ADD) {
		if (err == ERR_NOT_FOUND)
			return add_user(work, txn);
		return err == ERR_OK ? ERR_EXISTS : err;
	}
	/*
	 * A damaged record may still be removed, and the user then added again.
	 */
	if (act == USER_REMOVE && access_name_ok(name) &&
	    (err == ERR_OK || err == ERR_DAMAGED || err == ERR_NOT_FOUND))
		return remove_user(work, txn, err != ERR_NOT_FOUND);
	if (err != ERR_OK)
		return err;
	if (work->seen != NULL && !span_eq(record.hash, span_of(work->seen)))
		return ERR_DENIED;
	if (act == USER_RIGHTS) {
		record.user.rights = work->wanted.rights;
		return put_record(txn, &record);
	}
	record.hash = span_of(work->hash);
	err = put_record(txn, &record);
	return err == ERR_OK ? session_end_all(txn, name, &ended) : err;
}

static enum err
change(void *context, struct kv_txn *txn)
{
	static const struct span events[] = {
	    [USER_ADD] = {"user-added", 10},
	    [USER_PASSWD] = {"user-password", 13},
	    [USER_RIGHTS] = {"user-role", 9},
	    [USER_REMOVE] = {"user-removed", 12},
	};
	const struct work *work = context;
	const struct user_change *wanted = &work->wanted;
	char name[ACCESS_NAME_MAX + 1];
	struct span actor, role = SPAN("");
	enum err err = check_actor(&actor, work, txn);

	/* A copy, as writing ends what is borrowed. */
	if (err == ERR_OK && !span_copy(name, sizeof(name), actor))
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		err = alter(work, txn);
	if (wanted->act == USER_RIGHTS ||
	    (wanted->act == USER_ADD &&
		wanted->rights.role != ROLE_ADMINISTRATOR))
		role = span_of(role_text(wanted->rights.role));

	if (err == ERR_OK)
		err = access_touch(txn);
	if (err != ERR_OK)
		return err;
	return audit_add(txn,
	    &(struct audit_entry){.event = events[wanted->act],
		.actor = span_of(name),
		.codein = wanted->name,
		.motif = role});
}

/* Hash before the transaction: it takes a tenth of a second. */
static enum err
change_password(struct store *store, struct work *work)
{
	struct span name = work->wanted.name, password = work->wanted.password;
	enum err err;

	if (!access_name_ok(name) || !span_eq(span_trim(name), name) ||
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
	    &(struct work){
		.wanted = {USER_ADD, name, password, *rights},
		.actor = span_of(actor),
	    });
}

enum err
user_set_rights(struct store *store, struct span name,
    const struct rights *rights, const char *actor)
{
	struct work work = {
	    .wanted = {.act = USER_RIGHTS, .name = name, .rights = *rights},
	    .actor = span_of(actor),
	};

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
		.wanted = {USER_PASSWD, name, password, {0}},
		.actor = span_of(actor),
	    });
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
		    &(struct work){
			.wanted = {USER_PASSWD, name, password, {0}},
			.actor = name,
			.seen = seen,
		    });
	digest_forget(seen, sizeof(seen));
	return err == ERR_NOT_FOUND ? ERR_DENIED : err;
}

enum err
user_remove(struct store *store, struct span name, const char *actor)
{
	struct work work = {
	    .wanted = {.act = USER_REMOVE, .name = name},
	    .actor = span_of(actor),
	};

	assert(actor != NULL);
	return store_write(store, STORE_STATE, change, &work);
}

enum err
user_change_by(
    struct store *store, const struct user_change *wanted, struct span session)
{
	struct work work = {.wanted = *wanted, .session = session};
	bool password = wanted->act == USER_ADD || wanted->act == USER_PASSWD;

	assert(session.len == DIGEST_SHA256_LEN);
	assert(wanted->act == USER_PASSWD || wanted->act == USER_REMOVE ||
	    rights_ok(&wanted->rights));
	return password ? change_password(store, &work)
			: store_write(store, STORE_STATE, change, &work);
}
