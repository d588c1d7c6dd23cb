#include "tools/gridhook/window/relay.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define HELLO "{\"t\":\"hello\",\"proto\":1}\n"

static struct loop *loop;
static struct journal *journal;
static struct relay *relay;
static char heard[200000]; /* of one window */
static int results, errors;
static char last[1000];

static void
put_status(void *arg, struct jsonw *json)
{
	(void)arg;
	jsonw_null(json);
}

static void
on_result(void *arg, const struct result *result)
{
	(void)arg;
	results++;
	errors += result->is_error;
	snprintf(
	    last, sizeof(last), "%.*s", SPAN_ARG(buf_span(&result->content)));
}

static void
set_up(void)
{
	const struct journal_spec spec = {
	    .keep_events = 1000, .keep_ms = 1000000000, .keep_bytes = 1 << 20};

	quiet_begin();
	ck_assert_int_eq(loop_open(&loop), ERR_OK);
	ck_assert_int_eq(journal_open(&journal, &spec), ERR_OK);
	ck_assert_int_eq(relay_open(&relay, loop, NULL, journal, REPLAY_UNACKED,
			     put_status, NULL),
	    ERR_OK);
	results = errors = 0;
}

static void
tear_down(void)
{
	relay_close(relay);
	journal_close(journal);
	loop_close(loop);
	quiet_end();
}

static void
turn(void)
{
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(loop_once(loop, 0), ERR_OK);
	relay_pump(relay);
}

static void
say(int window, const char *line)
{
	ck_assert_int_eq(
	    send(window, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	turn();
}

static int
attach(const char *hello)
{
	int ends[2];

	ck_assert_int_eq(
	    socketpair(
		AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
	    0);
	relay_attach(relay, ends[0]);
	say(ends[1], hello);
	return ends[1];
}

/* All that has come since, as text; "" also when the window was closed. */
static const char *
hear(int window)
{
	size_t len = 0;
	ssize_t got;

	turn();
	while (
	    (got = recv(window, heard + len, sizeof(heard) - 1 - len, 0)) > 0)
		len += (size_t)got;
	heard[len] = '\0';
	return heard;
}

static unsigned
count(const char *text, const char *part)
{
	unsigned found = 0;

	while ((text = strstr(text, part)) != NULL) {
		found++;
		text += strlen(part);
	}
	return found;
}

static void
add(unsigned events)
{
	struct event event = {.source = SPAN("s"), .text = SPAN("t")};
	struct event_place place = {.push = SPAN("p"), .count = 1};

	for (; events > 0; events--)
		ck_assert_int_eq(journal_add(journal, &event, &place), ERR_OK);
	ck_assert_int_eq(journal_commit(journal), ERR_OK);
	relay_pump(relay);
}

START_TEST(nothing_is_said_before_the_greeting)
{
	int window = attach("{\"t\":\"ack\",\"seq\":1}\n");

	add(1);
	ck_assert_str_eq(hear(window), "");
	ck_assert(!relay_has_window(relay));
	say(window, HELLO);
	ck_assert_ptr_nonnull(strstr(hear(window), "\"t\":\"welcome\""));
	ck_assert_uint_eq(count(heard, "\"t\":\"event\""), 1);
	ck_assert(relay_has_window(relay));
	close(window);
}
END_TEST

START_TEST(sixty_four_are_on_the_way_at_most)
{
	int window = attach(HELLO);

	add(200);
	ck_assert_uint_eq(count(hear(window), "\"t\":\"event\""), RELAY_FLIGHT);
	say(window, "{\"t\":\"ack\",\"seq\":10}\n");
	ck_assert_uint_eq(count(hear(window), "\"t\":\"event\""), 10);
	ck_assert_uint_eq(journal_acked(journal), 10);
	/* Older, unsent and senseless numbers change nothing. */
	say(window,
	    "{\"t\":\"ack\",\"seq\":3}\n{\"t\":\"ack\",\"seq\":200}\n"
	    "{\"t\":\"ack\",\"seq\":-1}\n{\"t\":\"ack\"}\n");
	ck_assert_str_eq(hear(window), "");
	ck_assert_uint_eq(journal_acked(journal), 10);
	close(window);
}
END_TEST

START_TEST(next_window_goes_on_where_the_last_one_was)
{
	char hello[200];
	int window;

	add(5);
	window = attach(HELLO);
	ck_assert_uint_eq(count(hear(window), "\"replay\":true"), 5);
	say(window, "{\"t\":\"ack\",\"seq\":2}\n");
	close(window);
	turn();
	ck_assert(!relay_has_window(relay));
	window = attach(HELLO);
	ck_assert_uint_eq(count(hear(window), "\"t\":\"event\""), 3);
	close(window);
	turn();
	/* The window's own ack counts more than the one on disk. */
	snprintf(hello, sizeof(hello),
	    "{\"t\":\"hello\",\"proto\":1,\"epoch\":\"%s\",\"ack\":4}\n",
	    journal_epoch(journal));
	window = attach(hello);
	ck_assert_uint_eq(count(hear(window), "\"t\":\"event\""), 1);
	ck_assert_ptr_nonnull(strstr(heard, "\"seq\":5,"));
	close(window);
}
END_TEST

START_TEST(newer_window_takes_over_and_ends_the_calls)
{
	int first = attach(HELLO), second;

	hear(first);
	ck_assert_ptr_nonnull(
	    relay_call(relay, "speak_text", SPAN("{}"), 1000, on_result, NULL));
	second = attach(HELLO);
	ck_assert_ptr_nonnull(strstr(hear(first), "superseded"));
	ck_assert_int_eq(results, 1);
	ck_assert_ptr_nonnull(strstr(last, "took over"));
	/* Lines of the superseded window are ignored. */
	say(second, "{\"t\":\"state\",\"hud\":\"thinking\",\"unread\":7}\n");
	ck_assert_str_eq(relay_hud(relay), "thinking");
	ck_assert_int_eq(relay_unread(relay), 7);
	send(first, "{\"t\":\"state\",\"hud\":\"alert\"}\n", 28, MSG_NOSIGNAL);
	turn();
	ck_assert_str_eq(relay_hud(relay), "thinking");
	close(first);
	turn();
	ck_assert(relay_has_window(relay));
	close(second);
}
END_TEST

#define BACKGROUND "{\"t\":\"hello\",\"proto\":1,\"background\":true}\n"

START_TEST(background_gives_way_and_is_told_when_the_place_is_free)
{
	int behind = attach(BACKGROUND), window, other;

	ck_assert_ptr_nonnull(strstr(hear(behind), "\"t\":\"welcome\""));
	window = attach(HELLO);
	ck_assert_ptr_nonnull(strstr(hear(behind), "superseded"));
	close(behind);
	behind = attach(BACKGROUND);
	ck_assert_str_eq(hear(behind), "{\"t\":\"taken\"}\n");
	add(1);
	ck_assert_str_eq(hear(behind), "");
	/* A window that takes over leaves the place taken. */
	other = attach(HELLO);
	ck_assert_str_eq(hear(behind), "");
	close(window);
	turn();
	ck_assert_str_eq(hear(behind), "");
	close(other);
	turn();
	ck_assert_str_eq(hear(behind), "{\"t\":\"free\"}\n");
	say(behind, BACKGROUND);
	ck_assert_ptr_nonnull(strstr(hear(behind), "\"t\":\"welcome\""));
	ck_assert_uint_eq(count(heard, "\"t\":\"event\""), 1);
	/* The newer one of two in the background has it. */
	other = attach(BACKGROUND);
	ck_assert_ptr_nonnull(strstr(hear(other), "\"t\":\"welcome\""));
	ck_assert_ptr_nonnull(strstr(hear(behind), "superseded"));
	close(behind);
	close(other);
}
END_TEST

static const struct {
	const char *line; /* %llu: the call's number */
	bool error;
	const char *words;
} answers[] = {
    {"{\"t\":\"result\",\"id\":1,\"ok\":true,\"content\":[{\"type\":\"text\","
     "\"text\":\"done\"}]}\n",
	false, "done"},
    {"{\"t\":\"result\",\"id\":1,\"ok\":false,\"error\":\"no sound\"}\n", true,
	"no sound"},
    {"{\"t\":\"result\",\"id\":1,\"ok\":false}\n", true, "failed"},
    {"{\"t\":\"result\",\"id\":1,\"ok\":true}\n", true, "not understood"},
    {"{\"t\":\"result\",\"id\":1,\"ok\":true,\"content\":[5]}\n", true,
	"not understood"},
};

START_TEST(call_ends_with_what_the_window_says)
{
	int window = attach(HELLO);

	ck_assert_ptr_nonnull(relay_call(relay, "speak_text",
	    SPAN("{\"text\":\"x\"}"), 60000, on_result, NULL));
	ck_assert_ptr_nonnull(strstr(hear(window),
	    "{\"t\":\"call\",\"id\":1,\"name\":\"speak_text\",\"args\":"
	    "{\"text\":\"x\"},\"deadline_ms\":60000}"));
	say(window, "{\"t\":\"result\",\"id\":99,\"ok\":true}\n");
	ck_assert_int_eq(results, 0);
	say(window, answers[_i].line);
	ck_assert_int_eq(results, 1);
	ck_assert_int_eq(errors, answers[_i].error);
	ck_assert_msg(strstr(last, answers[_i].words) != NULL, "%s", last);
	say(window, answers[_i].line); /* once more: nobody waits */
	ck_assert_int_eq(results, 1);
	close(window);
}
END_TEST

START_TEST(call_ends_when_its_time_is_over_and_the_window_hears_of_it)
{
	int64_t end = date_monotonic_ns() + INT64_C(60000000000);
	int window = attach(HELLO);

	hear(window);
	ck_assert_ptr_nonnull(
	    relay_call(relay, "speak_text", SPAN("{}"), 20, on_result, NULL));
	while (results == 0 && date_monotonic_ns() < end)
		ck_assert_int_eq(loop_once(loop, 10), ERR_OK);
	ck_assert_int_eq(results, 1);
	ck_assert_ptr_nonnull(strstr(last, "within 20 ms"));
	ck_assert_ptr_nonnull(
	    strstr(hear(window), "{\"t\":\"cancel\",\"id\":1}"));
	close(window);
}
END_TEST

START_TEST(call_ends_when_the_window_goes_or_the_caller)
{
	int window = attach(HELLO);
	struct relay_call *call;

	hear(window);
	call = relay_call(relay, "x", SPAN("{}"), 1000, on_result, NULL);
	relay_call_cancel(call);
	ck_assert_ptr_nonnull(strstr(hear(window), "\"t\":\"cancel\""));
	ck_assert_int_eq(results, 0);
	ck_assert_ptr_nonnull(
	    relay_call(relay, "x", SPAN("{}"), 1000, on_result, NULL));
	close(window);
	turn();
	ck_assert_int_eq(results, 1);
	ck_assert_ptr_nonnull(strstr(last, "went away"));
	ck_assert_ptr_null(
	    relay_call(relay, "x", SPAN("{}"), 1000, on_result, NULL));
}
END_TEST

START_TEST(what_is_not_json_costs_the_line_and_no_more)
{
	int window = attach(HELLO);

	hear(window);
	say(window, "nonsense\n[]\n5\n{\"t\":\"unheard of\"}\n{\"t\":5}\n");
	ck_assert_uint_eq(count(hear(window), "\"t\":\"error\""), 1);
	say(window, "{\"t\":\"ping\"}\n");
	ck_assert_ptr_nonnull(strstr(hear(window), "\"t\":\"pong\""));
	close(window);
}
END_TEST

START_TEST(another_protocol_is_refused)
{
	char byte;
	int window = attach("{\"t\":\"hello\",\"proto\":2}\n");

	ck_assert_ptr_nonnull(strstr(hear(window), "protocol 1"));
	ck_assert_int_eq(recv(window, &byte, 1, 0), 0);
	ck_assert(!relay_has_window(relay));
	close(window);
}
END_TEST

START_TEST(abilities_are_those_that_it_names)
{
	int window = attach("{\"t\":\"hello\",\"proto\":1,\"caps\":[\"speech\","
			    "5,\"get_app_status\"]}\n");

	ck_assert(relay_window_does(relay, "get_app_status"));
	ck_assert(!relay_window_does(relay, "get_app"));
	ck_assert(!relay_window_does(relay, "5"));
	close(window);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook relay");
	TCase *tc = tcase_create("relay");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, nothing_is_said_before_the_greeting);
	tcase_add_test(tc, sixty_four_are_on_the_way_at_most);
	tcase_add_test(tc, next_window_goes_on_where_the_last_one_was);
	tcase_add_test(tc, newer_window_takes_over_and_ends_the_calls);
	tcase_add_test(
	    tc, background_gives_way_and_is_told_when_the_place_is_free);
	tcase_add_loop_test(tc, call_ends_with_what_the_window_says, 0,
	    (int)(sizeof(answers) / sizeof(answers[0])));
	tcase_add_test(
	    tc, call_ends_when_its_time_is_over_and_the_window_hears_of_it);
	tcase_add_test(tc, call_ends_when_the_window_goes_or_the_caller);
	tcase_add_test(tc, what_is_not_json_costs_the_line_and_no_more);
	tcase_add_test(tc, another_protocol_is_refused);
	tcase_add_test(tc, abilities_are_those_that_it_names);
	suite_add_tcase(suite, tc);
	return suite;
}
