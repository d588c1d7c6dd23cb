#include "tests/lmdb-schema/plain.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/store.h"

const char *const plain_files[PLAIN_FILES] = {
    "live.mdb", "catalog.mdb", "state.mdb"};

static const char *const live[] = {"meta", "network", "gammes", "gammegen"};
static const char *const catalog[] = {"meta", "current", "retired"};

static const struct {
	const char *const *tables;
	unsigned count;
} envs[PLAIN_FILES] = {{live, 4}, {catalog, 3}, {state_tables, STATE_TABLES}};

/* Checksums are not turned on, so each value read ends with its checksum. */
static enum err
copy_table(struct kv_txn *to, struct kv_txn *from, unsigned table)
{
	struct kv_walk *walk = kv_walk_begin(from, table, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = walk == NULL ? ERR_NO_MEMORY : ERR_OK;

	while (
	    err == ERR_OK && (err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		err = value.len < sizeof(uint32_t)
		    ? ERR_DAMAGED
		    : kv_put(to, table, key,
			  span_make(value.ptr, value.len - sizeof(uint32_t)));
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
copy_tables(struct kv *to, struct kv *from, unsigned count)
{
	struct kv_txn *in, *out;
	enum err err = kv_read(&in, from);

	if (err != ERR_OK)
		return err;
	err = kv_write(&out, to);
	if (err == ERR_OK) {
		for (unsigned i = 0; i < count && err == ERR_OK; i++)
			err = copy_table(out, in, i);
		if (err == ERR_OK)
			err = store_set_number(
			    out, "schema", SCHEMA_VERSION_PLAIN);
		if (err == ERR_OK)
			err = kv_commit(out);
		else
			kv_abort(out);
	}
	kv_abort(in);
	return err;
}

enum err
plain_copy(unsigned which, const char *from, const char *to)
{
	struct kv_spec spec = {.path = from,
	    .mode = KV_FROZEN,
	    .tables = envs[which].tables,
	    .table_count = envs[which].count};
	struct kv *in, *out;
	enum err err = kv_open(&in, &spec);

	if (err != ERR_OK)
		return err;
	spec.path = to;
	spec.mode = KV_SHARED;
	spec.map_bytes = (size_t)1 << 28;
	err = kv_open(&out, &spec);
	if (err == ERR_OK) {
		err = copy_tables(out, in, envs[which].count);
		kv_close(out);
	}
	kv_close(in);
	return err;
}

enum err
plain_make(unsigned which, const char *dir)
{
	char path[FS_PATH_MAX], plain[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/%s", dir, plain_files[which]);

	if (err == ERR_OK)
		err = fs_path(plain, "%s.plain", path);
	if (err == ERR_OK)
		err = plain_copy(which, path, plain);
	if (err == ERR_OK && rename(plain, path) != 0)
		err = err_from_errno(errno);
	return err;
}
