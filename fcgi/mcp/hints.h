/*
 * hints: the names that a name that is not known may have meant.
 */
#pragma once

#include "common/buf.h"
#include "common/jscan.h"
#include "common/span.h"

struct arena;
struct asking;
struct tool;

/* Of columns, parameters of filters and keys of groups; at most this many. */
#define HINTS_MAX 3

/* Fills in the nearest names; returns how many, 0 when none is near. */
unsigned hints_of(struct span out[HINTS_MAX], struct span name);

/*
 * After a request that was refused: for each name in the call's arguments that
 * is none, the nearest ones, as sentences.
 */
void hints_write(struct buf *text, const struct asking *asking);

/*
 * For the first name in `args` that is no argument of the tool: the nearest
 * one, or all that there are.
 */
void hints_arguments(struct buf *text, const struct tool *tool,
    struct jval args, struct arena *arena);
