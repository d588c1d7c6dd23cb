#include "tools/gridhook/events/normalise.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/jsonr.h"
#include "tools/gridhook/events/family.h"
#include "tools/gridhook/events/recipe.h"

#define GENERIC_TEXT_MAX 2000
#define KEPT_DEPTH 32

struct push {
	struct events *out;
	const struct hints *hints;
	struct arena *arena;
	struct jval parent; /* the envelope, or absent */
	bool full; /* of memory: the push fails */
	unsigned total; /* events that there would be without the cap */
};

/* A message to keep without drawing attention. */
static void
note_silent(struct event *event)
{
	if (span_starts(span_trim(event->text), SPAN("[SILENT]"))) {
		event->silent = true;
		event->text = span_from(span_trim(event->text), 8);
	}
}

/*
 * The original goes along where every reader can read it: common/jsonr is the
 * strictest that we know of.
 */
static struct span
keep_data(struct jval object, struct arena *arena)
{
	const struct jsonr_limits limits = {
	    .bytes = EVENT_DATA_MAX, .depth = KEPT_DEPTH};
	struct jsonr *doc = NULL;
	struct span text;

	if (jval_type(object) != JOBJECT ||
	    jval_raw(object).len > EVENT_DATA_MAX)
		return SPAN("");
	text = family_text(object, arena);
	if (jsonr_parse(&doc, text, &limits, NULL) != ERR_OK)
		return SPAN("");
	jsonr_free(doc);
	return text;
}

/* Fields that the envelope gives to those of its elements that lack them. */
static void
inherit(struct event *event, struct jval parent, const struct hints *hints,
    struct arena *arena)
{
	const struct hints none = {.recipes = hints->recipes, .arena = arena};
	struct event from = {.source = SPAN("")};

	if (jval_is_absent(parent))
		return;
	family_fill(&from, family_of(parent, &none), parent, &none, arena);
	if (event->source.len == 0)
		event->source = family_text(
		    family_pick(parent, "source|app|service"), arena);
	if (event->title.len == 0)
		event->title =
		    family_text(family_pick(parent, "title|subject"), arena);
	if (event->priority == PRIORITY_UNSET)
		event->priority = from.priority;
	if (event->tag_count == 0) {
		memcpy(event->tags, from.tags, sizeof(from.tags));
		event->tag_count = from.tag_count;
	}
	if (event->job_name.len == 0) {
		event->job_name =
		    family_text(family_pick(parent, "job.name|job"), arena);
		event->is_job |= event->job_name.len > 0;
	}
}

static void
fill_gaps(struct event *event, const struct push *push)
{
	const struct hints *hints = push->hints;

	if (event->source.len == 0)
		event->source = hints->source;
	if (event->source.len == 0)
		event->source = hints->suffix;
	if (event->title.len == 0)
		event->title = hints->title;
	if (event->priority == PRIORITY_UNSET && hints->priority.len > 0)
		event->priority = family_priority(hints->priority);
	if (event->speak == FLAG_UNSET && span_eq(hints->speak, SPAN("true")))
		event->speak = FLAG_YES;
	if (event->speak == FLAG_UNSET && span_eq(hints->speak, SPAN("false")))
		event->speak = FLAG_NO;
	note_silent(event);
}

/* Put together in the arena; empty when that is full. */
static struct span scoped(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct span
scoped(struct arena *arena, const char *format, ...)
{
	char text[EVENT_SOURCE_MAX * 4 + EVENT_DEDUPE_MAX * 4 + 64];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(text))
		return SPAN("");
	return arena_copy(arena, span_make(text, (size_t)len));
}

/*
 * A sender's keys mean something among its own only. An event that tells of
 * another status is news, even under the id of the one before.
 */
static void
scope_keys(struct event *event, const char *family, struct arena *arena)
{
	if (event->dedupe.len > 0 && event->status != STATUS_NONE)
		event->dedupe = scoped(arena, "%s:%.*s:%.*s:%u", family,
		    SPAN_ARG(event->source), SPAN_ARG(event->dedupe),
		    (unsigned)event->status);
	else if (event->dedupe.len > 0)
		event->dedupe = scoped(arena, "%s:%.*s:%.*s", family,
		    SPAN_ARG(event->source), SPAN_ARG(event->dedupe));
	if (event->about.len > 0)
		event->about = scoped(arena, "%.*s:%.*s",
		    SPAN_ARG(event->source), SPAN_ARG(event->about));
}

static struct event *
add(struct push *push)
{
	struct event *event;

	push->total++;
	if (push->total > NORMALISE_MAX)
		return NULL;
	event = arena_alloc(push->arena, sizeof(*event));
	if (event == NULL)
		push->full = true;
	else
		push->out->list[push->out->count++] = event;
	return event;
}

static void
end(struct event *event, struct push *push, const char *family)
{
	if (event == NULL)
		return;
	fill_gaps(event, push);
	/* A job may be named by the envelope alone, and have failed. */
	if (event->is_job && event->status == STATUS_ERROR) {
		if (event->kind == EVENT_MESSAGE)
			event->kind = EVENT_JOB;
		family_fail_job(event);
	}
	event_finish(event, push->arena);
	scope_keys(event, family, push->arena);
}

static void
add_object(struct push *push, struct jval object, const struct family *family)
{
	struct event *event = add(push);
	struct jval kind;

	if (event == NULL)
		return;
	if (family == NULL)
		family = family_of(object, push->hints);
	family_fill(event, family, object, push->hints, push->arena);
	inherit(event, push->parent, push->hints, push->arena);
	if (event->text.len == 0 && event->title.len == 0 &&
	    jval_count(object) > 0) {
		event->text = family_text(object, push->arena);
		event->truncated = event->text.len > GENERIC_TEXT_MAX;
		event->text = span_sub(event->text, 0, GENERIC_TEXT_MAX);
		kind = family_pick(object, "type|event_type|event|action");
		/* An event that no family knows is titled with its own type. */
		event->title = jval_text(kind, push->arena);
	}
	event->data = keep_data(object, push->arena);
	end(event, push, family->name);
}

static void
add_plain(struct push *push, struct jval value)
{
	struct event *event = add(push);

	if (event == NULL)
		return;
	event->text = family_text(value, push->arena);
	inherit(event, push->parent, push->hints, push->arena);
	end(event, push, "plain");
}

static void
add_elements(struct push *push, struct jval array, const struct family *family)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, each;

	while (jwalk_next(&walk, &name, &each))
		if (jval_type(each) == JOBJECT)
			add_object(push, each, family);
		else
			add_plain(push, each);
}

/* "alerts" of Alertmanager, or of Grafana, which adds its organisation. */
static bool
is_alert_group(struct jval object)
{
	return jval_type(jval_member(object, "alerts")) == JARRAY &&
	    jval_count(jval_member(object, "alerts")) > 0 &&
	    !jval_is_absent(family_pick(object, "receiver|groupKey|version"));
}

static struct jval
envelope(struct jval object)
{
	static const char *const names[] = {
	    "events", "messages", "notifications"};
	struct jval list;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		list = jval_member(object, names[i]);
		if (jval_type(list) == JARRAY && jval_count(list) > 0 &&
		    (i == 0 ||
			jval_is_absent(family_pick(
			    object, "text|message|msg|body|content"))))
			return list;
	}
	return (struct jval){object.doc, NULL};
}

/* A family of a file says by itself what becomes an event. */
static void
split_known(struct push *push, struct jval object, const struct family *family)
{
	struct jval list = recipe_list(family, object);
	struct hints within = *push->hints;
	const struct hints *hints = push->hints;

	if (jval_is_absent(list)) {
		add_object(push, object, family);
		return;
	}
	within.top = object;
	push->hints = &within;
	add_elements(push, list, family);
	push->hints = hints;
}

static void
split_object(struct push *push, struct jval object)
{
	const struct family *known =
	    recipes_find(push->hints->recipes, object, push->hints, true);
	struct jval list = envelope(object);
	struct hints grouped = *push->hints;
	const struct hints *hints = push->hints;

	if (known != NULL) {
		split_known(push, object, known);
		return;
	}
	if (!jval_is_absent(list)) {
		push->parent = object;
		add_elements(push, list, NULL);
		return;
	}
	if (!is_alert_group(object)) {
		add_object(push, object, NULL);
		return;
	}
	grouped.source = jval_is_absent(jval_member(object, "orgId"))
	    ? SPAN("alertmanager")
	    : SPAN("grafana");
	push->hints = &grouped;
	add_elements(push, jval_member(object, "alerts"), &family_alert);
	push->hints = hints;
}

/* The last place tells what found none. */
static void
tell_rest(struct push *push)
{
	struct event *event;
	unsigned left = push->total - (NORMALISE_MAX - 1);
	char *text = arena_alloc(push->arena, 128);
	char *data = arena_alloc(push->arena, 64);

	if (text == NULL || data == NULL)
		return;
	event = push->out->list[NORMALISE_MAX - 1];
	*event = (struct event){.source = push->out->list[0]->source};
	snprintf(text, 128, "and %u more", left);
	snprintf(data, 64, "{\"count\":%u}", left);
	event->title = SPAN("Too many events in one push");
	event->text = span_of(text);
	event->data = span_of(data);
}

static void
split(struct push *push, struct jval root)
{
	if (jval_type(root) == JARRAY && jval_count(root) > 0)
		add_elements(push, root, NULL);
	else if (jval_type(root) == JOBJECT)
		split_object(push, root);
	else if (jval_type(root) == JARRAY || jval_is_absent(root))
		end(add(push), push, "empty");
	else
		add_plain(push, root);
}

enum err
normalise(struct events *out, struct jval root, const struct hints *hints,
    struct arena *arena)
{
	struct hints whole = *hints;
	struct push push = {.out = out,
	    .hints = &whole,
	    .arena = arena,
	    .parent = {NULL, NULL}};

	assert(hints != NULL && arena != NULL);
	whole.top = (struct jval){NULL, NULL};
	whole.arena = arena;
	*out = (struct events){.count = 0};
	out->list = arena_array(arena, NORMALISE_MAX, sizeof(*out->list));
	if (out->list == NULL)
		return ERR_NO_MEMORY;
	split(&push, root);
	if (push.total > NORMALISE_MAX && !push.full)
		tell_rest(&push);
	return push.full ? ERR_NO_MEMORY : ERR_OK;
}
