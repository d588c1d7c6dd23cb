#include "lmdb-schema/state/session.h"

#include <assert.h>

#include "common/kv/kv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"

static enum err
read_record(struct session_record *record, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	record->user = unpack_text(&from);
	record->created_ms = (int64_t)unpack_unsigned(&from);
	record->used_ms = (int64_t)unpack_unsigned(&from);
	record->rights = (struct rights){.role = ROLE_BUYER};
	record->outside = from.at < from.end;
	if (record->outside && !rights_unpack(&record->rights, &from))
		return ERR_DAMAGED;
	if (!unpack_done(&from) || record->user.len > ACCESS_NAME_MAX)
		return ERR_DAMAGED;
	return ERR_OK;
}

enum err
session_read(struct session_record *record, struct kv_txn *txn, struct span id)
{
	struct span value;
	enum err err = kv_get(txn, STATE_SESSIONS, id, &value);

	return err == ERR_OK ? read_record(record, value) : err;
}

static enum err
put_record(
    struct kv_txn *txn, struct span id, const struct session_record *record)
{
	struct buf value;

	buf_init(&value, 1024 + ACCESS_SUPPLIERS_MAX);
	pack_add_text(&value, record->user);
	pack_add_unsigned(&value, (uint64_t)record->created_ms);
	pack_add_unsigned(&value, (uint64_t)record->used_ms);
	if (record->outside)
		rights_pack(&value, &record->rights);
	return store_put(txn, STATE_SESSIONS, id, &value);
}

static struct span
id_of(uint8_t id[DIGEST_SHA256_LEN], struct span token)
{
	digest_sha256(id, token);
	return span_make(id, DIGEST_SHA256_LEN);
}

/*
 * A last use in the future (the clock was set back) must not make a session
 * eternal.
 */
static bool
is_over(
    const struct session_record *record, int64_t lifetime_ms, int64_t now_ms)
{
	return now_ms - record->used_ms >= lifetime_ms ||
	    record->used_ms - now_ms >= lifetime_ms;
}

/* --- ending many ---------------------------------------------------------- */

struct sweep {
	struct span user; /* empty: sessions that are over */
	int64_t lifetime_ms, now_ms;
	uint64_t swept;
};

static bool
is_swept(const struct sweep *sweep, const struct session_record *record)
{
	if (sweep->user.len > 0)
		return span_eq(sweep->user, record->user);
	return is_over(record, sweep->lifetime_ms, sweep->now_ms);
}

static enum err
sweep_up(void *context, struct kv_txn *txn)
{
	struct sweep *sweep = context;
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_SESSIONS, SPAN(""), SPAN(""));
	struct session_record record;
	struct span key, value;
	enum err err;

	sweep->swept = 0;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK ||
	    (err == ERR_DAMAGED && key.len > 0)) {
		if (err == ERR_OK)
			err = read_record(&record, value);
		/* A damaged session is removed: its user logs in again. */
		if (err == ERR_DAMAGED ||
		    (err == ERR_OK && is_swept(sweep, &record))) {
			sweep->swept++;
			err = kv_walk_del(walk);
		}
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
session_sweep(
    struct store *store, int64_t lifetime_ms, int64_t now_ms, uint64_t *swept)
{
	struct sweep sweep = {.lifetime_ms = lifetime_ms, .now_ms = now_ms};
	enum err err = store_write(store, STORE_STATE, sweep_up, &sweep);

	assert(lifetime_ms > 0);
	*swept = err == ERR_OK ? sweep.swept : 0;
	return err;
}

enum err
session_end_all(struct kv_txn *txn, struct span user, uint64_t *ended)
{
	struct sweep sweep = {.user = user};
	enum err err = sweep_up(&sweep, txn);

	assert(user.len > 0);
	*ended = sweep.swept;
	return err;
}

/* --- logging in and out --------------------------------------------------- */

struct login {
	struct span name, id;
	char hash[DIGEST_PASSWORD_MAX];
	int64_t lifetime_ms, now_ms;
};

/* An empty hash when there is no such user. */
static enum err
copy_hash(struct login *login, struct store *store)
{
	struct state_view *view;
	struct span hash;
	enum err err = state_view_open(&view, store);

	login->hash[0] = '\0';
	if (err != ERR_OK)
		return err;
	err = user_hash(state_view_txn(view), login->name, &hash);
	if (err == ERR_OK && !span_copy(login->hash, sizeof(login->hash), hash))
		err = ERR_DAMAGED;
	state_view_close(view);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/*
 * The password may have changed during the check: compare the stored hash
 * again.
 */
static enum err
add_session(void *context, struct kv_txn *txn)
{
	const struct login *login = context;
	struct sweep sweep = {
	    .lifetime_ms = login->lifetime_ms, .now_ms = login->now_ms};
	struct span hash;
	enum err err = user_hash(txn, login->name, &hash);

	if (err == ERR_NOT_FOUND ||
	    (err == ERR_OK && !span_eq(hash, span_of(login->hash))))
		return ERR_DENIED;
	if (err == ERR_OK)
		err = sweep_up(&sweep, txn);
	if (err != ERR_OK)
		return err;
	return put_record(txn, login->id,
	    &(struct session_record){.user = login->name,
		.created_ms = login->now_ms,
		.used_ms = login->now_ms});
}

enum err
session_login(struct store *store, struct span name, struct span password,
    int64_t lifetime_ms, int64_t now_ms, char token[SESSION_TOKEN_LEN + 1])
{
	struct login login = {
	    .name = name, .lifetime_ms = lifetime_ms, .now_ms = now_ms};
	uint8_t id[DIGEST_SHA256_LEN];
	enum err err = copy_hash(&login, store);

	assert(lifetime_ms > 0);
	token[0] = '\0';
	if (err == ERR_OK &&
	    !digest_password_check(
		login.hash[0] == '\0' ? NULL : login.hash, password))
		err = ERR_DENIED;
	if (err == ERR_OK)
		err = digest_random_text(token, SESSION_TOKEN_LEN);
	if (err == ERR_OK) {
		login.id = id_of(id, span_of(token));
		err = store_write(store, STORE_STATE, add_session, &login);
	}
	if (err != ERR_OK)
		token[0] = '\0';
	digest_forget(&login, sizeof(login));
	return err;
}

struct admission {
	struct session_record record;
	struct span id;
	int64_t lifetime_ms;
};

static enum err
add_admitted(void *context, struct kv_txn *txn)
{
	const struct admission *admission = context;
	struct sweep sweep = {.lifetime_ms = admission->lifetime_ms,
	    .now_ms = admission->record.used_ms};
	enum err err = sweep_up(&sweep, txn);

	return err == ERR_OK
	    ? put_record(txn, admission->id, &admission->record)
	    : err;
}

enum err
session_admit(struct store *store, struct span name,
    const struct rights *rights, int64_t lifetime_ms, int64_t now_ms,
    char token[SESSION_TOKEN_LEN + 1])
{
	struct admission admission = {
	    .record = {name, now_ms, now_ms, true, *rights},
	    .lifetime_ms = lifetime_ms};
	uint8_t id[DIGEST_SHA256_LEN];
	enum err err;

	assert(lifetime_ms > 0 && rights_ok(rights));
	token[0] = '\0';
	if (!access_name_ok(name) || !span_eq(span_trim(name), name))
		return ERR_BAD_INPUT;
	err = digest_random_text(token, SESSION_TOKEN_LEN);
	if (err == ERR_OK) {
		admission.id = id_of(id, span_of(token));
		err = store_write(store, STORE_STATE, add_admitted, &admission);
	}
	if (err != ERR_OK)
		token[0] = '\0';
	return err;
}

enum err
session_check(struct session *out, struct state_view *view, struct span token,
    int64_t lifetime_ms, int64_t now_ms)
{
	struct session_record record;
	struct span id = id_of(out->id, token);
	enum err err = ERR_DENIED;

	assert(lifetime_ms > 0);
	if (token.len == SESSION_TOKEN_LEN)
		err = session_read(&record, state_view_txn(view), id);
	if (err == ERR_NOT_FOUND ||
	    (err == ERR_OK && is_over(&record, lifetime_ms, now_ms)))
		err = ERR_DENIED;
	if (err == ERR_OK &&
	    !span_copy(out->user, sizeof(out->user), record.user))
		err = ERR_DAMAGED;
	if (err != ERR_OK)
		return err;
	out->created_ms = record.created_ms;
	out->used_ms = record.used_ms;
	out->outside = record.outside;
	out->rights = record.rights;
	return ERR_OK;
}

struct touch {
	const struct session *session;
	int64_t now_ms;
};

static enum err
touch(void *context, struct kv_txn *txn)
{
	const struct touch *work = context;
	struct span id = span_make(work->session->id, DIGEST_SHA256_LEN);
	struct session_record record;
	enum err err = session_read(&record, txn, id);

	if (err == ERR_NOT_FOUND ||
	    (err == ERR_OK && work->now_ms - record.used_ms < SESSION_TOUCH_MS))
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	/*
	 * Copy the name: the write below invalidates the value it is borrowed
	 * from.
	 */
	record.user = span_of(work->session->user);
	record.used_ms = work->now_ms;
	return put_record(txn, id, &record);
}

enum err
session_touch(
    struct store *store, const struct session *session, int64_t now_ms)
{
	struct touch work = {session, now_ms};

	return store_write(store, STORE_STATE, touch, &work);
}

struct touches {
	const struct session *sessions;
	unsigned count;
};

static enum err
touch_each(void *context, struct kv_txn *txn)
{
	const struct touches *work = context;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < work->count && err == ERR_OK; i++) {
		struct touch one = {
		    &work->sessions[i], work->sessions[i].used_ms};

		err = touch(&one, txn);
	}
	return err;
}

enum err
session_touch_all(
    struct store *store, const struct session *sessions, unsigned count)
{
	struct touches work = {sessions, count};

	return store_write(store, STORE_STATE, touch_each, &work);
}

static enum err
end_one(void *context, struct kv_txn *txn)
{
	enum err err =
	    kv_del(txn, STATE_SESSIONS, span_make(context, DIGEST_SHA256_LEN));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
session_logout(struct store *store, struct span token)
{
	uint8_t id[DIGEST_SHA256_LEN];

	id_of(id, token);
	return store_write(store, STORE_STATE, end_one, id);
}

enum err
session_each(struct state_view *view,
    enum err (*each)(
	void *context, struct span id, const struct session_record *record),
    void *context)
{
	struct kv_walk *walk = kv_walk_begin(
	    state_view_txn(view), STATE_SESSIONS, SPAN(""), SPAN(""));
	struct session_record record;
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_record(&record, value);
		if (err == ERR_OK)
			err = each(context, key, &record);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}
