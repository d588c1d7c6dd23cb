/*
 * conn_priv: shared by conn*.c; no other file includes it.
 */
#pragma once

#include <netinet/in.h>

#include "tools/gridhook/net/conn.h"

enum conn_state {
	CONN_READ, /* a request is coming in, or awaited */
	CONN_HELD, /* its head has come, and is looked at later */
	CONN_WAIT, /* it is with the server */
	CONN_WRITE,
	CONN_LINGER /* all is said; the sender may finish speaking */
};

struct conn {
	struct loop_io io;
	struct loop_timer timer;
	const struct conn_host *host;
	struct http *http;
	enum conn_state state;
	struct buf rest; /* came with a request, and belongs to the next one */
	struct buf out;
	size_t out_done;
	int64_t since_ns; /* idle, or asking, or answering */
	size_t moved, moved_before; /* bytes of the body or of the answer */
	uint64_t lingered;
	bool got_all; /* the request was read to its end */
	bool closing; /* after the answer */
	bool old; /* HTTP/1.0 style: the sender wants to hear keep-alive */
	bool running, dead;
	bool let_in; /* this request: its head was looked at and is fine */
	bool was_held; /* this request */
	bool trusted;
	bool user_asked;
	enum err user_err;
	uid_t user;
	void (*left)(void *arg);
	void *left_arg;
	bool left_half;
	struct sockaddr_storage address, own_address;
	char peer[ADDRESS_TEXT_MAX];
};

/* Adds the head of an answer to conn->out. */
void conn_add_head(struct conn *conn, const struct reply *reply);
