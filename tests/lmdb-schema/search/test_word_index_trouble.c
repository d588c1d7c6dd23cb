/* tests/lmdb-schema/search/test_word_index_trouble.c: full disks, deaths, memory, threads */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lmdb-schema/store/store.h"
#include "tests/fcgi/failing.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/search/two.h"
#include "tests/support/limit.h"
#include "tests/support/process.h"
#include "tests/support/run.h"

/* --- full disks and deaths ------------------------------------------------ */

/* The file has somewhat more than a megabyte. */
static const size_t limits[] = {1, 100, 5000, 100000, 900000, 1060000};

#define LIMITS ((int)(sizeof(limits) / sizeof(limits[0])))

/* Something to do: SMALL has a new snapshot. */
static void
change(void)
{
	ck_assert_int_eq(facts_compute("SMALL", &two_small), ERR_OK);
}

START_TEST(a_full_disk_leaves_the_old_one)
{
	struct word_index_options options = {.memory = 30000};
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
	two_are_as_before();
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
	struct word_index_options options = {.memory = 30000};
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
	struct word_index_options options = {.at = die_now, .memory = 30000};
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
	two_are_as_before();
	/* The lock died with the process, and its leftovers do no harm. */
	ck_assert(book_make().made);
	ck_assert(access(book_path(".tmp"), F_OK) != 0);
	two_book = book_open();
}
END_TEST

/* --- memory --------------------------------------------------------------- */

START_TEST(each_allocation_may_fail_in_making_it)
{
	struct word_index_options options = {.memory = 30000};
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
		two_book = book_open();
		ck_assert_uint_eq(book_find(two_book, SPAN("article")), 123);
		book_close(&two_book);
	}
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_uint_gt(nth, 20);
	ck_assert_uint_eq(result.left_out, 0);
	two_book = book_open();
	ck_assert_uint_gt(
	    word_index_head(two_book)->generation, two_head.generation);
	ck_assert_uint_eq(book_noted(), word_index_head(two_book)->generation);
}
END_TEST

static enum err
use(void)
{
	struct words words;
	uint32_t count;
	uint64_t set[8];
	enum err err = word_index_open(&two_book, facts);

	words_split(&words, SPAN("article c0 n"));
	if (err == ERR_OK)
		err = word_index_find(set, &count, two_book, &words);
	if (err == ERR_OK)
		err = word_index_verify(two_book);
	word_index_close(two_book);
	two_book = NULL;
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
	struct word_index_options options = {.memory = 30000};
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
	two_book = book_open();
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
	tcase_add_checked_fixture(tc, two_make, two_drop);
	tcase_add_loop_test(tc, a_full_disk_leaves_the_old_one, 0, LIMITS);
	tcase_add_loop_test(tc, a_death_leaves_the_old_one, 0, LIMITS + 1);
	tcase_add_test(tc, each_allocation_may_fail_in_making_it);
	tcase_add_test(tc, each_allocation_may_fail_in_using_it);
	tcase_add_test(tc, two_makers_at_once_do_the_work_once);
	tcase_add_test(tc, readers_see_a_whole_one_while_it_is_replaced);
	suite_add_tcase(suite, tc);
	return suite;
}
