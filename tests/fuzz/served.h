/*
 * served: a server over the small data directory of made_flow(), for targets
 * that ask whole requests of it.
 */
#pragma once

#include "common/span.h"

struct request;

/*
 * Opens the server the first time; computations fail there. The span is the
 * text of a key that may propose, until the process ends.
 */
struct span served_key(void);

/* Both texts end in a '\0' that no length counts. */
struct served_answer {
	int status;
	const char *head; /* the lines before the empty one, and that one */
	struct span body;
};

/* Serves the request; the answer is there until the next one. */
struct served_answer served_ask(const struct request *request);
