#include "lmdb-schema/state/trail.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/trail_gaps.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"

static const char name[] = "trail";

#define NAME_LEN (sizeof(name) - 1)

/* name 00 supplier 00 codein 00 number */
struct place {
	size_t len;
	char bytes[NAME_LEN + 2 * SCHEMA_CODE_MAX + 3 + sizeof(uint64_t)];
};

static void
add(struct place *place, const void *bytes, size_t len)
{
	assert(len <= sizeof(place->bytes) - place->len);
	memcpy(place->bytes + place->len, bytes, len);
	place->len += len;
}

/* The prefix of an article's keys. */
static struct place
place_of(struct span supplier, struct span codein)
{
	struct place place = {.len = 0};

	assert(supplier.len <= SCHEMA_CODE_MAX);
	assert(codein.len <= SCHEMA_CODE_MAX);
	add(&place, name, NAME_LEN + 1);
	add(&place, supplier.ptr, supplier.len);
	add(&place, "", 1);
	add(&place, codein.ptr, codein.len);
	add(&place, "", 1);
	return place;
}

static struct span
place_span(const struct place *place)
{
	return span_make(place->bytes, place->len);
}

/* --- reading -------------------------------------------------------------- */

enum err
trail_last(struct state_view *view, uint64_t *number)
{
	return store_number(state_view_txn(view), "audit", number);
}

static enum err
take(void *context, const struct audit_entry *entry)
{
	*(struct audit_entry *)context = *entry;
	return ERR_EXISTS; /* one is enough */
}

/* An entry that the table has. */
static enum err
entry_in(struct audit_entry *entry, struct kv_txn *txn, uint64_t number)
{
	enum err err;

	entry->number = 0;
	err = audit_each_in(txn, number, take, entry);
	if (err == ERR_EXISTS)
		return entry->number == number ? ERR_OK : ERR_DAMAGED;
	return err == ERR_OK ? ERR_NOT_FOUND : err;
}

enum err
trail_get(struct state_view *view, uint64_t number, struct audit_entry *entry)
{
	struct kv_txn *txn = state_view_txn(view);
	uint64_t closed;
	enum err err = trail_parts_last(txn, &closed);

	assert(entry != NULL);
	if (err != ERR_OK)
		return err;
	if (number <= closed)
		return trail_parts_get(view, number, entry);
	return entry_in(entry, txn, number);
}

enum err
trail_since(struct state_view *view, int64_t *when_ms)
{
	struct kv_txn *txn = state_view_txn(view);
	struct audit_entry entry;
	uint64_t closed;
	enum err err = trail_gaps_since(view, when_ms);

	if (err != ERR_NOT_FOUND)
		return err;
	err = trail_parts_last(txn, &closed);
	if (err == ERR_OK)
		err = audit_each_in(txn, closed + 1, take, &entry);
	if (err == ERR_OK)
		return ERR_NOT_FOUND;
	if (err == ERR_EXISTS)
		*when_ms = entry.when_ms;
	return err == ERR_EXISTS ? ERR_OK : err;
}

/* --- walking -------------------------------------------------------------- */

#define BACK 64 /* entries are read at once, to be shown the newest first */

struct pile {
	struct audit_entry entries[BACK];
	unsigned count;
	uint64_t before;
};

static enum err
pile_up(void *context, const struct audit_entry *entry)
{
	struct pile *pile = context;

	if (entry->number >= pile->before)
		return ERR_EXISTS;
	pile->entries[pile->count++] = *entry;
	return pile->count == BACK ? ERR_EXISTS : ERR_OK;
}

/* Entries of the table, behind `closed` and before `before`, pile by pile. */
static enum err
walk_back(struct kv_txn *txn, uint64_t before, uint64_t closed,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	enum err err = ERR_OK;

	while (before > closed + 1 && err == ERR_OK) {
		uint64_t from =
		    before - closed > BACK ? before - BACK : closed + 1;
		struct pile pile = {.before = before};

		err = audit_each_in(txn, from, pile_up, &pile);
		if (err == ERR_EXISTS)
			err = ERR_OK;
		while (pile.count > 0 && err == ERR_OK)
			err = each(context, &pile.entries[--pile.count]);
		before = from;
	}
	return err;
}

enum err
trail_each(struct state_view *view, const struct trail_wanted *wanted,
    uint64_t number, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	struct kv_txn *txn = state_view_txn(view);
	uint64_t closed;
	enum err err = trail_parts_last(txn, &closed);

	if (err == ERR_OK && back) {
		err = walk_back(txn, number, closed, each, context);
		if (err == ERR_OK && number > 1 && closed > 0)
			err = trail_parts_walk(
			    view, wanted, 1, number - 1, true, each, context);
	} else if (err == ERR_OK) {
		if (number <= closed)
			err = trail_parts_walk(
			    view, wanted, number, closed, false, each, context);
		if (err == ERR_OK)
			err = audit_each_in(txn,
			    number > closed ? number : closed + 1, each,
			    context);
	}
	return err;
}

enum err
trail_behind(struct state_view *view, uint64_t *count)
{
	uint64_t last, indexed;
	enum err err = trail_last(view, &last);

	*count = 0;
	if (err == ERR_OK)
		err = store_number(state_view_txn(view), name, &indexed);
	if (err == ERR_OK && last > indexed)
		*count = last - indexed;
	return err;
}

/* --- an article's history ------------------------------------------------- */

/* The numbers of an article's entries that the table has. */
struct numbers {
	const struct trail_article *article;
	uint64_t closed; /* what parts have is read from them */
	uint64_t *at;
	size_t count, room;
};

static enum err
add_number(struct numbers *numbers, uint64_t number)
{
	if (number <= numbers->closed ||
	    !trail_in_bounds(numbers->article, number))
		return ERR_OK;
	if (numbers->count == numbers->room) {
		size_t room = numbers->room * 2 + 64;
		uint64_t *more = reallocarray(numbers->at, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		numbers->at = more;
		numbers->room = room;
	}
	numbers->at[numbers->count++] = number;
	return ERR_OK;
}

/* The numbers that the index has of an article at a supplier. */
static enum err
walk_index(struct kv_txn *txn, struct numbers *numbers, struct span supplier)
{
	struct place place = place_of(supplier, numbers->article->codein);
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, place_span(&place), SPAN(""));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = add_number(
		    numbers, key_read_u64(span_from(key, place.len)));
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

static enum err
walk_suppliers(struct kv_txn *txn, struct numbers *numbers)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_VERSIONS, SPAN(""), SPAN(""));
	struct span supplier, value;
	enum err err;

	while ((err = kv_walk_next(walk, &supplier, &value)) == ERR_OK) {
		err = walk_index(txn, numbers, supplier);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

static enum err
look(void *context, const struct audit_entry *entry)
{
	struct numbers *numbers = context;

	return trail_is_of(numbers->article, entry)
	    ? add_number(numbers, entry->number)
	    : ERR_OK;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* By the index, then from the entries that are not in it yet. */
static enum err
list_numbers(struct kv_txn *txn, struct numbers *numbers)
{
	const struct trail_article *article = numbers->article;
	uint64_t indexed = 0;
	enum err err = store_number(txn, name, &indexed);

	if (err == ERR_OK)
		err = article->supplier.len == 0
		    ? walk_suppliers(txn, numbers)
		    : walk_index(txn, numbers, article->supplier);
	if (err == ERR_OK && indexed < numbers->closed)
		indexed = numbers->closed;
	if (err == ERR_OK)
		err = audit_each_in(txn, indexed + 1, look, numbers);
	if (numbers->count > 0)
		qsort(numbers->at, numbers->count, sizeof(*numbers->at),
		    by_number);
	return err;
}

static enum err
history_of_table(struct kv_txn *txn, const struct trail_article *article,
    uint64_t closed,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	struct numbers numbers = {.article = article, .closed = closed};
	enum err err = list_numbers(txn, &numbers);

	for (size_t i = 0; i < numbers.count && err == ERR_OK; i++) {
		struct audit_entry entry;

		err = entry_in(&entry, txn,
		    numbers.at[article->back ? numbers.count - 1 - i : i]);
		if (err == ERR_OK)
			err = each(context, &entry);
	}
	free(numbers.at);
	return err;
}

enum err
trail_history(struct state_view *view, const struct trail_article *article,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	struct kv_txn *txn = state_view_txn(view);
	uint64_t closed;
	enum err err = trail_parts_last(txn, &closed);

	assert(each != NULL);
	if (err != ERR_OK || !key_code_ok(article->codein) ||
	    (article->supplier.len > 0 && !key_code_ok(article->supplier)))
		return err;
	if (article->back)
		err = history_of_table(txn, article, closed, each, context);
	if (err == ERR_OK && closed > 0 && article->from <= closed)
		err = trail_parts_history(view, article, each, context);
	if (err == ERR_OK && !article->back)
		err = history_of_table(txn, article, closed, each, context);
	return err;
}

/* --- writing -------------------------------------------------------------- */

enum err
trail_add(struct kv_txn *txn, uint64_t number, const struct audit_entry *entry)
{
	struct place place;

	/* A code beyond its bounds is of no article. */
	if (!key_code_ok(entry->supplier) || !key_code_ok(entry->codein))
		return ERR_OK;
	place = place_of(entry->supplier, entry->codein);
	number = htobe64(number);
	add(&place, &number, sizeof(number));
	return kv_put(txn, STATE_META, place_span(&place), SPAN(""));
}

enum err
trail_remove(
    struct kv_txn *txn, uint64_t number, const struct audit_entry *entry)
{
	struct place place;
	enum err err;

	if (!key_code_ok(entry->supplier) || !key_code_ok(entry->codein))
		return ERR_OK;
	place = place_of(entry->supplier, entry->codein);
	number = htobe64(number);
	add(&place, &number, sizeof(number));
	err = kv_del(txn, STATE_META, place_span(&place));
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

struct catching {
	struct kv_txn *txn;
	uint64_t count, last;
};

static enum err
catch_one(void *context, const struct audit_entry *entry)
{
	struct catching *catching = context;

	catching->count++;
	catching->last = entry->number;
	return trail_add(catching->txn, entry->number, entry);
}

enum err
trail_catch_up(struct kv_txn *txn, uint64_t last)
{
	struct catching catching = {.txn = txn};
	uint64_t indexed;
	enum err err = store_number(txn, name, &indexed);

	/* A number that is lost is written anew, and the index with it. */
	if (err == ERR_DAMAGED)
		indexed = 0;
	else if (err != ERR_OK)
		return err;
	if (indexed >= last)
		return ERR_OK;
	catching.last = indexed;
	do {
		err =
		    audit_each_in(txn, catching.last + 1, catch_one, &catching);
		/* A damaged entry is in no article's history. */
		catching.last++;
	} while (err == ERR_DAMAGED && catching.last < last);
	err = err == ERR_DAMAGED ? ERR_OK : err;
	if (err == ERR_OK && catching.count > 1000)
		log_info("the trail's index has been made: entries=%llu",
		    (unsigned long long)catching.count);
	return err;
}

enum err
trail_done(struct kv_txn *txn, uint64_t last)
{
	return store_set_number(txn, name, last);
}
