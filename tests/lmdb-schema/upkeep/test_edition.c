/* tests/lmdb-schema/upkeep/test_edition.c: what a published import takes. */
#include "lmdb-schema/upkeep/edition.h"

#include <check.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "lmdb-schema/upkeep/edition_text.h"
#include "tests/lmdb-schema/upkeep/node_store.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct store *store;
static struct edition edition = {.number = 4, .node = "two"};

static enum err
publish(void *context, struct kv_txn *txn)
{
	(void)context;
	return edition_put(txn, edition_now, &edition);
}

static void
begin(void)
{
	memset(edition.text.name, 'a', FILES_NAME_LEN);
	store = node_store_begin(publish);
}

static void
end(void)
{
	node_store_end(store);
}

static void
write_text(void)
{
	struct edition_files files = {.number = 4};
	struct files_id file = {.bytes = 1000};
	char path[FS_PATH_MAX];
	struct buf text;

	memset(file.name, 'b', FILES_NAME_LEN);
	files.live = file;
	file.bytes = 200000;
	ck_assert_int_eq(
	    edition_text_add(&files, SPAN("000660fbaf17e70a.mdb"), &file),
	    ERR_OK);
	buf_init(&text, EDITION_TEXT_MAX);
	edition_text_write(&text, &files);
	ck_assert_int_eq(buf_end(&text), ERR_OK);
	ck_assert_int_eq(fs_mkdir(scratch_path("data/files")), ERR_OK);
	ck_assert_int_eq(
	    fs_path(path, "data/files/%s", edition.text.name), ERR_OK);
	scratch_write(path, text.data, text.len);
	buf_fini(&text);
}

START_TEST(an_import_takes_what_its_text_says_before_its_files_come)
{
	uint64_t bytes = 1;

	ck_assert_int_eq(edition_bytes(&bytes, store), ERR_OK);
	ck_assert_uint_eq(bytes, 0);
	write_text();
	ck_assert_int_eq(edition_bytes(&bytes, store), ERR_OK);
	ck_assert_uint_eq(bytes, 201000);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("edition");
	TCase *tc = tcase_create("edition");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(
	    tc, an_import_takes_what_its_text_says_before_its_files_come);
	suite_add_tcase(suite, tc);
	return suite;
}
