/*
 * kv_help: shared by the tests of kv. Names are of files in the scratch folder;
 * a function asserts success unless it returns the failure.
 */
#pragma once

#include <sys/types.h>

#include "common/kv/kv.h"

#define KV_HELP_MAP_BYTES (64u << 20)

struct kv_spec spec_of(const char *name, enum kv_mode mode);
struct kv *open_kv(const char *name, enum kv_mode mode);

/* Opens and closes; returns the result of opening. */
enum err try_open(const char *name, enum kv_mode mode);

/* Puts a pair in a transaction of its own, in table 0. */
void put_one(struct kv *kv, const char *key, const char *value);
bool has_one(struct kv *kv, const char *key, const char *value);

bool is_there(
    struct kv_txn *txn, unsigned table, const char *key, const char *value);

/* `count` pairs of `size` bytes each, in one commit. */
void fill(struct kv *kv, unsigned count, size_t size);

off_t size_of(const char *name);
