/*
 * walk: the members of a JSON object that this program has written: compact,
 * without blanks.
 *
 *	struct span rest = jsonw_inside(object);
 *	while (walk_member(&rest, &name, &value))
 *		...
 *	if (rest.len > 0) it is no such object
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

/*
 * Takes a member off the front: its name as it stands between the quotes, and
 * its value as JSON. False at the end, and for what is no member: *rest is then
 * left as it was.
 */
bool walk_member(struct span *rest, struct span *name, struct span *value);

/* The same for an array: an item off the front of what its brackets hold. */
bool walk_item(struct span *rest, struct span *value);
