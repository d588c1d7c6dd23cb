/*
 * normalise: a push's JSON becomes events. Which members of which sender mean
 * what stands in family.c, a table each.
 *
 * Splitting (the first that fits, one level deep, order kept):
 *
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
#include "tools/gridhook/events/event.h"
#include "tools/gridhook/net/jscan.h"

#define NORMALISE_MAX 256 /* events of one push */

/* What the request says besides its body. */
struct hints {
	struct span github_event, github_delivery; /* headers */
	struct span gitlab_event;
	struct span suffix; /* of the path, behind the push path */
	/* From the query; they fill what the body leaves open. */
	struct span source, title, priority, speak;
};

struct events {
	struct event **list; /* all in the arena */
	unsigned count; /* at least 1 */
};

/* The only failure is ERR_NO_MEMORY. Spans point into the document or arena. */
enum err normalise(struct events *out, struct jval root,
    const struct hints *hints, struct arena *arena);
