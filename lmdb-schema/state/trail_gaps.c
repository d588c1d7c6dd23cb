#include "lmdb-schema/state/trail_gaps.h"

#include <unistd.h>

#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/trail_parts.h"

/* Archived, and without a file. */
static enum err
is_gone(
    bool *gone, const struct store *store, const struct trail_parts_row *row)
{
	char path[FS_PATH_MAX];
	enum err err =
	    trail_parts_path(path, store, row->month, row->first, "");

	*gone = err == ERR_OK && row->away && eaccess(path, F_OK) != 0;
	return err;
}

struct beginning {
	const struct store *store;
	int64_t *when_ms;
	bool found;
};

static enum err
take_beginning(void *context, const struct trail_parts_row *row)
{
	struct beginning *beginning = context;
	bool gone;
	enum err err = is_gone(&gone, beginning->store, row);

	if (gone)
		beginning->found = false;
	else if (!beginning->found) {
		*beginning->when_ms = row->oldest_ms;
		beginning->found = true;
	}
	return err;
}

enum err
trail_gaps_since(struct state_view *view, int64_t *when_ms)
{
	struct beginning beginning = {
	    .store = state_view_store(view), .when_ms = when_ms};
	enum err err =
	    trail_parts_each(state_view_txn(view), take_beginning, &beginning);

	return err == ERR_OK && !beginning.found ? ERR_NOT_FOUND : err;
}

struct gap {
	const struct store *store;
	const struct trail_wanted *wanted;
	uint64_t from;
	bool begins;
	uint64_t *number;
};

/* ERR_EXISTS: it is found. */
static enum err
look_for_gap(void *context, const struct trail_parts_row *row)
{
	struct gap *gap = context;
	bool gone;
	enum err err;

	if (row->last < gap->from || !trail_parts_may_have(row, gap->wanted))
		return ERR_OK;
	err = is_gone(&gone, gap->store, row);
	if (gone && !gap->begins) {
		*gap->number = row->first > gap->from ? row->first : gap->from;
		return ERR_EXISTS;
	}
	gap->begins = gap->begins && gone;
	return err;
}

enum err
trail_gap(uint64_t *number, struct state_view *view,
    const struct trail_wanted *wanted, uint64_t from, bool begins)
{
	struct gap gap = {state_view_store(view), wanted, from, begins, number};
	enum err err;

	*number = 0;
	err = trail_parts_each(state_view_txn(view), look_for_gap, &gap);
	return err == ERR_EXISTS ? ERR_OK : err;
}
