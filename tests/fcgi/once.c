/*
 * once DATA GRIDCTL URI [NAME=VALUE]...: serves one request in this process
 * and prints the answer, head and body. NAME is a FastCGI parameter; SLOW=1
 * takes the slow pool's part, BODY=... is the body, TIMES=n repeats it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "fcgi/serve.h"

static void
take(struct request *request, int *times, char *argument)
{
	struct span text = span_of(argument);
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

static int
run(struct server *server, struct request *request, int times)
{
	struct serving *serving = serving_new(server);
	struct buf answer;
	int64_t start;
	enum err err = ERR_NO_MEMORY;

	buf_init(&answer, (size_t)4 << 30);
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
	serving_free(serving);
	buf_fini(&answer);
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	struct settings settings;
	struct server *server;
	struct request request;
	struct metrics *metrics = metrics_new();
	struct fault fault;
	int times = 1, result;

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
	if (server_open(&server, &settings, metrics, &fault) != ERR_OK) {
		fprintf(stderr, "%s: %s\n", fault.place, fault.message);
		return EXIT_FAILURE;
	}
	request_init(&request);
	request.uri = span_of(argv[3]);
	for (int i = 4; i < argc; i++)
		take(&request, &times, argv[i]);
	result = run(server, &request, times);
	server_close(server);
	conf_fini(&settings, settings_rows, settings_count);
	metrics_free(metrics);
	return result;
}
