/*
 * kv_piecemeal: pages are verified when a reader needs them. A view's pages stay
 * as they are while its transaction is open, so what was verified is what LMDB
 * reads.
 */
#include "common/fs.h"
#include "common/kv/kv_priv.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

#define TRIES_MAX 100

static enum err
tell(const struct kv *kv, enum err err)
{
	if (err != ERR_OK)
		log_error("storage: the file's pages cannot be walked: file=%s "
			  "error=%s",
		    kv->path, err_text(err));
	return err;
}

/* Sets *again when commits overwrote the view's meta page meanwhile. */
static enum err
read_once(struct kv_txn **out, struct kv *kv, bool *again)
{
	enum err err = kv_read_unwatched(out, kv);
	int fd;

	*again = false;
	if (err != ERR_OK)
		return err; /* which has been logged */
	err = kv_file(&fd, kv);
	if (err == ERR_OK)
		err = kvpages_view_open(&(*out)->pages, fd, kv_txn_id(*out),
		    kv->names, kv->table_count);
	if (err == ERR_OK)
		return ERR_OK;
	*again = err == ERR_BUSY ||
	    (err == ERR_DAMAGED && kv_last_commit(kv) > kv_txn_id(*out));
	kv_abort(*out);
	*out = NULL;
	return *again ? err : tell(kv, err);
}

enum err
kv_read_piecemeal(struct kv_txn **out, struct kv *kv)
{
	enum err err = ERR_BUSY;
	bool again = true;

	for (int i = 0; again && i < TRIES_MAX; i++)
		err = read_once(out, kv, &again);
	return again ? tell(kv, err) : err;
}

/* --- tables of immutable files -------------------------------------------- */

enum err
kv_parts_begin(struct kv *kv, int fd, uint64_t file_bytes)
{
	struct kvpages_view *parts;
	enum err err = kvpages_view_frozen(
	    &parts, fd, file_bytes, kv->names, kv->table_count);

	if (err != ERR_OK)
		return err;
	pthread_mutex_lock(&kv->parts_lock);
	kvpages_view_close(kv->parts);
	kv->parts = parts;
	atomic_store(&kv->sound, 0);
	pthread_mutex_unlock(&kv->parts_lock);
	return ERR_OK;
}

/* A table that is damaged has no bit, so that each use of it fails. */
static enum err
verify_table(struct kv *kv, unsigned table)
{
	enum err err;
	int fd;

	pthread_mutex_lock(&kv->parts_lock);
	err = kv_file(&fd, kv);
	if (err == ERR_OK && (atomic_load(&kv->sound) >> table & 1) == 0) {
		fs_expect_jumps(fd);
		err = kvpages_view_table(kv->parts, fd, table);
		if (err == ERR_OK)
			atomic_fetch_or(&kv->sound, 1u << table);
		else
			atomic_store(&kv->sound, 0);
	}
	pthread_mutex_unlock(&kv->parts_lock);
	return tell(kv, err);
}

static enum err
look_at_table(struct kv *kv, unsigned table)
{
	return kv->parts == NULL || (atomic_load(&kv->sound) >> table & 1) != 0
	    ? ERR_OK
	    : verify_table(kv, table);
}

/* --- steps ----------------------------------------------------------------- */

enum err
kv_look_at(struct kvpages_reach *reach, struct kv_txn *txn, unsigned table,
    struct span key)
{
	return txn->pages == NULL
	    ? look_at_table(txn->kv, table)
	    : tell(txn->kv, kvpages_view_look(reach, txn->pages, table, key));
}

enum err
kv_look_on(struct kvpages_reach *reach, struct kv_txn *txn, unsigned table,
    struct span key)
{
	if (txn->pages == NULL || reach->end ||
	    span_cmp(key, span_make(reach->key, reach->len)) < 0)
		return ERR_OK;
	return kv_look_at(reach, txn, table, key);
}

enum err
kv_verify_rest(struct kv *kv)
{
	enum err err = ERR_OK;

	if (kv->piecemeal && !atomic_load(&kv->whole))
		err = kv_verify(kv);
	for (unsigned i = 0; i < kv->table_count && err == ERR_OK; i++)
		err = look_at_table(kv, i);
	if (err == ERR_OK)
		atomic_store(&kv->whole, true);
	return err;
}
