/*
 * bench_gridhook: how fast a gridhook on loopback answers over kept
 * connections, each with one request on the way.
 *
 *	bench_gridhook PORT SECONDS CONNECTIONS health|push|list|webhook
 *
 * webhook is the same push to adnanh/webhook's /hooks/x.
 *
 * Prints "NAME: N requests/s, p50 N us, p99 N us". Any answer but 200 ends it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/num.h"

#define CONNS_MAX 64
#define TIMES_MAX 4000000
#define PUSH_BYTES 1024
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"

struct peer {
	struct buf in;
	int64_t since_ns;
};

struct bench {
	struct pollfd polls[CONNS_MAX];
	struct peer peers[CONNS_MAX];
	int count;
	struct buf request;
	uint32_t *times_us;
	size_t done;
};

static void
die(const char *what)
{
	fprintf(stderr, "bench_gridhook: %s\n", what);
	exit(EXIT_FAILURE);
}

static void
add_post(struct buf *request, const char *path, struct span body)
{
	buf_addf(request,
	    "POST %s HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	    path, body.len);
	buf_add_span(request, body);
}

static void
make_request(struct buf *request, struct span what)
{
	struct buf body;

	buf_init(request, 65536);
	buf_init(&body, 65536);
	if (span_eq(what, SPAN("health")))
		buf_add_text(
		    request, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
	else if (span_eq(what, SPAN("list")))
		add_post(request, "/mcp", SPAN(LIST));
	else if (span_eq(what, SPAN("push")) ||
	    span_eq(what, SPAN("webhook"))) {
		buf_add_text(&body, "{\"source\":\"bench\",\"text\":\"");
		while (body.len < PUSH_BYTES - 2)
			buf_add_char(&body, 'x');
		buf_add_text(&body, "\"}");
		add_post(request,
		    what.ptr[0] == 'p' ? "/assistant/hook" : "/hooks/x",
		    buf_span(&body));
	} else
		die("health, push, list or webhook is wanted");
	buf_fini(&body);
}

static int
reach(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void
ask(struct bench *bench, int i)
{
	struct peer *peer = &bench->peers[i];

	buf_clear(&peer->in);
	peer->since_ns = date_monotonic_ns();
	if (send(bench->polls[i].fd, bench->request.data, bench->request.len,
		MSG_NOSIGNAL) != (ssize_t)bench->request.len)
		die("cannot send");
}

/* True once the whole answer is there. */
static bool
is_whole(struct span in)
{
	static const char blank[] = "\r\n\r\n", name[] = "Content-Length: ";
	const char *end = memmem(in.ptr, in.len, blank, 4);
	const char *length = memmem(in.ptr, in.len, name, sizeof(name) - 1);
	struct span digits;
	int64_t bytes;
	size_t head;

	if (end == NULL)
		return false;
	if (length == NULL || !span_starts(in, SPAN("HTTP/1.1 200 ")))
		die("an answer was not 200");
	head = (size_t)(end - in.ptr) + 4;
	digits = span_from(in, (size_t)(length - in.ptr) + sizeof(name) - 1);
	digits = span_sub(digits, 0, span_find(digits, '\r'));
	if (!num_int(&bytes, digits, 0, INT32_MAX))
		die("an answer had no length");
	return in.len >= head + (size_t)bytes;
}

static void
take(struct bench *bench, int i)
{
	struct peer *peer = &bench->peers[i];
	char *room = buf_room(&peer->in, 65536);
	ssize_t got =
	    room == NULL ? -1 : recv(bench->polls[i].fd, room, 65536, 0);

	if (got <= 0)
		die("the server has closed");
	buf_grown(&peer->in, (size_t)got);
	if (!is_whole(buf_span(&peer->in)))
		return;
	if (bench->done < TIMES_MAX)
		bench->times_us[bench->done] =
		    (uint32_t)((date_monotonic_ns() - peer->since_ns) / 1000);
	bench->done++;
	ask(bench, i);
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
print(struct bench *bench, const char *what, int64_t ns)
{
	size_t kept = bench->done < TIMES_MAX ? bench->done : TIMES_MAX;

	if (kept == 0)
		die("nothing was answered");
	qsort(bench->times_us, kept, sizeof(*bench->times_us), compare);
	printf("%s: %.0f requests/s over %d connections, p50 %u us, p99 %u "
	       "us\n",
	    what, (double)bench->done / ((double)ns / 1e9), bench->count,
	    bench->times_us[kept / 2], bench->times_us[kept * 99 / 100]);
}

static void
run(struct bench *bench, const char *what, int64_t seconds)
{
	int64_t start = date_monotonic_ns(), now = start;

	for (int i = 0; i < bench->count; i++)
		ask(bench, i);
	while (now - start < seconds * INT64_C(1000000000)) {
		if (poll(bench->polls, (nfds_t)bench->count, 1000) <= 0)
			die("no answer within a second");
		for (int i = 0; i < bench->count; i++)
			if (bench->polls[i].revents != 0)
				take(bench, i);
		now = date_monotonic_ns();
	}
	print(bench, what, now - start);
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	int64_t port, seconds, count;

	if (argc != 5 || !num_int(&port, span_of(argv[1]), 1, 65535) ||
	    !num_int(&seconds, span_of(argv[2]), 1, 600) ||
	    !num_int(&count, span_of(argv[3]), 1, CONNS_MAX))
		die("usage: bench_gridhook PORT SECONDS CONNECTIONS "
		    "health|push|list|webhook");
	make_request(&bench.request, span_of(argv[4]));
	bench.times_us = calloc(TIMES_MAX, sizeof(*bench.times_us));
	if (bench.times_us == NULL)
		die("no memory");
	bench.count = (int)count;
	for (int i = 0; i < bench.count; i++) {
		bench.polls[i] =
		    (struct pollfd){.fd = reach((int)port), .events = POLLIN};
		buf_init(&bench.peers[i].in, 1 << 20);
	}
	run(&bench, argv[4], seconds);
	for (int i = 0; i < bench.count; i++) {
		close(bench.polls[i].fd);
		buf_fini(&bench.peers[i].in);
	}
	buf_fini(&bench.request);
	free(bench.times_us);
	return EXIT_SUCCESS;
}
