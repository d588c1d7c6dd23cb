#include "lmdb-schema/state/hook.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "common/count.h"
#include "common/date.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/hook_priv.h"
#include "lmdb-schema/state/lease.h"
#include "lmdb-schema/store/store.h"

#define RECORD_MAX (HOOK_URL_MAX + HOOK_SUPPLIERS_MAX + HOOK_SECRET_MAX + 256)
#define DETAIL_MAX 1000 /* bytes of an entry's detail */

static const char newest[] = "hook";

const struct span hook_event_names[HOOK_EVENTS] = {{"proposed", 8},
    {"saved", 5}, {"cancelled", 9}, {"imported", 8}, {"computed", 8},
    {"failed", 6}};

/* The trail's events that hooks are told of. */
static const struct {
	struct span name;
	enum hook_event event;
} events_of[] = {
    {{"proposed", 8}, HOOK_PROPOSED},
    {{"replaced", 8}, HOOK_PROPOSED},
    {{"validated", 9}, HOOK_SAVED},
    {{"edited", 6}, HOOK_SAVED},
    {{"rejected", 8}, HOOK_CANCELLED},
    {{"withdrawn", 9}, HOOK_CANCELLED},
    {{"imported", 8}, HOOK_IMPORTED},
    {{"computed", 8}, HOOK_COMPUTED},
    {{"failed", 6}, HOOK_FAILED},
};

unsigned
hook_event_of(const struct audit_entry *entry)
{
	for (unsigned i = 0; i < COUNT(events_of); i++)
		if (span_eq(events_of[i].name, entry->event))
			return events_of[i].event;
	return 0;
}

struct span
hook_event_name(unsigned event)
{
	int place = __builtin_ctz(event);

	assert(event != 0 && place < HOOK_EVENTS);
	return hook_event_names[place];
}

struct span
hook_supplier_of(const struct audit_entry *entry)
{
	unsigned event = hook_event_of(entry);

	if (entry->supplier.len > 0)
		return entry->supplier;
	return event == HOOK_COMPUTED || event == HOOK_FAILED ? entry->codein
							      : SPAN("");
}

bool
hook_events(unsigned *events, struct span list)
{
	struct span name;
	unsigned i;

	*events = 0;
	while (span_cut(&name, &list, ',')) {
		for (i = 0; i < HOOK_EVENTS; i++)
			if (span_eq(name, hook_event_names[i]))
				break;
		if (i == HOOK_EVENTS)
			return false;
		*events |= 1u << i;
	}
	return *events != 0;
}

bool
hook_name_ok(struct span name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] == '\0' || strchr(good, name.ptr[i]) == NULL)
			return false;
	return name.len > 0 && name.len <= HOOK_NAME_MAX;
}

bool
hook_wants(const struct hook *hook, const struct audit_entry *entry)
{
	struct span supplier = hook_supplier_of(entry);

	return (hook->events & hook_event_of(entry)) != 0 &&
	    (supplier.len == 0 || access_sees(hook->suppliers, supplier));
}

/* --- records -------------------------------------------------------------- */

static void
key_add(struct hook_key *key, const void *bytes, size_t len)
{
	assert(len <= sizeof(key->bytes) - key->len);
	if (len > 0)
		memcpy(key->bytes + key->len, bytes, len);
	key->len += len;
}

struct hook_key
hook_key_of(struct span kind, struct span name)
{
	struct hook_key key = {.len = 0};

	key_add(&key, kind.ptr, kind.len);
	key_add(&key, "", 1);
	key_add(&key, name.ptr, name.len);
	return key;
}

struct hook_key
hook_key_of_lost(struct span name)
{
	struct hook_key key = hook_key_of(SPAN("hook-lost"), name);

	key_add(&key, "", 1);
	return key;
}

void
hook_key_add_number(struct hook_key *key, uint64_t number)
{
	number = __builtin_bswap64(number);
	key_add(key, &number, sizeof(number));
}

static enum err
read_record(struct hook *hook, struct span name, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	hook->name = name;
	hook->id = unpack_unsigned(&from);
	hook->url = unpack_text(&from);
	hook->events = (unsigned)unpack_unsigned(&from);
	hook->suppliers = unpack_text(&from);
	hook->secret = unpack_text(&from);
	hook->created_ms = (int64_t)unpack_unsigned(&from);
	hook->resumed_ms = (int64_t)unpack_unsigned(&from);
	return unpack_done(&from) && hook->id > 0 ? ERR_OK : ERR_DAMAGED;
}

static enum err
put_record(struct kv_txn *txn, const struct hook *hook)
{
	struct hook_key key = hook_key_of(HOOK_KIND, hook->name);
	struct buf value;

	buf_init(&value, RECORD_MAX);
	pack_add_unsigned(&value, hook->id);
	pack_add_text(&value, hook->url);
	pack_add_unsigned(&value, hook->events);
	pack_add_text(&value, hook->suppliers);
	pack_add_text(&value, hook->secret);
	pack_add_unsigned(&value, (uint64_t)hook->created_ms);
	pack_add_unsigned(&value, (uint64_t)hook->resumed_ms);
	return store_put(txn, STATE_META, hook_key_span(&key), &value);
}

enum err
hook_get_in(struct hook *hook, struct kv_txn *txn, struct span name)
{
	struct hook_key key;
	struct span value;
	enum err err;

	if (!hook_name_ok(name))
		return ERR_NOT_FOUND;
	key = hook_key_of(HOOK_KIND, name);
	err = kv_get(txn, STATE_META, hook_key_span(&key), &value);
	return err == ERR_OK ? read_record(hook, name, value) : err;
}

enum err
hook_get(struct hook *hook, struct state_view *view, struct span name)
{
	return hook_get_in(hook, state_view_txn(view), name);
}

static enum err
each_in(struct kv_txn *txn,
    enum err (*each)(void *context, const struct hook *hook), void *context)
{
	struct hook_key prefix = hook_key_of(HOOK_KIND, SPAN(""));
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, hook_key_span(&prefix), SPAN(""));
	struct span key, value;
	struct hook hook;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_record(&hook, span_from(key, prefix.len), value);
		if (err == ERR_OK)
			err = each(context, &hook);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
hook_each(struct state_view *view,
    enum err (*each)(void *context, const struct hook *hook), void *context)
{
	assert(each != NULL);
	return each_in(state_view_txn(view), each, context);
}

static enum err
add_events(void *context, const struct hook *hook)
{
	*(unsigned *)context |= hook->events;
	return ERR_OK;
}

enum err
hook_wanted(unsigned *events, struct state_view *view)
{
	*events = 0;
	return hook_each(view, add_events, events);
}

/* --- changing ------------------------------------------------------------- */

struct changing {
	struct hook hook;
	const char *actor;
	uint64_t count;
	bool is_shared;
	uint64_t removed; /* of hook_removals() */
};

static enum err
count_one(void *context, const struct hook *hook)
{
	(void)hook;
	++*(unsigned *)context;
	return ERR_OK;
}

static enum err
audit_hook(struct kv_txn *txn, const struct changing *change, struct span event)
{
	return audit_add(txn,
	    &(struct audit_entry){.event = event,
		.actor = span_of(change->actor),
		.codein = change->hook.name});
}

/* A new hook begins behind the entry that tells of it. */
static enum err
add(void *context, struct kv_txn *txn)
{
	struct changing *change = context;
	struct hook *hook = &change->hook, old;
	struct hook_at at = {.id = 0};
	unsigned count = 0;
	enum err err = hook_get_in(&old, txn, hook->name);

	if (err == ERR_OK)
		return ERR_EXISTS;
	if (err == ERR_NOT_FOUND)
		err = each_in(txn, count_one, &count);
	if (err == ERR_OK && count >= HOOK_COUNT_MAX)
		err = ERR_TOO_LARGE;
	if (err == ERR_OK)
		err = store_number(txn, newest, &hook->id);
	if (err == ERR_OK)
		err = store_set_number(txn, newest, ++hook->id);
	if (err == ERR_OK)
		err = put_record(txn, hook);
	if (err == ERR_OK)
		err = audit_hook(txn, change, SPAN("hook-added"));
	if (err == ERR_OK)
		err = store_number(txn, "audit", &at.read);
	at.id = hook->id;
	return err == ERR_OK ? hook_at_put(txn, hook->name, &at) : err;
}

enum err
hook_add(struct store *store, const struct hook *hook, const char *actor)
{
	struct changing change = {.hook = *hook, .actor = actor};

	assert(hook_name_ok(hook->name) && hook->events != 0);
	assert(hook->secret.len >= HOOK_SECRET_MIN &&
	    hook->secret.len <= HOOK_SECRET_MAX);
	change.hook.created_ms = change.hook.resumed_ms = date_now_ms();
	return store_write(store, STORE_STATE, add, &change);
}

static enum err
delete_record(struct kv_txn *txn, struct span kind, struct span name)
{
	struct hook_key key = hook_key_of(kind, name);
	enum err err = kv_del(txn, STATE_META, hook_key_span(&key));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static const char removed_name[] = "hooks-removed";
static const char ended_name[] = "hooks-ended";

static enum err
removals_in(struct hook_removals *out, struct kv_txn *txn)
{
	enum err err = store_number(txn, removed_name, &out->removed);

	return err == ERR_OK ? store_number(txn, ended_name, &out->ended) : err;
}

enum err
hook_removals(struct hook_removals *out, struct state_view *view)
{
	return removals_in(out, state_view_txn(view));
}

static enum err
read_removals(struct hook_removals *out, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	memset(out, 0, sizeof(*out));
	if (err != ERR_OK)
		return err;
	err = removals_in(out, txn);
	kv_abort(txn);
	return err;
}

struct ending {
	const struct lease *lease;
	uint64_t removed;
};

static enum err
put_ended(void *context, struct kv_txn *txn)
{
	const struct ending *ending = context;
	enum err err = lease_check(ending->lease, txn);

	return err == ERR_OK
	    ? store_set_number(txn, ended_name, ending->removed)
	    : err;
}

enum err
hook_removals_end(
    struct store *store, const struct lease *lease, uint64_t removed)
{
	struct ending ending = {lease, removed};

	return store_write(store, STORE_STATE, put_ended, &ending);
}

static enum err
count_removal(uint64_t *removed, struct kv_txn *txn)
{
	enum err err = store_number(txn, removed_name, removed);

	return err == ERR_OK ? store_set_number(txn, removed_name, ++*removed)
			     : err;
}

static enum err
take_out(void *context, struct kv_txn *txn)
{
	struct changing *change = context;
	struct span name = change->hook.name;
	struct hook old;
	enum err err = hook_get_in(&old, txn, name);

	if (err != ERR_OK && err != ERR_DAMAGED)
		return err;
	change->hook.id = err == ERR_OK ? old.id : 0;
	err = delete_record(txn, HOOK_KIND, name);
	if (err == ERR_OK)
		err = delete_record(txn, HOOK_KIND_AT, name);
	if (err == ERR_OK)
		err = hook_lost_forget(txn, name);
	if (err == ERR_OK && change->is_shared)
		err = count_removal(&change->removed, txn);
	return err == ERR_OK ? audit_hook(txn, change, SPAN("hook-removed"))
			     : err;
}

#define LOOK_EACH_US 100000

/*
 * A node that is out of reach sends nothing once its lease has ended; while this
 * one is cut off from the log, the lease ends for it, too.
 */
static enum err
wait_for_sender(struct store *store, uint64_t removed)
{
	struct hook_removals removals;
	struct lease lease;
	bool is_free = false;
	enum err err = lease_init(&lease, HOOK_LEASE);

	while (err == ERR_OK) {
		err = read_removals(&removals, store);
		if (err == ERR_OK)
			err = lease_look(
			    &lease, store, date_monotonic_ns(), &is_free);
		if (is_free || removals.ended >= removed)
			break;
		usleep(LOOK_EACH_US);
		(void)store_follow(store);
	}
	return err;
}

/*
 * The record goes first: a sender looks for it while it has the lock, before
 * each try.
 */
enum err
hook_remove(struct store *store, struct span name, const char *actor)
{
	struct changing change = {.hook = {.name = name},
	    .actor = actor,
	    .is_shared = store_is_shared(store)};
	int lock;
	enum err err = ERR_NOT_FOUND;

	assert(actor != NULL);
	if (hook_name_ok(name))
		err = store_write(store, STORE_STATE, take_out, &change);
	if (err == ERR_OK && change.is_shared)
		err = wait_for_sender(store, change.removed);
	if (err != ERR_OK || change.hook.id == 0)
		return err;
	err = store_lock_hook(&lock, store, change.hook.id, true);
	if (err != ERR_OK)
		return err;
	store_forget_hook(store, change.hook.id);
	close(lock);
	return ERR_OK;
}

static enum err
resend(void *context, struct kv_txn *txn)
{
	struct changing *change = context;
	struct hook hook;
	enum err err = hook_get_in(&hook, txn, change->hook.name);

	if (err != ERR_OK)
		return err;
	hook.resumed_ms = date_now_ms();
	err = put_record(txn, &hook); /* its texts lie in the old record */
	return err == ERR_OK
	    ? hook_lost_again(&change->count, txn, change->hook.name)
	    : err;
}

enum err
hook_resend(uint64_t *count, struct store *store, struct span name)
{
	struct changing change = {.hook = {.name = name}};
	enum err err = ERR_NOT_FOUND;

	if (hook_name_ok(name))
		err = store_write(store, STORE_STATE, resend, &change);
	*count = change.count;
	return err;
}

/* --- entries that are no decisions ---------------------------------------- */

static enum err
note(void *context, struct kv_txn *txn)
{
	return audit_add(txn, context);
}

enum err
hook_note(struct store *store, enum hook_event event, const char *actor,
    struct span what, struct span detail)
{
	struct audit_entry entry = {.event = hook_event_name(event),
	    .actor = span_of(actor),
	    .codein = span_sub(what, 0, SCHEMA_CODE_MAX),
	    .motif = span_sub(detail, 0, DETAIL_MAX)};
	struct state_view *view;
	unsigned wanted = 0;
	enum err err = state_view_open(&view, store);

	assert(event >= HOOK_IMPORTED);
	if (err == ERR_OK)
		err = hook_wanted(&wanted, view);
	state_view_close(view);
	if (err != ERR_OK || (wanted & event) == 0)
		return err;
	return store_write(store, STORE_STATE, note, &entry);
}
