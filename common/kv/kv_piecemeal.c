/*
 * kv_piecemeal: pages are verified when a reader needs them. A view's pages stay
 * as they are while its transaction is open, so what was verified is what LMDB
 * reads.
 */
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

enum err
kv_look_at(struct kvpages_reach *reach, struct kv_txn *txn, unsigned table,
    struct span key)
{
	return txn->pages == NULL
	    ? ERR_OK
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
	if (err == ERR_OK)
		atomic_store(&kv->whole, true);
	return err;
}
