/* Parameters that are lists of columns or keys. */
#include <assert.h>
#include <string.h>

#include "common/date.h"
#include "fcgi/http/condition.h"
#include "fcgi/http/params_priv.h"

/* "totalCa", or "sales12m.202510". */
static bool
read_key(struct sort_key *key, struct span name)
{
	size_t dot = span_find(name, '.');
	int column = row_column(span_sub(name, 0, dot));

	if (column < 0)
		return false;
	*key = (struct sort_key){.column = (unsigned)column};
	if (dot == name.len)
		return row_sortable((unsigned)column);
	return condition_has_months((unsigned)column) &&
	    date_month(&key->month, span_from(name, dot + 1));
}

/* "codeGamme,-totalCa": '-' is descending, whatever `order` says. */
void
params_read_sort(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct sort_list *list = out;
	struct span name, rest = value;

	while (span_cut(&name, &rest, ',')) {
		bool minus = name.len > 0 && name.ptr[0] == '-';
		struct sort_key key;

		if (!read_key(&key, span_from(name, minus))) {
			trouble->bad_sort = true;
			params_wrong(trouble, info->name,
			    "must be one of details.allowed, or some of them "
			    "separated by commas");
			return;
		}
		if (list->count == PARAMS_SORTS_MAX) {
			params_wrong(trouble, info->name, "has over %d columns",
			    PARAMS_SORTS_MAX);
			return;
		}
		key.descending = minus;
		list->keys[list->count] = key;
		list->is_signed[list->count++] = minus;
	}
}

/*
 * A column alone has the order that `order` says, which is descending by
 * default. In a list, or behind a sign, a column ascends unless it is told.
 */
static void
finish_sort(struct params *params)
{
	struct sort_list *list = &params->sorts;
	bool alone = list->count == 1;

	assert(list->count <= PARAMS_SORTS_MAX);
	for (unsigned i = 0; i < list->count; i++)
		if (!list->is_signed[i])
			list->keys[i].descending =
			    (alone || params->ordered) && params->descending;
	if (list->count == 0)
		return;
	params->sort = (int)list->keys[0].column;
	params->descending = list->keys[0].descending;
}

void
params_read_groups(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct group_list *list = out;
	struct span name, rest = value;

	while (value.len > 0 && span_cut(&name, &rest, ',')) {
		int key = group_find(name);

		if (key < 0 || group_has(list, (enum group_key)key) ||
		    list->count == GROUPS_MAX) {
			params_wrong(trouble, info->name,
			    "must be up to %d different ones of code1, code2, "
			    "code3, marque, codeGamme, trend, mois, magasin",
			    GROUPS_MAX);
			return;
		}
		list->keys[list->count++] = (enum group_key)key;
	}
}

void
params_read_values(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct value_list *list = out;
	struct span name, rest = value;

	while (value.len > 0 && span_cut(&name, &rest, ',')) {
		int column = row_column(name);

		if (column < 0 || list->count == GROUPS_VALUES_MAX) {
			params_wrong(trouble, info->name,
			    "must be up to %d columns", GROUPS_VALUES_MAX);
			return;
		}
		list->columns[list->count++] = (unsigned)column;
	}
}

/* The summed columns must go with the groups. */
static void
finish_values(struct trouble *trouble, struct params *params)
{
	static const unsigned totals[] = {
	    COL_totalCa, COL_totalQuantite, COL_totalMarge};
	struct value_list *list = &params->values;
	bool cells = group_has_cells(&params->groups);

	assert(list->count <= GROUPS_VALUES_MAX);
	for (unsigned i = 0; i < list->count; i++)
		if (!group_takes(list->columns[i], &params->groups)) {
			params_wrong(trouble, "values",
			    cells ? "must be of sales12m, stock12m, "
				    "receptions12m, or without magasin "
				    "sales12mN1, as mois or magasin is in "
				    "groups"
				  : "must be columns of numbers");
			return;
		}
	if (list->count > 0)
		return;
	if (cells) {
		list->columns[list->count++] = COL_sales12m;
		return;
	}
	memcpy(list->columns, totals, sizeof(totals));
	list->count = 3;
}

void
params_finish(
    struct trouble *trouble, struct params *params, enum params_use use)
{
	finish_sort(params);
	if ((use & USE_AGGREGATES) != 0)
		finish_values(trouble, params);
	if ((use & USE_FEED) != 0)
		params_finish_moments(trouble, params);
}
