/*
 * jscan: JSON text as it was sent.
 *
 * It checks the grammar of RFC 8259 to the letter and marks where each value
 * stands, but converts nothing: an id goes back byte for byte, an argument is
 * passed on as it came, a number keeps all its digits. That is what a relay
 * needs and what common/jsonr, which turns text into values by stricter rules,
 * cannot give. Nothing recurses: depth costs memory, not stack.
 *
 * Of members given twice the last one counts, as in every browser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define JSCAN_BYTES_MAX (64u << 20)

enum jtype { JABSENT, JNULL, JTRUE, JFALSE, JNUMBER, JSTRING, JARRAY, JOBJECT };

struct jnode {
	uint32_t start, end; /* in the text; quotes and brackets included */
	uint32_t next; /* the node behind this one and all inside it */
	uint8_t type;
	uint8_t escaped; /* JSTRING with a backslash in it */
};

struct jscan {
	struct span text;
	struct jnode *nodes; /* a member is its name's node, then its value's */
	uint32_t count, cap;
};

/* A value inside a document; .node is NULL when there is none. */
struct jval {
	const struct jscan *doc;
	const struct jnode *node;
};

/*
 *   ERR_BAD_INPUT  not JSON, or bad UTF-8; `fault` says at which byte
 *   ERR_TOO_LARGE  nested deeper than `depth_max`, or over JSCAN_BYTES_MAX
 *   ERR_NO_MEMORY
 *
 * The text is borrowed and must outlive the document. A failed one needs no
 * jscan_fini(), but may have it.
 */
enum err jscan_parse(struct jscan *doc, struct span text, unsigned depth_max,
    struct fault *fault);
void jscan_fini(struct jscan *doc);

struct jval jscan_root(const struct jscan *doc);

enum jtype jval_type(struct jval value);

static inline bool
jval_is_absent(struct jval value)
{
	return value.node == NULL;
}

/* The bytes that were sent; empty when absent. */
struct span jval_raw(struct jval value);

/* The member's value; absent when `object` is none or lacks it. */
struct jval jval_member(struct jval object, const char *name);

/* Members or elements. */
size_t jval_count(struct jval value);

/*
 * Walks an object or an array; `name` is absent in an array.
 *
 *	struct jwalk walk = jwalk_begin(value);
 *	while (jwalk_next(&walk, &name, &value))
 */
struct jwalk {
	struct jval within;
	uint32_t at;
};
struct jwalk jwalk_begin(struct jval within);
bool jwalk_next(struct jwalk *walk, struct jval *name, struct jval *value);

/* True when it is a string of exactly these characters. */
bool jval_is(struct jval value, struct span text);

/*
 * A string's text: a part of the document where nothing was escaped, else
 * decoded into the arena. A lone surrogate becomes U+FFFD. The empty span when
 * it is no string; .ptr is NULL when the arena is full, too.
 */
struct span jval_text(struct jval value, struct arena *arena);

/* Whole numbers, also written "5.0"; false for all else. */
bool jval_int(struct jval value, int64_t *out);

/* Any number; false for all else, and for what no double can hold. */
bool jval_real(struct jval value, double *out);

/* Adds the value's text without the blanks between tokens, on one line. */
void jval_compact(struct jval value, struct buf *buf);
