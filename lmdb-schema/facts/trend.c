#include "lmdb-schema/facts/trend.h"

#include <assert.h>

#include "common/num.h"

#define MONTHS 12

/*
 * With n values y over x = 0..n-1, P = n·Σxy - Σx·Σy and Q = n·Σxx - (Σx)²,
 * the slope is P / Q, and the line starts at S/n - P(n-1)/2Q. Hence
 *
 *	pct = slope·(n-1) / start = 2n(n-1)·P / (2·Q·S - n(n-1)·P)
 *
 * and the line starts above 0 when that divisor is. Otherwise the variation is
 * measured against the mean size of the values, the sum of |y| over n: a start
 * of 0 or less cannot be a divisor, but the line still has a direction. The size
 * of the mean would be 0 for returns that turn into as many sales.
 */
static void
fit(struct trend *trend, const int64_t *y, unsigned n)
{
	__int128 sum = 0, sizes = 0, weighted = 0, top, bottom, p, q;

	for (unsigned x = 0; x < n; x++) {
		sum += y[x];
		sizes += y[x] < 0 ? -(__int128)y[x] : y[x];
		weighted += (__int128)x * y[x];
	}
	p = n * weighted - (__int128)(n * (n - 1) / 2) * sum;
	q = (__int128)n * (n * (n - 1) * (2 * n - 1) / 6) -
	    (__int128)(n * (n - 1) / 2) * (n * (n - 1) / 2);
	top = (__int128)2 * n * (n - 1) * p;
	bottom = 2 * q * sum - (__int128)n * (n - 1) * p;
	if (bottom > 0)
		trend->pct = num_ratio(top, bottom);
	else
		bottom = 2 * q * sizes;
	if (top * 100 > bottom * 8)
		trend->direction = TREND_UP;
	else if (top * 100 < bottom * -8)
		trend->direction = TREND_DOWN;
}

struct trend
trend_of(const int64_t *quantities, unsigned count)
{
	struct trend trend = {TREND_FLAT, NUM_NULL, 0};
	int64_t y[MONTHS];
	unsigned first = MONTHS;

	assert(quantities != NULL || count == 0);
	/* From the newest backwards, skipping months without a value. */
	for (unsigned i = count; i > 0 && first > 0; i--)
		if (quantities[i - 1] != NUM_NULL)
			y[--first] = quantities[i - 1];
	trend.months = MONTHS - first;
	if (trend.months >= 2)
		fit(&trend, y + first, trend.months);
	return trend;
}

static void
add_label(struct buf *buf, const struct trend *trend)
{
	static const char *const words[] = {"stable", "en hausse", "en baisse"};
	int64_t percent;

	if (trend->direction == TREND_FLAT || trend->pct == NUM_NULL) {
		buf_add_span(buf, span_of(words[trend->direction]));
		return;
	}
	/* Millionths to hundredths, half away from zero. */
	percent = (trend->pct + (trend->pct < 0 ? -5000 : 5000)) / 10000;
	if (percent < 0) {
		buf_add_text(buf, "\u2212");
		percent = -percent;
	} else
		buf_add_char(buf, '+');
	num_add_int(buf, percent);
	buf_add_text(buf, " %");
}

void
trend_json(struct buf *buf, const struct trend *trend)
{
	static const char *const names[] = {"flat", "up", "down"};

	assert(trend->direction <= TREND_DOWN && trend->months <= MONTHS);
	buf_add_text(buf, "{\"direction\":\"");
	buf_add_span(buf, span_of(names[trend->direction]));
	buf_add_text(buf, "\",\"pct\":");
	if (trend->pct == NUM_NULL)
		buf_add_text(buf, "null");
	else
		num_add_decimal(buf, trend->pct);
	buf_add_text(buf, ",\"label\":\"");
	add_label(buf, trend);
	buf_add_text(buf, "\",\"monthsUsed\":");
	num_add_int(buf, trend->months);
	buf_add_char(buf, '}');
}

/* False when the product has no series. */
static bool
trend_shown(struct trend *out, const struct network *network)
{
	unsigned first;

	if (network == NULL || network->months == 0)
		return false;
	first = network_first_shown(network);
	*out = trend_of(network->month_qte + first, network->months - first);
	return true;
}

void
trend_network_json(struct buf *buf, const struct network *network)
{
	struct trend trend;

	if (trend_shown(&trend, network))
		trend_json(buf, &trend);
	else
		buf_add_text(buf, "null");
}

uint8_t
trend_code(const struct network *network)
{
	static const uint8_t codes[] = {
	    [TREND_UP] = 1, [TREND_DOWN] = 2, [TREND_FLAT] = 3};
	struct trend trend;

	return trend_shown(&trend, network) ? codes[trend.direction] : 0;
}
