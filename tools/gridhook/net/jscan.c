#include "tools/gridhook/net/jscan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hex.h"
#include "common/num.h"
#include "common/utf8.h"

#define NO_PARENT UINT32_MAX

/* The tokens that may come next. */
enum expect {
	EXPECT_VALUE,
	EXPECT_VALUE_OR_END, /* right after '[' */
	EXPECT_NAME,
	EXPECT_NAME_OR_END, /* right after '{' */
	EXPECT_COMMA_OR_END,
	EXPECT_NOTHING
};

struct scan {
	struct jscan *doc;
	const char *at, *end;
	uint32_t parent; /* an open container's `next` holds its own parent */
	unsigned depth, depth_max;
	enum expect expect;
	const char *why; /* what was wrong */
};

static enum err
bad(struct scan *scan, const char *why)
{
	scan->why = why;
	return ERR_BAD_INPUT;
}

static void
skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end &&
	    (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' ||
		*scan->at == '\t'))
		scan->at++;
}

static enum err
add_node(struct scan *scan, enum jtype type)
{
	struct jscan *doc = scan->doc;
	struct jnode *nodes;
	uint32_t cap;

	if (doc->count == doc->cap) {
		cap = doc->cap == 0 ? 64 : doc->cap * 2;
		nodes = reallocarray(doc->nodes, cap, sizeof(*nodes));
		if (nodes == NULL)
			return ERR_NO_MEMORY;
		doc->nodes = nodes;
		doc->cap = cap;
	}
	doc->nodes[doc->count] = (struct jnode){
	    .start = (uint32_t)(scan->at - doc->text.ptr),
	    .next = doc->count + 1,
	    .type = (uint8_t)type,
	};
	doc->count++;
	return ERR_OK;
}

static struct jnode *
last_node(struct scan *scan)
{
	return &scan->doc->nodes[scan->doc->count - 1];
}

/* Behind a finished value: in a container a comma or its end, else nothing. */
static void
value_ended(struct scan *scan)
{
	scan->expect =
	    scan->parent == NO_PARENT ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum err
scan_escape(struct scan *scan)
{
	scan->at++;
	if (scan->at == scan->end)
		return bad(scan, "the string has no end");
	if (*scan->at != 'u') {
		if (*scan->at == '\0' ||
		    strchr("\"\\/bfnrt", *scan->at) == NULL)
			return bad(scan, "unknown escape");
		scan->at++;
		return ERR_OK;
	}
	scan->at++;
	for (int i = 0; i < 4; i++, scan->at++)
		if (scan->at == scan->end || hex_digit(*scan->at) < 0)
			return bad(scan, "\\u wants four hex digits");
	return ERR_OK;
}

static enum err
scan_string(struct scan *scan)
{
	struct span rest;
	uint32_t code;
	enum err err;

	err = add_node(scan, JSTRING);
	if (err != ERR_OK)
		return err;
	scan->at++;
	while (scan->at < scan->end && *scan->at != '"') {
		if ((unsigned char)*scan->at < 0x20)
			return bad(scan, "control character in a string");
		if (*scan->at == '\\') {
			last_node(scan)->escaped = 1;
			err = scan_escape(scan);
			if (err != ERR_OK)
				return err;
			continue;
		}
		if ((unsigned char)*scan->at < 0x80) {
			scan->at++;
			continue;
		}
		rest = span_make(scan->at, (size_t)(scan->end - scan->at));
		if (!utf8_next(&code, &rest))
			return bad(scan, "not UTF-8");
		scan->at = rest.ptr;
	}
	if (scan->at == scan->end)
		return bad(scan, "the string has no end");
	scan->at++;
	last_node(scan)->end = (uint32_t)(scan->at - scan->doc->text.ptr);
	return ERR_OK;
}

static bool
skip_digits(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
		scan->at++;
	return scan->at > start;
}

static bool
skip_byte(struct scan *scan, char byte)
{
	if (scan->at == scan->end || *scan->at != byte)
		return false;
	scan->at++;
	return true;
}

static enum err
scan_number(struct scan *scan)
{
	enum err err;

	err = add_node(scan, JNUMBER);
	if (err != ERR_OK)
		return err;
	skip_byte(scan, '-');
	if (!skip_byte(scan, '0') && !skip_digits(scan))
		return bad(scan, "not a value");
	if (skip_byte(scan, '.') && !skip_digits(scan))
		return bad(scan, "digits are missing behind the point");
	if (skip_byte(scan, 'e') || skip_byte(scan, 'E')) {
		if (!skip_byte(scan, '-'))
			skip_byte(scan, '+');
		if (!skip_digits(scan))
			return bad(scan, "digits are missing in the exponent");
	}
	last_node(scan)->end = (uint32_t)(scan->at - scan->doc->text.ptr);
	value_ended(scan);
	return ERR_OK;
}

static enum err
scan_word(struct scan *scan, enum jtype type, struct span word)
{
	struct span rest = span_make(scan->at, (size_t)(scan->end - scan->at));
	enum err err;

	if (!span_starts(rest, word))
		return bad(scan, "not a value");
	err = add_node(scan, type);
	if (err != ERR_OK)
		return err;
	scan->at += word.len;
	last_node(scan)->end = (uint32_t)(scan->at - scan->doc->text.ptr);
	value_ended(scan);
	return ERR_OK;
}

static enum err
open_container(struct scan *scan, enum jtype type)
{
	enum err err;

	if (scan->depth == scan->depth_max) {
		scan->why = "nested too deeply";
		return ERR_TOO_LARGE;
	}
	err = add_node(scan, type);
	if (err != ERR_OK)
		return err;
	last_node(scan)->next = scan->parent;
	scan->parent = scan->doc->count - 1;
	scan->depth++;
	scan->at++;
	scan->expect =
	    type == JOBJECT ? EXPECT_NAME_OR_END : EXPECT_VALUE_OR_END;
	return ERR_OK;
}

static void
close_container(struct scan *scan)
{
	struct jnode *node = &scan->doc->nodes[scan->parent];

	scan->at++;
	scan->depth--;
	scan->parent = node->next;
	node->next = scan->doc->count;
	node->end = (uint32_t)(scan->at - scan->doc->text.ptr);
	value_ended(scan);
}

static enum err
scan_value(struct scan *scan)
{
	enum err err;

	switch (*scan->at) {
	case '{':
		return open_container(scan, JOBJECT);
	case '[':
		return open_container(scan, JARRAY);
	case '"':
		err = scan_string(scan);
		value_ended(scan);
		return err;
	case 't':
		return scan_word(scan, JTRUE, SPAN("true"));
	case 'f':
		return scan_word(scan, JFALSE, SPAN("false"));
	case 'n':
		return scan_word(scan, JNULL, SPAN("null"));
	default:
		return scan_number(scan);
	}
}

static enum err
scan_name(struct scan *scan)
{
	enum err err;

	if (*scan->at != '"')
		return bad(scan, "a member's name was expected");
	err = scan_string(scan);
	if (err != ERR_OK)
		return err;
	skip_blanks(scan);
	if (!skip_byte(scan, ':'))
		return bad(scan, "':' was expected");
	scan->expect = EXPECT_VALUE;
	return ERR_OK;
}

static enum err
scan_comma(struct scan *scan)
{
	bool object = scan->doc->nodes[scan->parent].type == JOBJECT;

	if (*scan->at == (object ? '}' : ']')) {
		close_container(scan);
		return ERR_OK;
	}
	if (!skip_byte(scan, ','))
		return bad(scan, "',' or the end was expected");
	scan->expect = object ? EXPECT_NAME : EXPECT_VALUE;
	return ERR_OK;
}

static enum err
scan_token(struct scan *scan)
{
	switch (scan->expect) {
	case EXPECT_VALUE_OR_END:
		if (*scan->at == ']') {
			close_container(scan);
			return ERR_OK;
		}
		return scan_value(scan);
	case EXPECT_VALUE:
		return scan_value(scan);
	case EXPECT_NAME_OR_END:
		if (*scan->at == '}') {
			close_container(scan);
			return ERR_OK;
		}
		return scan_name(scan);
	case EXPECT_NAME:
		return scan_name(scan);
	case EXPECT_COMMA_OR_END:
		return scan_comma(scan);
	default:
		return bad(scan, "something stands behind the value");
	}
}

enum err
jscan_parse(struct jscan *doc, struct span text, unsigned depth_max,
    struct fault *fault)
{
	struct scan scan = {
	    .doc = doc,
	    .parent = NO_PARENT,
	    .depth_max = depth_max,
	    .expect = EXPECT_VALUE,
	};
	enum err err = ERR_OK;
	char place[64];

	assert(doc != NULL && depth_max > 0);
	*doc = (struct jscan){.text = text};
	if (text.len == 0 || text.len > JSCAN_BYTES_MAX) {
		fault_set(
		    fault, "body", text.len == 0 ? "is empty" : "is too large");
		return text.len == 0 ? ERR_BAD_INPUT : ERR_TOO_LARGE;
	}
	scan.at = text.ptr;
	scan.end = text.ptr + text.len;
	for (;;) {
		skip_blanks(&scan);
		if (err != ERR_OK || scan.at == scan.end)
			break;
		err = scan_token(&scan);
	}
	if (err == ERR_OK && scan.expect != EXPECT_NOTHING)
		err = bad(&scan, "the text ends too early");
	if (err == ERR_OK)
		return ERR_OK;
	snprintf(
	    place, sizeof(place), "byte %zu", (size_t)(scan.at - text.ptr) + 1);
	fault_set(
	    fault, place, "%s", scan.why == NULL ? err_text(err) : scan.why);
	jscan_fini(doc);
	return err;
}

void
jscan_fini(struct jscan *doc)
{
	free(doc->nodes);
	*doc = (struct jscan){.count = 0};
}

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
	size_t i, from = 0;

	assert(buf != NULL);
	for (i = 0; i < raw.len; i++)
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
