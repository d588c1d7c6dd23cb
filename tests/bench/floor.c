/*
 * floor: what benchmarks are printed against. A libfcgi program that sends a
 * constant body, through the record writer that gridapi has, and does no other
 * work: no answer of gridapi can be faster than this one of the same size.
 *
 *	floor SOCKET [PROCESSES [THREADS]]
 *
 * The last part of the path is the size: /api/v1/floor/30000. Bodies of more
 * than a megabyte are put in pieces of that size. SIGTERM ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tests/bench/responder.h"

#define PIECE ((int64_t)1 << 20)

/* The text behind the last slash. */
static struct span
last_part(struct span uri)
{
	size_t at = uri.len;

	while (at > 0 && uri.ptr[at - 1] != '/')
		at--;
	return span_from(uri, at);
}

static enum err
answer(void *own, struct span uri, int64_t start_ns, struct sink *out)
{
	char head[256];
	int64_t bytes = 0, part;
	struct iovec first[2] = {{head, 0}, {own, 0}};
	enum err err;

	(void)start_ns;
	num_int(&bytes, last_part(uri), 0, (int64_t)1 << 40);
	first[0].iov_len = (size_t)snprintf(head, sizeof(head),
	    "Status: 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %lld\r\n\r\n",
	    (long long)bytes);
	part = bytes < PIECE ? bytes : PIECE;
	first[1].iov_len = (size_t)part;
	err = out->put(out, first, 2);
	for (bytes -= part; bytes > 0 && err == ERR_OK; bytes -= part) {
		part = bytes < PIECE ? bytes : PIECE;
		err = sink_put(out, span_make(own, (size_t)part));
	}
	return err;
}

static void *
open_piece(void)
{
	static char *piece;

	if (piece == NULL && (piece = malloc((size_t)PIECE)) != NULL)
		memset(piece, 'x', (size_t)PIECE);
	return piece;
}

int
main(int argc, char **argv)
{
	static const struct responder constant = {open_piece, answer};

	if (argc < 2) {
		fputs("usage: floor SOCKET [PROCESSES [THREADS]]\n", stderr);
		return 2;
	}
	/* Once, before there are threads. */
	if (open_piece() == NULL)
		return 1;
	return responder_run(&constant, argc, argv, 1);
}
