/*
 * rowcalc: one article's facts -> the numbers of its row.
 *
 * Computes every value that depends on the article alone; values that compare
 * it with the supplier's other articles (share, rank, class) are added by
 * compute_rank.c. Pure: no store, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/schema.h"

#define ROWCALC_NUMBERS 64

/*
 * The period: 12 months that end with `last_month`, the day it ends, and the
 * month since which sales are known, 0 if nobody knows.
 */
struct period {
	int32_t last_month;
	int32_t as_of_day;
	int32_t oldest_sales;
};

static inline int32_t
period_first(const struct period *period)
{
	return period->last_month - (SCHEMA_MONTHS - 1);
}

static inline int32_t
period_first_before(const struct period *period)
{
	return period_first(period) - SCHEMA_MONTHS;
}

/* Whether sales are known of all months of the year before. */
static inline bool
period_has_before(const struct period *period)
{
	return period->oldest_sales != 0 &&
	    period->oldest_sales <= period_first_before(period);
}

/*
 * number[i] is column i's, by row_number_index(): NUM_NULL for null, micro for
 * decimals, day counts for dates.
 */
struct row_numbers {
	int64_t number[ROWCALC_NUMBERS];
};

/* The place of each column in number[], looked up once. */
struct rowcalc_places {
	int8_t of[ROW_COLUMNS]; /* -1: not a number column */
	unsigned count;
};
void rowcalc_places(struct rowcalc_places *places);

/*
 * `network` is NULL when the network does not know the article.
 *
 *	ERR_DAMAGED    the article's series cannot be read
 *	ERR_TOO_LARGE  a sum is beyond what a decimal holds
 */
enum err rowcalc_article(struct row_numbers *out,
    const struct rowcalc_places *places, const struct source_article *article,
    const struct network *network, const struct period *period);
