/* table_priv: what a format's writer promises to table.c. */
#pragma once

#include "fcgi/table/table.h"

/* `fini` NULL: the format keeps nothing. Each gives the first failure. */
struct table_ops {
	enum err (*begin)(struct table *table);
	enum err (*row)(struct table *table); /* its `count` cells */
	enum err (*end)(struct table *table);
	void (*fini)(struct table *table);
};

extern const struct table_ops table_text_ops; /* CSV and its kin */
extern const struct table_ops table_xlsx_ops;
extern const struct table_ops table_parquet_ops;
