/*
 * server_priv: shared by server*.c; no other file includes it.
 */
#pragma once

#include "tools/gridhook/net/conn.h"
#include "tools/gridhook/server.h"

#define CONNS_MAX 1024

struct server {
	struct loop_io listener;
	struct hook_settings *settings;
	struct loop *loop;
	struct router *gate;
	struct conn_limits limits;
	struct conn_host host;
	struct conn *conns[CONNS_MAX];
	unsigned conn_count;
	int64_t port;
	bool full; /* the others wait in the kernel's queue */
	struct loop_timer retry; /* while full: a place may be worth less now */
	char error[256];
	void (*changed)(void *arg);
	void *changed_arg;
};

/*
 * The connection whose place is worth least, `most` at most, and of those the one
 * for longest; only of `address` when one is given. NULL: there is none.
 */
struct conn *server_least_worth(const struct server *server,
    enum conn_worth most, const struct sockaddr_storage *address);

/* Fewer connections than the settings allow. */
bool server_has_room(const struct server *server);

/*
 * Makes room for a connection of `address`, if need be by closing one. An address
 * that holds half of all places loses one of its own: it takes none from other
 * addresses, except an idle one.
 */
bool server_make_room(
    struct server *server, const struct sockaddr_storage *address);

/*
 * False when the address has as many connections as one may have. Programs of
 * this machine have no such limit: a client that asks a few hundred things at
 * once is not to be turned away.
 */
bool server_may_enter(
    struct server *server, const struct sockaddr_storage *address);
