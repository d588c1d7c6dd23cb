/*
 * normalise: a push's JSON becomes events. Which members of which sender mean
 * what stands in tools/gridhook/families, a file each, and in family.c.
 *
 * Splitting (the first that fits, one level deep, order kept):
 *
 *	a family of a file       as it says
 *	[...]                    each element
 *	{"events":[...]}         each element, which inherits what it lacks;
 *	                         "messages" and "notifications" the same when
 *	                         the object has no text of its own
 *	{"alerts":[...], ...}    each alert (Alertmanager, Grafana)
 *	anything else            one event
 */
#pragma once

#include <stddef.h>

#include "common/arena.h"
#include "common/err.h"
#include "common/jscan.h"
#include "tools/gridhook/events/event.h"

#define NORMALISE_MAX 256 /* events of one push */

struct recipes;
struct trace;

/* Facts of the request besides its body. */
struct hints {
	struct span suffix; /* of the path, behind the push path */
	/* From the query; they fill what the body leaves open. */
	struct span source, title, priority, speak;

	/* Families of files, and what they may ask of the request. */
	const struct recipes *recipes; /* NULL: none */
	struct span (*header)(void *arg, const char *name); /* lower case */
	void *header_arg;

	const struct trace *trace; /* NULL, or told of what is taken */

	/* Set by normalise(). */
	struct jval top; /* the object that the event is a part of */
	struct arena *arena;
};

struct events {
	struct event **list; /* all in the arena */
	unsigned count; /* at least 1 */
};

/* The only failure is ERR_NO_MEMORY. Spans point into the document or arena. */
enum err normalise(struct events *out, struct jval root,
    const struct hints *hints, struct arena *arena);
