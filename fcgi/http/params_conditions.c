/* Parameters that are no names of the table: conditions, and what is ignored. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "fcgi/http/french.h"
#include "fcgi/http/params_priv.h"

#define NAME_MAX_BYTES 80
#define KEY_MAX_BYTES (1u << 20)

/* A caller's name as text that may stand in a message. */
static void
name_text(char text[NAME_MAX_BYTES], struct span name)
{
	size_t len = name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES - 4;

	/* No character is cut in two. */
	while (len < name.len && len > 0 && (name.ptr[len] & 0xc0) == 0x80)
		len--;
	snprintf(text, NAME_MAX_BYTES, "%.*s%s", (int)len, name.ptr,
	    len < name.len ? "..." : "");
}

/* Adds to what tells one set of conditions from another. */
static void
add_key(struct trouble *trouble, struct params *params, struct span name,
    struct span value)
{
	size_t len = params->condition_key.len + name.len + value.len + 2;
	char *key = arena_alloc(trouble->arena, len), *to = key;

	if (key == NULL) {
		trouble->err = ERR_NO_MEMORY;
		return;
	}
	if (params->condition_key.len > 0)
		to = mempcpy(
		    to, params->condition_key.ptr, params->condition_key.len);
	to = mempcpy(to, name.ptr, name.len);
	*to++ = '\0';
	if (value.len > 0)
		to = mempcpy(to, value.ptr, value.len);
	*to = '\0';
	params->condition_key = span_make(key, len);
}

static struct condition *
new_condition(struct trouble *trouble, struct params *params)
{
	if (params->conditions == NULL)
		params->conditions = arena_array(trouble->arena,
		    PARAMS_CONDITIONS_MAX, sizeof(*params->conditions));
	if (params->conditions == NULL) {
		trouble->err = ERR_NO_MEMORY;
		return NULL;
	}
	return &params->conditions[params->condition_count];
}

void
params_condition(struct trouble *trouble, struct params *params,
    struct span column, const struct query_pair *pair)
{
	struct condition *condition;
	char name[NAME_MAX_BYTES], text[256];
	struct fault fault;
	enum err err;

	assert(params->condition_count <= PARAMS_CONDITIONS_MAX);
	name_text(name, pair->name);
	if (params->condition_count == PARAMS_CONDITIONS_MAX) {
		params_wrong(trouble, name,
		    "is one condition too many: %u are "
		    "the most",
		    PARAMS_CONDITIONS_MAX);
		return;
	}
	condition = new_condition(trouble, params);
	if (condition == NULL)
		return;
	fault_clear(&fault);
	err = condition_read(
	    condition, column, pair->value, trouble->arena, &fault);
	if (err == ERR_BAD_INPUT)
		params_wrong(trouble, name, "%s",
		    trouble->french
			? french_made(text, sizeof(text), fault.message)
			: fault.message);
	else if (err != ERR_OK)
		trouble->err = err;
	else {
		params->condition_count++;
		add_key(trouble, params, column, pair->value);
	}
}

/* "A,B" as the list of a condition. */
static bool
range_list(struct trouble *trouble, struct params *params,
    const struct query_pair *pair)
{
	size_t len = pair->value.len + sizeof("in.()");
	char *text = arena_alloc(trouble->arena, len);
	struct query_pair list = {.name = pair->name};

	if (text == NULL) {
		trouble->err = ERR_NO_MEMORY;
		return true;
	}
	snprintf(text, len, "in.(%.*s)", SPAN_ARG(pair->value));
	list.value = span_of(text);
	params_condition(trouble, params, SPAN("codeGamme"), &list);
	return true;
}

bool
params_is_condition(struct trouble *trouble, struct params *params,
    const struct param_info *info, const struct query_pair *pair)
{
	bool dot = span_find(pair->value, '.') < pair->value.len;

	if (info->type == PARAM_GAMME && !dot &&
	    span_find(pair->value, ',') < pair->value.len)
		return range_list(trouble, params, pair);
	if (!dot ||
	    (info->type != PARAM_GAMME && !condition_is_name(pair->name)))
		return false;
	params_condition(trouble, params,
	    info->type == PARAM_GAMME ? SPAN("codeGamme") : pair->name, pair);
	return true;
}

void
params_ignore(struct trouble *trouble, struct params *params, struct span name)
{
	assert(params->ignored_count < QUERY_PAIRS_MAX);
	for (unsigned i = 0; i < params->ignored_count; i++)
		if (span_eq(params->ignored[i], name))
			return;
	if (params->ignored == NULL)
		params->ignored = arena_array(
		    trouble->arena, QUERY_PAIRS_MAX, sizeof(*params->ignored));
	if (params->ignored == NULL)
		trouble->err = ERR_NO_MEMORY;
	else
		params->ignored[params->ignored_count++] = name;
}

void
params_end(struct trouble *trouble, struct params *params)
{
	char name[NAME_MAX_BYTES];

	if (!params->strict)
		return;
	for (unsigned i = 0; i < params->ignored_count; i++) {
		name_text(name, params->ignored[i]);
		params_wrong(trouble, name, "is no parameter here");
	}
}

void
params_needed(struct trouble *trouble, const char *name, enum params_use use)
{
	params_wrong(trouble, name,
	    (use & USE_LOOKUP) != 0
		? "is needed, one for all codes: /products/search finds a code "
		  "at all suppliers, and meta.fournisseurs of "
		  "/products/{codein} names those of an article"
		: "is needed");
}
