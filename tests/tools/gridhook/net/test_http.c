#include "tools/gridhook/net/http.h"

#include "tests/support/run.h"

static struct http *http;

static void
set_up(void)
{
	http = http_new(10);
	ck_assert_ptr_nonnull(http);
}

static void
tear_down(void)
{
	http_free(http);
}

/* Feeds in pieces of `size` until something happens. */
static enum http_step
feed(struct span *bytes, size_t size)
{
	enum http_step step = HTTP_MORE;
	size_t used;

	do {
		step = http_feed(http, span_sub(*bytes, 0, size), &used);
		*bytes = span_from(*bytes, used);
	} while (step == HTTP_MORE && bytes->len > 0);
	return step;
}

static const char two[] = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nX-One:  1 \r\n"
			  "X-Two: 2\r\nx-two: 3\r\nX-Empty:\r\n"
			  "Content-Length: 3\r\n\r\nabc"
			  "POST /d HTTP/1.1\r\nHost: x\r\n"
			  "Transfer-Encoding: chunked\r\n\r\n"
			  "2;x=y\r\nde\r\n1\r\nf\r\n0\r\nTrailer: t\r\n\r\n";

START_TEST(requests_come_out_however_the_bytes_come_in)
{
	struct span bytes = span_of(two);
	size_t size = (size_t)_i;

	ck_assert_int_eq(feed(&bytes, size), HTTP_GOT_HEAD);
	ck_assert(http_has_body(http));
	ck_assert_int_eq(http_method(http), METHOD_POST);
	ck_assert(span_eq(http_path(http), SPAN("/a")));
	ck_assert(span_eq(http_query(http), SPAN("b=c")));
	ck_assert(span_eq(http_header(http, "x-one"), SPAN("1")));
	ck_assert(span_eq(http_header(http, "X-Two"), SPAN("2, 3")));
	ck_assert_uint_eq(http_header(http, "x-empty").len, 0);
	ck_assert_ptr_nonnull(http_header(http, "x-empty").ptr);
	ck_assert_ptr_null(http_header(http, "x-none").ptr);
	ck_assert_int_eq(feed(&bytes, size), HTTP_GOT_ALL);
	ck_assert(span_eq(http_body(http), SPAN("abc")));
	http_next(http);
	ck_assert(!http_has_begun(http));
	ck_assert_int_eq(feed(&bytes, size), HTTP_GOT_HEAD);
	ck_assert_int_eq(feed(&bytes, size), HTTP_GOT_ALL);
	ck_assert(span_eq(http_body(http), SPAN("def")));
	ck_assert_uint_eq(bytes.len, 0);
}
END_TEST

START_TEST(request_without_body_is_complete_with_its_head)
{
	struct span bytes = SPAN("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	size_t used;

	ck_assert_int_eq(feed(&bytes, 100), HTTP_GOT_HEAD);
	ck_assert(!http_has_body(http));
	ck_assert_int_eq(http_feed(http, SPAN(""), &used), HTTP_GOT_ALL);
	ck_assert(http_keeps_alive(http));
}
END_TEST

START_TEST(body_of_the_limit_is_fine_and_one_more_is_not)
{
	struct span fine = SPAN("POST / HTTP/1.1\r\nHost: x\r\n"
				"Content-Length: 10\r\n\r\n0123456789");
	struct span known = SPAN("POST / HTTP/1.1\r\nHost: x\r\n"
				 "Content-Length: 11\r\n\r\n01234567890");
	struct span found =
	    SPAN("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
		 "\r\n\r\n6\r\n012345\r\n5\r\n67890\r\n0\r\n\r\n");

	ck_assert_int_eq(feed(&fine, 1), HTTP_GOT_HEAD);
	ck_assert_int_eq(feed(&fine, 1), HTTP_GOT_ALL);
	http_next(http);
	ck_assert_int_eq(feed(&found, 1), HTTP_GOT_HEAD);
	ck_assert(!http_body_is_too_large(http));
	ck_assert_int_eq(feed(&found, 1), HTTP_BODY_TOO_LARGE);
	tear_down();
	set_up();
	ck_assert_int_eq(feed(&known, 1), HTTP_GOT_HEAD);
	ck_assert(http_body_is_too_large(http));
	ck_assert_int_eq(feed(&known, 1), HTTP_BODY_TOO_LARGE);
}
END_TEST

START_TEST(failure_stays)
{
	struct span bytes = SPAN("NONSENSE\r\n\r\n");
	struct span good = SPAN("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

	ck_assert_int_eq(feed(&bytes, 100), HTTP_BAD);
	ck_assert_int_eq(feed(&good, 100), HTTP_BAD);
	ck_assert_str_ne(http_why(http), "");
}
END_TEST

START_TEST(absolute_target_loses_its_host)
{
	struct span bytes =
	    SPAN("GET HTTP://a.b:1/c?d HTTP/1.1\r\nHost: x\r\n\r\n");

	ck_assert_int_eq(feed(&bytes, 100), HTTP_GOT_HEAD);
	ck_assert(span_eq(http_target(http), SPAN("/c?d")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook http");
	TCase *tc = tcase_create("http");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(
	    tc, requests_come_out_however_the_bytes_come_in, 1, 40);
	tcase_add_test(tc, request_without_body_is_complete_with_its_head);
	tcase_add_test(tc, body_of_the_limit_is_fine_and_one_more_is_not);
	tcase_add_test(tc, failure_stays);
	tcase_add_test(tc, absolute_target_loses_its_host);
	suite_add_tcase(suite, tc);
	return suite;
}
