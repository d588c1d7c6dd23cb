/* tests/fcgi/rows/test_ranges.c: fcgi/rows/ranges.h; ranges with proposals on
 * them are
 * in tests/flow. */
#include "fcgi/rows/ranges.h"

#include <stdio.h>

#include "common/fs.h"
#include "fcgi/rows/snapview.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct call call;
static struct snapview view;

static void
look(void)
{
	call = world_call();
	view = world_view(&call, "S1");
}

static void
look_away(void)
{
	snapview_close(&view, &call, ERR_OK);
	views_rest(&world.serving->views);
}

static void
import(const char *csv)
{
	char words[2 * FS_PATH_MAX];

	look_away();
	scratch_text("g.csv", csv);
	snprintf(
	    words, sizeof(words), "gammes import %s", scratch_path("g.csv"));
	world_gridctl(words);
	look();
}

static uint32_t
row_of(const char *codein)
{
	uint32_t row;

	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, span_of(codein), &row), ERR_OK);
	return row;
}

static void
make(void)
{
	world_open();
	look();
}

static void
drop(void)
{
	look_away();
	world_close();
}

START_TEST(nothing_is_kept_while_nothing_has_changed)
{
	ck_assert_ptr_null(view.ranges);
}
END_TEST

START_TEST(imported_ranges_differ_where_they_do)
{
	uint32_t changed, same;

	import("fournisseur,codein,gamme\nS1,A1,Z\nS1,A5,B\nS1,A2,B\n"
	       "S2,A1,C\n");
	ck_assert_ptr_nonnull(view.ranges);
	changed = row_of("A1");
	same = row_of("A2");
	ck_assert_uint_eq(view.ranges->server[changed], row_gamme(SPAN("Z")));
	ck_assert_uint_eq(view.ranges->shown[changed], row_gamme(SPAN("Z")));
	ck_assert_uint_eq(view.ranges->pending[changed], ROW_GAMME_NONE);
	ck_assert_uint_eq(view.ranges->differs[changed], 1);
	ck_assert_uint_eq(view.ranges->differs[row_of("A5")], 1);
	ck_assert_uint_eq(view.ranges->server[same], row_gamme(SPAN("B")));
	ck_assert_uint_eq(view.ranges->differs[same], 0);
	ck_assert_uint_eq(view.ranges->pending_count, 0);
}
END_TEST

START_TEST(they_are_worked_out_once_and_shared)
{
	struct ranges *again;

	import("fournisseur,codein,gamme\nS1,A1,C\n");
	ck_assert_int_eq(
	    ranges_get(&again, view.pinned->ranges, view.pinned->snap,
		world.serving->views.live, world.serving->views.state),
	    ERR_OK);
	ck_assert_ptr_eq(again, view.ranges);
	ranges_release(again);
}
END_TEST

static uint8_t
server_range(const char *codein)
{
	uint32_t row = row_of(codein);

	return view.ranges == NULL ? snapshot_gammes(view.pinned->snap)[row]
				   : view.ranges->server[row];
}

/* Also when another supplier's change came between. */
START_TEST(each_change_is_seen)
{
	import("fournisseur,codein,gamme\nS1,A1,C\nS2,A1,C\n");
	ck_assert_uint_eq(server_range("A1"), row_gamme(SPAN("C")));
	import("fournisseur,codein,gamme\nS1,A1,C\nS2,A1,Y\n");
	ck_assert_uint_eq(server_range("A1"), row_gamme(SPAN("C")));
	import("fournisseur,codein,gamme\nS1,A1,Y\nS2,A1,Y\n");
	ck_assert_uint_eq(server_range("A1"), row_gamme(SPAN("Y")));
}
END_TEST

START_TEST(they_outlive_their_replacement)
{
	struct ranges *held;
	uint32_t row;

	import("fournisseur,codein,gamme\nS1,A1,C\n");
	ck_assert_int_eq(
	    ranges_get(&held, view.pinned->ranges, view.pinned->snap,
		world.serving->views.live, world.serving->views.state),
	    ERR_OK);
	import("fournisseur,codein,gamme\nS1,A1,Y\n");
	row = row_of("A1");
	ck_assert_ptr_ne(view.ranges, held);
	ck_assert_uint_eq(held->server[row], row_gamme(SPAN("C")));
	ck_assert_uint_eq(view.ranges->server[row], row_gamme(SPAN("Y")));
	ranges_release(held);
	ranges_release(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("ranges");
	TCase *tc = tcase_create("unchanged"),
	      *changed = tcase_create("changed");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, nothing_is_kept_while_nothing_has_changed);
	suite_add_tcase(suite, tc);
	tcase_add_unchecked_fixture(changed, world_make, world_remove);
	tcase_add_checked_fixture(changed, make, drop);
	tcase_set_timeout(changed, 300);
	tcase_add_test(changed, imported_ranges_differ_where_they_do);
	tcase_add_test(changed, they_are_worked_out_once_and_shared);
	tcase_add_test(changed, each_change_is_seen);
	tcase_add_test(changed, they_outlive_their_replacement);
	suite_add_tcase(suite, changed);
	return suite;
}
