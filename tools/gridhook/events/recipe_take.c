/* Fills an event's fields as a family's file says. */
#include "tools/gridhook/events/recipe_take_priv.h"

#include <assert.h>

#include "common/num.h"
#include "tools/gridhook/events/family_priv.h"

/* --- templates ------------------------------------------------------------ */

/* As it was written, as far as it fits. */
static void
write_path(char *text, size_t size, const struct what *what)
{
	struct buf buf = {.data = text, .cap = size - 1, .max = size - 1};

	if (what->kind == WHAT_HEADER)
		buf_addf(&buf, "header:%s", what->header);
	else if (what->kind == WHAT_ADDRESS)
		buf_add_text(&buf, "address:rest");
	else if (what->kind == WHAT_TOP)
		buf_add_text(&buf, "$.");
	for (unsigned i = 0; what->kind <= WHAT_TOP && i < what->count; i++)
		buf_addf(&buf, "%s%s", i == 0 ? "" : ".", what->hops[i].name);
	text[buf.len] = '\0';
}

static void
tell(const struct scene *scene, enum field field, const struct what *what,
    struct jval value)
{
	const struct trace *trace = scene->hints->trace;
	char path[256];

	if (trace == NULL)
		return;
	write_path(path, sizeof(path), what);
	trace->took(trace->arg, field, path, value);
}

/* False where a member outside of brackets is missing. */
static bool
fill_parts(struct span *texts, struct jval *values, const struct what **paths,
    const struct template *template, const struct scene *scene)
{
	bool inside = false, dropped = false;
	unsigned opened = 0;

	for (unsigned i = 0; i < template->count; i++) {
		const struct part *part = &template->parts[i];

		texts[i] = part->kind == PART_TEXT
		    ? span_make(part->text, part->len)
		    : SPAN("");
		paths[i] = NULL;
		if (part->kind == PART_OPEN) {
			inside = true;
			dropped = false;
			opened = i;
		}
		if (part->kind == PART_CLOSE)
			inside = false;
		if (part->kind == PART_WHAT) {
			texts[i] = scene_text(
			    part->what, &values[i], &paths[i], scene);
			if (texts[i].len == 0 && !inside)
				return false;
			dropped |= texts[i].len == 0;
		}
		if (part->kind != PART_CLOSE || !dropped)
			continue;
		for (unsigned j = opened; j < i; j++) {
			texts[j] = SPAN("");
			paths[j] = NULL;
		}
		dropped = false;
	}
	return true;
}

/* Empty where a member is missing. */
static struct span
make(const struct template *template, enum field field,
    const struct scene *scene)
{
	struct span texts[RECIPE_PARTS_MAX];
	struct jval values[RECIPE_PARTS_MAX];
	const struct what *paths[RECIPE_PARTS_MAX];
	size_t room = 0, len = 0;
	char *to;

	if (!fill_parts(texts, values, paths, template, scene))
		return SPAN("");
	for (unsigned i = 0; i < template->count; i++) {
		room += texts[i].len;
		if (paths[i] != NULL)
			tell(scene, field, paths[i], values[i]);
	}
	if (template->count == 1)
		return texts[0];
	to = arena_alloc(scene->arena, room + 1);
	if (to == NULL)
		return SPAN("");
	for (unsigned i = 0; i < template->count; i++) {
		if (texts[i].len > 0)
			memcpy(to + len, texts[i].ptr, texts[i].len);
		len += texts[i].len;
	}
	return span_make(to, len);
}

/* --- fields --------------------------------------------------------------- */

static int
meaning_of(
    const struct scene *scene, enum field field, struct span text, bool *known)
{
	const struct meaning *meaning = scene->recipe->meanings;

	for (; meaning != NULL; meaning = meaning->next)
		if (meaning->field == field &&
		    span_eq_nocase(meaning->word, text)) {
			*known = true;
			return meaning->value;
		}
	*known = false;
	return 0;
}

/* Whether the word said something. */
static bool
take_level(struct event *event, enum field field, struct span text,
    const struct scene *scene)
{
	bool known;
	int64_t level;
	int value = meaning_of(scene, FIELD_PRIORITY, text, &known);

	if (!known && field == FIELD_SEVERITY)
		value = family_severity(text);
	else if (!known && field == FIELD_PRIORITY_5 &&
	    num_int(&level, text, 1, 5))
		value = (int)level;
	else if (!known)
		value = family_priority(text);
	if (value != PRIORITY_UNSET)
		event->priority = (enum event_priority)value;
	return known || value != PRIORITY_UNSET;
}

static bool
take_status(struct event *event, struct span text, const struct scene *scene)
{
	bool known;
	int value = meaning_of(scene, FIELD_STATUS, text, &known);

	if (!known)
		value = family_status(text);
	event->status = (enum event_status)value;
	return known || value != STATUS_NONE;
}

/* Fields that take more than a text. */
static bool
take_value(
    struct event *event, const struct rule *rule, const struct scene *scene)
{
	const struct what *which;
	struct found found;

	if (!scene_find(&found, &which, rule->value.parts[0].what, scene) ||
	    found.is_text)
		return false;
	tell(scene, rule->field, which, found.value);
	family_take_value(event, rule->field, found.value, scene->arena);
	return rule->field != FIELD_TIME || event->has_time;
}

static bool
take_rule(
    struct event *event, const struct rule *rule, const struct scene *scene)
{
	struct span text;

	switch (rule->field) {
	case FIELD_TIME:
	case FIELD_TAGS:
	case FIELD_SPEAK:
	case FIELD_SILENT:
	case FIELD_JOB_EXIT:
	case FIELD_JOB_DURATION:
	case FIELD_JOB_NEXT:
		return take_value(event, rule, scene);
	default:
		break;
	}
	text = make(&rule->value, rule->field, scene);
	if (text.len == 0)
		return false;
	switch (rule->field) {
	case FIELD_STATUS:
		return take_status(event, text, scene);
	case FIELD_PRIORITY:
	case FIELD_PRIORITY_5:
	case FIELD_SEVERITY:
		return take_level(event, rule->field, text, scene);
	case FIELD_SOURCE:
		event->source = text;
		return true;
	case FIELD_MARKDOWN:
		event->markdown = span_eq(text, SPAN("markdown")) ||
		    span_eq(text, SPAN("text/markdown")) ||
		    span_eq(text, SPAN("true"));
		return true;
	default:
		family_take_text(event, rule->field, text);
		return true;
	}
}

/* --- lines ---------------------------------------------------------------- */

static void
add_line(
    struct joined *joined, const struct rule *rule, const struct scene *scene)
{
	family_join(joined, "\n", make(&rule->value, FIELD_TEXT, scene));
}

/* Of every element at the end of the path; as deep as the path is long. */
static void
add_lines(struct joined *joined, const struct rule *rule, unsigned at,
    struct jval value, const struct scene *scene)
{
	const struct hop *hop = &rule->list->hops[at];
	struct scene inner = *scene;
	struct jwalk walk;
	struct jval name, each;

	if (at < rule->list->count && !hop_is_all(hop)) {
		value = jval_type(value) == JARRAY
		    ? scene_element(value, hop)
		    : jval_member(value, hop->name);
		if (!jval_is_absent(value))
			add_lines(joined, rule, at + 1, value, scene);
		return;
	}
	if (jval_type(value) != JARRAY) {
		inner.object = value;
		if (at == rule->list->count && jval_type(value) == JOBJECT &&
		    scene_holds(rule->when, &inner))
			add_line(joined, rule, &inner);
		return;
	}
	walk = jwalk_begin(value);
	while (jwalk_next(&walk, &name, &each)) {
		inner.object = each;
		if (at < rule->list->count)
			add_lines(joined, rule, at + 1, each, scene);
		else if (scene_holds(rule->when, &inner))
			add_line(joined, rule, &inner);
	}
}

/* The text, and the lines that follow it. */
static void
take_lines(struct event *event, const struct scene *scene)
{
	const struct rule *rule = scene->recipe->rules;
	struct joined joined;

	while (rule != NULL && rule->field != FIELD_LINE &&
	    rule->field != FIELD_LINES)
		rule = rule->next;
	if (rule == NULL || !family_join_begin(&joined, scene->arena))
		return;
	family_join(&joined, "", event->text);
	for (; rule != NULL; rule = rule->next)
		if (rule->field == FIELD_LINES)
			add_lines(&joined, rule, 0, scene->object, scene);
		else if (rule->field == FIELD_LINE &&
		    scene_holds(rule->when, scene))
			add_line(&joined, rule, scene);
	event->text = buf_span(&joined.buf);
}

/* --- all of it ------------------------------------------------------------ */

/*
 * An event with a job's data is one of a job; a failed status makes it a
 * failure.
 */
static void
judge(
    struct event *event, const struct recipe *recipe, const struct hints *hints)
{
	bool named = event->job_name.len > 0 || event->job_id.len > 0;

	if (recipe->family.kind == EVENT_JOB ||
	    (named && event->status == STATUS_ERROR))
		event->is_job = true;
	if (event->is_job && event->status == STATUS_ERROR)
		family_fail_job(event);
	if ((event->status == STATUS_ERROR &&
		event->priority < PRIORITY_HIGH) ||
	    (event->status == STATUS_FIRING &&
		event->priority == PRIORITY_UNSET))
		event->priority = PRIORITY_HIGH;
	if (event->source.len == 0 && hints->source.len == 0 &&
	    hints->suffix.len == 0)
		event->source = span_of(recipe->family.name);
}

void
recipe_fill(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena)
{
	const struct scene scene = {.recipe = family->recipe,
	    .object = object,
	    .hints = hints,
	    .arena = arena};
	uint64_t done = 0, bit;

	assert(family->recipe != NULL);
	for (const struct rule *rule = scene.recipe->rules; rule != NULL;
	     rule = rule->next) {
		bit = (uint64_t)1 << rule->field;
		/* However a level is written, it is one. */
		if (rule->field == FIELD_SEVERITY ||
		    rule->field == FIELD_PRIORITY_5)
			bit = (uint64_t)1 << FIELD_PRIORITY;
		if (rule->field == FIELD_LINE || rule->field == FIELD_LINES ||
		    (done & bit) != 0 || !scene_holds(rule->when, &scene))
			continue;
		if (take_rule(event, rule, &scene))
			done |= bit;
	}
	take_lines(event, &scene);
	judge(event, family->recipe, hints);
}
