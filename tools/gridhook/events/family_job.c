/* Scheduled jobs: what runs by itself and tells how it went. */
#include "tools/gridhook/events/family_priv.h"

#include "common/count.h"

/* Members with the name of a job, the surest first. */
#define NAME_MEMBERS \
	"jobName|job_name|job.name|job.jobName|job.job_name|" \
	"execution.job.name|detail.jobName|name|unit|cron|taskName|" \
	"task_name|dag_id|workflow|pipeline|task|script|t\303\242che|tache|" \
	"job.id|job|jobId|job_id|nom|data.jobName|data.job_name|data.job|" \
	"data.name|data.id|payload.job|payload.name|event.name"

static const struct take job_takes[] = {
    {FIELD_JOB_ID,
	"jobId|job_id|job.id|job.jobId|job.job_id|detail.jobId|runId|run_id|"
	"executionId|id"},
    {FIELD_JOB_NAME, NAME_MEMBERS},
    {FIELD_JOB_ERROR,
	"error|errorMessage|error_message|failureReason|failure_reason|"
	"job.error|execution.error|run.error|detail.statusReason|erreur|"
	"data.error|data.message|payload.error"},
    {FIELD_JOB_EXIT,
	"exit_code|exitCode|exit_status|EXIT_STATUS|returncode|return_code|"
	"returnCode|rc|exitStatus|exitcode|retcode|job.exit_code|job.exitCode|"
	"run.exit_code|run.exitCode|data.exit_code|data.exitCode"},
    {FIELD_JOB_DURATION, "duration_ms|durationMs"},
    {FIELD_JOB_NEXT, "nextRunAtMs|next_run|nextRun|next_run_at"},
    {FIELD_STATUS,
	"status|result|SERVICE_RESULT|conclusion|state|outcome|job.status|"
	"job.result|job.state|build.status|execution.status|run.status|"
	"run.state|detail.status|statut|\303\251tat|etat|r\303\251sultat|"
	"resultat|data.status|data.state|data.result"},
    {FIELD_SOURCE, "source|app|service|sender|from|agent|host"},
    {FIELD_TITLE, "title|subject|" NAME_MEMBERS},
    {FIELD_TEXT,
	"summary|text|message|output|result_text|body|content|log|"
	"error|detail.statusReason|job.error|build.log|detail|description|"
	"erreur|data.message|data.error|data.output"},
    {FIELD_PRIORITY, "priority"},
    {FIELD_DEDUPE, "dedupe|dedupe_key|runId|run_id"},
    {FIELD_ABOUT, "about|dedup_key|dedupe_key|alert_id|id|runId|run_id"},
    {FIELD_END, NULL},
};

/* Members that name a job: an object is one with any of them and an outcome. */
#define NAMES \
	"jobId|job_id|jobName|job_name|job|cron|unit|taskName|task_name|" \
	"dag_id|detail.jobName|detail.jobId|execution.job|t\303\242che|tache"

/* Names of much else, too: they tell of a job that failed only. */
#define WEAK_NAMES "name|task|workflow|pipeline|script|nom"

/*
 * Objects that may say how a job went, beside the object itself. Those behind
 * PARTS_SURE hold anything where the object does not name a job.
 */
#define PARTS_SURE 7
static const char *const parts[] = {"job", "build", "execution", "run",
    "detail", "state", "status", "result", "outcome", "data", "payload",
    "event"};

/* Members that say in words how it went; all are looked at. */
static const char *const told_by[] = {"status", "result", "state", "outcome",
    "conclusion", "SERVICE_RESULT", "job_status", "jobStatus", "run_status",
    "result_state", "resultState", "lastStatus", "last_status", "statut",
    "\303\251tat", "etat", "r\303\251sultat", "resultat"};

/* Members that say what came to pass: "job.failed", "jobs.on_failure". */
static const char *const happened[] = {"event", "event_type", "eventType",
    "event_name", "eventName", "trigger", "type", "action", "phase", "kind"};

/* A number of 0, "none", an empty list: an error that is none. */
static bool
is_no(struct jval value, struct arena *arena)
{
	static const char *const words[] = {"", "none", "null", "false", "no",
	    "0", "-", "n/a", "no error", "no errors", "non", "aucun", "aucune",
	    "aucune erreur"};
	int64_t number;

	switch (jval_type(value)) {
	case JTRUE:
		return false;
	case JSTRING:
		for (size_t i = 0; i < COUNT(words); i++)
			if (family_word_is(jval_text(value, arena), words[i]))
				return true;
		return false;
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
denies(struct jval object, const char *member, struct arena *arena)
{
	struct jval value = jval_member(object, member);

	return jval_type(value) == JFALSE ||
	    (jval_type(value) == JSTRING &&
		family_word_is(jval_text(value, arena), "false"));
}

static bool
affirms(struct jval object, const char *members, struct arena *arena)
{
	return !is_no(family_pick(object, members), arena);
}

/* One of these members says in words that it failed. */
static bool
one_fails(struct jval object, const char *const *members, size_t count,
    struct arena *arena)
{
	struct jval value;

	for (size_t i = 0; i < count; i++) {
		value = jval_member(object, members[i]);
		if (jval_type(value) == JSTRING &&
		    family_words_fail(jval_text(value, arena)))
			return true;
	}
	return false;
}

/* systemd gives a signal's name in place of the exit status. */
static bool
has_signal_as_status(struct jval object)
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

/* A signal by its name: "signal" alone may be anything. */
static bool
names_signal(struct jval object, struct arena *arena)
{
	struct span text = family_text_at(object, "signal", arena);

	return span_eq_nocase(span_sub(text, 0, 3), SPAN("sig"));
}

/* Members that tell of an outcome and nothing else. */
static bool
state_fails(struct jval object, struct arena *arena)
{
	static const char *const denied[] = {"status", "result", "ok",
	    "success", "succeeded", "successful", "passed", "succes",
	    "succ\303\250s"};

	for (size_t i = 0; i < COUNT(denied); i++)
		if (denies(object, denied[i], arena))
			return true;
	return one_fails(object, told_by, COUNT(told_by), arena) ||
	    names_signal(object, arena) ||
	    affirms(object,
		"failed|failure|failures|timed_out|timedOut|crashed|"
		"oom_killed|oomKilled|core_dumped|coreDumped",
		arena);
}

/* Members that tell of an outcome where the object is a job's. */
static bool
part_fails(struct jval object, struct arena *arena)
{
	return state_fails(object, arena) ||
	    one_fails(object, happened, COUNT(happened), arena) ||
	    affirms(object, "error", arena) ||
	    affirms(object, "errors|erreur|erreurs", arena) ||
	    affirms(object,
		"signal|term_signal|termSignal|exit_signal|exitSignal|"
		"killed|killed_by|killedBy|aborted",
		arena) ||
	    has_signal_as_status(object);
}

/* Whatever else it says: one word of failure, anywhere, is one. */
static bool
any_fails(struct jval object,
    bool (*fails)(struct jval part, struct arena *arena), size_t part_count,
    struct arena *arena)
{
	struct jval part;

	if (fails(object, arena))
		return true;
	for (size_t i = 0; i < part_count; i++) {
		part = jval_member(object, parts[i]);
		if (jval_type(part) == JOBJECT && fails(part, arena))
			return true;
	}
	return false;
}

/* "job.failed", "backup_error": it happened to a job, and is a failure. */
static struct jval
happening(struct jval object, struct arena *arena)
{
	struct jval inner = jval_member(object, "event");
	struct jval value;
	struct span text;

	for (size_t i = 0; i < COUNT(happened); i++) {
		value = jval_member(object, happened[i]);
		text = jval_text(value, arena);
		if (text.len > 0 && family_words_name_job(text) &&
		    family_words_fail(text))
			return value;
	}
	if (jval_type(inner) == JOBJECT)
		return happening(inner, arena);
	return (struct jval){object.doc, NULL};
}

/* Something tells how it went. */
static bool
tells(struct jval object)
{
	return family_has(object,
		   "status|result|SERVICE_RESULT|exit_code|exitCode|"
		   "exit_status|EXIT_STATUS|returncode|return_code|returnCode|"
		   "rc|exitStatus|exitcode|retcode|error|errors|ok|success|"
		   "succeeded|successful|passed|failed|failure|statut|"
		   "\303\251tat|r\303\251sultat|resultat") ||
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
	struct jval what = happening(object, arena);

	(void)hints;
	event->is_job = true;
	if (event->source.len == 0)
		event->source = SPAN("cron");
	if (event->status == STATUS_ERROR ||
	    (event->has_exit_code && event->exit_code != 0) ||
	    unit_has_failed(object) || !jval_is_absent(what) ||
	    any_fails(object, part_fails, COUNT(parts), arena))
		family_fail_job(event);
	else if (event->status == STATUS_NONE &&
	    (event->has_exit_code ||
		affirms(object,
		    "ok|success|succeeded|successful|passed|job.ok|job.success",
		    arena)))
		event->status = STATUS_OK;
	if (event->job_name.len == 0)
		event->job_name = jval_text(what, arena);
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
	return family_has(object, NAMES) &&
	    (tells(object) ||
		any_fails(object, part_fails, COUNT(parts), hints->arena));
}

/*
 * {"name":"nightly","status":"failed"}, {"type":"job.failed","data":{…}}: after
 * all who use a name otherwise.
 */
static bool
knows_named(struct jval object, const struct hints *hints)
{
	int64_t exit_code = 0;

	if (!jval_is_absent(happening(object, hints->arena)))
		return true;
	if (!family_has(object, WEAK_NAMES))
		return false;
	jval_int(
	    family_pick(object, "exit_code|exitCode|returncode"), &exit_code);
	return exit_code != 0 ||
	    any_fails(object, state_fails, PARTS_SURE, hints->arena);
}

const struct family family_finished_job = {
    "finished-job", EVENT_JOB, knows_finished, job_takes, mend_job, NULL};

const struct family family_job = {
    "job", EVENT_JOB, knows_job, job_takes, mend_job, NULL};

const struct family family_named_job = {
    "named-job", EVENT_JOB, knows_named, job_takes, mend_job, NULL};
