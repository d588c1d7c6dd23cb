#include "tools/gridctl/csv/csv_write.h"

#include <assert.h>

void
csv_write_field(struct buf *buf, struct span text)
{
	assert(buf != NULL);
	if (span_find(text, ',') == text.len &&
	    span_find(text, '"') == text.len &&
	    span_find(text, '\n') == text.len &&
	    span_find(text, '\r') == text.len) {
		buf_add_span(buf, text);
		return;
	}
	buf_add_char(buf, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '"')
			buf_add_char(buf, '"');
		buf_add_char(buf, text.ptr[i]);
	}
	buf_add_char(buf, '"');
}
