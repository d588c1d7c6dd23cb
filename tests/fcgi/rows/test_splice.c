/* tests/fcgi/rows/test_splice.c: fcgi/rows/splice.h */
#include "fcgi/rows/splice.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/fs.h"
#include "fcgi/rows/snapview.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct call call;
static struct snapview view;
static struct splice splice;
static struct iovbuf pieces;
static char text[1 << 16];

static void
make(void)
{
	world_open();
	splice_init(&splice);
	iovbuf_init(&pieces);
	call = world_call();
	view = world_view(&call, "S1");
}

static void
drop(void)
{
	snapview_close(&view, &call, ERR_OK);
	splice_fini(&splice);
	iovbuf_fini(&pieces);
	world_close();
}

static const char *
row(const char *codein, const char *names, bool enrich, enum splice_form form)
{
	struct columns columns = {{0, 0}};
	struct span name, rest = span_of(names);
	size_t len = 0;
	uint32_t number;

	while (span_cut(&name, &rest, ',') && name.len > 0)
		columns_add(&columns, (unsigned)row_column(name));
	splice_begin(&splice, view.pinned->snap, view.ranges,
	    world.serving->views.live, enrich, &columns, form);
	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, span_of(codein), &number), ERR_OK);
	iovbuf_clear(&pieces);
	ck_assert_int_eq(splice_row(&splice, number, &pieces), ERR_OK);
	ck_assert_int_eq(pieces.err, ERR_OK);
	for (unsigned i = 1; i < pieces.count; i++) {
		memcpy(
		    text + len, pieces.iov[i].iov_base, pieces.iov[i].iov_len);
		len += pieces.iov[i].iov_len;
	}
	ck_assert_uint_eq(len, pieces.total);
	text[len] = '\0';
	return text;
}

static const struct {
	const char *columns, *json;
} shapes[] = {
    {"codein", "{\"codein\":\"A1\"},"},
    {"codein,totalCa", "{\"codein\":\"A1\",\"totalCa\":100},"},
    {"codein,sales12m",
	"{\"codein\":\"A1\",\"sales12m\":{\"202412\":10,\"202501\":8}},"},
    {"sales12m,receptions12mByStore",
	"{\"sales12m\":{\"202412\":10,\"202501\":8},"
	"\"receptions12mByStore\":{\"101\":{\"202501\":24}}},"},
    {"libelle2,margePctReseau,trend",
	"{\"libelle2\":\"lot de 2\",\"margePctReseau\":0.32,\"trend\":"
	"{\"direction\":\"up\",\"pct\":0.6,\"label\":\"+60 %\","
	"\"monthsUsed\":4}},"},
};

START_TEST(columns_come_in_the_rows_order)
{
	ck_assert_str_eq(
	    row("A1", shapes[_i].columns, true, SPLICE_JSON), shapes[_i].json);
}
END_TEST

START_TEST(line_form_ends_with_a_newline)
{
	ck_assert_str_eq(
	    row("A1", "codein", true, SPLICE_NDJSON), "{\"codein\":\"A1\"}\n");
}
END_TEST

/* The file of S1's snapshot with one offset of A1's scalars altered. */
static const char *
altered(unsigned column, uint16_t offset)
{
	struct snapshot *snap = view.pinned->snap;
	size_t len = (ROW_FLATS + 1) * sizeof(offset);
	struct snapshot_part part;
	char path[FS_PATH_MAX];
	uint32_t number;
	struct buf file;
	char *at;

	ck_assert_int_eq(store_snapshot_path(path, world.server->store,
			     SPAN("S1"), snapshot_head(snap)->generation, ""),
	    ERR_OK);
	buf_init(&file, 1u << 26);
	ck_assert_int_eq(fs_read(&file, path), ERR_OK);
	ck_assert_int_eq(snapshot_find(snap, SPAN("A1"), &number), ERR_OK);
	ck_assert(snapshot_flat(snap, number, &part));
	at = memmem(file.data, file.len, part.off.flat, len);
	ck_assert_ptr_nonnull(at);
	memcpy(at + column * sizeof(offset), &offset, sizeof(offset));
	scratch_write("altered.mdb", file.data, file.len);
	buf_fini(&file);
	return scratch_path("altered.mdb");
}

static const struct {
	unsigned column;
	uint16_t offset;
} damages[] = {
    {COL_codein, 0}, /* before the first column */
    {COL_totalCa, 1}, /* back to where another was copied from */
    {COL_totalCa + 1, 60000}, /* beyond the end */
    {COL_totalCa + 1, 2}, /* nothing left of it */
};

START_TEST(columns_that_do_not_follow_one_another_are_damage)
{
	struct columns columns = {{0, 0}};
	struct snapshot *snap;
	uint32_t number;

	ck_assert_int_eq(snapshot_open_file(&snap,
			     altered(damages[_i].column, damages[_i].offset)),
	    ERR_OK);
	columns_add(&columns, COL_codein);
	columns_add(&columns, COL_totalCa);
	splice_begin(&splice, snap, NULL, world.serving->views.live, false,
	    &columns, SPLICE_JSON);
	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, SPAN("A1"), &number), ERR_OK);
	splice_expect(&splice, &number, 1, SPLICE_OFFSETS);
	splice_expect(&splice, &number, 1, SPLICE_TEXT);
	ck_assert_int_eq(splice_row(&splice, number, &pieces), ERR_DAMAGED);
	snapshot_close(snap);
}
END_TEST

/* Also of a row that is not there: what is read ahead is only a hint. */
START_TEST(expecting_a_row_changes_nothing)
{
	static const uint32_t numbers[] = {0, 1, 1000, UINT32_MAX};
	struct span before =
	    span_of(row("A1", shapes[_i].columns, true, SPLICE_JSON));
	char *kept = span_dup(before);

	for (int step = SPLICE_KEPT; step <= SPLICE_TEXT; step++)
		splice_expect(&splice, numbers,
		    sizeof(numbers) / sizeof(numbers[0]),
		    (enum splice_step)step);
	ck_assert_str_eq(
	    row("A1", shapes[_i].columns, true, SPLICE_JSON), kept);
	free(kept);
}
END_TEST

/* The text of a row, put after the last one of a page. */
static const char *
next_row(uint32_t number)
{
	const struct iovec *last;

	for (int step = SPLICE_KEPT; step <= SPLICE_TEXT; step++)
		splice_expect(&splice, &number, 1, (enum splice_step)step);
	iovbuf_clear(&pieces);
	ck_assert_int_eq(splice_row(&splice, number, &pieces), ERR_OK);
	ck_assert_uint_eq(pieces.count, 2);
	last = &pieces.iov[1];
	memcpy(text, last->iov_base, last->iov_len);
	text[last->iov_len] = '\0';
	return text;
}

START_TEST(kept_row_is_the_row_as_it_was_shown_before)
{
	static const enum splice_form forms[] = {
	    SPLICE_JSON, SPLICE_JSON, SPLICE_NDJSON, SPLICE_JSON};
	struct row_cache *row_cache = row_cache_new(ROW_CACHE_BYTES);
	const char *names = "codein,libelle1,totalCa";
	uint32_t number;

	ck_assert_ptr_nonnull(row_cache);
	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, SPAN("A1"), &number), ERR_OK);
	for (unsigned i = 0; i < 4; i++) {
		char *plain =
		    span_dup(span_of(row("A1", names, true, forms[i])));

		splice_keep(&splice, row_cache);
		ck_assert_ptr_nonnull(splice.kept);
		ck_assert(
		    (cached_rows_row(splice.kept, number).len > 0) == (i > 1));
		ck_assert_str_eq(next_row(number), plain);
		free(plain);
	}
	splice_release(&splice);
	row_cache_free(row_cache);
}
END_TEST

START_TEST(whole_rows_and_maps_are_not_kept)
{
	struct row_cache *row_cache = row_cache_new(ROW_CACHE_BYTES);

	ck_assert_ptr_nonnull(row_cache);
	row("A1", "", true, SPLICE_JSON);
	splice_keep(&splice, row_cache);
	ck_assert_ptr_null(splice.kept);
	row("A1", "codein,sales12m", true, SPLICE_JSON);
	splice_keep(&splice, row_cache);
	ck_assert_ptr_null(splice.kept);
	row_cache_free(row_cache);
}
END_TEST

START_TEST(unchanged_whole_rows_are_referred_to)
{
	row("A1", "", true, SPLICE_JSON);
	ck_assert(splice_is_plain(&splice));
	ck_assert_uint_le(pieces.count, 3);
	ck_assert(span_starts(span_of(text), SPAN("{\"codein\":\"A1\",")));
	row("A1", "codein", true, SPLICE_JSON);
	ck_assert(!splice_is_plain(&splice));
}
END_TEST

/* gridctl changes the data: what was read before is let go of. */
static void
change(const char *words)
{
	snapview_close(&view, &call, ERR_OK);
	views_rest(&world.serving->views);
	world_gridctl(words);
	call = world_call();
	view = world_view(&call, "S1");
}

static void
take_in(const char *command, const char *csv)
{
	char words[2 * FS_PATH_MAX];

	scratch_text("in.csv", csv);
	snprintf(
	    words, sizeof(words), "%s %s", command, scratch_path("in.csv"));
	change(words);
}

#define HEAD \
	"codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau," \
	"fetchedAt"

/* Files of the network: 100001 is A1's, 100002 is A2's. */
static const char *const networks[] = {
    HEAD ",2025-01\n100001,30000.5,9100,200,0.25,,170\n",
    HEAD "\n100001,27000,9000,270,0.32,2025-03-01T04:00:00Z\n",
    HEAD "\n100001,,,,,\n100002,5400,4500,100,-0.2,\n",
    HEAD ",2025-01,2025-02\n100001,1,1,1,0.32,,0,60\n"
	 "100002,5400,4500,135,0.2,,-50,-100\n",
    HEAD ",2023-02,2023-03,2023-04,2023-05,2023-06,2023-07,2023-08,2023-09,"
	 "2023-10,2023-11,2023-12,2024-01,2024-02,2024-03,2024-04,2024-05,"
	 "2024-06,2024-07,2024-08,2024-09,2024-10,2024-11,2024-12,2025-01\n"
	 "100001,1,300,5,0.1,,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,"
	 "20,21,22,23,24\n"
	 "100002,1,300,5,0.1,,,2,3,,5,6,7,8,9,10,11,12,13,14,,16,17,18,,20,,"
	 "22,,\n",
    HEAD "\n100004,1,2,3,0.1,\n",
};

static const char *const live_columns =
    "caReseau,qteReseau,nbMagasinsReseau,caParMagasinReseau,margePctReseau,"
    "presenceReseauPct,ecartMargeReseau,network,trend,qteReseauByMonth";

/* Whole rows in each form, and each live column alone. */
#define TEXTS_MAX 128
static char *texts[TEXTS_MAX];

static unsigned
take_texts(char **to, bool enrich)
{
	static const char *const codes[] = {"A1", "A2", "A3", "A4"};
	unsigned count = 0;

	for (unsigned i = 0; i < 4; i++) {
		struct span name, rest = span_of(live_columns);

		for (int form = SPLICE_JSON; form <= SPLICE_NDJSON; form++)
			to[count++] = span_dup(span_of(
			    row(codes[i], "", enrich, (enum splice_form)form)));
		while (span_cut(&name, &rest, ',')) {
			char *alone = span_dup(name);

			to[count++] = span_dup(
			    span_of(row(codes[i], alone, enrich, SPLICE_JSON)));
			free(alone);
		}
	}
	ck_assert_uint_le(count, TEXTS_MAX);
	return count;
}

static void
must_be_the_same(char **was, bool enrich)
{
	static char *now[TEXTS_MAX];
	unsigned count = take_texts(now, enrich);

	for (unsigned i = 0; i < count; i++) {
		ck_assert_str_eq(now[i], was[i]);
		free(now[i]);
	}
}

static void
drop_texts(char **from)
{
	for (unsigned i = 0; i < TEXTS_MAX; i++) {
		free(from[i]);
		from[i] = NULL;
	}
}

/*
 * After `gridctl network` a row with enrich=1 is the one that would be
 * computed now, to the byte, and with enrich=0 the one that was computed.
 */
START_TEST(all_that_follows_from_the_network_is_of_one_moment)
{
	static char *before[TEXTS_MAX];

	take_texts(before, false);
	take_in("network --replace", networks[_i]);
	must_be_the_same(before, false);
	take_texts(texts, true);
	ck_assert(!splice_is_unchanged(&splice));
	ck_assert_str_ne(texts[0], before[0]);
	change("compute S1");
	must_be_the_same(texts, true);
	ck_assert(splice_is_unchanged(&splice));
	must_be_the_same(texts, false);
	drop_texts(texts);
	drop_texts(before);
}
END_TEST

START_TEST(overlaid_ranges_are_those_of_a_row_computed_anew)
{
	static char *before[TEXTS_MAX];

	take_texts(before, false);
	take_in("gammes import",
	    "fournisseur,codein,gamme\nS1,A1,Z\nS1,A2,\nS1,A4,A\n");
	ck_assert_ptr_nonnull(view.ranges);
	must_be_the_same(before, false);
	take_texts(texts, true);
	ck_assert_str_ne(texts[0], before[0]);
	change("compute S1");
	ck_assert_ptr_null(view.ranges);
	must_be_the_same(texts, true);
	drop_texts(texts);
	drop_texts(before);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("splice");
	TCase *tc = tcase_create("rows"), *changed = tcase_create("changed");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, columns_come_in_the_rows_order, 0,
	    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tc, line_form_ends_with_a_newline);
	tcase_add_loop_test(tc, expecting_a_row_changes_nothing, 0,
	    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tc, kept_row_is_the_row_as_it_was_shown_before);
	tcase_add_test(tc, whole_rows_and_maps_are_not_kept);
	tcase_add_test(tc, unchanged_whole_rows_are_referred_to);
	tcase_add_loop_test(tc,
	    columns_that_do_not_follow_one_another_are_damage, 0,
	    sizeof(damages) / sizeof(damages[0]));
	suite_add_tcase(suite, tc);
	tcase_add_unchecked_fixture(changed, world_make, world_remove);
	tcase_add_checked_fixture(changed, make, drop);
	tcase_set_timeout(changed, 300);
	tcase_add_loop_test(changed,
	    all_that_follows_from_the_network_is_of_one_moment, 0,
	    sizeof(networks) / sizeof(networks[0]));
	tcase_add_test(
	    changed, overlaid_ranges_are_those_of_a_row_computed_anew);
	suite_add_tcase(suite, changed);
	return suite;
}
