#include "fcgi/rows/shared_source.h"

#include <pthread.h>
#include <stdlib.h>

#include "fcgi/call.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"

struct source_slot {
	pthread_mutex_t lock;
	struct shared_source *present; /* one use of it is the slot's own */
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
	enum err err;

	if (fresh == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&fresh->users, 1);
	err = source_open(&fresh->source, store);
	if (err != ERR_OK) {
		free(fresh);
		return err;
	}
	shared_source_release(slot->present);
	slot->present = fresh;
	return ERR_OK;
}

enum err
shared_source_get(struct shared_source **out, struct call *call)
{
	struct source_slot *slot = call->server->source;
	uint64_t current = live_facts(call->serving->live);
	enum err err = ERR_OK;

	*out = NULL;
	if (current == 0)
		return ERR_NOT_FOUND;
	pthread_mutex_lock(&slot->lock);
	if (slot->present == NULL ||
	    source_generation(slot->present->source) != current)
		err = reopen(slot, call->server->store);
	if (err == ERR_OK) {
		*out = slot->present;
		atomic_fetch_add(&slot->present->users, 1);
	}
	pthread_mutex_unlock(&slot->lock);
	return err;
}
