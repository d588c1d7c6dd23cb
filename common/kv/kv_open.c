/*
 * LMDB's rules, and how they are kept:
 *
 * - An environment must not be open twice in one process. A list of what is
 *   open, by device and inode, refuses it; an immutable file is shared.
 * - Table handles must be opened alone: kv_open() opens them all.
 * - A map over a file that was cut short is a SIGBUS at the first page that
 *   is missing. LMDB reads the two meta pages with pread() before it maps
 *   them, so after mdb_env_open() the last page's number can be trusted and
 *   is compared with the file's size, before any other page is touched.
 */
#include "common/kv/kv_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

#define DEFAULT_READERS 1024
#define FILE_MODE 0640

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kv *list;

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
	kv_unwatch(kv);
	kvpages_view_close(kv->parts);
	if (kv->env != NULL)
		mdb_env_close(kv->env);
	for (unsigned i = 0; kv->names != NULL && i < kv->table_count; i++)
		free(kv->names[i]);
	free(kv->names);
	free(kv->path);
	pthread_mutex_destroy(&kv->grow_lock);
	pthread_mutex_destroy(&kv->parts_lock);
	free(kv);
}

static struct kv *
kv_new(const struct kv_spec *spec)
{
	struct kv *kv = calloc(1, sizeof(*kv));

	if (kv == NULL)
		return NULL;
	kv->mode = spec->mode;
	kv->grows = spec->grows;
	kv->piecemeal = spec->piecemeal;
	pthread_mutex_init(&kv->grow_lock, NULL);
	pthread_mutex_init(&kv->parts_lock, NULL);
	kv->refused = (struct seldom)SELDOM_INIT;
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

/*
 * Creates the file, if the mode allows, so that it can be identified before
 * LMDB opens it.
 */
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
	/*
	 * Closing this descriptor drops no lock: LMDB locks its lock file only.
	 */
	if (fd >= 0)
		close(fd);
	if (code == ENOENT && kv->read_only)
		return ERR_NOT_FOUND;
	if (code != 0)
		return kv_failed(kv, "opening", code);
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
	    [KV_BUILD] = MDB_NOLOCK | MDB_NOSYNC,
	    [KV_FROZEN] = MDB_NOLOCK,
	};

	return MDB_NOSUBDIR | MDB_NOTLS | flags[kv->mode] |
	    (kv->read_only ? MDB_RDONLY : 0);
}

#define LOCK_HEAD 4096
#define LOCK_READER 64 /* bytes of the lock file for each */

/*
 * Room on the disk for all of LMDB's lock file, which LMDB only makes as long as
 * it has to be: a reader whose place is not on the disk yet ends by SIGBUS when
 * the disk is full. No environment of this file is open in this process, whose
 * locks closing the descriptor would drop.
 */
static int
reserve_lock(const struct kv *kv, unsigned readers)
{
	const off_t room = LOCK_HEAD + (off_t)LOCK_READER * readers;
	char path[FS_PATH_MAX];
	struct stat st;
	int fd, code = 0;

	if (fs_path(path, "%s-lock", kv->path) != ERR_OK)
		return ENAMETOOLONG;
	if (stat(path, &st) == 0 && (off_t)st.st_blocks * 512 >= st.st_size &&
	    st.st_size > 0)
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return errno == EACCES || errno == EROFS ? 0 : errno;
	/* A file system that cannot reserve room keeps its holes. */
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, room) != 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		code = errno;
	close(fd);
	return code;
}

static enum err
env_open(struct kv *kv, const struct kv_spec *spec, size_t file_bytes)
{
	unsigned readers = spec->readers == 0 ? DEFAULT_READERS : spec->readers;
	int code = mdb_env_create(&kv->env);

	if (code == 0)
		code = mdb_env_set_mapsize(
		    kv->env, kv_map_first(spec, file_bytes));
	if (code == 0)
		code = mdb_env_set_maxdbs(kv->env, KV_TABLES_MAX);
	if (code == 0)
		code = mdb_env_set_maxreaders(kv->env, readers);
	/*
	 * Refuse an empty file: LMDB would initialise it even when it may only
	 * read.
	 */
	if (code == 0 && kv->read_only && file_bytes == 0)
		code = MDB_INVALID;
	if (code == 0 && (env_flags(kv) & MDB_NOLOCK) == 0)
		code = reserve_lock(kv, readers);
	if (code == 0)
		code =
		    mdb_env_open(kv->env, kv->path, env_flags(kv), FILE_MODE);
	return kv_failed(kv, "opening", code);
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

/* Tables are created in one transaction: a file has all or none. */
static bool
has_no_table(struct kv *kv)
{
	MDB_stat stat;

	return mdb_env_stat(kv->env, &stat) == 0 && stat.ms_entries == 0;
}

/* Try as a reader first: a writer would wait for the current one. */
static enum err
tables_open(struct kv *kv)
{
	int code = tables_try(kv, false);

	/*
	 * Another process may be creating them too: the first writer creates
	 * all.
	 */
	if (code == MDB_NOTFOUND && !kv->read_only && !kv->piecemeal &&
	    has_no_table(kv))
		code = tables_try(kv, true);
	else if (code == MDB_NOTFOUND && !kv->read_only)
		code = tables_try(kv, false);
	if (code != MDB_NOTFOUND)
		return kv_failed(kv, "opening the tables", code);
	log_error("storage: the file lacks a table: file=%s", kv->path);
	return ERR_DAMAGED;
}

static enum err
check_frozen(struct kv *kv, int fd, uint64_t file_bytes)
{
	fs_expect_jumps(fd);
	return kv->table_count > 0 ? kv_parts_begin(kv, fd, file_bytes)
				   : kvpages_check(fd, file_bytes);
}

/*
 * Verifies a file before LMDB opens it: of an immutable one all index pages or,
 * where it has tables, those with their names; only the head of a live one.
 */
static enum err
refuse_damaged(struct kv *kv, const struct stat *st)
{
	int fd = open(kv->path, O_RDONLY | O_CLOEXEC);
	enum err err;

	if (fd < 0)
		return kv_failed(kv, "opening", errno);
	err = kv->mode == KV_FROZEN
	    ? check_frozen(kv, fd, (uint64_t)st->st_size)
	    : kvpages_check_head(fd);
	close(fd);
	if (err != ERR_OK)
		log_error("storage: the file's pages cannot be walked: file=%s "
			  "bytes=%lld error=%s",
		    kv->path, (long long)st->st_size, err_text(err));
	return err;
}

/* As a reader sees it: all pages, or those with the tables' names. */
static enum err
verify_live(struct kv *kv)
{
	int64_t began_ns = date_monotonic_ns();
	struct kv_txn *txn;
	enum err err;

	if (!kv->piecemeal) {
		bool young = fs_stamp_is_young(&kv->stamp);

		err = kv_verify(kv);
		if (!young)
			kv->verify_ns = date_monotonic_ns() - began_ns;
		return err;
	}
	err = kv_read_piecemeal(&txn, kv);
	if (err == ERR_OK)
		kv_abort(txn);
	return err;
}

static enum err
open_new(struct kv **out, struct kv *kv, const struct kv_spec *spec,
    const struct stat *st)
{
	enum err err = ERR_OK;

	fs_stamp_of(&kv->stamp, st);
	/* A live file that another process is creating may still be shorter. */
	if (kv->mode == KV_FROZEN || st->st_size >= 2 * sysconf(_SC_PAGESIZE))
		err = refuse_damaged(kv, st);
	if (err == ERR_OK)
		err = env_open(kv, spec, (size_t)st->st_size);
	if (err == ERR_OK)
		err = kv_refuse_cut(kv);
	if (err == ERR_OK && kv->mode != KV_FROZEN && kv->mode != KV_BUILD)
		err = verify_live(kv);
	if (err == ERR_OK)
		err = tables_open(kv);
	if (err != ERR_OK) {
		kv_free(kv);
		return err;
	}
	kv->opened = true;
	list_add(kv, st);
	*out = kv;
	return ERR_OK;
}

enum err
kv_file(int *fd, struct kv *kv)
{
	return kv_failed(kv, "measuring", mdb_env_get_fd(kv->env, fd));
}

uint64_t
kv_last_commit(struct kv *kv)
{
	MDB_envinfo info;
	int code;

	kv_enter(kv);
	code = mdb_env_info(kv->env, &info);
	kv_leave(kv);
	return code == 0 ? info.me_last_txnid : 0;
}

enum err
kv_stamp(struct fs_stamp *stamp, struct kv *kv)
{
	int fd = -1;
	enum err err = kv_file(&fd, kv);

	return err == ERR_OK ? fs_stamp(stamp, fd) : err;
}

/* Verifies a file again if it was touched since it was opened. */
static enum err
look_again(struct kv *kv, const struct stat *st)
{
	struct fs_stamp stamp;
	enum err err;

	fs_stamp_of(&stamp, st);
	if (fs_stamp_eq(&stamp, &kv->stamp))
		return ERR_OK;
	err = refuse_damaged(kv, st);
	if (err == ERR_OK)
		err = kv_refuse_cut(kv);
	if (err == ERR_OK)
		kv->stamp = stamp;
	return err;
}

static enum err
open_again(struct kv **out, struct kv *kv, const struct kv_spec *spec,
    const struct stat *st)
{
	enum err err;

	if (kv->mode == KV_FROZEN && spec->mode == KV_FROZEN &&
	    same_tables(kv, spec)) {
		err = look_again(kv, st);
		if (err != ERR_OK)
			return err;
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
	struct stat st = {0};
	enum err err;

	assert(spec->table_count <= KV_TABLES_MAX);
	assert(spec->mode == KV_FROZEN || spec->map_bytes > 0);
	assert(!spec->piecemeal ||
	    (spec->mode == KV_SHARED && spec->table_count > 0));
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
		err = open_again(out, same, spec, &st);
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
