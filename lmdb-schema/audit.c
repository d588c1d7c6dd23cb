#include "lmdb-schema/audit.h"

#include <endian.h>
#include <string.h>

#include "common/date.h"
#include "common/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store.h"

static const char last_name[] = "audit";

enum err
audit_add(struct kv_txn *txn, const struct audit_entry *entry)
{
	struct buf value;
	uint64_t number;
	enum err err = store_number(txn, last_name, &number);

	if (err == ERR_OK)
		err = store_set_number(txn, last_name, ++number);
	if (err != ERR_OK)
		return err;
	number = htobe64(number);
	buf_init(&value, 4096);
	pack_add_unsigned(&value,
	    (uint64_t)(entry->when_ms == 0 ? date_now_ms() : entry->when_ms));
	pack_add_text(&value, entry->event);
	pack_add_text(&value, entry->actor);
	pack_add_text(&value, entry->supplier);
	pack_add_text(&value, entry->codein);
	pack_add_text(&value, entry->gamme);
	pack_add_text(&value, entry->before);
	err = buf_end(&value);
	if (err == ERR_OK)
		err = kv_put(txn, STATE_AUDIT,
		    span_make(&number, sizeof(number)), buf_span(&value));
	buf_fini(&value);
	return err;
}

static enum err
read_entry(struct audit_entry *entry, struct span key, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	entry->number = key_read_u64(key);
	entry->when_ms = (int64_t)unpack_unsigned(&from);
	entry->event = unpack_text(&from);
	entry->actor = unpack_text(&from);
	entry->supplier = unpack_text(&from);
	entry->codein = unpack_text(&from);
	entry->gamme = unpack_text(&from);
	entry->before = unpack_text(&from);
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

enum err
audit_each(struct state_view *view, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	uint64_t from = htobe64(number);
	struct kv_walk *walk = kv_walk_begin(state_view_txn(view), STATE_AUDIT,
	    SPAN(""), span_make(&from, sizeof(from)));
	struct audit_entry entry;
	struct span key, value;
	enum err err;

	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_entry(&entry, key, value);
		if (err == ERR_OK)
			err = each(context, &entry);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}
