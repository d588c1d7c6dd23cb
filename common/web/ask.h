/*
 * ask: POST requests to a server that is asked again and again, one at a time,
 * on a connection that is kept; the answer's body is read.
 *
 * libcurl is loaded with the first asker. TLS certificates are verified, redirects are not followed, and
 * no proxy is used. An asker is of one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define ASK_ERROR_MAX 200 /* with a NUL */

struct asker;

/* Files in PEM; an empty text: the system's certificates, no own one. */
struct ask_trust {
	const char *ca, *cert, *key;
};

/* ERR_SYSTEM, and a line in the log: no libcurl. The texts outlive the asker. */
enum err asker_new(struct asker **out, const struct ask_trust *trust);
void asker_free(struct asker *asker); /* NULL is fine */

struct ask_question {
	const char *url;
	const char *token; /* for the header Authorization; NULL: none */
	struct span body; /* JSON */
	int64_t timeout_ms;
};

/*
 * The answer's status, and its body in `answer`, which has its own maximum:
 *
 *   ERR_OK         there is one, whatever its status
 *   ERR_AWAY       the server was not reached: it has no byte of the request
 *   ERR_UNKNOWN    no answer, or a part of one
 *   ERR_TOO_LARGE  the answer is longer than `answer` may be
 */
enum err ask(struct asker *asker, const struct ask_question *question,
    int *status, struct buf *answer);

/* Why the last request had no answer; a text of libcurl's. */
const char *ask_why(const struct asker *asker);

/*
 * Whether such a text, also of pull.h, says that the server's certificate is of an
 * authority that is not trusted; one that has expired, or is another host's, is not.
 */
bool ask_distrusts(const char *why);
