/* splice_priv: internals shared by splice*.c only. */
#pragma once

#include "fcgi/rows/splice.h"

static inline bool
splice_is_gamme(unsigned column)
{
	return row_info[column].type == ROW_GAMME;
}

static inline bool
splice_is_network(unsigned column)
{
	return (row_info[column].flags & ROW_LIVE) != 0 &&
	    !splice_is_gamme(column);
}

/* The comma after the last member becomes the brace. */
void splice_close_row(struct splice *splice, struct iovbuf *pieces);

/* Whether a value of today differs from the snapshot: a range; any value. */
bool splice_gammes_differ(const struct splice *splice, uint32_t row);
enum err splice_differs(
    struct splice *splice, struct splice_today *today, bool *out);

/* Adds a row, value by value. */
enum err splice_live_row(
    struct splice *splice, struct splice_today *today, struct iovbuf *pieces);
