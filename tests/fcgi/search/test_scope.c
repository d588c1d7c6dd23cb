/* tests/fcgi/search/test_scope.c: fcgi/search/scope.h; what searches answer
 * by it is
 * test_serve.c's and the flow's. */
#include "fcgi/search/scope.h"

#include "common/fs.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/support/run.h"

static struct call call;

static struct scope *
get(unsigned from)
{
	struct scope *scope;

	call = world_call();
	ck_assert_int_eq(scope_all(&scope, &call, from, NULL), ERR_OK);
	return scope;
}

static int
open_now(void)
{
	return (int)atomic_load(&metrics_mine(world.metrics)->snapshots_open);
}

static bool
is_of(const struct scope *scope, unsigned i, const char *supplier)
{
	return span_eq(
	    snapshot_supplier(scope->views[i].pinned->snap), span_of(supplier));
}

/* Lets go of what a request has taken. */
static void
end(void)
{
	call_release_held(world.serving);
	views_rest(&world.serving->views);
}

START_TEST(all_that_were_computed_are_on_it)
{
	struct scope *scope = get(0);

	ck_assert_uint_eq(scope->count, 3);
	ck_assert_uint_eq(scope->next, 0);
	ck_assert_int_eq(scope->absent, 1); /* S3; S4 has no article */
	ck_assert(is_of(scope, 0, "S1"));
	ck_assert(is_of(scope, 1, "S2"));
	ck_assert(is_of(scope, 2, "S5"));
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(scope->hays[i].rows,
		    snapshot_rows(scope->views[i].pinned->snap));
	scope_release(scope);
	end();
}
END_TEST

START_TEST(same_one_serves_until_something_is_written)
{
	struct scope *first = get(0), *second;
	uint64_t sum = first->sum;

	end();
	second = get(0);
	ck_assert_ptr_eq(first, second);
	scope_release(second);
	end();
	world_gridctl("compute S2");
	second = get(0);
	ck_assert_ptr_ne(first, second);
	ck_assert_uint_ne(second->sum, sum);
	/* A search has the scope that it began with to the end. */
	ck_assert(is_of(first, 1, "S2"));
	ck_assert_int_eq(open_now(), 4);
	scope_release(first);
	scope_release(second);
	end();
}
END_TEST

START_TEST(more_than_may_be_open_come_in_parts)
{
	static const char *const suppliers[] = {"S1", "S2", "S5"};
	unsigned from = 0;

	world.settings.snapshots_open = 1;
	for (unsigned i = 0; i < 3; i++) {
		struct scope *part = get(from);

		ck_assert_uint_eq(part->count, 1);
		ck_assert(is_of(part, 0, suppliers[i]));
		from = part->next;
		ck_assert_uint_eq(from, i < 2 ? i + 1 : 0);
		scope_release(part);
		end();
	}
}
END_TEST

START_TEST(one_that_is_held_stays_until_the_answer_is_put)
{
	struct scope *scope = get(0);
	struct snapshot *snap = scope->views[0].pinned->snap;

	scope_hold(scope, &call);
	scope_slot_tick(world.server->scope, -1); /* any use is too old */
	snapcache_tick(world.server->snapcache, -1);
	ck_assert_int_eq(open_now(), 3);
	ck_assert(span_eq(snapshot_supplier(snap), SPAN("S1")));
	end();
	snapcache_tick(world.server->snapcache, -1);
	ck_assert_int_eq(open_now(), 0);
}
END_TEST

START_TEST(one_supplier_has_one_of_its_own)
{
	struct scope *scope;

	call = world_call();
	ck_assert_int_eq(scope_one(&scope, &call, SPAN("S2")), ERR_OK);
	ck_assert_uint_eq(scope->count, 1);
	ck_assert(is_of(scope, 0, "S2"));
	scope_release(scope);
	ck_assert_int_eq(scope_one(&scope, &call, SPAN("S3")), ERR_OK);
	ck_assert_uint_eq(scope->count, 0);
	ck_assert_int_eq(scope->absent, 1);
	scope_release(scope);
	end();
}
END_TEST

/* On the disk, and read by nobody before. */
static void
spoil(struct kv *kv, unsigned table, const char *file, const char *key)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(path, "%s/%s", world.settings.data_dir, file), ERR_OK);
	spoil_one(kv, table, path, span_of(key));
	world_close();
	world_open();
}

/* The last one: what it spoils stays so. */
START_TEST(damage_of_one_record_stops_no_search)
{
	struct scope *scope;

	spoil(store_live(world.server->store), LIVE_META, "live.mdb", "facts");
	scope = get(0);
	ck_assert_uint_eq(scope->count, 3);
	ck_assert_int_eq(scope->absent, 0); /* nobody knows */
	scope_release(scope);
	end();
	spoil(store_catalog(world.server->store), CATALOG_CURRENT,
	    "catalog.mdb", "S2");
	scope = get(0);
	ck_assert_uint_eq(scope->count, 2);
	ck_assert(is_of(scope, 0, "S1"));
	ck_assert(is_of(scope, 1, "S5"));
	scope_release(scope);
	end();
	ck_assert_int_eq(world_ask("/api/v1/products/search?q=a"), 200);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("scope");
	TCase *tc = tcase_create("scope");

	tcase_set_timeout(tc, 300);
	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_add_test(tc, all_that_were_computed_are_on_it);
	tcase_add_test(tc, more_than_may_be_open_come_in_parts);
	tcase_add_test(tc, one_that_is_held_stays_until_the_answer_is_put);
	tcase_add_test(tc, one_supplier_has_one_of_its_own);
	tcase_add_test(tc, same_one_serves_until_something_is_written);
	tcase_add_test(tc, damage_of_one_record_stops_no_search);
	suite_add_tcase(suite, tc);
	return suite;
}
