#include "fcgi/http/members.h"

#include <assert.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/http/iovbuf.h"

void
members_number(struct iovbuf *body, int64_t value)
{
	char text[NUM_TEXT_MAX];

	iovbuf_copy(body, text, num_int_text(text, value));
}

void
members_int(struct iovbuf *body, const char *name, int64_t value)
{
	iovbuf_text(body, ",\"");
	iovbuf_add(body, span_of(name));
	iovbuf_text(body, "\":");
	members_number(body, value);
}

void
members_bool(struct iovbuf *body, const char *name, bool value)
{
	iovbuf_text(body, ",\"");
	iovbuf_add(body, span_of(name));
	iovbuf_add(body, value ? SPAN("\":true") : SPAN("\":false"));
}

void
members_quote(struct iovbuf *body, struct span text)
{
	struct buf quoted;

	assert(text.ptr != NULL || text.len == 0);
	if (jsonw_is_plain(text)) {
		iovbuf_text(body, "\"");
		iovbuf_add(body, text);
		iovbuf_text(body, "\"");
		return;
	}
	buf_init(&quoted, 1 << 20);
	jsonw_quote(&quoted, text);
	iovbuf_add(body, buf_span(&quoted));
	if (buf_end(&quoted) != ERR_OK && body->err == ERR_OK)
		body->err = buf_end(&quoted);
	buf_fini(&quoted);
}

void
members_text(struct iovbuf *body, const char *name, struct span text)
{
	iovbuf_text(body, ",\"");
	iovbuf_add(body, span_of(name));
	iovbuf_text(body, "\":");
	members_quote(body, text);
}

void
members_null_text(struct iovbuf *body, const char *name, struct span text)
{
	if (text.len > 0) {
		members_text(body, name, text);
		return;
	}
	iovbuf_text(body, ",\"");
	iovbuf_add(body, span_of(name));
	iovbuf_text(body, "\":null");
}

void
members_time(struct iovbuf *body, const char *name, int64_t ms)
{
	char text[DATE_TEXT_MAX];

	members_text(body, name, span_make(text, date_instant_text(text, ms)));
}

void
members_day(struct iovbuf *body, const char *name, int32_t day)
{
	char text[DATE_TEXT_MAX];

	members_text(body, name, span_make(text, date_day_text(text, day)));
}

void
members_names(struct iovbuf *body, const char *name, const struct span *names,
    unsigned count)
{
	if (count == 0)
		return;
	iovbuf_text(body, ",\"");
	iovbuf_add(body, span_of(name));
	iovbuf_text(body, "\":[");
	for (unsigned i = 0; i < count; i++) {
		if (i > 0)
			iovbuf_text(body, ",");
		members_quote(body, names[i]);
	}
	iovbuf_text(body, "]");
}
