/*
 * route: which endpoint a request is for. The table in route.c is the one list
 * of endpoints; the interface description is made from it too.
 */
#pragma once

#include <stdbool.h>

#include "fcgi/http/params.h"
#include "fcgi/http/request.h"

struct call;

enum route_auth {
	ROUTE_OPEN, /* no key is needed */
	ROUTE_ANY, /* a key or a session */
	ROUTE_READS, /* the same; by POST, and yet alters nothing */
	ROUTE_KEY, /* only a key */
	ROUTE_SESSION, /* only a person's session */
	ROUTE_ADMINISTRATOR /* only an administrator's */
};

/* The statuses of an answer beside 200 and 500, and its forms. */
enum route_answers {
	ANSWERS_202 = 1,
	ANSWERS_304 = 2,
	ANSWERS_400 = 4,
	ANSWERS_403 = 8,
	ANSWERS_404 = 16,
	ANSWERS_ROWS = 32, /* all formats, 406, and paging headers too */
	TAKES_BODY = 64, /* 413 and 415, before the body is read */
	ANSWERS_PAGES = 128, /* the header Link */
	ANSWERS_FEED = 256 /* all formats, 406, and the feed's headers */
};

/* The part of a route that only the interface description shows. */
struct route_doc {
	const char *tag; /* NULL: not a part of the public interface */
	unsigned answers; /* of enum route_answers */
	const char *request, *reply; /* schemas; reply NULL: the description */
	const char *text;
};

struct route {
	enum method method; /* METHOD_GET serves HEAD too */
	const char *path; /* "/api/v1/products/{codein}" */
	const char *operation; /* its name in descriptions and metrics */
	enum route_auth auth;
	enum params_use use; /* 0: no query parameters */
	enum err (*run)(struct call *call); /* see endpoints/endpoint.h */
	const char *summary;
	struct route_doc doc;
};

extern const struct route routes[];
extern const unsigned route_count;

/*
 * A route's name in the metrics, by its place in the table; that of
 * `route_count` stands for requests that no route fits. So many are counted.
 */
const char *route_name(unsigned number);
extern const unsigned route_name_count;

/*
 * Whether a request alters nothing, by its method or by its route: it may come
 * on a kept connection, twice, and from any page.
 */
bool route_reads(const struct request *request);

/*
 * Finds the route; captured segments go to call->path. ERR_NOT_FOUND: no such
 * path. ERR_DENIED: the path is known, the method is not; *allowed is then a
 * text for the Allow header.
 */
enum err route_find(struct call *call, char allowed[64]);
