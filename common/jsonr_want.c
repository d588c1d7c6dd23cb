/*
 * jsonr_want: values of a wanted type, and the list of what is wrong.
 */
#include "common/jsonr_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for one more issue, or NULL when the issue is only counted. */
static struct fault *
issue_room(struct jsonr *doc)
{
	struct fault *issues;
	size_t room;

	if (doc->kept == doc->limit)
		return NULL;
	if (doc->kept == doc->room) {
		room = doc->room == 0 ? 4 : doc->room * 2;
		issues = reallocarray(doc->kept_issues, room, sizeof(*issues));
		if (issues == NULL)
			return NULL;
		doc->kept_issues = issues;
		doc->room = room;
	}
	fault_clear(&doc->kept_issues[doc->kept]);
	return &doc->kept_issues[doc->kept++];
}

static const char *words_of(const struct jsonr *doc, const char *english)
    __attribute__((format_arg(2)));

static const char *
words_of(const struct jsonr *doc, const char *english)
{
	return doc->words == NULL ? english : doc->words(english);
}

void
jsonr_issue(struct jsonr *doc, const char *path, const char *format, ...)
{
	struct fault *issue = issue_room(doc);
	va_list args;

	assert(path != NULL && format != NULL);
	doc->issues++;
	va_start(args, format);
	fault_vset(issue, path, words_of(doc, format), args);
	va_end(args);
}

/* Notes that a value is missing, or has another type than `wanted`. */
static bool
want(struct jsonr *doc, const struct jsonr_value *value, const char *path,
    enum jsonr_type wanted)
{
	static const char *const names[] = {
	    [JSONR_ABSENT] = "nothing",
	    [JSONR_NULL] = "null",
	    [JSONR_BOOL] = "true or false",
	    [JSONR_INT] = "a whole number",
	    [JSONR_REAL] = "a number with a fraction",
	    [JSONR_STRING] = "a string",
	    [JSONR_ARRAY] = "an array",
	    [JSONR_OBJECT] = "an object",
	};
	enum jsonr_type type = jsonr_type(value);

	if (type == wanted)
		return true;
	if (type == JSONR_ABSENT)
		jsonr_issue(doc, path, "is missing; must be %s",
		    words_of(doc, names[wanted]));
	else
		jsonr_issue(doc, path, "must be %s, not %s",
		    words_of(doc, names[wanted]), words_of(doc, names[type]));
	return false;
}

bool
jsonr_want_string(struct jsonr *doc, struct span *out,
    const struct jsonr_value *value, const char *path)
{
	if (!want(doc, value, path, JSONR_STRING))
		return false;
	*out = jsonr_as_string(value);
	return true;
}

bool
jsonr_want_bool(struct jsonr *doc, bool *out, const struct jsonr_value *value,
    const char *path)
{
	if (!want(doc, value, path, JSONR_BOOL))
		return false;
	*out = jsonr_as_bool(value);
	return true;
}

bool
jsonr_want_int(struct jsonr *doc, int64_t *out, const struct jsonr_value *value,
    const char *path, int64_t min, int64_t max)
{
	int64_t number;

	assert(min <= max);
	if (!want(doc, value, path, JSONR_INT))
		return false;
	number = jsonr_as_int(value);
	if (number < min || number > max) {
		jsonr_issue(doc, path,
		    "must be from %" PRId64 " to %" PRId64 ", not %" PRId64,
		    min, max, number);
		return false;
	}
	*out = number;
	return true;
}

bool
jsonr_want_array(
    struct jsonr *doc, const struct jsonr_value *value, const char *path)
{
	return want(doc, value, path, JSONR_ARRAY);
}

bool
jsonr_want_object(
    struct jsonr *doc, const struct jsonr_value *value, const char *path)
{
	return want(doc, value, path, JSONR_OBJECT);
}

static bool
is_listed(struct span name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(name, span_of(names[i])))
			return true;
	return false;
}

void
jsonr_only(struct jsonr *doc, const struct jsonr_value *object,
    const char *path, const char *const *names, size_t count)
{
	assert(names != NULL || count == 0);
	/*
	 * Longer than an issue can show, so that fault_set() cuts it with
	 * "...".
	 */
	char place[2 * sizeof(doc->kept_issues->place)];
	const struct jsonr_value *value;
	struct span name;
	void *iter = NULL;

	while (jsonr_next(object, &iter, &name, &value)) {
		if (is_listed(name, names, count))
			continue;
		snprintf(place, sizeof(place), "%s%s%s", path,
		    *path == '\0' ? "" : ".", name.ptr);
		jsonr_issue(doc, place, "is not a known member");
	}
}

size_t
jsonr_issues(const struct jsonr *doc)
{
	return doc->issues;
}

void
jsonr_issues_write(const struct jsonr *doc, struct jsonw *json)
{
	jsonw_array_begin(json);
	for (size_t i = 0; i < doc->kept; i++) {
		jsonw_object_begin(json);
		jsonw_key(json, "path");
		jsonw_text(json, doc->kept_issues[i].place);
		jsonw_key(json, "message");
		jsonw_text(json, doc->kept_issues[i].message);
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
}
