/*
 * span: borrowed text. A span owns nothing and ends where its length says; no
 * NUL is promised behind it. The function that returns a span says how long it
 * stays valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *ptr; /* may be NULL when len is 0 */
	size_t len;
};

/* A span over a string literal: SPAN("gamme"). */
#define SPAN(literal) ((struct span){"" literal, sizeof(literal) - 1})

/* For printf's "%.*s": printf("%.*s", SPAN_ARG(name)). */
#define SPAN_ARG(span) (int)(span).len, (span).ptr

#define SPAN_LINE 64 /* bytes of a cache line */

static inline struct span
span_of(const char *text) /* NULL gives the empty span */
{
	return (struct span){text, text == NULL ? 0 : strlen(text)};
}

static inline struct span
span_make(const void *ptr, size_t len)
{
	return (struct span){ptr, len};
}

/* The first byte tells most names apart, without a call. */
static inline bool
span_eq(struct span a, struct span b)
{
	return a.len == b.len &&
	    (a.len == 0 ||
		(a.ptr[0] == b.ptr[0] && memcmp(a.ptr, b.ptr, a.len) == 0));
}

/*
 * Prefetches the cache line at the address, which may be invalid. The empty
 * statement has an effect as far as gcc knows: gcc leaves out calls of functions
 * that only prefetch, as if they did nothing.
 */
static inline void
span_expect_line(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("" : : "r"(at));
}

/*
 * Prefetches the cache lines that hold these bytes, without waiting for them. A
 * hint: an invalid address does no harm.
 */
static inline void
span_expect(struct span bytes)
{
	const char *line = bytes.ptr - (uintptr_t)bytes.ptr % SPAN_LINE;

	for (; line < bytes.ptr + bytes.len; line += SPAN_LINE)
		span_expect_line(line);
}

/* Bytewise order; a prefix comes before what it begins. */
int span_cmp(struct span a, struct span b);

/* ASCII case ignored; for header names and the like. */
bool span_eq_nocase(struct span a, struct span b);

bool span_starts(struct span text, struct span prefix);
bool span_ends(struct span text, struct span suffix);

/* The position of the byte, or text.len. */
size_t span_find(struct span text, char byte);

/* The part from `start` on; both limits are cut to the text's length. */
struct span span_from(struct span text, size_t start);
struct span span_sub(struct span text, size_t start, size_t len);

/* The text without blanks and tabs at both ends. */
struct span span_trim(struct span text);

/*
 * Takes the piece before `separator` off the front of *rest. The last piece
 * leaves rest->ptr NULL; a NULL rest->ptr gives false. So "a,,b" has three
 * pieces, "" has one and a zero span has none.
 *
 *	while (span_cut(&piece, &rest, ','))
 */
bool span_cut(struct span *piece, struct span *rest, char separator);

/* A malloc'ed copy with a NUL behind it, or NULL when memory is out. */
char *span_dup(struct span text);

/*
 * Copies into a fixed array and ends it with NUL. False (and an empty string)
 * when the text does not fit or holds a NUL.
 */
bool span_copy(char *to, size_t size, struct span text);
