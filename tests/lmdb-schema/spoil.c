#include "tests/lmdb-schema/spoil.h"

#include <check.h>

#include "common/buf.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/flip.h"

#define SUM_BYTES 4

static void
flip_and_look(struct buf *pair, size_t at, const char *path,
    void (*look)(const char *table, struct span key), const char *table,
    size_t key_len)
{
	flip(path, buf_span(pair), at);
	look(table, span_make(pair->data, key_len));
	if (at < pair->len)
		pair->data[at] ^= 1;
	flip(path, buf_span(pair), at);
	if (at < pair->len)
		pair->data[at] ^= 1;
}

unsigned
spoil_each(struct kv *kv, unsigned table, const char *path,
    void (*look)(const char *table, struct span key))
{
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	struct buf pair;
	unsigned bytes = 0;

	mirror_drop();
	buf_init(&pair, 1 << 16);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	while (kv_walk_next(walk, &key, &value) == ERR_OK) {
		buf_clear(&pair);
		buf_add_span(&pair, key);
		buf_add_span(&pair, value);
		ck_assert_int_eq(buf_end(&pair), ERR_OK);
		for (size_t at = key.len; at < pair.len + SUM_BYTES; at++) {
			flip_and_look(&pair, at, path, look,
			    kv_table_name(kv, table), key.len);
			bytes++;
		}
	}
	kv_walk_end(walk);
	kv_abort(txn);
	buf_fini(&pair);
	return bytes;
}

void
spoil_one(struct kv *kv, unsigned table, const char *path, struct span key)
{
	struct kv_txn *txn;
	struct span value;
	struct buf pair;

	mirror_drop();
	buf_init(&pair, 1 << 16);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_get(txn, table, key, &value), ERR_OK);
	buf_add_span(&pair, key);
	buf_add_span(&pair, value);
	ck_assert_int_eq(buf_end(&pair), ERR_OK);
	kv_abort(txn);
	flip(path, buf_span(&pair), key.len);
	buf_fini(&pair);
}
