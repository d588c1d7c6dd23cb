/* Scheduled jobs, alerts and monitors: what runs by itself and tells how. */
#include "tools/gridhook/family_inner.h"

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

	return family_has(object, "unit") && jval_type(result) == JSTRING &&
	    !jval_is(result, SPAN("success"));
}

void
family_fail_job(struct event *event)
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
		family_fail_job(event);
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
	    family_has(object, "jobId|job_id");
}

/* "job" alone is a word of daily life: something must tell how it went. */
static bool
knows_job(struct jval object, const struct hints *hints)
{
	(void)hints;
	return family_has(object, "jobId|job_id|job|cron|unit") &&
	    (family_has(object,
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

/* What is wrong, and what that means, where both are told. */
static void
add_description(struct event *event, struct jval object, struct arena *arena)
{
	struct span more =
	    family_text_at(object, "annotations.description", arena);
	struct joined joined;

	if (more.len == 0 || span_eq(more, event->text) ||
	    !family_join_begin(&joined, arena))
		return;
	family_join(&joined, "", event->text);
	family_join(&joined, "\n", more);
	event->text = buf_span(&joined.buf);
}

static void
mend_alert(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct span instance = family_text_at(object, "labels.instance", arena);
	struct span print = family_text_at(object, "fingerprint", arena);
	struct joined joined;

	(void)hints;
	add_description(event, object, arena);
	if (event->status == STATUS_RESOLVED)
		event->priority = PRIORITY_NORMAL;
	else if (event->priority == PRIORITY_UNSET)
		event->priority = PRIORITY_HIGH;
	if (instance.len > 0 && family_join_begin(&joined, arena)) {
		family_join(&joined, "", event->title);
		family_join(&joined, " on ", instance);
		event->title = buf_span(&joined.buf);
	}
	/* The same alert again is old news; that it is over is not. */
	if (print.len > 0 && family_join_begin(&joined, arena)) {
		family_join(&joined, "", print);
		family_join(
		    &joined, ":", family_text_at(object, "status", arena));
		family_join(
		    &joined, ":", family_text_at(object, "startsAt", arena));
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
	    family_has(object, "msg|heartbeat.msg");
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
	return family_has(object, "status") &&
	    (family_has(object, "monitor") ||
		!jval_is_absent(jval_member(object, "triggered_alerts")));
}

static void
mend_monitor(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	(void)hints;
	(void)arena;
	if (event->source.len == 0)
		event->source = family_has(object, "monitor") ? SPAN("monitor")
							      : SPAN("beszel");
	if (event->status == STATUS_ERROR || event->status == STATUS_FIRING)
		event->priority = PRIORITY_HIGH;
}

const struct family family_finished_job = {
    "finished-job", EVENT_JOB, knows_finished, job_takes, mend_job};

const struct family family_job = {
    "job", EVENT_JOB, knows_job, job_takes, mend_job};

const struct family family_uptime_kuma = {
    "uptime-kuma", EVENT_ALERT, knows_kuma, kuma_takes, mend_kuma};

const struct family family_monitor = {
    "monitor", EVENT_ALERT, knows_monitor, monitor_takes, mend_monitor};
