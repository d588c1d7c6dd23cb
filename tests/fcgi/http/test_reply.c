/* tests/fcgi/http/test_reply.c: fcgi/http/reply.h */
#include "fcgi/http/reply.h"

#include <stdio.h>

#include "tests/support/run.h"

static struct reply reply;
static struct request request;
static struct buf out;
static struct sink sink;

static void
make(void)
{
	reply_init(&reply);
	request_init(&request);
	buf_init(&out, 1 << 26);
	sink = sink_to_buf(&out);
	reply_begin(&reply, &sink, &request);
}

/* More than a stream gathers before it begins. */
static char large[1 << 20];

static void
drop(void)
{
	reply_fini(&reply);
	buf_fini(&out);
}

static void
answer_is(const char *text)
{
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, text);
}

START_TEST(short_answer_has_its_length)
{
	reply_header(&reply, "Content-Type", "text/%s", "plain");
	iovbuf_text(&reply.body, "hello");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	ck_assert_uint_eq(reply.sent, out.len);
	answer_is("Status: 200 OK\r\nContent-Type: text/plain\r\n"
		  "Content-Length: 5\r\nVary: Accept-Encoding\r\n\r\nhello");
}
END_TEST

START_TEST(head_has_all_but_the_body)
{
	request.method = METHOD_HEAD;
	reply_begin(&reply, &sink, &request);
	iovbuf_text(&reply.body, "hello");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is("Status: 200 OK\r\nContent-Length: 5\r\nVary: "
		  "Accept-Encoding\r\n\r\n");
}
END_TEST

static const int bare[] = {204, 304};

START_TEST(bodiless_status_has_no_length)
{
	char text[64];

	reply.status = bare[_i];
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	snprintf(text, sizeof(text), "Status: %d ", bare[_i]);
	ck_assert(span_starts(buf_span(&out), span_of(text)));
	buf_add_char(&out, '\0');
	ck_assert_ptr_null(strstr(out.data, "Content-Length"));
}
END_TEST

START_TEST(stream_goes_out_as_it_grows)
{
	memset(large, 'x', sizeof(large));
	reply_stream(&reply, 2 << 20);
	iovbuf_text(&reply.body, "xxx");
	reply_flush_some(&reply);
	ck_assert_uint_eq(out.len, 0);
	iovbuf_refer(&reply.body, large, sizeof(large) - 3);
	reply_flush_some(&reply);
	ck_assert_uint_gt(out.len, sizeof(large));
	iovbuf_refer(&reply.body, large, sizeof(large));
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	ck_assert_uint_gt(out.len, 2 * sizeof(large));
	ck_assert(span_starts(buf_span(&out),
	    SPAN("Status: 200 OK\r\nContent-Length: 2097152\r\nVary: "
		 "Accept-Encoding\r\n\r\nxxx")));
}
END_TEST

START_TEST(stream_of_unknown_length_has_none)
{
	reply_stream(&reply, -1);
	iovbuf_refer(&reply.body, large, sizeof(large));
	reply_flush_some(&reply);
	ck_assert(span_starts(buf_span(&out),
	    SPAN("Status: 200 OK\r\nVary: Accept-Encoding\r\n\r\n")));
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
}
END_TEST

START_TEST(stream_that_ends_early_is_put_whole)
{
	reply_stream(&reply, -1);
	iovbuf_text(&reply.body, "abc");
	reply_flush_some(&reply);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is("Status: 200 OK\r\nContent-Length: 3\r\n"
		  "Vary: Accept-Encoding\r\n\r\nabc");
}
END_TEST

START_TEST(head_of_a_stream_of_unknown_length_has_none)
{
	request.method = METHOD_HEAD;
	reply_begin(&reply, &sink, &request);
	reply_stream(&reply, -1);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is("Status: 200 OK\r\nVary: Accept-Encoding\r\n\r\n");
}
END_TEST

START_TEST(head_of_a_stream_puts_no_body)
{
	request.method = METHOD_HEAD;
	reply_begin(&reply, &sink, &request);
	reply_stream(&reply, 3);
	iovbuf_text(&reply.body, "abc");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is("Status: 200 OK\r\nContent-Length: 3\r\nVary: "
		  "Accept-Encoding\r\n\r\n");
}
END_TEST

START_TEST(every_head_names_the_request)
{
	request.request_id = SPAN("abc-123");
	request.start_ns = 1;
	reply_stream(&reply, -1);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	buf_add_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.data, "X-Request-Id: abc-123\r\n"));
	ck_assert_ptr_nonnull(strstr(out.data, "Server-Timing: app;dur="));
}
END_TEST

START_TEST(identifier_that_could_end_a_line_is_left_out)
{
	request.request_id = SPAN("a\r\nSet-Cookie: b");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	buf_add_char(&out, '\0');
	ck_assert_ptr_null(strstr(out.data, "Cookie"));
}
END_TEST

START_TEST(error_drops_what_was_made)
{
	reply_header(&reply, "ETag", "x");
	iovbuf_text(&reply.body, "{\"data\":");
	reply_error(&reply, 404, CODE_NOT_FOUND, SPAN("no \"it\"\xff"),
	    SPAN("{\"a\":1}"));
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is(
	    "Status: 404 Not Found\r\nContent-Type: application/json\r\n"
	    "Cache-Control: no-store\r\nContent-Language: en\r\n"
	    "Vary: Accept-Language\r\nContent-Length: 73\r\n\r\n"
	    "{\"error\":{\"code\":\"not_found\",\"message\":\"no \\\"it\\\""
	    "\xef\xbf\xbd\",\"details\":{\"a\":1}}}");
}
END_TEST

START_TEST(error_before_the_first_bytes_of_a_stream_is_told)
{
	reply_header(&reply, "ETag", "x");
	reply_stream(&reply, 1000);
	iovbuf_text(&reply.body, "{\"data\":");
	reply_flush_some(&reply);
	reply_fail(&reply, 503, CODE_NOT_READY, "later");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is(
	    "Status: 503 Service Unavailable\r\n"
	    "Content-Type: application/json\r\nCache-Control: no-store\r\n"
	    "Content-Language: en\r\nVary: Accept-Language\r\n"
	    "Content-Length: 48\r\n\r\n"
	    "{\"error\":{\"code\":\"not_ready\",\"message\":\"later\"}}");
}
END_TEST

START_TEST(error_behind_the_head_cuts_the_answer)
{
	reply_stream(&reply, -1);
	iovbuf_refer(&reply.body, large, sizeof(large));
	reply_flush_some(&reply);
	reply_fail(&reply, 500, CODE_INTERNAL, "too late");
	ck_assert_int_ne(reply_end(&reply), ERR_OK);
	ck_assert(!reply_restart(&reply));
}
END_TEST

static enum err
refuse(struct sink *self, struct iovec *pieces, int count)
{
	(void)self;
	(void)pieces;
	(void)count;
	return ERR_CLOSED;
}

START_TEST(failed_sink_is_told_at_the_end)
{
	sink.put = refuse;
	iovbuf_text(&reply.body, "x");
	ck_assert_int_eq(reply_end(&reply), ERR_CLOSED);
}
END_TEST

START_TEST(next_answer_begins_anew)
{
	reply_stream(&reply, -1);
	reply_end(&reply);
	buf_clear(&out);
	reply_begin(&reply, &sink, &request);
	iovbuf_text(&reply.body, "b");
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	answer_is("Status: 200 OK\r\nContent-Length: 1\r\nVary: "
		  "Accept-Encoding\r\n\r\nb");
}
END_TEST

START_TEST(too_long_a_header_fails_the_answer)
{
	static char value[4096];

	memset(value, 'v', sizeof(value) - 1);
	reply_header(&reply, "X", "%s", value);
	ck_assert_int_eq(reply_end(&reply), ERR_TOO_LARGE);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("reply");
	TCase *tc = tcase_create("reply");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, short_answer_has_its_length);
	tcase_add_test(tc, head_has_all_but_the_body);
	tcase_add_loop_test(tc, bodiless_status_has_no_length, 0, 2);
	tcase_add_test(tc, stream_goes_out_as_it_grows);
	tcase_add_test(tc, stream_of_unknown_length_has_none);
	tcase_add_test(tc, stream_that_ends_early_is_put_whole);
	tcase_add_test(tc, head_of_a_stream_puts_no_body);
	tcase_add_test(tc, head_of_a_stream_of_unknown_length_has_none);
	tcase_add_test(tc, every_head_names_the_request);
	tcase_add_test(tc, identifier_that_could_end_a_line_is_left_out);
	tcase_add_test(tc, error_drops_what_was_made);
	tcase_add_test(tc, error_before_the_first_bytes_of_a_stream_is_told);
	tcase_add_test(tc, error_behind_the_head_cuts_the_answer);
	tcase_add_test(tc, failed_sink_is_told_at_the_end);
	tcase_add_test(tc, next_answer_begins_anew);
	tcase_add_test(tc, too_long_a_header_fails_the_answer);
	suite_add_tcase(suite, tc);
	return suite;
}
