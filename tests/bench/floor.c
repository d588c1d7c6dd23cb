/*
 * floor: what benchmarks are printed against. A libfcgi program that sends a
 * constant body, through the record writer that gridapi has, and does no other
 * work: no answer of gridapi can be faster than this one of the same size.
 *
 *	floor SOCKET [PROCESSES [THREADS [keep]]]
 *
 * The path says the size: /api/v1/floor/30000. Bodies of more than a megabyte
 * are put in pieces of that size. A number behind it, /api/v1/floor/30000/7,
 * has the bytes taken from there in more memory than a cache has, as an answer
 * that is of rows must; without, all are the same ones. A third number asks for
 * a header of so many bytes more, as links to other pages are. SIGTERM ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tests/bench/responder.h"

#define PIECE ((int64_t)1 << 20)
#define SPREAD ((int64_t)96 << 20)
#define HEADER_MAX 4000

struct asked {
	int64_t bytes, number, header;
};

/* The numbers behind "/floor/", up to a question mark. */
static struct asked
read_path(struct span uri)
{
	static const struct span name = SPAN("/floor/");
	struct span part, rest = span_sub(uri, 0, span_find(uri, '?'));
	struct asked asked = {0, -1, 0};

	while (rest.len > name.len && !span_starts(rest, name))
		rest = span_from(rest, 1);
	rest = span_from(rest, name.len);
	if (span_cut(&part, &rest, '/'))
		num_int(&asked.bytes, part, 0, (int64_t)1 << 40);
	if (span_cut(&part, &rest, '/'))
		num_int(&asked.number, part, 0, 1 << 20);
	if (span_cut(&part, &rest, '/'))
		num_int(&asked.header, part, 0, HEADER_MAX);
	return asked;
}

/* Returns the length of the head. */
static size_t
write_head(char *head, size_t room, const struct asked *asked)
{
	static const char more[HEADER_MAX + 1] = {[0 ... HEADER_MAX - 1] = 'x'};

	return (size_t)snprintf(head, room,
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %lld\r\n%s%.*s%s\r\n",
	    (long long)asked->bytes, asked->header > 0 ? "Link: " : "",
	    (int)asked->header, more, asked->header > 0 ? "\r\n" : "");
}

/* Where the next bytes are: always the same, or behind the last ones. */
static struct span
next_part(const char *memory, int64_t *place, int64_t bytes)
{
	int64_t part = bytes < PIECE ? bytes : PIECE;
	struct span text = span_make(memory, (size_t)part);

	if (*place >= 0) {
		text.ptr += *place % (SPREAD - PIECE);
		*place += part;
	}
	return text;
}

static enum err
answer(void *own, struct span uri, int64_t start_ns, struct sink *out)
{
	char head[HEADER_MAX + 256];
	struct asked asked = read_path(uri);
	int64_t left = asked.bytes, place = asked.number;
	struct iovec first[2] = {{head, 0}, {own, 0}};
	struct span part;
	enum err err;

	(void)start_ns;
	if (place > 0)
		place *= left;
	first[0].iov_len = write_head(head, sizeof(head), &asked);
	part = next_part(own, &place, left);
	first[1].iov_base = (void *)(uintptr_t)part.ptr;
	first[1].iov_len = part.len;
	err = out->put(out, first, 2);
	for (left -= (int64_t)part.len; left > 0 && err == ERR_OK;
	     left -= (int64_t)part.len) {
		part = next_part(own, &place, left);
		err = sink_put(out, part);
	}
	return err;
}

static void *
open_memory(void)
{
	static char *memory;

	if (memory == NULL && (memory = malloc((size_t)SPREAD)) != NULL)
		memset(memory, 'x', (size_t)SPREAD);
	return memory;
}

int
main(int argc, char **argv)
{
	static const struct responder constant = {open_memory, answer};

	if (argc < 2) {
		fputs("usage: floor SOCKET [PROCESSES [THREADS [keep]]]\n",
		    stderr);
		return 2;
	}
	/* Once, before there are threads. */
	if (open_memory() == NULL)
		return 1;
	return responder_run(&constant, argc, argv, 1);
}
