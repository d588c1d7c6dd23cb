/*
 * pull: a file's bytes from a server, handed over as they come, from the middle
 * of the file where its beginning is there already.
 *
 * TLS certificates are verified, redirects are not followed, and no proxy is
 * used. Each request has a connection of its own.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "common/web/ask.h"
#include "common/web/object.h"

struct pull_request {
	const char *url;
	const char *token; /* for the header Authorization */
	const struct object_sign *sign; /* instead of it; or NULL */
	const struct ask_trust *trust;
	uint64_t from; /* the bytes before it are not asked for */
	uint64_t most; /* bytes that may come */
	int64_t stall_s; /* with hardly a byte: it has stalled */
	/* Another result than ERR_OK ends it. */
	enum err (*each)(void *context, struct span bytes);
	void *context;
};

/*
 *   ERR_OK         the answer is whole
 *   ERR_NOT_FOUND  the server has no such file
 *   ERR_DENIED     the token is not right
 *   ERR_TOO_LARGE  there are more than `most` bytes
 *   ERR_EXISTS     the answer is not from `from` on, none of it was handed over
 *   ERR_BAD_INPUT  an answer of another status
 *   ERR_AWAY       the server was not reached
 *   ERR_TIMED_OUT  it has stalled
 *   ERR_CLOSED     it has broken off
 *
 * or the result of `each`. In `why` what a person needs to know of a failure.
 */
enum err pull(const struct pull_request *request, char why[ASK_ERROR_MAX]);
