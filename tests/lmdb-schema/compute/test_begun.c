#include <unistd.h>

#include "common/buf.h"
#include "lmdb-schema/compute/begun.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

static struct begun begun;
static struct buf told; /* the reasons, each with a ';' behind it */
static unsigned calls;
static enum err answer;

static void
make(void)
{
	facts_make();
	facts_import(5, 1);
	buf_init(&told, 4096);
	calls = 0;
	answer = ERR_OK;
}

static void
end(void)
{
	buf_fini(&told);
	facts_remove();
}

static enum err
tell(void *context, const struct begun_ends *ends)
{
	(void)context;
	ck_assert(span_eq(ends->supplier, SPAN("BIG")));
	calls++;
	for (unsigned i = 0; i < ends->count; i++) {
		buf_add_span(&told, span_sub(ends->whys[i], 0, 12));
		buf_add_char(&told, ';');
		ck_assert(i == 0 || ends->ids[i] != ends->ids[i - 1]);
	}
	return answer;
}

static void
look(const char *wanted)
{
	buf_clear(&told);
	ck_assert_int_eq(begun_each(facts, tell, NULL), answer);
	ck_assert(span_eq(buf_span(&told), span_of(wanted)));
}

/* As a process that is killed leaves it. */
static void
leave(uint64_t before)
{
	begun_note(&begun, facts, SPAN("BIG"), before);
	ck_assert_int_ge(begun.fd, 0);
	close(begun.fd);
}

START_TEST(nothing_is_told_of_a_computation_that_is_done)
{
	begun_note(&begun, facts, SPAN("BIG"), 0);
	ck_assert_int_eq(access(begun.path, F_OK), 0);
	begun_done(&begun);
	ck_assert_int_ne(access(begun.path, F_OK), 0);
	look("");
}
END_TEST

START_TEST(a_failure_is_told_with_its_reason_and_forgotten)
{
	begun_note(&begun, facts, SPAN("BIG"), 0);
	begun_failed(&begun, "the disk");
	look("the disk;");
	look("");
}
END_TEST

START_TEST(one_that_was_killed_is_told)
{
	leave(0);
	look("it was ended;");
	ck_assert_int_ne(access(begun.path, F_OK), 0);
}
END_TEST

START_TEST(failures_wait_in_their_order_while_others_succeed)
{
	struct compute_result result;

	leave(0);
	begun_note(&begun, facts, SPAN("BIG"), 0);
	begun_failed(&begun, "the disk");
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert(result.noted);
	leave(result.entry.generation);
	look("it was ended;the disk;it was ended;");
}
END_TEST

START_TEST(one_that_was_killed_behind_its_publication_is_none)
{
	struct compute_result result;

	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	leave(result.entry.generation - 1);
	look("");
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(one_under_way_is_left_alone)
{
	int lock;

	ck_assert_int_eq(
	    store_lock_supplier(&lock, facts, SPAN("BIG"), false), ERR_OK);
	leave(0);
	look("");
	close(lock);
	look("it was ended;");
}
END_TEST

START_TEST(what_could_not_be_told_is_told_again)
{
	leave(0);
	answer = ERR_NO_SPACE;
	look("it was ended;");
	answer = ERR_OK;
	look("it was ended;");
}
END_TEST

START_TEST(a_supplier_that_nobody_asks_about_has_a_bounded_file)
{
	for (unsigned i = 0; i < 2 * BEGUN_MAX; i++) {
		begun_note(&begun, facts, SPAN("BIG"), 0);
		ck_assert(i >= BEGUN_MAX || begun.fd >= 0);
		ck_assert(i < BEGUN_MAX || begun.fd < 0);
		begun_failed(&begun, "no");
	}
	ck_assert_int_eq(begun_each(facts, tell, NULL), ERR_OK);
	ck_assert_uint_eq(told.len, BEGUN_MAX * 3);
}
END_TEST

START_TEST(a_strange_file_is_no_harm)
{
	begun_note(&begun, facts, SPAN("BIG"), 0);
	ck_assert_int_eq(ftruncate(begun.fd, BEGUN_RECORD - 1), 0);
	close(begun.fd);
	look("");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("begun");
	TCase *tc = tcase_create("begun");

	tcase_add_checked_fixture(tc, make, end);
	tcase_add_test(tc, nothing_is_told_of_a_computation_that_is_done);
	tcase_add_test(tc, a_failure_is_told_with_its_reason_and_forgotten);
	tcase_add_test(tc, one_that_was_killed_is_told);
	tcase_add_test(tc, failures_wait_in_their_order_while_others_succeed);
	tcase_add_test(tc, one_that_was_killed_behind_its_publication_is_none);
	tcase_add_test(tc, one_under_way_is_left_alone);
	tcase_add_test(tc, what_could_not_be_told_is_told_again);
	tcase_add_test(
	    tc, a_supplier_that_nobody_asks_about_has_a_bounded_file);
	tcase_add_test(tc, a_strange_file_is_no_harm);
	suite_add_tcase(suite, tc);
	return suite;
}
