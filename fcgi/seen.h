/*
 * seen: which entries of the log that several nodes share (write_log.h) an
 * answer shows, so that a client can read at one node what it has written at
 * another: each answer of such a node names a number, and a request that brings
 * it back is answered by a node that has come as far.
 *
 *	X-Grid-Node: paris-2
 *	X-Grid-Seen: state:1234
 *
 * The number of a read is taken from the transaction that the answer reads:
 * what this process believes of the log is of another moment. That of a write
 * is at least its own entry's. A node on its own sends neither.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "fcgi/call.h"

#define SEEN_WAIT_MS 300

/*
 * A step of serve(), before any that reads: waits until the views have what the
 * request has seen, by its header or by the screen's cookie. ERR_ANSWERED: 503,
 * they have not, or 400.
 */
enum err seen_step(struct call *call);

/* Behind the steps: names what a write has reached. */
void seen_end(struct call *call);

/*
 * Names the entry that a write of unknown outcome is at most: an answer that
 * shows as much shows the write, or it was never stored. "" when that cannot be read.
 */
#define SEEN_TEXT_MAX 32
void seen_at_most(char text[SEEN_TEXT_MAX], struct call *call);
