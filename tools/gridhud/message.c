/*
 * The texts are put one behind the other into a buffer first; then everything
 * goes into one block, so that ten thousand of them stay small.
 */
#include "tools/gridhud/message.h"

#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/members.h"
#include "tools/gridhud/text.h"

#define TEXTS_MAX ((size_t)256 << 10)

static const char *const roles[] = {
    "event", "user", "assistant", "system", NULL};
static const char *const kinds[] = {
    "message", "job", "alert", "code", "status", NULL};
static const char *const priorities[] = {
    "min", "low", "normal", "high", "critical", NULL};
static const char *const statuses[] = {"", "ok", "error", "warning", "firing",
    "resolved", "skipped", "cancelled", NULL};

static uint8_t
index_of(const char *const *names, struct span name, uint8_t fallback)
{
	for (uint8_t i = 0; names[i] != NULL; i++)
		if (span_eq(span_of(names[i]), name))
			return i;
	return fallback;
}

/* --- the texts ------------------------------------------------------------ */

/* The texts of a message, in the order in which they stand in its block. */
static const struct {
	size_t offset;
	const char *key; /* in the history */
	bool lines; /* may have several */
} texts[] = {
    {offsetof(struct message, id), "id", false},
    {offsetof(struct message, about), "about", false},
    {offsetof(struct message, source), "source", false},
    {offsetof(struct message, title), "title", false},
    {offsetof(struct message, text), "text", true},
    {offsetof(struct message, url), "url", false},
    {offsetof(struct message, job), "job", false},
    {offsetof(struct message, error), "error", true},
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static struct span *
text_of(struct message *message, size_t i)
{
	return (struct span *)(void *)((char *)message + texts[i].offset);
}

/* Makes the block of what `draft` says; its texts are shown ones afterwards. */
static enum err
make(struct message **out, struct message *draft)
{
	size_t starts[TEXTS + 1];
	struct message *message = NULL;
	struct buf buf;
	enum err err;

	*out = NULL;
	buf_init(&buf, TEXTS_MAX);
	for (size_t i = 0; i < TEXTS; i++) {
		starts[i] = buf.len;
		(texts[i].lines ? text_show : text_show_line)(
		    &buf, *text_of(draft, i));
	}
	starts[TEXTS] = buf.len;
	err = buf_end(&buf);
	if (err == ERR_OK)
		message = malloc(sizeof(*message) + buf.len);
	if (message == NULL) {
		err = err == ERR_OK ? ERR_NO_MEMORY : err;
		goto out;
	}
	*message = *draft;
	if (buf.len > 0)
		memcpy(message + 1, buf.data, buf.len);
	for (size_t i = 0; i < TEXTS; i++)
		*text_of(message, i) =
		    span_make((const char *)(message + 1) + starts[i],
			starts[i + 1] - starts[i]);
	*out = message;
out:
	buf_fini(&buf);
	return err;
}

void
message_free(struct message *message)
{
	free(message);
}

size_t
message_size(const struct message *message)
{
	/* The last of the texts ends where the block ends. */
	return (size_t)(message->error.ptr + message->error.len -
	    (const char *)message);
}

/* --- from outside --------------------------------------------------------- */

static struct span
string(const struct jsonr_value *object, const char *name)
{
	return jsonr_as_string(jsonr_member(object, name));
}

static bool
flag(const struct jsonr_value *object, const char *name)
{
	return jsonr_as_bool(jsonr_member(object, name));
}

static uint8_t
speak_of(const struct jsonr_value *value)
{
	if (jsonr_type(value) != JSONR_BOOL)
		return SPEAK_UNSET;
	return jsonr_as_bool(value) ? SPEAK_YES : SPEAK_NO;
}

/* Only what a browser may be given. */
static struct span
link_of(struct span url)
{
	if (span_starts(url, SPAN("http://")) ||
	    span_starts(url, SPAN("https://")))
		return url;
	return SPAN("");
}

enum err
message_from_event(struct message **out, uint64_t seq,
    const struct jsonr_value *event, int64_t now_ms)
{
	const struct jsonr_value *job = jsonr_member(event, "job");
	struct message draft = {.seq = seq, .role = ROLE_EVENT};

	*out = NULL;
	draft.id = string(event, "id");
	draft.about = string(event, "about");
	draft.source = string(event, "source");
	if (draft.source.len == 0)
		return ERR_BAD_INPUT;
	draft.title = string(event, "title");
	draft.text = string(event, "text");
	draft.url = link_of(string(event, "url"));
	draft.job = string(job, "name");
	if (draft.job.len == 0)
		draft.job = string(job, "id");
	draft.error = string(job, "error");
	draft.kind = index_of(kinds, string(event, "kind"), KIND_MESSAGE);
	draft.priority =
	    index_of(priorities, string(event, "priority"), PRIORITY_NORMAL);
	draft.status = index_of(statuses, string(event, "status"), STATUS_NONE);
	draft.speak = speak_of(jsonr_member(event, "speak"));
	draft.silent = flag(event, "silent");
	draft.duplicate = flag(event, "duplicate");
	draft.truncated = flag(event, "truncated");
	draft.markdown = span_eq(string(event, "format"), SPAN("markdown"));
	if (!date_instant(&draft.time_ms, string(event, "received")))
		draft.time_ms = now_ms;
	return make(out, &draft);
}

enum err
message_from_say(struct message **out, enum role role, struct span text,
    struct span id, int64_t now_ms)
{
	struct message draft = {.role = (uint8_t)role,
	    .priority = PRIORITY_NORMAL,
	    .markdown = role != ROLE_USER,
	    .time_ms = now_ms,
	    .id = id,
	    .text = text};

	assert(role <= ROLE_SYSTEM);
	draft.source = span_of(roles[role]);
	return make(out, &draft);
}

/* --- as it is kept -------------------------------------------------------- */

static const struct {
	const char *key;
	size_t offset;
} flags[] = {
    {"silent", offsetof(struct message, silent)},
    {"duplicate", offsetof(struct message, duplicate)},
    {"truncated", offsetof(struct message, truncated)},
    {"markdown", offsetof(struct message, markdown)},
    {"replayed", offsetof(struct message, replayed)},
    {"matched", offsetof(struct message, matched)},
    {"unread", offsetof(struct message, unread)},
    {"alert", offsetof(struct message, alert)},
    {"settled", offsetof(struct message, settled)},
    {"say_due", offsetof(struct message, say_due)},
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

static const struct {
	const char *key;
	size_t offset;
	const char *const *names;
} words[] = {
    {"role", offsetof(struct message, role), roles},
    {"kind", offsetof(struct message, kind), kinds},
    {"priority", offsetof(struct message, priority), priorities},
    {"status", offsetof(struct message, status), statuses},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

void
message_write(struct jsonw *json, const struct message *message)
{
	const char *base = (const char *)message;

	jsonw_object_begin(json);
	members_int(json, "seq", (int64_t)message->seq);
	members_int(json, "ms", message->time_ms);
	for (size_t i = 0; i < WORDS; i++) {
		uint8_t value = *(const uint8_t *)(base + words[i].offset);

		members_string(json, words[i].key, words[i].names[value]);
	}
	if (message->speak != SPEAK_UNSET)
		members_bool(json, "speak", message->speak == SPEAK_YES);
	for (size_t i = 0; i < FLAGS; i++) {
		if (!*(const bool *)(const void *)(base + flags[i].offset))
			continue;
		members_bool(json, flags[i].key, true);
	}
	for (size_t i = 0; i < TEXTS; i++) {
		const struct span *text =
		    (const struct span *)(const void *)(base + texts[i].offset);

		if (text->len == 0)
			continue;
		members_text(json, texts[i].key, *text);
	}
	jsonw_object_end(json);
}

enum err
message_read(struct message **out, const struct jsonr_value *value)
{
	struct message draft = {.seq = 0};
	char *base = (char *)&draft;

	*out = NULL;
	if (jsonr_type(value) != JSONR_OBJECT)
		return ERR_BAD_INPUT;
	draft.seq = (uint64_t)jsonr_as_int(jsonr_member(value, "seq"));
	draft.time_ms = jsonr_as_int(jsonr_member(value, "ms"));
	draft.speak = speak_of(jsonr_member(value, "speak"));
	for (size_t i = 0; i < WORDS; i++)
		*(uint8_t *)(base + words[i].offset) =
		    index_of(words[i].names, string(value, words[i].key), 0);
	for (size_t i = 0; i < FLAGS; i++)
		*(bool *)(void *)(base + flags[i].offset) =
		    flag(value, flags[i].key);
	for (size_t i = 0; i < TEXTS; i++)
		*text_of(&draft, i) = string(value, texts[i].key);
	return make(out, &draft);
}

/* --- about it ------------------------------------------------------------- */

bool
message_is_failure(const struct message *message)
{
	return message->kind == KIND_JOB && message->status == STATUS_ERROR;
}

struct span
message_job(const struct message *message)
{
	if (message->job.len > 0)
		return message->job;
	return message->title.len > 0 ? message->title : message->source;
}

const char *
message_role_name(const struct message *message)
{
	assert(message->role <= ROLE_SYSTEM);
	return roles[message->role];
}

const char *
message_priority_name(const struct message *message)
{
	assert(message->priority < PRIORITY_COUNT);
	return priorities[message->priority];
}

const char *
message_status_name(const struct message *message)
{
	assert(message->status <= STATUS_CANCELLED);
	return statuses[message->status];
}
