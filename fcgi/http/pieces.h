/*
 * pieces: a body in the making, as the vector that a sink takes. What is large
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

#define PIECES_CHUNK (64 * 1024)
#define PIECES_SPARE 64 /* bytes behind a chunk that nobody reads */
#define PIECES_SMALL 256 /* copied rather than referred to */

struct pieces {
	struct iovec *iov; /* [0] is left free for the head */
	unsigned count, room;
	char **chunks;
	unsigned chunk_count, chunk_at; /* the one being filled */
	char *at, *end; /* free room in it */
	char *last_end; /* where the last copied piece ends, or NULL */
	size_t total; /* bytes in all, the head not counted */
	enum err err;
};

void pieces_init(struct pieces *pieces);
void pieces_fini(struct pieces *pieces);

#define PIECES_KEEP 20 /* chunks: one more than a flush of the reply takes */
#define PIECES_KEEP_IOV 8192

/* Gives the memory back that is beyond those; what is in it is gone. */
void pieces_give_back(struct pieces *pieces);

/* Empties it, and keeps the memory. */
void pieces_clear(struct pieces *pieces);

/*
 * Room for `len` bytes, at most PIECES_CHUNK, copied by the caller; NULL after
 * a failure. pieces_used() says how many were. The PIECES_SPARE bytes behind
 * may be written too, and mean nothing.
 */
static inline char *pieces_room(struct pieces *pieces, size_t len);
static inline void pieces_used(struct pieces *pieces, char *start, size_t len);

/* Copies, whatever the length. */
static inline void pieces_copy(
    struct pieces *pieces, const void *data, size_t len);

/* Refers to bytes that outlive the answer; copies when they are few. */
void pieces_refer(struct pieces *pieces, const void *data, size_t len);

static inline void
pieces_add(struct pieces *pieces, struct span text)
{
	pieces_copy(pieces, text.ptr, text.len);
}

#define pieces_text(pieces, literal) \
	pieces_copy((pieces), "" literal, sizeof(literal) - 1)

/* Takes the last byte back: the comma behind the last row. */
void pieces_drop_last(struct pieces *pieces);

/* --- inline: what fits into the chunk, behind what was copied last -------- */

char *pieces_room_slow(struct pieces *pieces);
void pieces_used_slow(struct pieces *pieces, char *start, size_t len);
void pieces_copy_slow(struct pieces *pieces, const void *data, size_t len);

static inline char *
pieces_room(struct pieces *pieces, size_t len)
{
	if (pieces->err == ERR_OK && len <= (size_t)(pieces->end - pieces->at))
		return pieces->at;
	return pieces_room_slow(pieces);
}

static inline void
pieces_used(struct pieces *pieces, char *start, size_t len)
{
	if (start != pieces->last_end || pieces->count < 2) {
		pieces_used_slow(pieces, start, len);
		return;
	}
	pieces->iov[pieces->count - 1].iov_len += len;
	pieces->total += len;
	pieces->at = pieces->last_end = start + len;
}

static inline void
pieces_copy(struct pieces *pieces, const void *data, size_t len)
{
	if (pieces->err == ERR_OK && len > 0 &&
	    len <= (size_t)(pieces->end - pieces->at)) {
		char *to = pieces->at;

		memcpy(to, data, len);
		pieces_used(pieces, to, len);
	} else
		pieces_copy_slow(pieces, data, len);
}
