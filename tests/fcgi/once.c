/*
 * once DATA GRIDCTL URI [NAME=VALUE]...: serves one request in this process
 * and prints the answer, head and body. NAME is a FastCGI parameter; SLOW=1
 * takes the slow pool's part, BODY=... is the body, TIMES=n repeats it; a name
 * with a point is a setting, "api.public_url".
 *
 * A URI of "-" serves many, for tests: each comes on standard input as
 * NAME=VALUE texts, each behind its length, u32 little-endian, and a length of
 * 0 ends it; the answer goes to standard output as u32 result, u32 length and
 * bytes. What nginx would ask of the slow pool is asked here at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/log.h"
#include "fcgi/route.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"

#define ANSWER_MAX ((size_t)4 << 30)

static struct api_settings settings;

static void
take(struct request *request, int *times, struct span text)
{
	size_t equals = span_find(text, '=');
	struct span name = span_sub(text, 0, equals);
	struct span value = span_from(text, equals + 1);

	if (span_eq(name, SPAN("SLOW")))
		request->slow_pool = true;
	else if (span_eq(name, SPAN("BODY")))
		request->body = value;
	else if (span_eq(name, SPAN("TIMES")))
		*times = (int)strtol(value.ptr, NULL, 10);
	else
		request_param(request, name, value);
}

/* "api.public_url=…"; anything else is left for the request. */
static bool
take_setting(char *argument)
{
	size_t equals = strcspn(argument, "="), point = strcspn(argument, ".");
	struct fault fault;

	if (point >= equals || argument[equals] == '\0')
		return false;
	argument[point] = argument[equals] = '\0';
	fault_clear(&fault);
	if (conf_set(&settings, settings_rows, settings_count, argument,
		argument + point + 1, argument + equals + 1,
		&fault) != ERR_OK) {
		fprintf(stderr, "%s: %s\n", fault.place, fault.message);
		exit(EXIT_FAILURE);
	}
	return true;
}

static int
serve_one(struct serving *serving, struct request *request, int times)
{
	struct buf answer;
	int64_t start;
	enum err err = ERR_NO_MEMORY;

	buf_init(&answer, ANSWER_MAX);
	start = date_monotonic_ns();
	for (int i = 0; i < times && serving != NULL; i++) {
		struct sink sink = sink_to_buf(&answer);

		buf_clear(&answer);
		request->start_ns = date_monotonic_ns();
		err = serve(serving, request, &sink);
	}
	if (times > 1)
		fprintf(stderr, "%.3f us each\n",
		    (double)(date_monotonic_ns() - start) / times / 1000);
	fwrite(answer.data, 1, answer.len, stdout);
	buf_fini(&answer);
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- many ----------------------------------------------------------------- */

static bool
read_u32(uint32_t *value)
{
	unsigned char bytes[4];

	if (fread(bytes, 1, 4, stdin) != 4)
		return false;
	*value = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
	    (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	return true;
}

/* False at the end of the input. */
static bool
read_request(struct request *request, struct arena *arena)
{
	uint32_t len;
	int times;

	request_init(request);
	arena_reset(arena);
	while (read_u32(&len)) {
		char *text;

		if (len == 0)
			return true;
		text = arena_alloc(arena, len);
		if (text == NULL || fread(text, 1, len, stdin) != len)
			return false;
		take(request, &times, span_make(text, len));
	}
	return false;
}

static void
serve_into(struct serving *serving, struct request *request, struct buf *answer)
{
	struct buf head;
	struct sink sink = sink_to_buf(answer);
	enum err err;

	buf_init(&head, 8);
	buf_clear(answer);
	request->start_ns = date_monotonic_ns();
	err = serve(serving, request, &sink);
	if (err == ERR_OK && !request->slow_pool && answer->len > 0 &&
	    (memmem(answer->data, answer->len, "Redirect: @slow", 15) != NULL ||
		memmem(answer->data, answer->len, "Redirect: @login", 16) !=
		    NULL)) {
		request->slow_pool = true;
		buf_clear(answer);
		err = serve(serving, request, &sink);
	}
	buf_add_u32(&head, (uint32_t)err);
	buf_add_u32(&head, (uint32_t)answer->len);
	fwrite(head.data, 1, head.len, stdout);
	if (answer->len > 0)
		fwrite(answer->data, 1, answer->len, stdout);
	fflush(stdout);
	buf_fini(&head);
}

static int
serve_many(struct serving *serving)
{
	struct arena *arena = arena_new((size_t)64 << 20);
	struct request request;
	struct buf answer;

	buf_init(&answer, ANSWER_MAX);
	while (
	    arena != NULL && serving != NULL && read_request(&request, arena))
		serve_into(serving, &request, &answer);
	buf_fini(&answer);
	arena_free(arena);
	return feof(stdin) && arena != NULL && serving != NULL ? EXIT_SUCCESS
							       : EXIT_FAILURE;
}

static int
run(char **argv, struct metrics *metrics)
{
	struct server *server;
	struct serving *serving;
	struct request request;
	struct fault fault;
	int times = 1, result;

	fault_clear(&fault);
	request_init(&request);
	request.uri = span_of(argv[3]);
	for (int i = 4; argv[i] != NULL; i++)
		if (!take_setting(argv[i]))
			take(&request, &times, span_of(argv[i]));
	if (server_open(&server, &settings, metrics, &fault) != ERR_OK) {
		fprintf(stderr, "%s: %s\n", fault.place, fault.message);
		return EXIT_FAILURE;
	}
	serving = serving_new(server);
	result = span_eq(request.uri, SPAN("-"))
	    ? serve_many(serving)
	    : serve_one(serving, &request, times);
	serving_free(serving);
	server_close(server);
	return result;
}

int
main(int argc, char **argv)
{
	struct metrics *metrics = metrics_new(route_name_count);
	struct fault fault;
	int result;

	fault_clear(&fault);
	log_open("once", LOG_WARN_);
	if (argc < 4 || metrics == NULL ||
	    conf_defaults(&settings, settings_rows, settings_count, &fault) !=
		ERR_OK)
		return EXIT_FAILURE;
	free(settings.data_dir);
	free(settings.gridctl);
	settings.data_dir = span_dup(span_of(argv[1]));
	settings.gridctl = span_dup(span_of(argv[2]));
	result = run(argv, metrics);
	/* Computations that go on use settings and metrics to the last. */
	return result;
}
