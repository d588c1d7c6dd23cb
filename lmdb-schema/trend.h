/*
 * trend: where a product's monthly network quantities are heading.
 *
 * Least squares over the last months of the series, at most 12, x = 0, 1, …
 * All in whole numbers: the ±8 % threshold is decided exactly, and only the
 * percentage shown is rounded.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "lmdb-schema/live.h"

enum trend_direction { TREND_FLAT, TREND_UP, TREND_DOWN };

struct trend {
	enum trend_direction direction;
	int64_t pct; /* micro: 230000 is +23 %; NUM_NULL when there is none */
	unsigned months; /* used */
};

/* `quantities` in micro, oldest first. Values that are NUM_NULL are skipped. */
struct trend trend_of(const int64_t *quantities, unsigned count);

/* {"direction":"up","pct":0.23,"label":"+23 %","monthsUsed":12} */
void trend_json(struct buf *buf, const struct trend *trend);

/* Of the months that are shown; "null" when the product has no series. */
void trend_network_json(struct buf *buf, const struct network *network);
