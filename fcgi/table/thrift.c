#include "fcgi/table/thrift.h"

#include <assert.h>

#define SHORT_LIST 15

static void
add_varint(struct buf *buf, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_add_char(buf, (char)(value | 0x80));
	buf_add_char(buf, (char)value);
}

/* Small numbers of either sign become small. */
static void
add_zigzag(struct buf *buf, int64_t value)
{
	add_varint(buf, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void
add_bytes(struct buf *buf, struct span text)
{
	add_varint(buf, text.len);
	buf_add_span(buf, text);
}

void
thrift_item_begin(struct thrift *thrift)
{
	assert(thrift->depth < THRIFT_DEPTH_MAX);
	thrift->last[thrift->depth++] = 0;
}

void
thrift_begin(struct thrift *thrift, struct buf *buf)
{
	*thrift = (struct thrift){.buf = buf};
	thrift_item_begin(thrift);
}

static void
add_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth - 1];
	int step = field - *last;

	assert(thrift->depth > 0 && step > 0 && step <= 15);
	buf_add_char(thrift->buf, (char)(step << 4 | (int)type));
	*last = field;
}

void
thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	add_field(thrift, field, THRIFT_I32);
	add_zigzag(thrift->buf, value);
}

void
thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	add_field(thrift, field, THRIFT_I64);
	add_zigzag(thrift->buf, value);
}

void
thrift_text(struct thrift *thrift, int field, struct span text)
{
	add_field(thrift, field, THRIFT_TEXT);
	add_bytes(thrift->buf, text);
}

void
thrift_list(
    struct thrift *thrift, int field, enum thrift_type type, uint32_t count)
{
	add_field(thrift, field, THRIFT_LIST);
	if (count < SHORT_LIST) {
		buf_add_char(thrift->buf, (char)(count << 4 | type));
		return;
	}
	buf_add_char(thrift->buf, (char)(SHORT_LIST << 4 | (int)type));
	add_varint(thrift->buf, count);
}

void
thrift_item_i32(struct thrift *thrift, int32_t value)
{
	add_zigzag(thrift->buf, value);
}

void
thrift_item_text(struct thrift *thrift, struct span text)
{
	add_bytes(thrift->buf, text);
}

void
thrift_struct(struct thrift *thrift, int field)
{
	add_field(thrift, field, THRIFT_STRUCT);
	thrift_item_begin(thrift);
}

void
thrift_struct_end(struct thrift *thrift)
{
	assert(thrift->depth > 0);
	thrift->depth--;
	buf_add_char(thrift->buf, 0);
}
