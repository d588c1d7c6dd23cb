#include "lmdb-schema/state/lease.h"

#include <assert.h>
#include <string.h>

#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

#define RECORD_MAX (2 * PACK_NUMBER_MAX + 2 + LEASE_HOLDER_MAX + LEASE_WHO_MAX)

static enum err
read_record(
    struct lease_record *record, const struct lease *lease, struct kv_txn *txn)
{
	struct unpack from;
	struct span value;
	enum err err = kv_get(txn, STATE_META, key_span(&lease->key), &value);

	memset(record, 0, sizeof(*record));
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	unpack_init(&from, value);
	record->token = unpack_unsigned(&from);
	record->beat = unpack_unsigned(&from);
	if (!span_copy(
		record->holder, sizeof(record->holder), unpack_text(&from)))
		return ERR_DAMAGED;
	if (!unpack_done(&from) &&
	    !span_copy(record->who, sizeof(record->who), unpack_text(&from)))
		return ERR_DAMAGED;
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

static enum err
put_record(const struct lease_record *record, const struct lease *lease,
    struct kv_txn *txn)
{
	struct buf value;

	buf_init(&value, RECORD_MAX);
	pack_add_unsigned(&value, record->token);
	pack_add_unsigned(&value, record->beat);
	pack_add_text(&value, span_of(record->holder));
	/* An earlier program reads the record of the sender. */
	if (record->who[0] != '\0')
		pack_add_text(&value, span_of(record->who));
	return store_put(txn, STATE_META, key_span(&lease->key), &value);
}

static bool
is_same(const struct lease_record *one, const struct lease_record *two)
{
	return one->token == two->token && one->beat == two->beat &&
	    strcmp(one->holder, two->holder) == 0;
}

enum err
lease_check(const struct lease *lease, struct kv_txn *txn)
{
	struct lease_record record;
	enum err err = read_record(&record, lease, txn);

	if (err == ERR_OK &&
	    (lease->token == 0 || record.token != lease->token))
		err = ERR_BUSY;
	return err;
}

/* --- writing -------------------------------------------------------------- */

struct change {
	const struct lease *lease;
	struct lease_record before, now;
};

/* In a cluster it may be called again, on a state that others have changed. */
static enum err
change_record(void *context, struct kv_txn *txn)
{
	struct change *change = context;
	struct lease_record record;
	enum err err = read_record(&record, change->lease, txn);

	if (err == ERR_OK && !is_same(&record, &change->before))
		err = ERR_BUSY;
	return err == ERR_OK ? put_record(&change->now, change->lease, txn)
			     : err;
}

static enum err
write_record(
    struct lease *lease, struct store *store, uint64_t token, int64_t now_ns)
{
	struct change change = {.lease = lease, .before = lease->seen};
	enum err err;

	change.now.token = token;
	change.now.beat = lease->seen.beat + 1;
	memcpy(change.now.holder, lease->holder, sizeof(lease->holder));
	memcpy(change.now.who, lease->who, sizeof(lease->who));
	err = store_write(store, STORE_STATE, change_record, &change);
	if (err != ERR_OK)
		return err;
	lease->token = token;
	lease->written_ns = now_ns;
	lease->seen = change.now;
	lease->seen_ns = now_ns;
	return ERR_OK;
}

/* --- holding -------------------------------------------------------------- */

static const char prefix[] = "lease";

enum err
lease_init(struct lease *lease, const char *name)
{
	memset(lease, 0, sizeof(*lease));
	lease->key = key_pair(span_of(prefix), span_of(name));
	return digest_random_text(lease->holder, LEASE_HOLDER_MAX - 1);
}

static struct key
key_for(const char *name, struct span subject)
{
	struct key pair = key_pair(span_of(name), subject);

	return key_of_pair(span_of(prefix), &pair);
}

enum err
lease_init_for(struct lease *lease, const char *name, struct span subject)
{
	enum err err = lease_init(lease, name);

	lease->key = key_for(name, subject);
	return err;
}

enum err
lease_forget(struct kv_txn *txn, const char *name, struct span subject)
{
	struct key key = key_for(name, subject);
	enum err err = kv_del(txn, STATE_META, key_span(&key));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

bool
lease_is_held(const struct lease *lease, int64_t now_ns)
{
	return lease->token != 0 && now_ns - lease->written_ns < LEASE_HELD_NS;
}

static enum err
look(struct lease *lease, struct store *store, int64_t now_ns)
{
	struct lease_record record;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = read_record(&record, lease, txn);
	kv_abort(txn);
	if (err == ERR_OK &&
	    (lease->seen_ns == 0 || !is_same(&record, &lease->seen))) {
		lease->seen = record;
		lease->seen_ns = now_ns;
	}
	return err;
}

/* Also its own, where the outcome of a write was not known. */
static bool
is_free(const struct lease *lease, int64_t now_ns)
{
	return lease->seen.holder[0] == '\0' ||
	    strcmp(lease->seen.holder, lease->holder) == 0 ||
	    now_ns - lease->seen_ns >= LEASE_ENDS_NS;
}

enum err
lease_look(
    struct lease *lease, struct store *store, int64_t now_ns, bool *is_free_now)
{
	enum err err = look(lease, store, now_ns);

	*is_free_now = err == ERR_OK && is_free(lease, now_ns);
	return err;
}

/* By what look() has seen. ERR_BUSY: it is lost. */
static enum err
renew(struct lease *lease, struct store *store, int64_t now_ns)
{
	if (lease->token != 0 && lease->seen.token != lease->token)
		lease->token = 0;
	if (lease->token == 0)
		return ERR_BUSY;
	return now_ns - lease->written_ns < LEASE_RENEWED_NS
	    ? ERR_OK
	    : write_record(lease, store, lease->token, now_ns);
}

enum err
lease_renew(struct lease *lease, struct store *store, int64_t now_ns)
{
	enum err err = look(lease, store, now_ns);

	assert(now_ns > 0);
	return err == ERR_OK ? renew(lease, store, now_ns) : err;
}

enum err
lease_hold(struct lease *lease, struct store *store, int64_t now_ns)
{
	enum err err = lease_renew(lease, store, now_ns);

	if (err == ERR_BUSY && lease->token == 0 && is_free(lease, now_ns))
		err = write_record(lease, store, lease->seen.token + 1, now_ns);
	return err;
}

enum err
lease_hold_alone(struct lease *lease, struct store *store, int64_t now_ns)
{
	enum err err = lease_hold(lease, store, now_ns);

	if (err != ERR_BUSY || lease->who[0] == '\0' ||
	    strcmp(lease->seen.who, lease->who) != 0)
		return err;
	lease_expire(lease);
	return lease_hold(lease, store, now_ns);
}

void
lease_expire(struct lease *lease)
{
	lease->seen_ns = -LEASE_ENDS_NS;
}

enum err
lease_give_back(const struct lease *lease, struct kv_txn *txn)
{
	struct lease_record record;
	enum err err = lease_check(lease, txn);

	if (err == ERR_OK)
		err = read_record(&record, lease, txn);
	if (err != ERR_OK)
		return err;
	record.holder[0] = '\0';
	record.beat++;
	return put_record(&record, lease, txn);
}

static enum err
give_back(void *context, struct kv_txn *txn)
{
	return lease_give_back(context, txn);
}

void
lease_release(struct lease *lease, struct store *store)
{
	/* Where it cannot be stored, the others wait until it ends. */
	if (lease->token != 0)
		(void)store_write(store, STORE_STATE, give_back, lease);
	lease->token = 0;
}
