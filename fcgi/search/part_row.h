/* part_row: the text of a row that another node has sent (part.h), looked at. */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct splice;

/*
 * The values of the columns that the splice has chosen, in their order, as JSON:
 * parts of `text`. ERR_BAD_INPUT: it is no row of exactly these.
 */
enum err part_row_read(
    struct span *values, struct span text, const struct splice *splice);
