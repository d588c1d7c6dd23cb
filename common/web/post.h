/*
 * post: HTTP requests with a body, several at once in one thread.
 *
 * Each request has a connection of its own, and is sent once.
 *
 * TLS certificates are verified, redirects are not followed, an answer's body is
 * dropped, and one of more than POST_ANSWER_MAX bytes is not read to its end. A
 * proxy is the one of the environment, as curl(1) has it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define POST_ANSWER_MAX (64 << 10)
#define POST_ERROR_MAX 200 /* with a NUL */

struct posts;

/*
 * `ca_file` has the certificates to trust; NULL: the system's. ERR_SYSTEM, and a
 * line in the log: no libcurl.
 */
enum err posts_new(struct posts **out, const char *ca_file);
void posts_free(struct posts *posts); /* ends what is under way */

/*
 * NULL for http or https, with a host, without a user, a password or a fragment;
 * else the rule that fails.
 */
const char *post_url_fault(const char *url);

/* Whether the host of such a URL is this machine: what is sent stays on it. */
bool post_url_is_local(const char *url);

struct post_request {
	const char *url;
	const char *const *headers; /* "name: value", NULL-ended */
	struct span body;
	int64_t timeout_ms;
	const void *owner; /* posts_drop() takes it */
	uint64_t tag; /* the caller's */
};

/* Begins a request; copies what it needs. */
enum err posts_add(struct posts *posts, const struct post_request *request);

struct post_result {
	const void *owner;
	uint64_t tag;
	int status; /* of the answer; 0: there was none */
	int64_t retry_after_ms; /* as the answer asks for; 0: it does not */
	int64_t took_ms;
	char error[POST_ERROR_MAX]; /* why there was no answer */
};

/* "it answered 500", or why there was no answer. */
#define POST_TEXT_MAX 200 /* with a NUL */
void post_text(char text[POST_TEXT_MAX], const struct post_result *result);

/* The next request that has ended; false: none has. */
bool posts_next(struct post_result *result, struct posts *posts);

/* Sleeps until something is to be done, or so long. */
void posts_wait(struct posts *posts, int wait_ms);

/* Ends the owner's requests; none of them has a result. */
void posts_drop(struct posts *posts, const void *owner);
