/*
 * object: requests of an S3-compatible store, each signed by libcurl with AWS's
 * Signature Version 4 and sent once, on a connection of its own.
 *
 * TLS certificates are verified, redirects are not followed, and no proxy is
 * used.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/web/ask.h"

struct object_sign {
	const char *region, *key, *secret;
};

struct object_request {
	const char *method; /* "GET", "PUT" or "DELETE" */
	/* With its query in the order of its names, and "/" in it as %2F. */
	const char *url;
	const struct object_sign *sign;
	const struct ask_trust *trust;
	int64_t stall_s; /* with hardly a byte: it has stalled */
	/* The body of a PUT: bytes of a file, and their SHA-256 in digits. */
	int fd;
	uint64_t from, bytes;
	const char *sha;
};

/*
 * The answer's status, and its body in `answer`, which has its own maximum:
 *
 *   ERR_OK         there is one, whatever its status
 *   ERR_AWAY       the server was not reached
 *   ERR_TIMED_OUT  it has stalled
 *   ERR_TOO_LARGE  the answer is longer than `answer` may be
 *   ERR_CLOSED     there is none, for another reason
 *
 * In `why` is what a person needs to know of a failure.
 */
enum err object_ask(const struct object_request *request, int *status,
    struct buf *answer, char why[ASK_ERROR_MAX]);
