#include "tests/lmdb-schema/search/two.h"

#include <check.h>

#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"

struct compute_result two_big, two_small;
struct word_index *two_book;
struct word_index_head two_head;

void
two_make(void)
{
	facts_make();
	quiet_begin();
	facts_import(120, 1);
	ck_assert_int_eq(facts_compute("BIG", &two_big), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &two_small), ERR_OK);
	book_make();
	two_book = book_open();
	two_head = *word_index_head(two_book);
	book_close(&two_book);
}

void
two_drop(void)
{
	book_close(&two_book);
	facts_remove();
}

void
two_are_as_before(void)
{
	two_book = book_open();
	ck_assert_uint_eq(
	    word_index_head(two_book)->generation, two_head.generation);
	ck_assert_uint_eq(book_find(two_book, SPAN("article")), 123);
	book_close(&two_book);
}
