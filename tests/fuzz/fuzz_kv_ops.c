/*
 * The writes of another node, as bytes: refused whole, or done; what is done is
 * noted as the same writes again.
 */
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv_ops.h"
#include "tests/fuzz/fuzz.h"

#define OPS_MAX ((size_t)1 << 20)

static struct kv *
open_tables(void)
{
	static const char *const names[] = {"one", "two", "three"};
	char dir[] = "/tmp/fuzz-ops-XXXXXX", path[FS_PATH_MAX];
	struct kv_spec spec = {.path = path,
	    .mode = KV_SHARED_LAZY,
	    .map_bytes = (size_t)64 << 20,
	    .tables = names,
	    .table_count = 3};
	struct kv *kv;

	FUZZ_CHECK(mkdtemp(dir) != NULL);
	FUZZ_CHECK(fs_path(path, "%s/a.mdb", dir) == ERR_OK);
	FUZZ_CHECK(kv_open(&kv, &spec) == ERR_OK);
	FUZZ_CHECK(unlink(path) == 0);
	FUZZ_CHECK(fs_path(path, "%s/a.mdb-lock", dir) == ERR_OK);
	FUZZ_CHECK(unlink(path) == 0 && rmdir(dir) == 0);
	return kv;
}

static enum err
apply(struct kv *kv, struct span ops, struct buf *noted)
{
	struct kv_txn *txn;
	enum err err;

	FUZZ_CHECK(kv_write(&txn, kv) == ERR_OK);
	kv_keep_ops(txn, noted);
	err = kv_apply(txn, ops);
	kv_abort(txn);
	return err;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct kv *kv;
	struct buf once, twice;
	enum err err;

	if (kv == NULL)
		kv = open_tables();
	buf_init(&once, OPS_MAX);
	buf_init(&twice, OPS_MAX);
	err = apply(kv, span_make((const char *)data, len), &once);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK(err == ERR_OK || once.len == 0);
	FUZZ_CHECK(once.len <= len);
	FUZZ_CHECK(apply(kv, buf_span(&once), &twice) == ERR_OK);
	FUZZ_CHECK(span_eq(buf_span(&once), buf_span(&twice)));
	buf_fini(&once);
	buf_fini(&twice);
	return 0;
}
