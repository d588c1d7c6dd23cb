/*
 * session: a user who has logged in.
 *
 * The browser holds a token of 43 random letters and digits (over 250 bits);
 * only its SHA-256 is stored. A session lasts `lifetime_ms` after its last
 * use. That use is written at most once a minute, so a session may end up to a
 * minute early, and reading a page costs no write.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/digest.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"
#include "lmdb-schema/state/state.h"

struct store;

#define SESSION_TOKEN_LEN 43
#define SESSION_TOUCH_MS 60000

struct session {
	uint8_t id[DIGEST_SHA256_LEN]; /* the token's SHA-256, as stored */
	char user[ACCESS_NAME_MAX + 1];
	int64_t created_ms;
	int64_t used_ms; /* as last written */
	/*
	 * Made by session_admit(); then the rights are the session's own,
	 * borrowed from the view.
	 */
	bool outside;
	struct rights rights;
};

/*
 * Checks name and password; with ERR_OK, `token` is the only time the token is
 * shown. ERR_DENIED otherwise. The check takes the same time whether the user
 * exists or not, about a tenth of a second and 64 MB. Also removes sessions
 * that are over.
 */
enum err session_login(struct store *store, struct span name,
    struct span password, int64_t lifetime_ms, int64_t now_ms,
    char token[SESSION_TOKEN_LEN + 1]);

/*
 * Makes a session for a person that another server has authenticated: that of
 * the organisation's accounts. The name needs no user; the rights are the session's.
 * ERR_BAD_INPUT for a name that no user may have.
 */
enum err session_admit(struct store *store, struct span name,
    const struct rights *rights, int64_t lifetime_ms, int64_t now_ms,
    char token[SESSION_TOKEN_LEN + 1]);

/*
 * Gets the session of a token. ERR_DENIED when the token is invalid, or the
 * session ended or over.
 */
enum err session_check(struct session *out, struct state_view *view,
    struct span token, int64_t lifetime_ms, int64_t now_ms);

/* True when the session's use is due to be written by session_touch(). */
static inline bool
session_wants_touch(const struct session *session, int64_t now_ms)
{
	return now_ms - session->used_ms >= SESSION_TOUCH_MS;
}

/* Writes the session's use; a session that has ended meanwhile stays ended. */
enum err session_touch(
    struct store *store, const struct session *session, int64_t now_ms);

/* The same for several, each with its own used_ms, in one commit. */
enum err session_touch_all(
    struct store *store, const struct session *sessions, unsigned count);

/* Ends the session of a token; an invalid token is fine. */
enum err session_logout(struct store *store, struct span token);

/* Removes the sessions that are over; *count is how many. */
enum err session_sweep(
    struct store *store, int64_t lifetime_ms, int64_t now_ms, uint64_t *swept);

/* A session as it is stored, over or not; borrowed from the view. */
struct session_record {
	struct span user;
	int64_t created_ms, used_ms;
	bool outside;
	struct rights rights; /* where it is from outside */
};

/* Calls `each` for every one, in the order of the ids. */
enum err session_each(struct state_view *view,
    enum err (*each)(
	void *context, struct span id, const struct session_record *record),
    void *context);

/* For user.c: the session with this id. ERR_NOT_FOUND is quiet. */
struct kv_txn;
enum err session_read(
    struct session_record *record, struct kv_txn *txn, struct span id);

/* For user.c: ends all sessions of a user; *ended is how many. */
enum err session_end_all(struct kv_txn *txn, struct span user, uint64_t *ended);
