/*
 * access: API keys.
 *
 * A key reads "grid_<id>_<secret>": the id finds its record, the secret is 40
 * random letters and digits. Only the SHA-256 of the whole key is stored; the
 * key is shown once, when it is made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/state.h"

struct store;
struct kv_txn;

enum access_scope { ACCESS_READ = 1, ACCESS_PROPOSE = 2 };

#define ACCESS_ID_LEN 10
#define ACCESS_SECRET_LEN 40
#define ACCESS_KEY_MAX 64 /* "grid_" id "_" secret NUL */
#define ACCESS_NAME_MAX 64 /* bytes of a key's or a user's name */
#define ACCESS_SUPPLIERS_MAX 2048 /* bytes of a key's list of suppliers */
#define ACCESS_RATE_MAX 1000000 /* requests a minute */

/* Bounds of a key; all zero: there are none. */
struct access_bounds {
	int64_t expires_ms; /* it is valid until then; 0: for good */
	int64_t per_minute; /* requests; 0: any number */
	/* Codes, each ended by '\n', of those that it may see; empty: all. */
	struct span suppliers;
};

/* Whether such a list, or an empty one, has the supplier. */
bool access_sees(struct span suppliers, struct span supplier);

struct access_key {
	struct span id, name; /* borrowed from the view */
	enum access_scope scope;
	int64_t created_ms;
	int64_t revoked_ms; /* 0: not revoked */
	int64_t used_ms; /* as last written; 0: never */
	struct access_bounds bounds;
};

/* "read", "propose". */
const char *access_scope_text(enum access_scope scope);
bool access_scope(enum access_scope *scope, struct span text);

/* 1 to ACCESS_NAME_MAX bytes of UTF-8 without control characters. */
bool access_name_ok(struct span name);

/*
 * The author of a change: by name, or, where `session` is given, the person who
 * has the session of this id. Then ERR_DENIED: it is no administrator's any
 * more when the change would be written.
 */
struct access_actor {
	const char *name;
	struct span session;
};

struct access_wish {
	struct span name;
	enum access_scope scope;
	struct access_actor actor;
	bool alone; /* ERR_EXISTS when a key in use has that name */
	struct access_bounds bounds;
};

/* Creates a key. `key` is the only time it is shown; `id` is a part of it. */
enum err access_key_create(struct store *store, const struct access_wish *wish,
    char key[ACCESS_KEY_MAX], char id[ACCESS_ID_LEN + 1]);

/*
 * Revokes a key at once and for good. ERR_NOT_FOUND; ERR_EXISTS when it is
 * revoked already.
 */
enum err access_key_revoke(
    struct store *store, struct span id, const struct access_actor *actor);

/* Whether it is neither revoked nor over. */
bool access_key_valid(const struct access_key *key, int64_t now_ms);

/*
 * Gets the key's record. ERR_DENIED for anything but a valid key: neither the
 * result nor the time taken shows which part of it is wrong.
 */
enum err access_key_check(
    struct access_key *out, struct state_view *view, struct span key);

/*
 * Calls `each` for every key in the order of the ids, including revoked ones.
 */
enum err access_key_each(struct state_view *view,
    enum err (*each)(void *context, const struct access_key *key),
    void *context);

/* Writes the times of last use of several keys, in one transaction. */
struct access_use {
	char id[ACCESS_ID_LEN + 1];
	int64_t used_ms;
};
enum err access_note_uses(
    struct store *store, const struct access_use *uses, unsigned count);

/*
 * The generation of the last change of keys or users: a cached check of a key
 * is valid only while it stays the same. access_touch() moves it on, for
 * lmdb-schema's own files.
 */
enum err access_generation(struct state_view *view, uint64_t *generation);
enum err access_touch(struct kv_txn *txn);
