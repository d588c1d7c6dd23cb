/*
 * route: which endpoint a request is for. The table in route.c is the list of
 * all of them; the interface description is made from it too.
 */
#pragma once

#include <stdbool.h>

#include "fcgi/http/params.h"
#include "fcgi/http/request.h"

struct call;

enum route_auth {
	ROUTE_OPEN, /* nobody need say who he is */
	ROUTE_ANY, /* a key or a session */
	ROUTE_SESSION /* only a person's session */
};

struct route {
	enum method method; /* METHOD_GET serves HEAD too */
	const char *path; /* "/api/v1/products/{codein}" */
	const char *operation; /* its name in descriptions and metrics */
	enum route_auth auth;
	enum params_use use; /* 0: no query parameters */
	enum err (*run)(struct call *call); /* see endpoints/endpoint.h */
	const char *summary;
};

extern const struct route routes[];
extern const unsigned route_count;

/* The operations' names in the order of the table, for the metrics. */
const char *const *route_names(void);

/*
 * Finds the route; captured segments go to call->path. ERR_NOT_FOUND: no such
 * path. ERR_DENIED: the path is known, the method is not; *allowed is then a
 * text for the Allow header.
 */
enum err route_find(struct call *call, char allowed[64]);
