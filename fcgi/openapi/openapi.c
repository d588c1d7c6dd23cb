/*
 * The document from its top: info, servers, paths, components. A route that is
 * not under /api/v1 is not part of the interface, and has no tag.
 */
#include "fcgi/openapi/openapi.h"

#include <assert.h>
#include <stdio.h>

#include "common/count.h"
#include "common/members.h"
#include "fcgi/openapi/openapi_answers.h"
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

/* --- small pieces --------------------------------------------------------- */

static bool
is_described(const struct route *route)
{
	return route->doc.tag != NULL;
}

/* --- paths ---------------------------------------------------------------- */

static void
write_request(struct jsonw *json, const char *schema)
{
	members_object(json, "requestBody");
	jsonw_key(json, "required");
	jsonw_bool(json, true);
	members_object(json, "content");
	members_object(json, "application/json");
	jsonw_key(json, "schema");
	openapi_ref(json, schema);
	openapi_example(json, schema);
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

	members_object(json, methods[route->method]);
	members_string(json, "operationId", route->operation);
	members_string(json, "summary", route->summary);
	members_string(json, "description", doc->text);
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
	openapi_answers(json, route);
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
	members_object(json, "paths");
	for (unsigned i = 0; i < route_count; i++) {
		if (!is_described(&routes[i]) || path_seen(i))
			continue;
		members_object(json, routes[i].path + sizeof(BASE) - 1);
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

/* --- components ----------------------------------------------------------- */

static void
write_security(struct jsonw *json)
{
	members_object(json, "securitySchemes");
	members_object(json, "apiKey");
	members_string(json, "type", "apiKey");
	members_string(json, "in", "header");
	members_string(json, "name", "X-API-Key");
	members_string(json, "description",
	    "A key made with gridctl key create, or in the Grid screen");
	jsonw_object_end(json);
	members_object(json, "bearer");
	members_string(json, "type", "http");
	members_string(json, "scheme", "bearer");
	members_string(json, "description",
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
	members_object(json, "components");
	write_security(json);
	members_object(json, "schemas");
	openapi_write_schemas(json, need);
	openapi_condition_schema(json);
	jsonw_object_end(json);
	openapi_write_answers(json);
	openapi_write_conditions(json);
	jsonw_object_end(json);
}

/* --- the document --------------------------------------------------------- */

static void
write_info(struct jsonw *json)
{
	members_object(json, "info");
	members_string(json, "title", "Product Grid API");
	members_string(json, "version", "1.0.0");
	members_string(json, "description",
	    "Grid rows, one article at one supplier each: 12-month sales per "
	    "store, stock, margins, range codes, metrics of the retail network "
	    "and a trend. Rows come from a snapshot per supplier; network "
	    "metrics and range codes are re-read at each call.");
	members_object(json, "contact");
	members_string(json, "name", "Whoever runs this server");
	jsonw_object_end(json);
	members_object(json, "license");
	members_string(json, "name", "MIT");
	members_string(json, "identifier", "MIT");
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
		members_string(json, "name", tags[i].name);
		members_string(json, "description", tags[i].description);
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
}

enum err
openapi_write(struct buf *buf, struct span server)
{
	assert(buf != NULL);
	struct openapi_schemas need = {0};
	struct jsonw json;

	jsonw_init(&json, buf);
	jsonw_object_begin(&json);
	members_string(&json, "openapi", "3.1.0");
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
