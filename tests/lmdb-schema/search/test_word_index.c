/* tests/lmdb-schema/search/test_word_index.c: what is in a word index, and found in
 * it */
#include "lmdb-schema/search/word_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/num.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct word_index *book;
static struct compute_result computed;

static void
make(void)
{
	facts_make();
	quiet_begin();
}

static void
drop(void)
{
	book_close(&book);
	facts_remove();
}

static const struct book_row few[] = {
    {"S1", "B", "Lait entier", NUM_MICRO},
    {"S2", "B", "Laitue \"Iceberg\"", NUM_MICRO},
    {"S10", "B", "lait  LAIT lait\xc3\xa9", NUM_MICRO},
    {"S2", "a\"1", "", 3 * NUM_MICRO},
    {"S2", "a\\1",
	"Cr\xc3\xa8me br\xc3\xbbl\xc3\xa9"
	"e",
	3 * NUM_MICRO},
    {"S2", "a!1", "x", 3 * NUM_MICRO},
    {"S1", "\xc3\xa9", "B et A", NUM_NULL},
    {"S1", "A", "B et A", NUM_NULL},
    {"S10", "z", "zzz", 0},
    {"S10", "y", "retour", -5 * NUM_MICRO},
};

#define FEW (sizeof(few) / sizeof(few[0]))

static void
make_few(void)
{
	make();
	book_import(few, FEW);
	book_make();
	book = book_open();
}

/* --- making --------------------------------------------------------------- */

START_TEST(of_no_supplier_there_is_one_with_nothing_in_it)
{
	struct word_index_result result = book_make();

	ck_assert(result.made);
	ck_assert_uint_eq(result.suppliers, 0);
	ck_assert_uint_eq(result.words, 0);
	ck_assert_uint_eq(result.left_out, 0);
	book = book_open();
	ck_assert_uint_eq(word_index_head(book)->rows, 0);
	ck_assert_uint_eq(book_find(book, SPAN("lait")), 0);
	ck_assert_uint_eq(book_find(book, SPAN("l")), 0);
	ck_assert(!book_make().made);
}
END_TEST

START_TEST(of_one_supplier_it_has_all_rows)
{
	struct word_index_result result;

	facts_import(700, 1);
	ck_assert_int_eq(facts_compute("BIG", &computed), ERR_OK);
	result = book_make();
	ck_assert_uint_eq(result.suppliers, 1);
	ck_assert_uint_eq(result.rows, 700);
	book = book_open();
	ck_assert_uint_eq(result.words, word_index_head(book)->words);
	ck_assert_uint_eq(result.bytes, word_index_head(book)->bytes);
	ck_assert_uint_eq(book_find(book, SPAN("article")), 700);
	ck_assert_uint_eq(book_find(book, SPAN("c000124")), 1);
}
END_TEST

/* By turnover, which none is 0, then by code, then by supplier: all by bytes.
 * */
START_TEST(ranks_are_those_of_a_search_without_another_order)
{
	static const char *const ranks[] = {"S2/\"a!1\"", "S2/\"a\\\"1\"",
	    "S2/\"a\\\\1\"", "S1/\"B\"", "S10/\"B\"", "S2/\"B\"", "S1/\"A\"",
	    "S10/\"z\"", "S1/\"\xc3\xa9\"", "S10/\"y\""};

	for (uint32_t i = 0; i < FEW; i++)
		ck_assert_str_eq(book_at(book, i), ranks[i]);
}
END_TEST

#define MANY 60

START_TEST(there_may_be_more_suppliers_than_open_files)
{
	struct word_index_options options = {.at = NULL};
	struct word_index_result result;
	struct book_row rows[MANY];
	char codes[MANY][8];
	struct rlimit before;
	enum err err;

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(codes[i], sizeof(codes[i]), "S%u", i);
		rows[i] = (struct book_row){codes[i], "A", "Lait", NUM_MICRO};
	}
	book_import(rows, MANY);
	process_limit_files(&before, 10);
	err = word_index_make(&result, facts, &options);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_uint_eq(result.suppliers, MANY);
	book = book_open();
	ck_assert_uint_eq(book_find(book, SPAN("lait")), MANY);
}
END_TEST

/* --- finding -------------------------------------------------------------- */

START_TEST(words_are_found_in_all_rows_that_hold_them)
{
	static const struct {
		const char *question;
		unsigned rows;
	} table[] = {{"lait", 3}, {"ait", 3}, {"laitue", 1}, {"laite", 1},
	    {"lait entier", 1}, {"entier lait", 1}, {"lait lait", 3},
	    {"lait lait lait lait", 3}, {"et a", 2}, {"b", 6}, {"l", 4},
	    {"la", 3}, {"zz", 1}, {"zzz", 1}, {"zzzz", 0}, {"creme", 1},
	    {"eme bru", 1}, {"a\"1", 1}, {"a\\1", 1}, {"\"", 2}, {"\\", 1},
	    {"nowhere", 0}, {"q", 0}, {"qq", 0}, {"lait qq", 0}, {"q lait", 0},
	    {"  lait ", 3}, {"lait zzz", 0}};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		ck_assert_msg(book_find(book, span_of(table[i].question)) ==
			table[i].rows,
		    "%s", table[i].question);
}
END_TEST

/* SNAP_TEXT_END ends words and columns: no folded text contains it. */
START_TEST(what_ends_a_word_is_in_none)
{
	static const char *const questions[] = {
	    "\x1f", "t\x1f", "\x1fz", "lait\x1f", "it\x1f", "lait \x1f"};
	uint64_t set[1];
	uint32_t count;
	struct words words;

	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]);
	     i++) {
		words_split(&words, span_of(questions[i]));
		ck_assert_int_eq(
		    word_index_find(set, &count, book, &words), ERR_OK);
		ck_assert_uint_eq(set[0], 0);
		ck_assert_uint_eq(count, 0);
	}
}
END_TEST

/* Words beyond the ones that are split count, too. */
START_TEST(any_number_of_words_is_looked_for)
{
	static const struct {
		const char *last;
		unsigned rows;
	} table[] = {{"entier", 1}, {"nowhere", 0}, {"e", 3}, {"qq", 0}};
	struct buf question;

	for (unsigned k = 0; k < 4; k++) {
		buf_init(&question, 1u << 16);
		for (unsigned i = 0; i < WORDS_APART + 5; i++)
			buf_add_span(
			    &question, i % 2 == 0 ? SPAN("lait ") : SPAN("a "));
		buf_add_span(&question, span_of(table[k].last));
		ck_assert_uint_eq(
		    book_find(book, buf_span(&question)), table[k].rows);
		buf_fini(&question);
	}
}
END_TEST

/* --- any texts ------------------------------------------------------------ */

#define SUPPLIERS 7
#define ROWS 400

static char suppliers[SUPPLIERS][8], codes[ROWS][24], labels[ROWS][64];

static void
draw_text(char *text, unsigned most)
{
	static const char *const letters[] = {"a", "b", "a", "b", "c", " ", " ",
	    "\xc3\xa9", "\"", "\\", "\xe6\xb0\xb4", "'", "A"};
	unsigned count = (unsigned)(random_bits() % (most + 1));

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		strcat(text,
		    letters[random_bits() %
			(sizeof(letters) / sizeof(letters[0]))]);
}

static void
draw_store(void)
{
	static struct book_row rows[ROWS];

	for (unsigned i = 0; i < SUPPLIERS; i++)
		snprintf(suppliers[i], sizeof(suppliers[i]), "S%u",
		    (unsigned)(i * i));
	for (unsigned i = 0; i < ROWS; i++) {
		uint64_t turnover = random_bits() % 5;

		/* Mostly the same codes at all suppliers. */
		snprintf(codes[i], sizeof(codes[i]), "%s%u",
		    i % 3 == 0       ? "\""
			: i % 3 == 1 ? "\\"
				     : "",
		    i / SUPPLIERS);
		draw_text(labels[i], 15);
		rows[i] = (struct book_row){suppliers[i % SUPPLIERS], codes[i],
		    labels[i],
		    turnover == 0 ? NUM_NULL
				  : (int64_t)(turnover - 2) * NUM_MICRO};
	}
	book_import(rows, ROWS);
}

/* A piece of some row's text, what ends its columns as blanks. */
static struct span
draw_piece(char *piece, size_t room)
{
	struct span text = book_text(book, (uint32_t)(random_bits() % ROWS));
	size_t at = random_bits() % text.len, len = 1 + random_bits() % 6;

	if (len > text.len - at)
		len = text.len - at;
	ck_assert_uint_lt(len, room);
	for (size_t i = 0; i < len; i++)
		piece[i] =
		    text.ptr[at + i] == SNAP_TEXT_END ? ' ' : text.ptr[at + i];
	return span_make(piece, len);
}

static struct span
draw_question(char *question, size_t room)
{
	size_t len = 0;

	/* The piece contains a word. */
	while (len == 0 || strspn(question, " ") == len) {
		unsigned pieces = 1 + (unsigned)(random_bits() % 3);

		len = 0;
		for (unsigned i = 0; i < pieces; i++) {
			len += draw_piece(question + len, room - len - 2).len;
			if (random_bits() % 2 == 0)
				question[len++] = ' ';
		}
		question[len] = '\0';
	}
	return span_make(question, len);
}

START_TEST(any_words_in_any_texts_are_found_as_by_reading_them_all)
{
	char question[64];
	unsigned found = 0;

	draw_store();
	book_make();
	book = book_open();
	for (unsigned i = 0; i < 3000; i++)
		found +=
		    book_find(book, draw_question(question, sizeof(question)));
	ck_assert_uint_gt(found, 3000);
}
END_TEST

/* --- in parts ------------------------------------------------------------- */

/* Memory for all rows at once, and for some. */
static const uint64_t memories[] = {0, 90000, 40000, 20000};

static struct word_index_result
make_within(uint64_t memory)
{
	struct word_index_options options = {.memory = memory};
	struct word_index_result result;

	ck_assert_int_eq(word_index_make(&result, facts, &options), ERR_OK);
	ck_assert(result.made);
	return result;
}

/* A file, as far as two may be compared by. */
struct contents {
	struct word_index_head head;
	uint32_t sums; /* the checksum of its sums */
};

static struct contents
contents(void)
{
	const struct word_index_section *sums;
	struct contents now;

	book = book_open();
	now.head = *word_index_head(book);
	sums = &now.head.section[WORD_INDEX_SUMS];
	now.sums = deflate_crc(0, book->file.bytes + sums->at, sums->bytes);
	book_close(&book);
	return now;
}

/* Whether the file has, section by section, what `then` has. */
static void
check_sections(const struct contents *then)
{
	const struct contents now = contents();

	ck_assert_uint_eq(now.head.suppliers, then->head.suppliers);
	ck_assert_uint_eq(now.head.rows, then->head.rows);
	ck_assert_uint_eq(now.head.words, then->head.words);
	for (unsigned i = 0; i < WORD_INDEX_SECTIONS; i++)
		ck_assert_uint_eq(
		    now.head.section[i].bytes, then->head.section[i].bytes);
	ck_assert_uint_eq(now.sums, then->sums);
}

static struct contents
make_anew(uint64_t memory)
{
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert_uint_eq(make_within(memory).taken_over, 0);
	return contents();
}

START_TEST(in_parts_it_is_the_same_as_in_one)
{
	struct contents whole;

	draw_store();
	book_make();
	whole = make_anew(0);
	for (unsigned i = 1; i < sizeof(memories) / sizeof(memories[0]); i++) {
		make_anew(memories[i]);
		check_sections(&whole);
	}
}
END_TEST

/* Of suppliers that change and that do not, one drops out. */
START_TEST(unchanged_suppliers_are_taken_over_from_the_old_one)
{
	static struct book_row changed[ROWS];
	unsigned count = 0, supplier = (unsigned)(random_bits() % SUPPLIERS);
	struct word_index_result result;
	struct contents merged;

	draw_store();
	book_make();
	for (unsigned i = supplier; i < ROWS; i += SUPPLIERS) {
		draw_text(labels[i], 15);
		changed[count++] = (struct book_row){suppliers[i % SUPPLIERS],
		    codes[i], labels[i], (int64_t)(i % 7) * NUM_MICRO};
	}
	book_import(changed, count - 1); /* and one article is gone */
	ck_assert_int_eq(catalog_forget(facts,
			     span_of(suppliers[(supplier + 1) % SUPPLIERS])),
	    ERR_OK);
	result = make_within(memories[_i]);
	ck_assert_uint_eq(result.rows, result.taken_over + count - 1);
	ck_assert_uint_gt(result.taken_over, ROWS / 2);
	merged = contents();
	make_anew(memories[3 - _i]);
	check_sections(&merged);
}
END_TEST

START_TEST(each_row_may_be_a_part)
{
	struct contents whole;

	book_close(&book);
	whole = contents();
	make_anew(1);
	check_sections(&whole);
	book = book_open();
}
END_TEST

/* Mostly nothing is left to take over: the holes would be most of the file. */
START_TEST(an_old_one_that_is_mostly_changed_is_not_used)
{
	ck_assert_int_eq(facts_compute("S1", &computed), ERR_OK);
	ck_assert_int_eq(facts_compute("S2", &computed), ERR_OK);
	ck_assert_int_eq(facts_compute("S10", &computed), ERR_OK);
	ck_assert_uint_eq(book_make().taken_over, 0);
}
END_TEST

START_TEST(one_of_another_version_is_made_anew)
{
	struct word_index_head head;
	int fd = open(book_path(""), O_RDWR | O_CLOEXEC);

	head = *word_index_head(book);
	head.version--;
	ck_assert_int_eq(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	close(fd);
	book_close(&book);
	ck_assert_int_eq(word_index_open(&book, facts), ERR_VERSION);
	ck_assert(book_make().made);
	book = book_open();
}
END_TEST

/* --- again ---------------------------------------------------------------- */

START_TEST(it_is_made_anew_only_when_a_generation_has_changed)
{
	uint64_t generation = word_index_head(book)->generation;

	ck_assert_uint_eq(book_noted(), generation);
	ck_assert(!book_make().made);
	ck_assert_uint_eq(book_noted(), generation);
	ck_assert_int_eq(facts_compute("S2", &computed), ERR_OK);
	ck_assert(book_make().made);
	ck_assert_uint_gt(book_noted(), generation);
	ck_assert(!book_make().made);
	ck_assert_int_eq(catalog_forget(facts, SPAN("S10")), ERR_OK);
	ck_assert(book_make().made);
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert(book_make().made);
}
END_TEST

/*
 * Killed between the file and its note: processes with the old file open must
 * still notice the new one.
 */
START_TEST(one_that_nobody_was_told_of_is_told_of_when_it_is_met)
{
	ck_assert_int_eq(catalog_note_words(facts, 1), ERR_OK);
	ck_assert(!book_make().made);
	ck_assert_uint_eq(book_noted(), word_index_head(book)->generation);
}
END_TEST

START_TEST(a_new_one_has_a_larger_number_than_any_before)
{
	uint64_t far = UINT64_MAX / 2; /* as if a clock had been set back */

	ck_assert_int_eq(catalog_note_words(facts, far), ERR_OK);
	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert(book_make().made);
	ck_assert_uint_gt(book_noted(), far);
}
END_TEST

START_TEST(an_open_one_stays_while_it_is_replaced)
{
	struct word_index *old = word_index_share(book);
	unsigned found = book_find(old, SPAN("lait"));

	ck_assert_int_eq(facts_compute("S2", &computed), ERR_OK);
	ck_assert(book_make().made);
	book_close(&book);
	ck_assert_uint_eq(book_find(old, SPAN("lait")), found);
	ck_assert_int_eq(word_index_verify(old), ERR_OK);
	book = book_open();
	ck_assert_uint_gt(word_index_head(book)->generation,
	    word_index_head(old)->generation);
	book_close(&old);
}
END_TEST

static void
count_calls(void *context, uint64_t done, uint64_t rows)
{
	uint64_t *last = context;

	ck_assert_uint_ge(done, *last);
	ck_assert_uint_eq(rows, FEW);
	*last = done;
}

START_TEST(progress_comes_in_order_and_ends_whole)
{
	uint64_t last = 0;
	struct word_index_options options = {
	    .at = count_calls, .context = &last};
	struct word_index_result result;

	ck_assert_int_eq(unlink(book_path("")), 0);
	ck_assert_int_eq(word_index_make(&result, facts, &options), ERR_OK);
	ck_assert_uint_eq(last, FEW);
}
END_TEST

START_TEST(discarded_is_gone)
{
	struct word_index *none;

	word_index_discard(facts);
	ck_assert_int_eq(word_index_open(&none, facts), ERR_NOT_FOUND);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("word index");
	TCase *tc = tcase_create("any"), *tc_few = tcase_create("few");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, of_no_supplier_there_is_one_with_nothing_in_it);
	tcase_add_test(tc, of_one_supplier_it_has_all_rows);
	tcase_add_test(tc, there_may_be_more_suppliers_than_open_files);
	tcase_add_test(
	    tc, any_words_in_any_texts_are_found_as_by_reading_them_all);
	tcase_add_test(tc, in_parts_it_is_the_same_as_in_one);
	tcase_add_loop_test(
	    tc, unchanged_suppliers_are_taken_over_from_the_old_one, 0, 4);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc_few, 60);
	tcase_add_checked_fixture(tc_few, make_few, drop);
	tcase_add_test(
	    tc_few, ranks_are_those_of_a_search_without_another_order);
	tcase_add_test(tc_few, words_are_found_in_all_rows_that_hold_them);
	tcase_add_test(tc_few, what_ends_a_word_is_in_none);
	tcase_add_test(tc_few, any_number_of_words_is_looked_for);
	tcase_add_test(
	    tc_few, it_is_made_anew_only_when_a_generation_has_changed);
	tcase_add_test(
	    tc_few, one_that_nobody_was_told_of_is_told_of_when_it_is_met);
	tcase_add_test(tc_few, a_new_one_has_a_larger_number_than_any_before);
	tcase_add_test(tc_few, an_open_one_stays_while_it_is_replaced);
	tcase_add_test(tc_few, progress_comes_in_order_and_ends_whole);
	tcase_add_test(tc_few, each_row_may_be_a_part);
	tcase_add_test(tc_few, an_old_one_that_is_mostly_changed_is_not_used);
	tcase_add_test(tc_few, one_of_another_version_is_made_anew);
	tcase_add_test(tc_few, discarded_is_gone);
	suite_add_tcase(suite, tc_few);
	return suite;
}
