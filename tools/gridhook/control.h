/*
 * control: a local socket by which an application that owns gridhook drives
 * it: one JSON object a line, one line back.
 *
 *	{"do":"status"}
 *	{"do":"start","port":7842,"host":"…","secret_file":"…"}  all optional
 *	{"do":"stop"}
 *	{"do":"call","name":"notify_user","arguments":{…}}
 *	{"do":"mcp","message":{…}}  a JSON-RPC message, as over HTTP
 *
 * Back: {"ok":true,"status":{…}}, {"ok":true,"result":{…}},
 * {"ok":true,"status":200,"answer":{…}} or {"ok":false,"error":"…","status":{…}}.
 */
#pragma once

#include "common/err.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/net/loop.h"
#include "tools/gridhook/server.h"

struct control;

struct control_spec {
	struct hook_settings *settings;
	struct server *server;
	struct calls *calls;
};

enum err control_open(struct control **out, struct loop *loop, const char *path,
    const struct control_spec *spec);
void control_close(struct control *control);

/*
 * The other side: sends a line to the gridhook behind `path` and waits for
 * the answer. ERR_NOT_FOUND when none is there, ERR_TIMED_OUT after
 * `timeout_ms`.
 */
enum err control_ask(
    struct buf *answer, const char *path, struct span question, int timeout_ms);

/* An answer's "error", for a person. */
void control_print_error(struct jval answer);
