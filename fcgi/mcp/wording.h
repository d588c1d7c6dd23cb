/*
 * wording: what the API's endpoints say, in the words of the tools: their
 * arguments stand for the API's parameters and members.
 */
#pragma once

#include <stdbool.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/jscan.h"
#include "common/span.h"

struct tool;

/* The argument that stands for this parameter; the same where none does. */
struct span wording_argument(struct span parameter);

/* Whether the tool has an argument of that name. */
bool wording_has_argument(const struct tool *tool, struct span name);

/* Adds a sentence of the API, in the tools' words. */
void wording_add(struct buf *text, struct span said);

/*
 * Adds each of details.issues once, as many as there is room for: the argument,
 * and what is wrong with it.
 */
void wording_issues(struct buf *text, struct jval issues, struct arena *arena);

/*
 * Whether the name of a filter is a parameter of the API and no column; then
 * adds what is to be written in its place.
 */
bool wording_refuses(
    struct buf *text, const struct tool *tool, struct span filter);
