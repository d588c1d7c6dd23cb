#include "fcgi/route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fcgi/call.h"
#include "fcgi/endpoints/endpoint.h"

#define API "/api/v1"
#define APP "/app"

const struct route routes[] = {
    {METHOD_GET, API "/openapi.json", "getOpenapi", ROUTE_OPEN, 0, ep_openapi,
	"The description of this interface",
	{"Description", ANSWERS_304 | ANSWERS_400, NULL, NULL,
	    "This document. It needs no key and may be read from any origin."}},
    {METHOD_GET, API "/fournisseurs", "listFournisseurs", ROUTE_ANY,
	USE_FOURNISSEURS, ep_fournisseurs, "List the suppliers",
	{"Suppliers", ANSWERS_304 | ANSWERS_400 | ANSWERS_PAGES, NULL,
	    "FournisseursReply",
	    "Suppliers by code, 100 unless limit says otherwise; meta.total is "
	    "how many there are, meta.complet whether pages remain."}},
    {METHOD_GET, API "/magasins", "listMagasins", ROUTE_ANY, USE_MAGASINS,
	ep_magasins, "List the own stores",
	{"Suppliers", ANSWERS_304 | ANSWERS_400 | ANSWERS_PAGES, NULL,
	    "MagasinsReply",
	    "The stores whose codes stand in the maps by store, by code; 100 "
	    "unless limit says otherwise."}},
    {METHOD_GET, API "/nomenclatures", "listNomenclatures", ROUTE_ANY,
	USE_NOMENCLATURES, ep_nomenclatures,
	"Inventory of a classification level for one supplier",
	{"Suppliers",
	    ANSWERS_202 | ANSWERS_304 | ANSWERS_400 | ANSWERS_404 |
		ANSWERS_PAGES,
	    NULL, "NomenclaturesReply",
	    "A few dozen rows, also for a very large supplier: list the "
	    "entries, then ask /grid entry by entry. 100 entries unless limit "
	    "says otherwise; meta.complet is whether pages remain. It does not "
	    "compute: a supplier without snapshot gives 202."}},
    {METHOD_GET, API "/grid", "getGrid", ROUTE_ANY, USE_GRID | USE_CONDITIONS,
	ep_grid, "Rows of one supplier, computed on demand",
	{"Rows",
	    ANSWERS_202 | ANSWERS_304 | ANSWERS_400 | ANSWERS_404 |
		ANSWERS_ROWS,
	    NULL, "GridReply",
	    "All rows of the supplier when limit is omitted. A supplier "
	    "without snapshot is computed by this call, which then takes some "
	    "seconds; compute=0 gives 202 instead. A full row is large: name "
	    "the columns in fields."}},
    {METHOD_GET, API "/grid/aggregates", "aggregateGrid", ROUTE_ANY,
	USE_AGGREGATES | USE_CONDITIONS, ep_aggregates,
	"Sums over the rows of one supplier, by groups",
	{"Rows",
	    ANSWERS_202 | ANSWERS_304 | ANSWERS_400 | ANSWERS_404 |
		ANSWERS_ROWS,
	    NULL, "AggregatesReply",
	    "Count, sum, least, greatest and mean of columns over the rows "
	    "that match, and their share of the whole, by up to three of "
	    "code1, code2, code3, marque, codeGamme, trend, mois and magasin. "
	    "The filters are those of /grid. Sums are exact. 100 groups unless "
	    "limit says otherwise: limit=10 is a top ten."}},
    {METHOD_GET, API "/products/search", "searchProducts", ROUTE_ANY,
	USE_SEARCH | USE_CONDITIONS, ep_search, "Search across all suppliers",
	{"Rows",
	    ANSWERS_304 | ANSWERS_400 | ANSWERS_403 | ANSWERS_404 |
		ANSWERS_ROWS,
	    NULL, "SearchReply",
	    "Rows of all suppliers that have a snapshot, or of one."}},
    {METHOD_POST, API "/products/lookup", "lookupProducts", ROUTE_READS,
	USE_LOOKUP | USE_CONDITIONS, ep_lookup,
	"Rows of many articles of one supplier, by codein or GTIN",
	{"Rows",
	    ANSWERS_202 | ANSWERS_400 | ANSWERS_404 | ANSWERS_ROWS | TAKES_BODY,
	    "LookupBody", "LookupReply",
	    "Up to 10,000 codes in one call. It reads, and is a POST because "
	    "an address has no room for them: any key will do, and it may be "
	    "repeated. Parameters, forms and answer are those of /grid; "
	    "meta.introuvables lists the codes that no row has, whatever the "
	    "filters."}},
    {METHOD_GET, API "/products/{codein}", "getProduct", ROUTE_ANY, USE_PRODUCT,
	ep_product, "One article",
	{"Rows", ANSWERS_202 | ANSWERS_304 | ANSWERS_400 | ANSWERS_404, NULL,
	    "ProductReply",
	    "At several suppliers, the row with the highest totalCa, unless "
	    "fournisseur names one; that supplier is computed when it has no "
	    "snapshot."}},
    {METHOD_GET, API "/network/{codeCentrale}", "getNetwork", ROUTE_ANY, 0,
	ep_network, "The network's metrics of one product",
	{"Rows", ANSWERS_304 | ANSWERS_400 | ANSWERS_404, NULL, "NetworkReply",
	    "The metrics and the monthly quantities, from the last "
	    "synchronisation; the network system itself is not asked."}},
    {METHOD_GET, API "/propositions", "listPropositions", ROUTE_ANY, USE_FEED,
	ep_propositions, "What was proposed, and what became of it",
	{"Ranges", ANSWERS_304 | ANSWERS_400 | ANSWERS_404 | ANSWERS_FEED, NULL,
	    "PropositionsReply",
	    "A feed of proposals and decisions in the order of their commits, "
	    "the newest first; order=asc is the oldest first. 100 entries "
	    "unless limit says otherwise, 10,000 at most. depuis goes on "
	    "behind meta.suivant and misses nothing and repeats nothing, "
	    "whatever is written meanwhile: with order=asc, also behind the "
	    "newest."}},
    {METHOD_GET, API "/products/{codein}/gammes", "listGammes", ROUTE_ANY,
	USE_HISTORY, ep_history, "What happened to the ranges of one article",
	{"Ranges", ANSWERS_304 | ANSWERS_400 | ANSWERS_404 | ANSWERS_PAGES,
	    NULL, "GammesHistoryReply",
	    "The entries of /propositions about one article, at one supplier "
	    "or at all that list it, the newest first."}},
    {METHOD_PUT, API "/products/{codein}/gamme", "proposeGamme", ROUTE_ANY, 0,
	ep_put_gamme, "Propose a range for one article",
	{"Ranges",
	    ANSWERS_202 | ANSWERS_400 | ANSWERS_403 | ANSWERS_404 | TAKES_BODY,
	    "GammeBody", "GammeReply",
	    "Deposits a proposal that a buyer validates in the Grid screen; "
	    "the range itself does not change. Needs a key of scope propose."}},
    {METHOD_POST, API "/gammes", "proposeGammes", ROUTE_ANY, 0, ep_post_gammes,
	"Propose ranges for articles of one supplier, all or nothing",
	{"Ranges",
	    ANSWERS_202 | ANSWERS_400 | ANSWERS_403 | ANSWERS_404 | TAKES_BODY,
	    "GammesBody", "GammesReply",
	    "All or nothing: one unknown article, and nothing is proposed. "
	    "Needs a key of scope propose."}},
    {METHOD_POST, APP "/session", "login", ROUTE_OPEN, 0, ep_login, "Log in",
	{0}},
    {METHOD_GET, APP "/session", "getSession", ROUTE_SESSION, 0, ep_session,
	"Who is logged in", {0}},
    {METHOD_DELETE, APP "/session", "logout", ROUTE_OPEN, 0, ep_logout,
	"Log out", {0}},
    {METHOD_GET, APP "/outside", "getOutside", ROUTE_OPEN, 0, ep_outside,
	"Where persons with an account elsewhere sign in", {0}},
    {METHOD_POST, APP "/outside/session", "loginOutside", ROUTE_OPEN, 0,
	ep_outside_session, "Log in as the organisation's server says", {0}},
    {METHOD_PUT, APP "/password", "changePassword", ROUTE_SESSION, 0,
	ep_password, "Change one's own password", {0}},
    {METHOD_GET, APP "/pending", "listPending", ROUTE_SESSION, USE_SCREEN,
	ep_pending, "What waits for a buyer at one supplier", {0}},
    {METHOD_GET, APP "/waiting", "listWaiting", ROUTE_SESSION, 0, ep_waiting,
	"At which suppliers proposals wait", {0}},
    {METHOD_POST, APP "/save", "save", ROUTE_SESSION, 0, ep_save,
	"Validate proposals, and save the user's own ranges", {0}},
    {METHOD_POST, APP "/cancel", "cancel", ROUTE_SESSION, 0, ep_cancel,
	"Reject proposals", {0}},
    {METHOD_GET, APP "/keys", "listKeys", ROUTE_ADMINISTRATOR, 0, ep_keys,
	"The API keys, never the keys themselves", {0}},
    {METHOD_POST, APP "/keys", "createKey", ROUTE_ADMINISTRATOR, 0,
	ep_key_create, "Make an API key; it is shown this once", {0}},
    {METHOD_DELETE, APP "/keys/{id}", "revokeKey", ROUTE_ADMINISTRATOR, 0,
	ep_key_revoke, "Revoke an API key", {0}},
    {METHOD_GET, APP "/users", "listUsers", ROUTE_ADMINISTRATOR, 0, ep_users,
	"Who works in the Grid screen", {0}},
    {METHOD_POST, APP "/users", "addUser", ROUTE_ADMINISTRATOR, 0, ep_user_add,
	"Add a user", {0}},
    {METHOD_PUT, APP "/users/{name}", "setRole", ROUTE_ADMINISTRATOR, 0,
	ep_user_rights, "Say what a user may do", {0}},
    {METHOD_PUT, APP "/users/{name}/password", "resetPassword",
	ROUTE_ADMINISTRATOR, 0, ep_user_password,
	"Give a user another password", {0}},
    {METHOD_DELETE, APP "/users/{name}", "removeUser", ROUTE_ADMINISTRATOR, 0,
	ep_user_remove, "Remove a user", {0}},
    {METHOD_GET, APP "/kept", "listKept", ROUTE_SESSION, 0, ep_kept,
	"What the screen keeps for the user and for all, by name", {0}},
    {METHOD_GET, APP "/kept/{owner}/{name}", "getKept", ROUTE_SESSION, 0,
	ep_kept_one, "One of them, with its value", {0}},
    {METHOD_PUT, APP "/kept/{owner}/{name}", "putKept", ROUTE_SESSION, 0,
	ep_kept_put, "Keep a value", {0}},
    {METHOD_DELETE, APP "/kept/{owner}/{name}", "removeKept", ROUTE_SESSION,
	USE_KEPT, ep_kept_remove, "Keep it no more", {0}},
    {METHOD_POST, "/mcp", "mcp", ROUTE_KEY, 0, ep_mcp,
	"The grid as tools, for agents: Model Context Protocol", {0}},
    {METHOD_POST, "/cluster/part", "part", ROUTE_OPEN, 0, ep_part,
	"A node's part of the suppliers, for another node", {0}},
    {METHOD_GET, "/healthz", "healthz", ROUTE_OPEN, 0, ep_healthz,
	"The worker answers", {0}},
    {METHOD_GET, "/readyz", "readyz", ROUTE_OPEN, 0, ep_readyz,
	"The store can be read", {0}},
    {METHOD_GET, "/metrics", "metrics", ROUTE_OPEN, 0, ep_metrics,
	"Counters for Prometheus", {0}},
};

const unsigned route_count = sizeof(routes) / sizeof(routes[0]);
const unsigned route_name_count = sizeof(routes) / sizeof(routes[0]) + 1;

const char *
route_name(unsigned number)
{
	assert(number <= route_count);
	return number < route_count ? routes[number].operation : "none";
}

/* Compares segment by segment; "{…}" takes any. */
static bool
matches(const char *path, const struct query *query, struct span *captured)
{
	unsigned captures = 0;

	for (unsigned i = 0; i < query->segment_count; i++) {
		struct span piece;

		if (*path++ != '/')
			return false;
		piece = span_make(path, (size_t)(strchrnul(path, '/') - path));
		if (*path == '{')
			captured[captures++] = query->segments[i];
		else if (!span_eq(piece, query->segments[i]))
			return false;
		path += piece.len;
	}
	return *path == '\0';
}

static bool
same_method(const struct route *route, enum method method)
{
	return route->method == method ||
	    (route->method == METHOD_GET && method == METHOD_HEAD);
}

bool
route_reads(const struct request *request)
{
	struct span path =
	    span_sub(request->uri, 0, span_find(request->uri, '?'));

	if (request->method == METHOD_POST)
		for (unsigned i = 0; i < route_count; i++)
			if (routes[i].auth == ROUTE_READS &&
			    span_eq(path, span_of(routes[i].path)))
				return true;
	return request->method == METHOD_GET ||
	    request->method == METHOD_HEAD || request->method == METHOD_OPTIONS;
}

static const char *
method_name(enum method method)
{
	static const char *const names[] = {
	    "GET, HEAD", "HEAD", "POST", "PUT", "DELETE"};

	return names[method];
}

enum err
route_find(struct call *call, char allowed[64])
{
	size_t len = 0;

	assert(call->query.segment_count <= QUERY_SEGMENTS_MAX);
	allowed[0] = '\0';
	if (call->query.no_path)
		return ERR_NOT_FOUND;
	for (unsigned i = 0; i < route_count; i++) {
		struct span captured[2];

		/*
		 * A concrete path stands before one that captures, and
		 * leaves it the methods that it does not have itself.
		 */
		if (!matches(routes[i].path, &call->query, captured))
			continue;
		if (len > 0 && strchr(routes[i].path, '{') != NULL &&
		    call->route != NULL &&
		    strcmp(call->route->path, routes[i].path) != 0 &&
		    call->route->method == routes[i].method)
			continue;
		call->route = &routes[i];
		memcpy(call->path, captured, sizeof(captured));
		if (same_method(&routes[i], call->request->method))
			return ERR_OK;
		len += (size_t)snprintf(allowed + len, 64 - len, "%s%s",
		    len == 0 ? "" : ", ", method_name(routes[i].method));
	}
	if (len == 0)
		return ERR_NOT_FOUND;
	snprintf(allowed + len, 64 - len, ", OPTIONS");
	return ERR_DENIED;
}
