#include "lmdb-schema/state/audit.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/store/store.h"

#define ENTRY_MAX 4096 /* a motif has up to 2,000 bytes */

static const char last_name[] = "audit";

static void
pack_entry(struct buf *value, const struct audit_entry *entry)
{
	pack_add_unsigned(value,
	    (uint64_t)(entry->when_ms == 0 ? date_now_ms() : entry->when_ms));
	pack_add_text(value, entry->event);
	pack_add_text(value, entry->actor);
	pack_add_text(value, entry->supplier);
	pack_add_text(value, entry->codein);
	pack_add_text(value, entry->gamme);
	pack_add_text(value, entry->before);
	if (entry->motif.len + entry->author.len + entry->recorded.len == 0)
		return;
	pack_add_text(value, entry->motif);
	pack_add_text(value, entry->author);
	pack_add_unsigned(value, (uint64_t)entry->proposed_ms);
	pack_add_text(value, entry->recorded);
}

void
audit_begin(struct audit *audit, struct kv_txn *txn)
{
	assert(txn != NULL);
	*audit = (struct audit){.txn = txn};
	buf_init(&audit->value, ENTRY_MAX);
}

static enum err
read_last(struct audit *audit)
{
	enum err err;

	if (audit->known)
		return ERR_OK;
	err = store_number(audit->txn, last_name, &audit->last);
	if (err == ERR_OK)
		err = trail_catch_up(audit->txn, audit->last);
	audit->known = err == ERR_OK;
	return err;
}

/* Numbers only grow, so that each entry is appended. */
enum err
audit_note(struct audit *audit, const struct audit_entry *entry)
{
	uint64_t number;
	enum err err = read_last(audit);

	assert(audit->txn != NULL && entry->event.len > 0);
	if (err != ERR_OK)
		return err;
	audit->noted = true;
	number = htobe64(++audit->last);
	buf_clear(&audit->value);
	pack_entry(&audit->value, entry);
	err = buf_end(&audit->value);
	if (err != ERR_OK)
		return err;
	err = kv_append(audit->txn, STATE_AUDIT,
	    span_make(&number, sizeof(number)), buf_span(&audit->value));
	return err == ERR_OK ? trail_add(audit->txn, audit->last, entry) : err;
}

enum err
audit_end(struct audit *audit, enum err err)
{
	assert(audit->txn != NULL);
	buf_fini(&audit->value);
	if (err != ERR_OK || !audit->noted)
		return err;
	err = store_set_number(audit->txn, last_name, audit->last);
	return err == ERR_OK ? trail_done(audit->txn, audit->last) : err;
}

enum err
audit_add(struct kv_txn *txn, const struct audit_entry *entry)
{
	struct audit audit;

	audit_begin(&audit, txn);
	return audit_end(&audit, audit_note(&audit, entry));
}

enum err
audit_read(struct audit_entry *entry, uint64_t number, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	entry->number = number;
	entry->when_ms = (int64_t)unpack_unsigned(&from);
	entry->event = unpack_text(&from);
	entry->actor = unpack_text(&from);
	entry->supplier = unpack_text(&from);
	entry->codein = unpack_text(&from);
	entry->gamme = unpack_text(&from);
	entry->before = unpack_text(&from);
	entry->motif = entry->author = entry->recorded = SPAN("");
	entry->proposed_ms = 0;
	if (from.at < from.end) {
		entry->motif = unpack_text(&from);
		entry->author = unpack_text(&from);
		entry->proposed_ms = (int64_t)unpack_unsigned(&from);
		entry->recorded = unpack_text(&from);
	}
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

enum err
audit_each(struct state_view *view, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	return trail_each(view, NULL, number, false, each, context);
}

enum err
audit_each_in(struct kv_txn *txn, uint64_t number,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	uint64_t from = htobe64(number);
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_AUDIT, SPAN(""), span_make(&from, sizeof(from)));
	struct audit_entry entry;
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = audit_read(&entry, key_read_u64(key), value);
		if (err == ERR_OK)
			err = each(context, &entry);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}
