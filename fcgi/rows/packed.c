#include "fcgi/rows/packed.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct packed {
	atomic_uint users;
	enum packed_kind kind;
	struct packed_rows *rows;
};

struct packed_slot {
	pthread_mutex_t lock;
	struct packed *present[PACKED_KINDS]; /* one use each is the slot's */
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
	for (unsigned kind = 0; kind < PACKED_KINDS; kind++)
		packed_release(slot->present[kind]);
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
open_rows(struct packed_slot *slot, struct store *store, struct snapshot *snap,
    enum packed_kind kind)
{
	struct packed *packed = calloc(1, sizeof(*packed));
	enum err err;

	if (packed == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&packed->users, 1);
	packed->kind = kind;
	err = packed_rows_open(&packed->rows, store, snap, kind);
	if (err == ERR_OK)
		slot->present[kind] = packed;
	else
		free(packed);
	if (err != ERR_DAMAGED && err != ERR_VERSION)
		return err;
	packed_rows_discard(store, snap, kind);
	return ERR_NOT_FOUND;
}

/* Takes the kept rows for one more use; NULL when there is none. */
static struct packed *
take_present(struct packed_slot *slot, enum packed_kind kind)
{
	struct packed *packed;

	pthread_mutex_lock(&slot->lock);
	packed = slot->present[kind];
	if (packed != NULL)
		atomic_fetch_add(&packed->users, 1);
	pthread_mutex_unlock(&slot->lock);
	return packed;
}

/* Nobody gets it any more; true when it was still given. */
static bool
drop_present(struct packed_slot *slot, struct packed *packed)
{
	bool given;

	pthread_mutex_lock(&slot->lock);
	given = slot->present[packed->kind] == packed;
	if (given) {
		slot->present[packed->kind] = NULL;
		packed_release(packed);
	}
	pthread_mutex_unlock(&slot->lock);
	return given;
}

/* The file is looked at outside the lock, which all threads want. */
enum err
packed_get(struct packed **out, struct packed_slot *slot, struct store *store,
    struct snapshot *snap, enum packed_kind kind)
{
	enum err err = ERR_OK;

	assert(slot != NULL && snap != NULL && kind < PACKED_KINDS);
	*out = take_present(slot, kind);
	if (*out != NULL && packed_rows_is_touched((*out)->rows)) {
		drop_present(slot, *out);
		packed_release(*out);
		*out = NULL;
	}
	if (*out != NULL)
		return ERR_OK;
	pthread_mutex_lock(&slot->lock);
	if (slot->present[kind] == NULL)
		err = open_rows(slot, store, snap, kind);
	if (err == ERR_OK) {
		*out = slot->present[kind];
		atomic_fetch_add(&(*out)->users, 1);
	}
	pthread_mutex_unlock(&slot->lock);
	return err;
}

void
packed_discard(struct packed_slot *slot, struct packed *packed,
    struct store *store, const struct snapshot *snap)
{
	assert(store != NULL);
	if (drop_present(slot, packed))
		packed_rows_discard(store, snap, packed->kind);
}
