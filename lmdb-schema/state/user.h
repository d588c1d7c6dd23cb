/*
 * user: the people who work in the Grid screen.
 *
 * Passwords are kept as digest.h's memory-hard hash. A password that changes
 * and a user who is removed end all of that user's sessions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/state.h"

struct store;

#define USER_PASSWORD_MIN 8
#define USER_PASSWORD_MAX 1024

/* Bytes only: how good a password is shows in no rule about its letters. */
bool user_password_ok(struct span password);

/*
 * Names are access.h's, without blanks at their ends. ERR_BAD_INPUT for a name
 * or a password that will not do; ERR_EXISTS; ERR_NOT_FOUND.
 */
enum err user_add(struct store *store, struct span name, struct span password,
    const char *actor);
enum err user_passwd(struct store *store, struct span name,
    struct span password, const char *actor);
enum err user_remove(struct store *store, struct span name, const char *actor);

/* Each in the order of the names' bytes. */
struct user {
	struct span name; /* borrowed from the view */
	int64_t created_ms;
};
enum err user_each(struct state_view *view,
    enum err (*each)(void *context, const struct user *user), void *context);

/* For session.c: the stored hash. ERR_NOT_FOUND is quiet. */
struct kv_txn;
enum err user_hash(struct kv_txn *txn, struct span name, struct span *hash);
