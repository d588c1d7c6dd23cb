#include "tools/gridhook/mcp/desk.h"

#include <stdio.h>

#include "common/date.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tools/gridhook/mcp/call.h"

#define META(version) \
	"\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" \
	"\"" version "\",\"io.modelcontextprotocol/clientCapabilities\":{}}}"
#define MODERN "2026-07-28"

static struct hook_settings settings;
static struct calls calls;
static int status, answered;
static char body[200000];

static void
on_answer(void *arg, const struct mcp_answer *answer)
{
	ck_assert_ptr_eq(arg, &calls);
	answered++;
	status = answer->status;
	snprintf(body, sizeof(body), "%.*s", SPAN_ARG(answer->body));
}

static void
set_up(void)
{
	struct fault fault = {.place = ""};

	quiet_begin();
	ck_assert_int_eq(settings_load(&settings, "/dev/null", &fault), ERR_OK);
	calls = (struct calls){
	    .settings = &settings, .started_ns = date_monotonic_ns()};
	answered = 0;
}

static void
tear_down(void)
{
	settings_fini(&settings);
	quiet_end();
}

static void
post(const char *text, const struct mcp_headers *headers)
{
	ck_assert_ptr_null(mcp_post(
	    &desk_service, &calls, span_of(text), headers, on_answer, &calls));
	ck_assert_int_eq(answered, 1);
}

/* A message, its headers, and what comes of it. */
static const struct {
	const char *text, *version, *method, *name;
	int status;
	const char *words; /* in the body; NULL: there is none */
} cases[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL, NULL, NULL,
	200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}", NULL,
	NULL, NULL, 200, "\"id\":9007199254740993,"},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"method\":\"ping\"}", NULL, NULL,
	NULL, 200, "\"id\":\"\\u0041\","},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\\u0000\"}", NULL, NULL,
	NULL, 200, "-32601"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "2025-06-18", NULL,
	NULL, 200, "\"result\":{}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "2024-01-01", NULL,
	NULL, 400, "\"id\":1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MODERN, NULL, NULL,
	400, "-32602"},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL,
	NULL, NULL, 202, NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}", NULL, NULL, NULL, 202,
	NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", NULL, NULL, NULL, 400,
	"-32600"},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", NULL, NULL, NULL,
	400, "-32600"},
    {"{", NULL, NULL, NULL, 400, "-32700"},
    {"", NULL, NULL, NULL, 400, "-32700"},
    {"[]", NULL, NULL, NULL, 400, "-32600"},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":"
     "\"2.0\",\"method\":\"x\"}]",
	NULL, NULL, NULL, 200,
	"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]"},
    {"[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", "2025-03-26", NULL, NULL, 202,
	NULL},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "2025-06-18", NULL,
	NULL, 400, "no batches"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
     "\"protocolVersion\":\"2099-01-01\",\"capabilities\":{},\"clientInfo\":"
     "{}}}",
	NULL, NULL, NULL, 200, "\"protocolVersion\":\"2025-11-25\""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", NULL, NULL,
	NULL, 200, "-32602"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"name\":\"nope\"}}",
	NULL, NULL, NULL, 200, "-32602"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"name\":\"open_url\",\"arguments\":{}}}",
	NULL, NULL, NULL, 200, "\"isError\":true"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," META(
	 MODERN) "}",
	MODERN, "tools/list", NULL, 200, "\"resultType\":\"complete\""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"," META(
	 MODERN) "}",
	MODERN, "server/discover", NULL, 200,
	"\"supportedVersions\":[\"2026-07-28\"]"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"," META(MODERN) "}",
	MODERN, "ping", NULL, 404, "-32601"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," META(
	 MODERN) "}",
	MODERN, "tools/call", NULL, 400, "-32020"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," META(
	 MODERN) "}",
	NULL, "tools/list", NULL, 400, "-32020"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," META(
	 "2027-01-01") "}",
	"2027-01-01", "tools/list", NULL, 400, "-32022"},
};

START_TEST(message_is_answered_as_its_revision_wants)
{
	struct mcp_headers headers = {.version = span_of(cases[_i].version),
	    .method = span_of(cases[_i].method),
	    .name = span_of(cases[_i].name)};

	post(cases[_i].text, &headers);
	ck_assert_msg(status == cases[_i].status, "%d %s", status, body);
	if (cases[_i].words == NULL)
		ck_assert_str_eq(body, "");
	else
		ck_assert_msg(
		    strstr(body, cases[_i].words) != NULL, "%s", body);
}
END_TEST

START_TEST(other_media_types_are_refused)
{
	struct mcp_headers headers = {.content_type = SPAN("text/plain")};

	post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", &headers);
	ck_assert_int_eq(status, 415);
	answered = 0;
	headers.content_type = SPAN("Application/JSON ; charset=utf-8");
	post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", &headers);
	ck_assert_int_eq(status, 200);
}
END_TEST

START_TEST(calls_over_the_pace_are_told_so)
{
	struct mcp_headers headers = {.content_type = {NULL, 0}};

	settings.rate[TOOL_PACE_READ] = 1;
	settings.burst[TOOL_PACE_READ] = 2;
	for (int i = 0; i < 3; i++) {
		answered = 0;
		post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"get_conversation_history\","
		     "\"arguments\":{\"limit\":1}}}",
		    &headers);
		ck_assert_int_eq(status, 200);
		ck_assert_msg(
		    (strstr(body, "Too many calls") != NULL) == (i == 2), "%s",
		    body);
	}
}
END_TEST

START_TEST(tools_that_are_switched_off_are_not_there)
{
	struct mcp_headers headers = {.content_type = {NULL, 0}};

	settings.read_only = true;
	post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
	    &headers);
	ck_assert_ptr_null(strstr(body, "\"lock_session\""));
	ck_assert_ptr_nonnull(strstr(body, "\"get_app_status\""));
	answered = 0;
	post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	     "\"params\":{\"name\":\"lock_session\"}}",
	    &headers);
	ck_assert_ptr_nonnull(strstr(body, "-32602"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook mcp");
	TCase *tc = tcase_create("mcp");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, message_is_answered_as_its_revision_wants, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, other_media_types_are_refused);
	tcase_add_test(tc, calls_over_the_pace_are_told_so);
	tcase_add_test(tc, tools_that_are_switched_off_are_not_there);
	suite_add_tcase(suite, tc);
	return suite;
}
