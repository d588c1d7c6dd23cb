/* Decides who may use an endpoint, and answers the others. */
#include "tools/gridhook/router_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/digest.h"
#include "common/log.h"
#include "common/origin.h"

/* --- access --------------------------------------------------------------- */

/* Our own pages are at our port, by a name of this machine or its address. */
static bool
is_own_origin(const struct hook_settings *settings, struct conn *conn,
    const struct origin *origin)
{
	const struct sockaddr_storage *own = conn_own_address(conn);
	char text[ADDRESS_TEXT_MAX];
	struct authority literal;
	unsigned port = origin->at.port == 0 ? 80 : origin->at.port;

	address_text(text, own);
	return span_eq_nocase(origin->scheme, SPAN("http")) &&
	    port == address_port(own) &&
	    (authority_is_loopback(&origin->at) ||
		span_eq_nocase(
		    origin->at.host, span_of(settings_host(settings))) ||
		(authority_read(&literal, span_of(text)) &&
		    span_eq_nocase(origin->at.host, literal.host)));
}

static bool
is_listed_origin(
    const struct hook_settings *settings, const struct origin *origin)
{
	const char *list = settings->allowed_origins;
	struct origin listed;
	struct span item;

	while (settings_list_next(&item, &list))
		if (origin_read(&listed, item) && origin_same(&listed, origin))
			return true;
	return false;
}

/*
 * Programs send no Origin. Web pages do, and where an old browser leaves it
 * out, a newer header may tell.
 */
static bool
origin_is_fine(const struct hook_settings *settings, struct conn *conn)
{
	struct span text = http_header(conn_http(conn), "origin");
	struct span site = http_header(conn_http(conn), "sec-fetch-site");
	struct origin origin;

	if (text.ptr == NULL)
		return site.ptr == NULL || span_eq(site, SPAN("none")) ||
		    span_eq(site, SPAN("same-origin"));
	return origin_read(&origin, text) &&
	    (is_own_origin(settings, conn, &origin) ||
		is_listed_origin(settings, &origin));
}

static bool
is_listed_host(const struct hook_settings *settings, const struct authority *at)
{
	const char *list = settings->allowed_hosts;
	struct authority listed;
	struct span item;

	while (settings_list_next(&item, &list))
		if (authority_read(&listed, item) &&
		    span_eq_nocase(listed.host, at->host) &&
		    (listed.port == 0 || listed.port == at->port))
			return true;
	return false;
}

/* Only a page of the same machine can name another host than ours. */
static bool
is_own_host(const struct hook_settings *settings, struct span text)
{
	struct span listening = span_of(settings_host(settings));
	struct authority at;

	return authority_read(&at, text) &&
	    (authority_is_loopback(&at) || span_eq_nocase(at.host, listening) ||
		is_listed_host(settings, &at));
}

/* The host of an absolute address must be that of the header as well. */
static bool
host_is_fine(const struct hook_settings *settings, struct conn *conn)
{
	struct span header = http_header(conn_http(conn), "host");
	struct span target = http_authority(conn_http(conn));
	struct authority a, b;

	if (target.ptr != NULL && header.ptr != NULL &&
	    !(authority_read(&a, target) && authority_read(&b, header) &&
		authority_same(&a, &b, 80)))
		return false;
	if (!settings_is_loopback(settings))
		return true;
	return (header.ptr == NULL || is_own_host(settings, header)) &&
	    (target.ptr == NULL || is_own_host(settings, target));
}

/*
 * Without a secret: of this machine only our user's programs, and root's. What
 * came over loopback and cannot be told is refused. NULL, or what is wrong.
 */
static const char *
user_fault(const struct hook_settings *settings, struct conn *conn)
{
	uid_t user;
	enum err err;

	if (!settings_wants_user(settings))
		return NULL;
	err = conn_user(conn, &user);
	if (err == ERR_OK)
		return user == geteuid() || user == 0
		    ? NULL
		    : "another user's program ([server] same_user)";
	if (!address_is_loopback(conn_address(conn)) &&
	    !address_is_loopback(conn_own_address(conn)))
		return NULL;
	if (err == ERR_NOT_FOUND)
		return "a program whose user cannot be told ([server] "
		       "same_user): it has closed its socket, or is in "
		       "another network namespace";
	return "a program whose user cannot be told ([server] same_user): "
	       "neither sock_diag nor /proc/self/net/tcp can be read";
}

/* --- the secret ----------------------------------------------------------- */

/* The secret that was sent; .ptr NULL when none was. */
static struct span
secret_given(struct conn *conn)
{
	struct span given = http_header(conn_http(conn), "x-service-secret");
	struct span scheme = SPAN("Bearer ");

	if (given.ptr != NULL)
		return given;
	given = http_header(conn_http(conn), "authorization");
	if (given.ptr == NULL || given.len < scheme.len ||
	    !span_eq_nocase(span_sub(given, 0, scheme.len), scheme))
		return span_make(NULL, 0);
	return span_trim(span_from(given, scheme.len));
}

static struct guard_who
who_is(struct conn *conn)
{
	struct guard_who who = {
	    .address = conn_address(conn), .peer = conn_peer(conn)};

	who.known = conn_user(conn, &who.uid) == ERR_OK;
	return who;
}

/*
 * The proof that a request brings: whether it is right, whether nobody could
 * have guessed it, and whether it is the secret of all. A signature is judged
 * with the body (`later`).
 */
struct claim {
	bool given, right, is_long, shared, later;
};

enum verdict { SECRET_FINE, SECRET_WRONG, SECRET_LATER, SECRET_TOO_MANY };

/*
 * A secret waits for its turn, unless one on the same connection was right
 * already: a quick answer would tell a guesser that a guess was right. A right
 * secret that is too long to be guessed never waits. A request without a secret
 * guesses nothing.
 */
static enum verdict
judge(struct router *gate, struct conn *conn, const struct claim *claim)
{
	struct guard *guard = gate->spec.guard;
	bool held = conn_was_held(conn);
	struct guard_who who;
	int64_t wait = 0;

	if (!claim->given)
		return SECRET_WRONG;
	if (!(claim->right && claim->is_long) && !held &&
	    !conn_is_trusted(conn) && guard_is_alert(guard)) {
		who = who_is(conn);
		wait = guard_wait(guard, &who);
	}
	if (wait > 0)
		conn_hold(conn, wait);
	if (wait != 0)
		return wait > 0 ? SECRET_LATER : SECRET_TOO_MANY;
	if (claim->later)
		return SECRET_FINE;
	if (claim->right) {
		/*
		 * A sender with a secret of its own may still guess the shared
		 * one.
		 */
		if (claim->shared)
			conn_trust(conn);
		if (held) {
			who = who_is(conn);
			guard_right(guard, &who);
		}
		return SECRET_FINE;
	}
	if (!held) {
		who = who_is(conn);
		guard_wrong(guard, &who);
	}
	return SECRET_WRONG;
}

/* --- senders with a secret of their own ----------------------------------- */

static const struct sender *
sender_of(struct router *gate, struct conn *conn)
{
	return senders_find(gate->spec.senders, router_suffix(gate, conn));
}

static struct claim
claim_of(struct router *gate, struct conn *conn, bool is_push)
{
	const struct hook_settings *settings = gate->spec.settings;
	const struct senders_request request = {router_header, conn_http(conn)};
	const struct sender *sender = is_push ? sender_of(gate, conn) : NULL;
	struct span given = secret_given(conn);
	struct claim claim = {.given = given.ptr != NULL};
	enum sender_proof proof;

	if (claim.given || sender == NULL) {
		claim.shared = true;
		claim.right = claim.given &&
		    digest_equal_text(given, span_of(settings->secret));
		claim.is_long = settings_has_long_secret(settings);
		return claim;
	}
	proof = sender_head(sender, &request);
	claim.given = proof != SENDER_NONE;
	claim.later = proof == SENDER_SIGNED;
	claim.is_long = sender_has_long_secret(sender);
	claim.right = proof == SENDER_RIGHT || (claim.later && claim.is_long);
	return claim;
}

/* --- refusals, before a body is read -------------------------------------- */

static void
log_refusal(struct router *gate, struct conn *conn, const char *what)
{
	struct span path = http_path(conn_http(conn));

	if (router_may_log(gate, conn))
		log_warn("%s: remote=%s path=%.*s", what, conn_peer(conn),
		    SPAN_ARG(span_sub(path, 0, 200)));
}

static void
refuse_page(struct router *gate, struct conn *conn)
{
	struct span origin, host;

	if (router_may_log(gate, conn)) {
		origin = http_header(conn_http(conn), "origin");
		host = http_header(conn_http(conn), "host");
		log_warn("foreign origin or host ([server] allowed_origins, "
			 "allowed_hosts): remote=%s origin=%.*s host=%.*s",
		    conn_peer(conn), SPAN_ARG(span_sub(origin, 0, 200)),
		    SPAN_ARG(span_sub(host, 0, 200)));
	}
	conn_reply_error(conn, 403, "Forbidden");
}

bool
router_let_user_pass(struct router *gate, struct conn *conn)
{
	const char *fault = user_fault(gate->spec.settings, conn);

	assert(conn != NULL);
	if (fault == NULL)
		return true;
	log_refusal(gate, conn, fault);
	conn_reply_error(conn, 403,
	    "Forbidden: gridhook has no secret, so only programs of its own "
	    "user may use it");
	return false;
}

static void
refuse_crowd(struct router *gate, struct conn *conn)
{
	const struct guard_who who = who_is(conn);
	char headers[64];

	log_refusal(gate, conn, "too many wrong secrets before this one");
	snprintf(headers, sizeof(headers), "Retry-After: %" PRId64 "\r\n",
	    guard_retry_s(gate->spec.guard, &who));
	conn_reply(conn,
	    &(struct reply){.status = 429,
		.body = SPAN("{\"error\":\"Too Many Requests\"}"),
		.headers = headers});
}

bool
router_let_page_pass(struct router *gate, struct conn *conn)
{
	const struct hook_settings *settings = gate->spec.settings;

	assert(conn != NULL);
	if (!settings->check_origin ||
	    (origin_is_fine(settings, conn) && host_is_fine(settings, conn)))
		return true;
	refuse_page(gate, conn);
	return false;
}

bool
router_let_secret_pass(struct router *gate, struct conn *conn, bool is_push)
{
	struct claim claim;

	assert(gate->spec.guard != NULL && conn != NULL);
	if (!gate->spec.settings->has_secret)
		return true;
	claim = claim_of(gate, conn, is_push);
	switch (judge(gate, conn, &claim)) {
	case SECRET_FINE:
		return true;
	case SECRET_LATER:
		return false;
	case SECRET_TOO_MANY:
		refuse_crowd(gate, conn);
		return false;
	case SECRET_WRONG:
	default:
		log_refusal(gate, conn, "unauthorized");
		conn_reply_error(conn, 401, "Unauthorized");
		return false;
	}
}

bool
router_let_signature_pass(struct router *gate, struct conn *conn)
{
	const struct senders_request request = {router_header, conn_http(conn)};
	const struct sender *sender;
	struct guard_who who;

	if (!gate->spec.settings->has_secret || secret_given(conn).ptr != NULL)
		return true;
	sender = sender_of(gate, conn);
	if (sender == NULL || sender_head(sender, &request) != SENDER_SIGNED)
		return true;
	who = who_is(conn);
	if (sender_signed(
		sender, &request, http_body(conn_http(conn)), time(NULL))) {
		if (conn_was_held(conn))
			guard_right(gate->spec.guard, &who);
		return true;
	}
	if (!conn_was_held(conn))
		guard_wrong(gate->spec.guard, &who);
	log_refusal(gate, conn,
	    "unauthorized: the signature does not fit the body, the secret "
	    "([server] senders_file) or the time");
	conn_reply_error(conn, 401, "Unauthorized");
	return false;
}

struct span
router_suffix(struct router *gate, struct conn *conn)
{
	struct span path = http_path(conn_http(conn));
	char prefix[FS_PATH_MAX];

	if (settings_push_path(prefix, gate->spec.settings) != ERR_OK)
		return SPAN("");
	path = span_from(path, strlen(prefix));
	return span_starts(path, SPAN("/")) ? span_from(path, 1) : SPAN("");
}

struct span
router_header(void *arg, const char *name)
{
	assert(arg != NULL && name != NULL);
	return http_header(arg, name);
}

bool
router_may_log(struct router *gate, struct conn *conn)
{
	const struct guard_who who = who_is(conn);

	assert(gate->spec.guard != NULL);
	return guard_may_log(gate->spec.guard, &who);
}

bool
router_may_log_address(
    struct router *gate, const struct sockaddr_storage *address)
{
	char peer[ADDRESS_TEXT_MAX];
	const struct guard_who who = {.address = address, .peer = peer};

	assert(address != NULL);
	address_text(peer, address);
	return guard_may_log(gate->spec.guard, &who);
}
