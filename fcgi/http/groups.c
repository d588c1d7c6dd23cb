#include "fcgi/http/groups.h"

#include <assert.h>

#include "lmdb-schema/row.h"

const struct group_info group_infos[GROUP_KEYS] = {
    [GROUP_CODE1] = {"code1", "libelleCode1", "classification, 2 digits"},
    [GROUP_CODE2] = {"code2", "libelleCode2", "classification, 4 digits"},
    [GROUP_CODE3] = {"code3", "libelleCode3", "classification, 6 digits"},
    [GROUP_MARQUE] = {"marque", NULL, "brand"},
    [GROUP_GAMME] = {"codeGamme", NULL, "range, as codeGamme shows it"},
    [GROUP_TREND] = {"trend", NULL, "direction of the trend"},
    [GROUP_MONTH] = {"mois", NULL, "month of the monthly maps, YYYYMM"},
    [GROUP_STORE] = {"magasin", NULL, "store of the maps by store"},
};

int
group_find(struct span name)
{
	for (int i = 0; i < GROUP_KEYS; i++)
		if (span_eq(name, span_of(group_infos[i].name)))
			return i;
	return -1;
}

bool
group_takes(unsigned column, const struct group_list *groups)
{
	assert(column < ROW_COLUMNS);
	if (group_has_cells(groups))
		return column == COL_sales12m || column == COL_stock12m ||
		    column == COL_receptions12m ||
		    (column == COL_sales12mN1 &&
			!group_has(groups, GROUP_STORE));
	return column < ROW_FLATS &&
	    (row_info[column].type == ROW_DECIMAL ||
		row_info[column].type == ROW_INTEGER);
}
