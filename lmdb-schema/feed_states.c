#include "lmdb-schema/feed_states.h"

#include <assert.h>
#include <stdio.h>

#include "common/num.h"

const struct span feed_state_names[FEED_STATES] = {{"proposee", 8},
    {"validee", 7}, {"rejetee", 7}, {"retiree", 7}, {"modifiee", 8},
    {"arrivee", 7}};

struct span
feed_state_name(enum feed_state state)
{
	int place = __builtin_ctz(state);

	assert(state != 0 && place < FEED_STATES);
	return feed_state_names[place];
}

void
feed_cursor_text(char text[FEED_CURSOR_MAX], const struct feed_cursor *cursor)
{
	assert(cursor->number <= INT64_MAX);
	snprintf(text, FEED_CURSOR_MAX, "%llu-%lld",
	    (unsigned long long)cursor->number, (long long)cursor->when_ms);
}

bool
feed_cursor(struct feed_cursor *cursor, struct span text)
{
	size_t at = span_find(text, '-');
	int64_t number;

	if (!num_int(&number, span_sub(text, 0, at), 0, INT64_MAX) ||
	    !num_int(&cursor->when_ms, span_from(text, at + 1), 0, INT64_MAX))
		return false;
	cursor->number = (uint64_t)number;
	return true;
}
