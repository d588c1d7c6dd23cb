#include "common/jscan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hex.h"
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
