#include "lmdb-schema/state/share.h"

#include <assert.h>
#include <string.h>

#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/store.h"

static const char name_of_record[] = "node", name_of_count[] = "nodes";

#define RECORD_MAX 512

/* --- records -------------------------------------------------------------- */

static bool
read_record(struct share_node *out, struct span name, struct span value)
{
	struct unpack from;
	bool fits;

	unpack_init(&from, value);
	fits = span_copy(out->name, sizeof(out->name), name) &&
	    span_copy(out->address, sizeof(out->address), unpack_text(&from));
	out->keep = (unsigned)unpack_unsigned(&from);
	return fits && unpack_done(&from);
}

enum err
share_read(struct share *out, struct kv_txn *txn)
{
	struct key prefix = key_prefix(span_of(name_of_record));
	struct kv_walk *walk;
	struct span key, value;
	enum err err = share_changes(&out->changes, txn);

	out->count = 0;
	if (err != ERR_OK || out->changes == 0)
		return err;
	walk = kv_walk_begin(txn, STATE_META, key_span(&prefix), SPAN(""));
	while (err == ERR_OK && out->count < SHARE_NODES_MAX) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK &&
		    read_record(
			&out->nodes[out->count], key_second(key), value))
			out->count++;
	}
	return kv_walk_done(walk, err);
}

enum err
share_changes(uint64_t *changes, struct kv_txn *txn)
{
	return store_number(txn, name_of_count, changes);
}

enum err
share_look(struct share *out, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	out->count = 0;
	out->changes = 0;
	if (err != ERR_OK)
		return err;
	err = share_read(out, txn);
	kv_abort(txn);
	return err;
}

unsigned
share_find(const struct share *share, const char *name)
{
	unsigned i = 0;

	while (i < share->count && strcmp(share->nodes[i].name, name) != 0)
		i++;
	return i;
}

/* --- the order ------------------------------------------------------------ */

/* Of the name and the supplier, with a NUL between them, which neither has. */
static uint64_t
weight_of(const struct share_node *node, struct span supplier)
{
	char text[ENGINE_NODE_NAME_MAX + SCHEMA_CODE_MAX];
	uint8_t hash[DIGEST_SHA256_LEN];
	size_t len = strlen(node->name) + 1;
	uint64_t weight = 0;

	assert(supplier.len <= SCHEMA_CODE_MAX);
	memcpy(text, node->name, len);
	memcpy(text + len, supplier.ptr, supplier.len);
	digest_sha256(hash, span_make(text, len + supplier.len));
	for (unsigned i = 0; i < 8; i++)
		weight = weight << 8 | hash[i];
	return weight;
}

/* Behind those of a greater weight; of equal ones the names decide. */
void
share_order(unsigned order[SHARE_NODES_MAX], const struct share *share,
    struct span supplier)
{
	uint64_t weights[SHARE_NODES_MAX];

	for (unsigned i = 0; i < share->count; i++) {
		unsigned at = i;

		weights[i] = weight_of(&share->nodes[i], supplier);
		for (; at > 0 && weights[order[at - 1]] < weights[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static bool
is_among_first(const struct share *share, const unsigned *order,
    unsigned number, unsigned keep)
{
	for (unsigned i = 0; i < share->count && i < keep; i++)
		if (order[i] == number)
			return true;
	return false;
}

bool
share_keeps(const struct share *share, unsigned number, struct span supplier)
{
	unsigned order[SHARE_NODES_MAX], keep;

	if (number >= share->count)
		return true;
	keep = share->nodes[number].keep;
	if (keep == 0 || keep >= share->count)
		return true;
	share_order(order, share, supplier);
	return is_among_first(share, order, number, keep);
}

/* --- writing -------------------------------------------------------------- */

static enum err
count_change(struct kv_txn *txn)
{
	uint64_t changes;
	enum err err = store_number(txn, name_of_count, &changes);

	return err == ERR_OK ? store_set_number(txn, name_of_count, changes + 1)
			     : err;
}

static enum err
put(void *context, struct kv_txn *txn)
{
	const struct share_node *node = context;
	struct key key = key_pair(span_of(name_of_record), span_of(node->name));
	struct buf value;
	enum err err;

	buf_init(&value, RECORD_MAX);
	pack_add_text(&value, span_of(node->address));
	pack_add_unsigned(&value, node->keep);
	err = store_put(txn, STATE_META, key_span(&key), &value);
	return err == ERR_OK ? count_change(txn) : err;
}

static enum err
drop(void *context, struct kv_txn *txn)
{
	struct key key = key_pair(span_of(name_of_record), span_of(context));
	enum err err = kv_del(txn, STATE_META, key_span(&key));

	if (err == ERR_NOT_FOUND)
		return ERR_OK; /* another node has dropped it */
	return err == ERR_OK ? count_change(txn) : err;
}

/* Also one beyond the list. ERR_NOT_FOUND; "" as its name: it cannot be read. */
static enum err
look_up(struct share_node *out, struct store *store, const char *name)
{
	struct key key = key_pair(span_of(name_of_record), span_of(name));
	struct span value;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = kv_get(txn, STATE_META, key_span(&key), &value);
	if (err == ERR_OK && !read_record(out, span_of(name), value))
		out->name[0] = '\0';
	kv_abort(txn);
	return err;
}

enum err
share_put(struct store *store, const struct share_node *node)
{
	struct share_node copy = *node, found;
	enum err err = look_up(&found, store, node->name);

	if (err == ERR_OK && strcmp(found.name, node->name) == 0 &&
	    found.keep == node->keep &&
	    strcmp(found.address, node->address) == 0)
		return ERR_OK;
	return err == ERR_OK || err == ERR_NOT_FOUND
	    ? store_write(store, STORE_STATE, put, &copy)
	    : err;
}

enum err
share_drop(struct store *store, const char *name)
{
	char copy[ENGINE_NODE_NAME_MAX];
	struct share_node found;
	enum err err = look_up(&found, store, name);

	if (err != ERR_OK || !span_copy(copy, sizeof(copy), span_of(name)))
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	return store_write(store, STORE_STATE, drop, copy);
}
