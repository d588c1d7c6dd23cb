#include "lmdb-schema/snapshot/snapwrite.h"

#include <pthread.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/limit.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define ROWS 3
#define GENERATION 77

static struct snapwrite *writing;
static char path[FS_PATH_MAX], temporary[FS_PATH_MAX];

static void
make(void)
{
	struct snap_head head = {
	    .rows = ROWS, .slice_rows = 4096, .generation = GENERATION};

	facts_make();
	ck_assert_int_eq(
	    snapwrite_begin(&writing, facts, SPAN("S"), SPAN("Nom"), &head),
	    ERR_OK);
	store_snapshot_path(path, facts, SPAN("S"), GENERATION, "");
	store_snapshot_path(temporary, facts, SPAN("S"), GENERATION, ".tmp");
}

START_TEST(nothing_has_its_name_before_the_end)
{
	struct snapshot *snap;
	uint64_t bytes, size, on_disk;

	snapwrite_put(writing, SNAP_GAMME, "\1\2\3", ROWS);
	ck_assert_int_eq(access(temporary, F_OK), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(snapwrite_end(writing, &bytes), ERR_OK);
	ck_assert_int_ne(access(temporary, F_OK), 0);
	ck_assert_int_eq(fs_size(path, &size, &on_disk), ERR_OK);
	ck_assert_uint_eq(size, bytes);
	ck_assert_uint_lt(size, 100000); /* no sparse tail */
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("S"), GENERATION), ERR_OK);
	ck_assert_mem_eq(snapshot_gammes(snap), "\1\2\3", ROWS);
	ck_assert(span_eq(snapshot_name(snap), SPAN("Nom")));
	snapshot_close(snap);
}
END_TEST

START_TEST(sections_that_were_not_put_are_damage)
{
	struct snapshot *snap;
	uint64_t bytes;

	ck_assert_int_eq(snapwrite_end(writing, &bytes), ERR_OK);
	quiet_begin();
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("S"), GENERATION), ERR_OK);
	ck_assert_ptr_null(snapshot_gammes(snap));
	ck_assert_ptr_null(snapshot_numbers(snap, COL_totalCa));
	ck_assert_ptr_null(snapshot_order(snap, COL_codein, false));
	ck_assert_int_eq(snapshot_verify(snap, NULL, NULL), ERR_DAMAGED);
	snapshot_close(snap);
}
END_TEST

START_TEST(what_is_given_up_leaves_nothing)
{
	snapwrite_put(writing, SNAP_GAMME, "\1\2\3", ROWS);
	snapwrite_abort(writing);
	snapwrite_abort(NULL);
	ck_assert_int_ne(access(temporary, F_OK), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_leftover_of_the_same_name_is_replaced)
{
	struct snap_head head = {
	    .rows = ROWS, .slice_rows = 4096, .generation = GENERATION + 1};
	struct snapwrite *other;
	uint64_t bytes;

	snapwrite_abort(writing);
	store_snapshot_path(
	    temporary, facts, SPAN("S"), GENERATION + 1, ".tmp");
	ck_assert_int_eq(fs_replace(temporary, SPAN("rubbish"), 0640), ERR_OK);
	ck_assert_int_eq(
	    snapwrite_begin(&other, facts, SPAN("S"), SPAN(""), &head), ERR_OK);
	ck_assert_int_eq(snapwrite_end(other, &bytes), ERR_OK);
}
END_TEST

static void *
put_many(void *context)
{
	unsigned first = *(unsigned *)context;
	uint32_t order[ROWS] = {0, 1, 2};

	for (unsigned i = 0; i < 20; i++)
		snapwrite_put(
		    writing, SNAP_ASC + first + i, order, sizeof(order));
	return NULL;
}

START_TEST(threads_may_put_at_once)
{
	unsigned firsts[] = {0, 20};
	struct snapshot *snap;
	pthread_t thread;
	uint64_t bytes;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, put_many, &firsts[0]), 0);
	put_many(&firsts[1]);
	pthread_join(thread, NULL);
	ck_assert_int_eq(snapwrite_end(writing, &bytes), ERR_OK);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("S"), GENERATION), ERR_OK);
	for (unsigned i = 0; i < 40; i++)
		ck_assert_uint_eq(snapshot_order(snap, i, false)[2], 2);
	snapshot_close(snap);
}
END_TEST

START_TEST(a_full_disk_is_told_and_leaves_nothing)
{
	static char large[1 << 20];
	uint64_t bytes;
	enum err err;

	quiet_begin();
	limit_files(4 << 20);
	for (unsigned i = 0; i < 16; i++)
		snapwrite_put(writing, SNAP_ASC + i, large, sizeof(large));
	err = snapwrite_end(writing, &bytes);
	limit_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	ck_assert_int_ne(access(temporary, F_OK), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("snapwrite");
	TCase *tc = tcase_create("snapwrite");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, nothing_has_its_name_before_the_end);
	tcase_add_test(tc, sections_that_were_not_put_are_damage);
	tcase_add_test(tc, what_is_given_up_leaves_nothing);
	tcase_add_test(tc, a_leftover_of_the_same_name_is_replaced);
	tcase_add_test(tc, threads_may_put_at_once);
	tcase_add_test(tc, a_full_disk_is_told_and_leaves_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
