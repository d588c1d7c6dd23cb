/* tests/fcgi/test_splice.c: fcgi/splice.h */
#include "fcgi/splice.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/fs.h"
#include "lmdb-schema/catalog.h"
#include "lmdb-schema/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct call call;
static struct rows_view view;
static struct splice splice;
static struct pieces pieces;
static char text[1 << 16];

static void
make(void)
{
	world_open();
	splice_init(&splice);
	pieces_init(&pieces);
	call = world_call();
	view = world_view(&call, "S1");
}

static void
drop(void)
{
	rows_close(&view, &call);
	splice_fini(&splice);
	pieces_fini(&pieces);
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
	    world.serving->live, enrich, &columns, form);
	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, span_of(codein), &number), ERR_OK);
	pieces_clear(&pieces);
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

START_TEST(csv_doubles_quotes_and_leaves_null_empty)
{
	ck_assert_str_eq(
	    row("A4", "codein,libelle1,libelle2,totalCa,network,sales12m", true,
		SPLICE_CSV),
	    "\"A4\",\"Lentilles \"\"vertes\"\", bio\",,50.5,,"
	    "\"{\"\"202411\"\":20}\"\n");
}
END_TEST

START_TEST(csv_header_names_the_columns)
{
	struct columns columns = {{0, 0}};

	columns_add(&columns, COL_codein);
	columns_add(&columns, COL_trend);
	splice_columns(&splice, &columns);
	splice_csv_header(&splice, &pieces);
	ck_assert(span_eq(span_make(pieces.iov[1].iov_base, pieces.total),
	    SPAN("codein,trend\n")));
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
	splice_begin(&splice, snap, NULL, world.serving->live, false, &columns,
	    SPLICE_JSON);
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
	pieces_clear(&pieces);
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
	struct excerpts *excerpts = excerpts_new(EXCERPTS_BYTES);
	const char *names = "codein,libelle1,totalCa";
	uint32_t number;

	ck_assert_ptr_nonnull(excerpts);
	ck_assert_int_eq(
	    snapshot_find(view.pinned->snap, SPAN("A1"), &number), ERR_OK);
	for (unsigned i = 0; i < 4; i++) {
		char *plain =
		    span_dup(span_of(row("A1", names, true, forms[i])));

		splice_keep(&splice, excerpts);
		ck_assert_ptr_nonnull(splice.kept);
		ck_assert(
		    (excerpt_row(splice.kept, number).len > 0) == (i > 1));
		ck_assert_str_eq(next_row(number), plain);
		free(plain);
	}
	splice_release(&splice);
	excerpts_free(excerpts);
}
END_TEST

START_TEST(whole_rows_maps_and_csv_are_not_kept)
{
	struct excerpts *excerpts = excerpts_new(EXCERPTS_BYTES);

	ck_assert_ptr_nonnull(excerpts);
	row("A1", "", true, SPLICE_JSON);
	splice_keep(&splice, excerpts);
	ck_assert_ptr_null(splice.kept);
	row("A1", "codein,sales12m", true, SPLICE_JSON);
	splice_keep(&splice, excerpts);
	ck_assert_ptr_null(splice.kept);
	row("A1", "codein", true, SPLICE_CSV);
	splice_keep(&splice, excerpts);
	ck_assert_ptr_null(splice.kept);
	excerpts_free(excerpts);
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
	row("A1", "", true, SPLICE_CSV);
	ck_assert(!splice_is_plain(&splice));
}
END_TEST

/* What a live row says must be what a row computed anew says. */
START_TEST(overlaid_row_is_the_row_computed_anew)
{
	static char live[1 << 16];

	rows_close(&view, &call);
	scratch_text("g.csv", "fournisseur,codein,gamme\nS1,A1,Z\n");
	scratch_text("n.csv",
	    "codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,"
	    "fetchedAt,2025-01\n100001,30000.5,9100,200,0.25,,170\n");
	call = world_call();
	live_view_rest(world.serving->live);
	catalog_view_rest(world.serving->catalog);
	state_view_rest(world.serving->state);
	{
		char words[2 * FS_PATH_MAX];

		snprintf(words, sizeof(words), "gammes import %s",
		    scratch_path("g.csv"));
		world_gridctl(words);
		snprintf(
		    words, sizeof(words), "network %s", scratch_path("n.csv"));
		world_gridctl(words);
	}
	call = world_call();
	view = world_view(&call, "S1");
	ck_assert_ptr_nonnull(view.ranges);
	ck_assert_str_eq(
	    row("A1", "codeGammeServeur,codeGamme,codeGammeInit,caReseau",
		false, SPLICE_JSON),
	    "{\"codeGammeServeur\":\"A\",\"codeGamme\":\"A\","
	    "\"codeGammeInit\":\"A\",\"caReseau\":27000},");
	memcpy(live,
	    row("A1",
		"codein,libelle1,codeGammeServeur,codeGamme,codeGammeInit,"
		"caReseau,qteReseau,nbMagasinsReseau,caParMagasinReseau,"
		"margePctReseau,network,sales12mByStore",
		true, SPLICE_JSON),
	    sizeof(live));
	rows_close(&view, &call);
	world_gridctl("compute S1");
	live_view_rest(world.serving->live);
	catalog_view_rest(world.serving->catalog);
	state_view_rest(world.serving->state);
	call = world_call();
	view = world_view(&call, "S1");
	ck_assert_ptr_null(view.ranges);
	ck_assert_str_eq(
	    row("A1",
		"codein,libelle1,codeGammeServeur,codeGamme,codeGammeInit,"
		"caReseau,qteReseau,nbMagasinsReseau,caParMagasinReseau,"
		"margePctReseau,network,sales12mByStore",
		true, SPLICE_JSON),
	    live);
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
	tcase_add_test(tc, csv_doubles_quotes_and_leaves_null_empty);
	tcase_add_test(tc, csv_header_names_the_columns);
	tcase_add_loop_test(tc, expecting_a_row_changes_nothing, 0,
	    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tc, kept_row_is_the_row_as_it_was_shown_before);
	tcase_add_test(tc, whole_rows_maps_and_csv_are_not_kept);
	tcase_add_test(tc, unchanged_whole_rows_are_referred_to);
	tcase_add_loop_test(tc,
	    columns_that_do_not_follow_one_another_are_damage, 0,
	    sizeof(damages) / sizeof(damages[0]));
	suite_add_tcase(suite, tc);
	tcase_add_unchecked_fixture(changed, world_make, world_remove);
	tcase_add_checked_fixture(changed, make, drop);
	tcase_set_timeout(changed, 300);
	tcase_add_test(changed, overlaid_row_is_the_row_computed_anew);
	suite_add_tcase(suite, changed);
	return suite;
}
