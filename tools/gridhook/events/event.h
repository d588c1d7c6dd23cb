/*
 * event: what a push becomes: one message for the window, whatever its
 * sender's way of writing it. docs/interface-protocol.md shows the record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/jsonw.h"
#include "common/span.h"

#define EVENT_SOURCE_MAX 64 /* characters */
#define EVENT_TITLE_MAX 200
#define EVENT_TEXT_MAX 16384 /* bytes */
#define EVENT_DATA_MAX 65536
#define EVENT_TAGS_MAX 16
#define EVENT_DEDUPE_MAX 200

enum event_kind {
	EVENT_MESSAGE,
	EVENT_JOB,
	EVENT_ALERT,
	EVENT_CODE,
	EVENT_STATUS
};

enum event_priority {
	PRIORITY_UNSET, /* not given; written as normal */
	PRIORITY_MIN,
	PRIORITY_LOW,
	PRIORITY_NORMAL,
	PRIORITY_HIGH,
	PRIORITY_CRITICAL
};

enum event_status {
	STATUS_NONE,
	STATUS_OK,
	STATUS_ERROR,
	STATUS_WARNING,
	STATUS_FIRING,
	STATUS_RESOLVED,
	STATUS_SKIPPED,
	STATUS_CANCELLED
};

/* Tri-state: a sender may leave it open. */
enum event_flag { FLAG_UNSET, FLAG_NO, FLAG_YES };

/* Empty spans are written as null; all are borrowed. */
struct event {
	struct span source, title, text;
	enum event_kind kind;
	enum event_priority priority;
	enum event_status status;
	int64_t time_ms;
	bool has_time;
	bool truncated;

	bool is_job;
	struct span job_id, job_name, job_error;
	int64_t exit_code, duration_ms, next_run_ms;
	bool has_exit_code, has_duration, has_next_run;

	enum event_flag speak;
	bool silent;
	bool markdown;
	struct span url;
	struct span tags[EVENT_TAGS_MAX];
	unsigned tag_count;
	struct span dedupe;
	struct span about; /* later events with it take this one's place */
	struct span data; /* JSON on one line */
};

/* Where it stands: what the journal knows of it. */
struct event_place {
	uint64_t seq;
	const char *epoch;
	int64_t received_ms;
	struct span push; /* the push's id */
	unsigned index, count; /* within its push */
	bool duplicate;
};

/*
 * Makes every text fit to be shown: controls and overrides out, lengths cut,
 * only http and https links, a source that is never empty. `arena` takes the
 * copies. Call once, before event_write().
 */
void event_finish(struct event *event, struct arena *arena);

/* The record, as JSON on one line. */
void event_write(struct jsonw *json, const struct event *event,
    const struct event_place *place);

/* "evt_<epoch>-<seq>"; `size` of at least 48 is enough. */
void event_id(char *id, size_t size, const char *epoch, uint64_t seq);
