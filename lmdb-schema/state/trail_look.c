#include "lmdb-schema/state/trail_look.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/store/store.h"

/* --- stretches ------------------------------------------------------------ */

static enum trail_place
place_of(enum err err)
{
	switch (err) {
	case ERR_OK:
		return TRAIL_HERE;
	case ERR_NOT_FOUND:
		return TRAIL_ARCHIVED;
	case ERR_DAMAGED:
		return TRAIL_LOST;
	default:
		return TRAIL_UNREADABLE;
	}
}

static void
begin(struct trail_stretch *stretch, const struct trail_parts_row *row,
    enum err err)
{
	*stretch = (struct trail_stretch){.place = place_of(err),
	    .first = row->first,
	    .last = row->last,
	    .files = 1,
	    .bytes = row->bytes,
	    .from = row->month,
	    .to = row->month,
	    .row = *row,
	    .err = err};
}

bool
trail_stretch_add(struct trail_stretch *stretch,
    const struct trail_parts_row *row, enum err err)
{
	bool behind = row->first == stretch->last + 1;

	if (stretch->files == 0) {
		begin(stretch, row, err);
		return true;
	}
	if (stretch->place != place_of(err) || stretch->place >= TRAIL_LOST ||
	    (!behind && row->last + 1 != stretch->first))
		return false;
	*(behind ? &stretch->last : &stretch->first) =
	    behind ? row->last : row->first;
	*(behind ? &stretch->to : &stretch->from) = row->month;
	stretch->files++;
	stretch->bytes += row->bytes;
	return true;
}

/* --- all files ------------------------------------------------------------ */

struct looking {
	const struct store *store;
	struct trail_stretch stretch;
	enum err (*each)(void *context, const struct trail_stretch *stretch);
	void *context;
};

static enum err
look_at(void *context, const struct trail_parts_row *row)
{
	struct looking *looking = context;
	struct trail_part *part;
	enum err err = trail_parts_open(&part, looking->store, row), told;

	trail_part_close(part);
	if (err_is_limit(err))
		return err;
	if (trail_stretch_add(&looking->stretch, row, err))
		return ERR_OK;
	told = looking->each(looking->context, &looking->stretch);
	begin(&looking->stretch, row, err);
	return told;
}

enum err
trail_look(struct store *store,
    enum err (*each)(void *context, const struct trail_stretch *stretch),
    void *context)
{
	struct looking looking = {
	    .store = store, .each = each, .context = context};
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	assert(each != NULL);
	if (err != ERR_OK)
		return err;
	err = trail_parts_each(txn, look_at, &looking);
	kv_abort(txn);
	if (err == ERR_OK && looking.stretch.files > 0)
		err = each(context, &looking.stretch);
	return err;
}

/* --- months --------------------------------------------------------- */

void
trail_months_text(
    char text[TRAIL_MONTHS_MAX], const struct trail_stretch *stretch)
{
	char from[DATE_TEXT_MAX], to[DATE_TEXT_MAX];

	trail_month_text(from, stretch->from);
	trail_month_text(to, stretch->to);
	snprintf(text, TRAIL_MONTHS_MAX, "%.12s%s%.12s", from,
	    stretch->from == stretch->to ? "" : " to ",
	    stretch->from == stretch->to ? "" : to);
}
