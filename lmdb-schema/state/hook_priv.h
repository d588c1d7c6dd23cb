/* hook_priv: the records of hooks, for hook.c and hook_at.c only. */
#pragma once

#include "common/kv/kv.h"
#include "lmdb-schema/state/hook.h"
#include "lmdb-schema/state/hook_at.h"

struct hook_key {
	size_t len;
	char bytes[16 + HOOK_NAME_MAX + 1 + sizeof(uint64_t)];
};

static inline struct span
hook_key_span(const struct hook_key *key)
{
	return span_make(key->bytes, key->len);
}

/* kind 00 name; without a name the prefix of all. */
struct hook_key hook_key_of(struct span kind, struct span name);

/* "hook-lost" 00 name 00, and behind it a number. */
struct hook_key hook_key_of_lost(struct span name);
void hook_key_add_number(struct hook_key *key, uint64_t number);

#define HOOK_KIND SPAN("hook")
#define HOOK_KIND_AT SPAN("hook-at")

enum err hook_get_in(struct hook *hook, struct kv_txn *txn, struct span name);
enum err hook_at_put(
    struct kv_txn *txn, struct span name, const struct hook_at *at);

/* Marks all that was given up as to be sent again; counts it. */
enum err hook_lost_again(uint64_t *count, struct kv_txn *txn, struct span name);
enum err hook_lost_forget(struct kv_txn *txn, struct span name);
