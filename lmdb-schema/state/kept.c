/*
 * A version is the time of the change in ms, or one more than the version
 * before: a value that was removed and made again has another one.
 */
#include "lmdb-schema/state/kept.h"

#include <assert.h>
#include <string.h>

#include "common/kv/kv.h"
#include "common/utf8.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/store/store.h"

#define KEY_MAX (sizeof("kept") + ACCESS_NAME_MAX + 1 + KEPT_NAME_MAX)
#define HEAD_MAX 512 /* of a record, beside its value */

bool
kept_name_ok(struct span name)
{
	if (name.len == 0 || name.len > KEPT_NAME_MAX || !utf8_is_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
			return false;
	return true;
}

/* "kept" 00 owner 00 name; without a name the prefix of all of an owner. */
static struct span
key_of(char room[KEY_MAX], struct span owner, struct span name)
{
	size_t len = sizeof("kept");

	assert(owner.len <= ACCESS_NAME_MAX && name.len <= KEPT_NAME_MAX);
	memcpy(room, "kept", len);
	if (owner.len > 0)
		memcpy(room + len, owner.ptr, owner.len);
	len += owner.len;
	room[len++] = '\0';
	if (name.len > 0)
		memcpy(room + len, name.ptr, name.len);
	return span_make(room, len + name.len);
}

static enum err
read_record(struct kept *kept, struct span name, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	kept->name = name;
	kept->version = unpack_unsigned(&from);
	kept->author = unpack_text(&from);
	kept->when_ms = (int64_t)unpack_unsigned(&from);
	kept->value = unpack_text(&from);
	return unpack_done(&from) && kept->version > 0 ? ERR_OK : ERR_DAMAGED;
}

static enum err
get(struct kept *kept, struct kv_txn *txn, struct span owner, struct span name)
{
	char room[KEY_MAX];
	struct span value;
	enum err err =
	    kv_get(txn, STATE_META, key_of(room, owner, name), &value);

	*kept = (struct kept){.name = name};
	return err == ERR_OK ? read_record(kept, name, value) : err;
}

enum err
kept_get(struct kept *kept, struct state_view *view, struct span owner,
    struct span name)
{
	return get(kept, state_view_txn(view), owner, name);
}

static enum err
each_of(struct kv_txn *txn, struct span owner,
    enum err (*each)(void *context, const struct kept *kept), void *context)
{
	char room[KEY_MAX];
	struct span prefix = key_of(room, owner, SPAN("")), key, value;
	struct kv_walk *walk = kv_walk_begin(txn, STATE_META, prefix, SPAN(""));
	struct kept kept;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_record(
		    &kept, span_sub(key, prefix.len, KEPT_NAME_MAX), value);
		if (err == ERR_OK)
			err = each(context, &kept);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
kept_each(struct state_view *view, struct span owner,
    enum err (*each)(void *context, const struct kept *kept), void *context)
{
	assert(each != NULL);
	return each_of(state_view_txn(view), owner, each, context);
}

/* --- changing ------------------------------------------------------------- */

struct putting {
	struct span owner;
	const struct kept *kept;
	uint64_t version; /* the new one */
	uint64_t count, bytes;
};

/* Counts the owner's other values. */
static enum err
add_up(void *context, const struct kept *kept)
{
	struct putting *putting = context;

	if (span_eq(kept->name, putting->kept->name))
		return ERR_OK;
	putting->count++;
	putting->bytes += kept->name.len + kept->value.len;
	return ERR_OK;
}

static enum err
find_room(struct putting *putting, struct kv_txn *txn)
{
	enum err err;

	putting->count = 1;
	putting->bytes = putting->kept->name.len + putting->kept->value.len;
	err = each_of(txn, putting->owner, add_up, putting);
	if (err == ERR_OK &&
	    (putting->count > KEPT_COUNT_MAX ||
		putting->bytes > KEPT_BYTES_MAX))
		err = ERR_TOO_LARGE;
	return err;
}

/* ERR_EXISTS when the record has another version than `known`. */
static enum err
check_version(struct kept *now, struct kv_txn *txn, struct span owner,
    struct span name, uint64_t known)
{
	enum err err = get(now, txn, owner, name);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	return known == KEPT_ANY || known == now->version ? err : ERR_EXISTS;
}

static enum err
put(void *context, struct kv_txn *txn)
{
	struct putting *putting = context;
	const struct kept *kept = putting->kept;
	char room[KEY_MAX];
	struct kept now;
	struct buf value;
	enum err err =
	    check_version(&now, txn, putting->owner, kept->name, kept->version);

	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = find_room(putting, txn);
	if (err != ERR_OK)
		return err;
	putting->version = (uint64_t)kept->when_ms > now.version
	    ? (uint64_t)kept->when_ms
	    : now.version + 1;
	buf_init(&value, KEPT_VALUE_MAX + HEAD_MAX);
	pack_add_unsigned(&value, putting->version);
	pack_add_text(&value, kept->author);
	pack_add_unsigned(&value, (uint64_t)kept->when_ms);
	pack_add_text(&value, kept->value);
	return store_put(
	    txn, STATE_META, key_of(room, putting->owner, kept->name), &value);
}

enum err
kept_put(uint64_t *version, struct store *store, struct span owner,
    const struct kept *kept)
{
	struct putting putting = {.owner = owner, .kept = kept};
	enum err err;

	assert(kept_name_ok(kept->name) && kept->when_ms > 0);
	*version = 0;
	if (kept->value.len > KEPT_VALUE_MAX)
		return ERR_TOO_LARGE;
	err = store_write(store, STORE_STATE, put, &putting);
	if (err == ERR_OK)
		*version = putting.version;
	return err;
}

struct removing {
	struct span owner, name;
	uint64_t version;
};

static enum err
remove_one(void *context, struct kv_txn *txn)
{
	const struct removing *removing = context;
	char room[KEY_MAX];
	struct kept now;
	enum err err = check_version(
	    &now, txn, removing->owner, removing->name, removing->version);

	return err == ERR_OK
	    ? kv_del(txn, STATE_META,
		  key_of(room, removing->owner, removing->name))
	    : err;
}

enum err
kept_remove(
    struct store *store, struct span owner, struct span name, uint64_t version)
{
	struct removing removing = {owner, name, version};

	assert(kept_name_ok(name));
	return store_write(store, STORE_STATE, remove_one, &removing);
}

enum err
kept_remove_all(struct kv_txn *txn, struct span owner, uint64_t *removed)
{
	char room[KEY_MAX];
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_META, key_of(room, owner, SPAN("")), SPAN(""));
	struct span key, value;
	enum err err;

	assert(owner.len > 0);
	*removed = 0;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK ||
	    (err == ERR_DAMAGED && key.len > 0)) {
		err = kv_walk_del(walk);
		if (err != ERR_OK)
			break;
		++*removed;
	}
	return kv_walk_done(walk, err);
}
