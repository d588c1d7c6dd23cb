/*
 * responder: what the programs behind nginx that gridapi is measured against
 * have in common: a socket, processes, threads, and an answer by the record
 * writer that gridapi has. The door to libfcgi in benchmarks.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/sink.h"
#include "common/span.h"

struct responder {
	/* Once a thread; NULL ends the program, which has said why. */
	void *(*open)(void);
	/*
	 * Answers GET `uri`: head and body into `out`. `start_ns` is when the
	 * request had come in. A failure cuts the answer.
	 */
	enum err (*answer)(
	    void *own, struct span uri, int64_t start_ns, struct sink *out);
};

/*
 * Listens on the socket and answers until SIGTERM. The arguments are those of
 * main() from `at` on: SOCKET [PROCESSES [THREADS [keep]]], 2 and 8 when not
 * given. With "keep" nginx's connections are kept.
 */
int responder_run(
    const struct responder *responder, int argc, char **argv, int at);
