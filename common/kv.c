/*
 * LMDB's rules, and where they are kept:
 *
 * - An environment must not be open twice in one process. A list of what is
 *   open, by device and inode, refuses it; an immutable file is shared.
 * - Table handles must be opened alone: kv_open() opens them all.
 * - A map over a file that was cut short is a SIGBUS at the first page that
 *   is missing. LMDB reads the two meta pages with pread() before it maps
 *   them, so after mdb_env_open() the last page's number can be trusted and
 *   is compared with the file's size, before any other page is touched.
 * - Pages that a transaction took at the end of the file and gave back are
 *   counted but never written. Such a file looks cut short, yet is whole: all
 *   that is missing is in LMDB's own list of free pages.
 */
#include "common/kv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"

#define DEFAULT_READERS 1024
#define FILE_MODE 0640

struct kv {
	MDB_env *env;
	char *path;
	char **names; /* of the tables */
	MDB_dbi tables[KV_TABLES_MAX];
	unsigned table_count;
	enum kv_mode mode;
	bool read_only;
	atomic_bool told_panic;

	/* In the list of open environments. */
	struct kv *next;
	unsigned users;
	pid_t pid;
	dev_t dev;
	ino_t ino;
};

struct kv_txn {
	struct kv *kv;
	MDB_txn *txn;
	bool writer;
	bool resting;
	unsigned walks; /* that are not ended yet */
	enum err err; /* a write failed: nothing of it may be stored */
};

struct kv_walk {
	struct kv_txn *txn;
	MDB_cursor *cursor;
	int first; /* what finding the first pair gave */
	bool begun;
	size_t prefix_len;
	char prefix[KV_KEY_MAX];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kv *list;

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
    {MDB_MAP_FULL, ERR_NO_SPACE},
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
	return code > 0 ? err_from_errno(code) : ERR_INTERNAL;
}

/*
 * LMDB calls a write that came out short EIO. When the disk, or what the
 * process may write to it, is used up, that was the reason.
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

/* Folds the code, and logs what is neither success nor an answer. */
static enum err
failed_at(struct kv *kv, const char *path, const char *doing, int code)
{
	if (code == MDB_SUCCESS || code == MDB_NOTFOUND || code == MDB_KEYEXIST)
		return fold_code(code);
	if (code == EIO && is_out_of_space(path))
		code = ENOSPC;
	if (code == MDB_PANIC && atomic_exchange(&kv->told_panic, true))
		return fold_code(code);
	log_error(
	    "storage: %s failed: %s: file=%s", doing, mdb_strerror(code), path);
	return fold_code(code);
}

static enum err
failed(struct kv *kv, const char *doing, int code)
{
	return failed_at(kv, kv->path, doing, code);
}

/* --- the list of open environments ---------------------------------------- */

static bool
same_tables(const struct kv *kv, const struct kv_spec *spec)
{
	if (kv->table_count != spec->table_count)
		return false;
	for (unsigned i = 0; i < kv->table_count; i++)
		if (strcmp(kv->names[i], spec->tables[i]) != 0)
			return false;
	return true;
}

static struct kv *
list_find(const struct stat *st)
{
	for (struct kv *kv = list; kv != NULL; kv = kv->next)
		if (kv->dev == st->st_dev && kv->ino == st->st_ino &&
		    kv->pid == getpid())
			return kv;
	return NULL;
}

static void
list_add(struct kv *kv, const struct stat *st)
{
	kv->dev = st->st_dev;
	kv->ino = st->st_ino;
	kv->pid = getpid();
	kv->users = 1;
	kv->next = list;
	list = kv;
}

static void
list_drop(struct kv *kv)
{
	struct kv **at = &list;

	while (*at != kv)
		at = &(*at)->next;
	*at = kv->next;
}

/* --- opening -------------------------------------------------------------- */

static void
kv_free(struct kv *kv)
{
	if (kv == NULL)
		return;
	if (kv->env != NULL)
		mdb_env_close(kv->env);
	for (unsigned i = 0; kv->names != NULL && i < kv->table_count; i++)
		free(kv->names[i]);
	free(kv->names);
	free(kv->path);
	free(kv);
}

static struct kv *
kv_new(const struct kv_spec *spec)
{
	struct kv *kv = calloc(1, sizeof(*kv));

	if (kv == NULL)
		return NULL;
	kv->mode = spec->mode;
	kv->read_only = spec->mode == KV_FROZEN;
	kv->table_count = spec->table_count;
	kv->path = strdup(spec->path);
	kv->names = calloc(spec->table_count + 1, sizeof(*kv->names));
	if (kv->path == NULL || kv->names == NULL)
		goto out;
	for (unsigned i = 0; i < spec->table_count; i++) {
		kv->names[i] = strdup(spec->tables[i]);
		if (kv->names[i] == NULL)
			goto out;
	}
	return kv;
out:
	kv_free(kv);
	return NULL;
}

/* Makes the file when it may, so that it has an identity before LMDB. */
static int
open_file(int *fd, struct kv *kv)
{
	int flags = kv->read_only ? O_RDONLY : O_RDWR | O_CREAT;

	*fd = open(kv->path, flags | O_CLOEXEC, FILE_MODE);
	if (*fd < 0 && errno == EROFS && !kv->read_only) {
		kv->read_only = true;
		*fd = open(kv->path, O_RDONLY | O_CLOEXEC);
	}
	return *fd < 0 ? errno : 0;
}

static enum err
identify(struct kv *kv, struct stat *st)
{
	int fd = -1;
	int code = open_file(&fd, kv);

	if (code == 0 && fstat(fd, st) != 0)
		code = errno;
	/* Closing it loses no lock: LMDB's are all on the lock file. */
	if (fd >= 0)
		close(fd);
	if (code == ENOENT && kv->read_only)
		return ERR_NOT_FOUND;
	if (code != 0)
		return failed(kv, "opening", code);
	if (kv->mode != KV_BUILD || st->st_size == 0)
		return ERR_OK;
	log_error(
	    "storage: a file to build is there already: file=%s", kv->path);
	return ERR_EXISTS;
}

static unsigned
env_flags(const struct kv *kv)
{
	static const unsigned flags[] = {
	    [KV_SHARED] = 0,
	    [KV_SHARED_LAZY] = MDB_NOSYNC,
	    [KV_BUILD] = MDB_WRITEMAP | MDB_NOLOCK | MDB_NOSYNC,
	    [KV_FROZEN] = MDB_NOLOCK,
	};

	return MDB_NOSUBDIR | MDB_NOTLS | flags[kv->mode] |
	    (kv->read_only ? MDB_RDONLY : 0);
}

static enum err
env_open(struct kv *kv, const struct kv_spec *spec, size_t file_bytes)
{
	size_t map_bytes = spec->map_bytes;
	unsigned readers = spec->readers;
	int code = mdb_env_create(&kv->env);

	if (map_bytes == 0)
		map_bytes = file_bytes;
	if (code == 0)
		code = mdb_env_set_mapsize(kv->env, map_bytes);
	if (code == 0)
		code = mdb_env_set_maxdbs(kv->env, KV_TABLES_MAX);
	if (code == 0)
		code = mdb_env_set_maxreaders(
		    kv->env, readers == 0 ? DEFAULT_READERS : readers);
	/* LMDB would make an empty file a new one, even when it may not. */
	if (code == 0 && kv->read_only && file_bytes == 0)
		code = MDB_INVALID;
	if (code == 0)
		code =
		    mdb_env_open(kv->env, kv->path, env_flags(kv), FILE_MODE);
	return failed(kv, "opening", code);
}

/* Bytes that the file claims to have, and those that it has. */
static enum err
measure(struct kv *kv, uint64_t *claimed, uint64_t *real)
{
	struct stat st;
	int fd = -1;
	int code = mdb_env_get_fd(kv->env, &fd);

	*claimed = kv_used_bytes(kv); /* first: a live file only grows */
	if (code == 0 && fstat(fd, &st) != 0)
		code = errno;
	*real = code == 0 ? (uint64_t)st.st_size : 0;
	return failed(kv, "measuring", code);
}

/* What is known of a file's missing end. */
struct tail {
	size_t first, count; /* the pages that are missing */
	size_t free; /* how many of them are listed as free */
	MDB_txn *reader;
	MDB_cursor *cursor; /* in the list of free pages */
	jmp_buf way_out;
};

/* LMDB would abort(): it has met a page that should have been there. */
static void
leave(MDB_env *env, const char *what)
{
	jmp_buf *way_out = mdb_env_get_userctx(env);

	(void)what;
	longjmp(*way_out, 1);
}

/* One record of the list: a count, then as many page numbers. */
static size_t
count_missing(MDB_val record, const struct tail *tail)
{
	const char *at = record.mv_data;
	size_t room = record.mv_size / sizeof(size_t);
	size_t found = 0;
	size_t count = 0;
	size_t page;

	if (room > 0)
		memcpy(&count, at, sizeof(count));
	for (size_t i = 1; i <= count && i < room; i++) {
		memcpy(&page, at + i * sizeof(page), sizeof(page));
		if (page >= tail->first && page - tail->first < tail->count)
			found++;
	}
	return found;
}

static bool
is_all_free(struct tail *tail)
{
	MDB_val key, record;
	int code;

	if (setjmp(tail->way_out) != 0)
		return false;
	code = mdb_cursor_get(tail->cursor, &key, &record, MDB_FIRST);
	while (code == 0) {
		tail->free += count_missing(record, tail);
		code = mdb_cursor_get(tail->cursor, &key, &record, MDB_NEXT);
	}
	return code == MDB_NOTFOUND && tail->free == tail->count;
}

static bool
is_tail_free(struct kv *kv, uint64_t claimed, uint64_t real)
{
	struct tail tail = {0};
	MDB_stat stat;
	bool whole = false;

	if (mdb_env_stat(kv->env, &stat) != 0 ||
	    mdb_txn_begin(kv->env, NULL, MDB_RDONLY, &tail.reader) != 0)
		return false;
	tail.first = real / stat.ms_psize;
	tail.count = claimed / stat.ms_psize - tail.first;
	mdb_env_set_userctx(kv->env, &tail.way_out);
	mdb_env_set_assert(kv->env, leave);
	/* Table 0 is LMDB's list; only a reader may look at it. */
	if (mdb_cursor_open(tail.reader, 0, &tail.cursor) == 0) {
		whole = is_all_free(&tail);
		mdb_cursor_close(tail.cursor);
	}
	mdb_env_set_assert(kv->env, NULL);
	mdb_txn_abort(tail.reader);
	return whole;
}

/*
 * Makes it as long as it claims, looks whether anything was lost, and if so
 * makes it as short as it was. Needs the writer's lock: nobody may lengthen it
 * meanwhile.
 */
static bool
mend_tail(struct kv *kv)
{
	uint64_t claimed = 0;
	uint64_t real = 0;
	MDB_txn *writer = NULL;
	bool whole = false;
	int fd = -1;

	if (kv->read_only || kv->mode == KV_BUILD ||
	    mdb_txn_begin(kv->env, NULL, 0, &writer) != 0)
		return false;
	if (measure(kv, &claimed, &real) != ERR_OK ||
	    mdb_env_get_fd(kv->env, &fd) != 0)
		goto out;
	whole = claimed <= real;
	if (whole || ftruncate(fd, (off_t)claimed) != 0)
		goto out;
	whole = is_tail_free(kv, claimed, real);
	if (!whole && ftruncate(fd, (off_t)real) != 0)
		(void)failed(kv, "cutting", errno);
out:
	mdb_txn_abort(writer);
	return whole;
}

static enum err
refuse_cut(struct kv *kv)
{
	uint64_t claimed = 0;
	uint64_t real = 0;
	enum err err = measure(kv, &claimed, &real);

	if (err != ERR_OK || claimed <= real || mend_tail(kv))
		return err;
	log_error("storage: the file is cut short: file=%s bytes=%llu of=%llu",
	    kv->path, (unsigned long long)real, (unsigned long long)claimed);
	return ERR_DAMAGED;
}

static int
tables_try(struct kv *kv, bool create)
{
	MDB_txn *txn = NULL;
	int code = mdb_txn_begin(kv->env, NULL, create ? 0 : MDB_RDONLY, &txn);

	for (unsigned i = 0; code == 0 && i < kv->table_count; i++)
		code = mdb_dbi_open(
		    txn, kv->names[i], create ? MDB_CREATE : 0, &kv->tables[i]);
	if (code == 0 && kv->table_count == 0)
		code = mdb_dbi_open(txn, NULL, 0, &kv->tables[0]);
	if (code == 0)
		return mdb_txn_commit(txn); /* keeps a reader's handles */
	mdb_txn_abort(txn);
	return code;
}

/* As a reader first: a writer would wait for whoever is writing. */
static enum err
tables_open(struct kv *kv)
{
	int code = tables_try(kv, false);

	if (code == MDB_NOTFOUND && !kv->read_only)
		code = tables_try(kv, true);
	if (code != MDB_NOTFOUND)
		return failed(kv, "opening the tables", code);
	log_error("storage: the file lacks a table: file=%s", kv->path);
	return ERR_DAMAGED;
}

static enum err
open_new(struct kv **out, struct kv *kv, const struct kv_spec *spec,
    const struct stat *st)
{
	enum err err = env_open(kv, spec, (size_t)st->st_size);

	if (err == ERR_OK)
		err = refuse_cut(kv);
	if (err == ERR_OK)
		err = tables_open(kv);
	if (err != ERR_OK) {
		kv_free(kv);
		return err;
	}
	list_add(kv, st);
	*out = kv;
	return ERR_OK;
}

static enum err
open_again(struct kv **out, struct kv *kv, const struct kv_spec *spec)
{
	if (kv->mode == KV_FROZEN && spec->mode == KV_FROZEN &&
	    same_tables(kv, spec)) {
		kv->users++;
		*out = kv;
		return ERR_OK;
	}
	log_error("storage: the file is open already: file=%s", kv->path);
	return ERR_INTERNAL;
}

enum err
kv_open(struct kv **out, const struct kv_spec *spec)
{
	struct kv *kv;
	struct kv *same;
	struct stat st;
	enum err err;

	assert(spec->table_count <= KV_TABLES_MAX);
	assert(spec->mode == KV_FROZEN || spec->map_bytes > 0);
	*out = NULL;
	kv = kv_new(spec);
	if (kv == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_lock(&list_lock);
	err = identify(kv, &st);
	same = err == ERR_OK ? list_find(&st) : NULL;
	if (err == ERR_OK && same == NULL) {
		err = open_new(out, kv, spec, &st);
		goto out;
	}
	if (same != NULL)
		err = open_again(out, same, spec);
	kv_free(kv);
out:
	pthread_mutex_unlock(&list_lock);
	return err;
}

void
kv_close(struct kv *kv)
{
	if (kv == NULL)
		return;
	pthread_mutex_lock(&list_lock);
	if (--kv->users == 0) {
		list_drop(kv);
		kv_free(kv);
	}
	pthread_mutex_unlock(&list_lock);
}

/* --- transactions --------------------------------------------------------- */

static enum err
txn_begin(struct kv_txn **out, struct kv *kv, bool writer)
{
	struct kv_txn *txn = calloc(1, sizeof(*txn));
	unsigned flags = writer ? 0 : MDB_RDONLY;
	int code;

	*out = NULL;
	if (txn == NULL)
		return ERR_NO_MEMORY;
	txn->kv = kv;
	txn->writer = writer;
	code = mdb_txn_begin(kv->env, NULL, flags, &txn->txn);
	/* The slots of processes that were killed are still taken. */
	if (code == MDB_READERS_FULL && kv_reap_readers(kv) > 0)
		code = mdb_txn_begin(kv->env, NULL, flags, &txn->txn);
	if (code != 0) {
		free(txn);
		return failed(
		    kv, writer ? "beginning to write" : "reading", code);
	}
	*out = txn;
	return ERR_OK;
}

enum err
kv_read(struct kv_txn **out, struct kv *kv)
{
	return txn_begin(out, kv, false);
}

enum err
kv_write(struct kv_txn **out, struct kv *kv)
{
	return txn_begin(out, kv, true);
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
	err = failed(kv, "committing", mdb_txn_commit(txn->txn));
	free(txn);
	return err;
}

void
kv_abort(struct kv_txn *txn)
{
	if (txn == NULL)
		return;
	assert(txn->walks == 0);
	mdb_txn_abort(txn->txn);
	free(txn);
}

void
kv_rest(struct kv_txn *reader)
{
	assert(!reader->writer && reader->walks == 0);
	if (!reader->resting)
		mdb_txn_reset(reader->txn);
	reader->resting = true;
}

enum err
kv_renew(struct kv_txn *reader)
{
	int code;

	kv_rest(reader);
	code = mdb_txn_renew(reader->txn);
	reader->resting = code != 0;
	return failed(reader->kv, "reading", code);
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

enum err
kv_get(struct kv_txn *txn, unsigned table, struct span key, struct span *value)
{
	MDB_val found = {0, NULL};
	MDB_val name = val_of(key);
	int code = MDB_NOTFOUND;

	if (is_key(key))
		code = mdb_get(txn->txn, table_of(txn, table), &name, &found);
	*value = span_of_val(found);
	return failed(txn->kv, "reading", code);
}

static enum err
put(struct kv_txn *txn, unsigned table, struct span key, MDB_val *value,
    unsigned flags)
{
	MDB_val name = val_of(key);
	int code;

	if (!is_key(key) || value->mv_size > UINT32_MAX) {
		log_error("storage: a pair is out of bounds: file=%s "
			  "key_bytes=%zu value_bytes=%zu",
		    txn->kv->path, key.len, value->mv_size);
		return ERR_TOO_LARGE;
	}
	code = mdb_put(txn->txn, table_of(txn, table), &name, value, flags);
	/* Out of order is an answer, and the transaction is as it was. */
	if (code != MDB_SUCCESS && code != MDB_KEYEXIST && txn->err == ERR_OK)
		return txn->err = failed(txn->kv, "writing", code);
	return txn->err != ERR_OK ? txn->err : fold_code(code);
}

enum err
kv_put(struct kv_txn *txn, unsigned table, struct span key, struct span value)
{
	MDB_val val = val_of(value);

	return put(txn, table, key, &val, 0);
}

enum err
kv_append(
    struct kv_txn *txn, unsigned table, struct span key, struct span value)
{
	MDB_val val = val_of(value);

	return put(txn, table, key, &val, MDB_APPEND);
}

enum err
kv_reserve(struct kv_txn *txn, unsigned table, struct span key, size_t len,
    void **room)
{
	MDB_val val = {len, NULL};
	enum err err = put(txn, table, key, &val, MDB_RESERVE);

	*room = err == ERR_OK ? val.mv_data : NULL;
	return err;
}

/* Keeps the first failure of a writer, so that kv_commit() refuses. */
static enum err
wrote(struct kv_txn *txn, int code)
{
	enum err err = failed(txn->kv, "writing", code);

	if (err != ERR_OK && err != ERR_NOT_FOUND && txn->err == ERR_OK)
		txn->err = err;
	return err;
}

enum err
kv_del(struct kv_txn *txn, unsigned table, struct span key)
{
	MDB_val name = val_of(key);

	if (!is_key(key))
		return ERR_NOT_FOUND;
	return wrote(txn, mdb_del(txn->txn, table_of(txn, table), &name, NULL));
}

enum err
kv_clear(struct kv_txn *txn, unsigned table)
{
	return wrote(txn, mdb_drop(txn->txn, table_of(txn, table), 0));
}

enum err
kv_count(struct kv_txn *txn, unsigned table, uint64_t *count)
{
	MDB_stat stat = {0};
	int code = mdb_stat(txn->txn, table_of(txn, table), &stat);

	*count = stat.ms_entries;
	return failed(txn->kv, "counting", code);
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
	/* No key is as long: the first one after what would fit of it. */
	key.mv_size = KV_KEY_MAX;
	if (mdb_cursor_get(walk->cursor, &key, &value, MDB_SET_KEY) == 0)
		return mdb_cursor_get(walk->cursor, &key, &value, MDB_NEXT);
	key = val_of(span_sub(start, 0, KV_KEY_MAX));
	return mdb_cursor_get(walk->cursor, &key, &value, MDB_SET_RANGE);
}

struct kv_walk *
kv_walk_begin(
    struct kv_txn *txn, unsigned table, struct span prefix, struct span from)
{
	struct kv_walk *walk = calloc(1, sizeof(*walk));

	if (walk == NULL)
		return NULL;
	walk->txn = txn;
	txn->walks++;
	if (prefix.len > 0 && prefix.len <= KV_KEY_MAX)
		memcpy(walk->prefix, prefix.ptr, prefix.len);
	walk->prefix_len = prefix.len;
	walk->first =
	    mdb_cursor_open(txn->txn, table_of(txn, table), &walk->cursor);
	if (walk->first == 0)
		walk->first = walk_seek(walk, prefix, from);
	return walk;
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
		span_of_val(k), span_make(walk->prefix, walk->prefix_len)))
		code = MDB_NOTFOUND;
	walk->first = code; /* the end is the end when asked again */
	if (code != 0)
		return failed(walk->txn->kv, "reading", code);
	*key = span_of_val(k);
	*value = span_of_val(v);
	return ERR_OK;
}

enum err
kv_walk_del(struct kv_walk *walk)
{
	assert(walk->begun);
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

/* --- the whole file ------------------------------------------------------- */

enum err
kv_sync(struct kv *kv)
{
	if (kv->read_only)
		return ERR_OK;
	return failed(kv, "syncing", mdb_env_sync(kv->env, 1));
}

size_t
kv_used_bytes(struct kv *kv)
{
	MDB_envinfo info;
	MDB_stat stat;
	int code = mdb_env_info(kv->env, &info);

	if (code == 0)
		code = mdb_env_stat(kv->env, &stat);
	assert(code == 0); /* they only fail without an environment */
	return (info.me_last_pgno + 1) * stat.ms_psize;
}

/* An immutable file must be as long as it claims to be. */
static int
copy_to(struct kv *kv, int fd)
{
	struct stat st;
	int code = mdb_env_copyfd(kv->env, fd);
	/* Of now, not of the copy: too long does no harm. */
	off_t used = (off_t)kv_used_bytes(kv);

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
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	enum err err;
	int code;

	if (fd < 0)
		return failed_at(kv, path, "copying", errno);
	code = copy_to(kv, fd);
	if (close(fd) != 0 && code == 0)
		code = errno;
	if (code == 0)
		return fs_sync_folder(path);
	/* First: how much it took tells why it failed. */
	err = failed_at(kv, path, "copying", code);
	unlink(path);
	return err;
}

int
kv_reap_readers(struct kv *kv)
{
	int dead = 0;
	int code = mdb_reader_check(kv->env, &dead);

	if (code != 0)
		failed(kv, "looking for dead readers", code);
	return dead;
}

/* The map is gone by now; its dirty pages are the file's, so fsync has them. */
static enum err
cut_and_sync(const char *path, size_t used)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int errnum = 0;

	if (fd < 0)
		errnum = errno;
	else if (ftruncate(fd, (off_t)used) != 0 || fsync(fd) != 0)
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
	/* One that was there before is somebody else's. */
	if (err != ERR_OK && (built || err != ERR_EXISTS))
		(void)fs_unlink(path);
	return err;
}
