/* The records of editions. */
#include "lmdb-schema/upkeep/edition.h"

#include <stdlib.h>
#include <string.h>

#include "common/hex.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_copy.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"

const char edition_now[] = "edition", edition_offered[] = "edition-offered";

#define RECORD_MAX 1024

static bool
is_sound(const struct edition *edition)
{
	return edition->number > 0 &&
	    files_is_name(span_of(edition->text.name)) &&
	    edition->text.bytes <= EDITION_TEXT_MAX;
}

enum err
edition_get(struct edition *out, struct kv_txn *txn, const char *name)
{
	struct unpack from;
	struct span value;
	enum err err = kv_get(txn, STATE_META, span_of(name), &value);
	bool fits;

	memset(out, 0, sizeof(*out));
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	unpack_init(&from, value);
	out->number = unpack_unsigned(&from);
	fits = span_copy(
	    out->text.name, sizeof(out->text.name), unpack_text(&from));
	out->text.bytes = unpack_unsigned(&from);
	fits &= span_copy(out->node, sizeof(out->node), unpack_text(&from));
	fits &=
	    span_copy(out->address, sizeof(out->address), unpack_text(&from));
	if (fits && unpack_done(&from) && is_sound(out))
		return ERR_OK;
	memset(out, 0, sizeof(*out));
	return ERR_DAMAGED;
}

enum err
edition_put(struct kv_txn *txn, const char *name, const struct edition *edition)
{
	struct buf value;

	buf_init(&value, RECORD_MAX);
	pack_add_unsigned(&value, edition->number);
	pack_add_text(&value, span_of(edition->text.name));
	pack_add_unsigned(&value, edition->text.bytes);
	pack_add_text(&value, span_of(edition->node));
	pack_add_text(&value, span_of(edition->address));
	return store_put(txn, STATE_META, span_of(name), &value);
}

enum err
edition_holders(struct kv_txn *txn,
    enum err (*each)(void *context, struct span node, struct span sha),
    void *context)
{
	struct key prefix = key_prefix(span_of(edition_now));
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, key_span(&prefix), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK)
			err = each(context, key_second(key), value);
		if (err == ERR_ANSWERED)
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
}

enum err
edition_put_holder(struct kv_txn *txn, const char *node, const char *sha)
{
	struct key key = key_pair(span_of(edition_now), span_of(node));

	return kv_put(txn, STATE_META, key_span(&key), span_of(sha));
}

static enum err
forget_other(void *context, struct span node, struct span sha)
{
	(void)node;
	return span_eq(sha, span_of(context)) ? ERR_OK : ERR_ANSWERED;
}

enum err
edition_forget_holders(struct kv_txn *txn, char *sha)
{
	return edition_holders(txn, forget_other, sha);
}

static enum err
look_at_state(struct editions *out, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = edition_get(&out->now, txn, edition_now);
	if (err == ERR_OK)
		err = edition_get(&out->offered, txn, edition_offered);
	kv_abort(txn);
	return err;
}

enum err
edition_look(struct editions *out, struct store *store)
{
	char sha[FILES_NAME_LEN + 1];
	struct live_edition shown;
	enum err err;

	memset(out, 0, sizeof(*out));
	out->is_current = true;
	if (!store_is_shared(store))
		return ERR_OK;
	err = look_at_state(out, store);
	if (err == ERR_OK)
		err = live_edition(&shown, store);
	if (err != ERR_OK)
		return err;
	hex_text(sha, shown.hash, sizeof(shown.hash));
	out->shown = shown.number;
	out->is_current = out->now.number == 0 ||
	    (shown.number == out->now.number &&
		strcmp(sha, out->now.text.name) == 0);
	return ERR_OK;
}

enum err
edition_read_text(
    struct edition_files *out, const char *dir, const struct files_id *text)
{
	char path[FS_PATH_MAX];
	struct buf bytes;
	enum err err = files_path(path, dir, text->name, "");

	buf_init(&bytes, EDITION_TEXT_MAX);
	if (err == ERR_OK)
		err = fs_read(&bytes, path);
	if (err == ERR_OK)
		err = edition_text_read(out, buf_span(&bytes));
	buf_fini(&bytes);
	return err;
}

enum err
edition_files_of(const struct edition *edition, const char *dir,
    enum err (*each)(void *context, const struct files_id *id), void *context)
{
	struct edition_files *files = malloc(sizeof(*files));
	enum err err;

	if (files == NULL)
		return ERR_NO_MEMORY;
	err = edition_read_text(files, dir, &edition->text);
	if (err == ERR_OK)
		err = each(context, &files->live);
	for (unsigned i = 0; err == ERR_OK && i < files->count; i++)
		err = each(context, &files->facts[i].file);
	free(files);
	return err;
}

/* Of an edition whose text is not here, or cannot be read, nor are its files. */
static enum err
each_of(const struct edition *edition, const char *dir,
    enum err (*each)(void *context, const struct files_id *id), void *context)
{
	enum err err;

	if (edition->number == 0)
		return ERR_OK;
	err = each(context, &edition->text);
	if (err == ERR_OK)
		err = edition_files_of(edition, dir, each, context);
	return err == ERR_NOT_FOUND || err == ERR_BAD_INPUT ||
		err == ERR_VERSION
	    ? ERR_OK
	    : err;
}

enum err
edition_each_file(struct store *store,
    enum err (*each)(void *context, const struct files_id *id), void *context)
{
	struct editions editions;
	enum err err = edition_look(&editions, store);

	if (err == ERR_OK)
		err = each_of(&editions.now, store_dir(store), each, context);
	return err == ERR_OK
	    ? each_of(&editions.offered, store_dir(store), each, context)
	    : err;
}

enum err
edition_bytes(uint64_t *bytes, struct store *store)
{
	struct edition_files *files = malloc(sizeof(*files));
	struct editions editions;
	enum err err =
	    files == NULL ? ERR_NO_MEMORY : edition_look(&editions, store);

	*bytes = 0;
	if (err == ERR_OK && editions.now.number > 0 &&
	    edition_read_text(files, store_dir(store), &editions.now.text) ==
		ERR_OK)
		*bytes = edition_text_bytes(files);
	free(files);
	return err;
}
