#include "lmdb-schema/state/access.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/kv/kv.h"
#include "common/utf8.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"

static const char prefix[] = "grid_";

#define PREFIX_LEN (sizeof(prefix) - 1)
#define KEY_LEN (PREFIX_LEN + ACCESS_ID_LEN + 1 + ACCESS_SECRET_LEN)

const char *
access_scope_text(enum access_scope scope)
{
	return scope == ACCESS_PROPOSE ? "propose" : "read";
}

bool
access_scope(enum access_scope *scope, struct span text)
{
	*scope = span_eq(text, SPAN("propose")) ? ACCESS_PROPOSE : ACCESS_READ;
	return *scope == ACCESS_PROPOSE || span_eq(text, SPAN("read"));
}

bool
access_name_ok(struct span name)
{
	if (name.len == 0 || name.len > ACCESS_NAME_MAX || !utf8_is_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f)
			return false;
	return true;
}

bool
access_sees(struct span suppliers, struct span supplier)
{
	struct span code, rest = suppliers;

	if (suppliers.len == 0)
		return true;
	while (span_cut(&code, &rest, '\n'))
		if (code.len > 0 && span_eq(code, supplier))
			return true;
	return false;
}

bool
access_key_valid(const struct access_key *key, int64_t now_ms)
{
	return key->revoked_ms == 0 &&
	    (key->bounds.expires_ms == 0 || now_ms < key->bounds.expires_ms);
}

struct key_record {
	struct span hash;
	struct access_key key;
};

static enum err
read_record(struct key_record *record, struct span id, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	record->hash = unpack_text(&from);
	record->key.id = id;
	record->key.name = unpack_text(&from);
	record->key.scope = (enum access_scope)unpack_unsigned(&from);
	record->key.created_ms = (int64_t)unpack_unsigned(&from);
	record->key.revoked_ms = (int64_t)unpack_unsigned(&from);
	record->key.used_ms = (int64_t)unpack_unsigned(&from);
	record->key.bounds = (struct access_bounds){.expires_ms = 0};
	if (from.at < from.end) {
		record->key.bounds.expires_ms = (int64_t)unpack_unsigned(&from);
		record->key.bounds.per_minute = (int64_t)unpack_unsigned(&from);
		record->key.bounds.suppliers = unpack_text(&from);
	}
	if (!unpack_done(&from) || record->hash.len != DIGEST_SHA256_LEN)
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
put_record(struct kv_txn *txn, const struct key_record *record)
{
	const struct access_bounds *bounds = &record->key.bounds;
	struct buf value;

	buf_init(&value, 1024 + ACCESS_SUPPLIERS_MAX);
	pack_add_text(&value, record->hash);
	pack_add_text(&value, record->key.name);
	pack_add_unsigned(&value, record->key.scope);
	pack_add_unsigned(&value, (uint64_t)record->key.created_ms);
	pack_add_unsigned(&value, (uint64_t)record->key.revoked_ms);
	pack_add_unsigned(&value, (uint64_t)record->key.used_ms);
	if (bounds->expires_ms != 0 || bounds->per_minute != 0 ||
	    bounds->suppliers.len > 0) {
		pack_add_unsigned(&value, (uint64_t)bounds->expires_ms);
		pack_add_unsigned(&value, (uint64_t)bounds->per_minute);
		pack_add_text(&value, bounds->suppliers);
	}
	return store_put(txn, STATE_KEYS, record->key.id, &value);
}

enum err
access_generation(struct state_view *view, uint64_t *generation)
{
	return store_number(state_view_txn(view), "access", generation);
}

enum err
access_touch(struct kv_txn *txn)
{
	uint64_t last;
	enum err err = store_number(txn, "access", &last);

	assert(txn != NULL);
	if (err != ERR_OK && err != ERR_DAMAGED)
		return err;
	return store_set_number(txn, "access",
	    key_generation_next(err == ERR_OK ? last : key_generation_lost()));
}

static enum err
each_key(struct kv_txn *txn,
    enum err (*each)(void *context, const struct access_key *key),
    void *context)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_KEYS, SPAN(""), SPAN(""));
	struct key_record record;
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_record(&record, key, value);
		if (err == ERR_OK)
			err = each(context, &record.key);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

/* ERR_EXISTS when a key in use has the name. */
static enum err
refuse_name(void *name, const struct access_key *key)
{
	return access_key_valid(key, date_now_ms()) &&
		span_eq(key->name, *(const struct span *)name)
	    ? ERR_EXISTS
	    : ERR_OK;
}

/* In the change's transaction; a copy, as writing ends what is borrowed. */
static enum err
check_actor(char name[ACCESS_NAME_MAX + 1], struct kv_txn *txn,
    const struct access_actor *actor)
{
	struct span found = span_of(actor->name);
	enum err err = ERR_OK;

	if (actor->session.len > 0)
		err = user_administrator(&found, txn, actor->session);
	if (err == ERR_OK && !span_copy(name, ACCESS_NAME_MAX + 1, found))
		err = ERR_DAMAGED;
	return err;
}

struct creating {
	const struct access_wish *wish;
	struct key_record record;
};

static enum err
create_key(void *context, struct kv_txn *txn)
{
	const struct creating *creating = context;
	const struct access_wish *wish = creating->wish;
	struct span name = wish->name;
	char actor[ACCESS_NAME_MAX + 1];
	enum err err = check_actor(actor, txn, &wish->actor);

	if (err == ERR_OK && wish->alone)
		err = each_key(txn, refuse_name, &name);
	if (err == ERR_OK)
		err = put_record(txn, &creating->record);
	if (err == ERR_OK)
		err = access_touch(txn);
	if (err == ERR_OK)
		err = audit_add(txn,
		    &(struct audit_entry){.event = SPAN("key-created"),
			.actor = span_of(actor),
			.codein = creating->record.key.id});
	return err;
}

enum err
access_key_create(struct store *store, const struct access_wish *wish,
    char key[ACCESS_KEY_MAX], char id[ACCESS_ID_LEN + 1])
{
	char secret[ACCESS_SECRET_LEN + 1];
	uint8_t hash[DIGEST_SHA256_LEN];
	struct creating creating = {.wish = wish,
	    .record.key = {.name = wish->name,
		.scope = wish->scope,
		.created_ms = date_now_ms(),
		.bounds = wish->bounds}};
	enum err err = digest_random_text(id, ACCESS_ID_LEN);

	if (err == ERR_OK)
		err = digest_random_text(secret, ACCESS_SECRET_LEN);
	if (err != ERR_OK)
		return err;
	snprintf(key, ACCESS_KEY_MAX, "%s%s_%s", prefix, id, secret);
	digest_forget(secret, sizeof(secret));
	digest_sha256(hash, span_of(key));
	creating.record.hash = span_make(hash, sizeof(hash));
	creating.record.key.id = span_of(id);
	return store_write(store, STORE_STATE, create_key, &creating);
}

struct revoking {
	struct span id;
	const struct access_actor *actor;
};

static enum err
revoke_key(void *context, struct kv_txn *txn)
{
	const struct revoking *revoking = context;
	struct span id = revoking->id, value;
	struct key_record record;
	char actor[ACCESS_NAME_MAX + 1];
	enum err err = check_actor(actor, txn, revoking->actor);

	if (err == ERR_OK)
		err = kv_get(txn, STATE_KEYS, id, &value);
	if (err == ERR_OK)
		err = read_record(&record, id, value);
	if (err == ERR_OK && record.key.revoked_ms != 0)
		err = ERR_EXISTS;
	if (err == ERR_OK) {
		record.key.revoked_ms = date_now_ms();
		err = put_record(txn, &record);
	}
	if (err == ERR_OK)
		err = access_touch(txn);
	if (err == ERR_OK)
		err = audit_add(txn,
		    &(struct audit_entry){.event = SPAN("key-revoked"),
			.actor = span_of(actor),
			.codein = id});
	return err;
}

enum err
access_key_revoke(
    struct store *store, struct span id, const struct access_actor *actor)
{
	struct revoking revoking = {id, actor};

	assert(actor != NULL);
	return key_code_ok(id)
	    ? store_write(store, STORE_STATE, revoke_key, &revoking)
	    : ERR_NOT_FOUND;
}

/* "grid_" id "_" secret, of the right lengths. */
static bool
split_key(struct span key, struct span *id)
{
	if (key.len != KEY_LEN || !span_starts(key, span_of(prefix)) ||
	    key.ptr[PREFIX_LEN + ACCESS_ID_LEN] != '_')
		return false;
	*id = span_sub(key, PREFIX_LEN, ACCESS_ID_LEN);
	return key_code_ok(*id);
}

enum err
access_key_check(
    struct access_key *out, struct state_view *view, struct span key)
{
	static const uint8_t nobody[DIGEST_SHA256_LEN];
	uint8_t hash[DIGEST_SHA256_LEN];
	struct key_record record = {.hash = span_make(nobody, sizeof(nobody))};
	struct span id, value = SPAN("");
	enum err err = ERR_NOT_FOUND;

	digest_sha256(hash, key);
	if (split_key(key, &id))
		err = kv_get(state_view_txn(view), STATE_KEYS, id, &value);
	if (err == ERR_OK)
		err = read_record(&record, id, value);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	if (!digest_equal(hash, record.hash.ptr, sizeof(hash)) ||
	    err != ERR_OK || !access_key_valid(&record.key, date_now_ms()))
		return ERR_DENIED;
	*out = record.key;
	return ERR_OK;
}

enum err
access_key_each(struct state_view *view,
    enum err (*each)(void *context, const struct access_key *key),
    void *context)
{
	assert(each != NULL);
	return each_key(state_view_txn(view), each, context);
}

static enum err
note_use(struct kv_txn *txn, const struct access_use *use)
{
	struct key_record record;
	struct span value;
	enum err err = kv_get(txn, STATE_KEYS, span_of(use->id), &value);

	if (err == ERR_OK)
		err = read_record(&record, span_of(use->id), value);
	if (err == ERR_NOT_FOUND ||
	    (err == ERR_OK && record.key.used_ms >= use->used_ms))
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	record.key.used_ms = use->used_ms;
	return put_record(txn, &record);
}

struct noting {
	const struct access_use *uses;
	unsigned count;
};

static enum err
note_uses(void *context, struct kv_txn *txn)
{
	const struct noting *noting = context;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < noting->count && err == ERR_OK; i++)
		err = note_use(txn, &noting->uses[i]);
	return err;
}

enum err
access_note_uses(
    struct store *store, const struct access_use *uses, unsigned count)
{
	struct noting noting = {uses, count};

	assert(uses != NULL || count == 0);
	return store_write(store, STORE_STATE, note_uses, &noting);
}
