/* call: the arguments of a tool, read one by one. */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <inttypes.h>

#include "common/utf8.h"

/* Absent and null are the same; any other type than `want` is a fault. */
static bool
find(const struct tool_call *call, const struct jsonr_value **out,
    const char *name, enum jsonr_type want, struct fault *fault)
{
	const struct jsonr_value *value = jsonr_member(call->args, name);
	enum jsonr_type type = jsonr_type(value);

	*out = NULL;
	if (type == JSONR_ABSENT || type == JSONR_NULL)
		return true;
	if (type != want) {
		fault_set(fault, name,
		    "not allowed: argument %s has the wrong type", name);
		return false;
	}
	*out = value;
	return true;
}

bool
call_int(const struct tool_call *call, int64_t *out, const char *name,
    int64_t fallback, int64_t min, int64_t max, struct fault *fault)
{
	const struct jsonr_value *value;

	assert(name != NULL && min <= max);
	*out = fallback;
	if (!find(call, &value, name, JSONR_INT, fault))
		return false;
	if (value == NULL)
		return true;
	*out = jsonr_as_int(value);
	if (*out >= min && *out <= max)
		return true;
	fault_set(fault, name,
	    "not allowed: argument %s must be from %" PRId64 " to %" PRId64,
	    name, min, max);
	return false;
}

bool
call_bool(const struct tool_call *call, bool *out, const char *name,
    bool fallback, struct fault *fault)
{
	const struct jsonr_value *value;

	assert(name != NULL);
	*out = fallback;
	if (!find(call, &value, name, JSONR_BOOL, fault))
		return false;
	if (value != NULL)
		*out = jsonr_as_bool(value);
	return true;
}

bool
call_text(const struct tool_call *call, struct span *out, const char *name,
    const char *fallback, size_t max, struct fault *fault)
{
	const struct jsonr_value *value;

	assert(name != NULL && max > 0);
	*out = span_of(fallback);
	if (!find(call, &value, name, JSONR_STRING, fault))
		return false;
	if (value == NULL) {
		if (fallback != NULL)
			return true;
		fault_set(
		    fault, name, "not allowed: argument %s is missing", name);
		return false;
	}
	*out = jsonr_as_string(value);
	if (out->len > max) {
		fault_set(fault, name,
		    "not allowed: argument %s is longer than %zu bytes", name,
		    max);
		return false;
	}
	if (utf8_is_valid(*out) && memchr(out->ptr, '\0', out->len) == NULL)
		return true;
	fault_set(fault, name, "not allowed: argument %s is not text", name);
	return false;
}
