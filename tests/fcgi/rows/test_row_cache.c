/* tests/fcgi/rows/test_row_cache.c: fcgi/rows/row_cache.h */
#include "fcgi/rows/row_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fcgi/rows/snapview.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

#define MOST 4096

static struct row_cache *row_cache;
static struct call call;
static struct snapview view;
static const struct columns some = {{5, 0}}, others = {{6, 0}};
static char longest[ROW_CACHE_MAX];

/* The rows that the snapshot pretends to have; 0: those that it has. */
static uint32_t pretended;

uint32_t __real_snapshot_rows(const struct snapshot *snap);
uint32_t __wrap_snapshot_rows(const struct snapshot *snap);

uint32_t
__wrap_snapshot_rows(const struct snapshot *snap)
{
	return pretended != 0 ? pretended : __real_snapshot_rows(snap);
}

static void
make(void)
{
	world_open();
	call = world_call();
	view = world_view(&call, "S1");
	row_cache = row_cache_new(MOST);
	ck_assert_ptr_nonnull(row_cache);
	memset(longest, 'x', sizeof(longest));
}

static void
drop(void)
{
	pretended = 0;
	row_cache_free(row_cache);
	snapview_close(&view, &call, ERR_OK);
	world_close();
}

static struct cached_rows *
get(const struct columns *columns)
{
	struct cached_rows *list =
	    row_cache_get(row_cache, view.pinned->snap, columns);

	ck_assert_ptr_nonnull(list);
	return list;
}

static void
keep(struct cached_rows *list, uint32_t row, struct span text)
{
	cached_rows_keep(list, row, text); /* seen */
	cached_rows_keep(list, row, text);
}

static void
check_row(const struct cached_rows *list, uint32_t row, const char *text)
{
	ck_assert(span_eq(cached_rows_row(list, row), span_of(text)));
}

START_TEST(row_is_there_from_the_second_time_on)
{
	struct cached_rows *list = get(&some);

	check_row(list, 1, "");
	cached_rows_keep(list, 1, SPAN("{\"codein\":\"A2\"}"));
	check_row(list, 1, "");
	cached_rows_keep(list, 1, SPAN("{\"codein\":\"A2\"}"));
	keep(list, 0, SPAN("{}"));
	check_row(list, 1, "{\"codein\":\"A2\"}");
	check_row(list, 0, "{}");
	cached_rows_release(list);
	list = get(&some);
	check_row(list, 1, "{\"codein\":\"A2\"}");
	cached_rows_release(list);
}
END_TEST

START_TEST(each_list_of_fields_and_snapshot_has_its_own_rows)
{
	struct cached_rows *first = get(&some), *second = get(&others), *third;
	struct snapview other = world_view(&call, "S2");

	third = row_cache_get(row_cache, other.pinned->snap, &some);
	ck_assert_ptr_nonnull(third);
	keep(first, 0, SPAN("first"));
	check_row(second, 0, "");
	check_row(third, 0, "");
	cached_rows_release(first);
	cached_rows_release(second);
	cached_rows_release(third);
	snapview_close(&other, &call, ERR_OK);
}
END_TEST

START_TEST(rows_beyond_the_last_and_long_ones_are_not_kept)
{
	struct cached_rows *list = get(&some);
	uint32_t rows = snapshot_rows(view.pinned->snap);
	char text[ROW_CACHE_MAX + 1];

	memset(text, 'x', sizeof(text));
	keep(list, 0, span_make(text, ROW_CACHE_MAX + 1));
	check_row(list, 0, "");
	keep(list, 0, span_make(text, ROW_CACHE_MAX));
	ck_assert_uint_eq(cached_rows_row(list, 0).len, ROW_CACHE_MAX);
	keep(list, rows, SPAN("beyond"));
	check_row(list, rows, "");
	cached_rows_expect(list, (const uint32_t[]){0, UINT32_MAX}, 2);
	cached_rows_release(list);
}
END_TEST

START_TEST(a_full_list_keeps_what_it_has)
{
	struct cached_rows *list = get(&some);

	keep(list, 0, SPAN("first"));
	for (unsigned i = 0; i < 10; i++)
		keep(list, 1, span_make(longest, sizeof(longest)));
	check_row(list, 0, "first");
	ck_assert_uint_eq(cached_rows_row(list, 1).len, sizeof(longest));
	keep(list, 2, span_make(longest, sizeof(longest)));
	check_row(list, 2, "");
	cached_rows_release(list);
}
END_TEST

/* More lists than there are places for. */
START_TEST(least_recently_used_list_goes_and_its_user_keeps_it)
{
	struct cached_rows *first = get(&some);

	keep(first, 0, SPAN("first"));
	for (uint64_t i = 0; i < 20; i++) {
		struct columns columns = {{0, i + 1}};

		cached_rows_release(get(&columns));
	}
	check_row(first, 0, "first");
	cached_rows_release(first);
	first = get(&some);
	check_row(first, 0, "");
	cached_rows_release(first);
}
END_TEST

START_TEST(snapshot_of_too_many_rows_has_no_list)
{
	struct row_cache *few = row_cache_new(
	    2 * sizeof(uint32_t) * snapshot_rows(view.pinned->snap) - 1);

	ck_assert_ptr_nonnull(few);
	ck_assert_ptr_null(row_cache_get(few, view.pinned->snap, &some));
	row_cache_free(few);
}
END_TEST

START_TEST(snapshot_of_too_many_rows_takes_nobodys_place)
{
	struct cached_rows *first = get(&some);

	keep(first, 0, SPAN("first"));
	cached_rows_release(first);
	/* All places are taken, and the first is the oldest. */
	for (uint64_t i = 0; i < 7; i++) {
		struct columns columns = {{0, i + 1}};

		cached_rows_release(get(&columns));
	}
	pretended = UINT32_MAX;
	ck_assert_ptr_null(
	    row_cache_get(row_cache, view.pinned->snap, &others));
	pretended = 0;
	first = get(&some);
	check_row(first, 0, "first");
	cached_rows_release(first);
}
END_TEST

START_TEST(idle_lists_go)
{
	struct cached_rows *list = get(&some);

	keep(list, 0, SPAN("first"));
	cached_rows_release(list);
	row_cache_tick(row_cache, 3600);
	list = get(&some);
	check_row(list, 0, "first");
	cached_rows_release(list);
	row_cache_tick(row_cache, -1);
	list = get(&some);
	check_row(list, 0, "");
	cached_rows_release(list);
}
END_TEST

static void *
keep_and_read(void *arg)
{
	unsigned *wrong = arg;

	for (unsigned round = 0; round < 2000; round++) {
		struct columns columns = {{1 + round / 100, 0}};
		struct cached_rows *list = get(&columns);
		uint32_t row = round % snapshot_rows(view.pinned->snap);
		char text[32];
		struct span kept = cached_rows_row(list, row);
		int len = snprintf(text, sizeof(text), "row %u of %u", row,
		    (unsigned)columns.bits[0]);

		if (kept.len == 0)
			cached_rows_keep(
			    list, row, span_make(text, (size_t)len));
		else if (!span_eq(kept, span_make(text, (size_t)len)))
			(*wrong)++;
		cached_rows_release(list);
	}
	return NULL;
}

START_TEST(threads_share_a_list)
{
	pthread_t threads[4];
	unsigned wrong[4] = {0};

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, keep_and_read, &wrong[i]),
		    0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_uint_eq(wrong[i], 0);
	}
}
END_TEST

START_TEST(lists_together_have_a_ceiling)
{
	struct cached_rows *first = get(&some), *second = get(&others);

	keep(first, 0, span_make(longest, sizeof(longest)));
	keep(first, 1, span_make(longest, sizeof(longest)));
	keep(second, 0, span_make(longest, sizeof(longest)));
	cached_rows_release(first);
	cached_rows_release(second);
	first = get(&some); /* there is room for one more */
	ck_assert_uint_eq(cached_rows_row(first, 1).len, sizeof(longest));
	cached_rows_release(first);
	second = get(&others);
	keep(second, 1, span_make(longest, sizeof(longest)));
	cached_rows_release(second);
	second = get(&others); /* the first one went */
	ck_assert_uint_eq(cached_rows_row(second, 1).len, sizeof(longest));
	cached_rows_release(second);
	first = get(&some);
	check_row(first, 1, "");
	cached_rows_release(first);
}
END_TEST

START_TEST(the_only_list_begins_anew_beyond_the_ceiling)
{
	struct cached_rows *list = get(&some);

	for (unsigned i = 0; i < 4; i++)
		keep(list, 0, span_make(longest, sizeof(longest)));
	cached_rows_release(list);
	list = get(&some);
	check_row(list, 0, "");
	keep(list, 0, SPAN("anew"));
	check_row(list, 0, "anew");
	cached_rows_release(list);
}
END_TEST

/* Bytes of memory that this process has. */
static size_t
resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*u %zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Fills a list for each of some lists of fields. */
static void *
fill_lists(void *arg)
{
	const uint64_t *first = arg;

	for (unsigned i = 0; i < 3; i++) {
		struct columns columns = {{*first + i, 0}};

		pthread_mutex_lock(&turn);
		for (uint32_t row = 0; row < pretended; row++) {
			struct cached_rows *list = get(&columns);

			keep(list, row, span_make(longest, sizeof(longest)));
			cached_rows_release(list);
		}
		pthread_mutex_unlock(&turn);
	}
	return NULL;
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW 1
#elif defined(__has_feature)
#define HAS_SHADOW __has_feature(address_sanitizer)
#else
#define HAS_SHADOW 0
#endif

/*
 * Each thread has a heap of its own, which keeps what was freed. What the
 * address sanitizer notes of memory that has gone is more than that.
 */
START_TEST(the_ceiling_is_that_of_the_processs_memory)
{
	const size_t slack = (size_t)(HAS_SHADOW ? 512 : 12) << 20;
	uint64_t first[8];
	pthread_t threads[8];
	size_t before;

	pretended = 30000;
	row_cache_free(row_cache);
	row_cache = row_cache_new(ROW_CACHE_BYTES);
	ck_assert_ptr_nonnull(row_cache);
	before = resident();
	for (unsigned i = 0; i < 8; i++) {
		first[i] = 1 + 3 * i;
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, fill_lists, &first[i]),
		    0);
	}
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_le(resident(), before + ROW_CACHE_BYTES + slack);
	row_cache_tick(row_cache, -1);
	ck_assert_uint_le(resident(), before + slack);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("row_cache");
	TCase *tc = tcase_create("row_cache");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, row_is_there_from_the_second_time_on);
	tcase_add_test(tc, each_list_of_fields_and_snapshot_has_its_own_rows);
	tcase_add_test(tc, rows_beyond_the_last_and_long_ones_are_not_kept);
	tcase_add_test(tc, a_full_list_keeps_what_it_has);
	tcase_add_test(tc, least_recently_used_list_goes_and_its_user_keeps_it);
	tcase_add_test(tc, lists_together_have_a_ceiling);
	tcase_add_test(tc, the_ceiling_is_that_of_the_processs_memory);
	tcase_add_test(tc, the_only_list_begins_anew_beyond_the_ceiling);
	tcase_add_test(tc, snapshot_of_too_many_rows_has_no_list);
	tcase_add_test(tc, snapshot_of_too_many_rows_takes_nobodys_place);
	tcase_add_test(tc, idle_lists_go);
	tcase_add_test(tc, threads_share_a_list);
	suite_add_tcase(suite, tc);
	return suite;
}
