#include "fcgi/rows/sort_bytes.h"

#include "common/num.h"

static void
add(struct buf *out, unsigned byte, bool descending)
{
	buf_add_char(out, (char)(descending ? byte ^ 0xffu : byte));
}

void
sort_bytes_null(struct buf *out)
{
	buf_add_char(out, 1);
}

void
sort_bytes_number(struct buf *out, int64_t number, bool descending)
{
	uint64_t above = (uint64_t)number ^ UINT64_C(1) << 63;

	if (number == NUM_NULL) {
		sort_bytes_null(out);
		return;
	}
	buf_add_char(out, 0);
	for (unsigned shift = 64; shift > 0; shift -= 8)
		add(out, (unsigned)(above >> (shift - 8)) & 0xffu, descending);
}

void
sort_bytes_text(struct buf *out, struct span text, bool descending)
{
	buf_add_char(out, 0);
	for (size_t i = 0; i < text.len; i++) {
		add(out, (unsigned char)text.ptr[i], descending);
		if (text.ptr[i] == '\0')
			add(out, 0xff, descending);
	}
	add(out, 0, descending);
	add(out, 0, descending);
}
