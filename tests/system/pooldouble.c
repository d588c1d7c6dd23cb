/*
 * pooldouble: gridapi with a serve() that does as the path says, so that a
 * test can make a worker sleep, stream, fail or die in the middle. All else,
 * main() included, is gridapi's own.
 *
 *	/api/v1/ok/BYTES       that many bytes
 *	/api/v1/sleep/MS       answers after that time
 *	/api/v1/slow/MS        the same, in the slow pool
 *	/api/v1/gate/MS        in the slow pool, too: waits for the file "go" in
 *	                       the data directory, and for MS at the most; a
 *	                       line in "gated" tells that it has begun
 *	/api/v1/stream/MB      as fast as they are taken; no length is told
 *	/api/v1/drip/MS        64 KB every MS milliseconds, without an end
 *	/api/v1/fail/BYTES     that many bytes, then a failure
 *	/api/v1/count/NUMBER   notes the number in the file "counted" there
 *	/api/v1/body           tells the body's length and sum
 *	/api/v1/refused        401, counted by nginx where it asks for that
 *	/api/v1/pid            the worker's
 *	/metrics               as it is
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/num.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"

#define CHUNK (64 << 10)

struct server {
	const struct api_settings *settings;
	struct metrics *metrics;
};

struct serving {
	struct server *server;
	char chunk[CHUNK];
	const struct request *request;
	struct sink *out;
	int64_t number; /* behind the last slash */
};

enum err
server_open(struct server **out, const struct api_settings *settings,
    struct metrics *metrics, struct fault *fault)
{
	*out = NULL;
	if (access(settings->data_dir, R_OK) != 0) {
		fault_set(fault, settings->data_dir, "is not there");
		return ERR_NOT_FOUND;
	}
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return ERR_NO_MEMORY;
	(*out)->settings = settings;
	(*out)->metrics = metrics;
	return ERR_OK;
}

void
server_close(struct server *server)
{
	free(server);
}

struct serving *
serving_new(struct server *server)
{
	struct serving *serving = calloc(1, sizeof(*serving));

	if (serving != NULL) {
		serving->server = server;
		memset(serving->chunk, 'x', sizeof(serving->chunk));
	}
	return serving;
}

void
serving_free(struct serving *serving)
{
	free(serving);
}

/* Not asked for here: faults.py has the real one. */
enum err
serve_without_store(
    struct metrics *metrics, const struct request *request, struct sink *out)
{
	(void)metrics;
	(void)request;
	return sink_put(out, SPAN("Status: 503 Service Unavailable\r\n\r\n"));
}

void
server_tick(struct server *server)
{
	(void)server;
}

static enum err
put_text(struct serving *serving, const char *status, const char *text)
{
	struct buf buf;
	enum err err;

	buf_init(&buf, 1 << 20);
	buf_addf(&buf,
	    "Status: %s\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    status, strlen(text), text);
	err = buf_end(&buf);
	if (err == ERR_OK)
		err = sink_put(serving->out, buf_span(&buf));
	buf_fini(&buf);
	return err;
}

static enum err
put_head(struct serving *serving, int64_t len)
{
	char head[160];
	int size = snprintf(head, sizeof(head),
	    "Status: 200 OK\r\nContent-Type: application/octet-stream\r\n");

	if (len >= 0)
		size += snprintf(head + size, sizeof(head) - (size_t)size,
		    "Content-Length: %" PRId64 "\r\n", len);
	size += snprintf(head + size, sizeof(head) - (size_t)size, "\r\n");
	return sink_put(serving->out, span_make(head, (size_t)size));
}

static enum err
put_bytes(struct serving *serving, int64_t count)
{
	enum err err = ERR_OK;

	while (count > 0 && err == ERR_OK) {
		int64_t part = count < CHUNK ? count : CHUNK;

		err = sink_put(
		    serving->out, span_make(serving->chunk, (size_t)part));
		count -= part;
	}
	return err;
}

/*
 * In steps, so that a client that leaves is noticed; not for so long when the
 * file is there, or comes.
 */
static enum err
sleep_until(struct serving *serving, int64_t ms, const char *file)
{
	const struct request *request = serving->request;

	for (; ms > 0 && (file == NULL || access(file, F_OK) != 0); ms -= 20) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		if (request->gone(request->connection))
			return ERR_CLOSED;
	}
	return ERR_OK;
}

static enum err
sleep_ms(struct serving *serving, int64_t ms)
{
	return sleep_until(serving, ms, NULL);
}

static enum err
do_ok(struct serving *serving)
{
	enum err err = put_head(serving, serving->number);

	return err == ERR_OK ? put_bytes(serving, serving->number) : err;
}

static enum err
do_sleep(struct serving *serving)
{
	enum err err = sleep_ms(serving, serving->number);

	return err == ERR_OK ? put_text(serving, "200 OK", "{\"slept\":1}")
			     : err;
}

static enum err
hand_over(struct serving *serving)
{
	return sink_put(serving->out,
	    SPAN("Status: 200 OK\r\nX-Accel-Redirect: @slow\r\n\r\n"));
}

static enum err
do_slow(struct serving *serving)
{
	return serving->request->slow_pool ? do_sleep(serving)
					   : hand_over(serving);
}

/* Adds a line with the path's number to a file in the data directory. */
static enum err
note(struct serving *serving, const char *name)
{
	char file[4096], line[32];
	int fd, len;
	bool good;

	snprintf(file, sizeof(file), "%s/%s",
	    serving->server->settings->data_dir, name);
	len =
	    snprintf(line, sizeof(line), "%lld\n", (long long)serving->number);
	fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return ERR_SYSTEM;
	good = write(fd, line, (size_t)len) == len;
	close(fd);
	return good ? ERR_OK : ERR_SYSTEM;
}

static enum err
do_gate(struct serving *serving)
{
	char file[4096];
	enum err err;

	if (!serving->request->slow_pool)
		return hand_over(serving);
	snprintf(
	    file, sizeof(file), "%s/go", serving->server->settings->data_dir);
	err = note(serving, "gated");
	if (err == ERR_OK)
		err = sleep_until(serving, serving->number, file);
	return err == ERR_OK ? put_text(serving, "200 OK", "{\"passed\":1}")
			     : err;
}

static enum err
do_stream(struct serving *serving)
{
	enum err err = put_head(serving, -1);

	for (int64_t i = 0; i < serving->number && err == ERR_OK; i++)
		err = put_bytes(serving, 1 << 20);
	return err;
}

static enum err
do_drip(struct serving *serving)
{
	enum err err = put_head(serving, -1);

	while (err == ERR_OK) {
		err = put_bytes(serving, CHUNK);
		if (err == ERR_OK)
			err = sleep_ms(serving, serving->number);
	}
	return err;
}

static enum err
do_fail(struct serving *serving)
{
	enum err err = put_head(serving, -1);

	if (err == ERR_OK)
		err = put_bytes(serving, serving->number);
	return err == ERR_OK ? ERR_INTERNAL : err;
}

static enum err
do_body(struct serving *serving)
{
	struct span body = serving->request->body;
	unsigned long sum = 0;
	char text[128];

	if (serving->request->body_too_large)
		return put_text(
		    serving, "413 Payload Too Large", "{\"error\":\"worker\"}");
	for (size_t i = 0; i < body.len; i++)
		sum += (unsigned char)body.ptr[i];
	snprintf(
	    text, sizeof(text), "{\"len\":%zu,\"sum\":%lu}", body.len, sum);
	return put_text(serving, "200 OK", text);
}

static enum err
do_count(struct serving *serving)
{
	enum err err = note(serving, "counted");

	return err == ERR_OK ? put_text(serving, "200 OK", "{\"counted\":1}")
			     : err;
}

static enum err
do_refused(struct serving *serving)
{
	if (serving->request->count_refusal)
		return sink_put(serving->out,
		    SPAN("Status: 401 Unauthorized\r\n"
			 "X-Accel-Redirect: @refused\r\n\r\n"));
	return put_text(serving, "401 Unauthorized",
	    "{\"error\":{\"code\":\"unauthorized\",\"message\":\"no\"}}");
}

static enum err
do_pid(struct serving *serving)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"pid\":%d}", (int)getpid());
	return put_text(serving, "200 OK", text);
}

/* No answer is counted, so no endpoint is shown. */
static const char *
no_name(unsigned endpoint)
{
	(void)endpoint;
	return "none";
}

static enum err
do_metrics(struct serving *serving)
{
	struct buf buf;
	char *text;
	enum err err;

	buf_init(&buf, 1 << 20);
	metrics_write(&buf, serving->server->metrics, no_name);
	text = buf_take(&buf, NULL);
	if (text == NULL)
		return buf_end(&buf);
	err = put_text(serving, "200 OK", text);
	free(text);
	return err;
}

static const struct route {
	struct span prefix;
	enum err (*act)(struct serving *serving);
} routes[] = {
    {{"/api/v1/ok/", 11}, do_ok},
    {{"/api/v1/sleep/", 14}, do_sleep},
    {{"/api/v1/slow/", 13}, do_slow},
    {{"/api/v1/gate/", 13}, do_gate},
    {{"/api/v1/stream/", 15}, do_stream},
    {{"/api/v1/drip/", 13}, do_drip},
    {{"/api/v1/fail/", 13}, do_fail},
    {{"/api/v1/body", 12}, do_body},
    {{"/api/v1/count/", 14}, do_count},
    {{"/api/v1/refused", 15}, do_refused},
    {{"/api/v1/pid", 11}, do_pid},
    {{"/healthz", 8}, do_pid},
    {{"/metrics", 8}, do_metrics},
};

enum err
serve(struct serving *serving, const struct request *request, struct sink *out)
{
	enum err err;

	serving->request = request;
	serving->out = out;
	serving->number = 0;
	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		struct span rest =
		    span_from(request->uri, routes[i].prefix.len);

		if (!span_starts(request->uri, routes[i].prefix))
			continue;
		if (rest.len > 0 &&
		    !num_int(&serving->number, rest, 0, INT32_MAX))
			break;
		err = routes[i].act(serving);
		if (err == ERR_CLOSED)
			serving->server->metrics->requests_aborted++;
		return err;
	}
	return put_text(serving, "404 Not Found", "{\"error\":\"worker\"}");
}
