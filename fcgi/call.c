#include "fcgi/call.h"

#include <assert.h>
#include <stdlib.h>

#include "common/fold.h"

/* A thing that the answer refers to. */
struct held {
	void (*release)(void *owner, void *what);
	void *owner, *what;
};

enum err
call_hold(struct call *call, void (*release)(void *owner, void *what),
    void *owner, void *what)
{
	struct serving *serving = call->serving;

	assert(release != NULL && what != NULL);
	if (serving->held_count == serving->held_room) {
		unsigned room = serving->held_room * 2 + 8;
		struct held *held =
		    reallocarray(serving->held, room, sizeof(*held));

		if (held == NULL) {
			release(owner, what);
			return ERR_NO_MEMORY;
		}
		serving->held = held;
		serving->held_room = room;
	}
	serving->held[serving->held_count++] =
	    (struct held){release, owner, what};
	return ERR_OK;
}

void
call_release_held(struct serving *serving)
{
	assert(serving->held_count <= serving->held_room);
	while (serving->held_count > 0) {
		struct held *held = &serving->held[--serving->held_count];

		held->release(held->owner, held->what);
	}
}

enum err
call_fold(struct span *words, struct call *call, struct span text)
{
	struct buf *folded = &call->serving->folded;

	assert(text.ptr != NULL || text.len == 0);
	buf_clear(folded);
	fold_add(folded, text);
	*words = buf_span(folded);
	return buf_end(folded);
}
