/* tests/fcgi/rows/test_figures.c: fcgi/rows/figures.h, fcgi/rows/map_cells.h */
#include "fcgi/rows/figures.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "fcgi/rows/map_cells.h"
#include "fcgi/rows/snapview.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

#define ROOM ((size_t)1 << 20)

static struct call call;
static struct snapview view;
static struct snapshot *snap;
static char planted[1024]; /* the maps of all rows, unless empty */

struct span __real_snapshot_value(
    struct snapshot *of, uint32_t row, unsigned column);
struct span __wrap_snapshot_value(
    struct snapshot *of, uint32_t row, unsigned column);

struct span
__wrap_snapshot_value(struct snapshot *of, uint32_t row, unsigned column)
{
	return planted[0] != '\0' ? span_of(planted)
				  : __real_snapshot_value(of, row, column);
}

static void
make(void)
{
	world_open();
	call = world_call();
	view = world_view(&call, "S1");
	snap = view.pinned->snap;
	planted[0] = '\0';
}

static void
drop(void)
{
	snapview_close(&view, &call, ERR_OK);
	world_close();
}

/* The only cell of a plane, in millionths. */
static int64_t
figure(const struct plane *plane, uint32_t row)
{
	const int16_t *short_values = plane->values;
	const int32_t *long_values = plane->values;
	const int64_t *wide_values = plane->values;

	if (plane->width == 2)
		return short_values[row] == INT16_MIN
		    ? NUM_NULL
		    : short_values[row] * plane->unit;
	if (plane->width == 4)
		return long_values[row] == INT32_MIN
		    ? NUM_NULL
		    : long_values[row] * plane->unit;
	return wide_values[row];
}

/* Checks that the planes have what each row has; returns the count of figures. */
static unsigned
check_same(const struct figures *figures, enum snap_measure measure)
{
	struct map_cells reader;
	unsigned there = 0;

	ck_assert_int_eq(map_cells_init(&reader, snap, measure), ERR_OK);
	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		ck_assert_int_eq(map_cells_read(&reader, row), ERR_OK);
		for (unsigned i = 0; i < reader.count; i++) {
			struct plane plane = figures_plane(
			    figures, i / SCHEMA_MONTHS, i % SCHEMA_MONTHS);

			ck_assert_int_eq(figure(&plane, row), reader.cells[i]);
			there += reader.cells[i] != NUM_NULL;
		}
	}
	map_cells_fini(&reader);
	return there;
}

START_TEST(planes_have_the_figures_of_the_maps)
{
	struct figures_cache *cache = figures_cache_new(ROOM);
	struct figures *figures;

	ck_assert_int_eq(figures_get(&figures, cache, snap, _i, true), ERR_OK);
	ck_assert_ptr_nonnull(figures);
	ck_assert_uint_gt(check_same(figures, _i), 0);
	figures_release(cache, figures);
	figures_cache_free(cache);
}
END_TEST

/* A map in which two stores have the text as a figure of the newest month. */
static void
plant(const char *text)
{
	char month[DATE_TEXT_MAX];

	date_month_text(month, snapshot_head(snap)->last_month);
	snprintf(planted, sizeof(planted),
	    "{\"101\":{\"%s\":%s},\"102\":{\"%s\":%s}}", month, text, month,
	    text);
}

static const struct {
	const char *text;
	int64_t micro;
	unsigned width; /* 0: damage */
} numbers[] = {
    {"1", 1000000, 2},
    {"0", 0, 2},
    {"-32767", -32767000000, 2},
    {"-32768", -32768000000, 4},
    {"32768", 32768000000, 4},
    {"1234567", 1234567000000, 4},
    {"12345678", 12345678000000, 4},
    {"2147483647", 2147483647000000, 4},
    {"2147483648", 2147483648000000, 8},
    {"1.5", 1500000, 8},
    {"-0.25", -250000, 8},
    {"0.000001", 1, 8},
    {"1234567.123456", 1234567123456, 8},
    {"123456789012.125", 123456789012125000, 8},
    {"1.0000000", 1000000, 2},
    {"9223372036854.775807", INT64_MAX, 8},
    {"-9223372036854.775807", -INT64_MAX, 8},
    {"9223372036854.775808", 0, 0},
    {"", 0, 0},
    {"-", 0, 0},
    {".5", 0, 0},
    {"1.", 0, 0},
    {"1.x", 0, 0},
    {"1e3", 0, 0},
    {"null", 0, 0},
    {"1\"", 0, 0},
};

START_TEST(any_number_is_read_and_kept)
{
	struct figures_cache *cache = figures_cache_new(ROOM);
	struct figures *figures;
	enum err err;

	plant(numbers[_i].text);
	err = figures_get(&figures, cache, snap, SNAP_SALES, true);
	if (numbers[_i].width == 0) {
		ck_assert_int_eq(err, ERR_DAMAGED);
		ck_assert_ptr_null(figures);
	} else {
		for (unsigned store = 0; store < 2; store++) {
			struct plane plane =
			    figures_plane(figures, store, SCHEMA_MONTHS - 1);

			ck_assert_uint_eq(plane.width, numbers[_i].width);
			ck_assert_int_eq(figure(&plane, 0), numbers[_i].micro);
		}
		ck_assert_uint_eq(
		    check_same(figures, SNAP_SALES), 2 * snapshot_rows(snap));
	}
	figures_release(cache, figures);
	figures_cache_free(cache);
}
END_TEST

/* M is the newest month, L the one before. */
static const char *const damages[] = {"x", "[", "{", "{\"101\":{}",
    "{\"101\":{}}x", "{\"101\":{\"M\":1}", "{\"999\":{\"M\":1}}",
    "{\"101\":{\"M\":1,\"L\":1}}", "{\"101\":{\"M\":1,\"M\":1}}",
    "{\"101\":{\"209901\":1}}", "{\"101\":{\"M\"1}}", "{\"101\" {\"M\":1}}",
    "{\"101\":[\"M\":1}}", "{\"101\":{\"M\":1]}", "{\"10", "{\"101\\"};

START_TEST(other_maps_are_damage)
{
	struct figures_cache *cache = figures_cache_new(ROOM);
	struct figures *figures;
	char months[2][DATE_TEXT_MAX];
	size_t len = 0;

	for (int i = 0; i < 2; i++)
		date_month_text(months[i], snapshot_head(snap)->last_month - i);
	for (const char *at = damages[_i]; *at != '\0'; at++)
		if (*at == 'M' || *at == 'L')
			len += (size_t)sprintf(
			    planted + len, "%s", months[*at == 'L']);
		else
			planted[len++] = *at;
	planted[len] = '\0';
	ck_assert_int_eq(
	    figures_get(&figures, cache, snap, SNAP_SALES, true), ERR_DAMAGED);
	ck_assert_ptr_null(figures);
	figures_cache_free(cache);
}
END_TEST

START_TEST(figures_are_kept_within_the_ceiling)
{
	struct figures_cache *cache;
	struct figures *sales, *again, *stock;
	size_t one = (size_t)snapshot_rows(snap) * SCHEMA_MONTHS * 2;
	struct snapshot_stores stores;

	ck_assert(snapshot_stores(snap, &stores));
	one *= stores.count;
	plant("0");
	cache = figures_cache_new(one);
	ck_assert_int_eq(
	    figures_get(&sales, cache, snap, SNAP_SALES, false), ERR_OK);
	ck_assert_ptr_null(sales); /* nobody has made them */
	figures_get(&sales, cache, snap, SNAP_SALES, true);
	ck_assert_ptr_nonnull(sales);
	figures_get(&again, cache, snap, SNAP_SALES, false);
	ck_assert_ptr_eq(again, sales);
	figures_release(cache, again);
	/* The sales are in use, so there is no room for the stock. */
	figures_get(&stock, cache, snap, SNAP_STOCK, true);
	ck_assert_ptr_null(stock);
	figures_release(cache, sales);
	figures_get(&stock, cache, snap, SNAP_STOCK, true);
	ck_assert_ptr_nonnull(stock);
	figures_get(&sales, cache, snap, SNAP_SALES, false);
	ck_assert_ptr_null(sales);
	/* Figures in use stay. */
	figures_cache_tick(cache, -1);
	figures_get(&again, cache, snap, SNAP_STOCK, false);
	ck_assert_ptr_eq(again, stock);
	figures_release(cache, again);
	figures_release(cache, stock);
	figures_cache_tick(cache, -1);
	figures_get(&again, cache, snap, SNAP_STOCK, false);
	ck_assert_ptr_null(again);
	figures_cache_free(cache);
}
END_TEST

START_TEST(figures_beyond_the_ceiling_are_tried_once)
{
	struct snapshot_stores stores;
	struct figures_cache *cache;
	struct figures *figures;

	ck_assert(snapshot_stores(snap, &stores));
	plant("1.5"); /* takes 8 bytes; the ceiling is for 4 */
	cache = figures_cache_new(
	    (size_t)snapshot_rows(snap) * SCHEMA_MONTHS * stores.count * 4);
	ck_assert_int_eq(
	    figures_get(&figures, cache, snap, SNAP_SALES, true), ERR_OK);
	ck_assert_ptr_null(figures);
	plant("damage"); /* which another try would meet */
	ck_assert_int_eq(
	    figures_get(&figures, cache, snap, SNAP_SALES, true), ERR_OK);
	ck_assert_ptr_null(figures);
	figures_cache_free(cache);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("figures");
	TCase *tc = tcase_create("figures");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(
	    tc, planes_have_the_figures_of_the_maps, 0, SNAP_MEASURES);
	tcase_add_loop_test(tc, any_number_is_read_and_kept, 0,
	    sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_loop_test(
	    tc, other_maps_are_damage, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(tc, figures_are_kept_within_the_ceiling);
	tcase_add_test(tc, figures_beyond_the_ceiling_are_tried_once);
	suite_add_tcase(suite, tc);
	return suite;
}
