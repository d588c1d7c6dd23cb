#include "fcgi/rows/shared_source.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/fs.h"
#include "fcgi/call.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"

/* Of two looks at the same file. */
#define LOOK_NS 10000000

/* A damaged file is read over again after this. */
#define RETRY_NS 1000000000

struct source_slot {
	pthread_mutex_t lock;
	struct shared_source *present; /* one use of it is the slot's own */
	struct fs_stamp stamp; /* of its file, when it was opened */
	int64_t looked_ns;
	enum err err; /* why there is none, since */
	int64_t failed_ns;
	uint64_t failed; /* and of which generation */
};

struct source_slot *
source_slot_new(void)
{
	struct source_slot *slot = calloc(1, sizeof(*slot));

	if (slot != NULL)
		pthread_mutex_init(&slot->lock, NULL);
	return slot;
}

void
source_slot_free(struct source_slot *slot)
{
	if (slot == NULL)
		return;
	shared_source_release(slot->present);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void
shared_source_release(struct shared_source *source)
{
	assert(source == NULL || atomic_load(&source->users) > 0);
	if (source == NULL || atomic_fetch_sub(&source->users, 1) != 1)
		return;
	source_close(source->source);
	free(source);
}

/* Opens what is current; the one before goes when its last reader ends. */
static enum err
reopen(struct source_slot *slot, struct store *store)
{
	struct shared_source *fresh = calloc(1, sizeof(*fresh));
	bool touched;
	enum err err;

	shared_source_release(slot->present);
	slot->present = NULL;
	if (fresh == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&fresh->users, 1);
	err = source_open_verified(&fresh->source, store);
	if (err == ERR_OK)
		err = source_touched(&touched, fresh->source, &slot->stamp);
	if (err != ERR_OK) {
		source_close(fresh->source);
		free(fresh);
		return err;
	}
	slot->present = fresh;
	return ERR_OK;
}

/* A file that is not as it was is opened anew, which looks it over. */
static bool
is_as_it_was(struct source_slot *slot, uint64_t current, int64_t now_ns)
{
	struct shared_source *present = slot->present;
	bool touched = false;

	if (present == NULL || source_generation(present->source) != current)
		return false;
	if (now_ns - slot->looked_ns < LOOK_NS)
		return true;
	slot->looked_ns = now_ns;
	return source_touched(&touched, present->source, &slot->stamp) ==
	    ERR_OK &&
	    !touched;
}

static enum err
refresh(struct source_slot *slot, struct store *store, uint64_t current)
{
	int64_t now_ns = date_monotonic_ns();

	if (is_as_it_was(slot, current, now_ns))
		return ERR_OK;
	if (slot->err == ERR_DAMAGED && slot->failed == current &&
	    now_ns - slot->failed_ns < RETRY_NS)
		return slot->err;
	slot->err = reopen(slot, store);
	slot->failed = current;
	slot->failed_ns = now_ns;
	return slot->err;
}

enum err
shared_source_get(struct shared_source **out, struct call *call)
{
	struct source_slot *slot = call->server->source;
	uint64_t current = live_facts(call->serving->views.live);
	enum err err;

	assert(call->serving->views.live != NULL);
	*out = NULL;
	if (current == 0)
		return ERR_NOT_FOUND;
	pthread_mutex_lock(&slot->lock);
	err = refresh(slot, call->server->store, current);
	if (err == ERR_OK) {
		*out = slot->present;
		atomic_fetch_add(&slot->present->users, 1);
	}
	pthread_mutex_unlock(&slot->lock);
	return err;
}
