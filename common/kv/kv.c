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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv_priv.h"
#include "common/log.h"
#include "common/openfiles.h"

#define COPY_MODE 0640

struct kv_txn {
	struct kv *kv;
	MDB_txn *txn;
	MDB_cursor *cursors[KV_TABLES_MAX]; /* NULL: not used yet */
	unsigned stale; /* a bit for each table whose cursor is to be renewed */
	bool writer;
	bool resting;
	unsigned walks; /* walks that have not ended yet */
	enum err err; /* a write failed: nothing of it may be stored */
};

struct kv_walk {
	struct kv_txn *txn;
	MDB_cursor *cursor;
	int first; /* result of the look-up of the first pair */
	enum err beside; /* of the pairs before it and behind its end */
	bool begun;
	unsigned table;
	size_t prefix_len;
	char prefix[KV_KEY_MAX];
};

/* --- codes ---------------------------------------------------------------- */

static const struct {
	int code;
	enum err err;
} codes[] = {
    {MDB_SUCCESS, ERR_OK},
    {MDB_NOTFOUND, ERR_NOT_FOUND},
    {MDB_KEYEXIST, ERR_EXISTS},
    {MDB_PAGE_NOTFOUND, ERR_DAMAGED},
    {MDB_CORRUPTED, ERR_DAMAGED},
    {MDB_INVALID, ERR_DAMAGED},
    {MDB_VERSION_MISMATCH, ERR_VERSION},
    {MDB_INCOMPATIBLE, ERR_VERSION},
    {MDB_MAP_FULL, ERR_MAP_FULL},
    {MDB_TXN_FULL, ERR_TOO_LARGE},
    {MDB_CURSOR_FULL, ERR_DAMAGED},
    {MDB_PAGE_FULL, ERR_DAMAGED},
    {MDB_READERS_FULL, ERR_BUSY},
    {MDB_BAD_VALSIZE, ERR_TOO_LARGE},
    {MDB_PANIC, ERR_INTERNAL},
    {MDB_MAP_RESIZED, ERR_INTERNAL},
    {MDB_DBS_FULL, ERR_INTERNAL},
    {MDB_BAD_RSLOT, ERR_INTERNAL},
    {MDB_BAD_TXN, ERR_INTERNAL},
    {MDB_BAD_DBI, ERR_INTERNAL},
    {MDB_TLS_FULL, ERR_SYSTEM},
    {EFBIG, ERR_NO_SPACE},
    {EDQUOT, ERR_NO_SPACE},
};

static enum err
fold_code(int code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return codes[i].err;
	if (code == ENOMEM)
		return kv_no_memory();
	return code > 0 ? err_from_errno(code) : ERR_INTERNAL;
}

static const char *
why(char text[KV_WHY_MAX], int code)
{
	if (code == ENOMEM)
		return kv_why_no_memory(text);
	if (code == MDB_MAP_FULL)
		return "the map is full, the disk is not";
	return code > 0 ? openfiles_why(text, code) : mdb_strerror(code);
}

/*
 * LMDB reports a short write as EIO. If the disk, or the process's file size
 * limit, is used up, report that reason instead.
 */
static bool
is_out_of_space(const char *path)
{
	struct statvfs disk;
	struct rlimit limit;
	struct stat st;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (stat(path, &st) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY &&
	    (uint64_t)st.st_size + page > limit.rlim_cur)
		return true;
	return statvfs(path, &disk) == 0 &&
	    disk.f_bavail * disk.f_frsize < 16 * page;
}

/*
 * Maps LMDB's code, and logs it unless it is success or an answer (not found,
 * exists).
 */
enum err
kv_failed_at(struct kv *kv, const char *path, const char *doing, int code)
{
	char text[KV_WHY_MAX];

	if (code == MDB_SUCCESS || code == MDB_NOTFOUND || code == MDB_KEYEXIST)
		return fold_code(code);
	if (code == EIO && is_out_of_space(path))
		code = ENOSPC;
	if (code == MDB_PANIC && atomic_exchange(&kv->told_panic, true))
		return fold_code(code);
	if (code == MDB_MAP_FULL && kv->grows)
		atomic_store(&kv->full, true);
	log_error(
	    "storage: %s failed: %s: file=%s", doing, why(text, code), path);
	return fold_code(code);
}

enum err
kv_failed(struct kv *kv, const char *doing, int code)
{
	return kv_failed_at(kv, kv->path, doing, code);
}

/* --- transactions --------------------------------------------------------- */

static int
begin_once(struct kv_txn *txn)
{
	struct kv *kv = txn->kv;
	unsigned flags = txn->writer ? 0 : MDB_RDONLY;
	int code;

	kv_enter(kv);
	code = mdb_txn_begin(kv->env, NULL, flags, &txn->txn);
	if (code != 0)
		kv_leave(kv);
	return code;
}

/* Killed processes still hold their slots, or the file has outgrown the map. */
static int
begin_again(struct kv_txn *txn, int code)
{
	if ((code == MDB_READERS_FULL && kv_reap_readers(txn->kv) > 0) ||
	    (code == MDB_MAP_RESIZED && kv_map_follow(txn->kv) == ERR_OK))
		return begin_once(txn);
	return code;
}

static enum err
txn_begin(struct kv_txn **out, struct kv *kv, bool writer)
{
	struct kv_txn *txn;
	enum err err = writer ? kv_map_room(kv) : ERR_OK;
	int code;

	*out = NULL;
	if (err != ERR_OK)
		return err;
	txn = calloc(1, sizeof(*txn));
	if (txn == NULL)
		return ERR_NO_MEMORY;
	txn->kv = kv;
	txn->writer = writer;
	/*
	 * LMDB would report a lack of permission; the reason is the read-only
	 * disk.
	 */
	code = writer && kv->read_only && kv->mode != KV_FROZEN
	    ? EROFS
	    : begin_once(txn);
	if (code != 0)
		code = begin_again(txn, code);
	if (code != 0) {
		free(txn);
		return kv_failed(
		    kv, writer ? "beginning to write" : "reading", code);
	}
	*out = txn;
	return ERR_OK;
}

enum err
kv_read_unwatched(struct kv_txn **out, struct kv *kv)
{
	return txn_begin(out, kv, false);
}

static enum err
begin_watched(struct kv_txn **out, struct kv *kv, bool writer)
{
	struct kv_look look;
	enum err err = kv_look_begin(&look, kv), sound;

	*out = NULL;
	if (err != ERR_OK)
		return err;
	err = txn_begin(out, kv, writer);
	sound =
	    kv_look_end(&look, err == ERR_OK ? kv_txn_id(*out) : KV_NO_COMMIT);
	if (err == ERR_OK && sound != ERR_OK) {
		kv_abort(*out);
		*out = NULL;
		err = sound;
	}
	return err;
}

enum err
kv_read(struct kv_txn **out, struct kv *kv)
{
	return begin_watched(out, kv, false);
}

enum err
kv_write(struct kv_txn **out, struct kv *kv)
{
	return begin_watched(out, kv, true);
}

static void
forget_cursor(struct kv_txn *txn, unsigned table)
{
	if (txn->cursors[table] != NULL)
		mdb_cursor_close(txn->cursors[table]);
	txn->cursors[table] = NULL;
}

static void
forget_cursors(struct kv_txn *txn)
{
	for (unsigned i = 0; i < KV_TABLES_MAX; i++)
		forget_cursor(txn, i);
}

enum err
kv_commit(struct kv_txn *txn)
{
	struct kv *kv = txn->kv;
	enum err err = txn->err;

	if (err != ERR_OK) {
		kv_abort(txn);
		return err;
	}
	assert(txn->walks == 0);
	forget_cursors(txn);
	err = kv_failed(kv, "committing", mdb_txn_commit(txn->txn));
	kv_leave(kv);
	free(txn);
	return err;
}

void
kv_abort(struct kv_txn *txn)
{
	if (txn == NULL)
		return;
	assert(txn->walks == 0);
	forget_cursors(txn);
	mdb_txn_abort(txn->txn);
	if (!txn->resting)
		kv_leave(txn->kv);
	free(txn);
}

void
kv_rest(struct kv_txn *reader)
{
	assert(!reader->writer && reader->walks == 0);
	if (!reader->resting) {
		mdb_txn_reset(reader->txn);
		kv_leave(reader->kv);
	}
	reader->resting = true;
}

static int
renew_once(struct kv_txn *reader)
{
	int code;

	kv_enter(reader->kv);
	code = mdb_txn_renew(reader->txn);
	reader->resting = code != 0;
	if (code != 0)
		kv_leave(reader->kv);
	return code;
}

enum err
kv_renew(struct kv_txn *reader)
{
	struct kv_look look;
	enum err err;
	int code;

	kv_rest(reader);
	err = kv_look_begin(&look, reader->kv);
	if (err != ERR_OK)
		return err;
	code = renew_once(reader);
	if (code == MDB_MAP_RESIZED && kv_map_follow(reader->kv) == ERR_OK)
		code = renew_once(reader);
	reader->stale = ~0u;
	err = kv_look_end(&look, code == 0 ? kv_txn_id(reader) : KV_NO_COMMIT);
	if (code == 0 && err != ERR_OK)
		kv_rest(reader);
	return code == 0 ? err : kv_failed(reader->kv, "reading", code);
}

uint64_t
kv_txn_id(const struct kv_txn *txn)
{
	/* A writer's own number is that of the commit to come. */
	return mdb_txn_id(txn->txn) - (txn->writer ? 1 : 0);
}

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
	MDB_cursor *cursor;
	int code = cursor_of(&cursor, txn, table);
	enum err err;

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
	return txn->err != ERR_OK ? txn->err : fold_code(code);
}

/* Puts the value, followed by its checksum where sums are kept. */
static enum err
put_value(struct kv_txn *txn, unsigned table, struct span key,
    struct span value, unsigned flags)
{
	MDB_val val = val_of(value);
	uint32_t sum;
	enum err err = refuse_pair(txn, key, value.len);

	if (err != ERR_OK)
		return err;
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
	assert(txn->kv->sum == NULL); /* the value does not exist yet */
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

	assert(txn->writer);
	if (!is_key(key))
		return ERR_NOT_FOUND;
	forget_cursor(txn, table);
	return wrote(txn, mdb_del(txn->txn, table_of(txn, table), &name, NULL));
}

enum err
kv_clear(struct kv_txn *txn, unsigned table)
{
	assert(txn->writer);
	forget_cursor(txn, table);
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
	return kv_take_sum(walk->txn->kv, walk->table, *key, value);
}

enum err
kv_walk_del(struct kv_walk *walk)
{
	assert(walk->begun);
	forget_cursor(walk->txn, walk->table);
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

void
kv_expect(struct kv *kv, size_t bytes)
{
	assert(kv->mode == KV_BUILD);
	kv->expected = bytes;
}

/* --- the whole file ------------------------------------------------------- */

enum err
kv_sync(struct kv *kv)
{
	if (kv->read_only)
		return ERR_OK;
	return kv_failed(kv, "syncing", mdb_env_sync(kv->env, 1));
}

size_t
kv_used_bytes(struct kv *kv)
{
	MDB_envinfo info;
	MDB_stat stat;
	int code;

	kv_enter(kv);
	code = mdb_env_info(kv->env, &info);
	if (code == 0)
		code = mdb_env_stat(kv->env, &stat);
	kv_leave(kv);
	assert(code == 0); /* fails only without an environment */
	return (info.me_last_pgno + 1) * stat.ms_psize;
}

/* An immutable file must be as long as it claims to be. */
static int
copy_to(struct kv *kv, int fd)
{
	struct stat st;
	off_t used;
	int code;

	kv_enter(kv);
	code = mdb_env_copyfd(kv->env, fd);
	kv_leave(kv);
	/* The present size, not the copy's: a file too long does no harm. */
	used = (off_t)kv_used_bytes(kv);
	if (code != 0)
		return code;
	if (fstat(fd, &st) != 0)
		return errno;
	if (st.st_size < used && ftruncate(fd, used) != 0)
		return errno;
	return fsync(fd) == 0 ? 0 : errno;
}

enum err
kv_copy(struct kv *kv, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, COPY_MODE);
	enum err err;
	int code;

	assert(path != NULL);
	if (fd < 0)
		return kv_failed_at(kv, path, "copying", errno);
	code = copy_to(kv, fd);
	if (close(fd) != 0 && code == 0)
		code = errno;
	if (code == 0)
		return fs_sync_folder(path);
	/* Read the size first: it tells why the copy failed. */
	err = kv_failed_at(kv, path, "copying", code);
	unlink(path);
	return err;
}

int
kv_reap_readers(struct kv *kv)
{
	int dead = 0;
	int code = mdb_reader_check(kv->env, &dead);

	if (code != 0)
		kv_failed(kv, "looking for dead readers", code);
	return dead;
}

/*
 * The map is closed by now; its dirty pages belong to the file, so fsync writes
 * them.
 */
static enum err
cut_and_sync(const char *path, size_t used)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int errnum = 0;

	if (fd < 0 || ftruncate(fd, (off_t)used) != 0 || fsync(fd) != 0)
		errnum = errno;
	if (fd >= 0)
		close(fd);
	if (errnum == 0)
		return ERR_OK;
	log_error("cannot finish a new file: file=%s error=%s", path,
	    strerror(errnum));
	return err_from_errno(errnum);
}

enum err
kv_finish(struct kv *kv, const char *path, enum err err)
{
	size_t used = kv == NULL ? 0 : kv_used_bytes(kv);
	bool built = kv != NULL;

	assert(kv != NULL || err != ERR_OK);
	kv_close(kv);
	if (err == ERR_OK)
		err = cut_and_sync(path, used);
	/* An existing file is not ours to remove. */
	if (err != ERR_OK && (built || err != ERR_EXISTS))
		(void)fs_unlink(path);
	return err;
}
