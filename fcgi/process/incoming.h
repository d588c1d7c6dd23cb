/*
 * incoming: a request's FastCGI records, read from the connection and checked
 * before libfcgi sees them.
 *
 * libfcgi 2.4.2 trusts every length: it allocates a parameter of 4 GB, and
 * without the memory the process aborts; a record for the application itself
 * makes it write beyond an array on the stack. Therefore the records are read
 * here, with ceilings and time limits, and libfcgi parses a head that was found
 * sound. Peers are nginx and any program that may connect to the socket.
 *
 *	BEGIN_REQUEST, for a responder
 *	PARAMS ...		INCOMING_PARAMS_MAX bytes in all; an empty one ends
 *	STDIN ...		the body; an empty one ends
 *
 * Anything else is refused: records of other requests or of the management, and
 * an abort (nginx closes the connection instead).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* The largest content of a record; nginx sends all parameters in one. */
#define INCOMING_PARAMS_MAX 65535

/*
 * nginx has the whole request before it connects, and sends it at once. Limits
 * for the whole head, for a pause within the body, and for the whole body.
 */
#define INCOMING_HEAD_MS 5000
#define INCOMING_STILL_MS 5000
#define INCOMING_BODY_MS 30000

struct incoming {
	int fd;
	unsigned id; /* of the request */
	bool keep; /* the peer wants to reuse the connection */
	const char *why; /* the fault, after ERR_BAD_INPUT */
	unsigned char *bytes; /* reused for the next request */
	size_t at, end; /* received bytes not yet parsed */
	struct span head;
};

/* ERR_NO_MEMORY. Called once; incoming_head() takes the connection. */
enum err incoming_init(struct incoming *in);
void incoming_fini(struct incoming *in);

/*
 * Reads up to the end of the parameters. in->head is then BEGIN_REQUEST, one
 * record of PARAMS and its end, valid until the next call of any of these
 * functions.
 *
 *   ERR_CLOSED     the peer closed before the end
 *   ERR_TIMED_OUT  INCOMING_HEAD_MS are over
 *   ERR_BAD_INPUT  in->why names the fault
 */
enum err incoming_head(struct incoming *in, int fd);

/* The same, but ERR_BUSY at once when no byte has come yet. */
enum err incoming_try_head(struct incoming *in, int fd);

/*
 * Reads the body to its end, even when it is longer than body->max, which the
 * buffer reports. Fails like incoming_head().
 */
enum err incoming_body(struct incoming *in, struct buf *body);

/*
 * After the body: true when no further bytes have come. nginx sends the next
 * request only after the answer; other bytes sent ahead would be lost.
 */
bool incoming_is_over(const struct incoming *in);
