#include "common/jsonw.h"

#include <assert.h>
#include <string.h>

#include "common/hex.h"
#include "common/num.h"
#include "common/utf8.h"
#include "common/word8.h"

void
jsonw_init(struct jsonw *json, struct buf *buf)
{
	assert(buf != NULL);
	*json = (struct jsonw){.buf = buf};
}

/* Writes a comma if due, and asserts that a value may stand here. */
static inline void
before_value(struct jsonw *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	assert(json->depth == 0 ? !json->need_comma
				: json->open[json->depth - 1] == '[');
	if (json->need_comma)
		buf_add_char(json->buf, ',');
}

static void
begin(struct jsonw *json, char bracket)
{
	before_value(json);
	assert(json->depth < JSONW_DEPTH_MAX);
	json->open[json->depth++] = bracket;
	json->need_comma = false;
	buf_add_char(json->buf, bracket);
}

static void
end(struct jsonw *json, char bracket)
{
	assert(json->depth > 0 && !json->after_key);
	assert(json->open[json->depth - 1] == bracket);
	json->depth--;
	json->need_comma = true;
	buf_add_char(json->buf, bracket == '{' ? '}' : ']');
}

void
jsonw_object_begin(struct jsonw *json)
{
	begin(json, '{');
}

void
jsonw_object_end(struct jsonw *json)
{
	end(json, '{');
}

void
jsonw_array_begin(struct jsonw *json)
{
	begin(json, '[');
}

void
jsonw_array_end(struct jsonw *json)
{
	end(json, '[');
}

/* Asserts that a key may stand here. */
static inline void
before_key(struct jsonw *json)
{
	assert(json->depth > 0 && !json->after_key);
	assert(json->open[json->depth - 1] == '{');
	json->after_key = true;
	json->need_comma = true;
}

/* ,"name": */
void
jsonw_key(struct jsonw *json, const char *name)
{
	size_t len = strlen(name);
	bool comma = json->need_comma;
	char *to = buf_room(json->buf, len + 4);

	before_key(json);
	if (to == NULL)
		return;
	*to = ',';
	to += comma;
	*to++ = '"';
	to = mempcpy(to, name, len);
	*to++ = '"';
	*to = ':';
	buf_grown(json->buf, len + 3 + comma);
}

void
jsonw_key_span(struct jsonw *json, struct span name)
{
	if (json->need_comma)
		buf_add_char(json->buf, ',');
	before_key(json);
	jsonw_quote(json->buf, name);
	buf_add_char(json->buf, ':');
}

void
jsonw_string(struct jsonw *json, struct span text)
{
	before_value(json);
	jsonw_quote(json->buf, text);
	json->need_comma = true;
}

void
jsonw_text(struct jsonw *json, const char *text)
{
	if (text == NULL)
		jsonw_null(json);
	else
		jsonw_string(json, span_of(text));
}

void
jsonw_int(struct jsonw *json, int64_t value)
{
	before_value(json);
	num_add_int(json->buf, value);
	json->need_comma = true;
}

void
jsonw_micro(struct jsonw *json, int64_t micro)
{
	if (micro == NUM_NULL) {
		jsonw_null(json);
		return;
	}
	before_value(json);
	num_add_decimal(json->buf, micro);
	json->need_comma = true;
}

void
jsonw_bool(struct jsonw *json, bool value)
{
	jsonw_raw(json, value ? SPAN("true") : SPAN("false"));
}

void
jsonw_null(struct jsonw *json)
{
	jsonw_raw(json, SPAN("null"));
}

void
jsonw_raw(struct jsonw *json, struct span value)
{
	before_value(json);
	buf_add_span(json->buf, value);
	json->need_comma = true;
}

enum err
jsonw_end(struct jsonw *json)
{
	assert(json->depth == 0 && !json->after_key);
	return buf_end(json->buf);
}

void
jsonw_quote(struct buf *buf, struct span text)
{
	buf_add_char(buf, '"');
	jsonw_escape(buf, text);
	buf_add_char(buf, '"');
}

/* Eight bytes at once: true when all are ASCII that needs no escape. */
static inline bool
is_plain_word(const char *at)
{
	uint64_t word = word8_load(at);

	return !word8_marked(word8_unprintable(word) | word8_equal(word, '"') |
	    word8_equal(word, '\\'));
}

/* How many bytes from `at` on may be copied as they are. */
static size_t
plain_run(const char *at, size_t len)
{
	size_t run = 0;

	while (run < len) {
		unsigned char byte = (unsigned char)at[run];
		size_t step = 1;

		if (len - run >= 8 && is_plain_word(at + run)) {
			run += 8;
			continue;
		}
		if (byte < 0x20 || byte == '"' || byte == '\\')
			break;
		if (byte >= 0x80)
			step = utf8_step(at + run, len - run);
		if (step == 0)
			break;
		run += step;
	}
	return run;
}

/* Writes a byte that needs an escape: special in JSON, or not UTF-8. */
static void
escape_byte(struct buf *buf, unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[0x20] = {['\b'] = 'b',
	    ['\t'] = 't',
	    ['\n'] = 'n',
	    ['\f'] = 'f',
	    ['\r'] = 'r'};
	char text[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};

	if (byte >= 0x80)
		buf_add_text(buf, "\xef\xbf\xbd");
	else if (byte < 0x20 && letters[byte] == '\0')
		buf_add(buf, text, sizeof(text));
	else {
		text[1] = byte < 0x20 ? letters[byte] : (char)byte;
		buf_add(buf, text, 2);
	}
}

void
jsonw_escape(struct buf *buf, struct span text)
{
	size_t at = 0;

	while (at < text.len) {
		size_t run = plain_run(text.ptr + at, text.len - at);

		buf_add(buf, text.ptr + at, run);
		at += run;
		if (at < text.len)
			escape_byte(buf, (unsigned char)text.ptr[at++]);
	}
}

char
jsonw_escaped_byte(struct span text, size_t *at)
{
	static const char bytes[256] = {['b'] = '\b',
	    ['t'] = '\t',
	    ['n'] = '\n',
	    ['f'] = '\f',
	    ['r'] = '\r'};
	char letter, byte;

	if (*at + 1 >= text.len)
		return text.ptr[(*at)++];
	letter = text.ptr[*at + 1];
	*at += 2;
	if (letter == 'u' && text.len - *at >= 4) {
		*at += 4;
		/* jsonw_quote() escapes nothing above one byte. */
		return (char)(hex_digit(text.ptr[*at - 2]) << 4 |
		    hex_digit(text.ptr[*at - 1]));
	}
	byte = bytes[(unsigned char)letter];
	return byte == '\0' ? letter : byte;
}

void
jsonw_unquote(struct buf *buf, struct span quoted)
{
	struct span text = jsonw_inside(quoted);
	size_t at = 0;

	while (at < text.len) {
		size_t run = span_find(span_from(text, at), '\\');

		buf_add(buf, text.ptr + at, run);
		at += run;
		if (at < text.len)
			buf_add_char(buf, jsonw_escaped_byte(text, &at));
	}
}

bool
jsonw_is_plain(struct span text)
{
	return plain_run(text.ptr, text.len) == text.len;
}
