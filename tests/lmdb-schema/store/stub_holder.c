#include "tests/lmdb-schema/store/stub_holder.h"

#include <arpa/inet.h>
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX 4096

static struct holder {
	_Atomic(enum holder_weather) weather;
	struct span file;
	int listener;
	char address[64];
	_Atomic unsigned asked;
	_Atomic unsigned long sent;
} holders[STUB_HOLDERS_MAX];
static unsigned count;
static size_t piece;

void
stub_holder_pieces(size_t bytes)
{
	piece = bytes;
}

/* False when nobody asks any more. */
static bool
read_head(int fd, char head[HEAD_MAX])
{
	size_t len = 0;

	while (len < HEAD_MAX - 1) {
		ssize_t got = recv(fd, head + len, HEAD_MAX - 1 - len, 0);

		if (got <= 0)
			return false;
		len += (size_t)got;
		head[len] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL)
			return true;
	}
	return false;
}

static size_t
range_of(const char *head)
{
	const char *range = strstr(head, "Range: bytes=");

	return range == NULL
	    ? 0
	    : strtoul(range + strlen("Range: bytes="), NULL, 10);
}

/* The file, or the piece of it that the path names as SHA.N. */
static struct span
asked_for(const struct holder *holder, const char *head)
{
	const char *number = strchr(head, '.');

	return piece == 0 ? holder->file
			  : span_sub(holder->file,
				strtoul(number + 1, NULL, 10) * piece, piece);
}

static bool
shows_the_right(const char *head)
{
	return strstr(head,
		   piece == 0 ? "Authorization: Bearer right\r\n"
			      : "Authorization: AWS4-HMAC-SHA256 Credential="
				"id/") != NULL;
}

static void
send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		bytes += sent;
		len -= (size_t)sent;
	}
}

static void
send_head(int fd, unsigned status, size_t from, size_t len, size_t all)
{
	char text[256];
	int done = snprintf(text, sizeof(text),
	    "HTTP/1.1 %u X\r\nContent-Length: %zu\r\nConnection: close\r\n",
	    status, len);

	if (status == 206)
		done += snprintf(text + done, sizeof(text) - (size_t)done,
		    "Content-Range: bytes %zu-%zu/%zu\r\n", from,
		    from + len - 1, all);
	done += snprintf(text + done, sizeof(text) - (size_t)done, "\r\n");
	send_all(fd, text, (size_t)done);
}

static void
send_bytes(struct holder *holder, int fd, const char *bytes, size_t len)
{
	send_all(fd, bytes, len);
	holder->sent += len;
}

/* Until the other side leaves. */
static void
stall(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) > 0)
		;
}

static void
send_wrong(struct holder *holder, int fd, const char *right, size_t len)
{
	char *bytes = malloc(len + 1);

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, right, len);
	bytes[len / 2] ^= 1;
	send_all(fd, bytes, len);
	holder->sent += len;
	free(bytes);
}

/* With a page, as nginx has. */
static void
refuse(int fd, unsigned status)
{
	send_head(fd, status, 0, 4, 4);
	send_all(fd, "ill\n", 4);
}

static void
serve(struct holder *holder, int fd, struct span file, size_t from)
{
	size_t all = file.len, left = from < all ? all - from : 0;
	unsigned status = from > 0 ? 206 : 200;
	size_t some = left < all / 4 ? left : all / 4;
	enum holder_weather weather = holder->weather;

	switch (weather) {
	case HOLDER_SOUND:
		send_head(fd, status, from, left, all);
		send_bytes(holder, fd, file.ptr + from, left);
		break;
	case HOLDER_CUTS:
		send_head(fd, status, from, left, all);
		send_bytes(holder, fd, file.ptr + from, some);
		break;
	case HOLDER_LIES:
		send_head(fd, status, from, left, all);
		send_wrong(holder, fd, file.ptr + from, left);
		break;
	case HOLDER_SENDS_MORE:
		send_head(fd, status, from, left + 100, all + 100);
		send_bytes(holder, fd, file.ptr + from, left);
		send_bytes(holder, fd, file.ptr, 100);
		break;
	case HOLDER_SENDS_LESS:
		send_head(fd, status, from, some, from + some);
		send_bytes(holder, fd, file.ptr + from, some);
		break;
	case HOLDER_STALLS:
		send_head(fd, status, from, left, all);
		send_bytes(holder, fd, file.ptr + from, some);
		stall(fd);
		break;
	case HOLDER_KNOWS_NO_RANGE:
		send_head(fd, 200, 0, all, all);
		send_bytes(holder, fd, file.ptr, all);
		break;
	case HOLDER_IS_ELSEWHERE:
		send_head(fd, status, 0, left, all);
		send_bytes(holder, fd, file.ptr, left);
		break;
	case HOLDER_DENIES:
		refuse(fd, 401);
		break;
	case HOLDER_FORBIDS:
		refuse(fd, 403);
		break;
	case HOLDER_HAS_IT_NOT:
		refuse(fd, 404);
		break;
	case HOLDER_IS_ILL:
		refuse(fd, 500);
		break;
	default:
		break;
	}
}

static void *
run(void *context)
{
	struct holder *holder = context;
	char head[HEAD_MAX];

	for (;;) {
		int fd = accept(holder->listener, NULL, NULL);

		if (fd < 0)
			return NULL;
		if (read_head(fd, head)) {
			holder->asked++;
			if (!shows_the_right(head))
				send_head(fd, 401, 0, 0, 0);
			else
				serve(holder, fd, asked_for(holder, head),
				    range_of(head));
		}
		shutdown(fd, SHUT_WR);
		stall(fd);
		close(fd);
	}
}

const char *
stub_holder_start(enum holder_weather weather, struct span file)
{
	struct holder *holder = &holders[count++];
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	pthread_t thread;

	ck_assert_uint_le(count, STUB_HOLDERS_MAX);
	holder->weather = weather;
	holder->file = file;
	holder->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(holder->listener, 0);
	ck_assert_int_eq(
	    bind(holder->listener, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(holder->listener, 8), 0);
	ck_assert_int_eq(
	    getsockname(holder->listener, (struct sockaddr *)&address, &len),
	    0);
	snprintf(holder->address, sizeof(holder->address),
	    "http://127.0.0.1:%u", ntohs(address.sin_port));
	ck_assert_int_eq(pthread_create(&thread, NULL, run, holder), 0);
	ck_assert_int_eq(pthread_detach(thread), 0);
	return holder->address;
}

void
stub_holder_set(unsigned which, enum holder_weather weather)
{
	holders[which].weather = weather;
}

unsigned
stub_holder_asked(unsigned which)
{
	return holders[which].asked;
}

unsigned long
stub_holder_sent(unsigned which)
{
	return holders[which].sent;
}
