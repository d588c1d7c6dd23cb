#include "tools/gridhook/tool/answer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/members.h"
#include "common/base64.h"

#define TEXT_MAX 4096

void
answer_init(struct answer *answer)
{
	buf_init(&answer->content, ANSWER_MAX);
	buf_init(&answer->structured, ANSWER_MAX);
	answer->has_structured = false;
	jsonw_init(&answer->items, &answer->content);
	jsonw_array_begin(&answer->items);
}

void
answer_fini(struct answer *answer)
{
	buf_fini(&answer->content);
	buf_fini(&answer->structured);
}

/* {"type":"text","text":...} */
static void
add_text(struct jsonw *items, struct span text)
{
	jsonw_object_begin(items);
	members_string(items, "type", "text");
	members_text(items, "text", text);
	jsonw_object_end(items);
}

void
answer_text(struct answer *answer, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	assert(format != NULL);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_text(&answer->items, span_of(text));
}

void
answer_image(struct answer *answer, struct span bytes, const char *type)
{
	struct jsonw *items = &answer->items;
	struct buf data;

	assert(type != NULL && bytes.len > 0);
	buf_init(&data, ANSWER_MAX);
	buf_add_char(&data, '"');
	base64_add(&data, bytes);
	buf_add_char(&data, '"');
	buf_fail(&answer->content, buf_end(&data));
	jsonw_object_begin(items);
	members_string(items, "type", "image");
	jsonw_key(items, "data");
	jsonw_raw(items, buf_span(&data));
	members_string(items, "mimeType", type);
	jsonw_object_end(items);
	buf_fini(&data);
}

struct jsonw *
answer_object_begin(struct answer *answer)
{
	assert(!answer->has_structured);
	jsonw_init(&answer->object, &answer->structured);
	jsonw_object_begin(&answer->object);
	return &answer->object;
}

void
answer_object_end(struct answer *answer)
{
	assert(!answer->has_structured);
	jsonw_object_end(&answer->object);
	answer->has_structured = true;
	buf_fail(&answer->content, jsonw_end(&answer->object));
}

/* The object around items that are ready. */
static enum err
write_result(struct buf *out, struct span items, const struct buf *structured,
    bool failed)
{
	struct jsonw json;
	enum err err;

	jsonw_init(&json, out);
	jsonw_object_begin(&json);
	jsonw_key(&json, "content");
	jsonw_raw(&json, items);
	if (structured != NULL) {
		jsonw_key(&json, "structuredContent");
		jsonw_raw(&json, buf_span(structured));
	}
	members_bool(&json, "isError", failed);
	jsonw_object_end(&json);
	err = jsonw_end(&json);
	buf_add_char(out, '\n');
	return err != ERR_OK ? err : buf_end(out);
}

enum err
answer_write(struct answer *answer, struct buf *out)
{
	enum err err;

	assert(out != NULL);
	/* Clients older than structured results read it as text. */
	if (answer->has_structured && answer->content.len == 1)
		add_text(&answer->items, buf_span(&answer->structured));
	jsonw_array_end(&answer->items);
	err = jsonw_end(&answer->items);
	if (err != ERR_OK)
		return err;
	return write_result(out, buf_span(&answer->content),
	    answer->has_structured ? &answer->structured : NULL, false);
}

enum err
answer_write_failure(struct buf *out, const char *text)
{
	struct buf content;
	struct jsonw items;
	enum err err;

	assert(text != NULL);
	buf_init(&content, ANSWER_MAX);
	jsonw_init(&items, &content);
	jsonw_array_begin(&items);
	add_text(&items, span_of(text));
	jsonw_array_end(&items);
	err = jsonw_end(&items);
	if (err == ERR_OK)
		err = write_result(out, buf_span(&content), NULL, true);
	buf_fini(&content);
	return err;
}
