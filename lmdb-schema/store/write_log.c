#include "lmdb-schema/store/write_log.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv_ops.h"
#include "common/log.h"
#include "common/seldom.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/zstd.h"

#define META 0
_Static_assert(ENGINE_CHAIN_LEN == DIGEST_SHA256_LEN, "a chain's length");
_Static_assert(ENGINE_CHAIN_AT == 1 + ENGINE_ID_LEN, "where a chain lies");

#define HEAD_LEN (1 + ENGINE_ID_LEN + DIGEST_SHA256_LEN + 8 + 4)

/* A test of upgrades makes a program of the next version by it. */
#ifndef WRITE_LOG_VERSION
#define WRITE_LOG_VERSION 1
#endif

static const char place_name[] = "log", version_name[] = "log-version";

/* --- the place ------------------------------------------------------------ */

enum err
write_log_place(struct write_log_place *out, struct kv_txn *txn)
{
	struct span value;
	enum err err = kv_get(txn, META, span_of(place_name), &value);

	memset(out, 0, sizeof(*out));
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	if (value.len != sizeof(uint64_t) + sizeof(out->chain))
		return ERR_DAMAGED;
	memcpy(&out->number, value.ptr, sizeof(out->number));
	out->number = le64toh(out->number);
	memcpy(out->chain, value.ptr + sizeof(out->number), sizeof(out->chain));
	return ERR_OK;
}

enum err
write_log_place_of(struct write_log_place *place, struct kv *kv)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, kv);

	if (err != ERR_OK)
		return err;
	err = write_log_place(place, txn);
	kv_abort(txn);
	return err;
}

enum err
write_log_put_place(struct kv_txn *txn, const struct write_log_place *place)
{
	char value[sizeof(uint64_t) + sizeof(place->chain)];
	uint64_t number = htole64(place->number);

	memcpy(value, &number, sizeof(number));
	memcpy(value + sizeof(number), place->chain, sizeof(place->chain));
	return kv_put(
	    txn, META, span_of(place_name), span_make(value, sizeof(value)));
}

/* Moves the place behind an entry of these writes. */
static enum err
advance(struct write_log_place *place, struct span ops)
{
	struct digest_parts *parts;
	enum err err = digest_parts_new(&parts);

	if (err != ERR_OK)
		return err;
	digest_parts_add(
	    parts, span_make((const char *)place->chain, sizeof(place->chain)));
	digest_parts_add(parts, ops);
	err = digest_parts_end(parts, place->chain);
	digest_parts_free(parts);
	place->number++;
	return err;
}

/* --- versions ------------------------------------------------------------- */

unsigned
write_log_newest(void)
{
	return WRITE_LOG_VERSION;
}

enum err
write_log_version(uint64_t *out, struct kv_txn *txn)
{
	struct span value;
	enum err err = kv_get(txn, META, span_of(version_name), &value);

	*out = err == ERR_OK ? key_value_u64(value) : 1;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
write_log_raise(struct kv_txn *txn, uint64_t version)
{
	struct key value = key_of_u64(version);
	uint64_t now;
	enum err err = write_log_version(&now, txn);

	return err == ERR_OK && version > now
	    ? kv_put(txn, META, span_of(version_name), key_span(&value))
	    : err;
}

/* --- entries -------------------------------------------------------------- */

static enum err
make_entry(struct buf *out, unsigned version,
    const struct write_log_place *place, const uint8_t id[ENGINE_ID_LEN],
    struct span ops)
{
	buf_add_char(out, (char)version);
	buf_add(out, id, ENGINE_ID_LEN);
	buf_add(out, place->chain, sizeof(place->chain));
	buf_add_u64(out, (uint64_t)date_now_ms());
	buf_add_u32(out, (uint32_t)ops.len);
	zstd_pack(NULL, out, ops);
	return buf_end(out);
}

struct entry {
	const uint8_t *chain;
	uint32_t ops_len;
	struct span packed;
};

static enum err
read_entry(struct entry *entry, struct span bytes)
{
	const char *at = bytes.ptr;

	if (bytes.len > 0 && (unsigned char)at[0] > WRITE_LOG_VERSION)
		return ERR_VERSION;
	if (bytes.len < HEAD_LEN || at[0] < 1)
		return ERR_DAMAGED;
	entry->chain = (const uint8_t *)at + 1 + ENGINE_ID_LEN;
	memcpy(&entry->ops_len, at + HEAD_LEN - sizeof(entry->ops_len),
	    sizeof(entry->ops_len));
	entry->ops_len = le32toh(entry->ops_len);
	entry->packed = span_from(bytes, HEAD_LEN);
	return entry->ops_len <= WRITE_LOG_OPS_MAX ? ERR_OK : ERR_DAMAGED;
}

/* The writes of the entry, in `ops`, if they follow the chain. */
static enum err
take_ops(struct buf *ops, struct write_log_place *place, struct span bytes)
{
	struct entry entry;
	enum err err = read_entry(&entry, bytes);

	if (err == ERR_OK)
		err = zstd_unpack(ops, entry.packed, entry.ops_len);
	if (err == ERR_OK)
		err = advance(place, buf_span(ops));
	if (err == ERR_OK &&
	    memcmp(place->chain, entry.chain, sizeof(place->chain)) != 0)
		err = ERR_FORKED;
	return err == ERR_BAD_INPUT ? ERR_DAMAGED : err;
}

enum err
write_log_check(const struct write_log_place *place, struct span entry)
{
	struct write_log_place next = *place;
	struct buf ops;
	enum err err;

	buf_init(&ops, WRITE_LOG_OPS_MAX);
	err = take_ops(&ops, &next, entry);
	buf_fini(&ops);
	return err;
}

static enum err
apply(struct kv_txn *txn, uint64_t number, struct span entry)
{
	struct write_log_place place;
	struct buf ops;
	enum err err = write_log_place(&place, txn);

	if (err != ERR_OK)
		return err;
	if (number != place.number + 1)
		return number <= place.number ? ERR_EXISTS : ERR_NOT_FOUND;
	buf_init(&ops, WRITE_LOG_OPS_MAX);
	err = take_ops(&ops, &place, entry);
	if (err == ERR_OK)
		err = kv_apply(txn, buf_span(&ops));
	buf_fini(&ops);
	if (err == ERR_BAD_INPUT)
		err = ERR_DAMAGED;
	return err == ERR_OK ? write_log_put_place(txn, &place) : err;
}

/* Each beginning enlarges a map that was full by half. */
#define TRIES 40

enum err
write_log_apply(struct kv *kv, uint64_t number, struct span entry)
{
	enum err err = ERR_MAP_FULL;

	assert(number > 0);
	for (unsigned i = 0; i < TRIES && err == ERR_MAP_FULL; i++) {
		struct kv_txn *txn;

		err = kv_write(&txn, kv);
		if (err != ERR_OK)
			return err;
		err = apply(txn, number, entry);
		if (err == ERR_OK)
			err = kv_commit(txn);
		else
			kv_abort(txn);
	}
	return err;
}

/* --- a log that has not what is here -------------------------------------- */

/* Each refused write and each look meets it. */
static enum err
tell_forked(uint64_t number)
{
	uint64_t before;

	if (seldom_fails_of("log: fork", &before, date_monotonic_ns()))
		log_error("log: it has lost entries that this node has: "
			  "number=%llu times=%llu: was it restored from an "
			  "older copy, begun without its data, or was another "
			  "one named? 'gridctl cluster status' says what to do",
		    (unsigned long long)number, (unsigned long long)before + 1);
	return ERR_FORKED;
}

static enum err
tell_ended(void)
{
	uint64_t before;

	if (seldom_fails_of("log: end", &before, date_monotonic_ns()))
		log_error("log: it has ended for this node, and the cluster "
			  "has begun again: times=%llu: 'gridctl cluster "
			  "status' says what to do",
		    (unsigned long long)before + 1);
	return ERR_OUTRUN;
}

/*
 * The log has fewer entries than the environment: lost, or the cluster has begun
 * again without this node.
 */
static enum err
find_loss(struct engine *engine, struct kv_txn *txn, uint64_t number)
{
	struct buf text;
	uint64_t own, now;
	enum err err = store_number(txn, "epoch", &own);

	buf_init(&text, ENGINE_EPOCH_TEXT_MAX);
	if (err == ERR_OK)
		err = engine->epoch(engine, &text);
	now = engine_epoch_number(buf_span(&text));
	buf_fini(&text);
	if (err != ERR_OK)
		return err;
	return now > own ? tell_ended() : tell_forked(number);
}

static enum err
find_loss_of(struct engine *engine, struct kv *kv, uint64_t number)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, kv);

	if (err != ERR_OK)
		return err;
	err = find_loss(engine, txn, number);
	kv_abort(txn);
	return err;
}

/* --- following ------------------------------------------------------------ */

static enum err
follow_one(void *context, uint64_t number, struct span entry)
{
	enum err err = write_log_apply(context, number, entry);

	if (err == ERR_VERSION)
		log_error(
		    "log: an entry is of a later version of this program, "
		    "this node stays as it is: number=%llu: install the "
		    "version that the other nodes have",
		    (unsigned long long)number);
	else if (err == ERR_DAMAGED)
		log_error("log: an entry of another node cannot be applied, "
			  "this node stays as it is: number=%llu error=%s",
		    (unsigned long long)number, err_text(err));
	else if (err == ERR_FORKED)
		tell_forked(number - 1);
	return err == ERR_EXISTS ? ERR_OK : err;
}

enum err
write_log_catch_up(struct engine *engine, enum store_env log, struct kv *kv)
{
	uint64_t heads[STORE_ENVS] = {0};
	struct write_log_place place;
	enum err err = write_log_place_of(&place, kv);

	/* The place first: another process may move it, and then the log. */
	if (err == ERR_OK)
		err = engine->heads(engine, false, heads);
	if (err == ERR_OK && heads[log] < place.number)
		err = engine->heads(engine, true, heads);
	if (err != ERR_OK || heads[log] == place.number)
		return err;
	if (heads[log] < place.number)
		return find_loss_of(engine, kv, place.number);
	err = write_log_follow(engine, log, kv);
	if (err == ERR_OK)
		err = write_log_place_of(&place, kv);
	/* No entry is left to tell that others are missing. */
	if (err == ERR_OK && place.number < heads[log])
		err = ERR_OUTRUN;
	return err == ERR_OUTRUN && heads[log] >= ENGINE_ENDED ? tell_ended()
							       : err;
}

enum err
write_log_follow(struct engine *engine, enum store_env log, struct kv *kv)
{
	struct write_log_place place;
	enum err err = write_log_place_of(&place, kv);

	if (err != ERR_OK)
		return err;
	err = engine->read(engine, log, place.number, follow_one, kv);
	return err == ERR_NOT_FOUND ? ERR_OUTRUN : err;
}

/* --- committing ----------------------------------------------------------- */

/* With the last request's limit, 2 s: others wait for the environment. */
#define PATIENCE_NS INT64_C(1350000000)
#define PAUSE_US 10000

static enum err
append(struct engine *engine, enum store_env log,
    const struct write_log_place *after, const uint8_t id[ENGINE_ID_LEN],
    struct span entry)
{
	const struct span name = span_make((const char *)id, ENGINE_ID_LEN);
	const struct span chain =
	    span_make((const char *)after->chain, sizeof(after->chain));
	int64_t end = date_monotonic_ns() + PATIENCE_NS;
	enum err err;

	for (;;) {
		err = engine->append(
		    engine, log, after->number, chain, name, entry);
		if (err != ERR_UNKNOWN || date_monotonic_ns() >= end)
			return err;
		usleep(PAUSE_US);
	}
}

static enum err
append_ops(struct engine *engine, enum store_env log, struct kv_txn *txn,
    struct span ops)
{
	struct write_log_place place, before;
	uint8_t id[ENGINE_ID_LEN];
	struct buf entry;
	uint64_t version;
	enum err err = write_log_place(&place, txn);

	before = place;
	if (err == ERR_OK)
		err = write_log_version(&version, txn);
	/* By a checkpoint, or as a later program wrote here. */
	if (err == ERR_OK && version > WRITE_LOG_VERSION)
		err = ERR_VERSION;
	if (err == ERR_OK)
		err = digest_random(id, sizeof(id));
	if (err == ERR_OK)
		err = advance(&place, ops);
	if (err != ERR_OK)
		return err;
	buf_init(&entry, WRITE_LOG_OPS_MAX);
	err = make_entry(&entry, (unsigned)version, &place, id, ops);
	/* The steps that may fail here come before the append. */
	if (err == ERR_OK)
		err = write_log_put_place(txn, &place);
	if (err == ERR_OK)
		err = append(engine, log, &before, id, buf_span(&entry));
	buf_fini(&entry);
	return err == ERR_FORKED ? find_loss(engine, txn, before.number) : err;
}

static enum err
tell_behind(void *context, uint64_t number, struct span entry)
{
	(void)context;
	(void)number;
	(void)entry;
	return ERR_BEHIND;
}

/*
 * Writes that change nothing say what the state is: they count where no entry is
 * missing here. Without an entry to read, others are trimmed.
 */
static enum err
confirm(struct engine *engine, enum store_env log, struct kv_txn *txn)
{
	uint64_t heads[STORE_ENVS] = {0};
	struct write_log_place place;
	enum err err = write_log_place(&place, txn);

	if (err == ERR_OK)
		err = engine->heads(engine, true, heads);
	if (err != ERR_OK || heads[log] == place.number)
		return err;
	if (heads[log] < place.number)
		return find_loss(engine, txn, place.number);
	err = engine->read(engine, log, place.number, tell_behind, NULL);
	return err == ERR_OK ? ERR_NOT_FOUND : err;
}

enum err
write_log_commit(struct engine *engine, enum store_env log, struct kv_txn *txn,
    struct buf *ops)
{
	enum err err = buf_end(ops);

	assert(engine != NULL && log < STORE_ENVS);
	kv_keep_ops(txn, NULL);
	if (err == ERR_OK)
		err = ops->len == 0
		    ? confirm(engine, log, txn)
		    : append_ops(engine, log, txn, buf_span(ops));
	if (err != ERR_OK) {
		kv_abort(txn);
		return err == ERR_NOT_FOUND ? ERR_OUTRUN : err;
	}
	err = kv_commit(txn);
	return err == ERR_OK || ops->len == 0 ? err : ERR_STORED;
}
