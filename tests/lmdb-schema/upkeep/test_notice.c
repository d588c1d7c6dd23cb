/*
 * tests/lmdb-schema/upkeep/test_notice.c: which snapshots hooks are told of, where
 * nodes share them and each keeps a part. With nodes: tests/system/hooks_nodes.py.
 */
#include "lmdb-schema/upkeep/notice.h"

#include <stdio.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/state/hook.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

static const char sha[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/* Of this node, and of the other one. */
static char kept[8], other[8];

static uint64_t entries; /* of the state */

/* A log without another writer. */
static enum err
append(struct engine *own, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)own, (void)log;
	(void)chain, (void)id, (void)entry;
	entries = after + 1;
	return ERR_OK;
}

static enum err
heads(struct engine *own, bool sure, uint64_t out[STORE_ENVS])
{
	(void)own, (void)sure;
	out[STORE_STATE] = entries;
	return ERR_OK;
}

static struct engine engine = {
    .title = "a list", .append = append, .heads = heads};

static void
add_node(const char *name)
{
	struct share_node node = {.keep = 1};

	snprintf(node.name, sizeof(node.name), "%s", name);
	strcpy(node.address, "http://127.0.0.1:1");
	ck_assert_int_eq(share_put(facts, &node), ERR_OK);
}

static void
tell_cluster(void)
{
	char path[FS_PATH_MAX];
	FILE *file;

	ck_assert_int_eq(
	    fs_path(path, "%s/cluster.conf", store_dir(facts)), ERR_OK);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs("[cluster]\netcd = http://127.0.0.1:1\nnode = here\n"
	      "address = http://127.0.0.1:1\nsecret_file = secret\nkeep = 1\n",
	    file);
	ck_assert_int_eq(fclose(file), 0);
}

static void
make(void)
{
	struct share share;

	facts_make();
	entries = 0;
	tell_cluster();
	facts_close();
	facts_open();
	store_share(facts, &engine);
	add_node("here");
	add_node("there");
	ck_assert_int_eq(share_look(&share, facts), ERR_OK);
	kept[0] = other[0] = '\0';
	for (unsigned i = 0; i < 100; i++) {
		char code[8];

		snprintf(code, sizeof(code), "S%u", i);
		if (share_keeps(
			&share, share_find(&share, "here"), span_of(code)))
			strcpy(kept, code);
		else
			strcpy(other, code);
	}
	ck_assert(kept[0] != '\0' && other[0] != '\0');
}

static struct catalog_entry
entry_of(uint64_t generation)
{
	return (struct catalog_entry){.generation = generation,
	    .computed_ms = 1000,
	    .rows = 3,
	    .facts = 4,
	    .network = 5,
	    .gamme = 6,
	    .bytes = 4096};
}

struct record {
	const char *supplier;
	uint64_t generation, format;
};

static enum err
put(void *context, struct kv_txn *txn)
{
	const struct record *record = context;
	struct computed computed = {.edition = 7,
	    .format = record->format,
	    .entry = entry_of(record->generation),
	    .node = "there",
	    .address = "http://127.0.0.1:1"};

	memcpy(computed.file.name, sha, sizeof(sha));
	computed.file.bytes = 4096;
	return computed_put(txn, span_of(record->supplier), &computed);
}

/* For all nodes. */
static void
publish(const char *supplier, uint64_t generation, uint64_t format)
{
	struct record record = {supplier, generation, format};

	ck_assert_int_eq(store_write(facts, STORE_STATE, put, &record), ERR_OK);
}

/* In this node's catalogue. */
static void
show(const char *supplier, uint64_t generation)
{
	struct catalog_entry entry = entry_of(generation);

	ck_assert_int_eq(
	    catalog_publish_shared(facts, span_of(supplier), &entry, sha, true),
	    ERR_OK);
}

static enum err
add_entry(void *context, const struct audit_entry *entry)
{
	struct buf *found = context;

	if (!span_eq(entry->event, SPAN("computed")))
		return ERR_OK;
	buf_addf(found, "%.*s:%.*s ", SPAN_ARG(entry->codein),
	    SPAN_ARG(entry->motif));
	return ERR_OK;
}

/* All entries that there are by now: the suppliers' and the generations. */
static void
must_be_told(const struct record *records, unsigned count)
{
	struct buf found, wanted;
	struct state_view *view;
	char text[KEY_GENERATION_LEN + 1];

	buf_init(&found, 4096);
	buf_init(&wanted, 4096);
	/* The second look finds nothing new. */
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(notice_look(facts, HOOK_COMPUTED), ERR_OK);
	ck_assert_int_eq(state_view_open(&view, facts), ERR_OK);
	ck_assert_int_eq(
	    trail_each(view, NULL, 1, false, add_entry, &found), ERR_OK);
	state_view_close(view);
	for (unsigned i = 0; i < count; i++) {
		key_generation_text(text, records[i].generation);
		buf_addf(&wanted, "%s:%s ", records[i].supplier, text);
	}
	buf_add_char(&found, '\0');
	buf_add_char(&wanted, '\0');
	ck_assert_str_eq(found.data, wanted.data);
	buf_fini(&found);
	buf_fini(&wanted);
}

START_TEST(a_kept_one_is_told_when_it_is_here)
{
	const struct record told[] = {{kept, 100, 0}, {kept, 101, 0}};

	publish(kept, 100, SNAP_VERSION);
	must_be_told(told, 0);
	show(kept, 100);
	must_be_told(told, 1);
	publish(kept, 101, SNAP_VERSION);
	must_be_told(told, 1);
	show(kept, 101);
	must_be_told(told, 2);
}
END_TEST

START_TEST(one_of_others_is_told_by_its_record)
{
	const struct record told[] = {{other, 100, 0}, {other, 101, 0}};

	publish(other, 100, SNAP_VERSION);
	must_be_told(told, 1);
	/* A node that is asked for a snapshot has it for a while. */
	show(other, 100);
	must_be_told(told, 1);
	publish(other, 101, SNAP_VERSION);
	must_be_told(told, 2);
}
END_TEST

START_TEST(one_of_this_node_alone_is_not_told)
{
	const struct record told[] = {
	    {kept, 100, 0}, {other, 100, 0}, {kept, 300, 0}, {other, 200, 0}};

	publish(kept, 100, SNAP_VERSION);
	publish(other, 100, SNAP_VERSION);
	show(kept, 100);
	must_be_told(told, 2);
	show(kept, 300);
	show(other, 300);
	must_be_told(told, 2);
	publish(kept, 300, SNAP_VERSION);
	publish(other, 200, SNAP_VERSION);
	must_be_told(told, 4);
}
END_TEST

START_TEST(without_a_record_the_catalogue_tells)
{
	const struct record told[] = {{kept, 100, 0}, {other, 100, 0}};

	show(kept, 100);
	must_be_told(told, 1);
	show(other, 100);
	must_be_told(told, 2);
}
END_TEST

START_TEST(one_that_this_version_cannot_read_is_told_by_its_record)
{
	const struct record told[] = {{kept, 100, 0}};

	publish(kept, 100, SNAP_VERSION + 1);
	must_be_told(told, 1);
}
END_TEST

START_TEST(what_is_there_at_first_is_no_news_when_it_comes)
{
	const struct record told[] = {{kept, 101, 0}};

	publish(kept, 100, SNAP_VERSION);
	publish(other, 100, SNAP_VERSION);
	ck_assert_int_eq(notice_begin(facts, HOOK_COMPUTED), ERR_OK);
	show(kept, 100);
	must_be_told(told, 0);
	publish(kept, 101, SNAP_VERSION);
	show(kept, 101);
	must_be_told(told, 1);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("notice");
	TCase *tc = tcase_create("notice");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, a_kept_one_is_told_when_it_is_here);
	tcase_add_test(tc, one_of_others_is_told_by_its_record);
	tcase_add_test(tc, one_of_this_node_alone_is_not_told);
	tcase_add_test(tc, without_a_record_the_catalogue_tells);
	tcase_add_test(
	    tc, one_that_this_version_cannot_read_is_told_by_its_record);
	tcase_add_test(tc, what_is_there_at_first_is_no_news_when_it_comes);
	suite_add_tcase(suite, tc);
	return suite;
}
