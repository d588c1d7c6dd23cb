#include "lmdb-schema/snapshot/snapshot.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/jsonr.h"
#include "common/num.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define BIG 4200 /* two slices */
#define FEW 2200 /* no array is small enough to stand in an index page */

static struct compute_result result;
static struct snapshot *snap;
static unsigned rows;

static void
make_rows(unsigned count)
{
	rows = count;
	facts_make();
	facts_import(rows, 3);
	facts_network("100001", 77 * NUM_MICRO);
	facts_gamme("BIG", "C000007", 2);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), result.entry.generation),
	    ERR_OK);
}

static void
make(void)
{
	make_rows(BIG);
}

static void
make_few(void)
{
	make_rows(FEW);
}

static void
drop(void)
{
	snapshot_close(snap);
	snap = NULL;
	facts_remove();
}

/* A row's place by code: what decides between equals. */
static uint32_t by_code[BIG];

static void
find_places(void)
{
	const uint32_t *order = snapshot_by_codein(snap);

	for (uint32_t i = 0; i < rows; i++)
		by_code[order[i]] = i;
}

/* --- contents ---------------------------------------------------------- */

START_TEST(the_head_says_what_it_was_made_from)
{
	const struct snap_head *head = snapshot_head(snap);

	ck_assert_uint_eq(snapshot_rows(snap), rows);
	ck_assert(span_eq(snapshot_supplier(snap), SPAN("BIG")));
	ck_assert(span_eq(snapshot_name(snap), SPAN("Grande \"Maison\"")));
	ck_assert_uint_eq(head->generation, result.entry.generation);
	ck_assert_uint_eq(head->facts, result.entry.facts);
	ck_assert_uint_eq(head->network, result.entry.network);
	ck_assert_uint_eq(head->gamme, result.entry.gamme);
	ck_assert_int_eq(head->last_month, FACTS_MONTH);
}
END_TEST

START_TEST(rows_stand_by_turnover_then_code)
{
	const int64_t *ca = snapshot_numbers(snap, COL_totalCa);
	const int64_t *rank = snapshot_numbers(snap, COL_rangCa);

	find_places();
	for (uint32_t i = 0; i < rows; i++) {
		run_must(rank[i] == (int64_t)i + 1);
		run_must(i == 0 || ca[i - 1] > ca[i] ||
		    (ca[i - 1] == ca[i] && by_code[i - 1] < by_code[i]));
	}
}
END_TEST

/* Each row, put together, is JSON with the sixty members in their order. */
START_TEST(every_row_is_json_with_all_columns_in_order)
{
	struct jsonr_limits limits = {1 << 20, 0, 1};

	for (uint32_t row = 0; row < rows; row += 7) {
		struct snapshot_part flat, maps;
		const struct jsonr_value *value;
		struct jsonr *doc;
		struct span name;
		void *iter = NULL;
		unsigned column = 0;
		struct buf buf;

		ck_assert(snapshot_flat(snap, row, &flat));
		ck_assert(snapshot_maps(snap, row, &maps));
		buf_init(&buf, 1 << 20);
		buf_add(&buf, flat.json, flat.off.flat[ROW_FLATS]);
		buf_add(&buf, maps.json, maps.off.maps[ROW_MAPCOUNT]);
		ck_assert_int_eq(
		    jsonr_parse(&doc, buf_span(&buf), &limits, NULL), ERR_OK);
		while (jsonr_next(jsonr_root(doc), &iter, &name, &value)) {
			run_must(column < ROW_COLUMNS);
			run_must(span_eq(name, row_info[column].name));
			column++;
		}
		ck_assert_uint_eq(column, ROW_COLUMNS);
		jsonr_free(doc);
		buf_fini(&buf);
	}
}
END_TEST

START_TEST(the_number_columns_are_those_of_the_rows)
{
	for (unsigned column = 0; column < ROW_FLATS; column++) {
		const int64_t *numbers = snapshot_numbers(snap, column);

		if (!row_is_number(column)) {
			ck_assert_ptr_null(numbers);
			continue;
		}
		for (uint32_t row = 0; row < rows; row += 13) {
			struct span text = snapshot_value(snap, row, column);
			int64_t value;

			if (span_eq(text, SPAN("null")))
				run_must(numbers[row] == NUM_NULL);
			else if (row_info[column].type == ROW_DECIMAL) {
				run_must(num_decimal(&value, text));
				run_must(value == numbers[row]);
			} else if (row_info[column].type == ROW_INTEGER) {
				run_must(num_int(
				    &value, text, INT64_MIN + 1, INT64_MAX));
				run_must(value == numbers[row]);
			}
		}
	}
}
END_TEST

/* Nulls last in both ways, ties by code. */
static bool
in_order(const int64_t *numbers, uint32_t a, uint32_t b, bool descending)
{
	if (numbers[a] == numbers[b])
		return by_code[a] < by_code[b];
	if (numbers[a] == NUM_NULL || numbers[b] == NUM_NULL)
		return numbers[b] == NUM_NULL;
	return descending ? numbers[a] > numbers[b] : numbers[a] < numbers[b];
}

START_TEST(every_order_is_sorted_with_ties_by_code)
{
	find_places();
	for (unsigned i = 0; i < 2 * ROW_FLATS; i++) {
		const int64_t *numbers = snapshot_numbers(snap, i / 2);
		const uint32_t *order = snapshot_order(snap, i / 2, i % 2);

		ck_assert_ptr_nonnull(order);
		for (uint32_t k = 1; k < rows && numbers != NULL; k++)
			run_must(
			    in_order(numbers, order[k - 1], order[k], i % 2));
	}
}
END_TEST

START_TEST(every_article_is_found_and_no_other)
{
	static const char *const others[] = {
	    "", "C", "C000000x", "D", "C\"", "C000003", "C\\\"000003"};
	struct source_article article;
	struct source_walk *walk;
	struct source *source;
	uint32_t row;

	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(source_walk_begin(&walk, source, SPAN("BIG")), ERR_OK);
	while (source_walk_next(walk, &article) == ERR_OK) {
		struct buf quoted;

		run_must(snapshot_find(snap, article.codein, &row) == ERR_OK);
		buf_init(&quoted, 1000);
		jsonw_quote(&quoted, article.codein);
		run_must(span_eq(
		    snapshot_value(snap, row, COL_codein), buf_span(&quoted)));
		buf_fini(&quoted);
	}
	source_walk_end(walk);
	source_close(source);
	for (unsigned i = 0; i < 7; i++)
		ck_assert_int_eq(snapshot_find(snap, span_of(others[i]), &row),
		    ERR_NOT_FOUND);
}
END_TEST

START_TEST(the_search_text_is_folded_and_complete)
{
	const uint32_t *at;
	struct span text;

	ck_assert(snapshot_text(snap, &text, &at));
	for (uint32_t row = 0; row < rows; row++) {
		struct span mine =
		    span_sub(text, at[row], at[row + 1] - at[row]);
		unsigned ends = 0;

		for (size_t i = 0; i < mine.len; i++) {
			ends += mine.ptr[i] == SNAP_TEXT_END;
			run_must(mine.ptr[i] < 'A' || mine.ptr[i] > 'Z');
		}
		run_must(ends == 5);
	}
}
END_TEST

START_TEST(the_classes_count_every_article_once)
{
	for (unsigned level = 1; level <= 3; level++) {
		struct snapshot_classes classes;
		uint64_t articles = 0;
		int64_t ca = 0, all = 0;
		const int64_t *turnover = snapshot_numbers(snap, COL_totalCa);
		const uint32_t *code3 = snapshot_code3(snap);

		ck_assert(snapshot_classes(snap, level, &classes));
		for (uint32_t i = 0; i < classes.count; i++) {
			articles += classes.class[i].articles;
			ca += classes.class[i].ca;
			ck_assert(i == 0 ||
			    classes.class[i - 1].code < classes.class[i].code);
		}
		for (uint32_t row = 0; row < rows; row++)
			all += code3[row] == SNAP_NO_CODE ? 0 : turnover[row];
		ck_assert_uint_eq(articles + classes.without, rows);
		ck_assert_int_eq(ca, all);
		if (level < 3)
			continue;
		ck_assert_uint_eq(classes.count, 3);
		ck_assert(
		    span_eq(snapshot_class_label(&classes, &classes.class[0]),
			SPAN("Thon")));
		ck_assert_uint_eq(
		    snapshot_class_label(&classes, &classes.class[2]).len, 0);
	}
}
END_TEST

START_TEST(live_values_are_those_of_the_computation)
{
	uint32_t row;

	ck_assert_int_eq(snapshot_find(snap, SPAN("C000007"), &row), ERR_OK);
	ck_assert_uint_eq(snapshot_gammes(snap)[row], 2);
	ck_assert(span_eq(
	    snapshot_value(snap, row, COL_codeGammeServeur), SPAN("\"B\"")));
	ck_assert(span_eq(
	    snapshot_value(snap, row, COL_gammeAValider), SPAN("null")));
	ck_assert_int_eq(snapshot_find(snap, SPAN("C000001"), &row), ERR_OK);
	ck_assert(span_eq(snapshot_value(snap, row, COL_caReseau), SPAN("77")));
	ck_assert(span_eq(snapshot_value(snap, row, COL_trend),
	    SPAN("{\"direction\":\"up\",\"pct\":0.2,\"label\":\"+20 %\","
		 "\"monthsUsed\":2}")));
}
END_TEST

START_TEST(a_row_that_is_not_there_is_not_given)
{
	struct snapshot_part part;

	ck_assert(!snapshot_flat(snap, rows, &part));
	ck_assert(!snapshot_maps(snap, rows, &part));
	ck_assert(!snapshot_flat(snap, UINT32_MAX, &part));
	ck_assert_uint_eq(snapshot_value(snap, rows, COL_codein).len, 0);
	ck_assert_uint_eq(snapshot_value(snap, rows, COL_network).len, 0);
}
END_TEST

START_TEST(a_whole_snapshot_verifies)
{
	struct snapshot_verified verified;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(snapshot_verify(snap, &fault, &verified), ERR_OK);
	ck_assert_uint_gt(verified.sections, 2 * ROW_FLATS);
	ck_assert_uint_le(verified.bytes, result.entry.bytes);
}
END_TEST

/* --- pinned --------------------------------------------------------------- */

static uint32_t
sum_of(struct snapshot *which)
{
	uint32_t sum = 0;

	for (uint32_t row = 0; row < snapshot_rows(which); row++) {
		struct snapshot_part part;

		run_must(snapshot_maps(which, row, &part));
		for (uint32_t i = 0; i < part.off.maps[ROW_MAPCOUNT]; i++)
			sum = sum * 31 + (unsigned char)part.json[i];
	}
	return sum;
}

START_TEST(a_pinned_generation_outlives_its_file)
{
	struct pruned pruned;
	struct compute_result second;
	struct snapshot *none;
	uint32_t before = sum_of(snap);

	facts_import(20, 9);
	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert_int_eq(
	    snapshot_open(&none, facts, SPAN("BIG"), result.entry.generation),
	    ERR_NOT_FOUND);
	ck_assert_uint_eq(sum_of(snap), before);
}
END_TEST

static void *
read_all(void *context)
{
	uint32_t *sum = context;

	for (unsigned column = 0; column < ROW_FLATS; column++)
		run_must(snapshot_order(snap, column, true) != NULL);
	*sum = sum_of(snap);
	return NULL;
}

START_TEST(threads_share_one)
{
	pthread_t threads[4];
	uint32_t sums[4];

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, read_all, &sums[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 1; i < 4; i++)
		ck_assert_uint_eq(sums[i], sums[0]);
}
END_TEST

/* --- damage --------------------------------------------------------------- */

static size_t file_len;

static char *
read_file(void)
{
	char path[FS_PATH_MAX];
	struct buf buf;

	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("BIG"),
			     result.entry.generation, ""),
	    ERR_OK);
	buf_init(&buf, (size_t)1 << 30);
	ck_assert_int_eq(fs_read(&buf, path), ERR_OK);
	return buf_take(&buf, &file_len);
}

/* Calls every reading function, then verifies. */
static enum err
use(const char *path)
{
	struct snapshot_classes classes;
	struct snapshot_part part;
	struct snapshot *other;
	struct fault fault;
	const uint32_t *at;
	struct span text;
	uint32_t found;
	enum err err = snapshot_open_file(&other, path);

	if (err != ERR_OK) {
		ck_assert_ptr_null(other);
		return err;
	}
	for (uint32_t row = 0; row < snapshot_rows(other) && row < rows;
	     row += 97) {
		snapshot_flat(other, row, &part);
		snapshot_maps(other, row, &part);
		for (unsigned i = 0; i < ROW_COLUMNS; i += 5)
			snapshot_value(other, row, i);
	}
	snapshot_find(other, SPAN("C000123"), &found);
	snapshot_text(other, &text, &at);
	for (unsigned level = 1; level <= 3; level++)
		if (snapshot_classes(other, level, &classes))
			for (uint32_t i = 0; i < classes.count; i++)
				snapshot_class_label(
				    &classes, &classes.class[i]);
	fault_clear(&fault);
	err = snapshot_verify(other, &fault, NULL);
	ck_assert_int_eq(err != ERR_OK, fault_is_set(&fault));
	snapshot_close(other);
	return err;
}

START_TEST(a_cut_short_file_is_damaged)
{
	char *bytes = read_file();

	quiet_begin();
	for (unsigned i = 0; i < 60; i++) {
		size_t len = i < 5 ? i * 4096
		    : i < 10       ? file_len - i * 100
				   : random_bits() % file_len;

		scratch_write("cut.mdb", bytes, len);
		ck_assert_int_eq(use(scratch_path("cut.mdb")), ERR_DAMAGED);
	}
	free(bytes);
}
END_TEST

/* Writes the file once; later only the bytes that differ. */
static enum err
use_bytes(const char *bytes, size_t at, size_t len)
{
	static const char *written;
	const char *path = scratch_path("flip.mdb");
	int fd;

	if (written != bytes || access(path, F_OK) != 0)
		scratch_write("flip.mdb", bytes, file_len);
	written = bytes;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, bytes + at, len, (off_t)at), (ssize_t)len);
	close(fd);
	return use(path);
}

static void
mend(const char *bytes, size_t at, size_t len)
{
	int fd = open(scratch_path("flip.mdb"), O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes + at, len, (off_t)at), (ssize_t)len);
	close(fd);
}

/* The place in the file's bytes of what the snapshot gives by address. */
static size_t
place_of(const char *bytes, const void *data, size_t len)
{
	const char *at = memmem(bytes, file_len, data, len);

	ck_assert_ptr_nonnull(at);
	return (size_t)(at - bytes);
}

static size_t
section_place(const char *bytes, unsigned section)
{
	const struct snap_head *head = snapshot_head(snap);
	struct snapshot_part part;
	const uint32_t *at;
	struct span text;

	switch (section) {
	case 0: /* the head */
		return place_of(bytes, head, sizeof(*head));
	case 1:
		return place_of(
		    bytes, snapshot_numbers(snap, COL_totalCa), rows * 8);
	case 2:
		return place_of(
		    bytes, snapshot_order(snap, COL_marque, false), rows * 4);
	case 3:
		return place_of(bytes, snapshot_by_codein(snap), rows * 4);
	case 4:
		return place_of(bytes, snapshot_gammes(snap), rows);
	case 5:
		return place_of(bytes, snapshot_code3(snap), rows * 4);
	case 6:
		snapshot_flat(snap, 0, &part);
		return place_of(bytes, part.json, 4000);
	case 7:
		snapshot_maps(snap, 0, &part);
		return place_of(bytes, part.json, 4000);
	case 8:
		snapshot_flat(snap, 1, &part); /* its table of places */
		return place_of(bytes, part.off.flat, 8);
	case 9:
		snapshot_maps(snap, 1, &part);
		return place_of(bytes, part.off.maps, 8);
	case 10:
		snapshot_text(snap, &text, &at);
		return place_of(bytes, text.ptr, 4000);
	default:
		snapshot_text(snap, &text, &at);
		return place_of(bytes, at, rows * 4);
	}
}

START_TEST(a_flipped_bit_in_any_section_is_damage)
{
	char *bytes = read_file();
	size_t place = section_place(bytes, (unsigned)_i);

	quiet_begin();
	for (unsigned i = 0; i < 12; i++) {
		size_t at = place + random_bits() % 160;
		char bit = (char)(1 << random_bits() % 8);
		enum err err;

		bytes[at] ^= bit;
		err = use_bytes(bytes, at, 1);
		ck_assert_msg(
		    err == ERR_DAMAGED || (_i == 0 && err == ERR_VERSION),
		    "byte %zu of section %d: %s", at - place, _i,
		    err_text(err));
		bytes[at] ^= bit;
		mend(bytes, at, 1);
	}
	ck_assert_int_eq(use_bytes(bytes, 0, 1), ERR_OK);
	free(bytes);
}
END_TEST

/* Near 2^32 the length of a column's name is all that is left to add. */
START_TEST(a_value_at_an_offset_that_is_none_is_not_given)
{
	static const uint32_t places[] = {
	    UINT32_MAX, UINT32_MAX - 7, UINT32_MAX - 30, INT32_MAX};
	char *bytes = read_file();
	unsigned column = ROW_FLATS + (unsigned)_i;
	struct snapshot_part part;
	struct snapshot *other;
	size_t at;

	ck_assert(snapshot_maps(snap, 1, &part));
	at = place_of(bytes, part.off.maps,
		 (ROW_MAPCOUNT + 1) * sizeof(*part.off.maps)) +
	    (unsigned)_i * sizeof(*part.off.maps);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memcpy(bytes + at, &places[i], sizeof(places[i]));
		scratch_write("offset.mdb", bytes, file_len);
		ck_assert_int_eq(
		    snapshot_open_file(&other, scratch_path("offset.mdb")),
		    ERR_OK);
		ck_assert_uint_eq(snapshot_value(other, 1, column).len, 0);
		snapshot_close(other);
	}
	free(bytes);
}
END_TEST

/* LMDB trusts its pages: they must be verified before it walks them. */
START_TEST(noise_where_lmdb_keeps_its_own_never_crashes)
{
	char *bytes = read_file();

	quiet_begin();
	for (unsigned i = 0; i < 400; i++) {
		size_t pages = file_len / 4096;
		size_t page = i % 4 == 0 ? random_bits() % 2
		    : i % 4 == 1         ? random_bits() % 8
					 : random_bits() % pages;
		size_t at =
		    page * 4096 + random_bits() % (i % 3 == 0 ? 4088 : 200);
		char old[8];
		enum err err;

		memcpy(old, bytes + at, 8);
		for (unsigned k = 0; k < 1 + i % 8; k++)
			bytes[at + k] = (char)random_bits();
		err = use_bytes(bytes, at, 8);
		ck_assert(
		    err == ERR_OK || err == ERR_DAMAGED || err == ERR_VERSION);
		memcpy(bytes + at, old, 8);
		mend(bytes, at, 8);
	}
	free(bytes);
}
END_TEST

/* The index pages are few among many: here only they are hit. */
START_TEST(noise_in_the_index_pages_never_crashes)
{
	char *bytes = read_file();
	size_t pages = file_len / 4096, index[64], count = 0;

	for (size_t page = 2; page < pages && count < 64; page++) {
		unsigned flags = (unsigned char)bytes[page * 4096 + 10];

		if ((flags == 1 || flags == 2) && bytes[page * 4096 + 11] == 0)
			index[count++] = page;
	}
	ck_assert_uint_gt(count, 2);
	quiet_begin();
	for (unsigned i = 0; i < 600; i++) {
		size_t at = index[random_bits() % count] * 4096 +
		    random_bits() % (i % 2 == 0 ? 4096 : 24);
		char old = bytes[at];
		enum err err;

		bytes[at] = (char)random_bits();
		err = use_bytes(bytes, at, 1);
		ck_assert(
		    err == ERR_OK || err == ERR_DAMAGED || err == ERR_VERSION);
		bytes[at] = old;
		mend(bytes, at, 1);
	}
	free(bytes);
}
END_TEST

/* The versions before and after, in a file that is otherwise sound. */
START_TEST(another_version_is_told)
{
	char *bytes = read_file();
	size_t place = section_place(bytes, 0);
	struct snap_head *head = (struct snap_head *)(void *)(bytes + place);
	size_t len = sizeof(*head) + head->name_len +
	    head->sections * sizeof(struct snap_section);
	struct snapshot *other;

	quiet_begin();
	ck_assert_uint_eq(head->version, SNAP_VERSION);
	head->version = (uint32_t)(SNAP_VERSION + _i);
	head->crc = 0;
	head->crc = (uint32_t)crc32_z(0, (const Bytef *)head, len);
	scratch_write("other.mdb", bytes, file_len);
	ck_assert_int_eq(snapshot_open_file(&other, scratch_path("other.mdb")),
	    _i == 0 ? ERR_OK : ERR_VERSION);
	snapshot_close(other);
	free(bytes);
}
END_TEST

START_TEST(a_file_under_another_name_is_refused)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	struct compute_result other;
	struct snapshot *wrong;

	ck_assert_int_eq(facts_compute("SMALL", &other), ERR_OK);
	ck_assert_int_eq(store_snapshot_path(from, facts, SPAN("SMALL"),
			     other.entry.generation, ""),
	    ERR_OK);
	quiet_begin();
	/* another generation of the supplier */
	ck_assert_int_eq(
	    store_snapshot_path(to, facts, SPAN("SMALL"), 12345, ""), ERR_OK);
	ck_assert_int_eq(rename(from, to), 0);
	ck_assert_int_eq(
	    snapshot_open(&wrong, facts, SPAN("SMALL"), 12345), ERR_DAMAGED);
	ck_assert_ptr_null(wrong);
	/* another supplier */
	ck_assert_int_eq(store_snapshot_path(from, facts, SPAN("BIG"),
			     other.entry.generation, ""),
	    ERR_OK);
	ck_assert_int_eq(rename(to, from), 0);
	ck_assert_int_eq(
	    snapshot_open(&wrong, facts, SPAN("BIG"), other.entry.generation),
	    ERR_DAMAGED);
}
END_TEST

START_TEST(what_is_no_snapshot_is_told)
{
	struct snapshot *none;

	quiet_begin();
	ck_assert_int_eq(
	    snapshot_open(&none, facts, SPAN("BIG"), 1), ERR_NOT_FOUND);
	ck_assert_ptr_null(none);
	scratch_text("text.mdb", "no snapshot at all");
	ck_assert_int_eq(
	    snapshot_open_file(&none, scratch_path("text.mdb")), ERR_DAMAGED);
	scratch_text("empty.mdb", "");
	ck_assert_int_eq(
	    snapshot_open_file(&none, scratch_path("empty.mdb")), ERR_DAMAGED);
	snapshot_close(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tc = tcase_create("whole");
	TCase *few = tcase_create("damaged");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, the_head_says_what_it_was_made_from);
	tcase_add_test(tc, rows_stand_by_turnover_then_code);
	tcase_add_test(tc, every_row_is_json_with_all_columns_in_order);
	tcase_add_test(tc, the_number_columns_are_those_of_the_rows);
	tcase_add_test(tc, every_order_is_sorted_with_ties_by_code);
	tcase_add_test(tc, every_article_is_found_and_no_other);
	tcase_add_test(tc, the_search_text_is_folded_and_complete);
	tcase_add_test(tc, the_classes_count_every_article_once);
	tcase_add_test(tc, live_values_are_those_of_the_computation);
	tcase_add_test(tc, a_row_that_is_not_there_is_not_given);
	tcase_add_test(tc, a_whole_snapshot_verifies);
	tcase_add_test(tc, a_pinned_generation_outlives_its_file);
	tcase_add_test(tc, threads_share_one);
	tcase_set_timeout(few, 300);
	tcase_add_checked_fixture(few, make_few, drop);
	tcase_add_test(few, a_cut_short_file_is_damaged);
	tcase_add_loop_test(few, a_flipped_bit_in_any_section_is_damage, 0, 12);
	tcase_add_loop_test(few, a_value_at_an_offset_that_is_none_is_not_given,
	    0, ROW_MAPCOUNT);
	tcase_add_test(few, noise_where_lmdb_keeps_its_own_never_crashes);
	tcase_add_test(few, noise_in_the_index_pages_never_crashes);
	tcase_add_loop_test(few, another_version_is_told, -1, 2);
	tcase_add_test(few, a_file_under_another_name_is_refused);
	tcase_add_test(few, what_is_no_snapshot_is_told);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, few);
	return suite;
}
