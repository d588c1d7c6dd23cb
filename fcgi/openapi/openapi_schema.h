/*
 * openapi_schema: components/schemas of the interface description: the bodies
 * as openapi.def lists them, and Product from the columns of a row.
 */
#pragma once

#include <stdint.h>

#include "common/jsonw.h"

/* A set of schemas, by their place in the table. */
struct openapi_schemas {
	uint64_t bits;
};

/* Adds one by its name, and all that it refers to. */
void openapi_need(struct openapi_schemas *set, const char *name);

/* Members "<name>": {…} of components/schemas, for those in the set. */
void openapi_write_schemas(struct jsonw *json, struct openapi_schemas set);

/* {"$ref": "#/components/schemas/<name>"} */
void openapi_ref(struct jsonw *json, const char *name);

/* "example": a body of the schema, of the demo data; nothing without one. */
void openapi_example(struct jsonw *json, const char *schema);

/* "enum": [A, B, C, Y, Z], and null at the end when it may be. */
void openapi_gamme_enum(struct jsonw *json, bool nullable);
