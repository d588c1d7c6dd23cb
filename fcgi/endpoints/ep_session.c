/*
 * /app/session: logging in, who is logged in, logging out. The cookie lasts as
 * long as the browser runs; how long the session lasts is the server's matter.
 */
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "fcgi/auth.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/rows/ready.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/attempts.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/store/store.h"
#include "fcgi/fail.h"
#include "fcgi/call.h"

#define PLACE_WAIT_MS 5000

/* Two endpoints that nobody need be known for: but no script either. */
static bool
is_from_a_browser(struct call *call)
{
	const struct request *request = call->request;

	if (request->api_key.len == 0 && request->authorization.len == 0)
		return auth_same_site(call);
	reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "Only a person's session may do this, not an API key.");
	return false;
}

static void
set_cookie(struct call *call, const char *token)
{
	reply_header(call->reply, "Set-Cookie",
	    "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s",
	    auth_cookie_name(call), token, auth_by_tls(call) ? "; Secure" : "",
	    token[0] == '\0' ? "; Max-Age=0" : "");
}

static void
answer_session(struct call *call, struct span user, int64_t expires_ms)
{
	struct answer answer;

	answer_begin(&answer, call);
	jsonw_object_begin(&answer.json);
	answer_null_text(&answer, "user", user);
	if (user.len > 0)
		answer_time(&answer, "expiresAt", expires_ms);
	jsonw_object_end(&answer.json);
	answer_end(&answer);
}

/* --- logging in ----------------------------------------------------------- */

static void
refuse_attempt(struct call *call, int64_t wait_ms)
{
	reply_fail(call->reply, 429, CODE_UNAUTHORIZED,
	    "Too many attempts to log in: wait for %lld seconds.",
	    (long long)(wait_ms + 999) / 1000);
	reply_header(call->reply, "Retry-After", "%lld",
	    (long long)(wait_ms + 999) / 1000);
}

/* As nginx refuses those beyond its queue. */
static void
refuse_for_now(struct call *call)
{
	reply_fail(call->reply, 429, CODE_UNAUTHORIZED,
	    "Too many log in at this moment: try again in a second.");
	reply_header(call->reply, "Retry-After", "1");
}

/* The session that this browser had ends with the login that follows it. */
static enum err
new_session(struct call *call, struct span user, struct span password,
    int64_t now_ms, char token[SESSION_TOKEN_LEN + 1])
{
	struct store *store = call->server->store;
	enum err err = session_login(store, user, password,
	    call->server->settings->session_s * 1000, now_ms, token);

	if (err == ERR_OK && auth_cookie(call).len > 0)
		err = session_logout(store, auth_cookie(call));
	return err;
}

/* With one of the places for passwords. */
static void
log_in(struct call *call, struct span user, struct span password)
{
	int64_t lifetime_ms = call->server->settings->session_s * 1000;
	struct span address = call->request->remote_addr;
	int64_t now_ms = date_now_ms(), wait_ms;
	char token[SESSION_TOKEN_LEN + 1];
	enum err err;

	if (!attempts_take(
		call->server->attempts, user, address, now_ms, &wait_ms)) {
		refuse_attempt(call, wait_ms);
		return;
	}
	err = new_session(call, user, password, now_ms, token);
	if (err == ERR_OK) {
		attempts_forgive(call->server->attempts, user, address);
		set_cookie(call, token);
		answer_session(call, user, now_ms + lifetime_ms);
	} else if (err == ERR_DENIED)
		reply_fail(call->reply, 401, CODE_UNAUTHORIZED,
		    "The name or the password is not right.");
	else
		fail_write(call, err);
	digest_forget(token, sizeof(token));
}

/*
 * At most STORE_LOGINS at once over all processes, and as many that wait: a
 * thread for each. All others queue in nginx, where they cost next to nothing.
 */
static void
log_in_alone(struct call *call, struct span user, struct span password)
{
	int place;
	enum err err =
	    store_lock_login(&place, call->server->store, PLACE_WAIT_MS);

	if (err == ERR_OK) {
		log_in(call, user, password);
		close(place);
	} else if (err == ERR_BUSY)
		refuse_for_now(call);
	else
		fail_write(call, err);
}

/* A password takes a tenth of a second and 64 MB: pages do not wait for it. */
void
ep_login(struct call *call)
{
	static const char *const names[] = {"user", "password"};
	struct span user = SPAN(""), password = SPAN("");
	struct jsonr *doc;

	if (!is_from_a_browser(call))
		return;
	if (!call->request->slow_pool) {
		ready_hand_over_to(call, "@login");
		return;
	}
	doc = body_open(call);
	if (doc == NULL)
		return;
	jsonr_only(doc, jsonr_root(doc), "", names, 2);
	jsonr_want_string(
	    doc, &user, jsonr_member(jsonr_root(doc), "user"), "user");
	jsonr_want_string(doc, &password,
	    jsonr_member(jsonr_root(doc), "password"), "password");
	if (body_ok(call, doc))
		log_in_alone(call, user, password);
	jsonr_free(doc);
}

/* --- being logged in, and out --------------------------------------------- */

void
ep_session(struct call *call)
{
	answer_session(call, call->subject.name, call->subject.expires_ms);
}

void
ep_logout(struct call *call)
{
	struct span token = auth_cookie(call);
	enum err err = ERR_OK;

	if (!is_from_a_browser(call))
		return;
	if (token.len > 0)
		err = session_logout(call->server->store, token);
	if (err != ERR_OK) {
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The session could not be ended (%s): try again.",
		    err_text(err));
		return;
	}
	set_cookie(call, "");
	answer_session(call, SPAN(""), 0);
}
