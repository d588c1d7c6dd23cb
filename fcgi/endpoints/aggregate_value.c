#include "fcgi/endpoints/aggregate_value.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/members.h"
#include "common/num.h"

#define WIDE_TEXT_MAX 48
#define NUMBER_TEXT_MAX 64

static bool
is_whole(unsigned column)
{
	return row_info[column].type == ROW_INTEGER;
}

/* All digits, from the right; the sum of many decimals is no decimal of num.h. */
static struct span
wide_text(char text[WIDE_TEXT_MAX], __int128 value)
{
	unsigned __int128 left =
	    value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	char *to = text + WIDE_TEXT_MAX;

	do
		*--to = (char)('0' + (int)(left % 10));
	while ((left /= 10) > 0);
	return span_make(to, (size_t)(text + WIDE_TEXT_MAX - to));
}

/* A sum as JSON: whole units and up to six decimals. */
static void
member_sum(struct jsonw *json, const char *name, __int128 sum, bool whole)
{
	char digits[WIDE_TEXT_MAX], text[NUMBER_TEXT_MAX];
	__int128 units = whole ? sum : sum / NUM_MICRO;
	int64_t rest = whole ? 0 : (int64_t)(sum % NUM_MICRO);
	struct span found = wide_text(digits, units);
	int len = snprintf(
	    text, sizeof(text), "%s%.*s", sum < 0 ? "-" : "", SPAN_ARG(found));

	if (rest != 0) {
		len += snprintf(text + len, sizeof(text) - (size_t)len,
		    ".%06lld", (long long)llabs(rest));
		while (text[len - 1] == '0')
			len--;
	}
	jsonw_key(json, name);
	jsonw_raw(json, span_make(text, (size_t)len));
}

static void
member_micro(struct jsonw *json, const char *name, int64_t micro)
{
	jsonw_key(json, name);
	if (micro == NUM_NULL)
		jsonw_null(json);
	else
		jsonw_micro(json, micro);
}

static void
member_value(struct jsonw *json, const char *name, int64_t value, bool whole)
{
	if (whole)
		members_int(json, name, value);
	else
		member_micro(json, name, value);
}

void
aggregate_value_write(struct jsonw *json, unsigned column,
    const struct aggregate_value *value, const struct aggregate_value *total)
{
	bool whole = is_whole(column);
	__int128 count = (__int128)value->count * (whole ? 1 : NUM_MICRO);

	jsonw_key_span(json, row_info[column].name);
	jsonw_object_begin(json);
	members_int(json, "count", (int64_t)value->count);
	member_sum(json, "sum", value->sum, whole);
	if (value->count == 0) {
		member_micro(json, "min", NUM_NULL);
		member_micro(json, "max", NUM_NULL);
	} else {
		member_value(json, "min", value->min, whole);
		member_value(json, "max", value->max, whole);
	}
	member_micro(json, "mean", num_ratio(value->sum, count));
	if (total != NULL)
		member_micro(json, "share", num_ratio(value->sum, total->sum));
	jsonw_object_end(json);
}
