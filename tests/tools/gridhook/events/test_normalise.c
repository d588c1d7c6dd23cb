/*
 * Each case is a push as its sender writes it, and the members of the record
 * that must come out, as JSON text. "#n" before them picks the n-th event.
 */
#include "tools/gridhook/events/normalise.h"

#include <stdlib.h>

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/tools/gridhook/events/normalise_kit.h"
#include "tools/gridhook/events/push.h"

static const struct {
	const char *push;
	unsigned count;
	unsigned which;
	const char *want;
} cases[] = {
    {"{}", 1, 0,
	"{\"source\":\"push\",\"text\":\"\",\"title\":null,"
	"\"kind\":\"message\",\"priority\":\"normal\",\"data\":{}}"},
    {"[]", 1, 0, "{\"source\":\"push\",\"text\":\"\"}"},
    {"\"hello\"", 1, 0, "{\"text\":\"hello\",\"data\":null}"},
    {"5", 1, 0, "{\"text\":\"5\"}"},
    {"[1,[2, 3],{\"text\":\"x\"}]", 3, 1, "{\"text\":\"[2,3]\"}"},
    /* plain scripts */
    {"{\"text\":\"a\",\"title\":\"b\",\"priority\":8,\"source\":\"c\"}", 1, 0,
	"{\"text\":\"a\",\"title\":\"b\",\"priority\":\"high\","
	"\"source\":\"c\"}"},
    {"{\"message\":\"a\",\"from\":{\"name\":\"n\"}}", 1, 0,
	"{\"text\":\"a\",\"source\":\"n\"}"},
    {"{\"foo\": 1}", 1, 0, "{\"text\":\"{\\\"foo\\\":1}\"}"},
    {"{\"text\":\"[SILENT] x\"}", 1, 0, "{\"silent\":true,\"text\":\" x\"}"},
    {"{\"text\":\"x\",\"url\":\"javascript:alert(1)\"}", 1, 0,
	"{\"url\":null}"},
    {"{\"text\":\"x\",\"url\":\"https://a.example/\",\"speak\":false,"
     "\"tags\":[\"a\",5],\"time\":\"2026-01-02T03:04:05Z\"}",
	1, 0,
	"{\"url\":\"https://a.example/\",\"speak\":false,"
	"\"tags\":[\"a\",\"5\"],\"time\":\"2026-01-02T03:04:05.000Z\"}"},
    /* envelopes */
    {"{\"events\":[{\"text\":\"a\"},\"b\",{\"source\":\"own\"}],"
     "\"source\":\"s\",\"title\":\"t\",\"priority\":\"high\"}",
	3, 1,
	"{\"source\":\"s\",\"title\":\"t\",\"priority\":\"high\","
	"\"text\":\"b\"}"},
    {"{\"events\":[{\"text\":\"a\"},{\"source\":\"own\",\"text\":\"x\"}],"
     "\"source\":\"s\"}",
	2, 1, "{\"source\":\"own\"}"},
    {"{\"messages\":[{\"text\":\"a\"},{\"text\":\"b\"}]}", 2, 1,
	"{\"text\":\"b\"}"},
    {"{\"messages\":[1,2],\"text\":\"mine\"}", 1, 0, "{\"text\":\"mine\"}"},
    /* the same id with another status is news about the same */
    {"{\"id\":\"d\",\"source\":\"s\",\"status\":\"firing\"}", 1, 0,
	"{\"dedupe\":\"generic:s:d:4\",\"about\":\"s:d\"}"},
    {"{\"id\":\"d\",\"source\":\"s\",\"status\":\"resolved\"}", 1, 0,
	"{\"dedupe\":\"generic:s:d:5\",\"about\":\"s:d\"}"},
    {"{\"job\":\"b\",\"runId\":\"1\",\"status\":\"running\"}", 1, 0,
	"{\"dedupe\":\"job:cron:1\",\"about\":\"cron:1\"}"},
    {"{\"job\":\"b\",\"runId\":\"1\",\"status\":\"failed\"}", 1, 0,
	"{\"dedupe\":\"job:cron:1:2\",\"about\":\"cron:1\"}"},
    {"{\"routing_key\":\"r\",\"event_action\":\"resolve\","
     "\"dedup_key\":\"k\"}",
	1, 0, "{\"status\":\"resolved\",\"about\":\"pagerduty:k\"}"},
    {"{\"action\":\"Close\",\"alert\":{\"alertId\":\"1\",\"alias\":\"a\","
     "\"message\":\"m\"}}",
	1, 0, "{\"status\":\"resolved\",\"about\":\"opsgenie:a\"}"},
    {"{\"heartbeat\":{\"status\":1,\"msg\":\"up\"},\"monitor\":{\"id\":7,"
     "\"name\":\"site\"},\"msg\":\"up\"}",
	1, 0, "{\"status\":\"ok\",\"about\":\"uptime-kuma:7\"}"},
    /* jobs */
    {"{\"action\":\"finished\",\"jobId\":\"j1\",\"jobName\":\"Nightly\","
     "\"status\":\"ok\",\"summary\":\"fine\",\"durationMs\":5}",
	1, 0,
	"{\"kind\":\"job\",\"status\":\"ok\",\"source\":\"cron\","
	"\"text\":\"fine\",\"title\":\"Nightly\",\"speak\":null,"
	"\"job\":{\"id\":\"j1\",\"name\":\"Nightly\",\"exit_code\":null,"
	"\"duration_ms\":5,\"error\":null,\"next_run\":null}}"},
    {"{\"action\":\"finished\",\"jobId\":\"j1\",\"status\":\"error\","
     "\"error\":\"boom\"}",
	1, 0,
	"{\"kind\":\"job\",\"status\":\"error\",\"priority\":\"high\","
	"\"speak\":true,\"text\":\"boom\"}"},
    {"{\"action\":\"finished\",\"jobId\":\"j1\",\"status\":\"skipped\"}", 1, 0,
	"{\"status\":\"skipped\",\"speak\":null}"},
    {"{\"job\":\"backup\",\"exit_code\":2,\"output\":\"o\"}", 1, 0,
	"{\"kind\":\"job\",\"status\":\"error\",\"speak\":true}"},
    {"{\"job\":\"backup\",\"exit_code\":0,\"output\":\"o\"}", 1, 0,
	"{\"kind\":\"job\",\"status\":\"ok\",\"speak\":null}"},
    {"{\"job\":\"backup\",\"ok\":false}", 1, 0, "{\"status\":\"error\"}"},
    {"{\"job\":\"backup\",\"status\":\"timed_out\"}", 1, 0,
	"{\"status\":\"error\",\"priority\":\"high\"}"},
    {"{\"job\":\"backup\",\"status\":\"ok\",\"error\":\"\"}", 1, 0,
	"{\"status\":\"ok\"}"},
    {"{\"unit\":\"a.service\",\"result\":\"success\"}", 1, 0,
	"{\"kind\":\"job\",\"status\":\"ok\"}"},
    {"{\"unit\":\"a.service\",\"SERVICE_RESULT\":\"protocol\","
     "\"EXIT_STATUS\":\"TERM\",\"host\":\"h\"}",
	1, 0, "{\"status\":\"error\",\"source\":\"h\",\"speak\":true}"},
    {"{\"job\":{\"id\":7,\"name\":\"N\"},\"status\":\"failed\"}", 1, 0,
	"{\"title\":\"N\",\"status\":\"error\"}"},
    /* alerts */
    {"{\"version\":\"4\",\"receiver\":\"r\",\"alerts\":[{\"status\":"
     "\"firing\",\"labels\":{\"alertname\":\"Down\",\"severity\":"
     "\"critical\",\"instance\":\"i\"},\"annotations\":{\"summary\":\"s\"},"
     "\"fingerprint\":\"f\",\"startsAt\":\"2026-01-01T00:00:00Z\"},"
     "{\"status\":\"resolved\",\"labels\":{\"severity\":\"critical\"}}]}",
	2, 0,
	"{\"kind\":\"alert\",\"source\":\"alertmanager\",\"title\":"
	"\"Down on i\",\"text\":\"s\",\"priority\":\"critical\",\"status\":"
	"\"firing\",\"dedupe\":\"alert:alertmanager:f:"
	"2026-01-01T00:00:00Z:4\"}"},
    {"{\"receiver\":\"r\",\"orgId\":1,\"alerts\":[{\"status\":"
     "\"resolved\",\"labels\":{\"severity\":\"critical\"}}]}",
	1, 0,
	"{\"source\":\"grafana\",\"priority\":\"normal\",\"status\":"
	"\"resolved\"}"},
    {"{\"receiver\":\"r\",\"alerts\":[{\"status\":\"firing\",\"lab"
     "els\":{\"alertname\":\"A\"},\"annotations\":{\"summary\":\"s"
     "\",\"description\":\"d\"}}]}",
	1, 0, "{\"title\":\"A\",\"text\":\"s\\nd\"}"},
    {"{\"receiver\":\"r\",\"alerts\":[{\"status\":\"firing\",\"lab"
     "els\":{\"alertname\":\"A\"},\"annotations\":{\"summary\":\"s"
     "\",\"description\":\"s\"}}]}",
	1, 0, "{\"title\":\"A\",\"text\":\"s\"}"},
    {"{\"receiver\":\"r\",\"alerts\":[]}", 1, 0, "{\"kind\":\"message\"}"},
    {"{\"heartbeat\":{\"status\":0,\"msg\":\"m\"},\"monitor\":{\"name\":"
     "\"site\",\"url\":\"https://s.example\"},\"msg\":\"[site] down\"}",
	1, 0,
	"{\"kind\":\"alert\",\"source\":\"uptime-kuma\",\"title\":\"site\","
	"\"text\":\"[site] down\",\"priority\":\"high\",\"status\":"
	"\"error\"}"},
    {"{\"heartbeat\":null,\"monitor\":null,\"msg\":\"test\"}", 1, 0,
	"{\"source\":\"uptime-kuma\",\"text\":\"test\"}"},
    {"{\"monitor\":{\"name\":\"api\"},\"status\":\"recovered\"}", 1, 0,
	"{\"kind\":\"alert\",\"status\":\"resolved\",\"title\":\"api\"}"},
    /* code */
    {"{\"action\":\"opened\",\"repository\":{\"full_name\":\"a/b\"},"
     "\"sender\":{\"login\":\"me\"},\"issue\":{\"title\":\"T\",\"html_url\":"
     "\"https://g.example/1\"}}",
	1, 0,
	"{\"kind\":\"code\",\"source\":\"github\",\"title\":"
	"\"a/b opened by me\",\"text\":\"T\",\"url\":"
	"\"https://g.example/1\"}"},
    {"{\"action\":\"completed\",\"repository\":{\"full_name\":\"a/b\"},"
     "\"sender\":{\"login\":\"me\"},\"workflow_run\":{\"name\":\"CI\","
     "\"conclusion\":\"failure\",\"id\":9}}",
	1, 0,
	"{\"status\":\"error\",\"priority\":\"high\",\"speak\":true,\"job\":{"
	"\"id\":\"9\",\"name\":\"CI\",\"exit_code\":null,\"duration_ms\":"
	"null,\"error\":\"failure\",\"next_run\":null}}"},
    {"{\"object_kind\":\"pipeline\",\"project\":{\"path_with_namespace\":"
     "\"g/p\"},\"object_attributes\":{\"status\":\"failed\",\"id\":3}}",
	1, 0,
	"{\"kind\":\"code\",\"source\":\"gitlab\",\"title\":\"g/p: pipeline\","
	"\"status\":\"error\"}"},
    {"{\"object_kind\":\"push\",\"ref\":\"refs/heads/m\",\"user_us"
     "ername\":\"u\",\"project\":{\"path_with_namespace\":\"g/p\"}"
     ",\"commits\":[{\"title\":\"Mend it\",\"message\":\"Mend it\\"
     "n\"},{\"title\":\"b\"}]}",
	1, 0, "{\"title\":\"g/p: push by u\",\"text\":\"Mend it\"}"},
    {"{\"object_kind\":\"build\",\"build_name\":\"test\",\"build_i"
     "d\":7,\"build_status\":\"failed\",\"build_failure_reason\":"
     "\"script_failure\",\"project_id\":3,\"project_name\":\"g/p\""
     "}",
	1, 0,
	"{\"status\":\"error\",\"job\":{\"id\":\"7\",\"name\":\"test"
	"\",\"exit_code\":null,\"duration_ms\":null,\"error\":\"scrip"
	"t_failure\",\"next_run\":null}}"},
    /* chats */
    {"{\"text\":\"t\",\"username\":\"bot\",\"attachments\":[{\"title\":"
     "\"a\",\"text\":\"b\"},{\"fallback\":\"c\"}]}",
	1, 0, "{\"source\":\"bot\",\"text\":\"t\\na\\nb\\nc\"}"},
    {"{\"blocks\":[{\"type\":\"section\",\"text\":{\"text\":\"x\"}}]}", 1, 0,
	"{\"source\":\"slack\",\"text\":\"x\"}"},
    {"{\"content\":\"c\",\"embeds\":[{\"title\":\"t\",\"description\":"
     "\"d\"}]}",
	1, 0, "{\"source\":\"discord\",\"text\":\"c\\nt\\nd\"}"},
    {"{\"attachments\":[{\"title\":\"a\",\"title_link\":\"https://"
     "a.example/1\",\"fields\":[{\"title\":\"Priority\",\"value\":"
     "\"High\"},{\"value\":\"x\"}]}]}",
	1, 0,
	"{\"text\":\"a\\nPriority: High\\nx\",\"url\":\"https://a.exa"
	"mple/1\"}"},
    {"{\"blocks\":[{\"type\":\"header\",\"text\":{\"type\":\"plain"
     "_text\",\"text\":\"h\"}},{\"type\":\"section\",\"fields\":[{"
     "\"type\":\"mrkdwn\",\"text\":\"f\"},{\"type\":\"mrkdwn\",\"t"
     "ext\":\"g\"}]},{\"type\":\"context\",\"elements\":[{\"type\""
     ":\"mrkdwn\",\"text\":\"by Ann\"}]},{\"type\":\"rich_text\","
     "\"elements\":[{\"type\":\"rich_text_section\",\"elements\":["
     "{\"type\":\"text\",\"text\":\"r\"}]}]}]}",
	1, 0, "{\"text\":\"h\\nf\\ng\\nby Ann\\nr\"}"},
    {"{\"embeds\":[{\"title\":\"t\",\"url\":\"https://e.example/\""
     ",\"fields\":[{\"name\":\"n\",\"value\":\"v\"}]}]}",
	1, 0,
	"{\"text\":\"t\\nhttps://e.example/\\nn: v\",\"url\":\"https:"
	"//e.example/\"}"},
    /* an empty row is nobody's */
    {"{\"text\":\"t\",\"attachments\":[]}", 1, 0,
	"{\"source\":\"push\",\"text\":\"t\",\"format\":\"plain\"}"},
    {"{\"message\":\"m\",\"title\":\"t\",\"attachments\":[],"
     "\"blocks\":[],\"embeds\":[]}",
	1, 0, "{\"source\":\"push\",\"title\":\"t\",\"text\":\"m\"}"},
    {"{\"content\":\"c\",\"embeds\":[],\"username\":\"bot\"}", 1, 0,
	"{\"source\":\"bot\",\"text\":\"c\"}"},
    /* Apprise's json:// as version 1.2 sends it */
    {"{\"version\": \"1.0\", \"title\": \"T\", \"message\": \"body\", "
     "\"attachments\": [], \"type\": \"failure\"}",
	1, 0,
	"{\"source\":\"apprise\",\"title\":\"T\",\"text\":\"body\","
	"\"status\":\"error\",\"priority\":\"high\",\"kind\":\"message\"}"},
    {"{\"version\": \"1.0\", \"title\": \"\", \"message\": \"body\", "
     "\"attachments\": [{\"filename\": \"a.txt\", \"base64\": \"aW1nCg==\", "
     "\"mimetype\": \"text/plain\"}], \"type\": \"info\"}",
	1, 0,
	"{\"source\":\"apprise\",\"title\":null,\"text\":\"body\","
	"\"status\":null,\"priority\":\"normal\"}"},
    {"{\"topic\":\"doors\",\"message\":\"m\",\"title\":\"t\",\"priority\":5,"
     "\"click\":\"https://c.example\"}",
	1, 0,
	"{\"source\":\"ntfy:doors\",\"text\":\"m\",\"priority\":\"critical\","
	"\"url\":\"https://c.example\"}"},
    {"{\"topic\":\"d\",\"message\":\"m\",\"priority\":4}", 1, 0,
	"{\"priority\":\"high\"}"},
    {"{\"message\":\"m\",\"title\":\"t\",\"priority\":4,\"extras\":{"
     "\"client::notification\":{\"click\":{\"url\":\"https://x.example\"}}}}",
	1, 0,
	"{\"source\":\"gotify\",\"priority\":\"normal\",\"url\":"
	"\"https://x.example\"}"},
    {"{\"message\":\"m\",\"title\":\"t\",\"data\":{\"tag\":\"g\","
     "\"priority\":\"high\"}}",
	1, 0,
	"{\"source\":\"home-assistant\",\"tags\":[\"g\"],\"priority\":"
	"\"high\"}"},
    {"{\"text\":\"wake\",\"mode\":\"now\"}", 1, 0, "{\"text\":\"wake\"}"},
    {"{\"type\":\"payment.ok\",\"data\":{\"amount\":5}}", 1, 0,
	"{\"title\":\"payment.ok\",\"text\":\"{\\\"type\\\":\\\"payme"
	"nt.ok\\\",\\\"data\\\":{\\\"amount\\\":5}}\"}"},
    /* CloudEvents */
    {"{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":"
     "\"t\",\"subject\":\"sub\",\"data\":{\"text\":\"x\"}}",
	1, 0,
	"{\"source\":\"/s\",\"title\":\"sub\",\"text\":\"x\",\"dedupe\":"
	"\"cloudevents:/s:/s#1\"}"},
    {"{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":"
     "\"t\",\"time\":\"2026-01-01T00:00:00Z\",\"data\":{\"job\":\"b\","
     "\"exit_code\":1}}",
	1, 0,
	"{\"source\":\"/s\",\"kind\":\"job\",\"status\":\"error\",\"time\":"
	"\"2026-01-01T00:00:00.000Z\"}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 1, 0,
	"{\"kind\":\"message\",\"dedupe\":null}"},
};

START_TEST(pushes_become_events)
{
	const struct hints none = {.source = SPAN("")};
	struct events events = normalise_kit_take(cases[_i].push, &none);

	ck_assert_uint_eq(events.count, cases[_i].count);
	normalise_kit_compare(
	    normalise_kit_written(events.list[cases[_i].which]),
	    cases[_i].want);
}
END_TEST

START_TEST(every_event_has_a_source)
{
	const struct hints none = {.source = SPAN("")};
	struct events events = normalise_kit_take(
	    "[{\"source\":\"\"},{\"source\":\" \\n\"},{\"source\":[]},"
	    "{\"source\":null},{\"source\":\"\\u202e\"},5,{\"source\":7}]",
	    &none);

	for (unsigned i = 0; i < 6; i++)
		ck_assert(span_eq(events.list[i]->source, SPAN("push")));
	ck_assert(span_eq(events.list[6]->source, SPAN("7")));
}
END_TEST

START_TEST(query_and_path_fill_only_what_is_missing)
{
	struct hints hints = {.suffix = SPAN("backup")};
	struct events events;

	events = normalise_kit_take("{\"text\":\"x\"}", &hints);
	ck_assert(span_eq(events.list[0]->source, SPAN("backup")));
	push_read_query(&hints,
	    SPAN("source=a%20b+c&title=T%C3%A9&priority=low&speak=true&x=%zz"),
	    normalise_kit_arena());
	events =
	    normalise_kit_take("{\"text\":\"x\",\"title\":\"own\"}", &hints);
	normalise_kit_compare(normalise_kit_written(events.list[0]),
	    "{\"source\":\"a b c\",\"title\":\"own\",\"priority\":\"low\","
	    "\"speak\":true}");
	events = normalise_kit_take(
	    "{\"text\":\"x\",\"source\":\"s\",\"priority\":\"high\","
	    "\"speak\":false}",
	    &hints);
	normalise_kit_compare(normalise_kit_written(events.list[0]),
	    "{\"source\":\"s\",\"title\":\"T\xC3\xA9\",\"priority\":\"high\","
	    "\"speak\":false}");
}
END_TEST

START_TEST(more_than_256_are_told_by_the_last)
{
	const struct hints none = {.source = SPAN("")};
	struct events events;
	struct buf json;
	char *whole;

	buf_init(&json, 1 << 20);
	buf_add_char(&json, '[');
	for (int i = 0; i < 300; i++)
		buf_addf(&json, "%s%d", i == 0 ? "" : ",", i);
	buf_add_char(&json, ']');
	whole = buf_take(&json, NULL);
	events = normalise_kit_take(whole, &none);
	ck_assert_uint_eq(events.count, 256);
	normalise_kit_compare(
	    normalise_kit_written(events.list[254]), "{\"text\":\"254\"}");
	normalise_kit_compare(normalise_kit_written(events.list[255]),
	    "{\"text\":\"and 45 more\",\"data\":{\"count\":45}}");
	free(whole);
}
END_TEST

START_TEST(large_texts_are_cut_and_say_so)
{
	const struct hints none = {.source = SPAN("")};
	struct events events;
	struct buf json;
	char *whole;

	buf_init(&json, 1 << 20);
	buf_add_text(&json, "{\"text\":\"");
	while (json.len < 100000)
		buf_add_text(&json, "\xC3\xA9");
	buf_add_text(&json, "\",\"title\":\"");
	while (json.len < 102000)
		buf_add_text(&json, "x\\n");
	buf_add_text(&json, "\"}");
	whole = buf_take(&json, NULL);
	events = normalise_kit_take(whole, &none);
	ck_assert_uint_eq(events.list[0]->text.len, EVENT_TEXT_MAX);
	ck_assert_uint_eq(events.list[0]->title.len, EVENT_TITLE_MAX);
	normalise_kit_compare(normalise_kit_written(events.list[0]),
	    "{\"truncated\":true,\"data\":null}");
	free(whole);
}
END_TEST

START_TEST(data_that_a_reader_could_not_read_is_left_out)
{
	const struct hints none = {.source = SPAN("")};
	struct events events = normalise_kit_take(
	    "[{\"a\":1,\"a\":2},{\"n\":123456789012345678901234567890},"
	    "{\"s\":\"\\u0000\"},{\"fine\": [1, 2]}]",
	    &none);

	ck_assert_uint_eq(events.list[0]->data.len, 0);
	ck_assert_uint_eq(events.list[1]->data.len, 0);
	ck_assert_uint_eq(events.list[2]->data.len, 0);
	ck_assert(span_eq(events.list[3]->data, SPAN("{\"fine\":[1,2]}")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook normalise");
	TCase *tc = tcase_create("normalise");

	tcase_add_checked_fixture(
	    tc, normalise_kit_set_up, normalise_kit_tear_down);
	tcase_add_loop_test(tc, pushes_become_events, 0, COUNT(cases));
	tcase_add_test(tc, every_event_has_a_source);
	tcase_add_test(tc, query_and_path_fill_only_what_is_missing);
	tcase_add_test(tc, more_than_256_are_told_by_the_last);
	tcase_add_test(tc, large_texts_are_cut_and_say_so);
	tcase_add_test(tc, data_that_a_reader_could_not_read_is_left_out);
	suite_add_tcase(suite, tc);
	return suite;
}
