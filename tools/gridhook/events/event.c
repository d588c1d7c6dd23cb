#include "tools/gridhook/events/event.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "common/date.h"
#include "common/members.h"
#include "common/utf8.h"

static const char *const kinds[] = {
    "message", "job", "alert", "code", "status"};
static const char *const priorities[] = {
    "normal", "min", "low", "normal", "high", "critical"};
static const char *const states[] = {NULL, "ok", "error", "warning", "firing",
    "resolved", "skipped", "cancelled"};

/* A copy that is fit to be shown, cut to `max` bytes. */
static struct span
shown(struct span text, size_t max, struct arena *arena)
{
	struct span cut = utf8_cut(text, max);
	struct buf buf;

	if (cut.len == 0)
		return SPAN("");
	/* Each mended byte may become three. */
	buf = (struct buf){.data = arena_alloc(arena, cut.len * 3 + 1),
	    .cap = cut.len * 3,
	    .max = cut.len * 3};
	if (buf.data == NULL)
		return SPAN("");
	utf8_show(&buf, cut);
	return utf8_cut(buf_span(&buf), max);
}

/* One line of at most `max` characters, without blanks around it. */
static struct span
one_line(struct span text, size_t max, struct arena *arena)
{
	struct span line = shown(text, max * 4, arena);
	struct span rest;
	uint32_t code;
	char *bytes;

	if (line.len == 0)
		return line;
	line = arena_copy(arena, line);
	bytes = arena_alloc(arena, line.len + 1);
	if (line.ptr == NULL || bytes == NULL)
		return SPAN("");
	for (size_t i = 0; i < line.len; i++)
		bytes[i] = line.ptr[i] == '\n' || line.ptr[i] == '\t'
		    ? ' '
		    : line.ptr[i];
	line = span_trim(span_make(bytes, line.len));
	rest = line;
	for (size_t count = 0; count < max && rest.len > 0; count++)
		utf8_next(&code, &rest);
	return span_make(line.ptr, line.len - rest.len);
}

static bool
is_web_link(struct span url)
{
	if (!(url.len > 7 && strncasecmp(url.ptr, "http://", 7) == 0) &&
	    !(url.len > 8 && strncasecmp(url.ptr, "https://", 8) == 0))
		return false;
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= 0x20 || url.ptr[i] == 0x7F)
			return false;
	return url.len <= 2048 && utf8_is_valid(url);
}

void
event_finish(struct event *event, struct arena *arena)
{
	unsigned kept = 0;

	assert(event != NULL && event->tag_count <= EVENT_TAGS_MAX);
	event->source = one_line(event->source, EVENT_SOURCE_MAX, arena);
	if (event->source.len == 0)
		event->source = SPAN("push");
	event->title = one_line(event->title, EVENT_TITLE_MAX, arena);
	event->truncated |= event->text.len > EVENT_TEXT_MAX;
	event->text = shown(event->text, EVENT_TEXT_MAX, arena);
	event->job_id = one_line(event->job_id, EVENT_TITLE_MAX, arena);
	event->job_name = one_line(event->job_name, EVENT_TITLE_MAX, arena);
	event->job_error = shown(event->job_error, EVENT_TEXT_MAX, arena);
	event->dedupe = one_line(event->dedupe, EVENT_DEDUPE_MAX, arena);
	event->about = one_line(event->about, EVENT_DEDUPE_MAX, arena);
	if (!is_web_link(event->url))
		event->url = SPAN("");
	for (unsigned i = 0; i < event->tag_count; i++) {
		event->tags[kept] =
		    one_line(event->tags[i], EVENT_SOURCE_MAX, arena);
		kept += event->tags[kept].len > 0;
	}
	event->tag_count = kept;
}

void
event_id(char *id, size_t size, const char *epoch, uint64_t seq)
{
	assert(size > 0 && epoch != NULL);
	snprintf(id, size, "evt_%s-%" PRIu64, epoch, seq);
}

static void
put_int(struct jsonw *json, const char *name, int64_t value, bool is_set)
{
	jsonw_key(json, name);
	if (is_set)
		jsonw_int(json, value);
	else
		jsonw_null(json);
}

static void
put_time(struct jsonw *json, const char *name, int64_t ms, bool is_set)
{
	char text[DATE_TEXT_MAX];

	jsonw_key(json, name);
	if (is_set && date_instant_text(text, ms) > 0)
		jsonw_text(json, text);
	else
		jsonw_null(json);
}

static void
put_job(struct jsonw *json, const struct event *event)
{
	jsonw_key(json, "job");
	if (!event->is_job) {
		jsonw_null(json);
		return;
	}
	jsonw_object_begin(json);
	members_null_text(json, "id", event->job_id);
	members_null_text(json, "name", event->job_name);
	put_int(json, "exit_code", event->exit_code, event->has_exit_code);
	put_int(json, "duration_ms", event->duration_ms, event->has_duration);
	members_null_text(json, "error", event->job_error);
	put_time(json, "next_run", event->next_run_ms, event->has_next_run);
	jsonw_object_end(json);
}

static void
put_push(struct jsonw *json, const struct event_place *place)
{
	members_object(json, "push");
	members_text(json, "id", place->push);
	members_int(json, "index", place->index);
	members_int(json, "count", place->count);
	jsonw_object_end(json);
}

static void
put_how(struct jsonw *json, const struct event *event)
{
	jsonw_key(json, "speak");
	if (event->speak == FLAG_UNSET)
		jsonw_null(json);
	else
		jsonw_bool(json, event->speak == FLAG_YES);
	members_bool(json, "silent", event->silent);
	members_string(json, "format", event->markdown ? "markdown" : "plain");
	members_null_text(json, "url", event->url);
	jsonw_key(json, "tags");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < event->tag_count; i++)
		jsonw_string(json, event->tags[i]);
	jsonw_array_end(json);
}

static void
put_what(struct jsonw *json, const struct event *event)
{
	members_text(json, "source", event->source);
	members_string(json, "kind", kinds[event->kind]);
	members_null_text(json, "title", event->title);
	members_text(json, "text", event->text);
	members_bool(json, "truncated", event->truncated);
	members_string(json, "priority", priorities[event->priority]);
	members_string(json, "status", states[event->status]);
	put_job(json, event);
}

void
event_write(struct jsonw *json, const struct event *event,
    const struct event_place *place)
{
	char id[64];

	assert(place->epoch != NULL && event->tag_count <= EVENT_TAGS_MAX);
	assert(place->count == 0 || place->index < place->count);
	event_id(id, sizeof(id), place->epoch, place->seq);
	jsonw_object_begin(json);
	members_string(json, "id", id);
	members_int(json, "seq", (int64_t)place->seq);
	put_push(json, place);
	put_time(json, "received", place->received_ms, true);
	put_time(json, "time", event->time_ms, event->has_time);
	put_what(json, event);
	put_how(json, event);
	members_null_text(json, "dedupe", event->dedupe);
	members_null_text(json, "about", event->about);
	members_bool(json, "duplicate", place->duplicate);
	jsonw_key(json, "matched");
	jsonw_array_begin(json);
	jsonw_array_end(json);
	jsonw_key(json, "data");
	if (event->data.len == 0)
		jsonw_null(json);
	else
		jsonw_raw(json, event->data);
	jsonw_object_end(json);
}
