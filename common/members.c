#include "common/members.h"

#include <assert.h>

#include "common/date.h"

void
members_text(struct jsonw *json, const char *name, struct span text)
{
	jsonw_key(json, name);
	jsonw_string(json, text);
}

void
members_string(struct jsonw *json, const char *name, const char *text)
{
	jsonw_key(json, name);
	jsonw_text(json, text);
}

void
members_int(struct jsonw *json, const char *name, int64_t value)
{
	jsonw_key(json, name);
	jsonw_int(json, value);
}

void
members_micro(struct jsonw *json, const char *name, int64_t micro)
{
	jsonw_key(json, name);
	jsonw_micro(json, micro);
}

void
members_bool(struct jsonw *json, const char *name, bool value)
{
	jsonw_key(json, name);
	jsonw_bool(json, value);
}

void
members_day(struct jsonw *json, const char *name, int32_t day)
{
	char text[DATE_TEXT_MAX];

	members_text(json, name, span_make(text, date_day_text(text, day)));
}

void
members_given(struct jsonw *json, const char *name, const char *text)
{
	if (text != NULL && text[0] != '\0')
		members_string(json, name, text);
}

void
members_null_text(struct jsonw *json, const char *name, struct span text)
{
	jsonw_key(json, name);
	if (text.len == 0)
		jsonw_null(json);
	else
		jsonw_string(json, text);
}

void
members_time(struct jsonw *json, const char *name, int64_t ms)
{
	char text[DATE_TEXT_MAX];

	members_null_text(json, name,
	    ms == 0 ? SPAN("") : span_make(text, date_instant_text(text, ms)));
}

void
members_object(struct jsonw *json, const char *name)
{
	jsonw_key(json, name);
	jsonw_object_begin(json);
}

void
members_names(struct jsonw *json, const char *name, const struct span *names,
    unsigned count)
{
	assert(names != NULL || count == 0);
	if (count == 0)
		return;
	jsonw_key(json, name);
	jsonw_array_begin(json);
	for (unsigned i = 0; i < count; i++)
		jsonw_string(json, names[i]);
	jsonw_array_end(json);
}
