#include "tools/gridhud/app/client.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/jsonw.h"
#include "common/log.h"
#include "common/members.h"

#define PROTOCOL 1
#define OUT_MAX ((size_t)8 << 20)

void
client_init(struct client *client, const struct client_ops *ops, void *arg)
{
	uint64_t random = 0;

	assert(ops->welcome != NULL && ops->event != NULL);
	assert(ops->call != NULL && ops->cancel != NULL);
	*client = (struct client){
	    .ops = ops, .arg = arg, .retry_ms = CLIENT_RETRY_FIRST_MS};
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid();
	snprintf(client->name, sizeof(client->name), "%016" PRIx64, random);
	buf_init(&client->in, CLIENT_LINE_MAX + 65536);
	buf_init(&client->out, OUT_MAX);
}

void
client_fini(struct client *client)
{
	buf_fini(&client->in);
	buf_fini(&client->out);
}

/* --- what is said --------------------------------------------------------- */

static void
line_begin(struct client *client, struct jsonw *json, const char *type)
{
	jsonw_init(json, &client->out);
	jsonw_object_begin(json);
	members_string(json, "t", type);
}

static void
line_end(struct client *client, struct jsonw *json)
{
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		buf_add_char(&client->out, '\n');
}

static void
say_simple(struct client *client, const char *type)
{
	struct jsonw json;

	line_begin(client, &json, type);
	line_end(client, &json);
}

static void
say_hello(struct client *client)
{
	static const char *const caps[] = {
	    "speech", "focus", "get_app_status", "get_conversation_history"};
	struct jsonw json;

	line_begin(client, &json, "hello");
	members_int(&json, "proto", PROTOCOL);
	members_text(&json, "client", span_of(client->name));
	if (client->background)
		members_bool(&json, "background", true);
	if (client->epoch[0] != '\0') {
		members_text(&json, "epoch", span_of(client->epoch));
		members_int(&json, "ack", (int64_t)client->last);
	}
	jsonw_key(&json, "caps");
	jsonw_array_begin(&json);
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		jsonw_text(&json, caps[i]);
	jsonw_array_end(&json);
	line_end(client, &json);
}

void
client_ack(struct client *client, uint64_t seq)
{
	struct jsonw json;

	assert(seq > 0);
	if (client->state != CLIENT_ATTACHED)
		return;
	line_begin(client, &json, "ack");
	members_int(&json, "seq", (int64_t)seq);
	line_end(client, &json);
}

void
client_say(struct client *client, const char *role, struct span text)
{
	struct jsonw json;

	assert(role != NULL);
	if (client->state != CLIENT_ATTACHED)
		return;
	line_begin(client, &json, "say");
	members_text(&json, "role", span_of(role));
	members_text(&json, "text", text);
	line_end(client, &json);
}

void
client_tell_state(struct client *client, unsigned unread, const char *hud,
    bool focused, const char *theme)
{
	struct jsonw json;

	assert(hud != NULL && theme != NULL);
	if (client->state != CLIENT_ATTACHED)
		return;
	line_begin(client, &json, "state");
	members_int(&json, "unread", unread);
	members_text(&json, "hud", span_of(hud));
	members_bool(&json, "focused", focused);
	members_text(&json, "theme", span_of(theme));
	line_end(client, &json);
}

void
client_answer(
    struct client *client, int64_t id, struct span text, struct span object)
{
	struct jsonw json;

	if (client->state != CLIENT_ATTACHED)
		return;
	line_begin(client, &json, "result");
	members_int(&json, "id", id);
	members_bool(&json, "ok", true);
	jsonw_key(&json, "content");
	jsonw_array_begin(&json);
	jsonw_object_begin(&json);
	members_text(&json, "type", SPAN("text"));
	members_text(&json, "text", object.len > 0 ? object : text);
	jsonw_object_end(&json);
	jsonw_array_end(&json);
	if (object.len > 0) {
		jsonw_key(&json, "structuredContent");
		jsonw_raw(&json, object);
	}
	line_end(client, &json);
}

void
client_refuse(struct client *client, int64_t id, const char *error)
{
	struct jsonw json;

	assert(error != NULL);
	if (client->state != CLIENT_ATTACHED)
		return;
	line_begin(client, &json, "result");
	members_int(&json, "id", id);
	members_bool(&json, "ok", false);
	members_text(&json, "error", span_of(error));
	line_end(client, &json);
}

struct span
client_out(const struct client *client)
{
	return buf_span(&client->out);
}

void
client_sent(struct client *client, size_t len)
{
	assert(len <= client->out.len);
	memmove(
	    client->out.data, client->out.data + len, client->out.len - len);
	client->out.len -= len;
}

/* --- what is heard -------------------------------------------------------- */

static enum err
on_welcome(struct client *client, const struct jsonr_value *line)
{
	struct client_welcome welcome = {
	    .epoch = jsonr_as_string(jsonr_member(line, "epoch")),
	    .first = (uint64_t)jsonr_as_int(jsonr_member(line, "first")),
	    .next = (uint64_t)jsonr_as_int(jsonr_member(line, "next")),
	    .status = jsonr_member(line, "status")};

	if (client->state != CLIENT_GREETING || welcome.epoch.len == 0)
		return ERR_BAD_INPUT;
	client->state = CLIENT_ATTACHED;
	client->retry_ms = CLIENT_RETRY_FIRST_MS;
	return client->ops->welcome(client->arg, &welcome);
}

static enum err
on_event(struct client *client, const struct jsonr_value *line)
{
	int64_t seq = jsonr_as_int(jsonr_member(line, "seq"));
	const struct jsonr_value *event = jsonr_member(line, "event");
	enum err err;

	if (client->state != CLIENT_ATTACHED || seq <= 0 ||
	    jsonr_type(event) != JSONR_OBJECT)
		return ERR_BAD_INPUT;
	if ((uint64_t)seq <= client->last)
		return ERR_OK; /* it was sent again */
	err = client->ops->event(client->arg, (uint64_t)seq,
	    jsonr_as_bool(jsonr_member(line, "replay")), event);
	if (err == ERR_OK)
		client->last = (uint64_t)seq;
	return err;
}

static enum err
on_call(struct client *client, const struct jsonr_value *line)
{
	client->ops->call(client->arg, jsonr_as_int(jsonr_member(line, "id")),
	    jsonr_as_string(jsonr_member(line, "name")),
	    jsonr_member(line, "args"),
	    jsonr_as_int(jsonr_member(line, "deadline_ms")));
	return ERR_OK;
}

static enum err
on_cancel(struct client *client, const struct jsonr_value *line)
{
	client->ops->cancel(
	    client->arg, jsonr_as_int(jsonr_member(line, "id")));
	return ERR_OK;
}

static enum err
on_status(struct client *client, const struct jsonr_value *line)
{
	client->ops->status(client->arg, jsonr_member(line, "status"));
	return ERR_OK;
}

static enum err
on_superseded(struct client *client, const struct jsonr_value *line)
{
	(void)line;
	if (!client->background)
		client->state = CLIENT_SUPERSEDED;
	client->ops->superseded(client->arg);
	return ERR_CLOSED;
}

/* In the background: another window has the place. */
static enum err
on_taken(struct client *client, const struct jsonr_value *line)
{
	(void)line;
	if (!client->background || client->state != CLIENT_GREETING)
		return ERR_BAD_INPUT;
	client->state = CLIENT_WAITING;
	client->retry_ms = CLIENT_RETRY_FIRST_MS;
	return ERR_OK;
}

/* The window that had the place has gone. */
static enum err
on_free(struct client *client, const struct jsonr_value *line)
{
	(void)line;
	if (client->state != CLIENT_WAITING)
		return ERR_BAD_INPUT;
	client->state = CLIENT_GREETING;
	say_hello(client);
	return ERR_OK;
}

static enum err
on_ping(struct client *client, const struct jsonr_value *line)
{
	(void)line;
	say_simple(client, "pong");
	return ERR_OK;
}

static enum err
on_error(struct client *client, const struct jsonr_value *line)
{
	struct span error = jsonr_as_string(jsonr_member(line, "error"));

	log_warn("the server says: %.*s", SPAN_ARG(error));
	return client->state == CLIENT_ATTACHED ? ERR_OK : ERR_VERSION;
}

static const struct {
	const char *type;
	enum err (*act)(struct client *client, const struct jsonr_value *line);
} words[] = {
    {"event", on_event},
    {"call", on_call},
    {"cancel", on_cancel},
    {"status", on_status},
    {"ping", on_ping},
    {"welcome", on_welcome},
    {"superseded", on_superseded},
    {"taken", on_taken},
    {"free", on_free},
    {"error", on_error},
};

/* Unknown types are ignored: a newer server may send more. */
static enum err
obey(struct client *client, const struct jsonr_value *line)
{
	struct span type = jsonr_as_string(jsonr_member(line, "t"));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (span_eq(span_of(words[i].type), type))
			return words[i].act(client, line);
	return ERR_OK;
}

static enum err
take_line(struct client *client, struct span text)
{
	static const struct jsonr_limits limits = {.bytes = CLIENT_LINE_MAX};
	struct fault fault = {.place = ""};
	struct jsonr *doc = NULL;
	enum err err;

	if (text.len == 0)
		return ERR_OK;
	err = jsonr_parse(&doc, text, &limits, &fault);
	if (err == ERR_OK)
		err = obey(client, jsonr_root(doc));
	else
		log_warn("the server sent what is not JSON: place=%s "
			 "reason=%s",
		    fault.place, fault.message);
	jsonr_free(doc);
	return err;
}

/* Takes the complete lines; the rest moves to the front. */
static enum err
take_lines(struct client *client)
{
	struct span rest = buf_span(&client->in);
	enum err err = ERR_OK;
	size_t end;

	for (;;) {
		end = client->scanned +
		    span_find(span_from(rest, client->scanned), '\n');
		if (end >= rest.len || err != ERR_OK)
			break;
		err = take_line(client, span_sub(rest, 0, end));
		rest = span_from(rest, end + 1);
		client->scanned = 0;
	}
	client->scanned = rest.len;
	if (rest.len > 0)
		memmove(client->in.data, rest.ptr, rest.len);
	client->in.len = rest.len;
	/* Gives back the memory of a large line. */
	if (rest.len == 0 && client->in.cap > 262144)
		buf_fini(&client->in);
	return err;
}

enum err
client_feed(struct client *client, struct span bytes, int64_t now_ms)
{
	assert(client->scanned <= client->in.len);
	client->heard_ms = now_ms;
	buf_add_span(&client->in, bytes);
	if (buf_end(&client->in) != ERR_OK)
		return buf_end(&client->in);
	return take_lines(client);
}

/* --- coming and going ----------------------------------------------------- */

void
client_connected(
    struct client *client, int64_t now_ms, struct span epoch, uint64_t last)
{
	assert(client->ops != NULL);
	buf_clear(&client->in);
	buf_clear(&client->out);
	client->scanned = 0;
	client->state = CLIENT_GREETING;
	client->last = last;
	client->heard_ms = client->pinged_ms = now_ms;
	if (!span_copy(client->epoch, sizeof(client->epoch), epoch))
		client->epoch[0] = '\0';
	say_hello(client);
}

void
client_lost(struct client *client, int64_t now_ms, const char *why)
{
	assert(why != NULL);
	buf_clear(&client->in);
	buf_clear(&client->out);
	if (client->state == CLIENT_SUPERSEDED)
		return;
	snprintf(client->why, sizeof(client->why), "%s", why);
	client->state = CLIENT_AWAY;
	client->retry_at_ms = now_ms + client->retry_ms;
	client->retry_ms *= 2;
	if (client->retry_ms > CLIENT_RETRY_MOST_MS)
		client->retry_ms = CLIENT_RETRY_MOST_MS;
}

void
client_take_back(struct client *client, int64_t now_ms)
{
	if (client->state == CLIENT_ATTACHED)
		return;
	client->state = CLIENT_AWAY;
	client->retry_ms = CLIENT_RETRY_FIRST_MS;
	client->retry_at_ms = now_ms;
}

bool
client_wants_connection(const struct client *client, int64_t now_ms)
{
	return client->state == CLIENT_AWAY && now_ms >= client->retry_at_ms;
}

static bool
is_connected(const struct client *client)
{
	return client->state == CLIENT_GREETING ||
	    client->state == CLIENT_WAITING || client->state == CLIENT_ATTACHED;
}

enum err
client_tick(struct client *client, int64_t now_ms)
{
	if (!is_connected(client))
		return ERR_OK;
	if (buf_end(&client->out) != ERR_OK)
		return buf_end(&client->out);
	if (now_ms - client->heard_ms >= CLIENT_GONE_MS)
		return ERR_TIMED_OUT;
	if (client->state == CLIENT_ATTACHED &&
	    now_ms - client->pinged_ms >= CLIENT_PING_MS) {
		client->pinged_ms = now_ms;
		say_simple(client, "ping");
	}
	return ERR_OK;
}

int64_t
client_due_ms(const struct client *client)
{
	if (client->state == CLIENT_AWAY)
		return client->retry_at_ms;
	if (!is_connected(client))
		return -1;
	if (client->state == CLIENT_ATTACHED)
		return client->pinged_ms + CLIENT_PING_MS;
	return client->heard_ms + CLIENT_GONE_MS;
}
