#include "fcgi/openapi/openapi_answers.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/count.h"
#include "common/members.h"
#include "fcgi/http/format.h"
#include "fcgi/openapi/openapi_schema.h"
#include "fcgi/route.h"

#define TEXT_MAX 1024

/* Error answers that operations share. */
static const struct error_reply {
	int status;
	unsigned bit; /* 0: every operation */
	const char *name, *code, *message, *description;
} error_replies[] = {
    {202, ANSWERS_202, "NotReady", "not_ready",
	"This supplier has not been computed yet.",
	"The supplier has no snapshot and is not computed now; with "
	"Retry-After when too many computations are under way"},
    {304, ANSWERS_304, "NotModified", NULL, NULL,
	"If-None-Match names the present ETag"},
    {400, ANSWERS_400, "BadRequest", "bad_request",
	"page must be a whole number from 1",
	"A parameter or the body is not valid; details.issues lists each"},
    {401, 0, "Unauthorized", "unauthorized",
	"An API key is needed, in the header X-API-Key or as Authorization: "
	"Bearer; this one is missing, invalid or revoked.",
	"The key is missing, invalid or revoked"},
    {403, ANSWERS_403, "Forbidden", "forbidden",
	"This key may read, and not propose ranges.",
	"The key's scope does not allow it"},
    {404, ANSWERS_404, "NotFound", "not_found",
	"There is no supplier 99999 with articles; /fournisseurs lists them.",
	"What was asked for does not exist"},
    {405, 0, "NoSuchMethod", "bad_request",
	"This path does not know the method PATCH, only GET, HEAD, OPTIONS.",
	"The path does not know this method; Allow lists those that it knows"},
    {406, ANSWERS_ROWS | ANSWERS_FEED, "NoSuchFormat", "bad_request",
	"There is no such format; format is one of json, ndjson, csv, csv-fr, "
	"tsv, xlsx, parquet",
	"There is no format of that name; details.formats lists those that "
	"there are"},
    {413, TAKES_BODY, "TooLarge", "bad_request",
	"The body is too large: 8388608 bytes are the most.",
	"The body is larger than this server takes"},
    {415, TAKES_BODY, "NotJson", "bad_request",
	"The body must be JSON, with Content-Type: application/json.",
	"The body is declared as something else than JSON"},
    {429, 0, "TooMany", "unauthorized",
	"Too many requests from this address had no valid key: wait, then send "
	"a valid one.",
	"Too many requests without a valid key, from this address: wait as "
	"Retry-After says"},
    {500, 0, "InternalError", "internal_error",
	"The data could not be read. The request can be repeated; the "
	"server's log says more.",
	"An unexpected failure"},
    {503, 0, "Busy", "internal_error",
	"Too many large answers or computations are under way, of this caller "
	"or of all: read those to their end, then try again.",
	"The server is too busy, or cannot open its data, or cannot store at "
	"present: try again after the seconds of Retry-After; where "
	"details.outcome is unknown, look first whether it was stored"},
};

/* The headers of answers, and which answers have them. */
enum header_place {
	ON_ALL = 1, /* every answer */
	ON_OK = 2, /* every 200 */
	ON_TAGGED = 4, /* where a 304 is possible */
	ON_PAGES = 8,
	ON_ROWS = 16,
	ON_GRID = 32,
	ON_OPEN = 64, /* where no key is needed */
	ON_405 = 128,
	ON_WAIT = 256, /* 202, 429, 503 */
	ON_LOOKUP = 512,
	ON_FEED = 1024,
	ON_ERROR = 2048
};

static const struct header {
	const char *name, *type;
	unsigned on; /* of enum header_place */
	const char *meaning;
} headers[] = {
    {"X-Request-Id", "string", ON_ALL,
	"Names this request in the server's log"},
    {"X-Grid-Node", "string", ON_ALL,
	"Of several nodes: which one has answered"},
    {"X-Grid-Seen", "string", ON_ALL,
	"Of several nodes: up to where the answer shows what was written; sent "
	"with a later request, to any node, that is answered with as much, or "
	"by a 503 to be repeated"},
    {"Cache-Control", "string", ON_ALL,
	"private, no-cache where a tag can be sent back; public without a key; "
	"no-store for errors"},
    {"Server-Timing", "string", ON_OK,
	"How long the server took up to the first byte, in milliseconds"},
    {"Vary", "string", ON_OK | ON_ERROR,
	"Accept-Encoding, Accept where that decides the form, and "
	"Accept-Language where it decides a text; of errors Accept-Language"},
    {"Content-Language", "string", ON_ERROR,
	"Of the message: fr where Accept-Language prefers it, else en"},
    {"Content-Encoding", "string", ON_OK,
	"gzip or zstd, for clients that take it and answers of 1 KB or "
	"more"},
    {"ETag", "string", ON_TAGGED, "Send it back in If-None-Match"},
    {"Link", "string", ON_PAGES,
	"RFC 8288: the pages first, prev, next and last; of a long address "
	"next alone"},
    {"X-Snapshot", "string", ON_GRID, "meta.snapshot, in all forms"},
    {"X-Page", "integer", ON_ROWS,
	"All formats but JSON: pagination.page, as there is no body for it"},
    {"X-Limit", "integer", ON_ROWS, "All formats but JSON: pagination.limit"},
    {"X-Total-Count", "integer", ON_ROWS,
	"All formats but JSON: pagination.total"},
    {"X-Total-Pages", "integer", ON_ROWS,
	"All formats but JSON: pagination.totalPages"},
    {"X-Has-More", "boolean", ON_ROWS | ON_FEED,
	"All formats but JSON: pagination.hasMore"},
    {"X-Suivant", "string", ON_FEED,
	"All formats but JSON: meta.suivant, absent where that is null"},
    {"X-Sans-Snapshot", "integer", ON_ROWS,
	"/products/search in all formats but JSON: meta.sansSnapshot"},
    {"X-Introuvables", "integer", ON_LOOKUP,
	"All formats but JSON: how many codes meta.introuvables would list"},
    {"X-Disparus", "integer", ON_GRID,
	"With depuis, in all formats but JSON: how many codes meta.disparus "
	"lists"},
    {"X-Ignores", "string", ON_ROWS | ON_FEED,
	"All formats but JSON: meta.ignores, escaped as in addresses, "
	"separated by commas"},
    {"Content-Disposition", "string", ON_ROWS | ON_FEED,
	"All formats but JSON: a name to save the answer under"},
    {"Access-Control-Allow-Origin", "string", ON_OPEN,
	"*: any page may read it"},
    {"Allow", "string", ON_405, "The methods that the path knows"},
    {"Retry-After", "integer", ON_WAIT, "Seconds to wait"},
};

static void
ref_to(struct jsonw *json, const char *kind, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "#/components/%s/%s", kind, name);
	jsonw_object_begin(json);
	members_string(json, "$ref", path);
	jsonw_object_end(json);
}

static bool
is_described(const struct route *route)
{
	return route->doc.tag != NULL;
}

static void
header_refs(struct jsonw *json, unsigned places)
{
	members_object(json, "headers");
	for (unsigned i = 0; i < COUNT(headers); i++) {
		if ((headers[i].on & places) == 0)
			continue;
		jsonw_key(json, headers[i].name);
		ref_to(json, "headers", headers[i].name);
	}
	jsonw_object_end(json);
}

static void
text_form(struct jsonw *json, const char *type, const char *meaning)
{
	members_object(json, type);
	members_object(json, "schema");
	members_string(json, "type", "string");
	members_string(json, "description", meaning);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

static const char sparse_maps[] =
    ". Maps by month are sparse: a month that is absent, or its empty cell, "
    "has no imported figure. Nothing was sold or received then; of a stock "
    "nothing is known, which is not a stock of 0";

/* By media type: formats that share one are told together. */
static void
write_formats(struct jsonw *json)
{
	for (unsigned i = FORMAT_NDJSON; i < FORMATS; i++) {
		const struct format_info *info = &format_infos[i];
		const struct format_info *next = info + 1;
		bool shared =
		    i + 1 < FORMATS && span_eq(info->type, next->type);
		char text[TEXT_MAX];

		snprintf(text, sizeof(text), "format=%.*s: %s%s%.*s%s%s%s",
		    SPAN_ARG(info->name), info->meaning,
		    shared ? ". format=" : "",
		    SPAN_ARG(shared ? next->name : SPAN("")),
		    shared ? ": " : "", shared ? next->meaning : "",
		    info->flat ? sparse_maps : "");
		text_form(json, info->type.ptr, text);
		i += shared;
	}
}

static void
write_content(struct jsonw *json, const struct route_doc *doc)
{
	members_object(json, "content");
	members_object(json, "application/json");
	jsonw_key(json, "schema");
	if (doc->reply != NULL)
		openapi_ref(json, doc->reply);
	else {
		jsonw_object_begin(json);
		members_string(json, "type", "object");
		jsonw_object_end(json);
	}
	if (doc->reply != NULL)
		openapi_example(json, doc->reply);
	jsonw_object_end(json);
	if ((doc->answers & (ANSWERS_ROWS | ANSWERS_FEED)) != 0)
		write_formats(json);
	jsonw_object_end(json);
}

static unsigned
places_of(const struct route *route)
{
	unsigned answers = route->doc.answers, places = ON_ALL | ON_OK;

	if ((answers & ANSWERS_304) != 0)
		places |= ON_TAGGED;
	if ((answers & (ANSWERS_PAGES | ANSWERS_ROWS)) != 0)
		places |= ON_PAGES;
	if ((answers & ANSWERS_ROWS) != 0)
		places |= ON_ROWS;
	if ((answers & ANSWERS_FEED) != 0)
		places |= ON_FEED;
	if ((route->use & (USE_GRID | USE_LOOKUP)) != 0)
		places |= ON_GRID;
	if ((route->use & USE_LOOKUP) != 0)
		places |= ON_LOOKUP;
	if (route->auth == ROUTE_OPEN)
		places |= ON_OPEN;
	return places;
}

static void
write_ok(struct jsonw *json, const struct route *route)
{
	members_object(json, "200");
	members_string(json, "description", "Success");
	header_refs(json, places_of(route));
	write_content(json, &route->doc);
	jsonw_object_end(json);
}

static bool
may_answer(const struct error_reply *reply, const struct route *route)
{
	if (reply->status == 401)
		return route->auth != ROUTE_OPEN;
	return reply->bit == 0 || (route->doc.answers & reply->bit) != 0;
}

void
openapi_answers(struct jsonw *json, const struct route *route)
{
	assert(route->doc.tag != NULL);
	members_object(json, "responses");
	write_ok(json, route);
	for (unsigned i = 0; i < COUNT(error_replies); i++) {
		char status[8];

		if (!may_answer(&error_replies[i], route))
			continue;
		snprintf(status, sizeof(status), "%d", error_replies[i].status);
		jsonw_key(json, status);
		ref_to(json, "responses", error_replies[i].name);
	}
	jsonw_object_end(json);
}

static bool
reply_is_used(const struct error_reply *reply)
{
	for (unsigned i = 0; i < route_count; i++)
		if (is_described(&routes[i]) && may_answer(reply, &routes[i]))
			return true;
	return false;
}

static void
write_error_reply(struct jsonw *json, const struct error_reply *reply)
{
	unsigned places = ON_ALL;

	if (reply->code != NULL)
		places |= ON_ERROR;
	if (reply->status == 405)
		places |= ON_405;
	if (reply->status == 202 || reply->status == 429 ||
	    reply->status == 503)
		places |= ON_WAIT;
	if (reply->status == 304)
		places |= ON_TAGGED;
	members_object(json, reply->name);
	members_string(json, "description", reply->description);
	header_refs(json, places);
	if (reply->code != NULL) {
		members_object(json, "content");
		members_object(json, "application/json");
		jsonw_key(json, "schema");
		openapi_ref(json, "Error");
		members_object(json, "example");
		members_object(json, "error");
		members_string(json, "code", reply->code);
		members_string(json, "message", reply->message);
		jsonw_object_end(json);
		jsonw_object_end(json);
		jsonw_object_end(json);
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
}

static void
write_headers(struct jsonw *json)
{
	members_object(json, "headers");
	for (unsigned i = 0; i < COUNT(headers); i++) {
		members_object(json, headers[i].name);
		members_string(json, "description", headers[i].meaning);
		members_object(json, "schema");
		members_string(json, "type", headers[i].type);
		jsonw_object_end(json);
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
}

void
openapi_write_answers(struct jsonw *json)
{
	members_object(json, "responses");
	for (unsigned i = 0; i < COUNT(error_replies); i++)
		if (reply_is_used(&error_replies[i]))
			write_error_reply(json, &error_replies[i]);
	jsonw_object_end(json);
	write_headers(json);
}
