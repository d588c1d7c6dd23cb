/*
 * client: one HTTP POST, for `gridhook send`: plain HTTP, blocking, with one
 * deadline over all of it.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct client_post {
	const char *url; /* http://host[:port]/path?query */
	const char *secret; /* NULL: none */
	struct span body;
	int timeout_ms;
};

/*
 * The status and the body of the answer. ERR_BAD_INPUT when the address is
 * none, ERR_CLOSED or ERR_TIMED_OUT when there is no answer; `fault` says it
 * in words.
 */
enum err client_post(int *status, struct buf *body,
    const struct client_post *post, struct fault *fault);
