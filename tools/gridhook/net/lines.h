/*
 * lines: a local peer that speaks JSON, one value a line, both ways.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"
#include "tools/gridhook/net/loop.h"

struct lines {
	struct loop_io io;
	struct loop *loop;
	struct buf in, out;
	size_t out_done;
	bool shut; /* nothing more is to be sent: closed once all is out */
	/* The line without its end. False: `lines` is gone, stop. */
	bool (*line)(struct lines *lines, struct span line);
	/* The peer has gone or misbehaved; lines_close() it. */
	void (*ended)(struct lines *lines, const char *why);
};

/* `fd` is kept, and closed by lines_close(). The callbacks are set before. */
enum err lines_open(struct lines *lines, struct loop *loop, int fd,
    size_t line_max, size_t out_max);
void lines_close(struct lines *lines);

/*
 * Sends a line, at once or as the peer takes it. A peer that lets more than
 * `out_max` pile up is cut off, which `ended` tells in a later round.
 */
void lines_send(struct lines *lines, struct span line);

/* Closes after what was sent has gone. */
void lines_end(struct lines *lines);

/* Bytes that the peer has not taken yet. */
size_t lines_waiting(const struct lines *lines);

/*
 * A listening socket at `path`, for this user only (its folder is made, mode
 * 0700). A socket that a dead server left behind is replaced; ERR_BUSY when
 * one is alive behind it. lines_unlisten() closes and removes it.
 */
enum err lines_listen(int *fd, const char *path);
void lines_unlisten(int fd, const char *path);

/* The next peer, or -1. One that is of another user is told no and closed. */
int lines_accept(int listener);

/* Blocking: for the client's side. -1 when no program listens there. */
int lines_connect(const char *path);
