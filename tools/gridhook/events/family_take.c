/*
 * From a sender's members to an event's fields: what a row of a table does.
 */
#include "tools/gridhook/events/family_priv.h"

#include <assert.h>
#include <stdlib.h>

#include "common/count.h"
#include "common/date.h"
#include "common/num.h"

#define JOINED_MAX (EVENT_TEXT_MAX * 2)

/* --- reading members ------------------------------------------------------ */

static struct jval
first_of(struct jval array)
{
	struct jwalk walk = jwalk_begin(array);
	struct jval name, first;

	if (jwalk_next(&walk, &name, &first))
		return first;
	return (struct jval){array.doc, NULL};
}

static struct jval
pick_path(struct jval object, struct span path)
{
	struct span name;
	char text[64];

	while (!jval_is_absent(object) && span_cut(&name, &path, '.')) {
		if (!span_copy(text, sizeof(text), name))
			return (struct jval){object.doc, NULL};
		if (jval_type(object) == JARRAY && span_eq(name, SPAN("0")))
			object = first_of(object);
		else
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

	assert(members != NULL && members[0] != '\0');
	while (span_cut(&path, &rest, '|')) {
		value = pick_path(object, path);
		if (!jval_is_absent(value) && !jval_is(value, SPAN("")))
			return value;
	}
	return none;
}

bool
family_has(struct jval object, const char *members)
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

struct span
family_text_at(struct jval object, const char *members, struct arena *arena)
{
	assert(arena != NULL);
	return family_text(family_pick(object, members), arena);
}

/* Also a numeric string, as environments give it. */
bool
family_int(struct jval value, int64_t *out)
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
    {"none", PRIORITY_LOW},
    {"fatal", PRIORITY_CRITICAL},
    {"emergency", PRIORITY_CRITICAL},
    {"alert", PRIORITY_CRITICAL},
    {"crit", PRIORITY_CRITICAL},
    {"err", PRIORITY_HIGH},
    {"major", PRIORITY_HIGH},
    {"minor", PRIORITY_NORMAL},
    {"medium", PRIORITY_NORMAL},
    {"moderate", PRIORITY_NORMAL},
    {"warn", PRIORITY_NORMAL},
    {"notice", PRIORITY_NORMAL},
    {"low", PRIORITY_LOW},
    {"information", PRIORITY_LOW},
    {"informational", PRIORITY_LOW},
    {"debug", PRIORITY_MIN},
    {"trace", PRIORITY_MIN},
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
    {"successful", STATUS_OK},
    {"up", STATUS_OK},
    {"recovered", STATUS_RESOLVED},
    {"resolved", STATUS_RESOLVED},
    {"error", STATUS_ERROR},
    {"failed", STATUS_ERROR},
    {"failure", STATUS_ERROR},
    {"fail", STATUS_ERROR},
    {"errored", STATUS_ERROR},
    {"fatal", STATUS_ERROR},
    {"killed", STATUS_ERROR},
    {"oomkilled", STATUS_ERROR},
    {"terminated", STATUS_ERROR},
    {"timedout", STATUS_ERROR},
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
    {"unstable", STATUS_WARNING},
    {"firing", STATUS_FIRING},
    {"alerting", STATUS_FIRING},
    {"triggered", STATUS_FIRING},
    {"skipped", STATUS_SKIPPED},
    {"not_built", STATUS_SKIPPED},
    {"cancelled", STATUS_CANCELLED},
    {"canceled", STATUS_CANCELLED},
    {"aborted", STATUS_CANCELLED},
};

/* Folded: "Échoué" is found with and without its accents. */
static const struct word status_words_accented[] = {
    {"echec", STATUS_ERROR},
    {"en echec", STATUS_ERROR},
    {"echoue", STATUS_ERROR},
    {"echouee", STATUS_ERROR},
    {"erreur", STATUS_ERROR},
    {"en erreur", STATUS_ERROR},
    {"reussi", STATUS_OK},
    {"reussie", STATUS_OK},
    {"succes", STATUS_OK},
    {"termine", STATUS_OK},
    {"terminee", STATUS_OK},
    {"avertissement", STATUS_WARNING},
    {"resolu", STATUS_RESOLVED},
    {"resolue", STATUS_RESOLVED},
    {"ignore", STATUS_SKIPPED},
    {"ignoree", STATUS_SKIPPED},
    {"annule", STATUS_CANCELLED},
    {"annulee", STATUS_CANCELLED},
};

static int
word_value(const struct word *words, size_t count, struct span text)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq_nocase(span_of(words[i].word), text))
			return words[i].value;
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

enum event_priority
family_severity(struct span word)
{
	return (enum event_priority)word_value(
	    severity_words, COUNT(severity_words), word);
}

enum event_status
family_status(struct span word)
{
	int value = word_value(status_words, COUNT(status_words), word);

	for (size_t i = 0; value == 0 && i < COUNT(status_words_accented); i++)
		if (family_word_is(word, status_words_accented[i].word))
			value = status_words_accented[i].value;
	return (enum event_status)value;
}

/* --- one field ------------------------------------------------------------ */

static enum event_priority
priority_of(struct jval value, bool of_5, struct arena *arena)
{
	int64_t level;

	if (!family_int(value, &level))
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
	    jwalk_next(&walk, &name, &each))
		if (jval_type(value) == JARRAY)
			event->tags[event->tag_count++] =
			    family_text(each, arena);
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

	if (!family_int(value, &number))
		return;
	if (field == FIELD_JOB_EXIT) {
		event->exit_code = number;
		event->has_exit_code = true;
	} else {
		event->duration_ms = number;
		event->has_duration = true;
	}
}

void
family_take_text(struct event *event, enum field field, struct span text)
{
	struct span *to = field == FIELD_TITLE ? &event->title
	    : field == FIELD_TEXT              ? &event->text
	    : field == FIELD_URL               ? &event->url
	    : field == FIELD_DEDUPE            ? &event->dedupe
	    : field == FIELD_ABOUT             ? &event->about
	    : field == FIELD_JOB_ID            ? &event->job_id
	    : field == FIELD_JOB_NAME          ? &event->job_name
					       : &event->job_error;

	if (to->len == 0)
		*to = text;
}

void
family_take_value(struct event *event, enum field field, struct jval value,
    struct arena *arena)
{
	enum event_priority priority;

	assert(field > FIELD_END && field <= FIELD_LINES);
	switch (field) {
	case FIELD_SOURCE:
		if (event->source.len == 0)
			event->source = source_of(value, arena);
		break;
	case FIELD_PRIORITY:
	case FIELD_PRIORITY_5:
		priority = priority_of(value, field == FIELD_PRIORITY_5, arena);
		if (priority != PRIORITY_UNSET)
			event->priority = priority;
		break;
	case FIELD_SEVERITY:
		priority = family_severity(family_text(value, arena));
		if (priority != PRIORITY_UNSET)
			event->priority = priority;
		break;
	case FIELD_STATUS:
		event->status = family_status(family_text(value, arena));
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
		family_take_text(event, field, family_text(value, arena));
	}
}

static void
tell(const struct trace *trace, const struct take *take, struct jval object)
{
	struct span rest = span_of(take->members), path;
	struct jval value;
	char text[128];

	while (span_cut(&path, &rest, '|')) {
		value = pick_path(object, path);
		if (jval_is_absent(value) || jval_is(value, SPAN("")))
			continue;
		if (span_copy(text, sizeof(text), path))
			trace->took(trace->arg, take->field, text, value);
		return;
	}
}

void
family_take(struct event *event, const struct take *takes, struct jval object,
    const struct trace *trace, struct arena *arena)
{
	struct jval value;

	assert(takes != NULL && arena != NULL);
	for (; takes->field != FIELD_END; takes++) {
		value = family_pick(object, takes->members);
		if (jval_is_absent(value))
			continue;
		family_take_value(event, takes->field, value, arena);
		if (trace != NULL)
			tell(trace, takes, object);
	}
}

/* --- joining -------------------------------------------------------------- */

bool
family_join_begin(struct joined *joined, struct arena *arena)
{
	assert(joined != NULL && arena != NULL);
	joined->buf = (struct buf){.data = arena_alloc(arena, JOINED_MAX),
	    .cap = JOINED_MAX,
	    .max = JOINED_MAX};
	return joined->buf.data != NULL;
}

void
family_join(struct joined *joined, const char *between, struct span text)
{
	struct buf *buf = &joined->buf;

	assert(joined->buf.data != NULL && between != NULL);
	if (text.len == 0 || buf->len + strlen(between) + 4 > buf->cap)
		return;
	if (buf->len > 0)
		buf_add_span(buf, span_of(between));
	buf_add_span(buf, span_sub(text, 0, buf->cap - buf->len));
}
