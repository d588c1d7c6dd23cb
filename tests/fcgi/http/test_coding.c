/* tests/fcgi/http/test_coding.c: fcgi/http/coding.h */
#include "fcgi/http/coding.h"

#include "tests/support/run.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *params;
	unsigned weight;
} weights[] = {
    {"", 1000},
    {"q=1", 1000},
    {"q=1.", 1000},
    {"q=1.000", 1000},
    {"Q=0.5", 500},
    {" q=0.25 ", 250},
    {"charset=utf-8; q=0.125", 125},
    {"q=0", 0},
    {"q=0.", 0},
    {"q=0.001", 1},
    {"q=", 0},
    {"q=1.001", 0},
    {"q=2", 0},
    {"q=-1", 0},
    {"q=0.1234", 0},
    {"q=.5", 0},
    {"q=0,5", 0},
    {"q=0.x", 0},
    {"q=one", 0},
    {"qq=0", 1000},
};

START_TEST(weight_is_what_the_grammar_says)
{
	ck_assert_uint_eq(
	    coding_weight(span_of(weights[_i].params)), weights[_i].weight);
}
END_TEST

static const struct {
	const char *list;
	bool takes;
} lists[] = {
    {"gzip", true},
    {"GZip", true},
    {"x-gzip", true},
    {"gzip, deflate, br, zstd", true},
    {"br,gzip;q=0.5", true},
    {"*", true},
    {"*;q=0.1", true},
    {"gzip;q=0.001", true},
    {"identity;q=0, *", true},
    {"identity;q=0.5, gzip", true},
    {"identity, gzip", true},
    {"gzip;q=0.5, *;q=0", true},
    {" , gzip ,", true},
    {"", false},
    {"identity", false},
    {"identity;q=0", false},
    {"gzip;q=0", false},
    {"gzip;q=0.000", false},
    {"gzip;q=0, *", false},
    {"*;q=0", false},
    {"gzip;q=0.5, identity", false},
    {"gzip;q=0.5, *", false},
    {"deflate, br", false},
    {"gzipp", false},
    {"gzip;q=high", false},
    {"gzip deflate", false},
    {";;;,,,=\"", false},
    {"\xff\xfe;q=1", false},
};

START_TEST(gzip_is_taken_where_it_weighs_as_much)
{
	ck_assert_int_eq(
	    coding_takes_gzip(span_of(lists[_i].list)), lists[_i].takes);
}
END_TEST

static const struct {
	const char *list;
	enum coding best;
} choices[] = {
    {"zstd", CODING_ZSTD},
    {"ZSTD", CODING_ZSTD},
    {"gzip, deflate, br, zstd", CODING_ZSTD},
    {"zstd;q=0.5, identity;q=0.5", CODING_ZSTD},
    {"zstd;q=0.5, gzip;q=0.6", CODING_GZIP},
    {"zstd;q=0, gzip", CODING_GZIP},
    {"zstd;q=0, *", CODING_GZIP},
    {"zstd;q=0.5, *", CODING_GZIP},
    {"*", CODING_GZIP},
    {"gzip", CODING_GZIP},
    {"zstd;q=0.5, identity", CODING_PLAIN},
    {"zstd;q=0", CODING_PLAIN},
    {"zstd;q=1.5", CODING_PLAIN},
    {"identity", CODING_PLAIN},
    {"zstdx", CODING_PLAIN},
    {"br", CODING_PLAIN},
    {"", CODING_PLAIN},
};

START_TEST(best_is_what_weighs_most)
{
	ck_assert_int_eq(
	    coding_best(span_of(choices[_i].list)), choices[_i].best);
}
END_TEST

START_TEST(gzip_is_liked_when_nothing_weighs_more)
{
	ck_assert(coding_likes_gzip(SPAN("gzip")));
	ck_assert(coding_likes_gzip(SPAN("*")));
	ck_assert(coding_likes_gzip(SPAN("gzip, deflate, br, zstd")));
	ck_assert(coding_likes_gzip(SPAN("zstd;q=0.5, gzip;q=0.6")));
	ck_assert(!coding_likes_gzip(SPAN("zstd;q=0.6, gzip;q=0.5")));
	ck_assert(!coding_likes_gzip(SPAN("gzip;q=0.5, identity")));
	ck_assert(!coding_likes_gzip(SPAN("zstd")));
	ck_assert(!coding_likes_gzip(SPAN("")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("coding");
	TCase *tc = tcase_create("coding");

	tcase_add_loop_test(
	    tc, weight_is_what_the_grammar_says, 0, COUNT(weights));
	tcase_add_loop_test(
	    tc, gzip_is_taken_where_it_weighs_as_much, 0, COUNT(lists));
	tcase_add_loop_test(tc, best_is_what_weighs_most, 0, COUNT(choices));
	tcase_add_test(tc, gzip_is_liked_when_nothing_weighs_more);
	suite_add_tcase(suite, tc);
	return suite;
}
