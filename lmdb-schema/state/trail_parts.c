#include "lmdb-schema/state/trail_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"

static const char name[] = "part", last_name[] = "parts";

/* --- rows ----------------------------------------------------------------- */

static struct key
row_key(uint64_t first)
{
	return key_pair_u64(span_of(name), first);
}

static enum err
read_row(struct trail_parts_row *row, struct span key, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	row->first = key_read_u64(span_from(key, sizeof(name)));
	row->last = unpack_unsigned(&from);
	row->month = (uint32_t)unpack_unsigned(&from);
	row->bytes = unpack_unsigned(&from);
	row->crc = (uint32_t)unpack_unsigned(&from);
	row->oldest_ms = unpack_signed(&from);
	row->newest_ms = unpack_signed(&from);
	row->away = unpack_unsigned(&from) != 0;
	return unpack_done(&from) && row->first > 0 && row->last >= row->first
	    ? ERR_OK
	    : ERR_DAMAGED;
}

enum err
trail_parts_each(struct kv_txn *txn,
    enum err (*each)(void *context, const struct trail_parts_row *row),
    void *context)
{
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_META, span_make(name, sizeof(name)), SPAN(""));
	struct trail_parts_row row;
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_row(&row, key, value);
		if (err == ERR_OK)
			err = each(context, &row);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
trail_parts_row(struct trail_parts_row *row, struct kv_txn *txn, uint64_t first)
{
	struct key key = row_key(first);
	struct span value;
	enum err err = kv_get(txn, STATE_META, key_span(&key), &value);

	return err == ERR_OK ? read_row(row, key_span(&key), value) : err;
}

enum err
trail_parts_last(struct kv_txn *txn, uint64_t *number)
{
	return store_number(txn, last_name, number);
}

enum err
trail_parts_put(struct kv_txn *txn, const struct trail_parts_row *row)
{
	struct key key = row_key(row->first);
	struct buf value;

	assert(row->first > 0 && row->last >= row->first);
	buf_init(&value, 128);
	pack_add_unsigned(&value, row->last);
	pack_add_unsigned(&value, row->month);
	pack_add_unsigned(&value, row->bytes);
	pack_add_unsigned(&value, row->crc);
	pack_add_signed(&value, row->oldest_ms);
	pack_add_signed(&value, row->newest_ms);
	pack_add_unsigned(&value, row->away);
	return store_put(txn, STATE_META, key_span(&key), &value);
}

enum err
trail_parts_put_last(struct kv_txn *txn, uint64_t number)
{
	return store_set_number(txn, last_name, number);
}

enum err
trail_parts_left(struct kv_txn *txn, uint64_t *first)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_AUDIT, SPAN(""), SPAN(""));
	struct span key = SPAN(""), value;
	enum err err = kv_walk_next(walk, &key, &value);

	*first = key.len == 0 ? 0 : key_read_u64(key);
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

/* --- files ---------------------------------------------------------------- */

#define NUMBER_LEN KEY_GENERATION_LEN

enum err
trail_parts_path(char path[FS_PATH_MAX], const struct store *store,
    uint32_t month, uint64_t first, const char *suffix)
{
	char text[DATE_TEXT_MAX], number[NUMBER_LEN + 1];

	if (date_month_dashed_text(text, (int32_t)month) == 0)
		snprintf(text, sizeof(text), "0000-00");
	key_generation_text(number, first);
	return fs_path(path, "%s/trail/%s-%s.part%s", store_dir(store), text,
	    number, suffix);
}

#define MONTH_LEN 8 /* "2026-03-" */

uint64_t
trail_parts_first(const char *file, bool *temporary)
{
	struct span text = span_of(file);
	uint64_t first;

	*temporary = false;
	if (text.len < MONTH_LEN + NUMBER_LEN || file[MONTH_LEN - 1] != '-' ||
	    !key_generation(&first, span_sub(text, MONTH_LEN, NUMBER_LEN)))
		return 0;
	text = span_from(text, MONTH_LEN + NUMBER_LEN);
	*temporary = span_eq(text, SPAN(".part.tmp"));
	return *temporary || span_eq(text, SPAN(".part")) ? first : 0;
}

enum err
trail_parts_open(struct trail_part **out, const struct store *store,
    const struct trail_parts_row *row)
{
	char path[FS_PATH_MAX];
	enum err err =
	    trail_parts_path(path, store, row->month, row->first, "");

	*out = NULL;
	if (err == ERR_OK)
		err = trail_part_open(out, path);
	if (err == ERR_NOT_FOUND && row->away)
		return err;
	if (err == ERR_OK && trail_parts_is_of(*out, row))
		return err;
	if (err == ERR_OK) {
		sealed_log_damage(path, 0, 0, "another file");
		err = ERR_DAMAGED;
	}
	trail_part_close(*out);
	*out = NULL;
	if (err == ERR_NOT_FOUND)
		err = ERR_DAMAGED;
	trail_lost_log(store, row, err);
	return err;
}
