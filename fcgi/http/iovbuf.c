#include "fcgi/http/iovbuf.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

void
iovbuf_init(struct iovbuf *pieces)
{
	memset(pieces, 0, sizeof(*pieces));
	pieces->count = 1;
}

void
iovbuf_fini(struct iovbuf *pieces)
{
	for (unsigned i = 0; i < pieces->chunk_count; i++)
		free(pieces->chunks[i]);
	free(pieces->chunks);
	free(pieces->iov);
	iovbuf_init(pieces);
}

void
iovbuf_clear(struct iovbuf *pieces)
{
	pieces->count = 1;
	pieces->chunk_at = 0;
	pieces->at = pieces->chunk_count > 0 ? pieces->chunks[0] : NULL;
	pieces->end = pieces->at == NULL ? NULL : pieces->at + IOVBUF_CHUNK;
	pieces->last_end = NULL;
	pieces->total = 0;
	pieces->err = ERR_OK;
}

void
iovbuf_give_back(struct iovbuf *pieces)
{
	if (pieces->room > IOVBUF_KEEP_IOV) {
		iovbuf_fini(pieces);
		return;
	}
	while (pieces->chunk_count > IOVBUF_KEEP)
		free(pieces->chunks[--pieces->chunk_count]);
	iovbuf_clear(pieces);
}

static bool
fail(struct iovbuf *pieces, enum err err)
{
	if (pieces->err == ERR_OK)
		pieces->err = err;
	return false;
}

/* The next chunk, made when there is none yet. */
static bool
next_chunk(struct iovbuf *pieces)
{
	unsigned next = pieces->at == NULL ? 0 : pieces->chunk_at + 1;

	if (next == pieces->chunk_count) {
		char **chunks =
		    reallocarray(pieces->chunks, next + 1, sizeof(*chunks));

		if (chunks == NULL)
			return fail(pieces, ERR_NO_MEMORY);
		pieces->chunks = chunks;
		chunks[next] = malloc(IOVBUF_CHUNK + IOVBUF_SPARE);
		if (chunks[next] == NULL)
			return fail(pieces, ERR_NO_MEMORY);
		pieces->chunk_count++;
	}
	pieces->chunk_at = next;
	pieces->at = pieces->chunks[next];
	pieces->end = pieces->at + IOVBUF_CHUNK;
	return true;
}

static bool
add_vector(struct iovbuf *pieces, const void *data, size_t len)
{
	if (pieces->count >= pieces->room) {
		unsigned room = pieces->room == 0 ? 256 : pieces->room * 2;
		struct iovec *iov =
		    reallocarray(pieces->iov, room, sizeof(*iov));

		if (iov == NULL)
			return fail(pieces, ERR_NO_MEMORY);
		pieces->iov = iov;
		pieces->room = room;
	}
	pieces->iov[pieces->count++] =
	    (struct iovec){(void *)(uintptr_t)data, len};
	pieces->total += len;
	return true;
}

char *
iovbuf_room_slow(struct iovbuf *pieces)
{
	return pieces->err == ERR_OK && next_chunk(pieces) ? pieces->at : NULL;
}

void
iovbuf_used_slow(struct iovbuf *pieces, char *start, size_t len)
{
	assert(start == pieces->at || len == 0);
	if (len == 0)
		return;
	pieces->at = start + len;
	if (add_vector(pieces, start, len))
		pieces->last_end = pieces->at;
}

void
iovbuf_copy_slow(struct iovbuf *pieces, const void *data, size_t len)
{
	const char *from = data;

	assert(data != NULL || len == 0);
	while (len > 0) {
		size_t part = len > IOVBUF_CHUNK ? IOVBUF_CHUNK : len;
		char *to = iovbuf_room(pieces, part);

		if (to == NULL)
			return;
		memcpy(to, from, part);
		iovbuf_used(pieces, to, part);
		from += part;
		len -= part;
	}
}

void
iovbuf_refer(struct iovbuf *pieces, const void *data, size_t len)
{
	assert(data != NULL || len == 0);
	if (len < IOVBUF_SMALL)
		iovbuf_copy(pieces, data, len);
	else
		iovbuf_refer_all(pieces, data, len);
}

void
iovbuf_refer_all(struct iovbuf *pieces, const void *data, size_t len)
{
	assert(data != NULL || len == 0);
	if (pieces->err == ERR_OK && len > 0 && add_vector(pieces, data, len))
		pieces->last_end = NULL;
}

void
iovbuf_drop_last(struct iovbuf *pieces)
{
	/* Something was added, and has not been put yet. */
	assert(pieces->err != ERR_OK || pieces->count < 2 ||
	    pieces->iov[pieces->count - 1].iov_len > 0);
	if (pieces->err != ERR_OK || pieces->count < 2)
		return;
	pieces->iov[pieces->count - 1].iov_len--;
	pieces->total--;
	if (pieces->last_end != NULL) {
		pieces->last_end--;
		pieces->at--;
	}
}
