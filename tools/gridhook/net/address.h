/*
 * address: who is at the other end of a TCP connection: an address, and on
 * this machine a user.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/err.h"

#define ADDRESS_TEXT_MAX 64

/* "127.0.0.1:50123", "[::1]:50123". */
void address_text(
    char text[ADDRESS_TEXT_MAX], const struct sockaddr_storage *address);

/* An IPv4 address that comes in IPv6's clothes becomes one of IPv4. */
void address_unmap(struct sockaddr_storage *address);

/* The ports do not count. */
bool address_same_host(
    const struct sockaddr_storage *a, const struct sockaddr_storage *b);
bool address_is_loopback(const struct sockaddr_storage *address);
unsigned address_port(const struct sockaddr_storage *address);

/*
 * The user whose socket is at `peer` and talks to `own`, by sock_diag(7), else
 * by /proc/self/net/tcp and tcp6. Both addresses are unmapped ones.
 *
 *   ERR_NOT_FOUND  no process of this network namespace has such a socket: it
 *                  is another machine's, or was closed already
 *   ERR_SYSTEM     the kernel tells nobody
 */
enum err address_user(uid_t *out, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own);

/* The two ways by themselves, for tests. */
enum err address_user_by_netlink(uid_t *out,
    const struct sockaddr_storage *peer, const struct sockaddr_storage *own);
enum err address_user_by_proc(uid_t *out, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own);
