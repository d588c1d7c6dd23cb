/*
 * senders: those that cannot send gridhook's own secret, and how each proves
 * who it is.
 *
 * The file has a line for each: the name, which is also the first part of the
 * address behind the push path, the scheme, and the secret.
 *
 *	github   github             s3cret
 *	shop     standard-webhooks  whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
 *	apprise  basic              ann:s3cret
 *
 * A scheme either signs the body, or shows the secret itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define SENDERS_MAX 256

struct senders;
struct sender;

/* A request as they see it: a header by its lower-case name, .ptr NULL: none. */
struct senders_request {
	struct span (*header)(void *arg, const char *name);
	void *arg;
};

/* Reads the file. Faults name the file, the line, and never a secret. */
enum err senders_open(
    struct senders **out, const char *path, struct fault *fault);
enum err senders_read(struct senders **out, const char *file, struct span text,
    struct fault *fault);
void senders_close(struct senders *senders);

/* The sender whose name follows the push path in the address; NULL: none. */
const struct sender *senders_find(
    const struct senders *senders, struct span suffix);

enum sender_proof {
	SENDER_NONE, /* nothing of the sender's scheme is there */
	SENDER_WRONG,
	SENDER_RIGHT,
	SENDER_SIGNED /* the body must come before one can tell */
};

/* By the head of a request. */
enum sender_proof sender_head(
    const struct sender *sender, const struct senders_request *request);

/* By a signature over the body; `now_s` since 1970, for those that are dated. */
bool sender_signed(const struct sender *sender,
    const struct senders_request *request, struct span body, int64_t now_s);

/* The secret cannot be guessed (SETTINGS_SECRET_LONG). */
bool sender_has_long_secret(const struct sender *sender);
