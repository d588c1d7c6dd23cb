/*
 * child: other programs, run by their argument vector. There is no shell here
 * and nothing that splits a string into arguments.
 *
 * Each gets default signals and none of our descriptors but its standard ones.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct child_spec {
	const char *const *argv; /* NULL-ended; argv[0] is found by PATH */
	struct span input; /* for its standard input */
	int timeout_ms;
	/*
	 * May leave something running: a session of its own, and it is not
	 * killed when we end.
	 */
	bool own_session;
};

/*
 * Runs it to its end. Its standard output goes into `output` (NULL: nowhere);
 * *status is what it exited with, 128 + N when signal N ended it.
 *
 *   ERR_NOT_FOUND  no such program
 *   ERR_TIMED_OUT  killed after timeout_ms
 *   ERR_TOO_LARGE  killed because it wrote more than `output` may take;
 *                  that is full then, and good
 */
enum err child_run(const struct child_spec *spec, struct buf *output,
    int *status, struct fault *fault);

#define CHILD_RUNNING (-1)

/*
 * Starts it for good, in a session of its own, and watches it for `watch_ms`:
 * *status is what it exited with in that time, or CHILD_RUNNING.
 */
enum err child_start(
    const char *const *argv, int watch_ms, int *status, struct fault *fault);
