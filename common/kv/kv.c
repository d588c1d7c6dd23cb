/*
 * A transaction keeps a cursor for each table that it has used: a key close to
 * the last one is then found on the same page, without a descent from the root.
 * LMDB keeps cursors valid while pairs are put through them; after a removal
 * they are renewed.
 */
#include "common/kv/kv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv_priv.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

struct kv_walk {
	struct kv_txn *txn;
	MDB_cursor *cursor;
	int first; /* result of the look-up of the first pair */
	enum err beside; /* of the pairs before it and behind its end */
	enum err pages; /* of those that the next step needs */
	struct kvpages_reach reach;
	bool begun;
	unsigned table;
	size_t prefix_len;
	char prefix[KV_KEY_MAX];
};

/* --- single pairs --------------------------------------------------------- */

static MDB_val
val_of(struct span span)
{
	/* LMDB's struct has no const; it does not write through this one. */
	union {
		const char *from;
		void *to;
	} ptr = {span.ptr};

	return (MDB_val){span.len, ptr.to};
}

static struct span
span_of_val(MDB_val val)
{
	return span_make(val.mv_data, val.mv_size);
}

static MDB_dbi
table_of(const struct kv_txn *txn, unsigned table)
{
	assert(table == 0 || table < txn->kv->table_count);
	return txn->kv->tables[table];
}

static bool
is_key(struct span key)
{
	return key.len > 0 && key.len <= KV_KEY_MAX;
}

static int
cursor_of(MDB_cursor **out, struct kv_txn *txn, unsigned table)
{
	MDB_dbi number = table_of(txn, table);
	bool stale = (txn->stale >> table & 1) != 0;
	int code = 0;

	if (txn->cursors[table] == NULL)
		code = mdb_cursor_open(txn->txn, number, &txn->cursors[table]);
	else if (stale)
		code = mdb_cursor_renew(txn->txn, txn->cursors[table]);
	if (code != 0)
		return code;
	txn->stale &= ~(1u << table);
	*out = txn->cursors[table];
	return 0;
}

/* Whether what the cursor is moved to, if anything, has its own key. */
static enum err
compare_at(
    struct kv_txn *txn, unsigned table, MDB_cursor *cursor, MDB_cursor_op where)
{
	MDB_val key = {0, NULL}, found = {0, NULL};
	int code = mdb_cursor_get(cursor, &key, &found, where);
	struct span value = span_of_val(found);

	if (code != 0)
		return code == MDB_NOTFOUND
		    ? ERR_OK
		    : kv_failed(txn->kv, "reading", code);
	return kv_take_sum(txn->kv, table, span_of_val(key), &value);
}

/*
 * When a reader does not find a key, it verifies the records on both sides of
 * the key's place: one of them may be the missing record, with a damaged key. A
 * writer need not: it repairs a record by writing it anew.
 */
static enum err
find(MDB_val *found, struct kv_txn *txn, unsigned table, struct span key)
{
	bool compare = txn->kv->sum != NULL && !txn->writer;
	MDB_val name = val_of(key);
	struct kvpages_reach reach;
	MDB_cursor *cursor;
	int code;
	enum err err = kv_look_at(&reach, txn, table, key);

	if (err != ERR_OK)
		return err;
	code = cursor_of(&cursor, txn, table);
	if (code == 0)
		code = mdb_cursor_get(
		    cursor, &name, found, compare ? MDB_SET_RANGE : MDB_SET);
	if (!compare || (code != 0 && code != MDB_NOTFOUND) ||
	    (code == 0 && span_eq(span_of_val(name), key)))
		return kv_failed(txn->kv, "reading", code);
	*found = (MDB_val){0, NULL};
	err = code == 0 ? compare_at(txn, table, cursor, MDB_GET_CURRENT)
			: ERR_OK;
	if (err == ERR_OK)
		err = compare_at(
		    txn, table, cursor, code == 0 ? MDB_PREV : MDB_LAST);
	return err == ERR_OK ? ERR_NOT_FOUND : err;
}

enum err
kv_get(struct kv_txn *txn, unsigned table, struct span key, struct span *value)
{
	MDB_val found = {0, NULL};
	enum err err =
	    is_key(key) ? find(&found, txn, table, key) : ERR_NOT_FOUND;

	*value = span_of_val(found);
	return err == ERR_OK ? kv_take_sum(txn->kv, table, key, value) : err;
}

static enum err
refuse_pair(const struct kv_txn *txn, struct span key, size_t len)
{
	if (is_key(key) && len <= UINT32_MAX - KV_SUM_BYTES)
		return ERR_OK;
	log_error("storage: a pair is out of bounds: file=%s key_bytes=%zu "
		  "value_bytes=%zu",
	    txn->kv->path, key.len, len);
	return ERR_TOO_LARGE;
}

static enum err
put(struct kv_txn *txn, unsigned table, struct span key, MDB_val *value,
    unsigned flags)
{
	MDB_val name = val_of(key);
	MDB_cursor *cursor;
	int code;

	code = cursor_of(&cursor, txn, table);
	if (code == 0)
		code = mdb_cursor_put(cursor, &name, value, flags);
	/* A key out of order is an answer: the transaction stays usable. */
	if (code != MDB_SUCCESS && code != MDB_KEYEXIST && txn->err == ERR_OK)
		return txn->err = kv_failed(txn->kv, "writing", code);
	return txn->err != ERR_OK ? txn->err : kv_fold_code(code);
}

/* Puts the value, followed by its checksum where sums are kept. */
static enum err
put_with_sum(struct kv_txn *txn, unsigned table, struct span key,
    struct span value, unsigned flags)
{
	MDB_val val = val_of(value);
	uint32_t sum;
	enum err err;

	if (txn->kv->sum == NULL)
		return put(txn, table, key, &val, flags);
	/*
	 * Compute the sum first: `value` may be borrowed from a page that the
	 * put moves.
	 */
	sum = kv_sum_of(txn->kv, key, value);
	val.mv_size += KV_SUM_BYTES;
	err = put(txn, table, key, &val, flags | MDB_RESERVE);
	if (err != ERR_OK)
		return err;
	if (value.len > 0)
		memmove(val.mv_data, value.ptr, value.len);
	memcpy((char *)val.mv_data + value.len, &sum, KV_SUM_BYTES);
	return ERR_OK;
}

static enum err
put_value(struct kv_txn *txn, unsigned table, struct span key,
    struct span value, unsigned flags)
{
	size_t mark = txn->ops == NULL ? 0 : txn->ops->len;
	enum err err = refuse_pair(txn, key, value.len);

	if (err != ERR_OK)
		return err;
	/* Before the put, which may move what `value` is borrowed from. */
	if (txn->ops != NULL)
		kv_note_put(txn, table, key, value);
	err = put_with_sum(txn, table, key, value, flags);
	if (err != ERR_OK && txn->ops != NULL)
		txn->ops->len = mark;
	return err;
}

enum err
kv_put(struct kv_txn *txn, unsigned table, struct span key, struct span value)
{
	assert(txn->writer);
	return put_value(txn, table, key, value, 0);
}

enum err
kv_append(
    struct kv_txn *txn, unsigned table, struct span key, struct span value)
{
	assert(txn->writer);
	return put_value(txn, table, key, value, MDB_APPEND);
}

enum err
kv_reserve(struct kv_txn *txn, unsigned table, struct span key, size_t len,
    void **room)
{
	MDB_val val = {len, NULL};
	enum err err = refuse_pair(txn, key, len);

	assert(txn->writer && room != NULL);
	/* The value does not exist yet. */
	assert(txn->kv->sum == NULL && txn->ops == NULL);
	if (err == ERR_OK)
		err = put(txn, table, key, &val, MDB_RESERVE);

	*room = err == ERR_OK ? val.mv_data : NULL;
	return err;
}

/* Keeps the first failure of a writer, so that kv_commit() refuses. */
static enum err
wrote(struct kv_txn *txn, int code)
{
	enum err err = kv_failed(txn->kv, "writing", code);

	if (err != ERR_OK && err != ERR_NOT_FOUND && txn->err == ERR_OK)
		txn->err = err;
	return err;
}

enum err
kv_del(struct kv_txn *txn, unsigned table, struct span key)
{
	MDB_val name = val_of(key);
	enum err err;

	assert(txn->writer);
	if (!is_key(key))
		return ERR_NOT_FOUND;
	kv_forget_cursor(txn, table);
	err = wrote(txn, mdb_del(txn->txn, table_of(txn, table), &name, NULL));
	if (err == ERR_OK && txn->ops != NULL)
		kv_note_del(txn, table, key);
	return err;
}

enum err
kv_clear(struct kv_txn *txn, unsigned table)
{
	assert(txn->writer);
	kv_forget_cursor(txn, table);
	if (txn->ops != NULL)
		kv_note_clear(txn, table);
	return wrote(txn, mdb_drop(txn->txn, table_of(txn, table), 0));
}

enum err
kv_count(struct kv_txn *txn, unsigned table, uint64_t *count)
{
	MDB_stat stat = {0};
	int code = mdb_stat(txn->txn, table_of(txn, table), &stat);

	assert(count != NULL);
	*count = stat.ms_entries;
	return kv_failed(txn->kv, "counting", code);
}

/* --- walks ---------------------------------------------------------------- */

static int
walk_seek(struct kv_walk *walk, struct span prefix, struct span from)
{
	struct span start = span_cmp(from, prefix) > 0 ? from : prefix;
	MDB_val key = val_of(start);
	MDB_val value;

	if (prefix.len > KV_KEY_MAX)
		return MDB_NOTFOUND;
	if (start.len == 0)
		return mdb_cursor_get(walk->cursor, &key, &value, MDB_FIRST);
	if (start.len <= KV_KEY_MAX)
		return mdb_cursor_get(
		    walk->cursor, &key, &value, MDB_SET_RANGE);
	/*
	 * No key is this long: start at the first key after its longest
	 * possible prefix.
	 */
	key.mv_size = KV_KEY_MAX;
	if (mdb_cursor_get(walk->cursor, &key, &value, MDB_SET_KEY) == 0)
		return mdb_cursor_get(walk->cursor, &key, &value, MDB_NEXT);
	key = val_of(span_sub(start, 0, KV_KEY_MAX));
	return mdb_cursor_get(walk->cursor, &key, &value, MDB_SET_RANGE);
}

/* The pair before the first may be one that belongs to the walk: see find(). */
static void
look_before(struct kv_walk *walk, struct span prefix, struct span from)
{
	if (walk->txn->kv->sum == NULL || walk->txn->writer ||
	    (prefix.len == 0 && from.len == 0) ||
	    (walk->first != 0 && walk->first != MDB_NOTFOUND))
		return;
	walk->beside = compare_at(walk->txn, walk->table, walk->cursor,
	    walk->first == 0 ? MDB_PREV : MDB_LAST);
	if (walk->first == 0)
		walk->first = walk_seek(walk, prefix, from);
}

struct kv_walk *
kv_walk_begin(
    struct kv_txn *txn, unsigned table, struct span prefix, struct span from)
{
	struct kv_walk *walk = calloc(1, sizeof(*walk));

	if (walk == NULL)
		return NULL;
	walk->txn = txn;
	walk->table = table;
	txn->walks++;
	if (prefix.len > 0 && prefix.len <= KV_KEY_MAX)
		memcpy(walk->prefix, prefix.ptr, prefix.len);
	walk->prefix_len = prefix.len;
	walk->pages = kv_look_at(&walk->reach, txn, table,
	    span_cmp(from, prefix) > 0 ? from : prefix);
	if (walk->pages != ERR_OK)
		return walk;
	walk->first =
	    mdb_cursor_open(txn->txn, table_of(txn, table), &walk->cursor);
	if (walk->first == 0) {
		walk->first = walk_seek(walk, prefix, from);
		look_before(walk, prefix, from);
	}
	return walk;
}

static void
look_behind(struct kv_walk *walk, struct span key, struct span value)
{
	if (walk->txn->kv->sum != NULL && !walk->txn->writer &&
	    walk->beside == ERR_OK)
		walk->beside =
		    kv_take_sum(walk->txn->kv, walk->table, key, &value);
}

/* Said once; then it is the end. */
static enum err
take_beside(struct kv_walk *walk)
{
	enum err err = walk->beside;

	walk->beside = ERR_OK;
	return err;
}

enum err
kv_walk_next(struct kv_walk *walk, struct span *key, struct span *value)
{
	MDB_val k = {0, NULL};
	MDB_val v = {0, NULL};
	int code;

	*key = span_make(NULL, 0);
	*value = span_make(NULL, 0);
	if (walk == NULL)
		return ERR_NO_MEMORY;
	if (walk->pages != ERR_OK)
		return walk->pages;
	code = walk->first;
	if (code == 0)
		code = mdb_cursor_get(walk->cursor, &k, &v,
		    walk->begun ? MDB_NEXT : MDB_GET_CURRENT);
	walk->begun = true;
	if (code == 0 &&
	    !span_starts(
		span_of_val(k), span_make(walk->prefix, walk->prefix_len))) {
		code = MDB_NOTFOUND;
		look_behind(walk, span_of_val(k), span_of_val(v));
	}
	walk->first = code; /* asked again, the walk is still at its end */
	if (code == MDB_NOTFOUND && walk->beside != ERR_OK)
		return take_beside(walk);
	if (code != 0)
		return kv_failed(walk->txn->kv, "reading", code);
	*key = span_of_val(k);
	*value = span_of_val(v);
	walk->pages = kv_look_on(&walk->reach, walk->txn, walk->table, *key);
	return kv_take_sum(walk->txn->kv, walk->table, *key, value);
}

enum err
kv_walk_del(struct kv_walk *walk)
{
	MDB_val key = {0, NULL}, value = {0, NULL};

	assert(walk->begun);
	kv_forget_cursor(walk->txn, walk->table);
	/* The key is gone with the pair: note it first. */
	if (walk->txn->ops != NULL &&
	    mdb_cursor_get(walk->cursor, &key, &value, MDB_GET_CURRENT) == 0)
		kv_note_del(walk->txn, walk->table, span_of_val(key));
	return wrote(walk->txn, mdb_cursor_del(walk->cursor, 0));
}

void
kv_walk_end(struct kv_walk *walk)
{
	if (walk == NULL)
		return;
	if (walk->cursor != NULL)
		mdb_cursor_close(walk->cursor);
	walk->txn->walks--;
	free(walk);
}

enum err
kv_walk_done(struct kv_walk *walk, enum err err)
{
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

void
kv_expect(struct kv *kv, size_t bytes)
{
	assert(kv->mode == KV_BUILD);
	kv->expected = bytes;
}
