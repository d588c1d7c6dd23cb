/*
 * sink: an output for bytes. A FastCGI stream, a socket and a test's buffer
 * look the same to code that writes an answer: one function pointer.
 */
#pragma once

#include <stdbool.h>
#include <sys/uio.h>

#include "common/buf.h"
#include "common/err.h"

struct sink {
	/*
	 * Writes all the pieces or fails. The vector may be altered; the bytes
	 * it points to are only read, and not kept.
	 */
	enum err (*put)(struct sink *sink, struct iovec *pieces, int count);
	void *to; /* owned by the sink's maker */
	bool last; /* the next put is the last: flush, wait for no more */
};

/* Into a buffer, which must outlive the sink. */
struct sink sink_to_buf(struct buf *buf);

/*
 * To a blocking file descriptor, every byte, through partial writes and EINTR.
 * `fd` is kept by value inside the sink and is not closed.
 */
struct sink sink_to_fd(int fd);

/* Puts a single piece. */
enum err sink_put(struct sink *sink, struct span bytes);
