/* Chat and notification services, and those that speak as they do. */
#include "tools/gridhook/events/family_priv.h"

#define PARTS_DEPTH 4

static const struct take slack_takes[] = {
    {FIELD_SOURCE, "username|channel|source"},
    {FIELD_TITLE, "title"},
    {FIELD_URL, "attachments.0.title_link"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_END, NULL},
};

/* A row of objects whose first has one of these: an empty row says nothing. */
static bool
is_row_of(struct jval array, const char *members)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, first;

	return jval_type(array) == JARRAY && jwalk_next(&walk, &name, &first) &&
	    family_has(first, members);
}

static bool
knows_slack(struct jval object, const struct hints *hints)
{
	(void)hints;
	return is_row_of(jval_member(object, "attachments"),
		   "text|fallback|pretext|title|fields|blocks|color|"
		   "image_url|actions|author_name|footer") ||
	    is_row_of(jval_member(object, "blocks"), "type|text");
}

/*
 * Adds a table's fields, "Priority: high", and what stands in a row: each a
 * line, rows in rows as well.
 */
static void
join_parts(struct joined *joined, struct jval array, unsigned depth,
    struct arena *arena)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, each;
	struct span label;

	if (jval_type(array) != JARRAY || depth == 0)
		return;
	while (jwalk_next(&walk, &name, &each)) {
		label = family_text_at(each, "title|name", arena);
		family_join(joined, "\n", label);
		family_join(joined, label.len > 0 ? ": " : "\n",
		    family_text_at(each, "value|text.text|text", arena));
		join_parts(
		    joined, jval_member(each, "elements"), depth - 1, arena);
	}
}

/* Adds these members of each element, a line each, and its parts. */
static void
join_each(struct joined *joined, struct jval array, const char *const *members,
    struct arena *arena)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, each;

	if (jval_type(array) != JARRAY)
		return;
	while (jwalk_next(&walk, &name, &each)) {
		for (size_t i = 0; members[i] != NULL; i++)
			family_join(joined, "\n",
			    family_text_at(each, members[i], arena));
		join_parts(
		    joined, jval_member(each, "fields"), PARTS_DEPTH, arena);
		join_parts(
		    joined, jval_member(each, "elements"), PARTS_DEPTH, arena);
	}
}

static void
mend_slack(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	static const char *const of_attachment[] = {
	    "pretext", "title", "text|fallback", NULL};
	static const char *const of_block[] = {"text.text|text", NULL};
	struct joined joined;

	(void)hints;
	if (event->source.len == 0)
		event->source = SPAN("slack");
	if (!family_join_begin(&joined, arena))
		return;
	family_join(&joined, "", family_text_at(object, "text", arena));
	join_each(
	    &joined, jval_member(object, "attachments"), of_attachment, arena);
	join_each(&joined, jval_member(object, "blocks"), of_block, arena);
	event->text = buf_span(&joined.buf);
	event->markdown = true;
}

static const struct take discord_takes[] = {
    {FIELD_SOURCE, "username|source"},
    {FIELD_URL, "embeds.0.url"},
    {FIELD_END, NULL},
};

static bool
knows_discord(struct jval object, const struct hints *hints)
{
	(void)hints;
	return is_row_of(jval_member(object, "embeds"),
		   "title|description|url|fields|author|color|image|footer") ||
	    (family_has(object, "content") && family_has(object, "username") &&
		!family_has(object, "text|message"));
}

static void
mend_discord(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	static const char *const of_embed[] = {
	    "title", "description", "url", NULL};
	struct joined joined;

	(void)hints;
	if (event->source.len == 0)
		event->source = SPAN("discord");
	if (!family_join_begin(&joined, arena))
		return;
	family_join(&joined, "", family_text_at(object, "content", arena));
	join_each(&joined, jval_member(object, "embeds"), of_embed, arena);
	event->text = buf_span(&joined.buf);
	event->markdown = true;
}

/* Apprise's json://: its attachments are files, and mostly there are none. */
static const struct take apprise_takes[] = {
    {FIELD_SOURCE, "source|app"},
    {FIELD_TITLE, "title"},
    {FIELD_TEXT, "message"},
    {FIELD_STATUS, "type"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_END, NULL},
};

static bool
knows_apprise(struct jval object, const struct hints *hints)
{
	struct jval type = jval_member(object, "type");

	(void)hints;
	return jval_type(jval_member(object, "version")) == JSTRING &&
	    jval_type(jval_member(object, "message")) == JSTRING &&
	    jval_type(jval_member(object, "title")) == JSTRING &&
	    (jval_is(type, SPAN("info")) || jval_is(type, SPAN("success")) ||
		jval_is(type, SPAN("warning")) ||
		jval_is(type, SPAN("failure")));
}

static void
mend_apprise(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	(void)object;
	(void)arena;
	if (event->source.len == 0 && hints->source.len == 0 &&
	    hints->suffix.len == 0)
		event->source = SPAN("apprise");
	if (event->status == STATUS_ERROR && event->priority < PRIORITY_HIGH)
		event->priority = PRIORITY_HIGH;
}

static const struct take assistant_takes[] = {
    {FIELD_SOURCE, "source"},
    {FIELD_TITLE, "title"},
    {FIELD_TEXT, "message"},
    {FIELD_PRIORITY, "data.priority|priority"},
    {FIELD_URL, "data.clickAction|data.url"},
    {FIELD_DEDUPE, "dedupe"},
    {FIELD_ABOUT, "data.tag"},
    {FIELD_END, NULL},
};

static bool
knows_assistant(struct jval object, const struct hints *hints)
{
	(void)hints;
	return family_has(object, "message") &&
	    family_has(object,
		"data.channel|data.tag|data.clickAction|"
		"data.priority|data.notification_icon|data.actions");
}

static void
mend_assistant(struct event *event, struct jval object,
    const struct hints *hints, struct arena *arena)
{
	(void)hints;
	if (event->source.len == 0)
		event->source = SPAN("home-assistant");
	if (event->tag_count == 0 && family_has(object, "data.tag"))
		event->tags[event->tag_count++] =
		    family_text_at(object, "data.tag", arena);
}

static const struct take hooks_takes[] = {
    {FIELD_SOURCE, "source|name|agent|channel|from"},
    {FIELD_TITLE, "title|subject|name"},
    {FIELD_TEXT, "text|message"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|id"},
    {FIELD_END, NULL},
};

static bool
knows_hooks(struct jval object, const struct hints *hints)
{
	(void)hints;
	return (family_has(object, "text") && family_has(object, "mode")) ||
	    (family_has(object, "message") && family_has(object, "name") &&
		family_has(
		    object, "sessionKey|wakeMode|deliver|channel|agentId"));
}

const struct family family_slack = {
    "slack", EVENT_MESSAGE, knows_slack, slack_takes, mend_slack, NULL};

const struct family family_apprise = {
    "apprise", EVENT_MESSAGE, knows_apprise, apprise_takes, mend_apprise, NULL};

const struct family family_discord = {
    "discord", EVENT_MESSAGE, knows_discord, discord_takes, mend_discord, NULL};

const struct family family_home_assistant = {"home-assistant", EVENT_MESSAGE,
    knows_assistant, assistant_takes, mend_assistant, NULL};

const struct family family_hooks = {
    "hooks", EVENT_MESSAGE, knows_hooks, hooks_takes, NULL, NULL};
