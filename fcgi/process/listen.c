#include "fcgi/process/listen.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/num.h"
#include "common/span.h"

#define FIRST_FD 3 /* systemd's SD_LISTEN_FDS_START */

/* How long to wait for a served socket to become a leftover. */
#define PROBES 40
#define PROBE_MS 50

static const char *const names[LISTEN_COUNT] = {"pages", "slow"};

/* --- handed over by systemd ----------------------------------------------- */

static bool
number_in_env(const char *name, int64_t *value)
{
	const char *text = getenv(name);

	return text != NULL && num_int(value, span_of(text), 0, INT32_MAX);
}

static enum err
set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return ERR_SYSTEM;
	return ERR_OK;
}

static bool
is_listener(int fd)
{
	int on = 0;
	socklen_t len = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on;
}

/* "slow:pages" names them; without names their order counts. */
static void
assign(struct listen *listen)
{
	struct span rest = span_of(getenv("LISTEN_FDNAMES"));
	struct span name;

	for (int i = 0; i < LISTEN_COUNT; i++)
		listen->fds[i] = FIRST_FD + i;
	if (span_cut(&name, &rest, ':') && span_eq(name, span_of(names[1]))) {
		listen->fds[LISTEN_SLOW] = FIRST_FD;
		listen->fds[LISTEN_PAGES] = FIRST_FD + 1;
	}
}

static enum err
take_over(struct listen *listen, int64_t count, struct fault *fault)
{
	if (count != LISTEN_COUNT) {
		fault_set(fault, "LISTEN_FDS",
		    "hands over %lld sockets, two are needed: pages and slow",
		    (long long)count);
		return ERR_BAD_INPUT;
	}
	assign(listen);
	listen->handed_over = true;
	for (int i = 0; i < LISTEN_COUNT; i++)
		if (!is_listener(listen->fds[i]) ||
		    set_flags(listen->fds[i]) != ERR_OK) {
			fault_set(fault, "LISTEN_FDS",
			    "descriptor %d is no listening socket",
			    listen->fds[i]);
			return ERR_BAD_INPUT;
		}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return ERR_OK;
}

/* --- our own -------------------------------------------------------------- */

static enum err
address_of(struct sockaddr_un *address, const char *path, struct fault *fault)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (path[0] == '\0' ||
	    !span_copy(
		address->sun_path, sizeof(address->sun_path), span_of(path))) {
		fault_set(fault, path,
		    "is no path for a socket: 1 to %zu bytes are possible",
		    sizeof(address->sun_path) - 1);
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

static enum err
refused(const char *path, const char *what, struct fault *fault)
{
	enum err err = err_from_errno(errno);

	fault_set(fault, path, "cannot %s: %s", what, strerror(errno));
	return err;
}

/*
 * The process that called listen() may be dead while its workers hold the
 * socket until they have answered their requests.
 */
static bool
listener_has_died(int connection)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) ==
	    0 &&
	    peer.pid > 0 &&
	    (peer.pid == getpid() ||
		(kill(peer.pid, 0) != 0 && errno == ESRCH));
}

static enum err
probe(bool *served, const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return ERR_SYSTEM;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) ==
	    0)
		*served = !listener_has_died(fd);
	else
		*served = errno == EAGAIN; /* its queue is full */
	close(fd);
	return ERR_OK;
}

/*
 * True when the socket is served, and still is after some time: after a kill,
 * the supervisor's socket looks alive until its workers notice its death.
 */
static enum err
is_served(bool *served, const struct sockaddr_un *address)
{
	static const struct timespec pause = {.tv_nsec = PROBE_MS * 1000000};
	enum err err = probe(served, address);

	for (int i = 0; i < PROBES && err == ERR_OK && *served; i++) {
		nanosleep(&pause, NULL);
		err = probe(served, address);
	}
	return err;
}

/* A socket without a listener refuses; then its file is only a leftover. */
static enum err
clear_leftover(const struct sockaddr_un *address, struct fault *fault)
{
	struct stat st;
	bool served;

	if (lstat(address->sun_path, &st) != 0)
		return ERR_OK;
	if (!S_ISSOCK(st.st_mode)) {
		fault_set(fault, address->sun_path,
		    "is there already and is no socket: remove it, or choose "
		    "another path");
		return ERR_EXISTS;
	}
	if (is_served(&served, address) != ERR_OK)
		return refused(address->sun_path, "be probed", fault);
	if (served) {
		fault_set(fault, address->sun_path,
		    "is served by another process: is gridapi running?");
		return ERR_BUSY;
	}
	unlink(address->sun_path);
	return ERR_OK;
}

/* 660 in decimal digits, to be read as octal, like chmod. */
static mode_t
mode_of(int64_t digits)
{
	return (mode_t)(digits / 100 * 64 + digits / 10 % 10 * 8 + digits % 10);
}

/* No program may connect before the mode is set. */
static enum err
bind_path(int fd, const struct sockaddr_un *address, mode_t mode)
{
	mode_t before = umask(0777);
	int result =
	    bind(fd, (const struct sockaddr *)address, sizeof(*address));

	umask(before);
	if (result == 0)
		result = chmod(address->sun_path, mode);
	return result == 0 ? ERR_OK : ERR_SYSTEM;
}

static enum err
open_path(int *out, char **path_out, const char *path, int64_t mode,
    int64_t backlog, struct fault *fault)
{
	struct sockaddr_un address;
	enum err err = address_of(&address, path, fault);
	int fd;

	if (err != ERR_OK)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		err = refused(path, "be made", fault);
	if (err == ERR_OK)
		err = clear_leftover(&address, fault);
	if (err == ERR_OK && bind_path(fd, &address, mode_of(mode)) != ERR_OK)
		err = refused(path, "be bound", fault);
	if (err == ERR_OK && listen(fd, (int)backlog) != 0)
		err = refused(path, "be listened on", fault);
	if (err == ERR_OK && (*path_out = strdup(path)) == NULL)
		err = ERR_NO_MEMORY;
	if (err != ERR_OK && fd >= 0)
		close(fd);
	else
		*out = fd;
	return err;
}

/* --- both ----------------------------------------------------------------- */

enum err
listen_open(struct listen *listen, const struct api_settings *settings,
    struct fault *fault)
{
	int64_t pid, count;
	enum err err;

	assert(settings->pages_socket != NULL && settings->slow_socket != NULL);
	*listen = (struct listen){.fds = {-1, -1}};
	if (number_in_env("LISTEN_PID", &pid) && pid == getpid() &&
	    number_in_env("LISTEN_FDS", &count))
		return take_over(listen, count, fault);
	err = open_path(&listen->fds[LISTEN_PAGES],
	    &listen->paths[LISTEN_PAGES], settings->pages_socket,
	    settings->socket_mode, settings->pages_backlog, fault);
	if (err == ERR_OK)
		err = open_path(&listen->fds[LISTEN_SLOW],
		    &listen->paths[LISTEN_SLOW], settings->slow_socket,
		    settings->socket_mode, settings->slow_backlog, fault);
	if (err != ERR_OK)
		listen_close(listen);
	return err;
}

void
listen_unlink(struct listen *listen)
{
	for (int i = 0; i < LISTEN_COUNT; i++) {
		if (listen->paths[i] != NULL)
			unlink(listen->paths[i]);
		free(listen->paths[i]);
		listen->paths[i] = NULL;
	}
}

void
listen_close(struct listen *listen)
{
	listen_unlink(listen);
	for (int i = 0; i < LISTEN_COUNT; i++) {
		if (listen->fds[i] >= 0)
			close(listen->fds[i]);
		listen->fds[i] = -1;
	}
}
