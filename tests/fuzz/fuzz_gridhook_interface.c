/*
 * Lines that a peer on the window's socket may send, with events and calls
 * under way.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/window/relay.h"

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
put_status(void *arg, struct jsonw *json)
{
	(void)arg;
	jsonw_null(json);
}

static int calls_open;

static void
on_result(void *arg, const struct result *result)
{
	struct jscan doc;

	(void)arg;
	calls_open--;
	FUZZ_CHECK(
	    jscan_parse(&doc, buf_span(&result->content), 300, NULL) == ERR_OK);
	jscan_fini(&doc);
}

static struct loop *loop;
static struct journal *journal;
static struct relay *relay;

static void
set_up(void)
{
	const struct journal_spec spec = {
	    .keep_events = 20, .keep_ms = 1000000000, .keep_bytes = 1 << 20};
	struct event event = {.source = SPAN("s"), .text = SPAN("t")};
	struct event_place place = {.push = SPAN("p"), .count = 1};

	log_catch(drop_line);
	FUZZ_CHECK(loop_open(&loop) == ERR_OK);
	FUZZ_CHECK(journal_open(&journal, &spec) == ERR_OK);
	FUZZ_CHECK(relay_open(&relay, loop, NULL, journal, REPLAY_ALL,
		       put_status, NULL) == ERR_OK);
	for (int i = 0; i < 10; i++)
		FUZZ_CHECK(journal_add(journal, &event, &place) == ERR_OK);
	FUZZ_CHECK(journal_commit(journal) == ERR_OK);
}

static void
turn(void)
{
	for (int i = 0; i < 4; i++)
		FUZZ_CHECK(loop_once(loop, 0) == ERR_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char bytes[65536];
	int pair[2];

	if (relay == NULL)
		set_up();
	if (len > 60000)
		return 0;
	FUZZ_CHECK(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		pair) == 0);
	relay_attach(relay, pair[0]);
	FUZZ_CHECK(send(pair[1], data, len, 0) == (ssize_t)len);
	turn();
	if (relay_call(
		relay, "speak_text", SPAN("{}"), 1000, on_result, NULL) != NULL)
		calls_open++;
	relay_pump(relay);
	turn();
	send(pair[1], data, len, MSG_NOSIGNAL);
	turn();
	while (recv(pair[1], bytes, sizeof(bytes), 0) > 0)
		turn();
	close(pair[1]);
	while (relay_has_window(relay))
		turn();
	turn();
	FUZZ_CHECK(calls_open == 0);
	FUZZ_CHECK(journal_commit(journal) == ERR_OK);
	return 0;
}
