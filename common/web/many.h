/*
 * many: POST requests to several servers at the same time, each to one of them;
 * the bodies of their answers are read. Connections are kept for the next ones.
 *
 * libcurl is loaded with the first of them. TLS certificates are verified,
 * redirects are not followed, and no proxy is used. Of one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "common/web/ask.h"

#define MANY_MAX 64

struct many;

/* ERR_SYSTEM, and a line in the log: no libcurl. The texts outlive it. */
enum err many_new(struct many **out, const struct ask_trust *trust);
void many_free(struct many *many); /* NULL is fine */

struct many_question {
	const char *url;
	const char *const *headers; /* "name: value", NULL-ended */
	struct span body;
	struct buf *answer; /* the body, which has its own maximum */
	int status; /* of the answer; 0: there was none */
	/*
	 *   ERR_OK         there is one, whatever its status
	 *   ERR_AWAY       the server was not reached
	 *   ERR_TIMED_OUT  none came, or not the whole of it, in that time
	 *   ERR_TOO_LARGE  it is longer than its buffer may be
	 *   ERR_CLOSED     there is none, for another reason
	 */
	enum err err;
	char why[ASK_ERROR_MAX]; /* what a person needs to know of a failure */
};

/*
 * Sends what can be sent at once. All that it is given stays until many_end(), of
 * which each has one. A question that cannot be sent has failed.
 */
void many_begin(struct many *many, struct many_question *questions,
    unsigned count, int64_t timeout_ms);

/* Waits for all answers, for as long as the time lasts. */
void many_end(struct many *many);
