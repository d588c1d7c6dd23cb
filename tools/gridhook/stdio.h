/*
 * stdio: MCP for clients that start a program and talk to its standard input
 * and output, one JSON-RPC message a line.
 *
 * The gridhook that runs answers, over its control socket: it has the window
 * and keeps the limits. Where none runs, the messages are answered here.
 * While a call with a progress token is at work, a notification a second tells
 * for how long.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/net/loop.h"

#define STDIO_LINE_MAX ((size_t)4 << 20)
#define STDIO_REQUESTS_MAX 1024 /* unanswered; one more is refused */

struct stdio;

struct stdio_spec {
	struct loop *loop;
	const char *socket; /* control.sock; NULL: none is looked for */
	struct calls *calls; /* of this process */
	/* A message, without the end of its line. */
	void (*write)(void *arg, struct span message);
	/* Nothing is under way any more, after stdio_end(). */
	void (*idle)(void *arg);
	void *arg;
};

/* The members of *spec are kept by pointer. */
enum err stdio_open(struct stdio **out, const struct stdio_spec *spec);

/* Gives up what is under way; nothing more is written. */
void stdio_close(struct stdio *stdio);

/* Takes any piece of the input. */
void stdio_feed(struct stdio *stdio, struct span bytes);

/* The stream has ended: a last line without its end counts. */
void stdio_end(struct stdio *stdio);
