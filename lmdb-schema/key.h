/*
 * key: ordered keys, and the texts of generations and file names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/schema.h"

#define KEY_MAX (2 * SCHEMA_CODE_MAX + 16)

struct key {
	size_t len;
	char bytes[KEY_MAX];
};

static inline struct span
key_span(const struct key *key)
{
	return (struct span){key->bytes, key->len};
}

/* A code that may stand in a key: 1..SCHEMA_CODE_MAX bytes, no control. */
bool key_code_ok(struct span code);

/* first 00 second. A code that is too long is cut; no valid code is. */
struct key key_pair(struct span first, struct span second);

/* name 00 first 00 second, of a whole pair; `name` is a short one of ours. */
struct key key_of_pair(struct span name, const struct key *pair);

/* first 00, the prefix of all its pairs. */
struct key key_prefix(struct span first);

struct key key_pair_u32(struct span first, uint32_t number);
struct key key_pair_u64(struct span first, uint64_t number);
struct key key_u16(uint16_t number);

/* The part after the first 00; empty when there is no 00. */
struct span key_second(struct span key);
struct span key_first(struct span key);
uint32_t key_read_u32(struct span bytes); /* 0 when it is not 4 bytes */
uint64_t key_read_u64(struct span bytes);

/* Little-endian values. */
uint32_t key_value_u32(struct span value); /* 0 when it is not 4 bytes */
uint64_t key_value_u64(struct span value);
struct key key_of_u64(uint64_t value); /* as a value: 8 bytes */

/* "019a1b2c3d4e5f60" and back. */
#define KEY_GENERATION_LEN 16
void key_generation_text(char text[KEY_GENERATION_LEN + 1], uint64_t gen);
bool key_generation(uint64_t *gen, struct span text);

/* A generation after `last`: the clock in microseconds, or last + 1. */
uint64_t key_generation_next(uint64_t last);

/*
 * Replaces a `last` that is lost: no earlier than any generation given so far.
 */
uint64_t key_generation_lost(void);

/* The `last` that kv_get() returned: replaced when damaged, 0 when absent. */
uint64_t key_generation_last(enum err err, struct span value);

/* A code as part of a file name. */
#define KEY_FILE_MAX (3 * SCHEMA_CODE_MAX + 1)
void key_file_text(char text[KEY_FILE_MAX], struct span code);

/* The reverse, into `code`; an empty span for any other file name. */
struct span key_file_code(char code[KEY_FILE_MAX], const char *name);

/*
 * The generation in "019a1b2c3d4e5f60.mdb", or in that name followed by ".tmp",
 * which sets *temporary; 0 for any other name.
 */
uint64_t key_file_generation(const char *name, bool *temporary);

/*
 * The same for a file of facts, which may be a share: "019a1b2c3d4e5f60-0a.mdb".
 */
uint64_t key_facts_generation(const char *name, bool *temporary);

/*
 * The same for "019a1b2c3d4e5f60.rows", ".pages" and ".zstd", a snapshot's packed
 * rows, or ".gz", the name that earlier versions gave them: prune removes them with it.
 */
uint64_t key_packed_generation(const char *name, bool *temporary);
