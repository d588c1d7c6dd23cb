/* tests/lmdb-schema/search/test_word_index_damage.c: a word index in trouble */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/failing.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/flip.h"
#include "tests/support/limit.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct word_index *book;
static struct compute_result big, small;
static struct word_index_head head;

static void
make(void)
{
	facts_make();
	quiet_begin();
	facts_import(120, 1);
	ck_assert_int_eq(facts_compute("BIG", &big), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &small), ERR_OK);
	book_make();
	book = book_open();
	head = *word_index_head(book);
	book_close(&book);
}

static void
drop(void)
{
	book_close(&book);
	facts_remove();
}

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

/* The existing index is unchanged and sound. */
static void
must_be_as_before(void)
{
	book = book_open();
	ck_assert_uint_eq(word_index_head(book)->generation, head.generation);
	ck_assert_uint_eq(book_find(book, SPAN("article")), 123);
	book_close(&book);
}

/* --- damaged files -------------------------------------------------------- */

START_TEST(each_byte_of_the_head_is_guarded)
{
	uint64_t end = head.section[WORD_INDEX_SUPPLIERS].at +
	    head.section[WORD_INDEX_SUPPLIERS].bytes;

	for (uint64_t at = 0; at < end; at++) {
		enum err err;

		/* Zeros between the two, which no code reads. */
		if (at >= sizeof(head) &&
		    at < head.section[WORD_INDEX_SUPPLIERS].at)
			continue;
		flip_at(book_path(""), at, (unsigned char)(1 << at % 8));
		err = word_index_open(&book, facts);
		ck_assert_msg(err == ERR_DAMAGED || err == ERR_VERSION,
		    "byte %llu: %d", (unsigned long long)at, err);
		ck_assert_ptr_null(book);
		ck_assert_int_gt(quiet_lines(), 0);
		flip_at(book_path(""), at, (unsigned char)(1 << at % 8));
	}
	must_be_as_before();
}
END_TEST

/* Searches; any rows may be found. */
static void
look_for_words(void)
{
	static const char *const questions[] = {"article", "c", "ti", "c000012",
	    "10000", "article c0", "nowhere", "c\"000003 n"};
	uint64_t *set = calloc(word_index_set(head.rows) + 1, sizeof(*set));
	struct words words;
	uint32_t count;

	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]);
	     i++) {
		enum err err;

		words_split(&words, span_of(questions[i]));
		err = word_index_find(set, &count, book, &words);
		run_must(err == ERR_OK || err == ERR_DAMAGED);
	}
	free(set);
}

/* Few of a large one, all of a small one. */
START_TEST(each_byte_of_a_section_is_verified)
{
	const struct word_index_section *section = &head.section[_i];
	uint64_t step = section->bytes / 150 + 1;

	if (_i == WORD_INDEX_SUPPLIERS)
		return; /* with the head */
	ck_assert_uint_gt(section->bytes, 0);
	for (uint64_t at = 0; at < section->bytes; at += step) {
		unsigned char bits = (unsigned char)(random_bits() % 255 + 1);

		flip_at(book_path(""), section->at + at, bits);
		ck_assert_int_eq(word_index_open(&book, facts), ERR_OK);
		ck_assert_int_eq(word_index_verify(book), ERR_DAMAGED);
		ck_assert_int_gt(quiet_lines(), 0);
		look_for_words();
		book_close(&book);
		flip_at(book_path(""), section->at + at, bits);
	}
	must_be_as_before();
}
END_TEST

START_TEST(a_damaged_one_is_made_anew)
{
	flip_at(book_path(""), head.section[WORD_INDEX_LISTS].at + 1, 4);
	ck_assert(book_make().made);
	book = book_open();
	ck_assert_uint_eq(book_find(book, SPAN("article")), 123);
}
END_TEST

START_TEST(one_of_another_length_is_refused)
{
	uint64_t lengths[2 * WORD_INDEX_SECTIONS + 8] = {0, 1, 8,
	    sizeof(head) - 1, sizeof(head), head.bytes - 1, head.bytes + 1,
	    head.bytes + 4096};
	struct buf whole;

	for (unsigned i = 0; i < WORD_INDEX_SECTIONS; i++) {
		lengths[8 + 2 * i] = head.section[i].at;
		lengths[9 + 2 * i] = head.section[i].at + 5;
	}
	buf_init(&whole, 1u << 28);
	ck_assert_int_eq(fs_read(&whole, book_path("")), ERR_OK);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ck_assert_int_eq(truncate(book_path(""), (off_t)lengths[i]), 0);
		ck_assert_int_eq(word_index_open(&book, facts), ERR_DAMAGED);
		ck_assert_ptr_null(book);
		ck_assert_int_eq(
		    fs_replace(book_path(""), buf_span(&whole), 0640), ERR_OK);
	}
	buf_fini(&whole);
	must_be_as_before();
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert_int_eq(mkdir(book_path(""), 0700), 0);
	ck_assert_int_ne(word_index_open(&book, facts), ERR_OK);
	ck_assert_ptr_null(book);
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
		ck_assert_int_eq(truncate(snapshot_file("BIG", &big), 9000), 0);
	else
		ck_assert_int_eq(unlink(snapshot_file("BIG", &big)), 0);
	ck_assert_int_eq(unlink(book_path("")), 0);
	result = book_make();
	ck_assert(result.made);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_uint_eq(result.suppliers, 1);
	ck_assert_uint_eq(result.rows, 3);
	book = book_open();
	ck_assert(span_eq(word_index_code(book, 0), SPAN("SMALL")));
	ck_assert_uint_eq(book_find(book, SPAN("article")), 3);
}
END_TEST

START_TEST(who_broke_since_is_left_out_of_a_new_one)
{
	struct word_index_result result;

	ck_assert_int_eq(unlink(snapshot_file("BIG", &big)), 0);
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
	    snapshot_open(&snap, facts, SPAN("BIG"), big.entry.generation),
	    ERR_OK);
	memcpy(numbers, snapshot_numbers(snap, COL_totalCa), sizeof(numbers));
	snapshot_close(snap);
	/* The second row has now far more than the first. */
	flip(snapshot_file("BIG", &big), span_make(numbers, sizeof(numbers)),
	    8 + 6);
	ck_assert_int_eq(unlink(book_path("")), 0);
	result = book_make();
	ck_assert_uint_eq(result.left_out, 1);
	book = book_open();
	ck_assert(span_eq(word_index_code(book, 0), SPAN("SMALL")));
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
	const char *path = snapshot_file("SMALL", &small);
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
		ck_assert_int_eq(word_index_open(&book, facts), ERR_OK);
		ck_assert_int_eq(word_index_verify(book), ERR_OK);
		ck_assert(span_eq(word_index_code(book, 0), SPAN("BIG")));
		book_close(&book);
		flip_at(path, at, bits);
	}
	ck_assert_uint_gt(left_out, 0);
}
END_TEST

/* --- full disks and deaths ------------------------------------------------ */

/* The file has somewhat more than a megabyte. */
static const size_t limits[] = {1, 100, 5000, 100000, 900000, 1060000};

#define LIMITS ((int)(sizeof(limits) / sizeof(limits[0])))

/* Something to do: SMALL has a new snapshot. */
static void
change(void)
{
	ck_assert_int_eq(facts_compute("SMALL", &small), ERR_OK);
}

START_TEST(a_full_disk_leaves_the_old_one)
{
	struct word_index_options options = {.at = NULL};
	struct word_index_result result;
	enum err err;

	change();
	/* The old generation of SMALL is kept: the book is right for it. */
	limit_files(limits[_i]);
	err = word_index_make(&result, facts, &options);
	limit_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	ck_assert(!result.made);
	ck_assert(access(book_path(".tmp"), F_OK) != 0);
	must_be_as_before();
	ck_assert(book_make().made);
}
END_TEST

static size_t dies_at;

/*
 * The kernel kills a process that exceeds a limit without ignoring the signal.
 */
static int
die_while_writing(void)
{
	struct word_index_options options = {.at = NULL};
	struct rlimit limit = {dies_at, dies_at}, none = {0, 0};
	struct word_index_result result;

	facts_open();
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &limit);
	return (int)word_index_make(&result, facts, &options);
}

static void
die_now(void *context, uint64_t done, uint64_t rows)
{
	(void)context;
	(void)rows;
	if (done > 0)
		kill(getpid(), SIGKILL);
}

static int
die_while_reading(void)
{
	struct word_index_options options = {.at = die_now};
	struct word_index_result result;

	facts_open();
	return (int)word_index_make(&result, facts, &options);
}

START_TEST(a_death_leaves_the_old_one)
{
	change();
	facts_close();
	if (_i == LIMITS)
		ck_assert_int_eq(process_run(die_while_reading), -SIGKILL);
	else {
		dies_at = limits[_i];
		ck_assert_int_eq(process_run(die_while_writing), -SIGXFSZ);
	}
	facts_open();
	if (_i < LIMITS)
		ck_assert_int_eq(access(book_path(".tmp"), F_OK), 0);
	must_be_as_before();
	/* The lock died with the process, and its leftovers do no harm. */
	ck_assert(book_make().made);
	ck_assert(access(book_path(".tmp"), F_OK) != 0);
	book = book_open();
}
END_TEST

/* --- memory --------------------------------------------------------------- */

START_TEST(each_allocation_may_fail_in_making_it)
{
	struct word_index_options options = {.at = NULL};
	struct word_index_result result;
	unsigned long nth = 0;
	enum err err = ERR_NO_MEMORY;

	for (change(); err != ERR_OK;) {
		failing_begin(++nth);
		err = word_index_make(&result, facts, &options);
		if (failing_end() < nth)
			break; /* it takes no more than that */
		ck_assert_msg(
		    err == ERR_NO_MEMORY, "allocation %lu: %d", nth, (int)err);
		ck_assert(access(book_path(".tmp"), F_OK) != 0);
		/* The old index, or the new one that is not noted yet. */
		book = book_open();
		ck_assert_uint_eq(book_find(book, SPAN("article")), 123);
		book_close(&book);
	}
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_uint_gt(nth, 20);
	ck_assert_uint_eq(result.left_out, 0);
	book = book_open();
	ck_assert_uint_gt(word_index_head(book)->generation, head.generation);
	ck_assert_uint_eq(book_noted(), word_index_head(book)->generation);
}
END_TEST

static enum err
use(void)
{
	struct words words;
	uint32_t count;
	uint64_t set[8];
	enum err err = word_index_open(&book, facts);

	words_split(&words, SPAN("article c0 n"));
	if (err == ERR_OK)
		err = word_index_find(set, &count, book, &words);
	if (err == ERR_OK)
		err = word_index_verify(book);
	word_index_close(book);
	book = NULL;
	return err;
}

START_TEST(each_allocation_may_fail_in_using_it)
{
	unsigned long nth = 0;

	for (;;) {
		enum err err;

		failing_begin(++nth);
		err = use();
		if (failing_end() < nth)
			break;
		ck_assert_msg(
		    err == ERR_NO_MEMORY, "allocation %lu: %d", nth, (int)err);
	}
	ck_assert_uint_gt(nth, 3);
	ck_assert_int_eq(use(), ERR_OK);
}
END_TEST

/* --- two at once ---------------------------------------------------------- */

static void *
make_thread(void *context)
{
	struct word_index_options options = {.at = NULL};
	struct word_index_result *result = context;

	if (word_index_make(result, facts, &options) != ERR_OK)
		result->rows = 0;
	return NULL;
}

START_TEST(two_makers_at_once_do_the_work_once)
{
	struct word_index_result results[2];
	pthread_t threads[2];
	int lock;

	change();
	ck_assert_int_eq(store_lock_words(&lock, facts, true), ERR_OK);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, make_thread, &results[i]),
		    0);
	process_waits(getpid(), 2);
	close(lock);
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_uint_eq(results[i].rows, 123);
		ck_assert_uint_eq(results[i].suppliers, 2);
	}
	ck_assert_int_eq(results[0].made + results[1].made, 1);
	book = book_open();
}
END_TEST

/* Opened and closed and looked into by many while it is replaced. */
static atomic_bool over;

static void *
read_thread(void *context)
{
	unsigned *wrong = context;
	struct words words;
	struct word_index *mine;
	uint64_t set[8];
	uint32_t count;

	words_split(&words, SPAN("article"));
	while (!over) {
		unsigned found = 0;

		if (word_index_open(&mine, facts) != ERR_OK ||
		    word_index_set(word_index_head(mine)->rows) > 8 ||
		    word_index_find(set, &count, mine, &words) != ERR_OK)
			++*wrong;
		for (unsigned i = 0; i < 2; i++)
			found += (unsigned)__builtin_popcountll(set[i]);
		*wrong += found != 123;
		word_index_close(mine);
	}
	return NULL;
}

START_TEST(readers_see_a_whole_one_while_it_is_replaced)
{
	pthread_t threads[2];
	unsigned wrong[2] = {0, 0};

	over = false;
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, read_thread, &wrong[i]),
		    0);
	for (unsigned i = 0; i < 20; i++) {
		change();
		ck_assert(book_make().made);
	}
	over = true;
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_uint_eq(wrong[i], 0);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("word index in trouble");
	TCase *tc = tcase_create("trouble");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, each_byte_of_the_head_is_guarded);
	tcase_add_loop_test(
	    tc, each_byte_of_a_section_is_verified, 0, WORD_INDEX_SECTIONS);
	tcase_add_test(tc, a_damaged_one_is_made_anew);
	tcase_add_test(tc, one_of_another_length_is_refused);
	tcase_add_test(tc, what_is_no_file_is_refused);
	tcase_add_loop_test(
	    tc, a_supplier_whose_snapshot_is_damaged_is_left_out, 0, 2);
	tcase_add_test(tc, who_broke_since_is_left_out_of_a_new_one);
	tcase_add_test(tc, rows_out_of_their_order_are_left_out);
	tcase_add_test(tc, an_entry_that_is_no_code_is_passed_over);
	tcase_add_test(tc, a_bit_of_a_snapshot_keeps_nobody_else_out);
	tcase_add_loop_test(tc, a_full_disk_leaves_the_old_one, 0, LIMITS);
	tcase_add_loop_test(tc, a_death_leaves_the_old_one, 0, LIMITS + 1);
	tcase_add_test(tc, each_allocation_may_fail_in_making_it);
	tcase_add_test(tc, each_allocation_may_fail_in_using_it);
	tcase_add_test(tc, two_makers_at_once_do_the_work_once);
	tcase_add_test(tc, readers_see_a_whole_one_while_it_is_replaced);
	suite_add_tcase(suite, tc);
	return suite;
}
