#include "common/kv/kv_ops.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "common/kv/kv_priv.h"

void
kv_keep_ops(struct kv_txn *txn, struct buf *ops)
{
	assert(txn->writer);
	assert(ops == NULL || txn->ops == NULL || txn->ops == ops);
	txn->ops = ops;
}

static void
begin_op(struct buf *ops, enum kv_op kind, unsigned table)
{
	buf_add_char(ops, (char)kind);
	buf_add_char(ops, (char)table);
}

void
kv_note_put(
    struct kv_txn *txn, unsigned table, struct span key, struct span value)
{
	begin_op(txn->ops, KV_OP_PUT, table);
	buf_add_u16(txn->ops, (uint16_t)key.len);
	buf_add_u32(txn->ops, (uint32_t)value.len);
	buf_add_span(txn->ops, key);
	buf_add_span(txn->ops, value);
}

void
kv_note_del(struct kv_txn *txn, unsigned table, struct span key)
{
	begin_op(txn->ops, KV_OP_DEL, table);
	buf_add_u16(txn->ops, (uint16_t)key.len);
	buf_add_span(txn->ops, key);
}

void
kv_note_clear(struct kv_txn *txn, unsigned table)
{
	begin_op(txn->ops, KV_OP_CLEAR, table);
}

/* --- reading -------------------------------------------------------------- */

struct op {
	enum kv_op kind;
	unsigned table;
	struct span key, value;
};

/* Takes `len` bytes off the front of *from. */
static bool
take(struct span *from, size_t len, struct span *out)
{
	if (from->len < len)
		return false;
	*out = span_make(from->ptr, len);
	*from = span_make(from->ptr + len, from->len - len);
	return true;
}

static bool
take_len(struct span *from, size_t bytes, size_t *len)
{
	uint32_t number = 0;
	struct span text;

	if (!take(from, bytes, &text))
		return false;
	memcpy(&number, text.ptr, bytes);
	*len = le32toh(number);
	return true;
}

static bool
take_op(struct span *from, unsigned tables, struct op *op)
{
	size_t key_len = 0, value_len = 0;
	struct span head;

	if (!take(from, 2, &head))
		return false;
	*op = (struct op){.kind = (enum kv_op)(unsigned char)head.ptr[0],
	    .table = (unsigned char)head.ptr[1]};
	if (op->table >= tables)
		return false;
	if (op->kind == KV_OP_CLEAR)
		return true;
	if (op->kind != KV_OP_PUT && op->kind != KV_OP_DEL)
		return false;
	if (!take_len(from, sizeof(uint16_t), &key_len) ||
	    (op->kind == KV_OP_PUT &&
		!take_len(from, sizeof(uint32_t), &value_len)))
		return false;
	return key_len > 0 && key_len <= KV_KEY_MAX &&
	    take(from, key_len, &op->key) && take(from, value_len, &op->value);
}

static enum err
do_op(struct kv_txn *txn, const struct op *op)
{
	enum err err;

	if (op->kind == KV_OP_PUT)
		return kv_put(txn, op->table, op->key, op->value);
	if (op->kind == KV_OP_CLEAR)
		return kv_clear(txn, op->table);
	err = kv_del(txn, op->table, op->key);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* The table numbers that a caller may use: 0 is there without tables, too. */
static unsigned
tables_of(const struct kv_txn *txn)
{
	return txn->kv->table_count > 0 ? txn->kv->table_count : 1;
}

enum err
kv_apply(struct kv_txn *txn, struct span ops)
{
	struct span rest = ops;
	enum err err = ERR_OK;
	struct op op;

	assert(txn->writer);
	while (rest.len > 0)
		if (!take_op(&rest, tables_of(txn), &op))
			return ERR_BAD_INPUT;
	rest = ops;
	while (rest.len > 0 && err == ERR_OK &&
	    take_op(&rest, tables_of(txn), &op))
		err = do_op(txn, &op);
	return err;
}
