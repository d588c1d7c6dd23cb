#include "common/origin.h"

#include <stdio.h>

#include "common/count.h"
#include "tests/support/run.h"

static const struct {
	const char *text, *host;
	unsigned port;
} good[] = {
    {"localhost", "localhost", 0},
    {"LOCALHOST:80", "LOCALHOST", 80},
    {"127.0.0.1:7842", "127.0.0.1", 7842},
    {"a-b_c.example:65535", "a-b_c.example", 65535},
    {"[::1]", "[::1]", 0},
    {"[::1]:1", "[::1]", 1},
    {"[::ffff:127.0.0.1]:99", "[::ffff:127.0.0.1]", 99},
    {"[2001:DB8::a]", "[2001:DB8::a]", 0},
};

START_TEST(an_authority_is_a_host_and_perhaps_a_port)
{
	struct authority at;

	ck_assert(authority_read(&at, span_of(good[_i].text)));
	ck_assert(span_eq(at.host, span_of(good[_i].host)));
	ck_assert_uint_eq(at.port, good[_i].port);
}
END_TEST

/* Each contains one of the allowed hosts somewhere. */
static const char *const bad[] = {"", ":", ":80", "localhost:", "localhost:0",
    "localhost:00080", "localhost:+80", "localhost:-80", "localhost: 80",
    "localhost:80 ", " localhost", "localhost:80x", "localhost:0x50",
    "localhost:65536", "localhost:99999999999999999999", "localhost:80:80",
    "localhost:80.evil.example", "localhost:80@evil.example",
    "localhost@evil.example", "u:p@localhost", "localhost/", "localhost:80/",
    "localhost:80#x", "localhost:80?x", "localhost\\evil", "localhost,evil",
    "localhost, localhost", "localhost%00", "local%68ost", "localhost\t",
    "localhost.", ".localhost", "local..host", "::1", "::1:80", "[::1",
    "[::1]80", "[::1]:", "[::1]x", "[::1]:80]", "[::1%25lo]", "[::1%lo]", "[]",
    "[]:80", "[localhost]", "[127.0.0.1]", "[::1]]", "[[::1]]",
    "[0:0:0:0:0:0:0:0:1]", "[v1.x]", "h\xC3\xA9", "loc\x01host"};

START_TEST(what_is_more_or_less_is_none)
{
	struct authority at;
	struct origin origin;
	char text[128];

	ck_assert_msg(!authority_read(&at, span_of(bad[_i])), "%s", bad[_i]);
	ck_assert_ptr_null(at.host.ptr);
	snprintf(text, sizeof(text), "http://%s", bad[_i]);
	ck_assert_msg(!origin_read(&origin, span_of(text)), "%s", text);
	ck_assert_ptr_null(origin.at.host.ptr);
}
END_TEST

START_TEST(a_zero_byte_or_a_long_name_is_none)
{
	struct authority at;
	char name[255];

	ck_assert(!authority_read(&at, SPAN("localhost\0")));
	ck_assert(!authority_read(&at, SPAN("localhost\0.evil.example")));
	ck_assert(!authority_read(&at, SPAN("[::1\0]")));
	ck_assert(!authority_read(&at, SPAN("localhost:80\0")));
	memset(name, 'a', sizeof(name));
	ck_assert(authority_read(&at, span_make(name, 253)));
	ck_assert(!authority_read(&at, span_make(name, 254)));
}
END_TEST

static const char *const no_origins[] = {"null", "", "localhost", "//localhost",
    "://localhost", "http:localhost", "http:/localhost", "http:///localhost",
    "http:\\\\localhost", "file://", "1http://localhost", "ht tp://localhost",
    " http://localhost", "http://localhost ", "http://localhost/",
    "http://localhost:/, http://evil.example",
    "http://localhost, http://localhost", "http://localhost http://evil",
    "blob:http://localhost", "data:,localhost"};

START_TEST(what_is_no_origin_is_refused)
{
	struct origin origin;

	ck_assert_msg(!origin_read(&origin, span_of(no_origins[_i])), "%s",
	    no_origins[_i]);
}
END_TEST

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
    {"http://localhost", "HTTP://LocalHost", true},
    {"http://localhost", "http://localhost:80", true},
    {"https://localhost:443", "https://localhost", true},
    {"http://localhost:443", "https://localhost:443", false},
    {"http://localhost", "https://localhost", false},
    {"http://localhost:81", "http://localhost", false},
    {"http://localhost", "http://localhost.example", false},
    {"moz-extension://a-b", "moz-extension://a-b", true},
    {"moz-extension://a-b", "moz-extension://a-b:80", false},
    {"http://[::1]", "http://[::1]:80", true},
    {"http://[::1]", "http://127.0.0.1", false},
};

START_TEST(origins_are_compared_with_their_standard_ports)
{
	struct origin a, b;

	ck_assert(origin_read(&a, span_of(pairs[_i].a)));
	ck_assert(origin_read(&b, span_of(pairs[_i].b)));
	ck_assert_int_eq(origin_same(&a, &b), pairs[_i].same);
	ck_assert_int_eq(origin_same(&b, &a), pairs[_i].same);
}
END_TEST

START_TEST(loopback_has_three_names)
{
	static const struct {
		const char *text;
		bool is;
	} hosts[] = {{"localhost:1", true}, {"LOCALHOST", true},
	    {"127.0.0.1", true}, {"[::1]", true}, {"127.0.0.2", false},
	    {"127.1", false}, {"localhost.example", false},
	    {"[::ffff:127.0.0.1]", false}, {"a.localhost", false}};
	struct authority at;

	for (size_t i = 0; i < COUNT(hosts); i++) {
		ck_assert(authority_read(&at, span_of(hosts[i].text)));
		ck_assert_msg(authority_is_loopback(&at) == hosts[i].is, "%s",
		    hosts[i].text);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("origin");
	TCase *tc = tcase_create("origin");

	tcase_add_loop_test(
	    tc, an_authority_is_a_host_and_perhaps_a_port, 0, COUNT(good));
	tcase_add_loop_test(tc, what_is_more_or_less_is_none, 0, COUNT(bad));
	tcase_add_test(tc, a_zero_byte_or_a_long_name_is_none);
	tcase_add_loop_test(
	    tc, what_is_no_origin_is_refused, 0, COUNT(no_origins));
	tcase_add_loop_test(tc, origins_are_compared_with_their_standard_ports,
	    0, COUNT(pairs));
	tcase_add_test(tc, loopback_has_three_names);
	suite_add_tcase(suite, tc);
	return suite;
}
