#include "tools/gridhud/app/client.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/count.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct client client;
static char log_text[4000];
static enum err event_result;

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	size_t len = strlen(log_text);
	va_list args;

	va_start(args, format);
	vsnprintf(log_text + len, sizeof(log_text) - len, format, args);
	va_end(args);
}

static enum err
on_welcome(void *arg, const struct client_welcome *welcome)
{
	(void)arg;
	note("welcome %.*s %" PRIu64 "..%" PRIu64 "|", SPAN_ARG(welcome->epoch),
	    welcome->first, welcome->next);
	return ERR_OK;
}

static enum err
on_event(void *arg, uint64_t seq, bool replay, const struct jsonr_value *event)
{
	(void)arg;
	note("%s %" PRIu64 " %.*s|", replay ? "replay" : "event", seq,
	    SPAN_ARG(jsonr_as_string(jsonr_member(event, "text"))));
	return event_result;
}

static void
on_call(void *arg, int64_t id, struct span name, const struct jsonr_value *args,
    int64_t deadline_ms)
{
	(void)arg;
	note("call %" PRId64 " %.*s %zu %" PRId64 "|", id, SPAN_ARG(name),
	    jsonr_count(args), deadline_ms);
}

static void
on_cancel(void *arg, int64_t id)
{
	(void)arg;
	note("cancel %" PRId64 "|", id);
}

static void
on_status(void *arg, const struct jsonr_value *status)
{
	(void)arg;
	note("status %d|", (int)jsonr_as_int(jsonr_member(status, "port")));
}

static void
on_superseded(void *arg)
{
	(void)arg;
	note("superseded|");
}

static const struct client_ops ops = {
    on_welcome, on_event, on_call, on_cancel, on_status, on_superseded};

static void
set_up(void)
{
	quiet_begin();
	client_init(&client, &ops, NULL);
	log_text[0] = '\0';
	event_result = ERR_OK;
}

static void
tear_down(void)
{
	client_fini(&client);
	quiet_end();
}

static enum err
feed(const char *text)
{
	return client_feed(&client, span_of(text), 1000);
}

#define WELCOME \
	"{\"t\":\"welcome\",\"proto\":1,\"epoch\":\"e1\",\"first\":1," \
	"\"next\":5,\"status\":{}}\n"
#define EVENT(seq) \
	"{\"t\":\"event\",\"seq\":" seq ",\"replay\":true,\"event\":" \
	"{\"text\":\"t" seq "\"}}\n"

static void
attach(void)
{
	client_connected(&client, 1000, SPAN("e1"), 2);
	ck_assert_int_eq(feed(WELCOME), ERR_OK);
	client_sent(&client, client_out(&client).len);
	log_text[0] = '\0';
}

/* True when the line has been put out, but for the client's random name. */
static bool
says(const char *text)
{
	return span_ends(client_out(&client), span_of(text));
}

START_TEST(hello_tells_what_is_known)
{
	client_connected(&client, 0, SPAN(""), 0);
	ck_assert(span_starts(client_out(&client),
	    SPAN("{\"t\":\"hello\",\"proto\":1,\"client\":\"")));
	ck_assert(says("\",\"caps\":[\"speech\",\"focus\",\"get_app_status\","
		       "\"get_conversation_history\"]}\n"));
	client_connected(&client, 0, SPAN("e9"), 12);
	ck_assert(says("\",\"epoch\":\"e9\",\"ack\":12,\"caps\":[\"speech\","
		       "\"focus\",\"get_app_status\","
		       "\"get_conversation_history\"]}\n"));
	ck_assert_int_eq(client.state, CLIENT_GREETING);
}
END_TEST

START_TEST(lines_may_come_in_any_pieces)
{
	static const char text[] =
	    WELCOME EVENT("3") EVENT("4") "{\"t\":\"cancel\",\"id\":9}\n";

	client_connected(&client, 0, SPAN("e1"), 2);
	for (size_t i = 0; i < sizeof(text) - 1; i += (size_t)_i)
		ck_assert_int_eq(
		    client_feed(
			&client, span_sub(span_of(text), i, (size_t)_i), 1000),
		    ERR_OK);
	ck_assert_str_eq(
	    log_text, "welcome e1 1..5|replay 3 t3|replay 4 t4|cancel 9|");
}
END_TEST

START_TEST(event_that_was_seen_is_passed_over)
{
	attach();
	ck_assert_int_eq(
	    feed(EVENT("1") EVENT("2") EVENT("3") EVENT("3") EVENT("4")),
	    ERR_OK);
	ck_assert_str_eq(log_text, "replay 3 t3|replay 4 t4|");
	ck_assert_uint_eq(client.last, 4);
}
END_TEST

START_TEST(event_that_was_not_stored_comes_again)
{
	attach();
	event_result = ERR_NO_SPACE;
	ck_assert_int_eq(feed(EVENT("3") EVENT("4")), ERR_NO_SPACE);
	ck_assert_uint_eq(client.last, 2);
	ck_assert_str_eq(log_text, "replay 3 t3|");
}
END_TEST

START_TEST(calls_are_answered_by_their_number)
{
	attach();
	feed("{\"t\":\"call\",\"id\":7,\"name\":\"speak_text\",\"args\":"
	     "{\"text\":\"x\"},\"deadline_ms\":120000}\n");
	ck_assert_str_eq(log_text, "call 7 speak_text 1 120000|");
	client_answer(&client, 7, SPAN("done"), SPAN(""));
	ck_assert(says("{\"t\":\"result\",\"id\":7,\"ok\":true,\"content\":"
		       "[{\"type\":\"text\",\"text\":\"done\"}]}\n"));
	client_answer(&client, 7, SPAN(""), SPAN("{\"a\":1}"));
	ck_assert(says("{\"t\":\"result\",\"id\":7,\"ok\":true,\"content\":"
		       "[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],"
		       "\"structuredContent\":{\"a\":1}}\n"));
	client_refuse(&client, 7, "no");
	ck_assert(says("{\"t\":\"result\",\"id\":7,\"ok\":false,\"error\":"
		       "\"no\"}\n"));
}
END_TEST

START_TEST(window_says_its_state)
{
	attach();
	client_ack(&client, 4);
	ck_assert(says("{\"t\":\"ack\",\"seq\":4}\n"));
	client_tell_state(&client, 3, "idle", true, "night");
	ck_assert(says("{\"t\":\"state\",\"unread\":3,\"hud\":\"idle\","
		       "\"focused\":true,\"theme\":\"night\"}\n"));
	client_say(&client, "user", SPAN("hello"));
	ck_assert(says("{\"t\":\"say\",\"role\":\"user\",\"text\":\"hello\"}"
		       "\n"));
	feed("{\"t\":\"ping\"}\n");
	ck_assert(says("{\"t\":\"pong\"}\n"));
}
END_TEST

static const struct {
	const char *line;
	enum err err;
} odd[] = {
    {"{\"t\":\"unheard of\"}\n", ERR_OK},
    {"\n\n", ERR_OK},
    {"{}\n", ERR_OK},
    {"[]\n", ERR_OK},
    {"not json\n", ERR_BAD_INPUT},
    {"{\"t\":\"event\",\"seq\":0,\"event\":{}}\n", ERR_BAD_INPUT},
    {"{\"t\":\"event\",\"seq\":-5,\"event\":{}}\n", ERR_BAD_INPUT},
    {"{\"t\":\"event\",\"seq\":3}\n", ERR_BAD_INPUT},
    {"{\"t\":\"event\",\"seq\":\"3\",\"event\":{}}\n", ERR_BAD_INPUT},
    {WELCOME, ERR_BAD_INPUT},
    {"{\"t\":\"error\",\"error\":\"hm\"}\n", ERR_OK},
    {"{\"t\":\"superseded\"}\n", ERR_CLOSED},
};

START_TEST(odd_lines_do_no_harm)
{
	attach();
	ck_assert_int_eq(feed(odd[_i].line), odd[_i].err);
}
END_TEST

START_TEST(events_before_the_greeting_are_refused)
{
	client_connected(&client, 0, SPAN("e1"), 2);
	ck_assert_int_eq(feed(EVENT("3")), ERR_BAD_INPUT);
	client_connected(&client, 0, SPAN("e1"), 2);
	ck_assert_int_eq(
	    feed("{\"t\":\"error\",\"error\":\"protocol\"}\n"), ERR_VERSION);
}
END_TEST

START_TEST(line_without_end_is_cut_off)
{
	static char block[1 << 20];
	unsigned i;
	enum err err = ERR_OK;

	memset(block, 'x', sizeof(block));
	attach();
	for (i = 0; i < 6 && err == ERR_OK; i++)
		err =
		    client_feed(&client, span_make(block, sizeof(block)), 1000);
	ck_assert_int_eq(err, ERR_TOO_LARGE);
	ck_assert_uint_eq(i, 5);
}
END_TEST

START_TEST(pauses_grow_and_an_attachment_ends_them)
{
	static const int64_t pauses[] = {
	    250, 500, 1000, 2000, 4000, 8000, 10000, 10000};
	int64_t now = 5;

	ck_assert(client_wants_connection(&client, 0));
	for (size_t i = 0; i < COUNT(pauses); i++) {
		client_lost(&client, now, "gone");
		ck_assert(
		    !client_wants_connection(&client, now + pauses[i] - 1));
		now += pauses[i];
		ck_assert(client_wants_connection(&client, now));
		ck_assert_int_eq(client_due_ms(&client), now);
	}
	attach();
	client_lost(&client, now, "gone");
	ck_assert(client_wants_connection(&client, now + 250));
}
END_TEST

START_TEST(superseded_window_does_not_come_back_by_itself)
{
	attach();
	feed("{\"t\":\"superseded\"}\n");
	ck_assert_str_eq(log_text, "superseded|");
	client_lost(&client, 1000, "gone");
	ck_assert(!client_wants_connection(&client, 100000));
	ck_assert_int_eq(client_due_ms(&client), -1);
	client_take_back(&client, 2000);
	ck_assert(client_wants_connection(&client, 2000));
}
END_TEST

START_TEST(background_waits_for_its_place_and_comes_back)
{
	client.background = true;
	client_connected(&client, 1000, SPAN("e1"), 2);
	ck_assert_ptr_nonnull(memmem(client_out(&client).ptr,
	    client_out(&client).len, ",\"background\":true,", 19));
	ck_assert_int_eq(feed("{\"t\":\"free\"}\n"), ERR_BAD_INPUT);
	ck_assert_int_eq(feed("{\"t\":\"taken\"}\n"), ERR_OK);
	ck_assert_int_eq(client.state, CLIENT_WAITING);
	client_sent(&client, client_out(&client).len);
	client_ack(&client, 3);
	ck_assert_uint_eq(client_out(&client).len, 0);
	ck_assert_int_eq(client_tick(&client, 45999), ERR_OK);
	ck_assert_int_eq(client_tick(&client, 46000), ERR_TIMED_OUT);
	ck_assert_int_eq(feed("{\"t\":\"free\"}\n"), ERR_OK);
	ck_assert(says("\"epoch\":\"e1\",\"ack\":2,\"caps\":[\"speech\","
		       "\"focus\",\"get_app_status\","
		       "\"get_conversation_history\"]}\n"));
	ck_assert_int_eq(feed(WELCOME), ERR_OK);
	ck_assert_int_eq(feed("{\"t\":\"superseded\"}\n"), ERR_CLOSED);
	ck_assert_str_eq(log_text, "welcome e1 1..5|superseded|");
	client_lost(&client, 1000, "gone");
	ck_assert(client_wants_connection(&client, 1250));
}
END_TEST

START_TEST(silent_server_is_pinged_and_given_up)
{
	attach();
	ck_assert_int_eq(client_due_ms(&client), 16000);
	ck_assert_int_eq(client_tick(&client, 15999), ERR_OK);
	ck_assert_uint_eq(client_out(&client).len, 0);
	ck_assert_int_eq(client_tick(&client, 16000), ERR_OK);
	ck_assert(says("{\"t\":\"ping\"}\n"));
	ck_assert_int_eq(client_tick(&client, 45999), ERR_OK);
	ck_assert_int_eq(client_tick(&client, 46000), ERR_TIMED_OUT);
}
END_TEST

START_TEST(nothing_is_said_while_away)
{
	client_ack(&client, 1);
	client_say(&client, "user", SPAN("x"));
	client_refuse(&client, 1, "x");
	client_tell_state(&client, 0, "idle", false, "day");
	ck_assert_uint_eq(client_out(&client).len, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud client");
	TCase *tc = tcase_create("client");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, hello_tells_what_is_known);
	tcase_add_loop_test(tc, lines_may_come_in_any_pieces, 1, 60);
	tcase_add_test(tc, event_that_was_seen_is_passed_over);
	tcase_add_test(tc, event_that_was_not_stored_comes_again);
	tcase_add_test(tc, calls_are_answered_by_their_number);
	tcase_add_test(tc, window_says_its_state);
	tcase_add_loop_test(tc, odd_lines_do_no_harm, 0, COUNT(odd));
	tcase_add_test(tc, events_before_the_greeting_are_refused);
	tcase_add_test(tc, line_without_end_is_cut_off);
	tcase_add_test(tc, pauses_grow_and_an_attachment_ends_them);
	tcase_add_test(tc, superseded_window_does_not_come_back_by_itself);
	tcase_add_test(tc, background_waits_for_its_place_and_comes_back);
	tcase_add_test(tc, silent_server_is_pinged_and_given_up);
	tcase_add_test(tc, nothing_is_said_while_away);
	suite_add_tcase(suite, tc);
	return suite;
}
