/*
 * auth: who calls. X-API-Key alone decides when it is sent; else the bearer
 * token; else the session's cookie.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct request;

/* ERR_ANSWERED with a 429: the key has made as many requests as it may. */
enum err auth_rate(struct call *call);

/*
 * Fills call->subject. ERR_DENIED: nobody; the answer is the same 401 whatever
 * was wrong. Another failure is the storage's.
 */
enum err auth_subject(struct call *call);

/* Makes the 401 of every endpoint; ERR_ANSWERED. */
enum err auth_refuse(struct call *call);

/* True when callers reach the site by TLS, as nginx or the settings say. */
bool auth_by_tls(const struct call *call);

/*
 * The name of the session's cookie. By TLS the name begins with __Host-: a
 * browser then takes it from this very host alone, and neither a neighbour's
 * name nor plain HTTP can put another in its place. That other name means
 * nothing there.
 */
const char *auth_cookie_name(const struct call *call);

/*
 * The values of the cookies that have this name; returns how many. A browser
 * sends several when a page of the host has set one for another path: any of
 * them may be the session. Those beyond the room are ignored.
 */
#define AUTH_COOKIES_MAX 4
unsigned auth_cookies(
    struct span tokens[AUTH_COOKIES_MAX], const struct call *call);

/*
 * ERR_ANSWERED with a 403 when a browser says that the request comes from
 * another site's page: Sec-Fetch-Site is other than same-origin, or Origin is
 * not this address. Programs other than browsers send neither header.
 */
enum err auth_same_site(struct call *call);

/*
 * The same, and where the settings say the public address, Origin must be that:
 * a page whose name was pointed to this machine sends its own name as Host, too.
 */
enum err auth_same_origin(struct call *call);
