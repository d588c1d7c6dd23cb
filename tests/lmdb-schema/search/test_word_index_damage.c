/* tests/lmdb-schema/search/test_word_index_damage.c: a word index in trouble */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/search/two.h"
#include "tests/support/flip.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

/* Flips bits of the byte at `at`; the same again mends it. */
static void
flip_at(const char *path, uint64_t at, unsigned char bits)
{
	unsigned char byte;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	run_must(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
	byte ^= bits;
	run_must(pwrite(fd, &byte, 1, (off_t)at) == 1);
	close(fd);
}

/* --- damaged files -------------------------------------------------------- */

START_TEST(each_byte_of_the_head_is_guarded)
{
	uint64_t end = two_head.section[WORD_INDEX_SUPPLIERS].at +
	    two_head.section[WORD_INDEX_SUPPLIERS].bytes;

	for (uint64_t at = 0; at < end; at++) {
		enum err err;

		/* Zeros between the two, which no code reads. */
		if (at >= sizeof(two_head) &&
		    at < two_head.section[WORD_INDEX_SUPPLIERS].at)
			continue;
		flip_at(book_path(""), at, (unsigned char)(1 << at % 8));
		err = word_index_open(&two_book, facts);
		ck_assert_msg(err == ERR_DAMAGED || err == ERR_VERSION,
		    "byte %llu: %d", (unsigned long long)at, err);
		ck_assert_ptr_null(two_book);
		ck_assert_int_gt(quiet_lines(), 0);
		flip_at(book_path(""), at, (unsigned char)(1 << at % 8));
	}
	two_are_as_before();
}
END_TEST

/* Searches; any rows may be found. */
static void
look_for_words(void)
{
	static const char *const questions[] = {"article", "c", "ti", "c000012",
	    "10000", "article c0", "nowhere", "c\"000003 n"};
	uint64_t *set = calloc(word_index_set(two_head.rows) + 1, sizeof(*set));
	struct words words;
	uint32_t count;

	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]);
	     i++) {
		enum err err;

		words_split(&words, span_of(questions[i]));
		err = word_index_find(set, &count, two_book, &words);
		run_must(err == ERR_OK || err == ERR_DAMAGED);
	}
	free(set);
}

/* Few of a large one, all of a small one. */
START_TEST(each_byte_of_a_section_is_verified)
{
	const struct word_index_section *section = &two_head.section[_i];
	uint64_t step = section->bytes / 150 + 1;

	if (_i == WORD_INDEX_SUPPLIERS || _i == WORD_INDEX_SUMS)
		return; /* with the head */
	ck_assert_uint_gt(section->bytes, 0);
	for (uint64_t at = 0; at < section->bytes; at += step) {
		unsigned char bits = (unsigned char)(random_bits() % 255 + 1);

		flip_at(book_path(""), section->at + at, bits);
		ck_assert_int_eq(word_index_open(&two_book, facts), ERR_OK);
		ck_assert_int_eq(word_index_verify(two_book), ERR_DAMAGED);
		ck_assert_int_gt(quiet_lines(), 0);
		look_for_words();
		book_close(&two_book);
		flip_at(book_path(""), section->at + at, bits);
	}
	two_are_as_before();
}
END_TEST

START_TEST(each_sum_is_guarded)
{
	const struct word_index_section *sums =
	    &two_head.section[WORD_INDEX_SUMS];

	ck_assert_uint_gt(sums->bytes, 0);
	for (uint64_t at = 0; at < sums->bytes; at++) {
		flip_at(book_path(""), sums->at + at, 1);
		ck_assert_int_eq(
		    word_index_open(&two_book, facts), ERR_DAMAGED);
		ck_assert_ptr_null(two_book);
		flip_at(book_path(""), sums->at + at, 1);
	}
	two_are_as_before();
}
END_TEST

/* --- what is served --------------------------------------------------------- */

static const char *const asked[] = {"article", "c", "ti", "c000012", "10000",
    "article c0", "nowhere", "c000003 n"};

#define ASKED (sizeof(asked) / sizeof(asked[0]))

/* The rows by rank, and what each question finds. */
struct served {
	struct word_index_row *rows;
	uint64_t *sets[ASKED];
};

static enum err
find(uint64_t *set, const char *question)
{
	struct words words;
	uint32_t count;

	words_split(&words, span_of(question));
	return word_index_find(set, &count, two_book, &words);
}

static void
serve_sound(struct served *served)
{
	size_t size = word_index_set(two_head.rows);

	two_book = book_open();
	served->rows = calloc(two_head.rows, sizeof(*served->rows));
	for (uint32_t i = 0; i < two_head.rows; i++)
		ck_assert(word_index_row(&served->rows[i], two_book, i));
	for (unsigned i = 0; i < ASKED; i++) {
		served->sets[i] = calloc(size, sizeof(uint64_t));
		ck_assert_int_eq(find(served->sets[i], asked[i]), ERR_OK);
	}
	book_close(&two_book);
}

/* Of what a damaged file answers: how much it refuses; the rest is as it was. */
static unsigned
count_refused(const struct served *served)
{
	size_t size = word_index_set(two_head.rows);
	uint64_t *set = calloc(size, sizeof(*set));
	unsigned refused = 0;

	for (unsigned i = 0; i < ASKED; i++) {
		enum err err = find(set, asked[i]);

		refused += err == ERR_DAMAGED;
		if (err != ERR_DAMAGED)
			ck_assert_mem_eq(
			    set, served->sets[i], size * sizeof(*set));
	}
	for (uint32_t i = 0; i < two_head.rows; i++) {
		struct word_index_row row;

		if (word_index_row(&row, two_book, i))
			ck_assert_mem_eq(&row, &served->rows[i], sizeof(row));
		else
			refused++;
	}
	free(set);
	return refused;
}

/* Without a look at the file as a whole. */
START_TEST(a_damaged_byte_is_told_and_never_served)
{
	const struct word_index_section *section = &two_head.section[_i];
	uint64_t step = section->bytes / 150 + 1;
	struct served served;
	unsigned refused = 0;

	serve_sound(&served);
	for (uint64_t at = 0; at < section->bytes; at += step) {
		unsigned char bits = (unsigned char)(random_bits() % 255 + 1);
		unsigned here;

		flip_at(book_path(""), section->at + at, bits);
		ck_assert_int_eq(word_index_open(&two_book, facts), ERR_OK);
		here = count_refused(&served);
		ck_assert(here == 0 || quiet_lines() > 0);
		refused += here;
		book_close(&two_book);
		flip_at(book_path(""), section->at + at, bits);
	}
	/* No search reads what rows are ordered by. */
	ck_assert(_i >= WORD_INDEX_TURNOVERS || refused > 0);
	for (unsigned i = 0; i < ASKED; i++)
		free(served.sets[i]);
	free(served.rows);
	two_are_as_before();
}
END_TEST

/* Blocks of a section that have been compared. */
static uint64_t
compared(unsigned section)
{
	const struct blocks *blocks = &two_book->blocks[section];
	uint64_t count = 0;

	for (uint64_t i = 0; i < blocks_count(blocks->bytes); i++)
		count += blocks_seen(blocks, i) != 0;
	return count;
}

START_TEST(a_search_compares_what_it_reads)
{
	uint64_t *set = calloc(word_index_set(two_head.rows), sizeof(*set));
	uint64_t all = blocks_count(two_head.section[WORD_INDEX_GRAM_AT].bytes);

	ck_assert_int_eq(word_index_open(&two_book, facts), ERR_OK);
	ck_assert_uint_eq(compared(WORD_INDEX_GRAM_AT), 0);
	ck_assert_int_eq(find(set, "article"), ERR_OK);
	/* Of seven letters, five grams. */
	ck_assert_uint_gt(compared(WORD_INDEX_GRAM_AT), 0);
	ck_assert_uint_le(compared(WORD_INDEX_GRAM_AT), 5);
	ck_assert_uint_gt(all, 5);
	ck_assert_uint_eq(compared(WORD_INDEX_ROWS), 0);
	ck_assert_uint_eq(compared(WORD_INDEX_CODES), 0);
	ck_assert_int_eq(word_index_compare(two_book), ERR_OK);
	ck_assert_uint_eq(compared(WORD_INDEX_GRAM_AT), all);
	free(set);
	book_close(&two_book);
}
END_TEST

START_TEST(a_damaged_one_is_made_anew)
{
	flip_at(book_path(""), two_head.section[WORD_INDEX_LISTS].at + 1, 4);
	ck_assert(book_make().made);
	two_book = book_open();
	ck_assert_uint_eq(book_find(two_book, SPAN("article")), 123);
}
END_TEST

START_TEST(one_of_another_length_is_refused)
{
	uint64_t lengths[2 * WORD_INDEX_SECTIONS + 8] = {0, 1, 8,
	    sizeof(two_head) - 1, sizeof(two_head), two_head.bytes - 1,
	    two_head.bytes + 1, two_head.bytes + 4096};
	struct buf whole;

	for (unsigned i = 0; i < WORD_INDEX_SECTIONS; i++) {
		lengths[8 + 2 * i] = two_head.section[i].at;
		lengths[9 + 2 * i] = two_head.section[i].at + 5;
	}
	buf_init(&whole, 1u << 28);
	ck_assert_int_eq(fs_read(&whole, book_path("")), ERR_OK);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ck_assert_int_eq(truncate(book_path(""), (off_t)lengths[i]), 0);
		ck_assert_int_eq(
		    word_index_open(&two_book, facts), ERR_DAMAGED);
		ck_assert_ptr_null(two_book);
		ck_assert_int_eq(
		    fs_replace(book_path(""), buf_span(&whole), 0640), ERR_OK);
	}
	buf_fini(&whole);
	two_are_as_before();
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert_int_eq(mkdir(book_path(""), 0700), 0);
	ck_assert_int_ne(word_index_open(&two_book, facts), ERR_OK);
	ck_assert_ptr_null(two_book);
	ck_assert_int_eq(rmdir(book_path("")), 0);
}
END_TEST

/* --- damaged snapshots ---------------------------------------------------- */

static const char *
snapshot_file(const char *supplier, const struct compute_result *result)
{
	static char path[FS_PATH_MAX];

	ck_assert_int_eq(store_snapshot_path(path, facts, span_of(supplier),
			     result->entry.generation, ""),
	    ERR_OK);
	return path;
}

START_TEST(a_supplier_whose_snapshot_is_damaged_is_left_out)
{
	struct word_index_result result;

	if (_i == 0)
		ck_assert_int_eq(
		    truncate(snapshot_file("BIG", &two_big), 9000), 0);
	else
		ck_assert_int_eq(unlink(snapshot_file("BIG", &two_big)), 0);
	ck_assert_int_eq(unlink(book_path("")), 0);
	result = book_make();
	ck_assert(result.made);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_uint_eq(result.suppliers, 1);
	ck_assert_uint_eq(result.rows, 3);
	two_book = book_open();
	ck_assert(span_eq(word_index_code(two_book, 0), SPAN("SMALL")));
	ck_assert_uint_eq(book_find(two_book, SPAN("article")), 3);
}
END_TEST

START_TEST(who_broke_since_is_left_out_of_a_new_one)
{
	struct word_index_result result;

	ck_assert_int_eq(unlink(snapshot_file("BIG", &two_big)), 0);
	result = book_make();
	ck_assert(result.made);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_uint_eq(result.suppliers, 1);
	result = book_make();
	ck_assert(!result.made);
	ck_assert_uint_eq(result.left_out, 1);
}
END_TEST

START_TEST(rows_out_of_their_order_are_left_out)
{
	struct snapshot *snap;
	struct word_index_result result;
	char numbers[32];

	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), two_big.entry.generation),
	    ERR_OK);
	memcpy(numbers, snapshot_numbers(snap, COL_totalCa), sizeof(numbers));
	snapshot_close(snap);
	/* The second row has now far more than the first. */
	flip(snapshot_file("BIG", &two_big),
	    span_make(numbers, sizeof(numbers)), 8 + 6);
	ck_assert_int_eq(unlink(book_path("")), 0);
	result = book_make();
	ck_assert_uint_eq(result.left_out, 1);
	two_book = book_open();
	ck_assert(span_eq(word_index_code(two_book, 0), SPAN("SMALL")));
}
END_TEST

/* No program stores it: a damaged entry of a store without checksums. */
START_TEST(an_entry_that_is_no_code_is_passed_over)
{
	char code[300], value[200];
	struct kv_txn *txn;
	struct span entry;

	memset(code, 'x', sizeof(code));
	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_catalog(facts)), ERR_OK);
	ck_assert_int_eq(
	    kv_get(txn, CATALOG_CURRENT, SPAN("BIG"), &entry), ERR_OK);
	ck_assert_uint_le(entry.len, sizeof(value));
	memcpy(value, entry.ptr, entry.len);
	ck_assert_int_eq(
	    kv_put(txn, CATALOG_CURRENT, span_make(code, sizeof(code)),
		span_make(value, entry.len)),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert_uint_eq(book_make().suppliers, 2);
}
END_TEST

/* Wherever it is: what can be read is taken, and nothing dies of it. */
START_TEST(a_bit_of_a_snapshot_keeps_nobody_else_out)
{
	const char *path = snapshot_file("SMALL", &two_small);
	uint64_t bytes, on_disk;
	unsigned left_out = 0;

	ck_assert_int_eq(fs_size(path, &bytes, &on_disk), ERR_OK);
	for (unsigned i = 0; i < 150; i++) {
		uint64_t at = random_bits() % bytes;
		unsigned char bits = (unsigned char)(random_bits() % 255 + 1);
		struct word_index_result result;

		flip_at(path, at, bits);
		ck_assert_int_eq(unlink(book_path("")), 0);
		result = book_make();
		ck_assert_uint_eq(result.suppliers + result.left_out, 2);
		left_out += (unsigned)result.left_out;
		ck_assert_int_eq(word_index_open(&two_book, facts), ERR_OK);
		ck_assert_int_eq(word_index_verify(two_book), ERR_OK);
		ck_assert(span_eq(word_index_code(two_book, 0), SPAN("BIG")));
		book_close(&two_book);
		flip_at(path, at, bits);
	}
	ck_assert_uint_gt(left_out, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("word index damaged");
	TCase *tc = tcase_create("damaged");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, two_make, two_drop);
	tcase_add_test(tc, each_byte_of_the_head_is_guarded);
	tcase_add_loop_test(
	    tc, each_byte_of_a_section_is_verified, 0, WORD_INDEX_SECTIONS);
	tcase_add_test(tc, each_sum_is_guarded);
	tcase_add_loop_test(tc, a_damaged_byte_is_told_and_never_served,
	    WORD_INDEX_ROWS, WORD_INDEX_SUMMED);
	tcase_add_test(tc, a_search_compares_what_it_reads);
	tcase_add_test(tc, a_damaged_one_is_made_anew);
	tcase_add_test(tc, one_of_another_length_is_refused);
	tcase_add_test(tc, what_is_no_file_is_refused);
	tcase_add_loop_test(
	    tc, a_supplier_whose_snapshot_is_damaged_is_left_out, 0, 2);
	tcase_add_test(tc, who_broke_since_is_left_out_of_a_new_one);
	tcase_add_test(tc, rows_out_of_their_order_are_left_out);
	tcase_add_test(tc, an_entry_that_is_no_code_is_passed_over);
	tcase_add_test(tc, a_bit_of_a_snapshot_keeps_nobody_else_out);
	suite_add_tcase(suite, tc);
	return suite;
}
