#include "fcgi/table/lines.h"

#include <assert.h>

#include "common/jsonw.h"
#include "fcgi/http/reply.h"
#include "fcgi/table/walk.h"

enum err
lines_begin(struct lines *lines, enum format format, struct reply *reply,
    const struct table_column *columns, unsigned count)
{
	assert(format != FORMAT_JSON && format < FORMATS);
	*lines = (struct lines){.format = format, .reply = reply};
	if (!format_infos[format].flat)
		return ERR_OK;
	return table_begin(&lines->table, format, reply, columns, count);
}

/* A column of ROW_OBJECT has a nested object as one cell. */
static void
add_cells(struct table *table, struct span object)
{
	struct span name, value, rest = jsonw_inside(object);

	while (walk_member(&rest, &name, &value)) {
		assert(table->at < table->count);
		if (value.ptr[0] == '{' &&
		    table->columns[table->at].type != ROW_OBJECT)
			add_cells(table, value);
		else
			table_cell(table, value);
	}
	assert(rest.len == 0);
}

enum err
lines_add(struct lines *lines, struct span object)
{
	assert(object.len > 1 && object.ptr[0] == '{');
	if (format_infos[lines->format].flat) {
		add_cells(&lines->table, object);
		return table_row_end(&lines->table);
	}
	iovbuf_add(&lines->reply->body, object);
	iovbuf_text(&lines->reply->body, "\n");
	reply_flush_some(lines->reply);
	return lines->reply->err;
}

enum err
lines_end(struct lines *lines)
{
	if (format_infos[lines->format].flat)
		return table_end(&lines->table);
	return lines->reply->err;
}

void
lines_fini(struct lines *lines)
{
	table_fini(&lines->table);
}
