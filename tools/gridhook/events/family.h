/*
 * family: how the senders of the world write their pushes.
 *
 * To add a sender, add a file to tools/gridhook/families (recipe.h). The
 * families here are those that a file cannot say: what carries others, failed
 * jobs by their many words, texts put together from rows in rows, and what
 * anybody may write. A row of a table says: this field of the event is the
 * first of these members that is there. The first family that knows the object
 * is taken.
 */
#pragma once

#include <stdbool.h>

#include "tools/gridhook/events/normalise.h"

enum field {
	FIELD_END,
	FIELD_SOURCE,
	FIELD_TITLE,
	FIELD_TEXT,
	FIELD_PRIORITY, /* a word, or 0 to 10 */
	FIELD_PRIORITY_5, /* a word, or 1 to 5 */
	FIELD_SEVERITY, /* of an alert: critical, error, page, warning, info */
	FIELD_STATUS,
	FIELD_TIME,
	FIELD_URL,
	FIELD_TAGS,
	FIELD_DEDUPE,
	FIELD_ABOUT,
	FIELD_JOB_ID,
	FIELD_JOB_NAME,
	FIELD_JOB_ERROR,
	FIELD_JOB_EXIT,
	FIELD_JOB_DURATION,
	FIELD_JOB_NEXT,
	FIELD_SPEAK,
	FIELD_SILENT,
	FIELD_MARKDOWN, /* set when the member is true or "markdown" */
	FIELD_LINE, /* of a recipe: one more line of the text */
	FIELD_LINES /* the same for each element of a list */
};

/* "text|message|data.body": the first that is there and not null. */
struct take {
	enum field field;
	const char *members;
};

struct family {
	const char *name;
	enum event_kind kind;
	bool (*knows)(struct jval object, const struct hints *hints);
	const struct take *takes;
	/* Code for what a table cannot say; NULL for most. */
	void (*mend)(struct event *event, struct jval object,
	    const struct hints *hints, struct arena *arena);
	/* Set for a family read from a file; its recipe says everything. */
	const struct recipe *recipe;
};

/* Tells of what is taken while it is taken. */
struct trace {
	void (*event)(
	    void *arg, const struct family *family, struct jval object);
	void (*took)(
	    void *arg, enum field field, const char *path, struct jval value);
	void *arg;
};

/*
 * Never NULL: the last one knows everything. The object stands by itself:
 * families that make several events of one are passed by.
 */
const struct family *family_of(struct jval object, const struct hints *hints);

/* Fills what the table and the mending give. */
void family_fill(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena);

/* A job has failed: high priority at least, and read aloud. */
void family_fail_job(struct event *event);

/* An alert of Alertmanager's or Grafana's list. */
extern const struct family family_alert;

/* The first of "a|b.c|d" that is there and not null. */
struct jval family_pick(struct jval object, const char *members);

/* Any value as text: a string's, or the JSON of the rest. */
struct span family_text(struct jval value, struct arena *arena);

/* "high", "urgent", "5" of `top`; PRIORITY_UNSET when it is none. */
enum event_priority family_priority(struct span word);

/* "critical", "warning" of an alert; PRIORITY_UNSET when it is none. */
enum event_priority family_severity(struct span word);

/* "failed", "success"; STATUS_NONE for what is no such word. */
enum event_status family_status(struct span word);
