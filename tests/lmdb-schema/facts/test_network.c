#include <stdio.h>

#include "common/num.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/schema.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct buf buf;

static void
make(void)
{
	buf_init(&buf, 1 << 16);
}

static void
drop(void)
{
	buf_fini(&buf);
}

static const struct {
	const char *text;
	bool ok;
} codes[] = {
    {"100001", true},
    {"1000012345678", true},
    {"10000", false},
    {"200001", false},
    {"10000a", false},
    {"100001 ", false},
    {"", false},
    {"-100001", false},
};

START_TEST(a_central_code_is_10000_and_digits)
{
	ck_assert_int_eq(
	    network_code_ok(span_of(codes[_i].text)), codes[_i].ok);
}
END_TEST

START_TEST(a_central_code_is_no_longer_than_any_code)
{
	char code[SCHEMA_CODE_MAX + 1];

	memset(code, '0', sizeof(code));
	code[0] = '1';
	ck_assert(network_code_ok(span_make(code, SCHEMA_CODE_MAX)));
	ck_assert(!network_code_ok(span_make(code, SCHEMA_CODE_MAX + 1)));
}
END_TEST

static struct network
any_network(void)
{
	struct network network = {.ca = NUM_NULL,
	    .qte = (int64_t)(random_bits() % 1000000) * 1000,
	    .stores = random_bits() % 4 == 0 ? NUM_NULL
					     : (int64_t)(random_bits() % 270),
	    .ca_per_store = (int64_t)(random_bits() % 1000000),
	    .margin = -(int64_t)(random_bits() % 1000000),
	    .fetched_ms = random_bits() % 4 == 0
		? -1
		: (int64_t)(random_bits() % 2000000000000)};
	int32_t month = SCHEMA_MONTH_MIN + (int32_t)(random_bits() % 100);

	network.months = (unsigned)(random_bits() % (LIVE_MONTHS_MAX + 1));
	for (unsigned i = 0; i < network.months; i++) {
		network.month[i] = month;
		network.month_qte[i] = random_bits() % 5 == 0
		    ? NUM_NULL
		    : (int64_t)(random_bits() % 100000000);
		month += 1 + (int32_t)(random_bits() % 3);
	}
	return network;
}

START_TEST(what_is_stored_reads_back)
{
	for (unsigned i = 0; i < 3000; i++) {
		struct network in = any_network(), out;

		buf_clear(&buf);
		network_write(&buf, &in);
		run_must(network_read(&out, buf_span(&buf)) == ERR_OK);
		run_must(out.ca == in.ca && out.qte == in.qte &&
		    out.stores == in.stores && out.margin == in.margin &&
		    out.ca_per_store == in.ca_per_store &&
		    out.fetched_ms == in.fetched_ms && out.months == in.months);
		run_must(memcmp(out.month, in.month,
			     in.months * sizeof(in.month[0])) == 0);
		run_must(memcmp(out.month_qte, in.month_qte,
			     in.months * sizeof(in.month_qte[0])) == 0);
	}
}
END_TEST

START_TEST(cut_short_bytes_are_damaged)
{
	struct network in = any_network(), out;

	in.months = 3;
	network_write(&buf, &in);
	for (size_t len = 0; len < buf.len; len++)
		ck_assert_int_eq(
		    network_read(&out, span_make(buf.data, len)), ERR_DAMAGED);
	buf_add_char(&buf, 'x');
	ck_assert_int_eq(network_read(&out, buf_span(&buf)), ERR_DAMAGED);
}
END_TEST

START_TEST(random_bytes_never_make_months_beyond_the_array)
{
	for (unsigned i = 0; i < 50000; i++) {
		uint64_t noise[8];
		struct network out;

		for (unsigned k = 0; k < 8; k++)
			noise[k] = random_bits() & random_bits();
		if (network_read(&out, span_make(noise, sizeof(noise))) ==
		    ERR_OK)
			run_must(out.months <= LIVE_MONTHS_MAX);
	}
}
END_TEST

START_TEST(it_is_shown_as_this_object)
{
	struct network network = {.ca = 1234500000,
	    .qte = NUM_NULL,
	    .stores = 12,
	    .ca_per_store = 102875000,
	    .margin = 320000,
	    .fetched_ms = 0,
	    .months = 2,
	    .month = {2025 * 12, 2025 * 12 + 2},
	    .month_qte = {5000000, NUM_NULL}};

	network_json(&buf, &network);
	ck_assert_msg(
	    span_eq(buf_span(&buf),
		SPAN("{\"caReseau\":1234.5,\"qteReseau\":null,"
		     "\"nbMagasinsReseau\":12,\"caParMagasinReseau\":102.875,"
		     "\"margePctReseau\":0.32,\"qteByMonth\":"
		     "{\"2025-01\":5,\"2025-03\":null},"
		     "\"fetchedAt\":\"1970-01-01T00:00:00.000Z\"}")),
	    "%.*s", SPAN_ARG(buf_span(&buf)));
}
END_TEST

static const struct {
	unsigned months;
	int32_t month[16]; /* after January 2024 */
	const char *first; /* that is shown; NULL: no series */
	unsigned shown;
} curves[] = {
    {0, {0}, NULL, 0},
    {1, {5}, "2024-06", 1},
    {12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "2024-01", 12},
    {13, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, "2024-02", 12},
    /* with gaps, too, it is a year: no month of the year before */
    {4, {0, 1, 11, 12}, "2024-02", 3},
    {3, {0, 11, 23}, "2025-12", 1},
    {3, {0, 12, 23}, "2025-01", 2},
};

START_TEST(the_curve_is_the_year_that_ends_with_its_newest_month)
{
	struct network network = {.months = curves[_i].months};
	unsigned shown = 0;
	char start[16];

	for (unsigned i = 0; i < network.months; i++)
		network.month[i] = 2024 * 12 + curves[_i].month[i];
	network_months_json(&buf, &network);
	for (size_t i = 0; i < buf.len; i++)
		shown += buf.data[i] == ':';
	ck_assert_uint_eq(shown, curves[_i].shown);
	snprintf(start, sizeof(start), "{\"%s\"", curves[_i].first);
	ck_assert(span_starts(buf_span(&buf),
	    curves[_i].first == NULL ? SPAN("null") : span_of(start)));
}
END_TEST

START_TEST(what_is_not_known_is_null)
{
	struct network network = {.ca = NUM_NULL,
	    .qte = NUM_NULL,
	    .stores = NUM_NULL,
	    .ca_per_store = NUM_NULL,
	    .margin = NUM_NULL,
	    .fetched_ms = -1};

	network_json(&buf, &network);
	ck_assert_msg(
	    span_eq(buf_span(&buf),
		SPAN("{\"caReseau\":null,\"qteReseau\":null,"
		     "\"nbMagasinsReseau\":null,\"caParMagasinReseau\":null,"
		     "\"margePctReseau\":null,\"qteByMonth\":null,"
		     "\"fetchedAt\":null}")),
	    "%.*s", SPAN_ARG(buf_span(&buf)));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("network");
	TCase *tc = tcase_create("network");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, a_central_code_is_10000_and_digits, 0,
	    sizeof(codes) / sizeof(codes[0]));
	tcase_add_test(tc, a_central_code_is_no_longer_than_any_code);
	tcase_add_test(tc, what_is_stored_reads_back);
	tcase_add_test(tc, cut_short_bytes_are_damaged);
	tcase_add_test(tc, random_bytes_never_make_months_beyond_the_array);
	tcase_add_test(tc, it_is_shown_as_this_object);
	tcase_add_loop_test(tc,
	    the_curve_is_the_year_that_ends_with_its_newest_month, 0,
	    sizeof(curves) / sizeof(curves[0]));
	tcase_add_test(tc, what_is_not_known_is_null);
	suite_add_tcase(suite, tc);
	return suite;
}
