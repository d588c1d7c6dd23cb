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

/* Rows are about as long as the one at hand: this is near enough. */
#define SPLICE_AHEAD 16

/* Prefetches the columns of a row some rows behind this one. */
static inline void
splice_expect_behind(
    const struct splice *splice, const struct snapshot_part *flat)
{
	const uint16_t *off = flat->off.flat;
	const char *json = flat->json + SPLICE_AHEAD * off[ROW_FLATS];

	for (unsigned i = 0; i < splice->flat_runs; i++) {
		const char *at = json + off[splice->flat[i].first];
		const char *end = json + off[splice->flat[i].last + 1];

		for (; at < end + SPAN_LINE; at += SPAN_LINE)
			span_expect_line(at);
	}
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
