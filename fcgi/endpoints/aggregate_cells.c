#include "fcgi/endpoints/aggregate_cells.h"

#include <stdio.h>

#include "common/arena.h"

/* "totalCa.sum" and the like; empty when there is no room. */
static struct span
value_name(struct arena *arena, unsigned column, const char *part)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%.*s.%s",
	    SPAN_ARG(row_info[column].name), part);

	return arena_copy(arena, span_make(text, (size_t)len));
}

enum err
aggregate_cell_columns(struct table_column columns[AGGREGATE_CELLS_MAX],
    unsigned *count, const struct aggregate *aggregate, struct arena *arena)
{
	static const char *const parts[] = {
	    "count", "sum", "min", "max", "mean", "share"};
	unsigned at = 0;

	for (unsigned i = 0; i < aggregate->groups.count; i++) {
		const struct group_info *info =
		    &group_infos[aggregate->groups.keys[i]];

		columns[at++] =
		    (struct table_column){span_of(info->name), ROW_TEXT};
		if (info->label != NULL)
			columns[at++] = (struct table_column){
			    span_of(info->label), ROW_TEXT};
	}
	columns[at++] = (struct table_column){SPAN("articles"), ROW_INTEGER};
	for (unsigned i = 0; i < aggregate->columns.count; i++)
		for (unsigned k = 0; k < AGGREGATE_PARTS; k++) {
			unsigned column = aggregate->columns.columns[i];
			struct span name = value_name(arena, column, parts[k]);

			if (name.ptr == NULL)
				return ERR_NO_MEMORY;
			columns[at++] = (struct table_column){name,
			    k == 0 ||
				    (k < 4 &&
					row_info[column].type == ROW_INTEGER)
				? ROW_INTEGER
				: ROW_DECIMAL};
		}
	*count = at;
	return ERR_OK;
}
