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
static enum err
add_cells(struct table *table, struct span object)
{
	struct span name, value, rest = jsonw_inside(object);
	enum err err = ERR_OK;

	while (err == ERR_OK && walk_member(&rest, &name, &value)) {
		assert(table->at < table->count);
		if (value.ptr[0] == '{' &&
		    table->columns[table->at].type != ROW_OBJECT)
			err = add_cells(table, value);
		else
			err = table_cell(table, value);
	}
	assert(err != ERR_OK || rest.len == 0);
	return err;
}

enum err
lines_add(struct lines *lines, struct span object)
{
	assert(object.len > 1 && object.ptr[0] == '{');
	if (format_infos[lines->format].flat) {
		enum err err = add_cells(&lines->table, object);

		return err == ERR_OK ? table_row_end(&lines->table) : err;
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
