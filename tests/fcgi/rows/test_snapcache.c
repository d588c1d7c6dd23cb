/* tests/fcgi/rows/test_snapcache.c: fcgi/rows/snapcache.h */
#include "fcgi/rows/snapcache.h"

#include "lmdb-schema/snapshot/catalog.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

static struct snapcache *cache;
static uint64_t generation[3];
static const char *const suppliers[] = {"S1", "S2", "S5"};

static void
make(void)
{
	struct catalog_entry entry;

	world_open();
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(catalog_current(world.server->store,
				     span_of(suppliers[i]), &entry),
		    ERR_OK);
		generation[i] = entry.generation;
	}
	cache = snapcache_new(world.server->store, 2, world.metrics);
	ck_assert_ptr_nonnull(cache);
}

static void
drop(void)
{
	snapcache_free(cache);
	ck_assert_int_eq(
	    atomic_load(&metrics_mine(world.metrics)->snapshots_open), 0);
	world_close();
}

static struct pinned *
pin(unsigned i)
{
	struct pinned *pinned;

	ck_assert_int_eq(
	    snapcache_pin(&pinned, cache, span_of(suppliers[i]), generation[i]),
	    ERR_OK);
	ck_assert(
	    span_eq(snapshot_supplier(pinned->snap), span_of(suppliers[i])));
	return pinned;
}

static int
open_now(void)
{
	return (int)atomic_load(&metrics_mine(world.metrics)->snapshots_open);
}

START_TEST(pinned_twice_is_opened_once)
{
	struct pinned *first = pin(0), *second = pin(0);

	ck_assert_ptr_eq(first, second);
	ck_assert_int_eq(open_now(), 1);
	snapcache_unpin(cache, first);
	snapcache_unpin(cache, second);
	ck_assert_int_eq(open_now(), 1); /* kept for the next */
}
END_TEST

START_TEST(least_recently_used_is_closed)
{
	struct pinned *first = pin(0), *again;

	snapcache_unpin(cache, first);
	snapcache_unpin(cache, pin(1));
	again = pin(0);
	ck_assert_ptr_eq(again, first);
	snapcache_unpin(cache, again);
	snapcache_unpin(cache, pin(2)); /* in the place of the second */
	ck_assert_int_eq(open_now(), 2);
	again = pin(0);
	ck_assert_ptr_eq(again, first);
	snapcache_unpin(cache, again);
}
END_TEST

START_TEST(pinned_one_stays_beyond_the_most)
{
	struct pinned *pinned[3];

	for (unsigned i = 0; i < 3; i++)
		pinned[i] = pin(i);
	ck_assert_int_eq(open_now(), 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_gt(snapshot_rows(pinned[i]->snap), 0);
		snapcache_unpin(cache, pinned[i]);
	}
	snapcache_unpin(cache, pin(2));
}
END_TEST

START_TEST(idle_ones_are_closed_pinned_ones_not)
{
	struct pinned *first = pin(0);

	snapcache_unpin(cache, pin(1));
	snapcache_tick(cache, 3600);
	ck_assert_int_eq(open_now(), 2);
	snapcache_tick(cache, -1);
	ck_assert_int_eq(open_now(), 1);
	ck_assert_uint_eq(snapshot_rows(first->snap), 7);
	snapcache_unpin(cache, first);
}
END_TEST

START_TEST(what_is_not_there_is_not_kept)
{
	struct pinned *pinned;

	ck_assert_int_eq(
	    snapcache_pin(&pinned, cache, SPAN("S1"), 1), ERR_NOT_FOUND);
	ck_assert_ptr_null(pinned);
	ck_assert_int_eq(
	    snapcache_pin(&pinned, cache, SPAN("S2"), generation[0]),
	    ERR_NOT_FOUND);
	ck_assert_int_eq(open_now(), 0);
	snapcache_unpin(cache, NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("snapcache");
	TCase *tc = tcase_create("snapcache");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, pinned_twice_is_opened_once);
	tcase_add_test(tc, least_recently_used_is_closed);
	tcase_add_test(tc, pinned_one_stays_beyond_the_most);
	tcase_add_test(tc, idle_ones_are_closed_pinned_ones_not);
	tcase_add_test(tc, what_is_not_there_is_not_kept);
	suite_add_tcase(suite, tc);
	return suite;
}
