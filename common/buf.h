/*
 * buf: bytes that grow, up to a ceiling.
 *
 * Writing is sticky: after the first failure nothing more is added, and
 * buf_end() returns that failure. A writer can add a hundred pieces and check
 * once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* ERR_TOO_LARGE beyond */
	enum err err;
};

/* Allocates nothing yet. `max` is the ceiling in bytes, at least 1. */
void buf_init(struct buf *buf, size_t max);

/*
 * Frees the memory; the buffer may be used again, as after buf_init(). One of
 * zeros, which was never begun, stays so.
 */
void buf_fini(struct buf *buf);

/* Empties the buffer and clears a failure, but keeps the memory. */
void buf_clear(struct buf *buf);

/*
 * Room for `len` more bytes: a pointer to write at, valid until the next
 * call, or NULL after a failure. buf_grown() says how many were used.
 */
char *buf_room(struct buf *buf, size_t len);

static inline void
buf_grown(struct buf *buf, size_t len)
{
	buf->len += len;
}

/* Slow path of the inline writers below. */
void buf_add_slow(struct buf *buf, const void *data, size_t len);

static inline void
buf_add(struct buf *buf, const void *data, size_t len)
{
	if (buf->err == ERR_OK && len <= buf->cap - buf->len) {
		if (len > 0)
			memcpy(buf->data + buf->len, data, len);
		buf->len += len;
	} else
		buf_add_slow(buf, data, len);
}

static inline void
buf_add_span(struct buf *buf, struct span text)
{
	buf_add(buf, text.ptr, text.len);
}

static inline void
buf_add_char(struct buf *buf, char byte)
{
	buf_add(buf, &byte, 1);
}

/* A string literal, without its NUL: buf_add_text(buf, "\"data\":"). */
#define buf_add_text(buf, literal) \
	buf_add((buf), "" literal, sizeof(literal) - 1)

/* printf-style; too slow for hot paths. */
void buf_addf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fixed-width integers, least significant byte first. */
void buf_add_u16(struct buf *buf, uint16_t value);
void buf_add_u32(struct buf *buf, uint32_t value);
void buf_add_u64(struct buf *buf, uint64_t value);

/* Makes the buffer fail with `err`. ERR_OK does nothing. */
void buf_fail(struct buf *buf, enum err err);

/* The first failure, or ERR_OK; call it before using the bytes. */
enum err buf_end(const struct buf *buf);

/* The bytes written so far, borrowed until the next call that writes. */
static inline struct span
buf_span(const struct buf *buf)
{
	return (struct span){buf->data, buf->len};
}

/*
 * The bytes with a NUL behind them, now the caller's to free(); the buffer is
 * empty again. NULL after a failure, which stays in the buffer.
 */
char *buf_take(struct buf *buf, size_t *len);
