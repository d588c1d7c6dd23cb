/*
 * tool_columns: describe_columns. What a column means is in lmdb-schema/row.def;
 * the least and greatest values of a supplier are what the API's sums say, and
 * its first and last rows by a date.
 */
#include <stdio.h>
#include <string.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/http/condition.h"
#include "fcgi/http/groups.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/grid_tools.h"
#include "fcgi/mcp/tell.h"
#include "lmdb-schema/row.h"

/* A supplier's values of a column, as JSON; empty: not known. */
struct extent {
	struct span least, greatest;
};

static bool
is_asked(const struct asking *asking, unsigned column)
{
	struct jwalk walk = jwalk_begin(jval_member(asking->args, "columns"));
	struct jval none, name;

	if (!asking_has(asking, "columns"))
		return true;
	while (jwalk_next(&walk, &none, &name))
		if (jval_is(name, row_info[column].name))
			return true;
	return false;
}

/* False: one of the names is no column's, and the result says so. */
static bool
check_names(struct asking *asking)
{
	struct arena *arena = asking->agent->call->serving->arena;
	struct jwalk walk = jwalk_begin(jval_member(asking->args, "columns"));
	struct jval none, name;

	while (jwalk_next(&walk, &none, &name))
		if (row_column(jval_text(name, arena)) < 0) {
			tell_unknown(asking, "columns");
			return false;
		}
	return true;
}

/* --- a supplier's values -------------------------------------------------- */

static bool
keep(struct asking *asking, struct span *out, struct jval value)
{
	*out = arena_copy(asking->agent->call->serving->arena, jval_raw(value));
	return out->ptr != NULL;
}

/* Of up to eight columns at once. */
static bool
take_sums(struct asking *asking, struct extent *extents,
    const unsigned *columns, unsigned count)
{
	struct buf names;
	bool done;

	buf_init(&names, 4096);
	for (unsigned i = 0; i < count; i++) {
		if (i > 0)
			buf_add_char(&names, ',');
		buf_add_span(&names, row_info[columns[i]].name);
	}
	asking_begin(asking, "/grid/aggregates");
	asking_give(asking, "supplier", "fournisseur");
	asking_pair(asking, SPAN("values"), buf_span(&names));
	done = buf_end(&names) == ERR_OK && asking_get(asking);
	buf_fini(&names);
	for (unsigned i = 0; i < count && done; i++) {
		const struct row_info *info = &row_info[columns[i]];
		struct jval sums = jval_member(
		    jval_member(asking->meta, "totaux"), info->name.ptr);

		done = keep(asking, &extents[columns[i]].least,
			   jval_member(sums, "min")) &&
		    keep(asking, &extents[columns[i]].greatest,
			jval_member(sums, "max"));
	}
	return done;
}

/* The first row by a column, in that order: its value. */
static bool
take_first(
    struct asking *asking, struct span *out, unsigned column, const char *order)
{
	struct span name = row_info[column].name;
	struct jwalk walk;
	struct jval none, row;

	asking_begin(asking, "/grid");
	asking_give(asking, "supplier", "fournisseur");
	asking_pair(asking, SPAN("sort"), name);
	asking_pair(asking, SPAN("order"), span_of(order));
	asking_pair(asking, SPAN("fields"), name);
	asking_pair(asking, SPAN("limit"), SPAN("1"));
	if (!asking_get(asking))
		return false;
	walk = jwalk_begin(asking->data);
	return !jwalk_next(&walk, &none, &row) ||
	    keep(asking, out, jval_member(row, name.ptr));
}

static bool
take_extents(struct asking *asking, struct extent *extents)
{
	static const struct group_list none = {{0}, 0};
	unsigned columns[GROUPS_VALUES_MAX], count = 0;
	bool done = true;

	for (unsigned i = 0; i < ROW_FLATS && done; i++) {
		if (!is_asked(asking, i))
			continue;
		if (row_info[i].type == ROW_DATE)
			done =
			    take_first(asking, &extents[i].least, i, "asc") &&
			    take_first(asking, &extents[i].greatest, i, "desc");
		if (!group_takes(i, &none))
			continue;
		columns[count++] = i;
		if (count < GROUPS_VALUES_MAX)
			continue;
		done = done && take_sums(asking, extents, columns, count);
		count = 0;
	}
	return done &&
	    (count == 0 || take_sums(asking, extents, columns, count));
}

/* --- what is told --------------------------------------------------------- */

static void
put_names(struct jsonw *json, const char *const *values, unsigned count)
{
	jsonw_key(json, "values");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < count; i++)
		jsonw_text(json, values[i]);
	jsonw_array_end(json);
}

/* The values that it may have, where they are few. */
static void
put_values(struct jsonw *json, unsigned column)
{
	static const char *const gammes[] = {"A", "B", "C", "Y", "Z"};
	static const char *const classes[] = {"A", "B", "C"};

	if (row_is_gamme(column))
		put_names(json, gammes, ROW_GAMMES);
	else if (column == COL_classeAbc)
		put_names(json, classes, 3);
	else if (column == COL_trend)
		put_names(json, condition_trends + 1, CONDITION_TRENDS);
}

/* How a filter names it. */
static void
put_filter(struct jsonw *json, unsigned column)
{
	char text[80];

	if (column < ROW_FLATS || column == COL_trend)
		return;
	if (condition_has_months(column))
		snprintf(
		    text, sizeof(text), "%s.YYYYMM", row_info[column].name.ptr);
	else if (condition_has_stores(column))
		snprintf(
		    text, sizeof(text), "%s.STORE", row_info[column].name.ptr);
	else
		return;
	members_string(json, "filter_as", text);
}

static void
put_column(struct jsonw *json, unsigned column, const struct extent *extent)
{
	static const char *const types[] = {
	    "text", "range", "decimal", "integer", "date", "map"};
	const struct row_info *info = &row_info[column];

	jsonw_object_begin(json);
	members_text(json, "name", info->name);
	members_string(json, "type", types[info->type]);
	members_given(json, "unit", info->unit);
	members_string(json, "label", info->label_fr);
	members_string(json, "meaning", info->meaning);
	members_bool(json, "nullable", (info->flags & ROW_NEVER_NULL) == 0);
	put_values(json, column);
	put_filter(json, column);
	if (extent->least.len > 0) {
		jsonw_key(json, "least");
		jsonw_raw(json, extent->least);
		jsonw_key(json, "greatest");
		jsonw_raw(json, extent->greatest);
	}
	jsonw_object_end(json);
}

static void
put_operators(struct jsonw *json)
{
	jsonw_key(json, "operators");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < condition_count; i++) {
		const struct condition_info *info = &condition_infos[i];
		char form[60];

		snprintf(form, sizeof(form), "COLUMN=%s.%s", info->name,
		    info->value);
		jsonw_object_begin(json);
		members_string(json, "filter", form);
		members_string(json, "meaning", info->meaning);
		members_bool(
		    json, "texts_only", info->types == CONDITION_TEXTS);
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
}

void
tool_columns(struct asking *asking)
{
	struct extent extents[ROW_COLUMNS];
	struct jsonw *json = &asking->json;
	unsigned count = 0;

	memset(extents, 0, sizeof(extents));
	if (!check_names(asking))
		return;
	if (asking_has(asking, "supplier") && !take_extents(asking, extents))
		return;
	tell_begin(asking);
	jsonw_key(json, "columns");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		if (is_asked(asking, i)) {
			put_column(json, i, &extents[i]);
			count++;
		}
	jsonw_array_end(json);
	put_operators(json);
	tell_end(asking,
	    "%u of %u columns. A filter is COLUMN=OPERATOR.VALUE, such as "
	    "stockActuel=gt.0; not. before the operator negates it.",
	    count, (unsigned)ROW_COLUMNS);
}
