/*
 * kv_help: what the tests of kv have in common. Names are of files in the
 * scratch folder; what is not said to fail is asserted.
 */
#pragma once

#include <sys/types.h>

#include "common/kv/kv.h"

#define KV_HELP_MAP_BYTES (64u << 20)

struct kv_spec spec_of(const char *name, enum kv_mode mode);
struct kv *open_kv(const char *name, enum kv_mode mode);

/* Opens and closes; how that went. */
enum err try_open(const char *name, enum kv_mode mode);

/* One pair in a transaction of its own, in table 0. */
void put_one(struct kv *kv, const char *key, const char *value);
bool has_one(struct kv *kv, const char *key, const char *value);

bool is_there(
    struct kv_txn *txn, unsigned table, const char *key, const char *value);

/* `count` pairs of `size` bytes each, in one commit. */
void fill(struct kv *kv, unsigned count, size_t size);

off_t size_of(const char *name);
