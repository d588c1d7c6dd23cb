/*
 * trend: the direction of a product's monthly network quantities.
 *
 * Least squares over the last months of the series, at most 12, x = 0, 1, …
 * All in whole numbers: the ±8 % threshold is decided exactly, and only the
 * percentage shown is rounded.
 *
 * The variation is measured against the line's start. A line that starts at 0
 * or below has no percentage; its direction is that of the variation measured
 * against the absolute mean of the quantities, and flat when the mean is 0.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "lmdb-schema/facts/live.h"

enum trend_direction { TREND_FLAT, TREND_UP, TREND_DOWN };

struct trend {
	enum trend_direction direction;
	/* micro: 230000 is +23 %; NUM_NULL: none, or beyond what that holds */
	int64_t pct;
	unsigned months; /* used */
};

/* `quantities` in micro, oldest first. Values that are NUM_NULL are skipped. */
struct trend trend_of(const int64_t *quantities, unsigned count);

/*
 * {"direction":"up","pct":0.23,"label":"+23 %","monthsUsed":12}
 *
 * The label is a percentage, or "stable"; "en hausse" or "en baisse" where
 * there is no percentage.
 */
void trend_json(struct buf *buf, const struct trend *trend);

/*
 * Writes the trend of the months that are shown; "null" when the product has no
 * series.
 */
void trend_network_json(struct buf *buf, const struct network *network);

/*
 * The direction of that trend as snapshots store it: 0 when the product has no
 * series, else 1 up, 2 down, 3 flat.
 */
#define TREND_CODES 4
uint8_t trend_code(const struct network *network);
