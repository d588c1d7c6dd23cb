/* Scheduled jobs, alerts and monitors: what runs by itself and tells how. */
#include "tools/gridhook/events/family_priv.h"

#include <ctype.h>

/* --- jobs ----------------------------------------------------------------- */

static const struct take job_takes[] = {
    {FIELD_JOB_ID,
	"jobId|job_id|job.id|job.jobId|job.job_id|detail.jobId|runId|run_id|"
	"executionId|id"},
    {FIELD_JOB_NAME,
	"jobName|job_name|job.name|job.jobName|job.job_name|"
	"execution.job.name|detail.jobName|name|unit|cron|taskName|"
	"task_name|dag_id|workflow|pipeline|task|script|job.id|job|jobId|"
	"job_id"},
    {FIELD_JOB_ERROR,
	"error|errorMessage|error_message|failureReason|failure_reason|"
	"job.error|execution.error|run.error|detail.statusReason"},
    {FIELD_JOB_EXIT,
	"exit_code|exitCode|exit_status|EXIT_STATUS|returncode|return_code|"
	"returnCode|rc|job.exit_code|job.exitCode|run.exit_code|run.exitCode"},
    {FIELD_JOB_DURATION, "duration_ms|durationMs"},
    {FIELD_JOB_NEXT, "nextRunAtMs|next_run|nextRun|next_run_at"},
    {FIELD_STATUS,
	"status|result|SERVICE_RESULT|conclusion|state|outcome|job.status|"
	"job.result|job.state|build.status|execution.status|run.status|"
	"run.state|detail.status"},
    {FIELD_SOURCE, "source|app|service|sender|from|agent|host"},
    {FIELD_TITLE,
	"title|subject|jobName|job_name|job.name|job.jobName|job.job_name|"
	"execution.job.name|detail.jobName|name|unit|cron|taskName|"
	"task_name|dag_id|workflow|pipeline|task|script|job.id|job|jobId|"
	"job_id"},
    {FIELD_TEXT,
	"summary|text|message|output|result_text|body|content|log|"
	"error|detail.statusReason|job.error|build.log|detail|description"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|runId|run_id"},
    {FIELD_END, NULL},
};

/* Members that name a job: an object is one with any of them and an outcome. */
#define NAMES \
	"jobId|job_id|jobName|job_name|job|cron|unit|taskName|task_name|" \
	"dag_id|detail.jobName|detail.jobId|execution.job"

/* Names of much else, too: they tell of a job that failed only. */
#define WEAK_NAMES "name|task|workflow|pipeline|script"

/* Where it may stand how a job went, beside the object itself. */
static const char *const parts[] = {
    "job", "build", "execution", "run", "detail", "state", "status"};

/* Members that say in words how it went; all are looked at. */
static const char *const told_by[] = {"status", "result", "state", "outcome",
    "conclusion", "SERVICE_RESULT", "job_status", "jobStatus", "run_status",
    "result_state", "resultState", "lastStatus", "last_status"};

/* Members that say what came to pass: "job.failed", "jobs.on_failure". */
static const char *const happened[] = {
    "event", "event_type", "eventType", "trigger", "type", "action", "phase"};

/* --- words of failure ----------------------------------------------------- */

#define WORDS_MAX 256 /* bytes: more is no status but prose */

/* Anywhere in a word: "OOMKilled", "errored", "DeadlineExceeded". */
static const char *const bad_parts[] = {"fail", "error", "kill", "abort",
    "crash", "timeout", "timedout", "exceeded", "unsuccess", "terminat",
    "interrupt", "stall", "expire", "evict", "preempt", "panic", "fatal",
    "lost", "broken", "corrupt", "overdue", "unhealthy", "reject", "refused",
    "incomplete", "abnormal", "abend"};

/* Words by themselves: "oom-kill", "timed_out", "OUT_OF_MEMORY", "DEADLINE". */
static const char *const bad_words[] = {"oom", "memory", "ko", "nok", "dead",
    "err", "missed", "stuck", "late", "timed", "deadline", "dump", "watchdog",
    "signal"};

static const char *const good_words[] = {"ok", "okay", "success", "successful",
    "successfully", "succeeded", "completed", "complete", "finished", "done",
    "passed", "good"};

static const char *const negations[] = {
    "no", "not", "without", "zero", "0", "never", "any"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
is_among(struct span word, const char *const *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (span_eq_nocase(word, span_of(list[i])))
			return true;
	}
	return false;
}

static bool
has_bad_part(struct span word)
{
	struct span part;
	size_t i, at;

	for (i = 0; i < COUNT(bad_parts); i++) {
		part = span_of(bad_parts[i]);
		for (at = 0; at + part.len <= word.len; at++) {
			if (span_eq_nocase(span_sub(word, at, part.len), part))
				return true;
		}
	}
	return false;
}

/* The next run of letters and digits; false at the end. */
static bool
next_word(struct span *word, struct span *rest)
{
	size_t from = 0, to;

	while (from < rest->len && !isalnum((unsigned char)rest->ptr[from]))
		from++;
	for (to = from; to < rest->len && isalnum((unsigned char)rest->ptr[to]);
	     to++)
		;
	*word = span_sub(*rest, from, to - from);
	*rest = span_from(*rest, to);
	return word->len > 0;
}

/* "FAILED", "Ended Not OK", "failed-with-retry"; not "completed, 0 errors". */
static bool
words_fail(struct span text)
{
	bool denied = false, bad;
	struct span word;

	if (text.len > WORDS_MAX)
		return false;
	while (next_word(&word, &text)) {
		bad = has_bad_part(word) ||
		    is_among(word, bad_words, COUNT(bad_words));
		if (denied ? is_among(word, good_words, COUNT(good_words))
			   : bad)
			return true;
		denied = is_among(word, negations, COUNT(negations));
	}
	return false;
}

/* --- what an object says -------------------------------------------------- */

/* A string's text as it was sent: what is escaped in it matters to no word. */
static struct span
bare(struct jval string)
{
	struct span raw = jval_raw(string);

	return span_sub(raw, 1, raw.len - 2);
}

static bool
is_no(struct jval value)
{
	static const char *const words[] = {
	    "", "none", "null", "false", "no", "0", "-", "n/a", "no error"};
	int64_t number;

	switch (jval_type(value)) {
	case JTRUE:
		return false;
	case JSTRING:
		return is_among(bare(value), words, COUNT(words));
	case JARRAY:
	case JOBJECT:
		return jval_count(value) == 0;
	case JNUMBER:
		return jval_int(value, &number) && number == 0;
	default:
		return true;
	}
}

/* false or "false"; a 0 may be a count. */
static bool
denies(struct jval object, const char *member)
{
	struct jval value = jval_member(object, member);

	return jval_type(value) == JFALSE ||
	    (jval_type(value) == JSTRING &&
		span_eq_nocase(bare(value), SPAN("false")));
}

static bool
affirms(struct jval object, const char *members)
{
	return !is_no(family_pick(object, members));
}

/* One of these members says in words that it failed. */
static bool
one_fails(struct jval object, const char *const *members, size_t count)
{
	struct jval value;
	size_t i;

	for (i = 0; i < count; i++) {
		value = jval_member(object, members[i]);
		if (jval_type(value) == JSTRING && words_fail(bare(value)))
			return true;
	}
	return false;
}

/* systemd gives a signal's name in place of the exit status. */
static bool
has_ended_by_signal(struct jval object)
{
	struct jval status = family_pick(object, "exit_status|EXIT_STATUS");
	int64_t number;

	return jval_type(status) == JSTRING && !family_int(status, &number) &&
	    !jval_is(
		family_pick(object, "result|SERVICE_RESULT"), SPAN("success"));
}

static bool
unit_has_failed(struct jval object)
{
	struct jval result = family_pick(object, "result|SERVICE_RESULT");

	return family_has(object, "unit") && jval_type(result) == JSTRING &&
	    !jval_is(result, SPAN("success"));
}

/* Members that tell of an outcome and nothing else. */
static bool
state_fails(struct jval object)
{
	return one_fails(object, told_by, COUNT(told_by)) ||
	    denies(object, "status") || denies(object, "result") ||
	    denies(object, "ok") || denies(object, "success") ||
	    denies(object, "succeeded") || denies(object, "successful") ||
	    denies(object, "passed") || affirms(object, "failed") ||
	    affirms(object, "failure");
}

static bool
part_fails(struct jval object)
{
	return state_fails(object) ||
	    one_fails(object, happened, COUNT(happened)) ||
	    affirms(object, "error") || affirms(object, "errors") ||
	    has_ended_by_signal(object);
}

/* Whatever else it says: one word of failure, anywhere, is one. */
static bool
any_fails(struct jval object, bool (*fails)(struct jval part))
{
	struct jval part;
	size_t i;

	if (fails(object))
		return true;
	for (i = 0; i < COUNT(parts); i++) {
		part = jval_member(object, parts[i]);
		if (jval_type(part) == JOBJECT && fails(part))
			return true;
	}
	return false;
}

/* Something tells how it went. */
static bool
tells(struct jval object)
{
	return family_has(object,
		   "status|result|SERVICE_RESULT|exit_code|exitCode|"
		   "exit_status|EXIT_STATUS|returncode|return_code|returnCode|"
		   "rc|error|errors|ok|success|succeeded|successful|passed|"
		   "failed|failure") ||
	    family_has(object,
		"job.status|job.result|job.state|job.success|job.ok|"
		"job.exit_code|job.exitCode|job.error|execution.status|"
		"run.status|detail.status|job_status|jobStatus|run_status|"
		"result_state|resultState|conclusion");
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
	(void)hints;
	(void)arena;
	event->is_job = true;
	if (event->source.len == 0)
		event->source = SPAN("cron");
	if (event->status == STATUS_ERROR ||
	    (event->has_exit_code && event->exit_code != 0) ||
	    unit_has_failed(object) || any_fails(object, part_fails))
		family_fail_job(event);
	else if (event->status == STATUS_NONE &&
	    (event->has_exit_code ||
		affirms(object, "ok|success|succeeded|successful|passed") ||
		affirms(object, "job.ok|job.success")))
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
	return family_has(object, NAMES) &&
	    (tells(object) || any_fails(object, part_fails));
}

/* {"name":"nightly","status":"failed"}: after all who use a name otherwise. */
static bool
knows_named(struct jval object, const struct hints *hints)
{
	int64_t exit_code = 0;

	(void)hints;
	if (!family_has(object, WEAK_NAMES))
		return false;
	jval_int(
	    family_pick(object, "exit_code|exitCode|returncode"), &exit_code);
	return exit_code != 0 || any_fails(object, state_fails);
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
    "alert", EVENT_ALERT, NULL, alert_takes, mend_alert, NULL};

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
    "finished-job", EVENT_JOB, knows_finished, job_takes, mend_job, NULL};

const struct family family_job = {
    "job", EVENT_JOB, knows_job, job_takes, mend_job, NULL};

const struct family family_named_job = {
    "named-job", EVENT_JOB, knows_named, job_takes, mend_job, NULL};

const struct family family_uptime_kuma = {
    "uptime-kuma", EVENT_ALERT, knows_kuma, kuma_takes, mend_kuma, NULL};

const struct family family_monitor = {
    "monitor", EVENT_ALERT, knows_monitor, monitor_takes, mend_monitor, NULL};
