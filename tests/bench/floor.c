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
 * that is of rows must; without, all are the same ones. SIGTERM ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tests/bench/responder.h"

#define PIECE ((int64_t)1 << 20)
#define SPREAD ((int64_t)96 << 20)

/* The numbers behind "/floor/"; one that is not there is -1. */
static void
read_path(struct span uri, int64_t *bytes, int64_t *number)
{
	static const struct span name = SPAN("/floor/");
	struct span part, rest = uri;

	*bytes = 0;
	*number = -1;
	while (rest.len > name.len && !span_starts(rest, name))
		rest = span_from(rest, 1);
	rest = span_from(rest, name.len);
	if (span_cut(&part, &rest, '/'))
		num_int(bytes, part, 0, (int64_t)1 << 40);
	if (span_cut(&part, &rest, '/'))
		num_int(number, part, 0, 1 << 20);
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
	char head[256];
	int64_t bytes, place;
	struct iovec first[2] = {{head, 0}, {own, 0}};
	struct span part;
	enum err err;

	(void)start_ns;
	read_path(uri, &bytes, &place);
	if (place > 0)
		place *= bytes;
	first[0].iov_len = (size_t)snprintf(head, sizeof(head),
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %lld\r\n\r\n",
	    (long long)bytes);
	part = next_part(own, &place, bytes);
	first[1].iov_base = (void *)(uintptr_t)part.ptr;
	first[1].iov_len = part.len;
	err = out->put(out, first, 2);
	for (bytes -= (int64_t)part.len; bytes > 0 && err == ERR_OK;
	     bytes -= (int64_t)part.len) {
		part = next_part(own, &place, bytes);
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
