/*
 * result: what a tool call came to: MCP's content items, perhaps a structured
 * object beside them, and whether it failed.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/jscan.h"
#include "common/jsonw.h"

#define RESULT_MAX ((size_t)24 << 20)

struct result {
	struct buf content; /* a JSON array */
	struct buf structured; /* a JSON object, or empty */
	bool is_error;
};

void result_init(struct result *result);
void result_fini(struct result *result);

/* Sets a text item; replaces what was there. */
void result_text(struct result *result, struct span text);

/* Sets a text item that says what failed, and what to do. */
void result_error(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The structured object, and the same as a text item, as MCP asks. */
void result_structured(struct result *result, struct span object);

/* The same, with a sentence before them that says the chief of it. */
void result_told(
    struct result *result, struct span sentence, struct span object);

/*
 * Takes {"content":[...],"structuredContent":{...}?,"isError":bool?} as a
 * helper or a window wrote it; false when it is not that.
 */
bool result_take(struct result *result, struct jval value);

/* The first failure to write it, or ERR_OK; nothing of it is whole then. */
enum err result_end(const struct result *result);

/* Writes the result's members into an object that is open. */
void result_write(struct jsonw *json, const struct result *result);
