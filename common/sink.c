#include "common/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

static enum err
put_in_buf(struct sink *sink, struct iovec *pieces, int count)
{
	struct buf *buf = sink->to;

	for (int i = 0; i < count; i++)
		buf_add(buf, pieces[i].iov_base, pieces[i].iov_len);
	return buf_end(buf);
}

struct sink
sink_to_buf(struct buf *buf)
{
	return (struct sink){.put = put_in_buf, .to = buf};
}

/* Skips `done` bytes, and empty pieces at the front. */
static void
advance(struct iovec **pieces, int *count, size_t done)
{
	while (*count > 0 && (*pieces)->iov_len <= done) {
		done -= (*pieces)->iov_len;
		++*pieces;
		--*count;
	}
	if (*count > 0) {
		(*pieces)->iov_base = (char *)(*pieces)->iov_base + done;
		(*pieces)->iov_len -= done;
	}
}

/* A socket with a send timeout returns EAGAIN when the timeout has passed. */
static enum err
err_of_write(int errnum)
{
	if (errnum == EAGAIN || errnum == EWOULDBLOCK)
		return ERR_TIMED_OUT;
	return err_from_errno(errnum);
}

static enum err
put_to_fd(struct sink *sink, struct iovec *pieces, int count)
{
	int fd = (int)(intptr_t)sink->to;

	advance(&pieces, &count, 0);
	while (count > 0) {
		ssize_t done =
		    writev(fd, pieces, count < IOV_MAX ? count : IOV_MAX);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_of_write(errno);
		if (done == 0) /* impossible, but must not loop forever */
			return ERR_SYSTEM;
		advance(&pieces, &count, (size_t)done);
	}
	return ERR_OK;
}

struct sink
sink_to_fd(int fd)
{
	return (struct sink){.put = put_to_fd, .to = (void *)(intptr_t)fd};
}

enum err
sink_put(struct sink *sink, struct span bytes)
{
	/* iovec has no const; put() only reads. */
	struct iovec piece = {(void *)(uintptr_t)bytes.ptr, bytes.len};

	return sink->put(sink, &piece, 1);
}
