/*
 * incoming: a request's FastCGI records, read from the connection and checked
 * before libfcgi sees them.
 *
 * libfcgi 2.4.2 takes every length for granted: a parameter of 4 GB is
 * allocated, and without the memory the process aborts; a record for the
 * application itself writes behind an array on the stack. So what a peer sends
 * is read here, with ceilings and with a time, and libfcgi reads a head that
 * was found sound. Peers are nginx and all that may connect to the socket.
 *
 *	BEGIN_REQUEST, for a responder
 *	PARAMS ...		INCOMING_PARAMS_MAX bytes in all; an empty one ends
 *	STDIN ...		the body; an empty one ends
 *
 * Anything else is refused: records of other requests, of the management, an
 * abort (nginx closes instead).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* The most that a record can hold; nginx sends all parameters in one. */
#define INCOMING_PARAMS_MAX 65535

/*
 * nginx has the whole request before it connects, and sends it at once. How
 * long the head may take in all; how long the body may stand still, and take
 * in all.
 */
#define INCOMING_HEAD_MS 5000
#define INCOMING_STILL_MS 5000
#define INCOMING_BODY_MS 30000

struct incoming {
	int fd;
	unsigned id; /* of the request */
	bool keep; /* the peer wants to send the next one, too */
	const char *why; /* what is wrong, after ERR_BAD_INPUT */
	unsigned char *bytes; /* reused for the next request */
	size_t at, end; /* what was received and not looked at yet */
	struct span head;
};

/* ERR_NO_MEMORY. Done once; the connection is given at incoming_head(). */
enum err incoming_init(struct incoming *in);
void incoming_fini(struct incoming *in);

/*
 * Reads as far as the end of the parameters. in->head is then BEGIN_REQUEST,
 * one record of PARAMS and its end, until the next call of any of these.
 *
 *   ERR_CLOSED     the peer closed before the end
 *   ERR_TIMED_OUT  INCOMING_HEAD_MS are over
 *   ERR_BAD_INPUT  in->why says what is not as it must be
 */
enum err incoming_head(struct incoming *in, int fd);

/* The same, and ERR_BUSY at once when not one byte has come yet. */
enum err incoming_try_head(struct incoming *in, int fd);

/*
 * Reads the body to its end, also when it is longer than body->max, which the
 * buffer's own failure tells. The same failures as above.
 */
enum err incoming_body(struct incoming *in, struct buf *body);

/*
 * After the body: true when nothing came behind it. nginx asks again only when
 * it has the answer, and what else a peer sends ahead would be lost.
 */
bool incoming_is_over(const struct incoming *in);
