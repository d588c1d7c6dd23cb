/*
 * Limits are checked before jansson sees a byte: one walk over the text
 * measures the nesting. A `struct jsonr_value` is jansson's json_t under
 * another name, so that no caller needs jansson's header.
 *
 * jansson's allocations during a parse come from the document's arena and are
 * freed with it: ten thousand small objects are a hundred thousand allocations,
 * and freeing them one by one took as long as parsing. No part of a document is
 * ever given back to jansson.
 */
#include "common/jsonr_priv.h"

#include <assert.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/buf.h"

#define DEPTH_MAX JSONW_DEPTH_MAX

/* The document that this thread is parsing. */
static _Thread_local struct arena *parsing;

static void *
take(size_t size)
{
	return parsing == NULL ? malloc(size) : arena_alloc(parsing, size);
}

static void
give_back(void *memory)
{
	if (parsing == NULL)
		free(memory);
}

static void
set_allocator(void)
{
	json_set_alloc_funcs(take, give_back);
}

static json_t *
parse_into(struct arena *arena, struct span text, json_error_t *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	json_t *root;

	pthread_once(&once, set_allocator);
	parsing = arena;
	root = json_loadb(text.len == 0 ? "" : text.ptr, text.len,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
	parsing = NULL;
	return root;
}

/* jansson wants some values without const, though it only reads them. */
static inline json_t *
node(const struct jsonr_value *value)
{
	return (json_t *)(uintptr_t)value;
}

static inline const struct jsonr_value *
value_of(const json_t *json)
{
	return (const struct jsonr_value *)json;
}

/* Where the string ends whose opening quote stands before `at`. */
static size_t
skip_string(struct span text, size_t at)
{
	while (at < text.len && text.ptr[at] != '"')
		at += text.ptr[at] == '\\' ? 2 : 1;
	return at + 1;
}

/* False when brackets nest deeper than `limit`; strings are skipped. */
static bool
is_shallow(struct span text, unsigned limit)
{
	unsigned depth = 0;
	size_t at = 0;

	while (at < text.len) {
		char byte = text.ptr[at++];

		if (byte == '"')
			at = skip_string(text, at);
		else if ((byte == '[' || byte == '{') && ++depth > limit)
			return false;
		else if ((byte == ']' || byte == '}') && depth > 0)
			depth--;
	}
	return true;
}

static enum err
check_limits(
    struct span text, const struct jsonr_limits *limits, struct fault *fault)
{
	unsigned depth = limits->depth == 0 ? DEPTH_MAX : limits->depth;

	assert(depth <= DEPTH_MAX);
	if (span_starts(text, SPAN("\xef\xbb\xbf"))) {
		fault_set(fault, "JSON, line 1, column 1",
		    "begins with a byte order mark (EF BB BF): leave it out");
		return ERR_BAD_INPUT;
	}
	if (text.len > limits->bytes) {
		fault_set(fault, "JSON", "has %zu bytes, more than %zu",
		    text.len, limits->bytes);
		return ERR_TOO_LARGE;
	}
	if (!is_shallow(text, depth)) {
		fault_set(
		    fault, "JSON", "is nested deeper than %u levels", depth);
		return ERR_TOO_LARGE;
	}
	return ERR_OK;
}

/* jansson's message, reworded where it advises callers of jansson. */
static const char *
words_of(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_null_character:
		return "a text has \\u0000 in it: no character may be NUL here";
	case json_error_null_byte_in_key:
		return "a member's name has \\u0000 in it: no character may be "
		       "NUL here";
	default:
		return error->text;
	}
}

/* jansson sets no message when an allocation fails. */
static enum err
explain(const json_error_t *error, struct fault *fault)
{
	char place[64];

	if (error->text[0] == '\0' ||
	    json_error_code(error) == json_error_out_of_memory)
		return ERR_NO_MEMORY;
	snprintf(place, sizeof(place), "JSON, line %d, column %d", error->line,
	    error->column);
	fault_set(fault, place, "%s", words_of(error));
	return ERR_BAD_INPUT;
}

enum err
jsonr_parse(struct jsonr **out, struct span text,
    const struct jsonr_limits *limits, struct fault *fault)
{
	struct jsonr *doc = NULL;
	json_error_t error;
	enum err err;

	assert(out != NULL && limits != NULL);
	*out = NULL;
	err = check_limits(text, limits, fault);
	if (err != ERR_OK)
		return err;
	doc = calloc(1, sizeof(*doc));
	if (doc == NULL)
		return ERR_NO_MEMORY;
	doc->limit = limits->issues;
	doc->words = limits->words;
	doc->arena = arena_new(SIZE_MAX); /* the text is limited */
	if (doc->arena == NULL) {
		err = ERR_NO_MEMORY;
		goto out;
	}
	doc->root = parse_into(doc->arena, text, &error);
	if (doc->root == NULL) {
		err = explain(&error, fault);
		goto out;
	}
	*out = doc;
	doc = NULL; /* the caller's now */
out:
	jsonr_free(doc);
	return err;
}

void
jsonr_free(struct jsonr *doc)
{
	if (doc == NULL)
		return;
	arena_free(doc->arena);
	free(doc->kept_issues);
	free(doc);
}

const struct jsonr_value *
jsonr_root(const struct jsonr *doc)
{
	return value_of(doc->root);
}

enum jsonr_type
jsonr_type(const struct jsonr_value *value)
{
	static const enum jsonr_type types[] = {
	    [JSON_OBJECT] = JSONR_OBJECT,
	    [JSON_ARRAY] = JSONR_ARRAY,
	    [JSON_STRING] = JSONR_STRING,
	    [JSON_INTEGER] = JSONR_INT,
	    [JSON_REAL] = JSONR_REAL,
	    [JSON_TRUE] = JSONR_BOOL,
	    [JSON_FALSE] = JSONR_BOOL,
	    [JSON_NULL] = JSONR_NULL,
	};

	return value == NULL ? JSONR_ABSENT : types[json_typeof(node(value))];
}

const struct jsonr_value *
jsonr_member(const struct jsonr_value *object, const char *name)
{
	return value_of(json_object_get(node(object), name));
}

size_t
jsonr_count(const struct jsonr_value *value)
{
	if (jsonr_type(value) == JSONR_OBJECT)
		return json_object_size(node(value));
	return json_array_size(node(value));
}

const struct jsonr_value *
jsonr_at(const struct jsonr_value *array, size_t i)
{
	return value_of(json_array_get(node(array), i));
}

bool
jsonr_next(const struct jsonr_value *object, void **iter, struct span *name,
    const struct jsonr_value **value)
{
	assert(iter != NULL && name != NULL && value != NULL);
	if (*iter == NULL)
		*iter = json_object_iter(node(object));
	else
		*iter = json_object_iter_next(node(object), *iter);
	if (*iter == NULL)
		return false;
	*name = span_of(json_object_iter_key(*iter));
	*value = value_of(json_object_iter_value(*iter));
	return true;
}

struct span
jsonr_as_string(const struct jsonr_value *value)
{
	return span_make(
	    json_string_value(node(value)), json_string_length(node(value)));
}

bool
jsonr_as_bool(const struct jsonr_value *value)
{
	return json_is_true(node(value));
}

int64_t
jsonr_as_int(const struct jsonr_value *value)
{
	return json_integer_value(node(value));
}

double
jsonr_as_real(const struct jsonr_value *value)
{
	return json_number_value(node(value));
}

static double
read_back(const char *text, size_t len)
{
	json_t *json = json_loadb(text, len, JSON_DECODE_ANY, NULL);
	double real = json_number_value(json);

	json_decref(json);
	return real;
}

/*
 * Fifteen digits where they read back as the same number, else seventeen.
 * jansson formats and reads back, because it ignores the locale's comma.
 */
static void
write_real(const json_t *real, struct jsonw *json)
{
	char text[64];
	size_t len = json_dumpb(real, text, sizeof(text),
	    JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	if (len > 0 && read_back(text, len) != json_number_value(real))
		len = json_dumpb(real, text, sizeof(text),
		    JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	if (len == 0)
		buf_fail(json->buf, ERR_NO_MEMORY);
	jsonw_raw(json, span_make(text, len));
}

static void write_value(const struct jsonr_value *value, struct jsonw *json);

static void
write_array(const struct jsonr_value *array, struct jsonw *json)
{
	size_t count = jsonr_count(array);

	jsonw_array_begin(json);
	for (size_t i = 0; i < count; i++)
		write_value(jsonr_at(array, i), json);
	jsonw_array_end(json);
}

static void
write_object(const struct jsonr_value *object, struct jsonw *json)
{
	const struct jsonr_value *value;
	struct span name;
	void *iter = NULL;

	jsonw_object_begin(json);
	while (jsonr_next(object, &iter, &name, &value)) {
		jsonw_key_span(json, name);
		write_value(value, json);
	}
	jsonw_object_end(json);
}

/* Recursion is bounded: a parsed text has at most DEPTH_MAX levels. */
static void
write_value(const struct jsonr_value *value, struct jsonw *json)
{
	switch (jsonr_type(value)) {
	case JSONR_ABSENT:
	case JSONR_NULL:
		jsonw_null(json);
		break;
	case JSONR_BOOL:
		jsonw_bool(json, jsonr_as_bool(value));
		break;
	case JSONR_INT:
		jsonw_int(json, jsonr_as_int(value));
		break;
	case JSONR_REAL:
		write_real(node(value), json);
		break;
	case JSONR_STRING:
		jsonw_string(json, jsonr_as_string(value));
		break;
	case JSONR_ARRAY:
		write_array(value, json);
		break;
	case JSONR_OBJECT:
		write_object(value, json);
		break;
	}
}

void
jsonr_write(const struct jsonr_value *value, struct buf *buf)
{
	struct jsonw json;

	jsonw_init(&json, buf);
	write_value(value, &json);
}
