#include "fcgi/rows/negotiate.h"

#include <assert.h>

#include "common/buf.h"
#include "fcgi/call.h"

#define VALUE_MAX 2048 /* bytes of a header's value */
#define MANY_CELLS 32 /* as a row with its months to one without */

enum format
negotiate_format(const struct call *call)
{
	assert(call->params.format != FORMATS); /* steps.c has refused it */
	if (call->params.format != FORMAT_OMITTED)
		return call->params.format;
	return format_accepted(call->request->accept);
}

enum err
negotiate_check(struct call *call, enum format format)
{
	assert(format < FORMATS);
	if (call->params.months == MONTHS_JSON || format_infos[format].flat)
		return ERR_OK;
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
	    "mois is for formats of cells; %.*s has the maps as they are",
	    SPAN_ARG(format_infos[format].name));
}

uint32_t
negotiate_rows(const struct call *call, uint32_t rows)
{
	return call->params.months == MONTHS_JSON ? rows : rows / MANY_CELLS;
}

static bool
is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
}

/* %XX for all that a header, a list or a path could take for its own. */
static void
add_escaped(struct buf *buf, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (is_unreserved(text.ptr[i]))
			buf_add_char(buf, text.ptr[i]);
		else
			buf_addf(buf, "%%%02X", (unsigned char)text.ptr[i]);
}

/* For programs that know no other: "_" for what could be a path or a quote. */
static void
add_plain(struct buf *buf, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_add_char(
		    buf, is_unreserved(text.ptr[i]) ? text.ptr[i] : '_');
}

static void
add_name(struct call *call, struct buf *value, enum format format,
    const char *what, struct span of)
{
	const char *dash = of.len > 0 ? "-" : "";
	const char *suffix = format_infos[format].suffix;

	buf_addf(value, "attachment; filename=\"%s%s", what, dash);
	add_plain(value, of);
	buf_addf(value, ".%s\"; filename*=UTF-8''%s%s", suffix, what, dash);
	add_escaped(value, of);
	buf_addf(value, ".%s", suffix);
	if (buf_end(value) == ERR_OK)
		reply_header_text(
		    call->reply, "Content-Disposition", buf_span(value));
}

/* As many names as there is room for. */
static void
add_ignored(struct call *call, struct buf *value)
{
	const struct params *params = &call->params;

	for (unsigned i = 0; i < params->ignored_count; i++) {
		size_t before = value->len;

		if (i > 0)
			buf_add_text(value, ", ");
		if (value->len + 3 * params->ignored[i].len > VALUE_MAX) {
			value->len = before;
			break;
		}
		add_escaped(value, params->ignored[i]);
	}
	if (value->len > 0 && buf_end(value) == ERR_OK)
		reply_header_text(call->reply, "X-Ignores", buf_span(value));
}

void
negotiate_headers(
    struct call *call, enum format format, const char *what, struct span of)
{
	struct buf value;

	assert(format < FORMATS);
	reply_header_text(
	    call->reply, "Content-Type", span_of(format_infos[format].content));
	call->reply->by_accept = true;
	call->reply->dense = format_infos[format].dense;
	if (format == FORMAT_JSON)
		return;
	buf_init(&value, VALUE_MAX + 64);
	add_name(call, &value, format, what, of);
	buf_clear(&value);
	add_ignored(call, &value);
	buf_fini(&value);
}
