#include "tests/fuzz/served.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "fcgi/route.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct api_settings settings;
static struct serving *serving;
static char key[128];
static struct buf answer;

static void
set(const char *section, const char *name, const char *value)
{
	struct fault fault;

	fault_clear(&fault);
	FUZZ_CHECK(conf_set(&settings, settings_rows, settings_count, section,
		       name, value, &fault) == ERR_OK);
}

static void
open_server(void)
{
	struct metrics *metrics = metrics_new(route_name_count);
	const char *data = made_flow();
	struct server *server;
	struct fault fault;

	fault_clear(&fault);
	FUZZ_CHECK(metrics != NULL);
	FUZZ_CHECK(span_copy(key, sizeof(key),
	    made_gridctl(data, "key create --name f --scope propose")));
	FUZZ_CHECK(conf_defaults(&settings, settings_rows, settings_count,
		       &fault) == ERR_OK);
	set("data", "dir", data);
	set("compute", "gridctl", "/bin/false");
	FUZZ_CHECK(server_open(&server, &settings, metrics, &fault) == ERR_OK);
	serving = serving_new(server);
	FUZZ_CHECK(serving != NULL);
	buf_init(&answer, (size_t)64 << 20);
}

struct span
served_key(void)
{
	if (serving == NULL)
		open_server();
	return span_of(key);
}

struct served_answer
served_ask(const struct request *request)
{
	struct sink sink = sink_to_buf(&answer);
	struct served_answer got;
	char *blank;

	FUZZ_CHECK(serving != NULL);
	buf_clear(&answer);
	FUZZ_CHECK(serve(serving, request, &sink) == ERR_OK);
	buf_add_char(&answer, '\0');
	FUZZ_CHECK(buf_end(&answer) == ERR_OK);
	FUZZ_CHECK(sscanf(answer.data, "Status: %d", &got.status) == 1);
	blank = strstr(answer.data, "\r\n\r\n");
	FUZZ_CHECK(blank != NULL);
	got.head = answer.data;
	got.body =
	    span_from(buf_span(&answer), (size_t)(blank - answer.data) + 4);
	got.body.len--;
	blank[2] = '\0'; /* what a caller seeks in the head ends there */
	return got;
}
