#include "fcgi/http/request.h"

#include <stddef.h>

#include "tests/support/run.h"

static struct request request;

static void
begin(void)
{
	request_init(&request);
}

static void
give(const char *name, const char *value)
{
	request_param(&request, span_of(name), span_of(value));
}

START_TEST(a_fresh_one_is_an_empty_get)
{
	ck_assert_int_eq(request.method, METHOD_GET);
	ck_assert(span_eq(request.method_text, SPAN("GET")));
	ck_assert_uint_eq(request.uri.len, 0);
	ck_assert(!request.https && !request.slow_pool);
	ck_assert(!request.count_refusal && !request.body_too_large);
	ck_assert(request.gone == NULL);
}
END_TEST

static const struct {
	const char *text;
	enum method method;
} methods[] = {
    {"GET", METHOD_GET},
    {"HEAD", METHOD_HEAD},
    {"POST", METHOD_POST},
    {"PUT", METHOD_PUT},
    {"DELETE", METHOD_DELETE},
    {"OPTIONS", METHOD_OPTIONS},
    {"get", METHOD_OTHER},
    {"GETS", METHOD_OTHER},
    {"GE", METHOD_OTHER},
    {"PATCH", METHOD_OTHER},
    {"", METHOD_OTHER},
};

START_TEST(methods_are_known_exactly)
{
	give("REQUEST_METHOD", methods[_i].text);
	ck_assert_int_eq(request.method, methods[_i].method);
	ck_assert(span_eq(request.method_text, span_of(methods[_i].text)));
}
END_TEST

static const struct {
	const char *name;
	size_t offset;
} params[] = {
    {"REQUEST_URI", offsetof(struct request, uri)},
    {"CONTENT_TYPE", offsetof(struct request, content_type)},
    {"HTTP_ACCEPT", offsetof(struct request, accept)},
    {"HTTP_ACCEPT_ENCODING", offsetof(struct request, accept_encoding)},
    {"HTTP_IF_NONE_MATCH", offsetof(struct request, if_none_match)},
    {"HTTP_X_API_KEY", offsetof(struct request, api_key)},
    {"HTTP_AUTHORIZATION", offsetof(struct request, authorization)},
    {"HTTP_COOKIE", offsetof(struct request, cookie)},
    {"HTTP_ORIGIN", offsetof(struct request, origin)},
    {"HTTP_SEC_FETCH_SITE", offsetof(struct request, sec_fetch_site)},
    {"HTTP_HOST", offsetof(struct request, host)},
    {"HTTP_X_FORWARDED_HOST", offsetof(struct request, forwarded_host)},
    {"HTTP_X_FORWARDED_PROTO", offsetof(struct request, forwarded_proto)},
    {"REMOTE_ADDR", offsetof(struct request, remote_addr)},
    {"REQUEST_ID", offsetof(struct request, request_id)},
};

#define PARAMS (sizeof(params) / sizeof(params[0]))

static struct span
member(size_t offset)
{
	struct span value;

	memcpy(&value, (const char *)&request + offset, sizeof(value));
	return value;
}

/* Each goes to its own member and to no other. */
START_TEST(each_parameter_has_its_place)
{
	give(params[_i].name, "the value");
	for (size_t i = 0; i < PARAMS; i++)
		ck_assert(span_eq(member(params[i].offset),
		    i == (size_t)_i ? SPAN("the value") : SPAN("")));
}
END_TEST

START_TEST(unknown_parameters_are_passed_over)
{
	struct request before = request;

	give("HTTP_X_API_KEY_", "x");
	give("HTTP_X_API", "x");
	give("http_x_api_key", "x");
	give("", "x");
	ck_assert_mem_eq(&request, &before, sizeof(request));
}
END_TEST

START_TEST(https_is_what_nginx_calls_on)
{
	give("HTTPS", "");
	ck_assert(!request.https);
	give("HTTPS", "on");
	ck_assert(request.https);
	give("HTTPS", "off");
	ck_assert(!request.https);
}
END_TEST

START_TEST(refusals_are_counted_where_nginx_says_so)
{
	give("COUNT_REFUSAL", "");
	ck_assert(!request.count_refusal);
	give("COUNT_REFUSAL", "1");
	ck_assert(request.count_refusal);
	give("COUNT_REFUSAL", "0");
	ck_assert(!request.count_refusal);
}
END_TEST

static const struct {
	const char *list;
	bool french;
} languages[] = {
    {NULL, false},
    {"", false},
    {"fr", true},
    {"FR-be", true},
    {"fra", false},
    {"de", false},
    {"*", false},
    {"fr;q=0", false},
    {"en;q=0, *", true},
    {"fr;q=0.1, *", false},
    {"*, fr;q=0.1", false},
    {"fr, *", true},
    {"en, fr", false},
    {"fr, en", true},
    {"en;q=0.8, fr;q=0.9", true},
    {"en-GB, en;q=0.5, fr;q=0.7", false},
    {" , ;q=1, fr ;q=0.5,", true},
};

START_TEST(french_is_chosen_where_it_weighs_more)
{
	if (languages[_i].list != NULL)
		request.accept_language = span_of(languages[_i].list);
	ck_assert(request_french(&request) == languages[_i].french);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("request");
	TCase *tc = tcase_create("request");

	tcase_add_checked_fixture(tc, begin, NULL);
	tcase_add_test(tc, a_fresh_one_is_an_empty_get);
	tcase_add_loop_test(tc, methods_are_known_exactly, 0,
	    (int)(sizeof(methods) / sizeof(methods[0])));
	tcase_add_loop_test(tc, each_parameter_has_its_place, 0, (int)PARAMS);
	tcase_add_test(tc, unknown_parameters_are_passed_over);
	tcase_add_test(tc, https_is_what_nginx_calls_on);
	tcase_add_test(tc, refusals_are_counted_where_nginx_says_so);
	tcase_add_loop_test(tc, french_is_chosen_where_it_weighs_more, 0,
	    sizeof(languages) / sizeof(languages[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
