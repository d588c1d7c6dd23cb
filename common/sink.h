/*
 * sink: where bytes go. A FastCGI stream, a socket or a buffer in a test look
 * the same to whoever writes an answer: one function pointer.
 */
#pragma once

#include <stdbool.h>
#include <sys/uio.h>

#include "common/buf.h"
#include "common/err.h"

struct sink {
	/*
	 * Takes all the pieces or fails. The vector may be altered; the bytes
	 * it points to are only read, and not kept.
	 */
	enum err (*put)(struct sink *sink, struct iovec *pieces, int count);
	void *to; /* the maker's own */
	bool last; /* what is put next ends it: nothing waits for more */
};

/* Into a buffer, which must outlive the sink. */
struct sink sink_to_buf(struct buf *buf);

/*
 * To a blocking file descriptor, every byte, through partial writes and EINTR.
 * `fd` is kept by value inside the sink and is not closed.
 */
struct sink sink_to_fd(int fd);

/* One piece. */
enum err sink_put(struct sink *sink, struct span bytes);
