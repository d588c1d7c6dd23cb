#include "fcgi/table/table.h"

#include <assert.h>

#include "fcgi/http/reply.h"
#include "fcgi/table/table_priv.h"

#define FLUSH_ROWS 16

enum err
table_begin(struct table *table, enum format format, struct reply *reply,
    const struct table_column *columns, unsigned count)
{
	assert(format < FORMATS && format_infos[format].flat);
	assert(count > 0 && count <= TABLE_COLUMNS_MAX);
	*table = (struct table){format, reply, columns, count, 0, 0};
	table_text_begin(table);
	return ERR_OK;
}

void
table_cell(struct table *table, struct span json)
{
	assert(table->at < table->count && json.len > 0);
	table_text_cell(table, json);
	table->at++;
}

enum err
table_row_end(struct table *table)
{
	assert(table->at == table->count);
	table_text_row_end(table);
	table->at = 0;
	if (++table->rows % FLUSH_ROWS == 0)
		reply_flush_some(table->reply);
	return table->reply->err;
}

enum err
table_end(struct table *table)
{
	assert(table->at == 0);
	return table->reply->err;
}
