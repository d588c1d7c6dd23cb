/*
 * asking: a tool's call on its way to the API. Its arguments become a request's
 * address or body, unread: the API's endpoint reads and judges them, and its
 * answer is taken apart here.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/mcp/result.h"
#include "fcgi/http/request.h"
#include "fcgi/mcp/agent.h"

struct asking {
	struct agent *agent;
	const struct tool *tool; /* that is called */
	struct jval args; /* checked against the tool's schema */
	struct result *result; /* that the tool fills */
	struct buf uri,
	    out; /* the request; what becomes the structured result */
	struct jsonw json; /* to `out` */
	struct jscan doc; /* the API's answer */
	struct jval data, meta, pages; /* of it */
	bool has_doc;
	char rest[80]; /* the words behind a list */
};

void asking_init(struct asking *asking, struct agent *agent,
    const struct tool *tool, struct jval args, struct result *result);
void asking_fini(struct asking *asking);

/* True when the argument is given, and no empty text or list. */
bool asking_has(const struct asking *asking, const char *argument);

/*
 * A string's text, and an argument's; empty when it is none. Where memory is out
 * the request fails.
 */
struct span asking_string(struct asking *asking, struct jval value);
struct span asking_text(struct asking *asking, const char *argument);

/* The argument's number, or `fallback`. */
int64_t asking_int(
    const struct asking *asking, const char *argument, int64_t fallback);

/* Begins a request: "/grid" below /api/v1. */
void asking_begin(struct asking *asking, const char *path);

/* Adds a segment to the path, before there is a parameter. */
void asking_segment(struct asking *asking, struct span text);

/* Adds a parameter, escaped. */
void asking_pair(struct asking *asking, struct span name, struct span value);

/* The argument as that parameter, where it is given; a list by commas. */
void asking_give(
    struct asking *asking, const char *argument, const char *parameter);

/*
 * "column=operator.value" of the argument `filters`, a parameter each. False
 * when one names a parameter that is no column; the result is then made.
 */
bool asking_filters(struct asking *asking);

/*
 * Sends the request. True: `data` and the others are what a 200 says. False: the
 * result is an error that says what to do, or the whole POST is handed over.
 */
bool asking_send(struct asking *asking, enum method method, struct span body);

/* GET with what every list says: JSON, and no parameter that is not known. */
bool asking_get(struct asking *asking);
