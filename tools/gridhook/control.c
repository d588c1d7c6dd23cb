#include "tools/gridhook/control.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/date.h"
#include "common/members.h"
#include "tools/gridhook/mcp/desk.h"
#include "tools/gridhook/net/lines.h"

#define LINE_MAX_BYTES ((size_t)4 << 20)
#define ANSWER_MAX ((size_t)32 << 20)
#define CLIENTS_MAX 32
#define DEPTH_MAX 300 /* of a message, and of the line around it */

struct control_client {
	struct lines lines;
	struct control *control;
	struct control_client *next, **link;
	/* The call under way. */
	struct mcp_call *call;
	struct mcp_post *post;
};

struct control {
	struct loop *loop;
	struct loop_io listener;
	char path[FS_PATH_MAX];
	struct control_spec spec;
	char *usual_host; /* as the settings have it */
	struct control_client *clients;
	unsigned count;
};

static void
drop(struct control_client *client)
{
	call_cancel(client->call);
	mcp_cancel(client->post);
	*client->link = client->next;
	if (client->next != NULL)
		client->next->link = client->link;
	client->control->count--;
	lines_close(&client->lines);
	free(client);
}

/* --- answers -------------------------------------------------------------- */

static void
send_answer(struct control_client *client, struct jsonw *json, struct buf *buf)
{
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		lines_send(&client->lines, buf_span(buf));
	else
		lines_send(&client->lines,
		    SPAN("{\"ok\":false,\"error\":\"out of memory\"}"));
	buf_fini(buf);
}

static void
begin_answer(struct jsonw *json, struct buf *buf, const char *error)
{
	buf_init(buf, ANSWER_MAX);
	jsonw_init(json, buf);
	jsonw_object_begin(json);
	members_bool(json, "ok", error == NULL);
	if (error != NULL)
		members_string(json, "error", error);
}

static void
send_status(struct control_client *client, const char *error)
{
	struct jsonw json;
	struct buf buf;

	begin_answer(&json, &buf, error);
	jsonw_key(&json, "status");
	server_status(client->control->spec.server, &json);
	send_answer(client, &json, &buf);
}

/* --- what it is told to do ------------------------------------------------ */

static void
do_status(struct control_client *client, struct jval line)
{
	(void)line;
	send_status(client, NULL);
}

static void
do_stop(struct control_client *client, struct jval line)
{
	(void)line;
	server_stop(client->control->spec.server);
	send_status(client, NULL);
}

static bool
replace_text(char **to, struct span text)
{
	char *copy = span_dup(text);

	if (copy == NULL)
		return false;
	free(*to);
	*to = copy;
	return true;
}

/* A number, or whatever else was sent for one, as text. */
static struct span
port_text(struct jval port, struct arena *arena)
{
	return jval_type(port) == JSTRING ? jval_text(port, arena)
					  : jval_raw(port);
}

/*
 * A host and a port are for this start, as the help says. A secret stays: a
 * start that names none must not open what the last one had closed.
 */
static enum err
change_settings(struct control *control, struct jval line, struct arena *arena,
    struct fault *fault)
{
	struct hook_settings *settings = control->spec.settings;
	struct jval host = jval_member(line, "host");
	struct jval file = jval_member(line, "secret_file");
	char path[FS_PATH_MAX];

	if (!replace_text(&settings->host,
		jval_type(host) == JSTRING ? jval_text(host, arena)
					   : span_of(control->usual_host)))
		return ERR_NO_MEMORY;
	if (jval_type(file) != JSTRING)
		return ERR_OK;
	if (!span_copy(path, sizeof(path), jval_text(file, arena)))
		return ERR_TOO_LARGE;
	return settings_read_secret(settings, path, fault);
}

static void
do_start(struct control_client *client, struct jval line)
{
	const struct control_spec *spec = &client->control->spec;
	struct jval port = jval_member(line, "port");
	struct arena *arena = arena_new(65536);
	struct fault fault = {.place = ""};
	char usual[24], message[800];
	enum err err = ERR_NO_MEMORY;

	if (arena != NULL)
		err = change_settings(client->control, line, arena, &fault);
	if (err != ERR_OK) {
		snprintf(message, sizeof(message), "%s: %s", fault.place,
		    fault_is_set(&fault) ? fault.message : err_text(err));
		send_status(client, message);
	} else {
		snprintf(usual, sizeof(usual), "%lld",
		    (long long)spec->settings->port);
		err = server_start(spec->server,
		    jval_is_absent(port) ? span_of(usual)
					 : port_text(port, arena));
		send_status(
		    client, err == ERR_OK ? NULL : server_error(spec->server));
	}
	arena_free(arena);
}

static void
on_called(void *arg, const struct result *result)
{
	struct control_client *client = arg;
	struct jsonw json;
	struct buf buf;

	client->call = NULL;
	begin_answer(&json, &buf, NULL);
	members_object(&json, "result");
	result_write(&json, result);
	jsonw_object_end(&json);
	send_answer(client, &json, &buf);
}

static void
do_call(struct control_client *client, struct jval line)
{
	struct calls *calls = client->control->spec.calls;
	const struct desk_tool *tool =
	    calls_find(calls, jval_member(line, "name"));

	if (client->call != NULL || client->post != NULL)
		send_status(client, "a call is going on");
	else if (tool == NULL)
		send_status(client, "there is no such tool");
	else
		client->call = call_start(calls, tool,
		    jval_member(line, "arguments"), on_called, client);
}

static void
on_posted(void *arg, const struct mcp_answer *answer)
{
	struct control_client *client = arg;
	struct jsonw json;
	struct buf buf;

	client->post = NULL;
	begin_answer(&json, &buf, NULL);
	members_int(&json, "status", answer->status);
	if (answer->body.len > 0) {
		jsonw_key(&json, "answer");
		jsonw_raw(&json, answer->body);
	}
	send_answer(client, &json, &buf);
}

/* An MCP message of gridhook mcp, answered as one that came over HTTP. */
static void
do_mcp(struct control_client *client, struct jval line)
{
	static const struct mcp_headers headers = {.is_stdio = true};
	struct jval message = jval_member(line, "message");

	if (client->call != NULL || client->post != NULL)
		send_status(client, "a call is going on");
	else
		client->post =
		    mcp_post(&desk_service, client->control->spec.calls,
			jval_raw(message), &headers, on_posted, client);
}

static const struct order {
	const char *name;
	void (*act)(struct control_client *client, struct jval line);
} orders[] = {
    {"status", do_status},
    {"start", do_start},
    {"stop", do_stop},
    {"call", do_call},
    {"mcp", do_mcp},
};

static bool
on_line(struct lines *lines, struct span text)
{
	struct control_client *client = (struct control_client *)lines;
	struct jval order;
	struct jscan doc;
	size_t i;

	if (jscan_parse(&doc, text, DEPTH_MAX, NULL) != ERR_OK) {
		send_status(client, "not JSON");
		return true;
	}
	order = jval_member(jscan_root(&doc), "do");
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (jval_is(order, span_of(orders[i].name)))
			break;
	if (i < sizeof(orders) / sizeof(orders[0]))
		orders[i].act(client, jscan_root(&doc));
	else
		send_status(client, "unknown order");
	jscan_fini(&doc);
	return true;
}

static void
on_ended(struct lines *lines, const char *why)
{
	(void)why;
	drop((struct control_client *)lines);
}

static void
on_client(struct loop_io *io, uint32_t events)
{
	struct control *control =
	    (struct control *)((char *)io - offsetof(struct control, listener));
	int fd = lines_accept(io->fd);
	struct control_client *client;

	(void)events;
	if (fd < 0)
		return;
	client =
	    control->count < CLIENTS_MAX ? calloc(1, sizeof(*client)) : NULL;
	if (client == NULL) {
		close(fd);
		return;
	}
	client->control = control;
	client->lines.line = on_line;
	client->lines.ended = on_ended;
	if (lines_open(&client->lines, control->loop, fd, LINE_MAX_BYTES,
		ANSWER_MAX) != ERR_OK) {
		close(fd);
		free(client);
		return;
	}
	client->next = control->clients;
	client->link = &control->clients;
	if (client->next != NULL)
		client->next->link = &client->next;
	control->clients = client;
	control->count++;
}

enum err
control_open(struct control **out, struct loop *loop, const char *path,
    const struct control_spec *spec)
{
	struct control *control = calloc(1, sizeof(*control));
	enum err err;

	assert(spec->settings != NULL && path != NULL);
	*out = NULL;
	if (control == NULL)
		return ERR_NO_MEMORY;
	control->loop = loop;
	control->spec = *spec;
	control->listener = (struct loop_io){.fd = -1, .ready = on_client};
	control->usual_host = span_dup(span_of(spec->settings->host));
	err = control->usual_host == NULL ? ERR_NO_MEMORY
					  : fs_path(control->path, "%s", path);
	if (err == ERR_OK)
		err = lines_listen(&control->listener.fd, path);
	if (err == ERR_OK)
		err = loop_add(loop, &control->listener, EPOLLIN);
	if (err == ERR_OK)
		*out = control;
	else
		control_close(control);
	return err;
}

void
control_close(struct control *control)
{
	if (control == NULL)
		return;
	loop_remove(control->loop, &control->listener);
	while (control->clients != NULL)
		drop(control->clients);
	lines_unlisten(control->listener.fd, control->path);
	free(control->usual_host);
	free(control);
}

/* --- the other side ------------------------------------------------------- */

static enum err
read_answer(struct buf *answer, int fd, int timeout_ms)
{
	struct pollfd poll_ = {.fd = fd, .events = POLLIN};
	int64_t end = date_monotonic_ns() + timeout_ms * INT64_C(1000000);
	int64_t left;
	char bytes[65536];
	ssize_t got;

	for (;;) {
		left = (end - date_monotonic_ns()) / 1000000;
		if (left <= 0)
			return ERR_TIMED_OUT;
		if (poll(&poll_, 1, (int)left) <= 0)
			continue;
		got = recv(fd, bytes, sizeof(bytes), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ERR_CLOSED;
		buf_add(answer, bytes, (size_t)got);
		if (buf_end(answer) != ERR_OK)
			return buf_end(answer);
		if (bytes[got - 1] == '\n') {
			answer->len--;
			return ERR_OK;
		}
	}
}

enum err
control_ask(
    struct buf *answer, const char *path, struct span question, int timeout_ms)
{
	int fd = lines_connect(path);
	struct buf line;
	enum err err;

	assert(path != NULL && timeout_ms > 0);
	if (fd < 0)
		return ERR_NOT_FOUND;
	buf_init(&line, LINE_MAX_BYTES);
	buf_add_span(&line, question);
	buf_add_char(&line, '\n');
	err = buf_end(&line);
	if (err == ERR_OK)
		err = fs_write_all(fd, line.data, line.len);
	if (err == ERR_OK)
		err = read_answer(answer, fd, timeout_ms);
	buf_fini(&line);
	close(fd);
	return err;
}

void
control_print_error(struct jval answer)
{
	struct arena *arena = arena_new(65536);
	struct span text = SPAN("");

	if (arena != NULL)
		text = jval_text(jval_member(answer, "error"), arena);
	fprintf(stderr, "gridhook: %.*s\n", SPAN_ARG(text));
	arena_free(arena);
}
