#include "common/mcp/toolargs.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/members.h"
#include "common/utf8.h"

/* --- the check ------------------------------------------------------------ */

static enum err
refuse(struct fault *fault, const struct tool_field *field, const char *what)
{
	fault_set(fault, field->name, "%s", what);
	return ERR_BAD_INPUT;
}

static enum err
check_choice(
    const struct tool_field *field, struct jval value, struct fault *fault)
{
	char list[400] = "";
	size_t len = 0;
	const char *const *choice;

	for (choice = field->choices; *choice != NULL; choice++) {
		if (jval_is(value, span_of(*choice)))
			return ERR_OK;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
		    len == 0 ? "" : ", ", *choice);
	}
	fault_set(fault, field->name, "must be one of: %s", list);
	return ERR_BAD_INPUT;
}

/* Characters of a string as it is meant: an escape is one. */
static int64_t
count_characters(struct jval value)
{
	struct arena *arena = arena_new(jval_raw(value).len + 4096);
	int64_t count = -1;

	if (arena != NULL)
		count = (int64_t)utf8_count(jval_text(value, arena));
	arena_free(arena);
	return count;
}

static enum err
check_length(const struct tool_field *field, struct jval value, int64_t min,
    int64_t max, struct fault *fault)
{
	int64_t count = count_characters(value);

	if (count >= min && (max == 0 || count <= max))
		return ERR_OK;
	fault_set(fault, field->name,
	    "must have %" PRId64 " to %" PRId64 " characters, not %" PRId64,
	    min, max, count);
	return ERR_BAD_INPUT;
}

static enum err
check_string(
    const struct tool_field *field, struct jval value, struct fault *fault)
{
	if (jval_type(value) != JSTRING)
		return refuse(fault, field, "must be a string");
	if (field->choices != NULL)
		return check_choice(field, value, fault);
	return check_length(field, value, field->min, field->max, fault);
}

static enum err
check_int(
    const struct tool_field *field, struct jval value, struct fault *fault)
{
	int64_t number;

	if (jval_type(value) != JNUMBER)
		return refuse(fault, field, "must be an integer");
	if (!jval_int(value, &number) || number < field->min ||
	    number > field->max) {
		fault_set(fault, field->name,
		    "must be an integer from %" PRId64 " to %" PRId64,
		    field->min, field->max);
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

/* The elements as they are meant, which are strings, against those before. */
static enum err
check_unique(
    const struct tool_field *field, struct jval array, struct fault *fault)
{
	struct jwalk walk = jwalk_begin(array);
	size_t size = (jval_count(array) + 1) * sizeof(struct span), count = 0;
	struct arena *arena = arena_new(jval_raw(array).len + size + 4096);
	struct span *texts = arena == NULL ? NULL : arena_alloc(arena, size);
	struct jval name, item;
	enum err err = texts == NULL ? ERR_NO_MEMORY : ERR_OK;

	if (err != ERR_OK)
		refuse(fault, field, err_text(err));
	while (err == ERR_OK && jwalk_next(&walk, &name, &item)) {
		texts[count] = jval_text(item, arena);
		for (size_t i = 0; i < count && err == ERR_OK; i++)
			if (span_eq(texts[i], texts[count]))
				err = ERR_BAD_INPUT;
		if (err != ERR_OK)
			fault_set(fault, field->name, "has \"%.*s\" twice",
			    SPAN_ARG(span_sub(texts[count], 0, 64)));
		count++;
	}
	arena_free(arena);
	return err;
}

static enum err
check_strings(
    const struct tool_field *field, struct jval value, struct fault *fault)
{
	struct jwalk walk = jwalk_begin(value);
	struct jval name, item;
	enum err err = ERR_OK;

	if (jval_type(value) != JARRAY)
		return refuse(fault, field, "must be an array of strings");
	if ((int64_t)jval_count(value) > field->max)
		return refuse(fault, field, "has too many elements");
	if ((int64_t)jval_count(value) < field->min) {
		fault_set(fault, field->name,
		    "must have at least %" PRId64 " element%s", field->min,
		    field->min == 1 ? "" : "s");
		return ERR_BAD_INPUT;
	}
	while (err == ERR_OK && jwalk_next(&walk, &name, &item)) {
		if (jval_type(item) != JSTRING)
			return refuse(
			    fault, field, "must be an array of strings");
		err = check_length(field, item, 0, field->item_max, fault);
	}
	if (err == ERR_OK && field->unique)
		err = check_unique(field, value, fault);
	return err;
}

static enum err
check_field(
    const struct tool_field *field, struct jval value, struct fault *fault)
{
	enum jtype type = jval_type(value);

	if (type == JABSENT)
		return field->required ? refuse(fault, field, "is missing")
				       : ERR_OK;
	switch (field->type) {
	case TOOL_STRING:
		return check_string(field, value, fault);
	case TOOL_INT:
		return check_int(field, value, fault);
	case TOOL_STRINGS:
		return check_strings(field, value, fault);
	default:
		return type == JTRUE || type == JFALSE
		    ? ERR_OK
		    : refuse(fault, field, "must be true or false");
	}
}

static bool
is_field(const struct tool *tool, struct jval name)
{
	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++)
		if (jval_is(name, span_of(field->name)))
			return true;
	return false;
}

enum err
toolargs_check(const struct tool *tool, struct jval args, struct fault *fault)
{
	struct jwalk walk = jwalk_begin(args);
	struct jval name, value;
	enum err err = ERR_OK;

	assert(tool->fields != NULL && fault != NULL);
	if (jval_type(args) != JOBJECT && jval_type(args) != JABSENT) {
		fault_set(fault, "arguments", "must be an object");
		return ERR_BAD_INPUT;
	}
	while (jwalk_next(&walk, &name, &value))
		if (!is_field(tool, name)) {
			fault_set(fault, "arguments",
			    "have an unknown member: %.*s",
			    SPAN_ARG(span_sub(jval_raw(name), 0, 80)));
			return ERR_BAD_INPUT;
		}
	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++) {
		err = check_field(field, jval_member(args, field->name), fault);
		if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

/* --- the schema ----------------------------------------------------------- */

static void
put_limits(struct jsonw *json, const struct tool_field *field)
{
	if (field->type == TOOL_INT) {
		members_int(json, "minimum", field->min);
		members_int(json, "maximum", field->max);
	} else if (field->type == TOOL_STRINGS) {
		members_object(json, "items");
		members_string(json, "type", "string");
		members_int(json, "maxLength", field->item_max);
		jsonw_object_end(json);
		if (field->min > 0)
			members_int(json, "minItems", field->min);
		members_int(json, "maxItems", field->max);
		if (field->unique)
			members_bool(json, "uniqueItems", true);
	} else if (field->type == TOOL_STRING) {
		if (field->min > 0)
			members_int(json, "minLength", field->min);
		if (field->max > 0)
			members_int(json, "maxLength", field->max);
	}
}

static void
put_field(struct jsonw *json, const struct tool_field *field)
{
	static const char *const types[] = {
	    "string", "integer", "boolean", "array"};
	const char *const *choice;

	jsonw_key(json, field->name);
	jsonw_object_begin(json);
	members_string(json, "type", types[field->type]);
	members_string(json, "description", field->help);
	if (field->choices != NULL) {
		jsonw_key(json, "enum");
		jsonw_array_begin(json);
		for (choice = field->choices; *choice != NULL; choice++)
			jsonw_text(json, *choice);
		jsonw_array_end(json);
	}
	put_limits(json, field);
	if (field->fallback != NULL) {
		jsonw_key(json, "default");
		jsonw_raw(json, span_of(field->fallback));
	}
	jsonw_object_end(json);
}

void
toolargs_schema(struct jsonw *json, const struct tool *tool)
{
	unsigned required = 0;

	assert(tool->fields != NULL);
	jsonw_object_begin(json);
	members_string(json, "type", "object");
	members_object(json, "properties");
	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++) {
		put_field(json, field);
		required += field->required;
	}
	jsonw_object_end(json);
	if (required > 0) {
		jsonw_key(json, "required");
		jsonw_array_begin(json);
		for (const struct tool_field *field = tool->fields;
		     field->name != NULL; field++)
			if (field->required)
				jsonw_text(json, field->name);
		jsonw_array_end(json);
	}
	members_bool(json, "additionalProperties", false);
	jsonw_object_end(json);
}

static void
put_hint(struct jsonw *json, const char *name, bool value)
{
	members_bool(json, name, value);
}

void
toolargs_mcp(struct jsonw *json, const struct tool *tool)
{
	assert(tool->name != NULL && tool->description != NULL);
	jsonw_object_begin(json);
	members_string(json, "name", tool->name);
	members_string(json, "title", tool->title);
	members_string(json, "description", tool->description);
	jsonw_key(json, "inputSchema");
	toolargs_schema(json, tool);
	if (tool->output_schema != NULL) {
		jsonw_key(json, "outputSchema");
		jsonw_raw(json, span_of(tool->output_schema));
	}
	members_object(json, "annotations");
	put_hint(json, "readOnlyHint", tool->read_only);
	put_hint(json, "destructiveHint", tool->destructive);
	put_hint(json, "idempotentHint", tool->idempotent);
	put_hint(json, "openWorldHint", tool->open_world);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

void
toolargs_chat(struct jsonw *json, const struct tool *tool)
{
	assert(tool->name != NULL && tool->description != NULL);
	jsonw_object_begin(json);
	members_string(json, "type", "function");
	members_object(json, "function");
	members_string(json, "name", tool->name);
	members_string(json, "description", tool->description);
	jsonw_key(json, "parameters");
	toolargs_schema(json, tool);
	jsonw_object_end(json);
	jsonw_object_end(json);
}
