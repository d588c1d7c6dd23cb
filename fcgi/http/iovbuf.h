/*
 * iovbuf: a body in the making, as the vector that a sink takes. What is large
 * is referred to where it lies, in a snapshot's map; what is small is copied
 * into chunks that are kept from one answer to the next.
 *
 * Sticky: after the first failure nothing is added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "common/err.h"
#include "common/span.h"

#define IOVBUF_CHUNK (64 * 1024)
#define IOVBUF_SPARE 64 /* bytes behind a chunk that nobody reads */
#define IOVBUF_SMALL 256 /* copied rather than referred to */

struct iovbuf {
	struct iovec *iov; /* [0] is left free for the head */
	unsigned count, room;
	char **chunks;
	unsigned chunk_count, chunk_at; /* the one being filled */
	char *at, *end; /* free room in it */
	char *last_end; /* where the last copied piece ends, or NULL */
	size_t total; /* bytes in all, the head not counted */
	enum err err;
};

void iovbuf_init(struct iovbuf *pieces);
void iovbuf_fini(struct iovbuf *pieces);

#define IOVBUF_KEEP 20 /* chunks: one more than a flush of the reply takes */
#define IOVBUF_KEEP_IOV 8192

/* Gives the memory back that is beyond those; what is in it is gone. */
void iovbuf_give_back(struct iovbuf *pieces);

/* Empties it, and keeps the memory. */
void iovbuf_clear(struct iovbuf *pieces);

/*
 * Room for `len` bytes, at most IOVBUF_CHUNK, copied by the caller; NULL after
 * a failure. iovbuf_used() says how many were. The IOVBUF_SPARE bytes behind
 * may be written too, and mean nothing.
 */
static inline char *iovbuf_room(struct iovbuf *pieces, size_t len);
static inline void iovbuf_used(struct iovbuf *pieces, char *start, size_t len);

/* Copies, whatever the length. */
static inline void iovbuf_copy(
    struct iovbuf *pieces, const void *data, size_t len);

/* Refers to bytes that outlive the answer; copies when they are few. */
void iovbuf_refer(struct iovbuf *pieces, const void *data, size_t len);

/* The same for the end of a body: however few they are. */
void iovbuf_refer_all(struct iovbuf *pieces, const void *data, size_t len);

static inline void
iovbuf_add(struct iovbuf *pieces, struct span text)
{
	iovbuf_copy(pieces, text.ptr, text.len);
}

#define iovbuf_text(pieces, literal) \
	iovbuf_copy((pieces), "" literal, sizeof(literal) - 1)

/* Takes the last byte back: the comma behind the last row. */
void iovbuf_drop_last(struct iovbuf *pieces);

/* --- inline: what fits into the chunk, behind what was copied last -------- */

char *iovbuf_room_slow(struct iovbuf *pieces);
void iovbuf_used_slow(struct iovbuf *pieces, char *start, size_t len);
void iovbuf_copy_slow(struct iovbuf *pieces, const void *data, size_t len);

static inline char *
iovbuf_room(struct iovbuf *pieces, size_t len)
{
	if (pieces->err == ERR_OK && len <= (size_t)(pieces->end - pieces->at))
		return pieces->at;
	return iovbuf_room_slow(pieces);
}

static inline void
iovbuf_used(struct iovbuf *pieces, char *start, size_t len)
{
	if (start != pieces->last_end || pieces->count < 2) {
		iovbuf_used_slow(pieces, start, len);
		return;
	}
	pieces->iov[pieces->count - 1].iov_len += len;
	pieces->total += len;
	pieces->at = pieces->last_end = start + len;
}

static inline void
iovbuf_copy(struct iovbuf *pieces, const void *data, size_t len)
{
	if (pieces->err == ERR_OK && len > 0 &&
	    len <= (size_t)(pieces->end - pieces->at)) {
		char *to = pieces->at;

		memcpy(to, data, len);
		iovbuf_used(pieces, to, len);
	} else
		iovbuf_copy_slow(pieces, data, len);
}
