/*
 * kv_txn: transactions: begun, kept at rest, renewed, committed.
 */
#include "common/kv/kv_priv.h"

#include <assert.h>
#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>

#include "common/kv/kvpages.h"

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
	return kv->piecemeal ? kv_read_piecemeal(out, kv)
			     : begin_watched(out, kv, false);
}

enum err
kv_write(struct kv_txn **out, struct kv *kv)
{
	enum err err = kv_verify_rest(kv);

	*out = NULL;
	return err == ERR_OK ? begin_watched(out, kv, true) : err;
}

void
kv_forget_cursor(struct kv_txn *txn, unsigned table)
{
	if (txn->cursors[table] != NULL)
		mdb_cursor_close(txn->cursors[table]);
	txn->cursors[table] = NULL;
}

static void
forget_cursors(struct kv_txn *txn)
{
	for (unsigned i = 0; i < KV_TABLES_MAX; i++)
		kv_forget_cursor(txn, i);
}

enum err
kv_commit(struct kv_txn *txn)
{
	struct kv *kv = txn->kv;
	enum err err = txn->err;

	if (err == ERR_OK && txn->ops != NULL)
		err = buf_end(txn->ops);
	if (err != ERR_OK) {
		kv_abort(txn);
		return err;
	}
	assert(txn->walks == 0);
	forget_cursors(txn);
	err = kv_failed(kv, "committing", mdb_txn_commit(txn->txn));
	if (err == ERR_OK)
		kv_works(kv);
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
	kvpages_view_close(txn->pages);
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

	assert(!reader->kv->piecemeal);
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
