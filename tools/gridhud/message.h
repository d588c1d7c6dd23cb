/*
 * message: one entry of the conversation: an event that came in, or something
 * that was said. Its texts are fit to be shown. One block of memory each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonr.h"
#include "common/jsonw.h"
#include "common/span.h"

enum role { ROLE_EVENT, ROLE_USER, ROLE_ASSISTANT, ROLE_SYSTEM };
enum kind { KIND_MESSAGE, KIND_JOB, KIND_ALERT, KIND_CODE, KIND_STATUS };
enum priority {
	PRIORITY_MIN,
	PRIORITY_LOW,
	PRIORITY_NORMAL,
	PRIORITY_HIGH,
	PRIORITY_CRITICAL,
	PRIORITY_COUNT
};
enum status {
	STATUS_NONE,
	STATUS_OK,
	STATUS_ERROR,
	STATUS_WARNING,
	STATUS_FIRING,
	STATUS_RESOLVED,
	STATUS_SKIPPED,
	STATUS_CANCELLED
};
enum speak { SPEAK_UNSET, SPEAK_NO, SPEAK_YES };

struct message {
	uint64_t seq; /* of the server's sequence; 0 for what is no event */
	int64_t time_ms; /* when it was received or said */
	uint8_t role, kind, priority, status, speak;

	bool silent, duplicate, truncated, markdown;

	/* Set by the policy. */
	bool replayed; /* it came in while no window was there */
	bool matched; /* a priority word is in it */
	bool unread;
	bool alert; /* waits for an acknowledgement */
	bool settled; /* it waited until another took its place */
	bool say_due; /* a failure that has not been spoken yet */

	/* Inside the block; empty where there is none. */
	struct span id, about, source, title, text, url, job, error;
};

/* Makes one from an event's record; ERR_BAD_INPUT when it has no source. */
enum err message_from_event(struct message **out, uint64_t seq,
    const struct jsonr_value *event, int64_t now_ms);

/* Makes one that was said. */
enum err message_from_say(struct message **out, enum role role,
    struct span text, struct span id, int64_t now_ms);

/* As the history keeps it. */
void message_write(struct jsonw *json, const struct message *message);
enum err message_read(struct message **out, const struct jsonr_value *value);

void message_free(struct message *message);

/* Bytes that it takes. */
size_t message_size(const struct message *message);

/* A scheduled job that failed. */
bool message_is_failure(const struct message *message);

/* The name of the job, or else the best that stands for it. */
struct span message_job(const struct message *message);

const char *message_role_name(const struct message *message);
const char *message_priority_name(const struct message *message);
const char *message_status_name(const struct message *message); /* "" if none */
