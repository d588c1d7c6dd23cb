#include "fcgi/rows/packed.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct packed {
	atomic_uint users;
	struct packed_rows *rows;
};

struct packed_slot {
	pthread_mutex_t lock;
	struct packed *present; /* one use of it is the slot's own */
};

struct packed_slot *
packed_slot_new(void)
{
	struct packed_slot *slot = calloc(1, sizeof(*slot));

	if (slot != NULL)
		pthread_mutex_init(&slot->lock, NULL);
	return slot;
}

void
packed_slot_free(struct packed_slot *slot)
{
	if (slot == NULL)
		return;
	packed_release(slot->present);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void
packed_release(struct packed *packed)
{
	assert(packed == NULL || atomic_load(&packed->users) > 0);
	if (packed == NULL || atomic_fetch_sub(&packed->users, 1) != 1)
		return;
	packed_rows_close(packed->rows);
	free(packed);
}

const struct packed_rows *
packed_rows_of(const struct packed *packed)
{
	assert(packed != NULL && packed->rows != NULL);
	return packed->rows;
}

static enum err
open_zip(struct packed_slot *slot, struct store *store, struct snapshot *snap)
{
	struct packed *packed = calloc(1, sizeof(*packed));
	enum err err;

	if (packed == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&packed->users, 1);
	err = packed_rows_open(&packed->rows, store, snap);
	if (err == ERR_OK)
		slot->present = packed;
	else
		free(packed);
	if (err != ERR_DAMAGED && err != ERR_VERSION)
		return err;
	packed_rows_discard(store, snap);
	return ERR_NOT_FOUND;
}

enum err
packed_get(struct packed **out, struct packed_slot *slot, struct store *store,
    struct snapshot *snap)
{
	enum err err = ERR_OK;

	assert(slot != NULL && snap != NULL);
	*out = NULL;
	pthread_mutex_lock(&slot->lock);
	if (slot->present != NULL &&
	    packed_rows_is_touched(slot->present->rows)) {
		packed_release(slot->present);
		slot->present = NULL;
	}
	if (slot->present == NULL)
		err = open_zip(slot, store, snap);
	if (err == ERR_OK) {
		*out = slot->present;
		atomic_fetch_add(&slot->present->users, 1);
	}
	pthread_mutex_unlock(&slot->lock);
	return err;
}

void
packed_discard(struct packed_slot *slot, struct packed *packed,
    struct store *store, const struct snapshot *snap)
{
	assert(packed != NULL && store != NULL);
	pthread_mutex_lock(&slot->lock);
	if (slot->present == packed) {
		slot->present = NULL;
		packed_release(packed);
		packed_rows_discard(store, snap);
	}
	pthread_mutex_unlock(&slot->lock);
}
