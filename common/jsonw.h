/*
 * jsonw: JSON out, as a stream into a buffer.
 *
 * The writer adds commas and quotes; the caller decides the order. Misuse (a
 * key in an array, an object left open) is a programming error and asserts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

#define JSONW_DEPTH_MAX 64

struct jsonw {
	struct buf *buf;
	unsigned depth;
	bool after_key;
	bool need_comma;
	char open[JSONW_DEPTH_MAX]; /* '{' or '[' for each level */
};

void jsonw_init(struct jsonw *json, struct buf *buf);

void jsonw_object_begin(struct jsonw *json);
void jsonw_object_end(struct jsonw *json);
void jsonw_array_begin(struct jsonw *json);
void jsonw_array_end(struct jsonw *json);

/*
 * A member's name; its value comes next. `name` is a literal of the program,
 * which needs no escaping; a name from elsewhere is passed as a span.
 */
void jsonw_key(struct jsonw *json, const char *name);
void jsonw_key_span(struct jsonw *json, struct span name);

/* UTF-8; invalid bytes are written as U+FFFD, so the text stays JSON. */
void jsonw_string(struct jsonw *json, struct span text);
void jsonw_text(struct jsonw *json, const char *text); /* NULL gives null */
void jsonw_int(struct jsonw *json, int64_t value);
void jsonw_micro(struct jsonw *json, int64_t micro); /* see num.h */
void jsonw_bool(struct jsonw *json, bool value);
void jsonw_null(struct jsonw *json);

/* Ready JSON, put in as one value. */
void jsonw_raw(struct jsonw *json, struct span value);

/* Asserts that every array and object is closed; returns the buffer's state. */
enum err jsonw_end(struct jsonw *json);

/*
 * The same as pieces, for code that writes rows by hand: a quoted string, and
 * only the characters between the quotes.
 */
void jsonw_quote(struct buf *buf, struct span text);
void jsonw_escape(struct buf *buf, struct span text);

/* True for text that needs no escape between quotes. */
bool jsonw_is_plain(struct span text);

/*
 * The reverse, for text that jsonw_quote() wrote and a file stored. Other input
 * gives unspecified text; no byte beyond the span is read.
 *
 * The text between the quotes, still escaped.
 */
static inline struct span
jsonw_inside(struct span quoted)
{
	return span_sub(quoted, 1, quoted.len < 2 ? 0 : quoted.len - 2);
}

char jsonw_escaped_byte(struct span text, size_t *at);

/* Decodes one byte of such text; *at, below text.len, moves past it. */
static inline char
jsonw_plain_byte(struct span text, size_t *at)
{
	if (text.ptr[*at] == '\\')
		return jsonw_escaped_byte(text, at);
	return text.ptr[(*at)++];
}

/* Appends the decoded form of a whole quoted string. */
void jsonw_unquote(struct buf *buf, struct span quoted);
