/*
 * /app/session: logging in, who is logged in, logging out; /app/password: one's
 * own password; /app/outside: who has an account elsewhere (outside.h). The
 * cookie lasts as long as the browser runs; how long the session lasts is the
 * server's matter.
 */
#include <assert.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/members.h"
#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/login_place.h"
#include "fcgi/fail.h"
#include "fcgi/outside.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/attempts.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/user.h"

/* Two endpoints need no session, but a browser of this site. */
static enum err
check_browser(struct call *call)
{
	const struct request *request = call->request;

	if (request->api_key.len == 0 && request->authorization.len == 0)
		return auth_same_site(call);
	return reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "Only a person's session may do this, not an API key.");
}

static void
set_cookie(struct call *call, const char *token)
{
	reply_header(call->reply, "Set-Cookie",
	    "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s",
	    auth_cookie_name(call), token, auth_by_tls(call) ? "; Secure" : "",
	    token[0] == '\0' ? "; Max-Age=0" : "");
}

/* A session from outside also says where it ends for good. */
static void
write_outside(struct jsonw *json, const struct api_settings *settings)
{
	members_bool(json, "outside", true);
	members_null_text(json, "signOut", span_of(settings->outside_sign_out));
}

/* `rights` are NULL where nobody is logged in. */
static enum err
answer_session(struct call *call, struct span user, int64_t expires_ms,
    const struct rights *rights, bool outside)
{
	struct answer answer;

	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_null_text(&answer.json, "user", user);
	if (rights != NULL) {
		members_time(&answer.json, "expiresAt", expires_ms);
		answer_rights(&answer, rights);
	}
	if (outside)
		write_outside(&answer.json, call->server->settings);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

/* --- logging in ----------------------------------------------------------- */

static enum err
refuse_attempt(struct call *call, int64_t wait_ms)
{
	reply_fail(call->reply, 429, CODE_UNAUTHORIZED,
	    "Too many attempts to log in: wait for %lld seconds.",
	    (long long)(wait_ms + 999) / 1000);
	reply_header(call->reply, "Retry-After", "%lld",
	    (long long)(wait_ms + 999) / 1000);
	return ERR_ANSWERED;
}

/* Ends the sessions that the request names. */
static enum err
end_sessions(struct call *call)
{
	struct span tokens[AUTH_COOKIES_MAX];
	unsigned count = auth_cookies(tokens, call);
	enum err err = ERR_OK;

	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err = session_logout(call->server->store, tokens[i]);
	return err;
}

/* The session that this browser had ends with the login that follows it. */
static enum err
new_session(struct call *call, struct span user, struct span password,
    int64_t now_ms, char token[SESSION_TOKEN_LEN + 1])
{
	struct store *store = call->server->store;
	enum err err = session_login(store, user, password,
	    call->server->settings->session_s * 1000, now_ms, token);

	return err == ERR_OK ? end_sessions(call) : err;
}

/* Answers with a new session; ERR_DENIED when the password is not right. */
static enum err
give_session(struct call *call, struct span user, struct span password)
{
	int64_t lifetime_ms = call->server->settings->session_s * 1000;
	int64_t now_ms = date_now_ms();
	char token[SESSION_TOKEN_LEN + 1];
	struct user found;
	enum err err = new_session(call, user, password, now_ms, token);

	if (err == ERR_OK)
		err = state_view_renew(call->serving->views.state);
	if (err == ERR_OK)
		err = user_get(&found, call->serving->views.state, user);
	if (err == ERR_OK) {
		set_cookie(call, token);
		err = answer_session(
		    call, user, now_ms + lifetime_ms, &found.rights, false);
	}
	digest_forget(token, sizeof(token));
	return err;
}

/* With one of the places for passwords. */
static enum err
log_in(struct call *call, struct span user, struct span password)
{
	struct span address = call->request->remote_addr;
	int64_t wait_ms;
	enum err err;

	if (!attempts_take(
		call->server->attempts, user, address, date_now_ms(), &wait_ms))
		return refuse_attempt(call, wait_ms);
	err = give_session(call, user, password);
	if (err == ERR_OK) {
		attempts_forgive(call->server->attempts, user, address);
		return ERR_OK;
	}
	return err == ERR_DENIED
	    ? reply_fail(call->reply, 401, CODE_UNAUTHORIZED,
		  "The name or the password is not right.")
	    : fail_write(call, err);
}

/* A password takes a tenth of a second and 64 MB: pages do not wait for it. */
enum err
ep_login(struct call *call)
{
	static const char *const names[] = {"user", "password"};
	struct span user = SPAN(""), password = SPAN("");
	struct jsonr *doc;
	int place;
	enum err err = check_browser(call);

	if (err == ERR_OK && !call->request->slow_pool)
		return ensure_hand_over_to(call, "@login");
	if (err == ERR_OK)
		err = body_open(&doc, call);
	if (err != ERR_OK)
		return err;
	jsonr_only(doc, jsonr_root(doc), "", names, 2);
	jsonr_want_string(
	    doc, &user, jsonr_member(jsonr_root(doc), "user"), "user");
	jsonr_want_string(doc, &password,
	    jsonr_member(jsonr_root(doc), "password"), "password");
	err = body_check(call, doc);
	if (err == ERR_OK)
		err = login_place_take(&place, call);
	if (err == ERR_OK) {
		err = log_in(call, user, password);
		close(place);
	}
	jsonr_free(doc);
	return err;
}

/* --- one's own password --------------------------------------------------- */

/*
 * All sessions of the user have ended; this browser gets a new one. A password
 * that was changed is told as such, also when there is no session.
 */
static enum err
go_on(struct call *call, struct span user, struct span password)
{
	enum err err = give_session(call, user, password);

	if (err == ERR_OK)
		return ERR_OK;
	set_cookie(call, "");
	return reply_fail(call->reply, 500, CODE_INTERNAL,
	    "The password is changed, but no session could be opened (%s): "
	    "log in with the new password.",
	    err_text(err));
}

/* With one of the places for passwords; a guess counts as one at a login. */
static enum err
renew(struct call *call, struct span old, struct span password)
{
	struct span user = call->subject.name;
	struct span address = call->request->remote_addr;
	int64_t wait_ms;
	enum err err;

	if (!attempts_take(
		call->server->attempts, user, address, date_now_ms(), &wait_ms))
		return refuse_attempt(call, wait_ms);
	err = user_renew(call->server->store, user, old, password);
	if (err == ERR_DENIED)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "The present password is not right.");
	if (err != ERR_OK)
		return fail_write(call, err);
	attempts_forgive(call->server->attempts, user, address);
	return go_on(call, user, password);
}

enum err
ep_password(struct call *call)
{
	static const char *const names[] = {"password", "newPassword"};
	struct span old = SPAN(""), password = SPAN("");
	struct jsonr *doc;
	int place;
	enum err err;

	assert(call->subject.kind == SUBJECT_USER);
	if (call->subject.outside)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "This session has no password here: the organisation's "
		    "server that let it in has it.");
	if (!call->request->slow_pool)
		return ensure_hand_over_to(call, "@login");
	err = body_open(&doc, call);
	if (err != ERR_OK)
		return err;
	jsonr_only(doc, jsonr_root(doc), "", names, 2);
	jsonr_want_string(
	    doc, &old, jsonr_member(jsonr_root(doc), "password"), "password");
	if (jsonr_want_string(doc, &password,
		jsonr_member(jsonr_root(doc), "newPassword"), "newPassword") &&
	    !user_password_ok(password))
		jsonr_issue(doc, "newPassword", "must have %d to %d bytes",
		    USER_PASSWORD_MIN, USER_PASSWORD_MAX);
	err = body_check(call, doc);
	if (err == ERR_OK)
		err = login_place_take(&place, call);
	if (err == ERR_OK) {
		err = renew(call, old, password);
		close(place);
	}
	jsonr_free(doc);
	return err;
}

/* --- from outside ---------------------------------------------------------- */

enum err
ep_outside(struct call *call)
{
	const struct api_settings *settings = call->server->settings;
	struct answer answer;

	answer_begin_unkept(&answer, call);
	jsonw_object_begin(&answer.json);
	members_null_text(&answer.json, "signIn",
	    settings->outside ? span_of(settings->outside_sign_in) : SPAN(""));
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static enum err
admit(struct call *call, struct span name, const struct rights *rights)
{
	const struct api_settings *settings = call->server->settings;
	int64_t lifetime_ms = settings->session_s * 1000;
	int64_t now_ms = date_now_ms();
	char token[SESSION_TOKEN_LEN + 1];
	enum err err = session_admit(
	    call->server->store, name, rights, lifetime_ms, now_ms, token);

	if (err == ERR_BAD_INPUT)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "The name of this account cannot be used here: a name is 1 "
		    "to %d bytes of text.",
		    ACCESS_NAME_MAX);
	if (err == ERR_OK)
		err = end_sessions(call);
	if (err != ERR_OK)
		return fail_write(call, err);
	set_cookie(call, token);
	digest_forget(token, sizeof(token));
	return answer_session(call, name,
	    outside_expires(settings, now_ms, now_ms + lifetime_ms), rights,
	    true);
}

enum err
ep_outside_session(struct call *call)
{
	const struct api_settings *settings = call->server->settings;
	struct span name = call->request->outside_user;
	char suppliers[ACCESS_SUPPLIERS_MAX + 1];
	struct rights rights;
	enum err err = check_browser(call);

	if (err != ERR_OK)
		return err;
	if (!settings->outside)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "Nobody logs in from outside here: [outside] accept of "
		    "gridapi.conf is no.");
	if (name.len == 0)
		return reply_fail(call->reply, 401, CODE_UNAUTHORIZED,
		    "The organisation's server has named nobody: sign in there "
		    "first.");
	if (outside_rights(&rights, suppliers, settings,
		call->request->outside_groups) != ERR_OK)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "No group of this account may use the Grid screen: "
		    "[outside] of gridapi.conf names those that may.");
	return admit(call, name, &rights);
}

/* --- being logged in, and out --------------------------------------------- */

enum err
ep_session(struct call *call)
{
	assert(call->subject.kind == SUBJECT_USER);
	return answer_session(call, call->subject.name,
	    call->subject.expires_ms, &call->subject.rights,
	    call->subject.outside);
}

enum err
ep_logout(struct call *call)
{
	enum err err = check_browser(call);

	if (err != ERR_OK)
		return err;
	err = end_sessions(call);
	if (err != ERR_OK)
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The session could not be ended (%s): try again.",
		    err_text(err));
	set_cookie(call, "");
	return answer_session(call, SPAN(""), 0, NULL, false);
}
