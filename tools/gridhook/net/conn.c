#include "tools/gridhook/net/conn_priv.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"

#define READ_SIZE 65536
#define OUT_MAX ((size_t)48 << 20)
#define KEEP_SIZE 65536 /* larger buffers are given back after use */

static void
destroy(struct conn *conn)
{
	void (*left)(void *arg) = conn->left;

	conn->left = NULL;
	if (left != NULL)
		left(conn->left_arg);
	conn->host->gone(conn->host->arg, conn);
	loop_timer_stop(&conn->timer);
	loop_remove(conn->host->loop, &conn->io);
	close(conn->io.fd);
	http_free(conn->http);
	buf_fini(&conn->rest);
	buf_fini(&conn->out);
	free(conn);
}

void
conn_close(struct conn *conn)
{
	conn->dead = true;
	if (!conn->running)
		destroy(conn);
}

static void
listen_for(struct conn *conn)
{
	uint32_t events = 0;

	if (conn->state == CONN_READ || conn->state == CONN_LINGER)
		events = EPOLLIN;
	else if (conn->state == CONN_WRITE)
		events = EPOLLOUT;
	else if (conn->state == CONN_WAIT && conn->left_half)
		events = EPOLLRDHUP;
	if (loop_change(conn->host->loop, &conn->io, events) != ERR_OK)
		conn->dead = true;
}

static void
deadline(struct conn *conn, int64_t ms)
{
	loop_timer_set(conn->host->loop, &conn->timer, ms);
}

/* --- progress ------------------------------------------------------------- */

/* A body or an answer begins to move. */
static void
begin_moving(struct conn *conn, int64_t ms)
{
	conn->moved = 0;
	conn->moved_before = 0;
	deadline(conn, ms);
}

/* True when the kernel holds unread bytes. */
static size_t
bytes_taken(const struct conn *conn)
{
	int held = 0;

	if (ioctl(conn->io.fd, SIOCOUTQ, &held) != 0 || held < 0 ||
	    (size_t)held > conn->out_done)
		return 0;
	return conn->out_done - (size_t)held;
}

/* True, and there is a new deadline, when enough has moved since the last. */
static bool
goes_on(struct conn *conn)
{
	bool writes = conn->state == CONN_WRITE;

	if (writes)
		conn->moved = bytes_taken(conn);
	if (conn->moved < conn->moved_before + CONN_PROGRESS)
		return false;
	conn->moved_before = conn->moved;
	deadline(conn,
	    writes ? conn->host->limits->write_ms
		   : conn->host->limits->body_ms);
	return true;
}

/* --- answering ------------------------------------------------------------ */

static void run(struct conn *conn);

void
conn_reply(struct conn *conn, const struct reply *reply)
{
	bool head = conn->got_all || http_has_begun(conn->http);

	assert(reply->status >= 200 && reply->status < 600);
	if (conn->state != CONN_READ && conn->state != CONN_WAIT)
		return;
	conn->left = NULL;
	conn->closing = reply->close || !head ||
	    !http_keeps_alive(conn->http) ||
	    (!conn->got_all && http_has_body(conn->http));
	buf_clear(&conn->out);
	conn->out_done = 0;
	conn_add_head(conn, reply);
	if (http_method(conn->http) != METHOD_HEAD)
		buf_add_span(&conn->out, reply->body);
	conn->state = CONN_WRITE;
	if (buf_end(&conn->out) != ERR_OK) {
		log_error("answer dropped: remote=%s reason=%s", conn->peer,
		    err_text(buf_end(&conn->out)));
		conn->dead = true;
	}
	if (!conn->let_in)
		conn->since_ns = date_monotonic_ns();
	begin_moving(conn, conn->host->limits->write_ms);
	run(conn);
}

void
conn_wait(struct conn *conn, void (*left)(void *arg), void *arg, bool half)
{
	assert(left != NULL && conn->state == CONN_READ);
	conn->state = CONN_WAIT;
	conn->left = left;
	conn->left_arg = arg;
	conn->left_half = half;
	loop_timer_stop(&conn->timer);
}

void
conn_hold(struct conn *conn, int64_t ms)
{
	assert(ms > 0 && conn->state == CONN_READ);
	conn->state = CONN_HELD;
	deadline(conn, ms);
}

/* --- reading -------------------------------------------------------------- */

static void
bad_request(struct conn *conn, enum http_step step)
{
	static const struct {
		enum http_step step;
		int status;
		const char *text;
	} answers[] = {
	    {HTTP_BAD, 400, "Bad Request"},
	    {HTTP_HEAD_TOO_LARGE, 431, "Header Fields Too Large"},
	    {HTTP_LINE_TOO_LONG, 414, "URI Too Long"},
	    {HTTP_BODY_TOO_LARGE, 413, "Payload too large"},
	    {HTTP_VERSION, 505, "HTTP Version Not Supported"},
	};

	if (conn->host->may_log(conn->host->arg, conn))
		log_info("request refused: remote=%s reason=%s", conn->peer,
		    http_why(conn->http));
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (answers[i].step == step)
			conn_reply_error(
			    conn, answers[i].status, answers[i].text);
}

/* The sender holds its body back until it hears that it is wanted. */
static void
say_continue(struct conn *conn)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (conn->old || !http_expects_continue(conn->http))
		return;
	if (send(conn->io.fd, text, sizeof(text) - 1, MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(text) - 1)
		conn->dead = true;
}

static enum http_step
got_head(struct conn *conn)
{
	size_t used;

	conn->old = http_is_old(conn->http);
	conn->host->head(conn->host->arg, conn);
	if (conn->dead || conn->state == CONN_HELD)
		return HTTP_MORE;
	conn->let_in = conn->state == CONN_READ;
	if (!http_has_body(conn->http))
		return http_feed(conn->http, SPAN(""), &used);
	if (conn->state == CONN_READ) {
		begin_moving(conn, conn->host->limits->body_ms);
		say_continue(conn);
	}
	return HTTP_MORE;
}

static void
act(struct conn *conn, enum http_step step)
{
	if (step == HTTP_GOT_ALL) {
		conn->got_all = true;
		if (conn->state == CONN_READ && !conn->dead)
			conn->host->request(conn->host->arg, conn);
	} else if (step != HTTP_MORE && conn->state == CONN_READ)
		bad_request(conn, step);
}

static void
feed(struct conn *conn, struct span *bytes)
{
	bool begun = http_has_begun(conn->http);
	enum http_step step;
	size_t used;

	step = http_feed(conn->http, *bytes, &used);
	*bytes = span_from(*bytes, used);
	conn->moved += used;
	if (!begun && http_has_begun(conn->http)) {
		conn->since_ns = date_monotonic_ns();
		deadline(conn, conn->host->limits->head_ms);
	}
	if (step == HTTP_GOT_HEAD)
		step = got_head(conn);
	act(conn, step);
}

/* Bytes left over by the answered request wait for their turn. */
static void
take(struct conn *conn, struct span bytes)
{
	while (bytes.len > 0 && conn->state == CONN_READ && !conn->dead)
		feed(conn, &bytes);
	if (bytes.len > 0 && !conn->closing)
		buf_add_span(&conn->rest, bytes);
	if (buf_end(&conn->rest) != ERR_OK)
		conn->dead = true;
}

static void
read_request(struct conn *conn)
{
	char bytes[READ_SIZE];
	ssize_t got = recv(conn->io.fd, bytes, sizeof(bytes), 0);

	if (got > 0)
		take(conn, span_make(bytes, (size_t)got));
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		conn->dead = true;
}

static void
read_over(struct conn *conn)
{
	char bytes[READ_SIZE];
	ssize_t got = recv(conn->io.fd, bytes, sizeof(bytes), 0);

	if (got > 0)
		conn->lingered += (uint64_t)got;
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
	    conn->lingered > conn->host->limits->linger_bytes)
		conn->dead = true;
}

/* --- the steps ------------------------------------------------------------ */

static void
finish(struct conn *conn)
{
	if (conn->got_all && conn->rest.len == 0) {
		conn->dead = true;
		return;
	}
	shutdown(conn->io.fd, SHUT_WR);
	conn->state = CONN_LINGER;
	conn->let_in = false;
	buf_fini(&conn->out);
	deadline(conn, conn->host->limits->linger_ms);
}

static void
next_request(struct conn *conn)
{
	struct buf rest = conn->rest;

	http_next(conn->http);
	conn->state = CONN_READ;
	conn->got_all = false;
	conn->let_in = false;
	conn->was_held = false;
	conn->since_ns = date_monotonic_ns();
	deadline(conn, conn->host->limits->idle_ms);
	if (conn->out.cap > KEEP_SIZE)
		buf_fini(&conn->out);
	buf_init(&conn->rest, READ_SIZE);
	take(conn, buf_span(&rest));
	buf_fini(&rest);
}

/* False when it would have to wait. */
static bool
write_answer(struct conn *conn)
{
	struct buf *out = &conn->out;
	ssize_t put;

	while (conn->out_done < out->len) {
		put = send(conn->io.fd, out->data + conn->out_done,
		    out->len - conn->out_done, MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			conn->dead = errno != EAGAIN;
			return false;
		}
		conn->out_done += (size_t)put;
	}
	if (conn->closing)
		finish(conn);
	else
		next_request(conn);
	return true;
}

/*
 * Goes on until it would have to wait. A callback that answers comes back in
 * here: `running` makes that a note, not a recursion.
 */
static void
run(struct conn *conn)
{
	if (conn->running)
		return;
	conn->running = true;
	while (!conn->dead && conn->state == CONN_WRITE)
		if (!write_answer(conn))
			break;
	if (!conn->dead)
		listen_for(conn);
	conn->running = false;
	if (conn->dead)
		destroy(conn);
}

static void
on_ready(struct loop_io *io, uint32_t events)
{
	struct conn *conn = (struct conn *)io;

	conn->running = true;
	if (conn->state == CONN_READ)
		read_request(conn);
	else if (conn->state == CONN_LINGER)
		read_over(conn);
	else if (conn->state == CONN_WAIT ||
	    (events & (EPOLLERR | EPOLLHUP)) != 0)
		conn->dead = true;
	conn->running = false;
	run(conn);
}

/* The head once more, and then what had come in behind it. */
static void
look_again(struct conn *conn)
{
	struct buf rest = conn->rest;

	conn->state = CONN_READ;
	conn->was_held = true;
	conn->running = true;
	buf_init(&conn->rest, READ_SIZE);
	act(conn, got_head(conn));
	take(conn, buf_span(&rest));
	buf_fini(&rest);
	conn->running = false;
	run(conn);
}

static void
on_deadline(struct loop_timer *timer)
{
	struct conn *conn =
	    (struct conn *)((char *)timer - offsetof(struct conn, timer));

	if (conn->state == CONN_HELD) {
		look_again(conn);
		return;
	}
	if ((conn->state == CONN_WRITE || conn->let_in) && goes_on(conn))
		return;
	if (conn->state == CONN_WRITE &&
	    conn->host->may_log(conn->host->arg, conn))
		log_info("answer not taken: remote=%s bytes=%zu of=%zu",
		    conn->peer, conn->moved, conn->out.len);
	if (conn->state == CONN_READ && http_has_begun(conn->http)) {
		if (conn->host->may_log(conn->host->arg, conn))
			log_info("request too slow: remote=%s", conn->peer);
		conn_reply_error(conn, 408, "Request Timeout");
		return;
	}
	conn_close(conn);
}

struct conn *
conn_open(const struct conn_host *host, int fd,
    const struct sockaddr_storage *address)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	socklen_t len = sizeof(conn->own_address);
	int on = 1;

	assert(fd >= 0 && host->loop != NULL && host->limits != NULL);
	assert(host->head != NULL && host->request != NULL);
	if (conn == NULL) {
		close(fd);
		return NULL;
	}
	conn->host = host;
	conn->io = (struct loop_io){.fd = fd, .ready = on_ready};
	conn->timer.fire = on_deadline;
	conn->address = *address;
	buf_init(&conn->rest, READ_SIZE);
	buf_init(&conn->out, OUT_MAX);
	address_text(conn->peer, address);
	if (getsockname(fd, (struct sockaddr *)&conn->own_address, &len) != 0)
		conn->own_address.ss_family = AF_INET;
	address_unmap(&conn->own_address);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	conn->http = http_new(host->limits->body_max);
	if (conn->http == NULL ||
	    loop_add(host->loop, &conn->io, EPOLLIN) != ERR_OK) {
		http_free(conn->http);
		close(fd);
		free(conn);
		return NULL;
	}
	conn->since_ns = date_monotonic_ns();
	deadline(conn, host->limits->first_byte_ms);
	return conn;
}
