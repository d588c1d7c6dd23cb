/*
 * within: a request that an endpoint makes on its caller's behalf. It takes the
 * same steps as one that comes in by the socket, but for the check of the key
 * and its rate, which the caller's request has passed; the same endpoint answers
 * it.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/http/request.h"

struct call;
struct holder_list;

struct within {
	int status;
	struct span body; /* in the buffer that was given */
	bool handed_over; /* the slow pool must answer: ensure_hand_over() */
	const struct holder_list
	    *passed; /* or one of these: holder_pass_on() */
};

/*
 * Asks for `uri` with a body, or an empty one, and gathers the answer in
 * `room`. The endpoint's views are renewed before: what it has pinned must be
 * released. A failure means that the answer is not whole: it is longer than
 * `room` may be, or memory is out.
 */
enum err within_ask(struct within *out, struct buf *room, struct call *call,
    enum method method, struct span uri, struct span body);
