/* table_priv: what the writers of the formats promise to table.c. */
#pragma once

#include "fcgi/table/table.h"

/* CSV and its kin: table_text.c. */
void table_text_begin(struct table *table);
void table_text_cell(struct table *table, struct span json);
void table_text_row_end(struct table *table);
