/*
 * tables DIR: the tables of a data directory's state.mdb, a line each: its name,
 * how many records it has, and their SHA-256. Equal lines are equal tables. The
 * first line is the number of the log that they show.
 *
 * tables DIR live: those of live.mdb, and the files of the facts that they name,
 * with their SHA-256: what an import has made.
 *
 * tables DIR unnote: forgets of which version each snapshot is, as a program that
 * notes none leaves it.
 */
#include <stdio.h>
#include <string.h>

#include "common/digest.h"
#include "common/hex.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/store/files.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"

static enum err
digest_table(struct digest_parts *parts, struct kv_txn *txn, unsigned table,
    unsigned long *count)
{
	struct kv_walk *walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		/* Of a node that had facts of its own. */
		if (table == LIVE_META && span_eq(key, SPAN("apart")))
			continue;
		digest_parts_add(parts, key);
		digest_parts_add(parts, value);
		(*count)++;
	}
	return kv_walk_done(walk, err);
}

static enum err
print_table(struct kv_txn *txn, unsigned table, const char *name)
{
	uint8_t digest[DIGEST_SHA256_LEN];
	char text[2 * DIGEST_SHA256_LEN + 1];
	struct digest_parts *parts;
	unsigned long count = 0;
	enum err err = digest_parts_new(&parts);

	if (err != ERR_OK)
		return err;
	err = digest_table(parts, txn, table, &count);
	if (err == ERR_OK)
		err = digest_parts_end(parts, digest);
	digest_parts_free(parts);
	if (err != ERR_OK)
		return err;
	hex_text(text, digest, sizeof(digest));
	printf("%s %lu %s\n", name, count, text);
	return ERR_OK;
}

static enum err
print_all(struct store *store)
{
	struct write_log_place place;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = write_log_place(&place, txn);
	if (err == ERR_OK)
		printf("%llu\n", (unsigned long long)place.number);
	for (unsigned i = 0; i < STATE_TABLES && err == ERR_OK; i++)
		err = print_table(txn, i, state_tables[i]);
	kv_abort(txn);
	return err;
}

static enum err
print_file(void *context, const char *name)
{
	struct files_id id;
	char path[FS_PATH_MAX];
	enum err err =
	    fs_path(path, "%s/facts/%s", (const char *)context, name);

	if (err == ERR_OK)
		err = files_sum(&id, path);
	if (err == ERR_OK)
		printf("%s %s\n", name, id.name);
	return err;
}

static enum err
print_live(struct store *store, char *dir)
{
	static const char *const names[] = {
	    "meta", "network", "gammes", "gammegen"};
	struct source *source = NULL;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_live(store));

	if (err != ERR_OK)
		return err;
	for (unsigned i = LIVE_META; i <= LIVE_GAMMEGEN && err == ERR_OK; i++)
		err = print_table(txn, i, names[i]);
	kv_abort(txn);
	if (err == ERR_OK)
		err = source_open(&source, store);
	if (err == ERR_OK)
		err = source_files(source, print_file, dir);
	source_close(source);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
drop_format(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	(void)entry;
	return catalog_format_drop(context, supplier);
}

static enum err
drop_formats(void *context, struct kv_txn *txn)
{
	return catalog_each(context, drop_format, txn);
}

static enum err
unnote(struct store *store)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, store);

	if (err == ERR_OK)
		err =
		    store_write_local(store, STORE_CATALOG, drop_formats, view);
	catalog_view_close(view);
	return err;
}

static enum err
run(struct store *store, char *dir, const char *what)
{
	if (what == NULL)
		return print_all(store);
	return strcmp(what, "unnote") == 0 ? unnote(store)
					   : print_live(store, dir);
}

int
main(int argc, char **argv)
{
	struct store *store = NULL;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	if (argc != 2 && argc != 3)
		return 2;
	err = store_open(&store, argv[1], &fault);
	if (err != ERR_OK)
		fprintf(stderr, "%s: %s\n", fault.place, fault.message);
	else
		err = run(store, argv[1], argv[2]);
	store_close(store);
	return err == ERR_OK ? 0 : 1;
}
