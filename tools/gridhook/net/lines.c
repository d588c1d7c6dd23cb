#include "tools/gridhook/net/lines.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"

#define READ_SIZE 65536
#define KEEP_SIZE 65536

static void
listen_for(struct lines *lines)
{
	uint32_t events = EPOLLIN;

	if (lines_waiting(lines) > 0)
		events |= EPOLLOUT;
	loop_change(lines->loop, &lines->io, events);
}

static void
cut_off(struct lines *lines)
{
	shutdown(lines->io.fd, SHUT_RDWR);
	buf_clear(&lines->out);
	lines->out_done = 0;
}

static void
flush(struct lines *lines)
{
	struct buf *out = &lines->out;
	ssize_t put;

	while (lines->out_done < out->len) {
		put = send(lines->io.fd, out->data + lines->out_done,
		    out->len - lines->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			if (errno != EAGAIN)
				cut_off(lines);
			return;
		}
		lines->out_done += (size_t)put;
	}
	if (out->cap > KEEP_SIZE)
		buf_fini(out);
	else
		buf_clear(out);
	lines->out_done = 0;
	if (lines->shut)
		shutdown(lines->io.fd, SHUT_WR);
}

/* Makes room at the front once half of it is behind us. */
static void
pull_up(struct lines *lines)
{
	struct buf *out = &lines->out;

	if (lines->out_done < KEEP_SIZE || lines->out_done < out->len / 2)
		return;
	memmove(
	    out->data, out->data + lines->out_done, out->len - lines->out_done);
	out->len -= lines->out_done;
	lines->out_done = 0;
}

void
lines_send(struct lines *lines, struct span line)
{
	assert(lines->loop != NULL);
	if (lines->shut)
		return;
	pull_up(lines);
	buf_add_span(&lines->out, line);
	buf_add_char(&lines->out, '\n');
	if (buf_end(&lines->out) != ERR_OK) {
		cut_off(lines);
		return;
	}
	flush(lines);
	listen_for(lines);
}

void
lines_end(struct lines *lines)
{
	lines->shut = true;
	flush(lines);
}

size_t
lines_waiting(const struct lines *lines)
{
	assert(lines->out_done <= lines->out.len);
	return lines->out.len - lines->out_done;
}

/* Passes on each complete line; the rest waits for its end. */
static bool
take(struct lines *lines)
{
	struct span rest = buf_span(&lines->in);
	struct span line;
	size_t end;

	for (;;) {
		end = span_find(rest, '\n');
		if (end == rest.len)
			break;
		line = span_sub(rest, 0, end);
		rest = span_from(rest, end + 1);
		if (line.len > 0 && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (line.len > 0 && !lines->line(lines, line))
			return false;
	}
	if (rest.len == 0 && lines->in.cap > KEEP_SIZE)
		buf_fini(&lines->in);
	else if (rest.len > 0)
		memmove(lines->in.data, rest.ptr, rest.len);
	lines->in.len = rest.len;
	return true;
}

static void
on_ready(struct loop_io *io, uint32_t events)
{
	struct lines *lines = (struct lines *)io;
	char bytes[READ_SIZE];
	ssize_t got;

	if ((events & EPOLLOUT) != 0) {
		flush(lines);
		listen_for(lines);
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
		return;
	got = recv(io->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		lines->ended(lines, got == 0 ? "closed" : strerror(errno));
		return;
	}
	buf_add(&lines->in, bytes, (size_t)got);
	if (buf_end(&lines->in) != ERR_OK)
		lines->ended(lines, "line too long");
	else
		take(lines);
}

enum err
lines_open(struct lines *lines, struct loop *loop, int fd, size_t line_max,
    size_t out_max)
{
	assert(fd >= 0 && lines->line != NULL && lines->ended != NULL);
	assert(line_max > 0 && out_max > 0);
	lines->io = (struct loop_io){.fd = fd, .ready = on_ready};
	lines->loop = loop;
	lines->out_done = 0;
	lines->shut = false;
	buf_init(&lines->in, line_max + READ_SIZE);
	buf_init(&lines->out, out_max);
	return loop_add(loop, &lines->io, EPOLLIN);
}

void
lines_close(struct lines *lines)
{
	assert(lines->loop != NULL);
	loop_remove(lines->loop, &lines->io);
	close(lines->io.fd);
	buf_fini(&lines->in);
	buf_fini(&lines->out);
}

/* --- sockets -------------------------------------------------------------- */

static bool
address_of(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!span_copy(
		address->sun_path, sizeof(address->sun_path), span_of(path))) {
		log_error("path of a socket is too long: path=%s", path);
		return false;
	}
	return true;
}

/* The folder must be ours: what stands in it, others could replace. */
static enum err
own_folder(const char *path)
{
	char folder[FS_PATH_MAX];
	struct stat stat_;
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return ERR_OK;
	if (!span_copy(folder, sizeof(folder),
		span_make(path, (size_t)(slash - path))))
		return ERR_TOO_LARGE;
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		/* Parents that were missing, too, keep the usual mode. */
		if (fs_mkdir(folder) != ERR_OK || chmod(folder, 0700) != 0)
			return ERR_SYSTEM;
	}
	if (lstat(folder, &stat_) != 0 || !S_ISDIR(stat_.st_mode) ||
	    (stat_.st_uid != geteuid() && stat_.st_uid != 0) ||
	    ((stat_.st_mode & S_IWOTH) != 0 &&
		(stat_.st_mode & S_ISVTX) == 0)) {
		log_error(
		    "folder of a socket is not ours alone: folder=%s", folder);
		return ERR_DENIED;
	}
	return ERR_OK;
}

enum err
lines_listen(int *fd, const char *path)
{
	struct sockaddr_un address;
	mode_t mask;
	int alive, done;

	assert(fd != NULL && path != NULL);
	*fd = -1;
	if (!address_of(&address, path) || own_folder(path) != ERR_OK)
		return ERR_SYSTEM;
	alive = lines_connect(path);
	if (alive >= 0) {
		close(alive);
		log_error("another gridhook listens there: socket=%s", path);
		return ERR_BUSY;
	}
	unlink(path);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	done = *fd < 0
	    ? -1
	    : bind(*fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (done == 0 && listen(*fd, 16) == 0)
		return ERR_OK;
	log_error("socket cannot be made: socket=%s reason=%s", path,
	    strerror(errno));
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return ERR_SYSTEM;
}

void
lines_unlisten(int fd, const char *path)
{
	assert(fd < 0 || path != NULL);
	if (fd < 0)
		return;
	close(fd);
	unlink(path);
}

int
lines_accept(int listener)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	assert(listener >= 0);
	if (fd < 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	    (peer.uid == geteuid() || peer.uid == 0))
		return fd;
	log_warn("a local peer of another user was refused: uid=%ld pid=%ld",
	    (long)peer.uid, (long)peer.pid);
	close(fd);
	return -1;
}

int
lines_connect(const char *path)
{
	struct sockaddr_un address;
	int fd;

	assert(path != NULL);
	if (!address_of(&address, path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}
