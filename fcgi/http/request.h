/*
 * request: one HTTP request as plain data. Everything is borrowed from the
 * receiver, until serve() returns.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PUT,
	METHOD_DELETE,
	METHOD_OPTIONS,
	METHOD_OTHER
};

struct request {
	enum method method;
	struct span method_text;
	struct span uri; /* raw, as the client sent it: path and query */
	struct span body;
	bool body_too_large; /* cut off at the ceiling: nothing of it is kept */
	struct span content_type, accept, accept_encoding, if_none_match;
	struct span accept_language;
	struct span api_key, authorization, cookie;
	struct span origin, sec_fetch_site;
	struct span mcp_version, mcp_method, mcp_name;
	struct span grid_seen;
	struct span grid_passed; /* the node that passes it on: rows/holder.h */
	struct span
	    grid_alone; /* none of those that it was passed to answers */
	struct span
	    grid_part; /* nginx: it is another node's, by the secret of all */
	struct span
	    grid_passes; /* nginx: it passes on what gridapi hands over */
	struct span host, forwarded_host, forwarded_proto;
	/*
	 * The organisation's server has told nginx these of a person; no
	 * client's header becomes a parameter of these names.
	 */
	struct span outside_user, outside_groups;
	struct span remote_addr, request_id;
	bool https;
	bool slow_pool; /* this worker may take seconds */
	/*
	 * nginx counts failed authentications: what would be a 401 is first
	 * to be "X-Accel-Redirect: @refused", and comes back without this.
	 */
	bool count_refusal;
	int64_t start_ns; /* when it was accepted */
	/* True when the client has gone. NULL: never. */
	bool (*gone)(void *connection);
	void *connection;
};

/* All empty, a GET. */
void request_init(struct request *request);

/*
 * Whether Accept-Language weighs French more than English: then errors and
 * warnings are in French, otherwise in English.
 */
bool request_french(const struct request *request);

/*
 * Takes one FastCGI parameter; names that mean nothing here are passed over.
 * Both spans must last as long as the request.
 */
void request_param(
    struct request *request, struct span name, struct span value);
