#include "tools/gridhook/events/family_priv.h"

#include <assert.h>

#include "common/log.h"
#include "tools/gridhook/events/recipe.h"

/* Members that any sender may use; read behind its family's own table. */
static const struct take common_takes[] = {
    {FIELD_SPEAK, "speak"},
    {FIELD_SILENT, "silent"},
    {FIELD_TAGS, "tags"},
    {FIELD_URL, "url|link|click"},
    {FIELD_TIME, "time|timestamp|date|created_at"},
    {FIELD_MARKDOWN, "markdown|format"},
    {FIELD_END, NULL},
};

static const struct take cloud_takes[] = {
    {FIELD_SOURCE, "source"},
    {FIELD_TITLE, "data.title|subject|type"},
    {FIELD_TEXT,
	"data.text|data.message|data.msg|data.body|data.content|"
	"data.description|data.summary|data|subject|type"},
    {FIELD_TIME, "time"},
    {FIELD_END, NULL},
};

static bool
knows_cloud(struct jval object, const struct hints *hints)
{
	(void)hints;
	return family_has(object, "specversion") && family_has(object, "id") &&
	    family_has(object, "source") && family_has(object, "type");
}

/* The sender and the time of the envelope, all else of what it carries. */
static void
replace_inside(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena)
{
	struct event inside = {.source = event->source};

	family_fill(&inside, family, object, hints, arena);
	inside.source = event->source;
	if (event->has_time)
		inside.time_ms = event->time_ms;
	inside.has_time |= event->has_time;
	*event = inside;
}

/* The data may be of a known kind, and the type may tell of a failed job. */
static void
mend_cloud(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct jval data = jval_member(object, "data");
	const struct family *inner = NULL;
	struct joined joined;

	if (jval_type(data) == JOBJECT && !knows_cloud(data, hints))
		inner = family_of(data, hints);
	if (inner != NULL && (inner->knows != NULL || inner->recipe != NULL))
		replace_inside(event, inner, data, hints, arena);
	else if (family_named_job.knows(object, hints))
		replace_inside(event, &family_named_job, object, hints, arena);
	if (!family_join_begin(&joined, arena))
		return;
	family_join(&joined, "", event->source);
	family_join(&joined, "#", family_text_at(object, "id", arena));
	event->dedupe = buf_span(&joined.buf);
}

static bool
knows_rpc(struct jval object, const struct hints *hints)
{
	(void)hints;
	return family_has(object, "jsonrpc") && family_has(object, "method");
}

static const struct take generic_takes[] = {
    {FIELD_SOURCE,
	"source|app|service|sender|from|agent|channel|topic|username"},
    {FIELD_TITLE, "title|subject|summary|name"},
    {FIELD_TEXT,
	"text|message|msg|body|content|output|description|detail|"
	"error|summary"},
    {FIELD_SEVERITY, "severity|level"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_STATUS, "status"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|idempotency_key|id"},
    {FIELD_ABOUT,
	"about|dedup_key|dedupe_key|alert_id|alertId|incident_id|fingerprint|"
	"alias|id"},
    {FIELD_END, NULL},
};

/* "type":"failure", and a failure that has no priority of its own. */
static void
mend_generic(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	enum event_status type =
	    family_status(family_text_at(object, "type", arena));

	(void)hints;
	if (event->status == STATUS_NONE &&
	    (type == STATUS_ERROR || type == STATUS_WARNING))
		event->status = type;
	if (event->status == STATUS_ERROR && event->priority == PRIORITY_UNSET)
		event->priority = PRIORITY_HIGH;
}

static void
mend_rpc(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	(void)object;
	(void)hints;
	(void)arena;
	event->dedupe = SPAN("");
	log_warn("a push looks like a tool call: is the sender's address /mcp "
		 "rather than the push path?");
}

static const struct family cloudevents = {
    "cloudevents", EVENT_MESSAGE, knows_cloud, cloud_takes, mend_cloud, NULL};
static const struct family json_rpc = {
    "json-rpc", EVENT_MESSAGE, knows_rpc, generic_takes, mend_rpc, NULL};
static const struct family generic = {
    "generic", EVENT_MESSAGE, NULL, generic_takes, mend_generic, NULL};

/* The first that knows the object takes it: those that are sure come first. */
static const struct family *const families[] = {
    &cloudevents,
    &family_finished_job,
    &family_job,
    &family_apprise,
    &family_uptime_kuma,
    &family_slack,
    &family_discord,
    &family_monitor,
    &family_home_assistant,
    &family_hooks,
    &json_rpc,
    &family_named_job,
    &generic,
};

const struct family *
family_of(struct jval object, const struct hints *hints)
{
	const struct family *const *at = families;
	const struct family *found =
	    recipes_find(hints->recipes, object, hints, false);

	assert(hints != NULL);
	if (found != NULL)
		return found;
	while ((*at)->knows != NULL && !(*at)->knows(object, hints))
		at++;
	return *at;
}

void
family_fill(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena)
{
	assert(family != NULL && hints != NULL && arena != NULL);
	if (hints->trace != NULL)
		hints->trace->event(hints->trace->arg, family, object);
	event->kind = family->kind;
	if (family->recipe != NULL) {
		recipe_fill(event, family, object, hints, arena);
		return;
	}
	family_take(event, family->takes, object, hints->trace, arena);
	family_take(event, common_takes, object, hints->trace, arena);
	if (family->mend != NULL)
		family->mend(event, object, hints, arena);
}
