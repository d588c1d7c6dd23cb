/*
 * server_room: which connection makes room when places are short.
 */
#include "tools/gridhook/server_priv.h"

#include "tools/gridhook/net/address.h"

/* All of 127.0.0.0/8 and ::1 is one sender's. */
static bool
is_from(const struct conn *conn, const struct sockaddr_storage *address)
{
	const struct sockaddr_storage *other = conn_address(conn);

	return address_same_host(other, address) ||
	    (address_is_loopback(other) && address_is_loopback(address));
}

struct conn *
server_least_worth(const struct server *server, enum conn_worth most,
    const struct sockaddr_storage *address)
{
	struct conn *conn, *least = NULL;
	int64_t since, least_since = INT64_MAX;
	enum conn_worth worth;

	for (unsigned i = 0; i < server->conn_count; i++) {
		conn = server->conns[i];
		if (address != NULL && !is_from(conn, address))
			continue;
		worth = conn_worth(conn, &since);
		if (worth > most || (worth == most && since >= least_since))
			continue;
		least = conn;
		most = worth;
		least_since = since;
	}
	return least;
}

static unsigned
count_from(const struct server *server, const struct sockaddr_storage *address)
{
	unsigned count = 0;

	for (unsigned i = 0; i < server->conn_count; i++)
		count += is_from(server->conns[i], address);
	return count;
}

bool
server_has_room(const struct server *server)
{
	return server->conn_count < (unsigned)server->settings->connections;
}

bool
server_make_room(struct server *server, const struct sockaddr_storage *address)
{
	unsigned most = (unsigned)server->settings->connections;
	struct conn *least = NULL;

	if (server_has_room(server))
		return true;
	if (count_from(server, address) * 2 >= most) {
		least = server_least_worth(server, CONN_ASKING, address);
		if (least == NULL)
			least = server_least_worth(server, CONN_IDLE, NULL);
		if (least == NULL)
			least =
			    server_least_worth(server, CONN_UNREAD, address);
	}
	if (least == NULL)
		least = server_least_worth(server, CONN_ASKING, NULL);
	if (least != NULL)
		conn_close(least);
	return least != NULL;
}

bool
server_may_enter(struct server *server, const struct sockaddr_storage *address)
{
	struct conn *least;

	if (address_is_loopback(address) ||
	    count_from(server, address) <
		(unsigned)server->settings->per_address)
		return true;
	least = server_least_worth(server, CONN_ASKING, address);
	if (least == NULL)
		return false;
	conn_close(least);
	return true;
}
