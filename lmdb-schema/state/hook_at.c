#include "lmdb-schema/state/hook_at.h"

#include <assert.h>
#include <string.h>

#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/hook_priv.h"
#include "lmdb-schema/state/lease.h"
#include "lmdb-schema/store/store.h"

#define AT_MAX (512 + HOOK_LANES * (SCHEMA_CODE_MAX + 64))

/* --- the place ------------------------------------------------------------ */

static void
read_lane(struct hook_lane *lane, struct unpack *from)
{
	from->bad |= !span_copy(
	    lane->supplier, sizeof(lane->supplier), unpack_text(from));
	lane->number = unpack_unsigned(from);
	lane->behind = unpack_unsigned(from);
	lane->tries = (unsigned)unpack_unsigned(from);
	lane->first_ms = (int64_t)unpack_unsigned(from);
	lane->due_ms = (int64_t)unpack_unsigned(from);
}

static enum err
read_at(struct hook_at *at, struct span value)
{
	struct unpack from;
	uint64_t count;

	unpack_init(&from, value);
	*at = (struct hook_at){.id = unpack_unsigned(&from)};
	at->read = unpack_unsigned(&from);
	at->delivered = unpack_unsigned(&from);
	at->repeated = unpack_unsigned(&from);
	at->given_up = unpack_unsigned(&from);
	at->success_ms = (int64_t)unpack_unsigned(&from);
	at->failure_ms = (int64_t)unpack_unsigned(&from);
	at->stopped_ms = (int64_t)unpack_unsigned(&from);
	if (!span_copy(at->error, sizeof(at->error), unpack_text(&from)))
		return ERR_DAMAGED;
	count = unpack_unsigned(&from);
	if (count > HOOK_LANES)
		return ERR_DAMAGED;
	for (uint64_t i = 0; i < count; i++)
		read_lane(&at->lanes[i], &from);
	at->lane_count = (unsigned)count;
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

enum err
hook_at_put(struct kv_txn *txn, struct span name, const struct hook_at *at)
{
	struct hook_key key = hook_key_of(HOOK_KIND_AT, name);
	struct buf value;

	assert(at->lane_count <= HOOK_LANES);
	buf_init(&value, AT_MAX);
	pack_add_unsigned(&value, at->id);
	pack_add_unsigned(&value, at->read);
	pack_add_unsigned(&value, at->delivered);
	pack_add_unsigned(&value, at->repeated);
	pack_add_unsigned(&value, at->given_up);
	pack_add_unsigned(&value, (uint64_t)at->success_ms);
	pack_add_unsigned(&value, (uint64_t)at->failure_ms);
	pack_add_unsigned(&value, (uint64_t)at->stopped_ms);
	pack_add_text(&value, span_of(at->error));
	pack_add_unsigned(&value, at->lane_count);
	for (unsigned i = 0; i < at->lane_count; i++) {
		const struct hook_lane *lane = &at->lanes[i];

		pack_add_text(&value, span_of(lane->supplier));
		pack_add_unsigned(&value, lane->number);
		pack_add_unsigned(&value, lane->behind);
		pack_add_unsigned(&value, lane->tries);
		pack_add_unsigned(&value, (uint64_t)lane->first_ms);
		pack_add_unsigned(&value, (uint64_t)lane->due_ms);
	}
	return store_put(txn, STATE_META, hook_key_span(&key), &value);
}

enum err
hook_at_get(struct hook_at *at, struct state_view *view, struct span name)
{
	struct hook_key key;
	struct span value;
	enum err err;

	if (!hook_name_ok(name))
		return ERR_NOT_FOUND;
	key = hook_key_of(HOOK_KIND_AT, name);
	err = kv_get(
	    state_view_txn(view), STATE_META, hook_key_span(&key), &value);
	return err == ERR_OK ? read_at(at, value) : err;
}

int64_t
hook_next_ms(const struct hook_at *at)
{
	const struct hook_lane *next = NULL;

	for (unsigned i = 0; i < at->lane_count; i++)
		if (at->lanes[i].tries > 0 &&
		    (next == NULL || at->lanes[i].due_ms < next->due_ms))
			next = &at->lanes[i];
	return next == NULL ? 0 : next->due_ms;
}

enum hook_state
hook_state_of(const struct hook *hook, const struct hook_at *at)
{
	if (hook_is_stopped(hook, at))
		return HOOK_STOPPED;
	if (at->failure_ms > at->success_ms)
		return HOOK_FAILING;
	for (unsigned i = 0; i < at->lane_count; i++)
		if (at->lanes[i].tries > 0)
			return HOOK_CATCHING_UP;
	return at->success_ms == 0 ? HOOK_NEW : HOOK_FINE;
}

/* --- what was given up ---------------------------------------------------- */

static enum err
read_lost(struct hook_lost *lost, struct span number, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	*lost = (struct hook_lost){.number = key_read_u64(number)};
	lost->when_ms = (int64_t)unpack_unsigned(&from);
	lost->tries = (unsigned)unpack_unsigned(&from);
	lost->again = unpack_unsigned(&from) != 0;
	if (!span_copy(lost->error, sizeof(lost->error), unpack_text(&from)))
		return ERR_DAMAGED;
	return unpack_done(&from) && lost->number > 0 ? ERR_OK : ERR_DAMAGED;
}

static enum err
put_lost(struct kv_txn *txn, struct span name, const struct hook_lost *lost)
{
	struct hook_key key = hook_key_of_lost(name);
	struct buf value;
	enum err err;

	hook_key_add_number(&key, lost->number);
	if (lost->tries == 0) {
		err = kv_del(txn, STATE_META, hook_key_span(&key));
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	}
	buf_init(&value, 512);
	pack_add_unsigned(&value, (uint64_t)lost->when_ms);
	pack_add_unsigned(&value, lost->tries);
	pack_add_unsigned(&value, lost->again);
	pack_add_text(&value, span_of(lost->error));
	return store_put(txn, STATE_META, hook_key_span(&key), &value);
}

static enum err
each_lost(struct kv_txn *txn, struct span name,
    enum err (*each)(void *context, const struct hook_lost *lost),
    void *context)
{
	struct hook_key prefix = hook_key_of_lost(name);
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, hook_key_span(&prefix), SPAN(""));
	struct span key, value;
	struct hook_lost lost;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_lost(&lost, span_from(key, prefix.len), value);
		if (err == ERR_OK)
			err = each(context, &lost);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
hook_lost_each(struct state_view *view, struct span name,
    enum err (*each)(void *context, const struct hook_lost *lost),
    void *context)
{
	assert(each != NULL);
	return each_lost(state_view_txn(view), name, each, context);
}

/* A walk does not see what is put meanwhile: a number at a time. */
struct marking {
	struct hook_lost lost;
	uint64_t behind;
};

static enum err
take_next(void *context, const struct hook_lost *lost)
{
	struct marking *marking = context;

	if (lost->number <= marking->behind || lost->again)
		return ERR_OK;
	marking->lost = *lost;
	return ERR_EXISTS;
}

enum err
hook_lost_again(uint64_t *count, struct kv_txn *txn, struct span name)
{
	struct marking marking = {.behind = 0};
	enum err err;

	*count = 0;
	while (
	    (err = each_lost(txn, name, take_next, &marking)) == ERR_EXISTS) {
		marking.behind = marking.lost.number;
		marking.lost.again = true;
		err = put_lost(txn, name, &marking.lost);
		if (err != ERR_OK)
			return err;
		++*count;
	}
	return err;
}

enum err
hook_lost_forget(struct kv_txn *txn, struct span name)
{
	struct hook_key prefix = hook_key_of_lost(name);
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, hook_key_span(&prefix), SPAN(""));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK ||
	    (err == ERR_DAMAGED && key.len > 0)) {
		err = kv_walk_del(walk);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

struct saving {
	struct span name;
	const struct hook_at *at;
	const struct hook_lost *lost;
	unsigned count;
	const struct lease *lease;
};

static enum err
save(void *context, struct kv_txn *txn)
{
	const struct saving *saving = context;
	struct hook hook;
	enum err err =
	    saving->lease == NULL ? ERR_OK : lease_check(saving->lease, txn);

	if (err == ERR_OK)
		err = hook_get_in(&hook, txn, saving->name);
	if (err == ERR_OK && hook.id != saving->at->id)
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		err = hook_at_put(txn, saving->name, saving->at);
	for (unsigned i = 0; i < saving->count && err == ERR_OK; i++)
		err = put_lost(txn, saving->name, &saving->lost[i]);
	return err;
}

enum err
hook_at_save(struct store *store, struct span name, const struct hook_at *at,
    const struct hook_lost *lost, unsigned count, const struct lease *lease)
{
	struct saving saving = {name, at, lost, count, lease};

	assert(lost != NULL || count == 0);
	return store_write(store, STORE_STATE, save, &saving);
}

/* --- what waits ----------------------------------------------------------- */

struct looking {
	const struct hook *hook;
	struct span supplier;
	uint64_t last, found;
};

static enum err
look(void *context, const struct audit_entry *entry)
{
	struct looking *looking = context;

	if (entry->number > looking->last)
		return ERR_EXISTS;
	if (!hook_wants(looking->hook, entry) ||
	    !span_eq(hook_supplier_of(entry), looking->supplier))
		return ERR_OK;
	looking->found = entry->number;
	return ERR_EXISTS;
}

enum err
hook_next_of(uint64_t *next, struct state_view *view, const struct hook *hook,
    struct span supplier, uint64_t number, uint64_t last)
{
	struct looking looking = {hook, supplier, last, 0};
	enum err err = audit_each(view, number + 1, look, &looking);

	*next = looking.found;
	return err == ERR_EXISTS ? ERR_OK : err;
}

struct counting {
	const struct hook *hook;
	const struct hook_at *at;
	struct hook_waiting *waiting;
};

/* Up to at->read, an entry waits in its supplier's lane, or not at all. */
static bool
waits(const struct counting *counting, const struct audit_entry *entry)
{
	const struct hook_at *at = counting->at;
	struct span supplier = hook_supplier_of(entry);

	if (!hook_wants(counting->hook, entry))
		return false;
	if (entry->number > at->read)
		return true;
	for (unsigned i = 0; i < at->lane_count; i++)
		if (span_eq(span_of(at->lanes[i].supplier), supplier))
			return entry->number == at->lanes[i].number ||
			    (at->lanes[i].behind != 0 &&
				entry->number >= at->lanes[i].behind);
	return false;
}

static enum err
count_entry(void *context, const struct audit_entry *entry)
{
	struct counting *counting = context;

	if (!waits(counting, entry))
		return ERR_OK;
	if (counting->waiting->count++ == 0)
		counting->waiting->oldest_ms = entry->when_ms;
	return ERR_OK;
}

static enum err
count_lost(void *context, const struct hook_lost *lost)
{
	(void)lost;
	++*(uint64_t *)context;
	return ERR_OK;
}

enum err
hook_count(struct hook_waiting *waiting, struct state_view *view,
    const struct hook *hook, const struct hook_at *at)
{
	struct counting counting = {hook, at, waiting};
	uint64_t from = at->read + 1;
	enum err err;

	*waiting = (struct hook_waiting){.count = 0};
	for (unsigned i = 0; i < at->lane_count; i++)
		if (at->lanes[i].number < from)
			from = at->lanes[i].number;
	err = audit_each(view, from, count_entry, &counting);
	return err == ERR_OK
	    ? hook_lost_each(view, hook->name, count_lost, &waiting->lost)
	    : err;
}
