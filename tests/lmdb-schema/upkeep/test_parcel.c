#include "lmdb-schema/upkeep/parcel.h"

#include <check.h>
#include <string.h>

#include "tests/support/run.h"

#define SHA "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const char text[] = "product-grid checkpoint 1\n"
			   "epoch 2\n"
			   "number 1234\n"
			   "chain " SHA "\n"
			   "made 1764000000000\n"
			   "state 4096 " SHA "\n"
			   "part 2026-03-0000000000000001.part 100 " SHA "\n"
			   "part 2026-04-0000000000000101.part 200 " SHA "\n"
			   "end\n";

START_TEST(a_parcel_is_read_as_it_was_written)
{
	struct parcel parcel;
	struct buf again;

	ck_assert_int_eq(parcel_read(&parcel, span_of(text)), ERR_OK);
	ck_assert_uint_eq(parcel.epoch, 2);
	ck_assert_uint_eq(parcel.number, 1234);
	ck_assert_int_eq(parcel.made_ms, 1764000000000);
	ck_assert_uint_eq(parcel.state.bytes, 4096);
	ck_assert_str_eq(parcel.state.name, SHA);
	ck_assert_uint_eq(parcel.count, 2);
	ck_assert_str_eq(parcel.parts[1].name, "2026-04-0000000000000101.part");
	ck_assert_uint_eq(parcel.parts[1].file.bytes, 200);
	buf_init(&again, PARCEL_MAX);
	parcel_write(&again, &parcel);
	ck_assert(span_eq(buf_span(&again), span_of(text)));
	buf_fini(&again);
	parcel_fini(&parcel);
}
END_TEST

START_TEST(a_part_of_a_parcel_is_none)
{
	struct parcel parcel;

	for (size_t len = 0; len < sizeof(text) - 1; len++)
		ck_assert_int_eq(
		    parcel_read(&parcel, span_make(text, len)), ERR_BAD_INPUT);
	ck_assert_int_eq(
	    parcel_read(&parcel, SPAN("product-grid checkpoint 2\n")),
	    ERR_VERSION);
}
END_TEST

START_TEST(a_name_that_leads_elsewhere_is_refused)
{
	static const char *const names[] = {"../state.mdb", "", "/etc/passwd",
	    "2026-03-0000000000000001.part.tmp",
	    "2026-03-0000000000000000.part", "2026-03-1.part",
	    "2026/03-0000000000000001.part",
	    "2026-03-0000000000000001.part/../../x"};
	const struct files_id file = {SHA, 1};
	struct parcel parcel;

	parcel_init(&parcel);
	ck_assert_int_eq(
	    parcel_add_part(&parcel, span_of(names[_i]), &file), ERR_BAD_INPUT);
	parcel_fini(&parcel);
}
END_TEST

START_TEST(a_file_is_its_length_and_its_name)
{
	struct files_id file;

	ck_assert(parcel_file(&file, SPAN("0 " SHA)));
	ck_assert(!parcel_file(&file, SPAN(SHA)));
	ck_assert(!parcel_file(&file, SPAN("-1 " SHA)));
	ck_assert(!parcel_file(&file, SPAN("9223372036854775808 " SHA)));
	ck_assert(!parcel_file(&file, SPAN("1 " SHA "0")));
	ck_assert(!parcel_file(&file, SPAN("1 B" SHA)));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("parcel");
	TCase *tc = tcase_create("parcel");

	tcase_add_test(tc, a_parcel_is_read_as_it_was_written);
	tcase_add_test(tc, a_part_of_a_parcel_is_none);
	tcase_add_loop_test(tc, a_name_that_leads_elsewhere_is_refused, 0, 8);
	tcase_add_test(tc, a_file_is_its_length_and_its_name);
	suite_add_tcase(suite, tc);
	return suite;
}
