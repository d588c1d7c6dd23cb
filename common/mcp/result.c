#include "common/mcp/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/members.h"

void
result_init(struct result *result)
{
	buf_init(&result->content, RESULT_MAX);
	buf_init(&result->structured, RESULT_MAX);
	result->is_error = false;
}

void
result_fini(struct result *result)
{
	buf_fini(&result->content);
	buf_fini(&result->structured);
}

static void
put_text(struct jsonw *json, struct span text)
{
	jsonw_object_begin(json);
	members_string(json, "type", "text");
	members_text(json, "text", text);
	jsonw_object_end(json);
}

void
result_text(struct result *result, struct span text)
{
	struct jsonw json;

	assert(text.ptr != NULL || text.len == 0);
	buf_clear(&result->content);
	jsonw_init(&json, &result->content);
	jsonw_array_begin(&json);
	put_text(&json, text);
	jsonw_array_end(&json);
}

void
result_error(struct result *result, const char *format, ...)
{
	char text[1024];
	va_list args;

	assert(format != NULL);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_clear(&result->structured);
	result_text(result, span_of(text));
	result->is_error = true;
}

void
result_structured(struct result *result, struct span object)
{
	assert(object.len > 0);
	result_text(result, object);
	buf_clear(&result->structured);
	buf_add_span(&result->structured, object);
}

void
result_told(struct result *result, struct span sentence, struct span object)
{
	struct jsonw json;

	assert(object.len > 0);
	buf_clear(&result->content);
	jsonw_init(&json, &result->content);
	jsonw_array_begin(&json);
	put_text(&json, sentence);
	put_text(&json, object);
	jsonw_array_end(&json);
	buf_clear(&result->structured);
	buf_add_span(&result->structured, object);
}

static bool
are_items(struct jval content)
{
	struct jwalk walk = jwalk_begin(content);
	struct jval name, item;

	if (jval_type(content) != JARRAY)
		return false;
	while (jwalk_next(&walk, &name, &item))
		if (jval_type(jval_member(item, "type")) != JSTRING)
			return false;
	return true;
}

bool
result_take(struct result *result, struct jval value)
{
	struct jval content = jval_member(value, "content");
	struct jval structured = jval_member(value, "structuredContent");
	enum jtype failed = jval_type(jval_member(value, "isError"));

	if (!are_items(content) ||
	    (failed != JTRUE && failed != JFALSE && failed != JABSENT))
		return false;
	buf_clear(&result->content);
	buf_clear(&result->structured);
	jval_compact(content, &result->content);
	if (jval_type(structured) == JOBJECT)
		jval_compact(structured, &result->structured);
	result->is_error = failed == JTRUE;
	return buf_end(&result->content) == ERR_OK;
}

enum err
result_end(const struct result *result)
{
	enum err err = buf_end(&result->content);

	return err == ERR_OK ? buf_end(&result->structured) : err;
}

void
result_write(struct jsonw *json, const struct result *result)
{
	jsonw_key(json, "content");
	jsonw_raw(json, buf_span(&result->content));
	if (result->structured.len > 0) {
		jsonw_key(json, "structuredContent");
		jsonw_raw(json, buf_span(&result->structured));
	}
	members_bool(json, "isError", result->is_error);
}
