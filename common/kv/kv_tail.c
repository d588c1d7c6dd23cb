/*
 * kv_tail: a file that ends before the last page it counts. Pages that a
 * transaction took at the end of the file and gave back are counted but never
 * written. Such a file looks cut short, yet is whole: all that is missing is in
 * LMDB's own list of free pages.
 */
#include "common/kv/kv_priv.h"

#include <errno.h>
#include <lmdb.h>
#include <setjmp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

/* The size that the file claims, and its real size. */
static enum err
measure(struct kv *kv, uint64_t *claimed, uint64_t *real)
{
	struct stat st;
	int fd = -1;
	int code = mdb_env_get_fd(kv->env, &fd);

	*claimed = kv_used_bytes(kv); /* first: the file may grow */
	if (code == 0 && fstat(fd, &st) != 0)
		code = errno;
	*real = code == 0 ? (uint64_t)st.st_size : 0;
	return kv_failed(kv, "measuring", code);
}

/* The missing end of a file. */
struct tail {
	size_t first, count; /* the pages that are missing */
	size_t free; /* how many of them are listed as free */
	MDB_txn *reader;
	MDB_cursor *cursor; /* in the list of free pages */
	jmp_buf way_out;
};

/* Called instead of abort(): LMDB met a page that is missing. */
static void
leave(MDB_env *env, const char *what)
{
	jmp_buf *way_out = mdb_env_get_userctx(env);

	(void)what;
	longjmp(*way_out, 1);
}

/*
 * Counts the missing pages in a record of the free list: a count, then that
 * many page numbers.
 */
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
 * Extends the file to the size it claims, checks that every missing page was
 * free, and cuts it again if not. Needs the writer's lock: no other process may
 * extend the file meanwhile.
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
		(void)kv_failed(kv, "cutting", errno);
out:
	mdb_txn_abort(writer);
	return whole;
}

enum err
kv_refuse_cut(struct kv *kv)
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
