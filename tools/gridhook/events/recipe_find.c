/*
 * Where a path leads in a push, whether a condition holds, and which family
 * takes it. Nothing is read as JSON text: a member that is an object has no
 * text here, and a list has that of its elements.
 */
#include "tools/gridhook/events/recipe_take_priv.h"

#include <assert.h>

#define LIST_MAX 16 /* elements of a list that become text */

/* --- paths ---------------------------------------------------------------- */

/* "0" to "9" of a list; "*" is the first here. */
struct jval
scene_element(struct jval array, const struct hop *hop)
{
	struct jwalk walk = jwalk_begin(array);
	int index = hop_is_all(hop) ? 0 : hop->name[0] - '0';
	struct jval name, value;

	assert(hop->name != NULL);
	if (index < 0 || index > 9 || hop->name[1] != '\0')
		return (struct jval){array.doc, NULL};

	while (jwalk_next(&walk, &name, &value))
		if (index-- == 0)
			return value;
	return (struct jval){array.doc, NULL};
}

static struct jval
go(struct jval from, const struct what *what)
{
	const struct hop *hop = what->hops;

	for (unsigned i = 0; i < what->count && !jval_is_absent(from);
	     i++, hop++)
		if (jval_type(from) == JARRAY)
			from = scene_element(from, hop);
		else
			from = jval_member(from, hop->name);
	return from;
}

/* null, "", [] and {} say nothing. */
static bool
says_something(struct jval value)
{
	switch (jval_type(value)) {
	case JABSENT:
	case JNULL:
		return false;
	case JSTRING:
		return jval_raw(value).len > 2;
	case JARRAY:
	case JOBJECT:
		return jval_count(value) > 0;
	default:
		return true;
	}
}

static struct span
header(const struct hints *hints, const char *name)
{
	if (hints->header == NULL)
		return SPAN("");
	return hints->header(hints->header_arg, name);
}

/* The first alternative that is present; `which` is for explanations. */
static bool
find(struct found *out, const struct what **which, const struct what *what,
    const struct scene *scene)
{
	const struct hints *hints = scene->hints;
	bool in_part = what->kind == WHAT_TOP && !jval_is_absent(hints->top);

	*which = what;
	*out = (struct found){.value = {scene->object.doc, NULL}};
	switch (what->kind) {
	case WHAT_HEADER:
	case WHAT_ADDRESS:
		out->is_text = true;
		out->text = what->kind == WHAT_HEADER
		    ? header(hints, what->header)
		    : hints->suffix;
		if (out->text.len > 0)
			return true;
		break;
	default:
		out->value = go(in_part ? hints->top : scene->object, what);
		if (says_something(out->value))
			return true;
	}
	return false;
}

bool
scene_find(struct found *out, const struct what **which,
    const struct what *what, const struct scene *scene)
{
	assert(out != NULL && which != NULL);
	for (; what != NULL; what = what->other)
		if (find(out, which, what, scene))
			return true;
	return false;
}

/* The texts of a list, "a, b". */
static struct span
text_of_list(struct jval list, struct arena *arena)
{
	struct jwalk walk = jwalk_begin(list);
	size_t room = jval_raw(list).len * 3;
	struct jval name, each;
	unsigned count = 0;
	struct buf buf;

	buf = (struct buf){
	    .data = arena_alloc(arena, room), .cap = room, .max = room};
	if (buf.data == NULL)
		return SPAN("");
	while (count < LIST_MAX && jwalk_next(&walk, &name, &each)) {
		if (jval_type(each) == JARRAY || jval_type(each) == JOBJECT ||
		    !says_something(each))
			continue;
		if (count++ > 0)
			buf_add_text(&buf, ", ");
		buf_add_span(&buf, family_text(each, arena));
	}
	return buf.err == ERR_OK ? buf_span(&buf) : SPAN("");
}

static struct span
text_of(const struct found *found, struct arena *arena)
{
	if (found->is_text)
		return found->text;
	if (jval_type(found->value) == JOBJECT)
		return SPAN("");
	if (jval_type(found->value) == JARRAY)
		return text_of_list(found->value, arena);
	return family_text(found->value, arena);
}

struct span
scene_text(const struct what *what, struct jval *value,
    const struct what **path, const struct scene *scene)
{
	const struct what *which;
	struct found found;
	struct span text;

	assert(scene->hints != NULL);
	for (; what != NULL; what = what->other) {
		if (!find(&found, &which, what, scene))
			continue;
		text = text_of(&found, scene->arena);
		*value = found.value;
		*path = which;
		if (text.len > 0)
			return text;
	}
	return SPAN("");
}

/* --- conditions ----------------------------------------------------------- */

static bool
has_inside(struct span text, struct span word)
{
	for (size_t i = 0; i + word.len <= text.len; i++)
		if (span_eq_nocase(span_sub(text, i, word.len), word))
			return true;
	return false;
}

/* ASCII case ignored. */
static bool
word_fits(enum test test, struct span text, struct span word)
{
	switch (test) {
	case TEST_STARTS:
		return word.len <= text.len &&
		    span_eq_nocase(span_sub(text, 0, word.len), word);
	case TEST_ENDS:
		return word.len <= text.len &&
		    span_eq_nocase(span_from(text, text.len - word.len), word);
	case TEST_CONTAINS:
		return has_inside(text, word);
	default:
		return span_eq_nocase(text, word);
	}
}

static bool
one_word_fits(const struct condition *condition, struct span text)
{
	for (const struct recipe_words *word = condition->words; word != NULL;
	     word = word->next)
		if (word_fits(condition->test, text, word->word))
			return true;
	return false;
}

static bool
holds(const struct condition *condition, const struct scene *scene)
{
	const struct what *which;
	struct found found;
	bool there = scene_find(&found, &which, condition->what, scene);
	enum jtype type = jval_type(found.value);

	switch (condition->test) {
	case TEST_PRESENT:
		return there;
	case TEST_ABSENT:
		return !there;
	case TEST_STRING:
		return there && (found.is_text || type == JSTRING);
	case TEST_NUMBER:
		return type == JNUMBER;
	case TEST_BOOLEAN:
		return type == JTRUE || type == JFALSE;
	case TEST_LIST:
		return there && type == JARRAY;
	case TEST_OBJECT:
		return there && type == JOBJECT;
	case TEST_UNEQUAL:
		return !there ||
		    !one_word_fits(condition, text_of(&found, scene->arena));
	default:
		return there &&
		    one_word_fits(condition, text_of(&found, scene->arena));
	}
}

bool
scene_holds(const struct condition *condition, const struct scene *scene)
{
	assert(scene->arena != NULL);
	for (; condition != NULL; condition = condition->next)
		if (!holds(condition, scene))
			return false;
	return true;
}

/* --- which family --------------------------------------------------------- */

/* A bit for each member; all of them where a name is escaped. */
static uint64_t
members_of(struct jval object)
{
	struct jwalk walk = jwalk_begin(object);
	struct jval name, value;
	uint64_t members = 0;
	struct span raw;

	while (jwalk_next(&walk, &name, &value)) {
		raw = jval_raw(name);
		if (name.node->escaped)
			return UINT64_MAX;
		members |= recipe_bit(span_sub(raw, 1, raw.len - 2));
	}
	return members;
}

const struct family *
recipes_find(const struct recipes *recipes, struct jval object,
    const struct hints *hints, bool whole)
{
	struct scene scene = {
	    .object = object, .hints = hints, .arena = hints->arena};
	uint64_t members;

	assert(hints != NULL);
	if (recipes == NULL || jval_type(object) != JOBJECT)
		return NULL;
	members = members_of(object);
	for (const struct recipe *recipe = recipes->first; recipe != NULL;
	     recipe = recipe->next) {
		if (recipe->each != NULL && !whole)
			continue;
		for (const struct match *match = recipe->matches; match != NULL;
		     match = match->next)
			if ((match->members & ~members) == 0 &&
			    scene_holds(match->all, &scene))
				return &recipe->family;
	}
	return NULL;
}

struct jval
recipe_list(const struct family *family, struct jval object)
{
	struct jval list = {object.doc, NULL};

	assert(family != NULL);
	if (family->recipe != NULL && family->recipe->each != NULL)
		list = go(object, family->recipe->each);
	if (jval_type(list) != JARRAY || jval_count(list) == 0)
		list.node = NULL;
	return list;
}

const char *
recipe_file(const struct family *family)
{
	assert(family != NULL);
	return family->recipe == NULL ? NULL : family->recipe->file;
}
