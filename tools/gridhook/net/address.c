/*
 * address: a socket that its process has closed has no inode any more, and
 * kernels before 6.16 then tell user 0 for it. So "0 and no inode" is no
 * user: else a program that closes fast enough would pass for root.
 */
#include "tools/gridhook/net/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define STATE_LISTEN 10 /* TCP_LISTEN, which two headers define differently */
#define LINE_MAX_BYTES 512

static const struct sockaddr_in *
four(const struct sockaddr_storage *address)
{
	return (const void *)address;
}

static const struct sockaddr_in6 *
six(const struct sockaddr_storage *address)
{
	return (const void *)address;
}

void
address_text(
    char text[ADDRESS_TEXT_MAX], const struct sockaddr_storage *address)
{
	char host[INET6_ADDRSTRLEN + 20], port[8];
	bool is_six = address->ss_family == AF_INET6;

	assert(address->ss_family == AF_INET || address->ss_family == AF_INET6);
	if (getnameinfo((const struct sockaddr *)address,
		is_six ? sizeof(struct sockaddr_in6)
		       : sizeof(struct sockaddr_in),
		host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0 ||
	    snprintf(text, ADDRESS_TEXT_MAX, "%s%s%s:%s", is_six ? "[" : "",
		host, is_six ? "]" : "", port) >= ADDRESS_TEXT_MAX)
		snprintf(text, ADDRESS_TEXT_MAX, "unknown");
}

void
address_unmap(struct sockaddr_storage *address)
{
	struct sockaddr_in plain = {.sin_family = AF_INET};

	assert(address != NULL);
	if (address->ss_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&six(address)->sin6_addr))
		return;
	plain.sin_port = six(address)->sin6_port;
	memcpy(&plain.sin_addr, six(address)->sin6_addr.s6_addr + 12, 4);
	memset(address, 0, sizeof(*address));
	memcpy(address, &plain, sizeof(plain));
}

bool
address_same_host(
    const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return memcmp(&six(a)->sin6_addr, &six(b)->sin6_addr,
			   sizeof(struct in6_addr)) == 0;
	return four(a)->sin_addr.s_addr == four(b)->sin_addr.s_addr;
}

bool
address_is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six(address)->sin6_addr);
	return ntohl(four(address)->sin_addr.s_addr) >> 24 == 127;
}

unsigned
address_port(const struct sockaddr_storage *address)
{
	assert(address->ss_family == AF_INET || address->ss_family == AF_INET6);
	return ntohs(address->ss_family == AF_INET6 ? six(address)->sin6_port
						    : four(address)->sin_port);
}

/* --- sock_diag ------------------------------------------------------------ */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 asked;
};

static void
put_address(__be32 to[4], const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		memcpy(to, &six(address)->sin6_addr, 16);
	else
		memcpy(to, &four(address)->sin_addr, 4);
}

static enum err
ask(int fd, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own)
{
	struct question question = {.head = {.nlmsg_len = sizeof(question),
					.nlmsg_type = SOCK_DIAG_BY_FAMILY,
					.nlmsg_flags = NLM_F_REQUEST},
	    .asked = {.sdiag_family = (uint8_t)peer->ss_family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = UINT32_MAX,
		.id = {.idiag_sport = htons((uint16_t)address_port(peer)),
		    .idiag_dport = htons((uint16_t)address_port(own)),
		    .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
	const struct timeval second = {.tv_sec = 1};

	put_address(question.asked.id.idiag_src, peer);
	put_address(question.asked.id.idiag_dst, own);
	if (peer->ss_family == AF_INET6)
		question.asked.id.idiag_if = six(peer)->sin6_scope_id;
	/* The kernel answers within send(): the limit is a belt only. */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	return send(fd, &question, sizeof(question), 0) ==
		(ssize_t)sizeof(question)
	    ? ERR_OK
	    : ERR_SYSTEM;
}

/* The lookup falls back on listening sockets: those are nobody's end. */
static enum err
read_message(uid_t *out, const struct inet_diag_msg *message,
    const struct sockaddr_storage *peer, const struct sockaddr_storage *own)
{
	if (message->idiag_state == STATE_LISTEN ||
	    ntohs(message->id.idiag_sport) != address_port(peer) ||
	    ntohs(message->id.idiag_dport) != address_port(own) ||
	    (message->idiag_uid == 0 && message->idiag_inode == 0))
		return ERR_NOT_FOUND;
	*out = message->idiag_uid;
	return ERR_OK;
}

static enum err
read_reply(uid_t *out, int fd, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own)
{
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} reply;
	ssize_t got = recv(fd, &reply, sizeof(reply), 0);
	const struct nlmsgerr *error = NLMSG_DATA(&reply.head);

	if (got < (ssize_t)sizeof(reply.head) ||
	    !NLMSG_OK(&reply.head, (size_t)got))
		return ERR_SYSTEM;
	if (reply.head.nlmsg_type == NLMSG_ERROR &&
	    reply.head.nlmsg_len >= NLMSG_LENGTH(sizeof(*error)))
		return error->error == -ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
	if (reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    reply.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
		return ERR_SYSTEM;
	return read_message(out, NLMSG_DATA(&reply.head), peer, own);
}

enum err
address_user_by_netlink(uid_t *out, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own)
{
	int fd =
	    socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	enum err err;

	assert(peer->ss_family == own->ss_family);
	if (fd < 0)
		return ERR_SYSTEM;
	err = ask(fd, peer, own);
	if (err == ERR_OK)
		err = read_reply(out, fd, peer, own);
	close(fd);
	return err;
}

/* --- /proc ---------------------------------------------------------------- */

/* "0100007F:C3B3", each 32 bits in the machine's own order. */
static void
put_hex(char *text, size_t size, const struct sockaddr_storage *address,
    bool in_six)
{
	const uint32_t *words = (const void *)&six(address)->sin6_addr;
	unsigned port = address_port(address);

	if (address->ss_family == AF_INET6)
		snprintf(text, size, "%08X%08X%08X%08X:%04X", words[0],
		    words[1], words[2], words[3], port);
	else
		snprintf(text, size, "%s%08X:%04X",
		    !in_six             ? ""
			: htonl(1) == 1 ? "00000000000000000000FFFF"
					: "0000000000000000FFFF0000",
		    four(address)->sin_addr.s_addr, port);
}

static enum err
look_in(uid_t *out, const char *path, const char *peer, const char *own)
{
	FILE *file = fopen(path, "re");
	char line[LINE_MAX_BYTES], local[64], remote[64];
	enum err err = ERR_NOT_FOUND;
	unsigned long inode;
	unsigned uid;

	if (file == NULL)
		return ERR_SYSTEM;
	while (err == ERR_NOT_FOUND && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %u %*s %lu",
			local, remote, &uid, &inode) != 4 ||
		    strcmp(local, peer) != 0 || strcmp(remote, own) != 0 ||
		    (uid == 0 && inode == 0))
			continue;
		*out = uid;
		err = ERR_OK;
	}
	fclose(file);
	return err;
}

enum err
address_user_by_proc(uid_t *out, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own)
{
	enum err err = ERR_NOT_FOUND;
	char from[64], to[64];

	assert(peer->ss_family == own->ss_family);
	if (peer->ss_family == AF_INET) {
		put_hex(from, sizeof(from), peer, false);
		put_hex(to, sizeof(to), own, false);
		err = look_in(out, "/proc/self/net/tcp", from, to);
	}
	if (err != ERR_NOT_FOUND)
		return err;
	/* A socket of IPv6 can talk IPv4; where there is no IPv6, none can. */
	put_hex(from, sizeof(from), peer, true);
	put_hex(to, sizeof(to), own, true);
	err = look_in(out, "/proc/self/net/tcp6", from, to);
	return err == ERR_SYSTEM && peer->ss_family == AF_INET ? ERR_NOT_FOUND
							       : err;
}

enum err
address_user(uid_t *out, const struct sockaddr_storage *peer,
    const struct sockaddr_storage *own)
{
	enum err err = address_user_by_netlink(out, peer, own);

	return err == ERR_SYSTEM ? address_user_by_proc(out, peer, own) : err;
}
