#include "tools/gridhook/family.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/log.h"
#include "common/num.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define JOINED_MAX (EVENT_TEXT_MAX * 2)

/* --- reading members ------------------------------------------------------ */

static struct jval
pick_path(struct jval object, struct span path)
{
	struct span name;
	char text[64];

	while (!jval_is_absent(object) && span_cut(&name, &path, '.')) {
		if (!span_copy(text, sizeof(text), name))
			return (struct jval){object.doc, NULL};
		object = jval_member(object, text);
	}
	if (jval_type(object) == JNULL)
		object.node = NULL;
	return object;
}

struct jval
family_pick(struct jval object, const char *members)
{
	struct span rest = span_of(members);
	struct jval none = {object.doc, NULL};
	struct jval value;
	struct span path;

	while (span_cut(&path, &rest, '|')) {
		value = pick_path(object, path);
		if (!jval_is_absent(value) && !jval_is(value, SPAN("")))
			return value;
	}
	return none;
}

static bool
has(struct jval object, const char *members)
{
	return !jval_is_absent(family_pick(object, members));
}

struct span
family_text(struct jval value, struct arena *arena)
{
	struct span raw = jval_raw(value);
	struct buf buf;

	if (jval_type(value) == JSTRING)
		return jval_text(value, arena);
	if (jval_type(value) != JARRAY && jval_type(value) != JOBJECT)
		return raw;
	buf = (struct buf){.data = arena_alloc(arena, raw.len + 1),
	    .cap = raw.len,
	    .max = raw.len};
	if (buf.data == NULL)
		return SPAN("");
	jval_compact(value, &buf);
	return buf_span(&buf);
}

static struct span
text_at(struct jval object, const char *members, struct arena *arena)
{
	return family_text(family_pick(object, members), arena);
}

/* Also a numeric string, as environments give it. */
static bool
int_of(struct jval value, int64_t *out)
{
	struct span raw = jval_raw(value);

	if (jval_type(value) == JSTRING)
		return num_int(out, span_sub(raw, 1, raw.len - 2),
		    INT64_MIN / 2, INT64_MAX / 2);
	return jval_int(value, out);
}

/* --- words ---------------------------------------------------------------- */

struct word {
	const char *word;
	int value;
};

static const struct word priority_words[] = {
    {"min", PRIORITY_MIN},
    {"low", PRIORITY_LOW},
    {"normal", PRIORITY_NORMAL},
    {"default", PRIORITY_NORMAL},
    {"medium", PRIORITY_NORMAL},
    {"high", PRIORITY_HIGH},
    {"urgent", PRIORITY_CRITICAL},
    {"max", PRIORITY_CRITICAL},
    {"critical", PRIORITY_CRITICAL},
    {"emergency", PRIORITY_CRITICAL},
};

static const struct word severity_words[] = {
    {"critical", PRIORITY_CRITICAL},
    {"error", PRIORITY_HIGH},
    {"page", PRIORITY_HIGH},
    {"high", PRIORITY_HIGH},
    {"warning", PRIORITY_NORMAL},
    {"info", PRIORITY_LOW},
};

static const struct word status_words[] = {
    {"ok", STATUS_OK},
    {"success", STATUS_OK},
    {"succeeded", STATUS_OK},
    {"completed", STATUS_OK},
    {"complete", STATUS_OK},
    {"finished", STATUS_OK},
    {"done", STATUS_OK},
    {"passed", STATUS_OK},
    {"up", STATUS_OK},
    {"recovered", STATUS_RESOLVED},
    {"resolved", STATUS_RESOLVED},
    {"error", STATUS_ERROR},
    {"failed", STATUS_ERROR},
    {"failure", STATUS_ERROR},
    {"timeout", STATUS_ERROR},
    {"timed_out", STATUS_ERROR},
    {"crashed", STATUS_ERROR},
    {"lost", STATUS_ERROR},
    {"down", STATUS_ERROR},
    {"exit-code", STATUS_ERROR},
    {"signal", STATUS_ERROR},
    {"core-dump", STATUS_ERROR},
    {"watchdog", STATUS_ERROR},
    {"oom-kill", STATUS_ERROR},
    {"start-limit-hit", STATUS_ERROR},
    {"startup_failure", STATUS_ERROR},
    {"warning", STATUS_WARNING},
    {"warn", STATUS_WARNING},
    {"degraded", STATUS_WARNING},
    {"firing", STATUS_FIRING},
    {"alerting", STATUS_FIRING},
    {"triggered", STATUS_FIRING},
    {"skipped", STATUS_SKIPPED},
    {"cancelled", STATUS_CANCELLED},
    {"canceled", STATUS_CANCELLED},
    {"aborted", STATUS_CANCELLED},
};

static int
word_value(const struct word *words, size_t count, struct span text)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (span_eq_nocase(span_of(words[i].word), text))
			return words[i].value;
	}
	return 0;
}

/* 0 min, 1-3 low, 4-7 normal, 8-9 high, 10 critical. */
static enum event_priority
priority_of_10(int64_t level)
{
	if (level < 0)
		return PRIORITY_UNSET;
	if (level == 0)
		return PRIORITY_MIN;
	if (level <= 3)
		return PRIORITY_LOW;
	if (level <= 7)
		return PRIORITY_NORMAL;
	return level <= 9 ? PRIORITY_HIGH : PRIORITY_CRITICAL;
}

enum event_priority
family_priority(struct span word)
{
	int64_t level;

	if (num_int(&level, word, 0, 10))
		return priority_of_10(level);
	return (enum event_priority)word_value(
	    priority_words, COUNT(priority_words), word);
}

/* --- one field ------------------------------------------------------------ */

static enum event_priority
priority_of(struct jval value, bool of_5, struct arena *arena)
{
	int64_t level;

	if (!int_of(value, &level))
		return family_priority(family_text(value, arena));
	if (of_5)
		return level < 1 || level > 5 ? PRIORITY_UNSET
					      : (enum event_priority)level;
	return priority_of_10(level);
}

/* Seconds or milliseconds since 1970, or RFC 3339. */
static bool
time_of(struct jval value, int64_t *ms, struct arena *arena)
{
	double number;

	if (jval_type(value) == JSTRING)
		return date_instant(ms, jval_text(value, arena));
	if (!jval_real(value, &number) || number <= 0 || number > 2e14)
		return false;
	*ms = (int64_t)(number < 1e11 ? number * 1000 : number);
	return true;
}

/* A string, or an object's name. */
static struct span
source_of(struct jval value, struct arena *arena)
{
	if (jval_type(value) == JOBJECT)
		value = family_pick(value, "name|login|id");
	if (jval_type(value) == JARRAY || jval_type(value) == JOBJECT)
		return SPAN("");
	return family_text(value, arena);
}

static void
take_tags(struct event *event, struct jval value, struct arena *arena)
{
	struct jwalk walk = jwalk_begin(value);
	struct span rest, tag;
	struct jval name, each;

	if (jval_type(value) == JSTRING) {
		rest = jval_text(value, arena);
		while (event->tag_count < EVENT_TAGS_MAX &&
		    span_cut(&tag, &rest, ','))
			event->tags[event->tag_count++] = tag;
		return;
	}
	while (event->tag_count < EVENT_TAGS_MAX &&
	    jwalk_next(&walk, &name, &each)) {
		if (jval_type(value) == JARRAY)
			event->tags[event->tag_count++] =
			    family_text(each, arena);
	}
}

static enum event_flag
flag_of(struct jval value)
{
	if (jval_type(value) == JTRUE || jval_is(value, SPAN("true")))
		return FLAG_YES;
	if (jval_type(value) == JFALSE || jval_is(value, SPAN("false")))
		return FLAG_NO;
	return FLAG_UNSET;
}

static void
take_number(struct event *event, enum field field, struct jval value)
{
	int64_t number;

	if (!int_of(value, &number))
		return;
	if (field == FIELD_JOB_EXIT) {
		event->exit_code = number;
		event->has_exit_code = true;
	} else {
		event->duration_ms = number;
		event->has_duration = true;
	}
}

static void
take_text(struct event *event, enum field field, struct span text)
{
	struct span *to = field == FIELD_TITLE ? &event->title
	    : field == FIELD_TEXT              ? &event->text
	    : field == FIELD_URL               ? &event->url
	    : field == FIELD_DEDUPE            ? &event->dedupe
	    : field == FIELD_JOB_ID            ? &event->job_id
	    : field == FIELD_JOB_NAME          ? &event->job_name
					       : &event->job_error;

	if (to->len == 0)
		*to = text;
}

static void
take(struct event *event, enum field field, struct jval value,
    struct arena *arena)
{
	struct span text = SPAN("");

	switch (field) {
	case FIELD_SOURCE:
		if (event->source.len == 0)
			event->source = source_of(value, arena);
		break;
	case FIELD_PRIORITY:
	case FIELD_PRIORITY_5:
		event->priority =
		    priority_of(value, field == FIELD_PRIORITY_5, arena);
		break;
	case FIELD_SEVERITY:
		event->priority =
		    (enum event_priority)word_value(severity_words,
			COUNT(severity_words), family_text(value, arena));
		break;
	case FIELD_STATUS:
		text = family_text(value, arena);
		event->status = (enum event_status)word_value(
		    status_words, COUNT(status_words), text);
		break;
	case FIELD_TIME:
		event->has_time = time_of(value, &event->time_ms, arena);
		break;
	case FIELD_TAGS:
		take_tags(event, value, arena);
		break;
	case FIELD_JOB_EXIT:
	case FIELD_JOB_DURATION:
		take_number(event, field, value);
		break;
	case FIELD_JOB_NEXT:
		event->has_next_run =
		    time_of(value, &event->next_run_ms, arena);
		break;
	case FIELD_SPEAK:
		event->speak = flag_of(value);
		break;
	case FIELD_SILENT:
		event->silent = flag_of(value) == FLAG_YES;
		break;
	case FIELD_MARKDOWN:
		event->markdown = flag_of(value) == FLAG_YES ||
		    jval_is(value, SPAN("markdown"));
		break;
	default:
		take_text(event, field, family_text(value, arena));
	}
}

static void
take_all(struct event *event, const struct take *takes, struct jval object,
    struct arena *arena)
{
	struct jval value;

	for (; takes->field != FIELD_END; takes++) {
		value = family_pick(object, takes->members);
		if (!jval_is_absent(value))
			take(event, takes->field, value, arena);
	}
}

/* What any sender may say, whatever it is; before and after its own table. */
static const struct take common_takes[] = {
    {FIELD_SPEAK, "speak"},
    {FIELD_SILENT, "silent"},
    {FIELD_TAGS, "tags"},
    {FIELD_URL, "url|link|click"},
    {FIELD_TIME, "time|timestamp|date|created_at"},
    {FIELD_MARKDOWN, "markdown|format"},
    {FIELD_END, NULL},
};

/* A text put together from parts, one a line. */
struct joined {
	struct buf buf;
};

static bool
join_begin(struct joined *joined, struct arena *arena)
{
	joined->buf = (struct buf){.data = arena_alloc(arena, JOINED_MAX),
	    .cap = JOINED_MAX,
	    .max = JOINED_MAX};
	return joined->buf.data != NULL;
}

static void
join(struct joined *joined, const char *between, struct span text)
{
	struct buf *buf = &joined->buf;

	if (text.len == 0 || buf->len + strlen(between) + 4 > buf->cap)
		return;
	if (buf->len > 0)
		buf_add_span(buf, span_of(between));
	buf_add_span(buf, span_sub(text, 0, buf->cap - buf->len));
}

/* --- jobs ----------------------------------------------------------------- */

static const struct take job_takes[] = {
    {FIELD_JOB_ID, "jobId|job_id|job.id|runId|run_id|id"},
    {FIELD_JOB_NAME,
	"jobName|job_name|job.name|name|unit|cron|job|jobId|job_id"},
    {FIELD_JOB_ERROR, "error|errorMessage|error_message"},
    {FIELD_JOB_EXIT, "exit_code|exitCode|exit_status|EXIT_STATUS|returncode"},
    {FIELD_JOB_DURATION, "duration_ms|durationMs"},
    {FIELD_JOB_NEXT, "nextRunAtMs|next_run|nextRun|next_run_at"},
    {FIELD_STATUS, "status|result|SERVICE_RESULT|conclusion"},
    {FIELD_SOURCE, "source|app|service|sender|from|agent|host"},
    {FIELD_TITLE,
	"title|subject|jobName|job_name|job.name|name|unit|cron|"
	"job|jobId|job_id"},
    {FIELD_TEXT,
	"summary|text|message|output|result_text|body|content|log|"
	"error|detail|description"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|runId|run_id"},
    {FIELD_END, NULL},
};

/* Something is said to be wrong: text, a filled object, true. */
static bool
says_error(struct jval value)
{
	enum jtype type = jval_type(value);

	if (type == JOBJECT || type == JARRAY)
		return jval_count(value) > 0;
	return (type == JSTRING && jval_raw(value).len > 2) || type == JTRUE;
}

static bool
unit_has_failed(struct jval object)
{
	struct jval result = family_pick(object, "result|SERVICE_RESULT");

	return has(object, "unit") && jval_type(result) == JSTRING &&
	    !jval_is(result, SPAN("success"));
}

static void
fail_job(struct event *event)
{
	event->status = STATUS_ERROR;
	event->speak = FLAG_YES;
	if (event->priority < PRIORITY_HIGH)
		event->priority = PRIORITY_HIGH;
}

static void
mend_job(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct jval ok = family_pick(object, "ok|success");

	(void)hints;
	(void)arena;
	event->is_job = true;
	if (event->source.len == 0)
		event->source = SPAN("cron");
	if (event->status == STATUS_ERROR ||
	    (event->has_exit_code && event->exit_code != 0) ||
	    jval_type(ok) == JFALSE || unit_has_failed(object) ||
	    says_error(family_pick(object, "error")))
		fail_job(event);
	else if (event->status == STATUS_NONE &&
	    (event->has_exit_code || jval_type(ok) == JTRUE))
		event->status = STATUS_OK;
	if (event->title.len == 0)
		event->title = event->job_name;
	if (event->text.len == 0)
		event->text = event->job_error;
}

static bool
knows_finished(struct jval object, const struct hints *hints)
{
	(void)hints;
	return jval_is(jval_member(object, "action"), SPAN("finished")) &&
	    has(object, "jobId|job_id");
}

/* "job" alone is a word of daily life: something must tell how it went. */
static bool
knows_job(struct jval object, const struct hints *hints)
{
	(void)hints;
	return has(object, "jobId|job_id|job|cron|unit") &&
	    (has(object,
		 "status|result|SERVICE_RESULT|exit_code|exitCode|"
		 "exit_status|EXIT_STATUS|error") ||
		!jval_is_absent(jval_member(object, "ok")));
}

/* --- alerts --------------------------------------------------------------- */

static const struct take alert_takes[] = {
    {FIELD_TITLE, "labels.alertname|annotations.summary"},
    {FIELD_TEXT,
	"annotations.summary|annotations.description|"
	"annotations.message|valueString|labels.alertname"},
    {FIELD_SEVERITY, "labels.severity"},
    {FIELD_STATUS, "status"},
    {FIELD_TIME, "startsAt"},
    {FIELD_URL, "generatorURL|panelURL|dashboardURL"},
    {FIELD_END, NULL},
};

static void
mend_alert(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct span instance = text_at(object, "labels.instance", arena);
	struct span print = text_at(object, "fingerprint", arena);
	struct joined joined;

	(void)hints;
	if (event->status == STATUS_RESOLVED)
		event->priority = PRIORITY_NORMAL;
	else if (event->priority == PRIORITY_UNSET)
		event->priority = PRIORITY_HIGH;
	if (instance.len > 0 && join_begin(&joined, arena)) {
		join(&joined, "", event->title);
		join(&joined, " on ", instance);
		event->title = buf_span(&joined.buf);
	}
	/* The same alert again is old news; that it is over is not. */
	if (print.len > 0 && join_begin(&joined, arena)) {
		join(&joined, "", print);
		join(&joined, ":", text_at(object, "status", arena));
		join(&joined, ":", text_at(object, "startsAt", arena));
		event->dedupe = buf_span(&joined.buf);
	}
}

const struct family family_alert = {
    "alert", EVENT_ALERT, NULL, alert_takes, mend_alert};

static const struct take kuma_takes[] = {
    {FIELD_TITLE, "monitor.name"},
    {FIELD_TEXT, "msg|heartbeat.msg"},
    {FIELD_URL, "monitor.url"},
    {FIELD_TIME, "heartbeat.time"},
    {FIELD_END, NULL},
};

static bool
knows_kuma(struct jval object, const struct hints *hints)
{
	(void)hints;
	return !jval_is_absent(jval_member(object, "heartbeat")) &&
	    !jval_is_absent(jval_member(object, "monitor")) &&
	    has(object, "msg|heartbeat.msg");
}

static void
mend_kuma(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	int64_t state = -1;

	(void)hints;
	(void)arena;
	jval_int(family_pick(object, "heartbeat.status"), &state);
	event->source = SPAN("uptime-kuma");
	if (state == 0) {
		event->status = STATUS_ERROR;
		event->priority = PRIORITY_HIGH;
	} else if (state == 1)
		event->status = STATUS_OK;
}

static const struct take monitor_takes[] = {
    {FIELD_TITLE, "monitor.name|monitor|title|name"},
    {FIELD_TEXT, "message|msg|errorMessage|description|url|status"},
    {FIELD_STATUS, "status"},
    {FIELD_SOURCE, "source|app"},
    {FIELD_URL, "url|monitor.url"},
    {FIELD_END, NULL},
};

static bool
knows_monitor(struct jval object, const struct hints *hints)
{
	(void)hints;
	return has(object, "status") &&
	    (has(object, "monitor") ||
		!jval_is_absent(jval_member(object, "triggered_alerts")));
}

static void
mend_monitor(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	(void)hints;
	(void)arena;
	if (event->source.len == 0)
		event->source =
		    has(object, "monitor") ? SPAN("monitor") : SPAN("beszel");
	if (event->status == STATUS_ERROR || event->status == STATUS_FIRING)
		event->priority = PRIORITY_HIGH;
}

/* --- code ----------------------------------------------------------------- */

static const struct take github_takes[] = {
    {FIELD_TEXT,
	"workflow_run.display_title|check_run.name|head_commit.message|"
	"review.body|comment.body|pull_request.title|issue.title|release.name|"
	"discussion.title|description|zen|ref"},
    {FIELD_URL,
	"workflow_run.html_url|check_run.html_url|review.html_url|"
	"comment.html_url|pull_request.html_url|issue.html_url|"
	"release.html_url|compare|repository.html_url"},
    {FIELD_STATUS, "workflow_run.conclusion|check_run.conclusion|state"},
    {FIELD_END, NULL},
};

static bool
knows_github(struct jval object, const struct hints *hints)
{
	return hints->github_event.len > 0 ||
	    (has(object, "repository.full_name") &&
		has(object, "sender.login"));
}

static void
mend_github(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct joined joined;

	event->source = SPAN("github");
	event->dedupe = hints->github_delivery;
	event->tag_count = 0;
	if (join_begin(&joined, arena)) {
		join(&joined, "",
		    text_at(object, "repository.full_name", arena));
		join(&joined, ": ", hints->github_event);
		join(&joined, " ", text_at(object, "action", arena));
		join(&joined, " by ", text_at(object, "sender.login", arena));
		event->title = buf_span(&joined.buf);
	}
	if (event->status == STATUS_ERROR) {
		event->is_job = true;
		event->job_id = text_at(object, "workflow_run.id", arena);
		event->job_name =
		    text_at(object, "workflow_run.name|check_run.name", arena);
		event->job_error = text_at(object,
		    "workflow_run.conclusion|check_run.conclusion", arena);
		fail_job(event);
	}
}

static const struct take gitlab_takes[] = {
    {FIELD_TEXT,
	"object_attributes.title|object_attributes.note|commit.message|"
	"build_name|object_attributes.detailed_status|"
	"object_attributes.status|ref|message"},
    {FIELD_URL, "object_attributes.url|project.web_url"},
    {FIELD_STATUS, "object_attributes.status|build_status"},
    {FIELD_END, NULL},
};

static bool
knows_gitlab(struct jval object, const struct hints *hints)
{
	return has(object, "object_kind") &&
	    (hints->gitlab_event.len > 0 ||
		has(object,
		    "project.path_with_namespace|project_name|"
		    "project_id"));
}

static void
mend_gitlab(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct joined joined;

	(void)hints;
	event->source = SPAN("gitlab");
	if (join_begin(&joined, arena)) {
		join(&joined, "",
		    text_at(object, "project.path_with_namespace|project_name",
			arena));
		join(&joined, ": ", text_at(object, "object_kind", arena));
		join(&joined, " ",
		    text_at(object, "object_attributes.action", arena));
		join(&joined, " by ",
		    text_at(object, "user.username|user_username|user_name",
			arena));
		event->title = buf_span(&joined.buf);
	}
	if (event->status == STATUS_ERROR) {
		event->is_job = true;
		event->job_id =
		    text_at(object, "object_attributes.id|build_id", arena);
		event->job_name =
		    text_at(object, "build_name|object_attributes.name", arena);
		fail_job(event);
	}
}

/* --- messages ------------------------------------------------------------- */

static const struct take slack_takes[] = {
    {FIELD_SOURCE, "username|channel|source"},
    {FIELD_TITLE, "title"},
    {FIELD_URL, "attachments.title_link"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_END, NULL},
};

static bool
knows_slack(struct jval object, const struct hints *hints)
{
	(void)hints;
	return jval_type(jval_member(object, "attachments")) == JARRAY ||
	    jval_type(jval_member(object, "blocks")) == JARRAY;
}

/* Adds these members of each element, a line each. */
static void
join_each(struct joined *joined, struct jval array, const char *const *members,
    struct arena *arena)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, each;
	size_t i;

	if (jval_type(array) != JARRAY)
		return;
	while (jwalk_next(&walk, &name, &each)) {
		for (i = 0; members[i] != NULL; i++)
			join(joined, "\n", text_at(each, members[i], arena));
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
	if (!join_begin(&joined, arena))
		return;
	join(&joined, "", text_at(object, "text", arena));
	join_each(
	    &joined, jval_member(object, "attachments"), of_attachment, arena);
	join_each(&joined, jval_member(object, "blocks"), of_block, arena);
	event->text = buf_span(&joined.buf);
	event->markdown = true;
}

static const struct take discord_takes[] = {
    {FIELD_SOURCE, "username|source"},
    {FIELD_END, NULL},
};

static bool
knows_discord(struct jval object, const struct hints *hints)
{
	(void)hints;
	return jval_type(jval_member(object, "embeds")) == JARRAY ||
	    (has(object, "content") && has(object, "username") &&
		!has(object, "text|message"));
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
	if (!join_begin(&joined, arena))
		return;
	join(&joined, "", text_at(object, "content", arena));
	join_each(&joined, jval_member(object, "embeds"), of_embed, arena);
	event->text = buf_span(&joined.buf);
	event->markdown = true;
}

static const struct take ntfy_takes[] = {
    {FIELD_TITLE, "title"},
    {FIELD_TEXT, "message"},
    {FIELD_PRIORITY_5, "priority"},
    {FIELD_URL, "click|attach.url|attach|attachment.url"},
    {FIELD_DEDUPE, "id"},
    {FIELD_END, NULL},
};

static bool
knows_ntfy(struct jval object, const struct hints *hints)
{
	(void)hints;
	return jval_type(jval_member(object, "topic")) == JSTRING &&
	    (has(object, "message") || has(object, "title"));
}

static void
mend_ntfy(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct joined joined;

	(void)hints;
	if (!join_begin(&joined, arena))
		return;
	join(&joined, "", SPAN("ntfy:"));
	join(&joined, "", text_at(object, "topic", arena));
	event->source = buf_span(&joined.buf);
}

static const struct take gotify_takes[] = {
    {FIELD_SOURCE, "source|app|appname"},
    {FIELD_TITLE, "title"},
    {FIELD_TEXT, "message"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_TIME, "date"},
    {FIELD_END, NULL},
};

static bool
knows_gotify(struct jval object, const struct hints *hints)
{
	(void)hints;
	return has(object, "message") &&
	    (has(object, "appid") ||
		jval_type(jval_member(object, "extras")) == JOBJECT);
}

static void
mend_gotify(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct jval type =
	    family_pick(object, "extras.client::display.contentType");

	(void)hints;
	if (event->source.len == 0)
		event->source = SPAN("gotify");
	event->url =
	    text_at(object, "extras.client::notification.click.url", arena);
	event->markdown = jval_is(type, SPAN("text/markdown"));
}

static const struct take assistant_takes[] = {
    {FIELD_SOURCE, "source"},
    {FIELD_TITLE, "title"},
    {FIELD_TEXT, "message"},
    {FIELD_PRIORITY, "data.priority|priority"},
    {FIELD_URL, "data.clickAction|data.url"},
    {FIELD_DEDUPE, "dedupe"},
    {FIELD_END, NULL},
};

static bool
knows_assistant(struct jval object, const struct hints *hints)
{
	(void)hints;
	return has(object, "message") &&
	    has(object,
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
	if (event->tag_count == 0 && has(object, "data.tag"))
		event->tags[event->tag_count++] =
		    text_at(object, "data.tag", arena);
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
	return (has(object, "text") && has(object, "mode")) ||
	    (has(object, "message") && has(object, "name") &&
		has(object, "sessionKey|wakeMode|deliver|channel|agentId"));
}

static const struct take cloud_takes[] = {
    {FIELD_SOURCE, "source"},
    {FIELD_TITLE, "subject|type"},
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
	return has(object, "specversion") && has(object, "id") &&
	    has(object, "source") && has(object, "type");
}

/* What it carries may be of a known kind itself; then it only travels in it. */
static void
mend_cloud(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct jval data = jval_member(object, "data");
	const struct family *inner;
	struct event inside = {.source = event->source};
	struct joined joined;

	if (jval_type(data) == JOBJECT && !knows_cloud(data, hints)) {
		inner = family_of(data, hints);
		if (inner->knows != NULL) {
			family_fill(&inside, inner, data, hints, arena);
			inside.source = event->source;
			if (event->has_time)
				inside.time_ms = event->time_ms;
			inside.has_time |= event->has_time;
			*event = inside;
		}
	}
	if (!join_begin(&joined, arena))
		return;
	join(&joined, "", event->source);
	join(&joined, "#", text_at(object, "id", arena));
	event->dedupe = buf_span(&joined.buf);
}

static bool
knows_rpc(struct jval object, const struct hints *hints)
{
	(void)hints;
	return has(object, "jsonrpc") && has(object, "method");
}

static const struct take generic_takes[] = {
    {FIELD_SOURCE,
	"source|app|service|sender|from|agent|channel|topic|username"},
    {FIELD_TITLE, "title|subject|summary|name"},
    {FIELD_TEXT,
	"text|message|msg|body|content|output|description|detail|"
	"error|summary"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_STATUS, "status"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|idempotency_key|id"},
    {FIELD_END, NULL},
};

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

static const struct family families[] = {
    {"cloudevents", EVENT_MESSAGE, knows_cloud, cloud_takes, mend_cloud},
    {"finished-job", EVENT_JOB, knows_finished, job_takes, mend_job},
    {"github", EVENT_CODE, knows_github, github_takes, mend_github},
    {"gitlab", EVENT_CODE, knows_gitlab, gitlab_takes, mend_gitlab},
    {"job", EVENT_JOB, knows_job, job_takes, mend_job},
    {"uptime-kuma", EVENT_ALERT, knows_kuma, kuma_takes, mend_kuma},
    {"slack", EVENT_MESSAGE, knows_slack, slack_takes, mend_slack},
    {"discord", EVENT_MESSAGE, knows_discord, discord_takes, mend_discord},
    {"ntfy", EVENT_MESSAGE, knows_ntfy, ntfy_takes, mend_ntfy},
    {"gotify", EVENT_MESSAGE, knows_gotify, gotify_takes, mend_gotify},
    {"monitor", EVENT_ALERT, knows_monitor, monitor_takes, mend_monitor},
    {"home-assistant", EVENT_MESSAGE, knows_assistant, assistant_takes,
	mend_assistant},
    {"hooks", EVENT_MESSAGE, knows_hooks, hooks_takes, NULL},
    {"json-rpc", EVENT_MESSAGE, knows_rpc, generic_takes, mend_rpc},
    {"generic", EVENT_MESSAGE, NULL, generic_takes, NULL},
};

const struct family *
family_of(struct jval object, const struct hints *hints)
{
	const struct family *family = families;

	while (family->knows != NULL && !family->knows(object, hints))
		family++;
	return family;
}

void
family_fill(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena)
{
	event->kind = family->kind;
	take_all(event, family->takes, object, arena);
	take_all(event, common_takes, object, arena);
	if (family->mend != NULL)
		family->mend(event, object, hints, arena);
}
