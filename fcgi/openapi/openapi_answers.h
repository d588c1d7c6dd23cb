/*
 * openapi_answers: the answers of operations, with their headers; those that
 * operations share stand in components once.
 */
#pragma once

#include "common/jsonw.h"

struct route;

/* "responses": {...} of an operation. */
void openapi_answers(struct jsonw *json, const struct route *route);

/* "responses": {...} and "headers": {...} of components. */
void openapi_write_answers(struct jsonw *json);
