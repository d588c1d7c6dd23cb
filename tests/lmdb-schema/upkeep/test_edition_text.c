#include "lmdb-schema/upkeep/edition_text.h"

#include <check.h>
#include <string.h>

#include "tests/support/run.h"

#define SHA "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHB "ca7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HEAD "product-grid edition 1\nnumber 12\nlive 4096 " SHA "\n"

static const char text[] = HEAD "facts 000660fbaf17e70a.mdb 8192 " SHB "\n"
				"facts 000660fbaf17e70a-0a.mdb 100 " SHA "\n"
				"end\n";

static struct edition_files files;

START_TEST(a_text_is_read_as_it_was_written)
{
	struct buf again;

	ck_assert_int_eq(edition_text_read(&files, span_of(text)), ERR_OK);
	ck_assert_uint_eq(files.number, 12);
	ck_assert_uint_eq(files.live.bytes, 4096);
	ck_assert_uint_eq(files.count, 2);
	ck_assert_str_eq(files.facts[1].name, "000660fbaf17e70a-0a.mdb");
	ck_assert_uint_eq(edition_text_bytes(&files), 4096 + 8192 + 100);
	ck_assert(edition_text_has(&files, SHB));
	ck_assert(!edition_text_has(&files, SHB "0"));
	buf_init(&again, EDITION_TEXT_MAX);
	edition_text_write(&again, &files);
	ck_assert(span_eq(buf_span(&again), span_of(text)));
	buf_fini(&again);
}
END_TEST

START_TEST(a_part_of_a_text_is_none)
{
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		ck_assert_int_eq(
		    edition_text_read(&files, span_make(text, len)),
		    ERR_BAD_INPUT);
	ck_assert_int_eq(
	    edition_text_read(&files, SPAN("product-grid edition 2\n")),
	    ERR_VERSION);
}
END_TEST

static const char *const wrong[] = {
    /* A name that leads elsewhere, or is of no finished file. */
    HEAD "facts ../state.mdb 1 " SHA "\nend\n",
    HEAD "facts 000660fbaf17e70a.mdb.tmp 1 " SHA "\nend\n",
    HEAD "facts 0000000000000000.mdb 1 " SHA "\nend\n",
    HEAD "facts 000660fbaf17e70a-0a.mdb/x 1 " SHA "\nend\n",
    HEAD "facts  1 " SHA "\nend\n",
    /* Sizes and names that no file has. */
    HEAD "facts 000660fbaf17e70a.mdb 1099511627777 " SHA "\nend\n",
    HEAD "facts 000660fbaf17e70a.mdb -1 " SHA "\nend\n",
    HEAD "facts 000660fbaf17e70a.mdb 1 B" SHA "\nend\n",
    "product-grid edition 1\nnumber 0\nlive 1 " SHA "\nend\n",
    "product-grid edition 1\nnumber 1\nend\n",
    HEAD "end\nend\n",
    HEAD "more\nend\n",
};

START_TEST(what_is_wrong_is_refused)
{
	ck_assert_int_eq(
	    edition_text_read(&files, span_of(wrong[_i])), ERR_BAD_INPUT);
}
END_TEST

START_TEST(more_files_than_facts_have_are_refused)
{
	struct buf long_one;

	buf_init(&long_one, EDITION_TEXT_MAX);
	buf_add_text(&long_one, HEAD);
	for (unsigned i = 0; i <= EDITION_FACTS_MAX; i++)
		buf_addf(&long_one, "facts %016x.mdb 1 " SHA "\n", i + 1);
	buf_add_text(&long_one, "end\n");
	ck_assert_int_eq(buf_end(&long_one), ERR_OK);
	ck_assert_int_eq(
	    edition_text_read(&files, buf_span(&long_one)), ERR_BAD_INPUT);
	ck_assert_uint_eq(files.count, EDITION_FACTS_MAX);
	buf_fini(&long_one);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("edition_text");
	TCase *tc = tcase_create("edition_text");

	tcase_add_test(tc, a_text_is_read_as_it_was_written);
	tcase_add_test(tc, a_part_of_a_text_is_none);
	tcase_add_loop_test(
	    tc, what_is_wrong_is_refused, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, more_files_than_facts_have_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
