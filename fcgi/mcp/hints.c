#include "fcgi/mcp/hints.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mcp/tool.h"
#include "fcgi/call.h"
#include "fcgi/http/condition.h"
#include "fcgi/http/groups.h"
#include "fcgi/http/params.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/wording.h"
#include "lmdb-schema/row.h"

#define LENGTH_MAX 40 /* longer names are nobody's slip */

/* Letters and digits alone, in lower case: stock_actuel is stockActuel. */
static size_t
letters(char to[LENGTH_MAX], struct span name)
{
	size_t len = 0;

	for (size_t i = 0; i < name.len && len < LENGTH_MAX; i++) {
		char c = name.ptr[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 32);
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			to[len++] = c;
	}
	return len;
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to add, drop or change until one is the other. */
static unsigned
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned change = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = least(least(row[j], row[j - 1]) + 1, change);
		}
	}
	return row[b_len];
}

/* The smaller the nearer; 100 and more is not near. */
static unsigned
score(struct span name, struct span known)
{
	char a[LENGTH_MAX], b[LENGTH_MAX];
	size_t a_len = letters(a, name), b_len = letters(b, known);
	unsigned apart;

	if (a_len < 2 || b_len < 2)
		return 100;
	apart = distance(a, a_len, b, b_len);
	if (apart <= 1 + a_len / 4)
		return apart;
	if (a_len >= 3 &&
	    (memmem(b, b_len, a, a_len) != NULL ||
		memmem(a, a_len, b, b_len) != NULL))
		return 20 + least(apart, 79);
	return 100;
}

struct nearest {
	struct span *names;
	unsigned scores[HINTS_MAX];
	unsigned count;
};

/* `points` are those of the name itself, or of what it is called by. */
static void
consider(struct nearest *nearest, struct span known, unsigned points)
{
	unsigned place = nearest->count;

	if (points >= 100)
		return;
	for (unsigned i = 0; i < nearest->count; i++)
		if (span_eq(nearest->names[i], known))
			return;
	while (place > 0 && points < nearest->scores[place - 1])
		place--;
	if (place == HINTS_MAX)
		return;
	if (nearest->count < HINTS_MAX)
		nearest->count++;
	for (unsigned i = nearest->count - 1; i > place; i--) {
		nearest->names[i] = nearest->names[i - 1];
		nearest->scores[i] = nearest->scores[i - 1];
	}
	nearest->names[place] = known;
	nearest->scores[place] = points;
}

unsigned
hints_of(struct span out[HINTS_MAX], struct span name)
{
	struct nearest nearest = {.names = out, .count = 0};

	assert(out != NULL);
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		const struct row_info *info = &row_info[i];
		unsigned label = least(score(name, span_of(info->label_en)),
		    score(name, span_of(info->label_fr)));

		consider(&nearest, info->name,
		    least(score(name, info->name), label));
	}
	for (unsigned i = 0; i < GROUP_KEYS; i++) {
		struct span known = span_of(group_infos[i].name);

		consider(&nearest, known, score(name, known));
	}
	return nearest.count;
}

/* A name that a filter, a sort, a group or a field may be of. */
static bool
is_known(struct span name)
{
	if (row_column(name) >= 0 || condition_is_name(name) ||
	    group_find(name) >= 0)
		return true;
	for (unsigned i = 0; i < param_count; i++)
		if (span_eq(name, span_of(param_infos[i].name)))
			return true;
	return false;
}

static void
hint_at(struct buf *text, struct span name)
{
	struct span names[HINTS_MAX];
	struct span column = span_sub(name, 0, span_find(name, '.'));
	unsigned count;

	if (name.len == 0 || is_known(name))
		return;
	count = hints_of(names, column);
	buf_addf(text, " \"%.*s\" is unknown", SPAN_ARG(span_sub(name, 0, 60)));
	for (unsigned i = 0; i < count; i++)
		buf_addf(text, "%s %.*s", i == 0 ? "; nearest:" : ",",
		    SPAN_ARG(names[i]));
	buf_add_char(text, '.');
}

/* An item of an argument: a name, a sort key, a filter. */
static void
hint_at_item(struct buf *text, struct span item, bool filters)
{
	struct span name = span_trim(span_sub(item, 0, span_find(item, '=')));

	if (span_starts(name, SPAN("-")))
		name = span_from(name, 1);
	if (filters && span_find(item, '=') == item.len)
		buf_addf(text,
		    " A filter is COLUMN=OPERATOR.VALUE, not \"%.*s\".",
		    SPAN_ARG(span_sub(item, 0, 60)));
	hint_at(text, name);
}

void
hints_write(struct buf *text, const struct asking *asking)
{
	static const char *const arguments[] = {
	    "filters", "fields", "sort", "groups", "values", "columns"};
	struct arena *arena = asking->agent->call->serving->arena;

	for (unsigned i = 0; i < sizeof(arguments) / sizeof(arguments[0]);
	     i++) {
		struct jval list = jval_member(asking->args, arguments[i]);
		struct jwalk walk = jwalk_begin(list);
		struct jval none, item;

		while (jval_type(list) == JARRAY && text->len < 800 &&
		    jwalk_next(&walk, &none, &item))
			hint_at_item(text, jval_text(item, arena), i == 0);
	}
}

static void
hint_at_argument(struct buf *text, const struct tool *tool, struct span name)
{
	struct span best = wording_argument(name);
	unsigned least_points = wording_has_argument(tool, best) ? 0 : 100;

	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++) {
		unsigned points = score(name, span_of(field->name));

		if (points < least_points) {
			least_points = points;
			best = span_of(field->name);
		}
	}
	if (least_points < 100) {
		buf_addf(text, "; nearest: %.*s", SPAN_ARG(best));
		return;
	}
	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++)
		buf_addf(text, "%s %s",
		    field == tool->fields ? "; it takes" : ",", field->name);
}

void
hints_arguments(struct buf *text, const struct tool *tool, struct jval args,
    struct arena *arena)
{
	struct jwalk walk = jwalk_begin(args);
	struct jval name, value;

	assert(tool->fields != NULL);
	while (jwalk_next(&walk, &name, &value)) {
		struct span argument = jval_text(name, arena);

		if (wording_has_argument(tool, argument))
			continue;
		hint_at_argument(text, tool, argument);
		return;
	}
}
