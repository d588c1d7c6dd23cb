/*
 * newer: a program of the next version of the log, for a node that is upgraded: it
 * is linked with a write_log.c that reads version 2, too.
 *
 * newer DIR write   writes an entry to the data directory of a node
 * newer DIR raise   looks at the nodes as gridapi does, and again when it is time
 * newer DIR version what is written, and the number of the last entry here
 */
#include <stdio.h>
#include <string.h>

#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"
#include "lmdb-schema/upkeep/log_version.h"

static enum err
put(void *context, struct kv_txn *txn)
{
	return store_set_number(txn, "newer", *(const uint64_t *)context);
}

static enum err
print_version(struct store *store)
{
	struct write_log_place place;
	struct kv_txn *txn;
	uint64_t version;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = write_log_version(&version, txn);
	if (err == ERR_OK)
		err = write_log_place(&place, txn);
	if (err == ERR_OK)
		printf("%llu %llu\n", (unsigned long long)version,
		    (unsigned long long)place.number);
	kv_abort(txn);
	return err;
}

static enum err
run(struct store *store, const char *what)
{
	const int64_t later = (LOG_VERSION_WAIT_S + 1) * INT64_C(1000000000);
	struct log_version seen = {0};
	uint64_t number = 1;
	enum err err;

	if (strcmp(what, "write") == 0)
		return store_write(store, STORE_STATE, put, &number);
	if (strcmp(what, "version") == 0)
		return print_version(store);
	err = log_version_look(&seen, store, 0);
	return err == ERR_OK ? log_version_look(&seen, store, later) : err;
}

int
main(int argc, char **argv)
{
	struct store *store = NULL;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	if (argc != 3)
		return 2;
	err = store_open(&store, argv[1], &fault);
	if (err == ERR_OK)
		err = run(store, argv[2]);
	store_close(store);
	if (err != ERR_OK)
		fprintf(stderr, "%s\n", err_text(err));
	return err == ERR_OK ? 0 : 1;
}
