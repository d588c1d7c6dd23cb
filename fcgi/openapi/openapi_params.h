/*
 * openapi_params: the parameters of operations, and conditions on columns,
 * which the parameters of components list once for all operations.
 */
#pragma once

#include "common/jsonw.h"

struct route;

/* "parameters": [...] of an operation. */
void openapi_params(struct jsonw *json, const struct route *route);

/* "parameters": {...} of components: a condition for each column. */
void openapi_write_conditions(struct jsonw *json);

/* The schema Condition, a member of components/schemas. */
void openapi_condition_schema(struct jsonw *json);
