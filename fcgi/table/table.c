#include "fcgi/table/table.h"

#include <assert.h>
#include <stdlib.h>

#include "fcgi/http/reply.h"
#include "fcgi/table/table_priv.h"

#define FLUSH_ROWS 16

static const struct table_ops *const ops[FORMATS] = {
    [FORMAT_CSV] = &table_text_ops,
    [FORMAT_CSV_FR] = &table_text_ops,
    [FORMAT_TSV] = &table_text_ops,
    [FORMAT_XLSX] = &table_xlsx_ops,
    [FORMAT_PARQUET] = &table_parquet_ops,
};

enum err
table_begin(struct table *table, enum format format, struct reply *reply,
    const struct table_column *columns, unsigned count)
{
	assert(format < FORMATS && ops[format] != NULL);
	assert(count > 0 && count <= TABLE_COLUMNS_MAX);
	*table = (struct table){.format = format,
	    .reply = reply,
	    .columns = columns,
	    .count = count,
	    .ops = ops[format]};
	table->cells = calloc(count, sizeof(*table->cells));
	return table->cells == NULL ? ERR_NO_MEMORY : table->ops->begin(table);
}

enum err
table_row_end(struct table *table)
{
	enum err err;

	assert(table->at == table->count);
	err = table->ops->row(table);
	table->at = 0;
	if (++table->rows % FLUSH_ROWS == 0)
		reply_flush_some(table->reply);
	return err == ERR_OK ? table->reply->err : err;
}

enum err
table_end(struct table *table)
{
	enum err err;

	assert(table->at == 0);
	err = table->ops->end(table);
	return err == ERR_OK ? table->reply->err : err;
}

void
table_fini(struct table *table)
{
	if (table->ops != NULL && table->ops->fini != NULL)
		table->ops->fini(table);
	free(table->cells);
	table->cells = NULL;
	table->ops = NULL;
}
