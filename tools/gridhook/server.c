#include "tools/gridhook/server_priv.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/members.h"
#include "common/num.h"
#include "tools/gridhook/net/address.h"

#define BODY_MAX ((size_t)2 << 20)
#define LINGER_BYTES ((uint64_t)256 << 20)
#define BACKLOG 512
#define ACCEPTS 64 /* a round, so that others get their turn */
#define RETRY_MS 20

static void
tell_change(struct server *server)
{
	if (server->changed != NULL)
		server->changed(server->changed_arg);
}

static void
look_for_room(struct server *server)
{
	loop_timer_stop(&server->retry);
	if (!server->full || server->listener.fd < 0)
		return;
	server->full = false;
	loop_change(server->loop, &server->listener, EPOLLIN);
}

static void
on_retry(struct loop_timer *timer)
{
	look_for_room(
	    (struct server *)((char *)timer - offsetof(struct server, retry)));
}

static void
wait_for_room(struct server *server)
{
	server->full = true;
	loop_change(server->loop, &server->listener, 0);
	loop_timer_set(server->loop, &server->retry, RETRY_MS);
}

static void
on_gone(void *arg, struct conn *conn)
{
	struct server *server = arg;
	unsigned i;

	for (i = 0; i < server->conn_count; i++)
		if (server->conns[i] == conn)
			break;
	if (i == server->conn_count)
		return;
	server->conns[i] = server->conns[--server->conn_count];
	look_for_room(server);
}

static void
on_head(void *arg, struct conn *conn)
{
	const struct server *server = arg;

	router_head(server->gate, conn);
}

static void
on_request(void *arg, struct conn *conn)
{
	const struct server *server = arg;

	router_request(server->gate, conn);
}

static bool
may_log(void *arg, struct conn *conn)
{
	const struct server *server = arg;

	return router_may_log(server->gate, conn);
}

static void
set_limits(struct server *server)
{
	const struct hook_settings *settings = server->settings;

	server->limits = (struct conn_limits){
	    .body_max = BODY_MAX,
	    .first_byte_ms = settings->first_byte_s * 1000,
	    .head_ms = settings->head_s * 1000,
	    .body_ms = settings->body_s * 1000,
	    .write_ms = settings->write_s * 1000,
	    .idle_ms = settings->idle_s * 1000,
	    .linger_ms = settings->linger_s * 1000,
	    .linger_bytes = LINGER_BYTES,
	};
}

/* --- letting in ----------------------------------------------------------- */

/*
 * True when the next one can be let in: there is room, or a place to take
 * from somebody once it is known whose the new one is.
 */
static bool
can_let_in(struct server *server)
{
	if (server_has_room(server) ||
	    server_least_worth(server, CONN_ASKING, NULL) != NULL)
		return true;
	wait_for_room(server);
	return false;
}

static void
let_in(struct server *server, int fd, struct sockaddr_storage *address)
{
	struct conn *conn;
	uid_t user;

	address_unmap(address);
	if (!server_may_enter(server, address) ||
	    !server_make_room(server, address)) {
		if (router_may_log_address(server->gate, address))
			log_warn("too many connections from one address");
		close(fd);
		return;
	}
	conn = conn_open(&server->host, fd, address);
	if (conn == NULL)
		return;
	server->conns[server->conn_count++] = conn;
	/* At once: a socket that is closed meanwhile has no user any more. */
	if (settings_wants_user(server->settings))
		conn_user(conn, &user);
}

static void
fail(struct server *server, int errnum)
{
	snprintf(server->error, sizeof(server->error),
	    "The listening socket failed: %s", strerror(errnum));
	log_error("listening socket failed: reason=%s", strerror(errnum));
	server_stop(server);
}

/* Out of descriptors: as though it were full, until one is given back. */
static void
accept_failed(struct server *server, int errnum)
{
	static const int passing[] = {EAGAIN, EINTR, ECONNABORTED, EPROTO,
	    ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
	    ENETUNREACH};
	struct conn *least;

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (errnum == passing[i])
			return;
	if (errnum != EMFILE && errnum != ENFILE && errnum != ENOBUFS &&
	    errnum != ENOMEM) {
		fail(server, errnum);
		return;
	}
	log_error("no more connections: reason=%s", strerror(errnum));
	least = server_least_worth(server, CONN_ASKING, NULL);
	if (least != NULL)
		conn_close(least);
	else
		wait_for_room(server);
}

static void
on_listener(struct loop_io *io, uint32_t events)
{
	struct server *server = (struct server *)io;
	struct sockaddr_storage address;
	socklen_t len;
	int fd;

	if ((events & EPOLLERR) != 0) {
		fail(server, EIO);
		return;
	}
	/* The first one is known to wait; room for more is not made ahead. */
	for (int i = 0; i < ACCEPTS &&
	     (i == 0 ? can_let_in(server) : server_has_room(server));
	     i++) {
		len = sizeof(address);
		memset(&address, 0, sizeof(address));
		fd = accept4(io->fd, (struct sockaddr *)&address, &len,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			accept_failed(server, errno);
			return;
		}
		let_in(server, fd, &address);
	}
}

/* --- states --------------------------------------------------------------- */

static bool
listen_on(struct server *server, const struct addrinfo *at)
{
	int on = 1, off = 0, saved;
	int fd = socket(at->ai_family,
	    at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0) {
		server->listener.fd = fd;
		return true;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return false;
}

static enum err
bind_port(struct server *server)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
	    .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	const char *host = settings_host(server->settings);
	struct addrinfo *found = NULL;
	char port[NUM_TEXT_MAX];
	enum err err = ERR_OK;
	int failed;

	num_int_text(port, server->port);
	failed = getaddrinfo(host, port, &hints, &found);
	if (failed != 0) {
		snprintf(server->error, sizeof(server->error),
		    "Cannot listen on %s port %s: %s", host, port,
		    gai_strerror(failed));
		return ERR_SYSTEM;
	}
	for (struct addrinfo *at = found; at != NULL && server->listener.fd < 0;
	     at = at->ai_next)
		listen_on(server, at);
	if (server->listener.fd < 0) {
		err = err_from_errno(errno);
		snprintf(server->error, sizeof(server->error),
		    "Cannot listen on %s port %s: %s", host, port,
		    strerror(errno));
	}
	freeaddrinfo(found);
	return err;
}

static void
tell_listening(const struct server *server)
{
	const char *host = settings_host(server->settings);

	log_info("listening: host=%s port=%lld secret=%s", host,
	    (long long)server->port,
	    server->settings->has_secret ? "yes" : "no");
	settings_warn_exposed(server->settings);
}

enum err
server_start(struct server *server, struct span port)
{
	enum err err;

	assert(server->loop != NULL);
	server_stop(server);
	server->error[0] = '\0';
	if (!num_int(&server->port, port, 1, 65535)) {
		snprintf(server->error, sizeof(server->error),
		    "Invalid port: %.*s (an integer from 1 to 65535 is "
		    "wanted)",
		    SPAN_ARG(span_sub(port, 0, 60)));
		err = ERR_BAD_INPUT;
	} else {
		set_limits(server);
		err = bind_port(server);
		if (err == ERR_OK)
			err =
			    loop_add(server->loop, &server->listener, EPOLLIN);
	}
	if (err == ERR_OK)
		tell_listening(server);
	else
		log_error("cannot start: reason=%s", server->error);
	tell_change(server);
	return err;
}

void
server_stop(struct server *server)
{
	bool was = server->listener.fd >= 0;

	assert(server->conn_count <= CONNS_MAX);
	if (was) {
		loop_remove(server->loop, &server->listener);
		close(server->listener.fd);
		server->listener.fd = -1;
		server->full = false;
		loop_timer_stop(&server->retry);
		log_info("stopped: port=%lld", (long long)server->port);
	}
	while (server->conn_count > 0)
		conn_close(server->conns[server->conn_count - 1]);
	if (was)
		tell_change(server);
}

bool
server_is_listening(const struct server *server)
{
	return server->listener.fd >= 0;
}

const char *
server_error(const struct server *server)
{
	return server->error;
}

void
server_status(void *arg, struct jsonw *json)
{
	const struct server *server = arg;
	char path[FS_PATH_MAX] = "";

	assert(server != NULL && json != NULL);
	settings_push_path(path, server->settings);
	jsonw_object_begin(json);
	members_bool(json, "listening", server_is_listening(server));
	members_int(json, "port", server->port);
	members_string(json, "path", path);
	members_bool(json, "secretConfigured", server->settings->has_secret);
	if (server->error[0] != '\0')
		members_string(json, "error", server->error);
	jsonw_object_end(json);
}

void
server_on_change(struct server *server, void (*changed)(void *arg), void *arg)
{
	server->changed = changed;
	server->changed_arg = arg;
}

enum err
server_open(struct server **out, struct hook_settings *settings,
    struct loop *loop, struct router *gate)
{
	struct server *server = calloc(1, sizeof(*server));

	assert(settings != NULL && loop != NULL && gate != NULL);
	*out = server;
	if (server == NULL)
		return ERR_NO_MEMORY;
	server->settings = settings;
	server->loop = loop;
	server->gate = gate;
	server->port = settings->port;
	server->listener = (struct loop_io){.fd = -1, .ready = on_listener};
	server->retry.fire = on_retry;
	server->host = (struct conn_host){.loop = loop,
	    .limits = &server->limits,
	    .head = on_head,
	    .request = on_request,
	    .may_log = may_log,
	    .gone = on_gone,
	    .arg = server};
	return ERR_OK;
}

void
server_close(struct server *server)
{
	if (server == NULL)
		return;
	server->changed = NULL;
	server_stop(server);
	free(server);
}
