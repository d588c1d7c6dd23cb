/*
 * jval: the values of a parsed document; jscan.c parses it.
 */
#include "common/jscan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/hex.h"
#include "common/num.h"
#include "common/utf8.h"

struct jval
jscan_root(const struct jscan *doc)
{
	return (struct jval){doc, doc->count == 0 ? NULL : doc->nodes};
}

enum jtype
jval_type(struct jval value)
{
	return value.node == NULL ? JABSENT : (enum jtype)value.node->type;
}

struct span
jval_raw(struct jval value)
{
	assert(value.node == NULL || value.node->start <= value.node->end);
	if (value.node == NULL)
		return SPAN("");
	return span_sub(value.doc->text, value.node->start,
	    value.node->end - value.node->start);
}

struct jwalk
jwalk_begin(struct jval within)
{
	struct jwalk walk = {within, 0};

	assert(within.node == NULL || within.doc != NULL);
	if (within.node != NULL)
		walk.at = (uint32_t)(within.node - within.doc->nodes) + 1;
	return walk;
}

bool
jwalk_next(struct jwalk *walk, struct jval *name, struct jval *value)
{
	const struct jscan *doc = walk->within.doc;
	enum jtype type = jval_type(walk->within);

	*name = *value = (struct jval){doc, NULL};
	if ((type != JARRAY && type != JOBJECT) ||
	    walk->at >= walk->within.node->next)
		return false;
	if (type == JOBJECT)
		name->node = &doc->nodes[walk->at++];
	value->node = &doc->nodes[walk->at];
	walk->at = value->node->next;
	return true;
}

struct jval
jval_member(struct jval object, const char *name)
{
	struct jval found = {object.doc, NULL};
	struct jval key, value;
	struct jwalk walk = jwalk_begin(object);

	assert(name != NULL);
	if (jval_type(object) != JOBJECT)
		return found;
	while (jwalk_next(&walk, &key, &value))
		if (jval_is(key, span_of(name)))
			found = value;
	return found;
}

size_t
jval_count(struct jval value)
{
	struct jwalk walk = jwalk_begin(value);
	struct jval name, each;
	size_t count = 0;

	while (jwalk_next(&walk, &name, &each))
		count++;
	return count;
}

static struct span
between_quotes(struct jval value)
{
	struct span raw = jval_raw(value);

	return span_sub(raw, 1, raw.len - 2);
}

static uint32_t
take_hex4(struct span *rest)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++)
		code = code << 4 | (unsigned)hex_digit(rest->ptr[i]);
	*rest = span_from(*rest, 4);
	return code;
}

/* Behind the backslash: one character, or a pair of surrogates. */
static uint32_t
take_escape(struct span *rest)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	char byte = rest->ptr[0];
	const char *letter = strchr(letters, byte);
	struct span second;
	uint32_t code, low;

	*rest = span_from(*rest, 1);
	if (letter != NULL)
		return (unsigned char)meant[letter - letters];
	if (byte != 'u')
		return (unsigned char)byte;
	code = take_hex4(rest);
	if (code < 0xD800 || code > 0xDBFF || !span_starts(*rest, SPAN("\\u")))
		return code;
	second = span_from(*rest, 2);
	low = take_hex4(&second);
	if (low < 0xDC00 || low > 0xDFFF)
		return code;
	*rest = second;
	return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

/* Takes the next character of a string that was checked before. */
static uint32_t
take_char(struct span *rest)
{
	uint32_t code;

	utf8_next(&code, rest);
	if (code != '\\')
		return code;
	code = take_escape(rest);
	return code >= 0xD800 && code <= 0xDFFF ? UTF8_REPLACEMENT : code;
}

bool
jval_is(struct jval value, struct span text)
{
	struct span rest;
	uint32_t want;

	if (jval_type(value) != JSTRING)
		return false;
	rest = between_quotes(value);
	if (!value.node->escaped)
		return span_eq(rest, text);
	while (rest.len > 0 && text.len > 0)
		if (!utf8_next(&want, &text) || take_char(&rest) != want)
			return false;
	return rest.len == 0 && text.len == 0;
}

/* A decoded character is never longer than what it was written as. */
struct span
jval_text(struct jval value, struct arena *arena)
{
	struct span rest;
	struct buf buf;
	char *room;

	assert(arena != NULL);
	if (jval_type(value) != JSTRING)
		return SPAN("");
	rest = between_quotes(value);
	if (!value.node->escaped)
		return rest;
	room = arena_alloc(arena, rest.len + 1);
	if (room == NULL)
		return span_make(NULL, 0);
	buf = (struct buf){.data = room, .cap = rest.len, .max = rest.len};
	while (rest.len > 0)
		utf8_add(&buf, take_char(&rest));
	return buf_span(&buf);
}

bool
jval_int(struct jval value, int64_t *out)
{
	struct span raw = jval_raw(value);
	size_t point = span_find(raw, '.');

	if (jval_type(value) != JNUMBER)
		return false;
	for (size_t i = point + 1; i < raw.len; i++)
		if (raw.ptr[i] != '0')
			return false;
	raw = span_sub(raw, 0, point);
	if (span_eq(raw, SPAN("-0")))
		raw = SPAN("0");
	return num_int(out, raw, INT64_MIN, INT64_MAX);
}

bool
jval_real(struct jval value, double *out)
{
	struct span raw = jval_raw(value);
	char text[64];
	double real;

	if (jval_type(value) != JNUMBER || !span_copy(text, sizeof(text), raw))
		return false;
	real = strtod(text, NULL);
	if (!isfinite(real))
		return false;
	*out = real;
	return true;
}

void
jval_compact(struct jval value, struct buf *buf)
{
	struct span raw = jval_raw(value);
	bool in_string = false;
	size_t from = 0;

	assert(buf != NULL);
	for (size_t i = 0; i < raw.len; i++)
		if (in_string && raw.ptr[i] == '\\')
			i++;
		else if (raw.ptr[i] == '"')
			in_string = !in_string;
		else if (!in_string && strchr(" \n\r\t", raw.ptr[i]) != NULL) {
			buf_add(buf, raw.ptr + from, i - from);
			from = i + 1;
		}
	buf_add(buf, raw.ptr + from, raw.len - from);
}
