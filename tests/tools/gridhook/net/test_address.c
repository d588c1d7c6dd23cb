#include "tools/gridhook/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/run.h"

#define OTHER 65534

/* A connection over loopback, and what its server sees. */
static struct {
	int listener, client, server;
	struct sockaddr_storage peer, own;
} net;

/* False where this machine has no such addresses. */
static bool
meet(const char *listens, const char *connects)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	bool is_six = strchr(connects, ':') != NULL;
	socklen_t len = sizeof(at);
	int off = 0;

	net.listener = socket(AF_INET6, SOCK_STREAM, 0);
	if (net.listener < 0 ||
	    inet_pton(AF_INET6, listens, &at.sin6_addr) != 1 ||
	    setsockopt(net.listener, IPPROTO_IPV6, IPV6_V6ONLY, &off,
		sizeof(off)) != 0 ||
	    bind(net.listener, (struct sockaddr *)&at, len) != 0)
		return false;
	ck_assert_int_eq(listen(net.listener, 1), 0);
	ck_assert_int_eq(
	    getsockname(net.listener, (struct sockaddr *)&at, &len), 0);
	net.client = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	four.sin_port = at.sin6_port;
	if (is_six) {
		inet_pton(AF_INET6, connects, &at.sin6_addr);
		ck_assert_int_eq(
		    connect(net.client, (struct sockaddr *)&at, sizeof(at)), 0);
	} else {
		inet_pton(AF_INET, connects, &four.sin_addr);
		ck_assert_int_eq(
		    connect(net.client, (struct sockaddr *)&four, sizeof(four)),
		    0);
	}
	len = sizeof(net.peer);
	net.server = accept(net.listener, (struct sockaddr *)&net.peer, &len);
	ck_assert_int_ge(net.server, 0);
	len = sizeof(net.own);
	getsockname(net.server, (struct sockaddr *)&net.own, &len);
	address_unmap(&net.peer);
	address_unmap(&net.own);
	return true;
}

static void
part(void)
{
	close(net.client);
	close(net.server);
	close(net.listener);
}

static const struct {
	const char *listens, *connects;
	int family; /* once unmapped */
} ways[] = {
    {"::", "127.0.0.1", AF_INET},
    {"::", "::ffff:127.0.0.1", AF_INET}, /* a socket of IPv6 */
    {"::ffff:127.0.0.1", "127.0.0.1", AF_INET},
    {"::", "::1", AF_INET6},
    {"::1", "::1", AF_INET6},
};

START_TEST(the_user_of_a_socket_is_told)
{
	uid_t user = 4711;
	enum err err;

	if (!meet(ways[_i].listens, ways[_i].connects))
		return;
	ck_assert_int_eq(net.peer.ss_family, ways[_i].family);
	ck_assert(address_is_loopback(&net.peer));
	/* A sandbox may keep one of the two ways from us, not both. */
	err = address_user_by_netlink(&user, &net.peer, &net.own);
	ck_assert(err == ERR_SYSTEM || (err == ERR_OK && user == getuid()));
	user = 4711;
	err = address_user_by_proc(&user, &net.peer, &net.own);
	ck_assert(err == ERR_SYSTEM || (err == ERR_OK && user == getuid()));
	user = 4711;
	ck_assert_int_eq(address_user(&user, &net.peer, &net.own), ERR_OK);
	ck_assert_uint_eq(user, getuid());
	part();
}
END_TEST

/* Be it root: a socket that nobody holds is nobody's. */
START_TEST(a_closed_socket_is_not_roots)
{
	uid_t user = 4711;

	if (!meet(ways[_i].listens, ways[_i].connects))
		return;
	close(net.client);
	if (address_user_by_netlink(&user, &net.peer, &net.own) == ERR_OK)
		ck_assert(user != 0 && user == getuid());
	if (address_user_by_proc(&user, &net.peer, &net.own) == ERR_OK)
		ck_assert(user != 0 && user == getuid());
	close(net.server);
	close(net.listener);
}
END_TEST

/*
 * The user of the peer's end counts: not the server's own, nor a listener at
 * the peer's port.
 */
START_TEST(only_the_other_end_counts)
{
	struct sockaddr_storage gone;
	struct sockaddr_in *four = (void *)&gone;
	struct sockaddr_in6 *six = (void *)&gone;
	uid_t user;

	if (!meet(ways[_i].listens, ways[_i].connects))
		return;
	gone = net.own;
	if (gone.ss_family == AF_INET6)
		six->sin6_port = htons(1);
	else
		four->sin_port = htons(1);
	/* The listener's address as a peer of a port that nobody has. */
	ck_assert_int_eq(address_user(&user, &net.own, &gone), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    address_user_by_proc(&user, &net.own, &gone), ERR_NOT_FOUND);
	ck_assert_int_eq(address_user(&user, &gone, &net.own), ERR_NOT_FOUND);
	part();
}
END_TEST

START_TEST(another_user_is_told_from_ours)
{
	int up[2], down[2];
	uid_t user = 4711;
	char byte;
	pid_t pid;

	if (getuid() != 0 || pipe(up) != 0 || pipe(down) != 0 ||
	    !meet("::", "127.0.0.1"))
		return;
	part();
	/* The socket is made by the child, as the other user. */
	pid = fork();
	if (pid == 0) {
		if (setuid(OTHER) == 0 && meet("::", "127.0.0.1") &&
		    write(up[1], &net, sizeof(net)) == sizeof(net))
			(void)!read(down[0], &byte, 1);
		_exit(0);
	}
	ck_assert_int_eq(read(up[0], &net, sizeof(net)), sizeof(net));
	ck_assert_int_eq(address_user(&user, &net.peer, &net.own), ERR_OK);
	ck_assert_uint_eq(user, OTHER);
	ck_assert_int_eq(
	    address_user_by_proc(&user, &net.peer, &net.own), ERR_OK);
	ck_assert_uint_eq(user, OTHER);
	ck_assert_int_eq(write(down[1], "x", 1), 1);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(addresses_have_their_text)
{
	struct sockaddr_storage address = {.ss_family = AF_INET6};
	struct sockaddr_in6 *six = (void *)&address;
	char text[ADDRESS_TEXT_MAX];

	six->sin6_port = htons(80);
	inet_pton(AF_INET6, "::1", &six->sin6_addr);
	address_text(text, &address);
	ck_assert_str_eq(text, "[::1]:80");
	inet_pton(AF_INET6, "::ffff:127.1.2.3", &six->sin6_addr);
	address_unmap(&address);
	address_text(text, &address);
	ck_assert_str_eq(text, "127.1.2.3:80");
	ck_assert_uint_eq(address_port(&address), 80);
	ck_assert(address_is_loopback(&address));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook address");
	TCase *tc = tcase_create("address");

	tcase_add_loop_test(tc, the_user_of_a_socket_is_told, 0,
	    sizeof(ways) / sizeof(ways[0]));
	tcase_add_loop_test(tc, a_closed_socket_is_not_roots, 0,
	    sizeof(ways) / sizeof(ways[0]));
	tcase_add_loop_test(
	    tc, only_the_other_end_counts, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, another_user_is_told_from_ours);
	tcase_add_test(tc, addresses_have_their_text);
	suite_add_tcase(suite, tc);
	return suite;
}
