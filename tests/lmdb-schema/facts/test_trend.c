/*
 * The naive way is exact too: the normal equations solved as fractions, each
 * step kept as a quotient of 128-bit integers over small quantities.
 */
#include "lmdb-schema/facts/trend.h"

#include "common/num.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define M NUM_MICRO

static const struct {
	unsigned count;
	int64_t y[14];
	enum trend_direction direction;
	int64_t pct;
	unsigned months;
	const char *json;
} cases[] = {
    {0, {0}, TREND_FLAT, NUM_NULL, 0,
	"{\"direction\":\"flat\",\"pct\":null,\"label\":\"stable\","
	"\"monthsUsed\":0}"},
    {1, {5 * M}, TREND_FLAT, NUM_NULL, 1,
	"{\"direction\":\"flat\",\"pct\":null,\"label\":\"stable\","
	"\"monthsUsed\":1}"},
    {2, {100 * M, 123 * M}, TREND_UP, 230000, 2,
	"{\"direction\":\"up\",\"pct\":0.23,\"label\":\"+23 %\","
	"\"monthsUsed\":2}"},
    {2, {100 * M, 91 * M}, TREND_DOWN, -90000, 2,
	"{\"direction\":\"down\",\"pct\":-0.09,\"label\":\"\u22129 %\","
	"\"monthsUsed\":2}"},
    /* exactly 8 % is flat, the least beyond it is not */
    {2, {100 * M, 108 * M}, TREND_FLAT, 80000, 2, NULL},
    {2, {100 * M, 108 * M + 1}, TREND_UP, 80000, 2,
	"{\"direction\":\"up\",\"pct\":0.08,\"label\":\"+8 %\","
	"\"monthsUsed\":2}"},
    {2, {100 * M, 92 * M}, TREND_FLAT, -80000, 2, NULL},
    {2, {100 * M, 92 * M - 1}, TREND_DOWN, -80000, 2, NULL},
    {3, {7 * M, 7 * M, 7 * M}, TREND_FLAT, 0, 3,
	"{\"direction\":\"flat\",\"pct\":0,\"label\":\"stable\","
	"\"monthsUsed\":3}"},
    /* a line that does not begin above 0 has a direction, no percentage */
    {2, {0, 10 * M}, TREND_UP, NUM_NULL, 2,
	"{\"direction\":\"up\",\"pct\":null,\"label\":\"en hausse\","
	"\"monthsUsed\":2}"},
    {2, {0, -10 * M}, TREND_DOWN, NUM_NULL, 2,
	"{\"direction\":\"down\",\"pct\":null,\"label\":\"en baisse\","
	"\"monthsUsed\":2}"},
    {2, {-5 * M, 10 * M}, TREND_UP, NUM_NULL, 2, NULL},
    {11,
	{1 * M, 1 * M, 2 * M, 4 * M, 8 * M, 16 * M, 32 * M, 64 * M, 128 * M,
	    256 * M, 1024 * M},
	TREND_UP, NUM_NULL, 11, NULL},
    {12, {0, 0, 0, 0, 0, 0, 10 * M, 20 * M, 30 * M, 40 * M, 50 * M, 60 * M},
	TREND_UP, NUM_NULL, 12, NULL},
    /* below 0: fewer returns are a rise, and more of them a fall */
    {2, {-100 * M, -50 * M}, TREND_UP, NUM_NULL, 2, NULL},
    {2, {-50 * M, -100 * M}, TREND_DOWN, NUM_NULL, 2, NULL},
    {2, {5 * M, -20 * M}, TREND_DOWN, -5 * M, 2, NULL},
    /* 8 % of the mean is flat, the least beyond it is not */
    {2, {-104 * M, -96 * M}, TREND_FLAT, NUM_NULL, 2,
	"{\"direction\":\"flat\",\"pct\":null,\"label\":\"stable\","
	"\"monthsUsed\":2}"},
    {2, {-104 * M - 1, -96 * M + 1}, TREND_UP, NUM_NULL, 2, NULL},
    {2, {-96 * M, -104 * M}, TREND_FLAT, NUM_NULL, 2, NULL},
    {2, {-96 * M + 1, -104 * M - 1}, TREND_DOWN, NUM_NULL, 2, NULL},
    /* nothing to measure by */
    {3, {0, 0, 0}, TREND_FLAT, NUM_NULL, 3, NULL},
    /* as many returns as sales: by their size */
    {2, {-5 * M, 5 * M}, TREND_UP, NUM_NULL, 2, NULL},
    {2, {5 * M, -5 * M}, TREND_DOWN, -2 * M, 2, NULL},
    /* more than a number of ours can say */
    {2, {1, INT64_C(500000000000) * M}, TREND_UP, NUM_NULL, 2,
	"{\"direction\":\"up\",\"pct\":null,\"label\":\"en hausse\","
	"\"monthsUsed\":2}"},
    /* only the last twelve count */
    {13,
	{900 * M, 10 * M, 10 * M, 10 * M, 10 * M, 10 * M, 10 * M, 10 * M,
	    10 * M, 10 * M, 10 * M, 10 * M, 10 * M},
	TREND_FLAT, 0, 12, NULL},
    /* months without a value are passed over */
    {4, {100 * M, NUM_NULL, NUM_NULL, 200 * M}, TREND_UP, M, 2, NULL},
    {2, {NUM_NULL, 5 * M}, TREND_FLAT, NUM_NULL, 1, NULL},
    /* half a percent is rounded away from 0 in the label */
    {2, {200 * M, 221 * M}, TREND_UP, 105000, 2,
	"{\"direction\":\"up\",\"pct\":0.105,\"label\":\"+11 %\","
	"\"monthsUsed\":2}"},
};

START_TEST(these_quantities_have_this_trend)
{
	struct trend trend = trend_of(cases[_i].y, cases[_i].count);
	struct buf buf;

	ck_assert_int_eq(trend.direction, cases[_i].direction);
	ck_assert_int_eq(trend.pct, cases[_i].pct);
	ck_assert_uint_eq(trend.months, cases[_i].months);
	if (cases[_i].json == NULL)
		return;
	buf_init(&buf, 1024);
	trend_json(&buf, &trend);
	ck_assert_msg(span_eq(buf_span(&buf), span_of(cases[_i].json)), "%.*s",
	    SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

#define wide __int128

/*
 * By the book: slope = cov / var with the means as fractions of n. All is
 * scaled by n, so that every number stays whole.
 */
static void
naive(const int64_t *y, unsigned n, wide *top, wide *bottom, wide *size)
{
	wide cov = 0, var = 0, sum = 0, sizes = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += y[i];
		sizes += y[i] < 0 ? -y[i] : y[i];
	}
	for (unsigned i = 0; i < n; i++) {
		/* (x - mean x) * 2 and (y - mean y) * n */
		wide dx = 2 * (wide)i - (n - 1);
		wide dy = (wide)n * y[i] - sum;

		cov += dx * dy;
		var += dx * dx;
	}
	/*
	 * slope = (cov / 2n) / (var / 4) = 2 cov / (n var)
	 * start = sum / n - slope (n - 1) / 2
	 *       = (sum var - cov (n - 1)) / (n var)
	 */
	*top = 2 * cov * (n - 1);
	*bottom = sum * var - cov * (n - 1);
	*size = sizes * var;
}

START_TEST(any_quantities_have_the_naive_trend)
{
	for (unsigned round = 0; round < 100000; round++) {
		int64_t y[12];
		unsigned n = 2 + (unsigned)(random_bits() % 11);
		wide top, bottom, size;
		struct trend trend;

		for (unsigned i = 0; i < n; i++)
			y[i] = (int64_t)(random_bits() %
				   (UINT64_C(1) << 10 * (1 + round % 5))) -
			    (round % 3 == 0 ? 500 : 0);
		naive(y, n, &top, &bottom, &size);
		trend = trend_of(y, n);
		run_must(trend.months == n);
		if (bottom <= 0) {
			run_must(trend.pct == NUM_NULL);
			/* the mean size, times the same as what `top` is */
			bottom = size;
		} else
			run_must(trend.pct == num_ratio(top, bottom));
		run_must(
		    (trend.direction == TREND_UP) == (100 * top > 8 * bottom));
		run_must((trend.direction == TREND_DOWN) ==
		    (100 * top < -8 * bottom));
	}
}
END_TEST

START_TEST(the_largest_quantities_do_not_overflow)
{
	int64_t y[12];
	struct trend trend;

	for (unsigned i = 0; i < 12; i++)
		y[i] = i < 6 ? INT64_MAX / 16 : 0;
	trend = trend_of(y, 12);
	ck_assert_int_eq(trend.direction, TREND_DOWN);
	for (unsigned i = 0; i < 12; i++)
		y[i] = i < 6 ? -(INT64_MAX / 16) : INT64_MAX / 16;
	trend = trend_of(y, 12);
	ck_assert_int_eq(trend.pct, NUM_NULL);
	ck_assert_int_eq(trend.direction, TREND_UP);
}
END_TEST

/* Of a series that has gaps, the same months as are shown. */
START_TEST(a_products_trend_is_of_the_months_shown)
{
	struct network network = {.months = 4,
	    .month = {100, 101, 105, 112},
	    .month_qte = {900 * M, 100 * M, 50 * M, 123 * M}};
	struct buf buf;

	buf_init(&buf, 1024);
	trend_network_json(&buf, &network);
	ck_assert_msg(span_eq(buf_span(&buf),
			  SPAN("{\"direction\":\"up\",\"pct\":0.289308,"
			       "\"label\":\"+29 %\",\"monthsUsed\":3}")),
	    "%.*s", SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

START_TEST(a_product_without_series_has_no_trend)
{
	struct network network = {.months = 0};
	struct buf buf;

	buf_init(&buf, 1024);
	trend_network_json(&buf, NULL);
	trend_network_json(&buf, &network);
	ck_assert(span_eq(buf_span(&buf), SPAN("nullnull")));
	buf_fini(&buf);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trend");
	TCase *tc = tcase_create("trend");

	tcase_add_loop_test(tc, these_quantities_have_this_trend, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, any_quantities_have_the_naive_trend);
	tcase_add_test(tc, the_largest_quantities_do_not_overflow);
	tcase_add_test(tc, a_products_trend_is_of_the_months_shown);
	tcase_add_test(tc, a_product_without_series_has_no_trend);
	suite_add_tcase(suite, tc);
	return suite;
}
