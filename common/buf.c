#include "common/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BUF_FIRST 256 /* bytes of the first allocation */

void
buf_init(struct buf *buf, size_t max)
{
	assert(max > 0);
	*buf = (struct buf){.max = max};
}

void
buf_fini(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){.max = buf->max};
}

void
buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->err = ERR_OK;
}

/* The next capacity: double, at least `need`, at most the ceiling. */
static size_t
next_cap(const struct buf *buf, size_t need)
{
	size_t cap = buf->cap < BUF_FIRST ? BUF_FIRST : buf->cap;

	if (cap < need || cap == buf->cap)
		cap = cap > buf->max / 2 ? buf->max : cap * 2;
	if (cap < need)
		cap = need;
	return cap < buf->max ? cap : buf->max;
}

char *
buf_room(struct buf *buf, size_t len)
{
	size_t cap;
	char *data;

	if (buf->err != ERR_OK)
		return NULL;
	if (len <= buf->cap - buf->len && buf->data != NULL)
		return buf->data + buf->len;
	if (len > buf->max - buf->len) {
		buf->err = ERR_TOO_LARGE;
		return NULL;
	}
	cap = next_cap(buf, buf->len + len);
	data = realloc(buf->data, cap);
	if (data == NULL) {
		buf->err = ERR_NO_MEMORY;
		return NULL;
	}
	buf->data = data;
	buf->cap = cap;
	return buf->data + buf->len;
}

void
buf_add_slow(struct buf *buf, const void *data, size_t len)
{
	char *to = buf_room(buf, len);

	if (to == NULL || len == 0)
		return;
	memcpy(to, data, len);
	buf_grown(buf, len);
}

void
buf_addf(struct buf *buf, const char *format, ...)
{
	char small[256];
	char *large = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(small)) {
		buf_add(buf, small, (size_t)len);
		return;
	}
	va_start(args, format);
	len = vasprintf(&large, format, args);
	va_end(args);
	if (len < 0) {
		buf_fail(buf, ERR_NO_MEMORY);
		return;
	}
	buf_add(buf, large, (size_t)len);
	free(large);
}

static inline void
add_little_endian(struct buf *buf, uint64_t value, size_t width)
{
	unsigned char bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	buf_add(buf, bytes, width);
}

void
buf_add_u16(struct buf *buf, uint16_t value)
{
	add_little_endian(buf, value, sizeof(value));
}

void
buf_add_u32(struct buf *buf, uint32_t value)
{
	add_little_endian(buf, value, sizeof(value));
}

void
buf_add_u64(struct buf *buf, uint64_t value)
{
	add_little_endian(buf, value, sizeof(value));
}

void
buf_fail(struct buf *buf, enum err err)
{
	if (buf->err == ERR_OK)
		buf->err = err;
}

enum err
buf_end(const struct buf *buf)
{
	return buf->err;
}

char *
buf_take(struct buf *buf, size_t *len)
{
	char *data;

	if (buf->err != ERR_OK)
		return NULL;
	/* The NUL does not count against the ceiling. */
	data = realloc(buf->data, buf->len + 1);
	if (data == NULL) {
		buf->err = ERR_NO_MEMORY;
		return NULL;
	}
	data[buf->len] = '\0';
	if (len != NULL)
		*len = buf->len;
	buf_init(buf, buf->max);
	return data;
}
