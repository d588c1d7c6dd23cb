#include "tests/lmdb-schema/old_facts.h"

#include <check.h>
#include <endian.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/mirror.h"

struct making {
	struct kv_txn *from, *to;
	struct span merged; /* the only supplier of a merge; empty: all */
	uint64_t part; /* that has the others; 0: none */
	uint32_t crc;
};

/* A supplier that the merge does not bring names the file that has it. */
static void
put_supplier(struct making *making, struct span key, struct span value)
{
	struct buf buf;

	buf_init(&buf, 1 << 20);
	buf_add_span(&buf, value);
	if (making->part != 0 && !span_eq(key, making->merged))
		pack_add_unsigned(&buf, making->part);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	making->crc = source_pair_crc(making->crc, key, buf_span(&buf));
	ck_assert_int_eq(
	    kv_append(making->to, FACTS_SUPPLIERS, key, buf_span(&buf)),
	    ERR_OK);
	buf_fini(&buf);
}

static void
put_pair(
    struct making *making, unsigned table, struct span key, struct span value)
{
	if (table == FACTS_SUPPLIERS) {
		put_supplier(making, key, value);
		return;
	}
	if (making->part != 0 &&
	    (table == FACTS_WHERE ||
		(table == FACTS_ARTICLES &&
		    !span_eq(key_first(key), making->merged))))
		return;
	if (table != FACTS_ARTICLES)
		making->crc = source_pair_crc(making->crc, key, value);
	ck_assert_int_eq(kv_append(making->to, table, key, value), ERR_OK);
}

static void
put_tables(struct making *making)
{
	static const unsigned tables[] = {FACTS_ARTICLES, FACTS_SUPPLIERS,
	    FACTS_STORES, FACTS_CLASSES, FACTS_WHERE};
	struct span key, value;

	for (unsigned i = 0; i < 5; i++) {
		struct kv_walk *walk =
		    kv_walk_begin(making->from, tables[i], SPAN(""), SPAN(""));

		while (kv_walk_next(walk, &key, &value) == ERR_OK)
			put_pair(making, tables[i], key, value);
		kv_walk_end(walk);
	}
}

/* A record of meta that ends with its checksum. */
static void
put_summed(struct making *making, struct span key, struct buf *buf)
{
	pack_add_unsigned(buf, source_pair_crc(0, key, buf_span(buf)));
	ck_assert_int_eq(buf_end(buf), ERR_OK);
	ck_assert_int_eq(
	    kv_put(making->to, FACTS_META, key, buf_span(buf)), ERR_OK);
	buf_clear(buf);
}

static void
put_meta(struct making *making, struct source *source)
{
	const struct source_header *header = source_header(source);
	struct buf buf;

	buf_init(&buf, 1 << 20);
	pack_add_unsigned(&buf, (uint64_t)header->newest_month);
	pack_add_unsigned(&buf, header->suppliers);
	pack_add_unsigned(&buf, header->stores);
	pack_add_unsigned(&buf, header->classes);
	pack_add_unsigned(&buf, header->articles);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		pack_add_unsigned(&buf, header->records[i]);
	pack_add_unsigned(&buf, making->crc);
	put_summed(making, SPAN("header"), &buf);
	if (making->part != 0) {
		pack_add_unsigned(&buf, making->part);
		pack_add_unsigned(&buf, 1);
		pack_add_unsigned(&buf, making->part);
		put_summed(making, SOURCE_PARTS_KEY, &buf);
	}
	buf_fini(&buf);
	ck_assert_int_eq(kv_put(making->to, FACTS_META, SOURCE_COMMON_KEY,
			     source_common(source)),
	    ERR_OK);
	ck_assert_int_eq(
	    store_set_number(making->to, "schema", SCHEMA_FACTS_VERSION_WHOLE),
	    ERR_OK);
}

/* Makes a file of the current facts, in the folder of facts. */
static void
make_file(struct store *store, struct source *source, uint64_t generation,
    struct span merged, uint64_t part)
{
	struct making making = {.merged = merged, .part = part};
	char path[FS_PATH_MAX];
	struct kv *from, *to;

	ck_assert_int_eq(
	    store_facts_path(path, store, source_generation(source), ""),
	    ERR_OK);
	ck_assert_int_eq(store_facts_open(&from, path), ERR_OK);
	ck_assert_int_eq(store_facts_path(path, store, generation, ""), ERR_OK);
	ck_assert_int_eq(store_facts_create(&to, path), ERR_OK);
	ck_assert_int_eq(kv_read(&making.from, from), ERR_OK);
	ck_assert_int_eq(kv_write(&making.to, to), ERR_OK);
	put_tables(&making);
	put_meta(&making, source);
	ck_assert_int_eq(kv_commit(making.to), ERR_OK);
	kv_abort(making.from);
	kv_close(from);
	ck_assert_int_eq(kv_finish(to, path, ERR_OK), ERR_OK);
}

/* As a program of before left the live data: its version, too. */
static void
make_current(struct store *store, uint64_t generation)
{
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_live(store)), ERR_OK);
	ck_assert_int_eq(store_set_number(txn, "facts", generation), ERR_OK);
	ck_assert_int_eq(store_raise_version(txn, SCHEMA_VERSION), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

uint64_t
old_facts_make(struct store *store, struct span merged)
{
	struct source *source;
	char path[FS_PATH_MAX];
	uint64_t first, second;

	ck_assert_int_eq(source_open(&source, store), ERR_OK);
	ck_assert_uint_eq(source_shares(source), 1);
	first = source_generation(source) + 1;
	second = first + 1;
	make_file(store, source, first, merged, 0);
	make_file(store, source, second, merged, first);
	make_current(store, second);
	ck_assert_int_eq(
	    store_facts_path(path, store, source_generation(source), ""),
	    ERR_OK);
	source_close(source);
	ck_assert_int_eq(fs_unlink(path), ERR_OK);
	return second;
}
