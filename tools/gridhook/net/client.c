#include "tools/gridhook/net/client.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/date.h"
#include "common/num.h"

#define HOST_MAX 256

struct address {
	char host[HOST_MAX], port[8];
	struct span authority, target;
};

static enum err
read_url(struct address *address, const char *url, struct fault *fault)
{
	struct span rest = span_of(url);
	struct span host;
	size_t end, colon;

	if (!span_starts(rest, SPAN("http://"))) {
		fault_set(fault, url, "is not an address: http://… is wanted");
		return ERR_BAD_INPUT;
	}
	rest = span_from(rest, 7);
	end = span_find(rest, '/');
	address->authority = span_sub(rest, 0, end);
	address->target = end == rest.len ? SPAN("/") : span_from(rest, end);
	host = address->authority;
	colon = host.len;
	while (colon > 0 && host.ptr[colon - 1] != ':' &&
	    host.ptr[colon - 1] != ']')
		colon--;
	snprintf(address->port, sizeof(address->port), "80");
	if (colon > 0 && host.ptr[colon - 1] == ':') {
		if (!span_copy(address->port, sizeof(address->port),
			span_from(host, colon)))
			colon = 0;
		host = span_sub(host, 0, colon == 0 ? 0 : colon - 1);
	}
	if (host.len > 2 && host.ptr[0] == '[')
		host = span_sub(host, 1, host.len - 2);
	if (host.len > 0 &&
	    span_copy(address->host, sizeof(address->host), host))
		return ERR_OK;
	fault_set(fault, url, "has no host that could be reached");
	return ERR_BAD_INPUT;
}

static int
left_ms(int64_t end_ns)
{
	int64_t left = (end_ns - date_monotonic_ns()) / 1000000;

	return left < 0 ? 0 : (int)left;
}

/* Waits for a connect or a transfer that would block. */
static enum err
wait_for(int fd, short events, int64_t end_ns)
{
	struct pollfd poll_ = {.fd = fd, .events = events};

	for (;;)
		switch (poll(&poll_, 1, left_ms(end_ns))) {
		case 0:
			return ERR_TIMED_OUT;
		case -1:
			if (errno != EINTR)
				return ERR_SYSTEM;
			break;
		default:
			return ERR_OK;
		}
}

static enum err
try_address(int *fd, const struct addrinfo *at, int64_t end_ns)
{
	int failed = 0;
	socklen_t len = sizeof(failed);
	enum err err = ERR_OK;

	*fd = socket(at->ai_family,
	    at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
	if (*fd < 0)
		return ERR_SYSTEM;
	if (connect(*fd, at->ai_addr, at->ai_addrlen) != 0) {
		err = errno == EINPROGRESS ? wait_for(*fd, POLLOUT, end_ns)
					   : err_from_errno(errno);
		if (err == ERR_OK &&
		    (getsockopt(*fd, SOL_SOCKET, SO_ERROR, &failed, &len) !=
			    0 ||
			failed != 0))
			err = ERR_CLOSED;
	}
	if (err != ERR_OK) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

static enum err
reach(
    int *fd, const struct address *address, int64_t end_ns, struct fault *fault)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	enum err err = ERR_CLOSED;
	int failed;

	*fd = -1;
	failed = getaddrinfo(address->host, address->port, &hints, &found);
	if (failed != 0) {
		fault_set(fault, address->host, "is not known: %s",
		    gai_strerror(failed));
		return ERR_NOT_FOUND;
	}
	for (struct addrinfo *at = found; at != NULL && *fd < 0;
	     at = at->ai_next)
		err = try_address(fd, at, end_ns);
	freeaddrinfo(found);
	if (*fd < 0)
		fault_set(fault, address->host,
		    "nobody answers on port %s (is gridhook running?)",
		    address->port);
	return err;
}

static enum err
transfer(struct buf *answer, int fd, struct span bytes, int64_t end_ns)
{
	char room[16384];
	ssize_t done;
	enum err err;

	while (bytes.len > 0) {
		err = wait_for(fd, POLLOUT, end_ns);
		if (err != ERR_OK)
			return err;
		done = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (done < 0 && errno != EAGAIN && errno != EINTR)
			break; /* refused in the middle: the answer says why */
		if (done > 0)
			bytes = span_from(bytes, (size_t)done);
	}
	for (;;) {
		err = wait_for(fd, POLLIN, end_ns);
		if (err != ERR_OK)
			return err;
		done = recv(fd, room, sizeof(room), 0);
		if (done > 0)
			buf_add(answer, room, (size_t)done);
		else if (done == 0 || (errno != EAGAIN && errno != EINTR))
			return buf_end(answer);
	}
}

/* The connection ends with the answer, so the body is the rest. */
static enum err
take_answer(int *status, struct buf *body, struct span answer)
{
	static const char blank[] = "\r\n\r\n";
	const char *end =
	    answer.len == 0 ? NULL : memmem(answer.ptr, answer.len, blank, 4);
	int64_t code;

	if (end == NULL || !span_starts(answer, SPAN("HTTP/1.1 ")) ||
	    !num_int(&code, span_sub(answer, 9, 3), 100, 599))
		return ERR_CLOSED;
	*status = (int)code;
	buf_add_span(body, span_from(answer, (size_t)(end - answer.ptr) + 4));
	return buf_end(body);
}

enum err
client_post(int *status, struct buf *body, const struct client_post *post,
    struct fault *fault)
{
	int64_t end_ns =
	    date_monotonic_ns() + post->timeout_ms * INT64_C(1000000);
	struct address address;
	struct buf request, answer;
	int fd = -1;
	enum err err;

	assert(post->url != NULL && post->timeout_ms > 0);
	buf_init(&request, post->body.len + 16384);
	buf_init(&answer, (size_t)16 << 20);
	err = read_url(&address, post->url, fault);
	if (err == ERR_OK)
		err = reach(&fd, &address, end_ns, fault);
	if (err == ERR_OK) {
		buf_addf(&request,
		    "POST %.*s HTTP/1.1\r\nHost: %.*s\r\n"
		    "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\nConnection: close\r\n",
		    SPAN_ARG(address.target), SPAN_ARG(address.authority),
		    post->body.len);
		if (post->secret != NULL)
			buf_addf(
			    &request, "X-Service-Secret: %s\r\n", post->secret);
		buf_add_text(&request, "\r\n");
		buf_add_span(&request, post->body);
		err = buf_end(&request);
	}
	if (err == ERR_OK)
		err = transfer(&answer, fd, buf_span(&request), end_ns);
	if (err == ERR_OK)
		err = take_answer(status, body, buf_span(&answer));
	if (err != ERR_OK)
		fault_set(fault, post->url, "no answer: %s", err_text(err));
	if (fd >= 0)
		close(fd);
	buf_fini(&request);
	buf_fini(&answer);
	return err;
}
