/*
 * answer: the result of a tool as MCP wants it: content items, and where
 * there is one, a structured object.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/jsonw.h"
#include "common/span.h"

#define ANSWER_MAX (32u * 1024 * 1024)

struct answer {
	struct buf content; /* the items, ready JSON */
	struct jsonw items;
	struct buf structured;
	struct jsonw object;
	bool has_structured;
};

void answer_init(struct answer *answer);
void answer_fini(struct answer *answer);

/* A text item, as printf does. */
void answer_text(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An image item; `type` as "image/png". */
void answer_image(struct answer *answer, struct span bytes, const char *type);

/*
 * The structured object, open: the caller adds members and ends it with
 * answer_object_end(). Where no text item was added, its JSON becomes one.
 */
struct jsonw *answer_object_begin(struct answer *answer);
void answer_object_end(struct answer *answer);

/* The whole result, appended to `out` with a newline. */
enum err answer_write(struct answer *answer, struct buf *out);

/* The same for an action that failed, which needs no answer. */
enum err answer_write_failure(struct buf *out, const char *text);
