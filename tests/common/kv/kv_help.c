#include "tests/common/kv/kv_help.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/scratch.h"

#define MAP_BYTES KV_HELP_MAP_BYTES

struct kv_spec
spec_of(const char *name, enum kv_mode mode)
{
	return (struct kv_spec){.path = scratch_path(name),
	    .mode = mode,
	    .map_bytes = mode == KV_FROZEN ? 0 : MAP_BYTES};
}

struct kv *
open_kv(const char *name, enum kv_mode mode)
{
	struct kv_spec spec = spec_of(name, mode);
	struct kv *kv;

	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_ptr_nonnull(kv);
	return kv;
}

enum err
try_open(const char *name, enum kv_mode mode)
{
	struct kv_spec spec = spec_of(name, mode);
	struct kv *kv;
	enum err err = kv_open(&kv, &spec);

	ck_assert_int_eq(err == ERR_OK, kv != NULL);
	kv_close(kv);
	return err;
}

void
put_one(struct kv *kv, const char *key, const char *value)
{
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, span_of(key), span_of(value)), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

bool
is_there(struct kv_txn *txn, unsigned table, const char *key, const char *value)
{
	struct span got;
	enum err err = kv_get(txn, table, span_of(key), &got);

	ck_assert(err == ERR_OK || err == ERR_NOT_FOUND);
	return err == ERR_OK && span_eq(got, span_of(value));
}

bool
has_one(struct kv *kv, const char *key, const char *value)
{
	struct kv_txn *txn;
	bool there;

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	there = is_there(txn, 0, key, value);
	kv_abort(txn);
	return there;
}

/* `count` pairs of `size` bytes each, in one commit. */
void
fill(struct kv *kv, unsigned count, size_t size)
{
	char *value = calloc(1, size);
	struct kv_txn *txn;
	char key[16];

	ck_assert_ptr_nonnull(value);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "%08u", i);
		ck_assert_int_eq(
		    kv_append(txn, 0, span_of(key), span_make(value, size)),
		    ERR_OK);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	free(value);
}

off_t
size_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(scratch_path(name), &st), 0);
	return st.st_size;
}
