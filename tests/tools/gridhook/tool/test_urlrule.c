#include "tests/support/run.h"

#include <stdlib.h>

#include "tools/gridhook/tool/urlrule.h"

static const char *const schemes[] = {"http", "https", "mailto", NULL};

static const struct {
	const char *url;
	const char *opened; /* NULL: as it is */
} passed[] = {
    {"https://example.org", NULL},
    {"http://example.org:8080/a?b=c#d", NULL},
    {"HTTPS://Example.org/", NULL},
    {"http://[::1]:80/", NULL},
    {"https://b\xc3\xbc"
     "cher.example/",
	NULL},
    {"https://example.org/$(id)`id`'\"%u;&|", NULL},
    {"https://example.org/a@b", NULL},
    {"https://example.org?q=me@home", NULL},
    {"mailto:a@example.org", NULL},
    {"mailto:a@example.org?subject=x&body=y", NULL},
    {"mailto:a@example.org?attach=/etc/passwd", "mailto:a@example.org"},
    {"mailto:a@example.org?subject=x&ATTACHMENT=/etc/passwd&cc=b",
	"mailto:a@example.org?subject=x&cc=b"},
    {"mailto:a@example.org?%61ttach=/x&subject=y",
	"mailto:a@example.org?subject=y"},
    {"mailto:a@example.org?attach", "mailto:a@example.org"},
};

START_TEST(a_url_that_keeps_the_rules_passes)
{
	const char *opened = passed[_i].opened;
	struct fault fault;
	struct buf out;

	fault_clear(&fault);
	buf_init(&out, URL_MAX + 1);
	ck_assert_int_eq(
	    urlrule_check(&out, span_of(passed[_i].url), schemes, &fault),
	    ERR_OK);
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, opened == NULL ? passed[_i].url : opened);
	buf_fini(&out);
}
END_TEST

static const char *const refused[] = {
    "",
    "-h",
    "--help",
    "/etc/passwd",
    "etc/passwd",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "ssh://host",
    "x-scheme:y",
    "://x",
    "1http://x",
    "ht tp://x",
    "http:example.org",
    "http:/example.org",
    "http://",
    "http:///path",
    "http://:80/",
    "http://?q",
    "https://user@example.org/",
    "https://user:pass@example.org/",
    "https://example.org@evil.example/",
    "https://example.org\\@evil.example/",
    "https://example.org/a b",
    "https://example.org/\n",
    "https://example.org/\x1b[2J",
    "https://example.org/\x7f",
    "https://example.org/\xc2\x85",
    "https://example.org/\xff",
    " https://example.org/",
};

START_TEST(a_url_that_breaks_a_rule_is_not_allowed)
{
	struct fault fault;
	struct buf out;

	fault_clear(&fault);
	buf_init(&out, URL_MAX + 1);
	ck_assert_int_eq(
	    urlrule_check(&out, span_of(refused[_i]), schemes, &fault),
	    ERR_DENIED);
	ck_assert_int_eq(
	    strncmp(fault.message, "not allowed: ", strlen("not allowed: ")),
	    0);
	buf_fini(&out);
}
END_TEST

START_TEST(a_url_has_a_longest_length)
{
	char url[URL_MAX + 2];
	struct fault fault;
	struct buf out;

	fault_clear(&fault);
	memset(url, 'a', sizeof(url));
	memcpy(url, "http://", 7);
	buf_init(&out, URL_MAX + 1);
	ck_assert_int_eq(
	    urlrule_check(&out, span_make(url, URL_MAX), schemes, &fault),
	    ERR_OK);
	buf_clear(&out);
	ck_assert_int_eq(
	    urlrule_check(&out, span_make(url, URL_MAX + 1), schemes, &fault),
	    ERR_DENIED);
	buf_fini(&out);
}
END_TEST

START_TEST(the_owner_says_which_schemes_there_are)
{
	static const char *const own[] = {"ssh", NULL};
	struct fault fault;
	struct buf out;

	fault_clear(&fault);
	buf_init(&out, URL_MAX + 1);
	ck_assert_int_eq(
	    urlrule_check(&out, SPAN("ssh://host"), own, &fault), ERR_OK);
	ck_assert_int_eq(
	    urlrule_check(&out, SPAN("http://host"), own, &fault), ERR_DENIED);
	ck_assert_str_eq(fault.message, "not allowed: scheme http");
	buf_fini(&out);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool urlrule");
	TCase *tc = tcase_create("urlrule");

	tcase_add_loop_test(tc, a_url_that_keeps_the_rules_passes, 0,
	    sizeof(passed) / sizeof(passed[0]));
	tcase_add_loop_test(tc, a_url_that_breaks_a_rule_is_not_allowed, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, a_url_has_a_longest_length);
	tcase_add_test(tc, the_owner_says_which_schemes_there_are);
	suite_add_tcase(suite, tc);
	return suite;
}
