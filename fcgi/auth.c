#include "fcgi/auth.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/digest.h"
#include "common/siphash.h"
#include "fcgi/call.h"
#include "fcgi/key_uses.h"
#include "fcgi/metrics.h"
#include "fcgi/outside.h"
#include "fcgi/route.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"

/* Keeps `key`, whose text has this hash, as valid at this commit. */
static enum err
know(struct known_key *known, uint64_t commit, const uint8_t hash[SIPHASH_LEN],
    const struct access_key *key)
{
	known->valid = false;
	if (!span_copy(known->id, sizeof(known->id), key->id) ||
	    !span_copy(known->name, sizeof(known->name), key->name) ||
	    !span_copy(known->suppliers, sizeof(known->suppliers),
		key->bounds.suppliers))
		return ERR_DAMAGED; /* no key is ever stored like this */
	memcpy(known->hash, hash, sizeof(known->hash));
	known->may_propose = key->scope == ACCESS_PROPOSE;
	known->expires_ms = key->bounds.expires_ms;
	known->per_minute = key->bounds.per_minute;
	known->commit = commit;
	known->valid = true;
	return ERR_OK;
}

/*
 * A client calls again and again with one key: its SHA-256 is looked up once a
 * commit, and later requests compare a far cheaper hash.
 */
static enum err
by_key(struct call *call, struct span text)
{
	struct serving *serving = call->serving;
	struct known_key *known = &serving->key;
	uint64_t commit = state_view_version(serving->views.state);
	uint8_t hash[SIPHASH_LEN];

	siphash(hash, known->secret, text);
	if (!known->valid || known->commit != commit ||
	    !digest_equal(known->hash, hash, sizeof(hash))) {
		struct access_key key;
		enum err err =
		    access_key_check(&key, serving->views.state, text);

		if (err == ERR_OK)
			err = know(known, commit, hash, &key);
		if (err != ERR_OK)
			return err;
	}
	if (known->expires_ms != 0 && date_now_ms() >= known->expires_ms)
		return ERR_DENIED;
	call->subject.kind = SUBJECT_KEY;
	call->subject.per_minute = known->per_minute;
	call->subject.suppliers = span_of(known->suppliers);
	call->subject.name = span_of(known->name);
	call->subject.id = span_of(known->id);
	call->subject.may_propose = known->may_propose;
	key_uses_note(call->server->uses, call->subject.id);
	return ERR_OK;
}

bool
auth_by_tls(const struct call *call)
{
	return call->request->https || call->server->settings->secure_cookie;
}

const char *
auth_cookie_name(const struct call *call)
{
	return auth_by_tls(call) ? "__Host-grid_session" : "grid_session";
}

unsigned
auth_cookies(struct span tokens[AUTH_COOKIES_MAX], const struct call *call)
{
	struct span name = span_of(auth_cookie_name(call));
	struct span pair, rest;
	unsigned count = 0;

	assert(tokens != NULL && call->request != NULL);
	rest = call->request->cookie;
	while (count < AUTH_COOKIES_MAX && span_cut(&pair, &rest, ';')) {
		pair = span_trim(pair);
		if (span_starts(pair, name) && pair.len > name.len + 1 &&
		    pair.ptr[name.len] == '=')
			tokens[count++] = span_from(pair, name.len + 1);
	}
	return count;
}

/* A use that cannot be written costs the session time, not this request. */
static void
touch(struct call *call, struct session *session, int64_t now_ms)
{
	if (!session_wants_touch(session, now_ms))
		return;
	/* A page does not wait for other machines. */
	if (store_is_shared(call->server->store)) {
		session->used_ms = now_ms;
		key_uses_note_session(call->server->uses, session);
	} else if (session_touch(call->server->store, session, now_ms) ==
	    ERR_OK)
		session->used_ms = now_ms;
}

/* As they are now: another role counts from the next request on. */
static enum err
find_rights(struct call *call, const struct session *session)
{
	struct arena *arena = call->serving->arena;
	struct user user;
	enum err err = ERR_OK;

	if (session->outside &&
	    outside_is_over(
		call->server->settings, session->created_ms, date_now_ms()))
		return ERR_DENIED;
	if (session->outside)
		call->subject.rights = session->rights;
	else
		err = user_get(
		    &user, call->serving->views.state, span_of(session->user));
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DENIED : err;
	if (!session->outside)
		call->subject.rights = user.rights;
	if (call->subject.rights.suppliers.len == 0)
		return ERR_OK;
	/* A copy, as the view may be renewed. */
	call->subject.rights.suppliers =
	    arena_copy(arena, call->subject.rights.suppliers);
	return call->subject.rights.suppliers.ptr == NULL ? ERR_NO_MEMORY
							  : ERR_OK;
}

static enum err
by_session(struct call *call)
{
	int64_t lifetime_ms = call->server->settings->session_s * 1000;
	int64_t now_ms = date_now_ms();
	struct span tokens[AUTH_COOKIES_MAX];
	unsigned count = auth_cookies(tokens, call);
	struct session session;
	enum err err = ERR_DENIED;

	for (unsigned i = 0; i < count && err == ERR_DENIED; i++)
		err = session_check(&session, call->serving->views.state,
		    tokens[i], lifetime_ms, now_ms);
	if (err == ERR_OK)
		err = find_rights(call, &session);
	if (err != ERR_OK)
		return err;
	touch(call, &session, now_ms);
	call->subject.kind = SUBJECT_USER;
	call->subject.outside = session.outside;
	memcpy(call->subject.session, session.id, sizeof(session.id));
	call->subject.name =
	    arena_copy(call->serving->arena, span_of(session.user));
	call->subject.may_propose = true;
	call->subject.expires_ms = session.used_ms + lifetime_ms;
	if (session.outside)
		call->subject.expires_ms =
		    outside_expires(call->server->settings, session.created_ms,
			call->subject.expires_ms);
	return call->subject.name.ptr == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/* "https://grid.example:8443" is of "grid.example:8443". */
static bool
is_origin_of(struct span origin, struct span host)
{
	static const struct span schemes[] = {{"https://", 8}, {"http://", 7}};

	for (unsigned i = 0; i < 2; i++)
		if (span_starts(origin, schemes[i]))
			return host.len > 0 &&
			    span_eq_nocase(
				span_from(origin, schemes[i].len), host);
	return false;
}

/* The address without its path: "https://grid.example". */
static struct span
origin_of_url(struct span url)
{
	size_t scheme = span_find(url, ':') + 3;

	return span_sub(
	    url, 0, scheme + span_find(span_from(url, scheme), '/'));
}

static enum err
refuse_site(struct call *call)
{
	return reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "This request comes from another site's page.");
}

enum err
auth_same_site(struct call *call)
{
	const struct request *request = call->request;
	struct span url = span_of(call->server->settings->public_url);
	bool same = true;

	assert(call->server->settings->public_url != NULL);
	if (request->sec_fetch_site.len > 0)
		same = span_eq(request->sec_fetch_site, SPAN("same-origin"));
	if (same && request->origin.len > 0)
		same = is_origin_of(request->origin, request->host) ||
		    (url.len > 0 &&
			span_eq_nocase(request->origin, origin_of_url(url)));
	return same ? ERR_OK : refuse_site(call);
}

enum err
auth_same_origin(struct call *call)
{
	struct span url = span_of(call->server->settings->public_url);
	struct span origin = call->request->origin;
	enum err err = auth_same_site(call);

	if (err != ERR_OK || url.len == 0 || origin.len == 0)
		return err;
	return span_eq_nocase(origin, origin_of_url(url)) ? ERR_OK
							  : refuse_site(call);
}

/* "Bearer <token>", the scheme in any case. */
static struct span
bearer(struct span header)
{
	if (header.len < 7 ||
	    !span_eq_nocase(span_sub(header, 0, 7), SPAN("bearer ")))
		return (struct span){NULL, 0};
	return span_trim(span_from(header, 7));
}

enum err
auth_subject(struct call *call)
{
	const struct request *request = call->request;

	if (request->api_key.ptr != NULL && request->api_key.len > 0)
		return by_key(call, request->api_key);
	if (request->authorization.ptr != NULL &&
	    request->authorization.len > 0)
		return by_key(call, bearer(request->authorization));
	return by_session(call);
}

/* The pool that hands a request over has counted it. */
enum err
auth_rate(struct call *call)
{
	const struct subject *subject = &call->subject;
	int64_t wait;

	assert(subject->kind != SUBJECT_NOBODY);
	if (subject->per_minute == 0 || call->request->slow_pool)
		return ERR_OK;
	wait = key_rates_take(&call->server->metrics->rates, subject->id,
	    subject->per_minute, date_monotonic_ns());
	if (wait == 0)
		return ERR_OK;
	reply_fail(call->reply, 429, CODE_FORBIDDEN,
	    "This key may make %lld requests a minute: wait %lld s.",
	    (long long)subject->per_minute, (long long)wait);
	reply_header(call->reply, "Retry-After", "%lld", (long long)wait);
	return ERR_ANSWERED;
}

enum err
auth_refuse(struct call *call)
{
	assert(!call->handed_over && !call->reply->streaming);
	/* nginx counts it on the way, and asks again without this. */
	if (call->request->count_refusal) {
		reply_header(call->reply, "X-Accel-Redirect", "@refused");
		call->handed_over = true;
		return ERR_ANSWERED;
	}
	reply_fail(call->reply, 401, CODE_UNAUTHORIZED,
	    "An API key is needed, in the header X-API-Key or as "
	    "Authorization: Bearer%s; this one is missing, invalid, expired "
	    "or revoked.",
	    call->route->auth == ROUTE_KEY
		? ""
		: reply_words(call->reply, ", or a session"));
	reply_header(
	    call->reply, "WWW-Authenticate", "Bearer realm=\"product-grid\"");
	return ERR_ANSWERED;
}
