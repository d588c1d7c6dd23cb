/*
 * The document from its top: info, servers, paths, components. A route that is
 * not under /api/v1 is not part of the interface, and has no tag.
 */
#include "fcgi/openapi/openapi.h"

#include <stdio.h>

#include "fcgi/openapi/openapi_params.h"
#include "fcgi/openapi/openapi_schema.h"
#include "fcgi/route.h"

#define BASE "/api/v1"

static const struct tag {
	const char *name, *description;
} tags[] = {
    {"Description", "This document"},
    {"Suppliers", "Which suppliers there are, and how their rows are spread"},
    {"Rows", "Rows of the grid, one article at one supplier each"},
    {"Ranges", "Range codes proposed, for a buyer to validate"},
};

/* Error answers that operations share. */
static const struct error_reply {
	int status;
	unsigned bit; /* 0: every operation that is not open */
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
    {413, TAKES_BODY, "TooLarge", "bad_request",
	"The body is too large: 8388608 bytes are the most.",
	"The body is larger than this server takes"},
    {415, TAKES_BODY, "NotJson", "bad_request",
	"The body must be JSON, with Content-Type: application/json.",
	"The body is declared as something else than JSON"},
    {500, 0, "InternalError", "internal_error",
	"The data could not be read. The request can be repeated; the "
	"server's log says more.",
	"An unexpected failure"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- small pieces ------------------------------------------------------------
 */

static void
member(struct jsonw *json, const char *name, const char *text)
{
	jsonw_key(json, name);
	jsonw_text(json, text);
}

static void
object(struct jsonw *json, const char *name)
{
	jsonw_key(json, name);
	jsonw_object_begin(json);
}

static void
ref_to(struct jsonw *json, const char *kind, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "#/components/%s/%s", kind, name);
	jsonw_object_begin(json);
	member(json, "$ref", path);
	jsonw_object_end(json);
}

static bool
is_described(const struct route *route)
{
	return route->doc.tag != NULL;
}

/* --- answers
 * ------------------------------------------------------------------ */

static void
header_refs(struct jsonw *json, const char *const *names)
{
	object(json, "headers");
	for (; *names != NULL; names++) {
		jsonw_key(json, *names);
		ref_to(json, "headers", *names);
	}
	jsonw_object_end(json);
}

static void
text_form(struct jsonw *json, const char *type, const char *meaning)
{
	object(json, type);
	object(json, "schema");
	member(json, "type", "string");
	member(json, "description", meaning);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

static void
write_content(struct jsonw *json, const struct route_doc *doc)
{
	object(json, "content");
	object(json, "application/json");
	jsonw_key(json, "schema");
	if (doc->reply != NULL)
		openapi_ref(json, doc->reply);
	else {
		jsonw_object_begin(json);
		member(json, "type", "object");
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
	if ((doc->answers & ANSWERS_ROWS) != 0) {
		text_form(
		    json, "application/x-ndjson", "One row a line, as Product");
		text_form(json, "text/csv",
		    "A header line, then one row a line; maps as JSON text");
	}
	jsonw_object_end(json);
}

static void
write_ok(struct jsonw *json, const struct route_doc *doc)
{
	static const char *const rows[] = {"X-Request-Id", "ETag", "Link",
	    "X-Page", "X-Limit", "X-Total-Count", "X-Total-Pages", "X-Has-More",
	    "X-Sans-Snapshot", NULL};
	static const char *const paged[] = {
	    "X-Request-Id", "ETag", "Link", NULL};
	static const char *const tagged[] = {"X-Request-Id", "ETag", NULL};
	static const char *const plain[] = {"X-Request-Id", NULL};

	object(json, "200");
	member(json, "description", "Success");
	header_refs(json,
	    (doc->answers & ANSWERS_ROWS) != 0        ? rows
		: (doc->answers & ANSWERS_PAGES) != 0 ? paged
		: (doc->answers & ANSWERS_304) != 0   ? tagged
						      : plain);
	write_content(json, doc);
	jsonw_object_end(json);
}

static bool
may_answer(const struct error_reply *reply, const struct route *route)
{
	if (reply->status == 401)
		return route->auth != ROUTE_OPEN;
	return reply->bit == 0 || (route->doc.answers & reply->bit) != 0;
}

static void
write_answers(struct jsonw *json, const struct route *route)
{
	object(json, "responses");
	write_ok(json, &route->doc);
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

/* --- paths
 * -------------------------------------------------------------------- */

static void
write_request(struct jsonw *json, const char *schema)
{
	object(json, "requestBody");
	jsonw_key(json, "required");
	jsonw_bool(json, true);
	object(json, "content");
	object(json, "application/json");
	jsonw_key(json, "schema");
	openapi_ref(json, schema);
	jsonw_object_end(json);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

static void
write_operation(struct jsonw *json, const struct route *route)
{
	const struct route_doc *doc = &route->doc;
	static const char *const methods[] = {[METHOD_GET] = "get",
	    [METHOD_POST] = "post",
	    [METHOD_PUT] = "put",
	    [METHOD_DELETE] = "delete"};

	object(json, methods[route->method]);
	member(json, "operationId", route->operation);
	member(json, "summary", route->summary);
	member(json, "description", doc->text);
	jsonw_key(json, "tags");
	jsonw_array_begin(json);
	jsonw_text(json, doc->tag);
	jsonw_array_end(json);
	if (route->auth == ROUTE_OPEN) {
		jsonw_key(json, "security");
		jsonw_array_begin(json);
		jsonw_array_end(json);
	}
	openapi_params(json, route);
	if (doc->request != NULL)
		write_request(json, doc->request);
	write_answers(json, route);
	jsonw_object_end(json);
}

/* True when a route before this one has the same path. */
static bool
path_seen(unsigned place)
{
	for (unsigned i = 0; i < place; i++)
		if (is_described(&routes[i]) &&
		    strcmp(routes[i].path, routes[place].path) == 0)
			return true;
	return false;
}

static void
write_paths(struct jsonw *json, struct openapi_schemas *need)
{
	object(json, "paths");
	for (unsigned i = 0; i < route_count; i++) {
		if (!is_described(&routes[i]) || path_seen(i))
			continue;
		object(json, routes[i].path + sizeof(BASE) - 1);
		for (unsigned k = i; k < route_count; k++) {
			const struct route_doc *doc = &routes[k].doc;

			if (!is_described(&routes[k]) ||
			    strcmp(routes[k].path, routes[i].path) != 0)
				continue;
			write_operation(json, &routes[k]);
			if (doc->reply != NULL)
				openapi_need(need, doc->reply);
			if (doc->request != NULL)
				openapi_need(need, doc->request);
		}
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
}

/* --- components
 * --------------------------------------------------------------- */

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
	static const char *const headers[] = {"X-Request-Id", NULL};

	object(json, reply->name);
	member(json, "description", reply->description);
	header_refs(json, headers);
	if (reply->code != NULL) {
		object(json, "content");
		object(json, "application/json");
		jsonw_key(json, "schema");
		openapi_ref(json, "Error");
		object(json, "example");
		object(json, "error");
		member(json, "code", reply->code);
		member(json, "message", reply->message);
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
	static const struct {
		const char *name, *type, *meaning;
	} headers[] = {
	    {"X-Request-Id", "string",
		"Names this request in the server's log"},
	    {"ETag", "string", "Send it back in If-None-Match"},
	    {"Link", "string",
		"RFC 8288: the pages first, prev, next and last"},
	    {"X-Page", "integer",
		"NDJSON and CSV only: pagination.page, as there is no body "
		"for it"},
	    {"X-Limit", "integer", "NDJSON and CSV only: pagination.limit"},
	    {"X-Total-Count", "integer",
		"NDJSON and CSV only: pagination.total"},
	    {"X-Total-Pages", "integer",
		"NDJSON and CSV only: pagination.totalPages"},
	    {"X-Has-More", "boolean",
		"NDJSON and CSV only: pagination.hasMore"},
	    {"X-Sans-Snapshot", "integer",
		"/products/search as NDJSON or CSV only: meta.sansSnapshot"},
	};

	object(json, "headers");
	for (unsigned i = 0; i < COUNT(headers); i++) {
		object(json, headers[i].name);
		member(json, "description", headers[i].meaning);
		object(json, "schema");
		member(json, "type", headers[i].type);
		jsonw_object_end(json);
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
}

static void
write_security(struct jsonw *json)
{
	object(json, "securitySchemes");
	object(json, "apiKey");
	member(json, "type", "apiKey");
	member(json, "in", "header");
	member(json, "name", "X-API-Key");
	member(json, "description",
	    "A key made with gridctl key create, or in the Grid screen");
	jsonw_object_end(json);
	object(json, "bearer");
	member(json, "type", "http");
	member(json, "scheme", "bearer");
	member(json, "description",
	    "The same key as a bearer token; X-API-Key decides alone when "
	    "both are sent");
	jsonw_object_end(json);
	jsonw_object_end(json);
}

static void
write_components(struct jsonw *json, struct openapi_schemas need)
{
	openapi_need(&need, "Error");
	openapi_need(&need, "SortKey");
	openapi_need(&need, "Column");
	object(json, "components");
	write_security(json);
	object(json, "schemas");
	openapi_write_schemas(json, need);
	openapi_condition_schema(json);
	jsonw_object_end(json);
	object(json, "responses");
	for (unsigned i = 0; i < COUNT(error_replies); i++)
		if (reply_is_used(&error_replies[i]))
			write_error_reply(json, &error_replies[i]);
	jsonw_object_end(json);
	write_headers(json);
	openapi_write_conditions(json);
	jsonw_object_end(json);
}

/* --- the document
 * ------------------------------------------------------------- */

static void
write_info(struct jsonw *json)
{
	object(json, "info");
	member(json, "title", "Product Grid API");
	member(json, "version", "1.0.0");
	member(json, "description",
	    "Grid rows, one article at one supplier each: 12-month sales per "
	    "store, stock, margins, range codes, metrics of the retail network "
	    "and a trend. Rows come from a snapshot per supplier; network "
	    "metrics and range codes are re-read at each call.");
	object(json, "contact");
	member(json, "name", "Whoever runs this server");
	jsonw_object_end(json);
	object(json, "license");
	member(json, "name", "MIT");
	member(json, "identifier", "MIT");
	jsonw_object_end(json);
	jsonw_object_end(json);
}

static void
write_security_choice(struct jsonw *json)
{
	static const char *const schemes[] = {"apiKey", "bearer"};

	jsonw_key(json, "security");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < COUNT(schemes); i++) {
		jsonw_object_begin(json);
		jsonw_key(json, schemes[i]);
		jsonw_array_begin(json);
		jsonw_array_end(json);
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
}

static bool
tag_is_used(const struct tag *tag)
{
	for (unsigned i = 0; i < route_count; i++)
		if (is_described(&routes[i]) &&
		    strcmp(routes[i].doc.tag, tag->name) == 0)
			return true;
	return false;
}

static void
write_tags(struct jsonw *json)
{
	jsonw_key(json, "tags");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < COUNT(tags); i++) {
		if (!tag_is_used(&tags[i]))
			continue;
		jsonw_object_begin(json);
		member(json, "name", tags[i].name);
		member(json, "description", tags[i].description);
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
}

enum err
openapi_write(struct buf *buf, struct span server)
{
	struct openapi_schemas need = {0};
	struct jsonw json;

	jsonw_init(&json, buf);
	jsonw_object_begin(&json);
	member(&json, "openapi", "3.1.0");
	write_info(&json);
	jsonw_key(&json, "servers");
	jsonw_array_begin(&json);
	jsonw_object_begin(&json);
	jsonw_key(&json, "url");
	jsonw_string(&json, server);
	jsonw_object_end(&json);
	jsonw_array_end(&json);
	write_security_choice(&json);
	write_tags(&json);
	write_paths(&json, &need);
	write_components(&json, need);
	jsonw_object_end(&json);
	return jsonw_end(&json);
}
