/*
 * conn_facts: what is known of a connection: its ends, its user, its worth.
 */
#include "tools/gridhook/net/conn_priv.h"

#include <assert.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

struct http *
conn_http(struct conn *conn)
{
	return conn->http;
}

const char *
conn_peer(const struct conn *conn)
{
	return conn->peer;
}

const struct sockaddr_storage *
conn_address(const struct conn *conn)
{
	return &conn->address;
}

const struct sockaddr_storage *
conn_own_address(const struct conn *conn)
{
	return &conn->own_address;
}

enum err
conn_user(struct conn *conn, uid_t *out)
{
	assert(out != NULL);
	if (!conn->user_asked) {
		conn->user_err = address_user(
		    &conn->user, &conn->address, &conn->own_address);
		conn->user_asked = true;
	}
	*out = conn->user;
	return conn->user_err;
}

static bool
has_input(const struct conn *conn)
{
	char byte;

	return recv(conn->io.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

enum conn_worth
conn_worth(const struct conn *conn, int64_t *since_ns)
{
	assert(since_ns != NULL);
	*since_ns = conn->since_ns;
	if (conn->running || conn->let_in)
		return CONN_BUSY;
	if (conn->state == CONN_READ && has_input(conn))
		return CONN_UNREAD;
	return conn->state == CONN_READ && !http_has_begun(conn->http)
	    ? CONN_IDLE
	    : CONN_ASKING;
}

void
conn_trust(struct conn *conn)
{
	conn->trusted = true;
}

bool
conn_is_trusted(const struct conn *conn)
{
	return conn->trusted;
}

bool
conn_was_held(const struct conn *conn)
{
	return conn->was_held;
}
