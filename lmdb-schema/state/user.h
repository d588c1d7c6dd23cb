/*
 * user: accounts of the people who use the Grid screen.
 *
 * Passwords are kept as digest.h's memory-hard hash. Changing the password or
 * removing the user ends all of the user's sessions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/rights.h"
#include "lmdb-schema/state/state.h"

struct store;

#define USER_PASSWORD_MIN 8
#define USER_PASSWORD_MAX 1024

/* Only the length in bytes is limited; there are no rules about characters. */
bool user_password_ok(struct span password);

/*
 * Names are access.h's, without blanks at their ends. ERR_BAD_INPUT for an
 * invalid name or password; ERR_EXISTS; ERR_NOT_FOUND. user_add() makes an
 * administrator. user_remove() also ends the sessions and removes the views
 * and edits of a person from outside, who has no record here.
 *
 * These are the machine's operator's, and may leave no administrator.
 */
enum err user_add(struct store *store, struct span name, struct span password,
    const char *actor);
enum err user_add_as(struct store *store, struct span name,
    struct span password, const struct rights *rights, const char *actor);
enum err user_set_rights(struct store *store, struct span name,
    const struct rights *rights, const char *actor);
enum err user_passwd(struct store *store, struct span name,
    struct span password, const char *actor);
enum err user_remove(struct store *store, struct span name, const char *actor);

/*
 * The same as user_passwd(), by the user: ERR_DENIED when `old` is not the
 * password, or there is no such user. Takes the time of two hashes.
 */
enum err user_renew(struct store *store, struct span name, struct span old,
    struct span password);

/*
 * The same by a person of the Grid screen, whose session has this id.
 *
 *   ERR_DENIED  no administrator's session any more, when it would be written:
 *               of two who remove each other at once, one is
 *   ERR_LAST    it would leave no administrator with a password
 */
enum user_act { USER_ADD, USER_PASSWD, USER_RIGHTS, USER_REMOVE };
struct user_change {
	enum user_act act;
	struct span name;
	struct span password; /* of USER_ADD and USER_PASSWD */
	struct rights rights; /* of USER_ADD and USER_RIGHTS */
};
enum err user_change_by(
    struct store *store, const struct user_change *wanted, struct span session);

/* Calls `each` for every user, in the order of the names' bytes. */
struct user {
	struct span name; /* borrowed from the view, as all of it */
	int64_t created_ms;
	struct rights rights;
};
enum err user_each(struct state_view *view,
    enum err (*each)(void *context, const struct user *user), void *context);

/* Borrowed from the view. ERR_NOT_FOUND is quiet. */
enum err user_get(struct user *user, struct state_view *view, struct span name);

/* For session.c: the stored hash. ERR_NOT_FOUND is quiet. */
struct kv_txn;
enum err user_hash(struct kv_txn *txn, struct span name, struct span *hash);

/*
 * For access.c: the person who has the session of this id, borrowed until the
 * first write. ERR_DENIED where it is no administrator's.
 */
enum err user_administrator(
    struct span *name, struct kv_txn *txn, struct span session);
