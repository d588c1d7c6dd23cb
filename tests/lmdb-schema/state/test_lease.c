/* tests/lmdb-schema/state/test_lease.c: lmdb-schema/state/lease.h, lease_keep.h */
#include "lmdb-schema/state/lease_keep.h"

#include <string.h>

#include "common/date.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/run.h"

#define S INT64_C(1000000000)

static struct lease one, two;

static void
make(void)
{
	states_make();
	ck_assert_int_eq(lease_init(&one, "work"), ERR_OK);
	ck_assert_int_eq(lease_init(&two, "work"), ERR_OK);
}

static enum err
check(void *context, struct kv_txn *txn)
{
	return lease_check(context, txn);
}

static enum err
forget(void *context, struct kv_txn *txn)
{
	return lease_forget(txn, "work", span_of(context));
}

static enum err
give_back(void *context, struct kv_txn *txn)
{
	return lease_give_back(context, txn);
}

static enum err
write_with(struct lease *lease)
{
	return store_write(states, STORE_STATE, check, lease);
}

START_TEST(one_has_it_and_renews_it)
{
	uint64_t beat;

	ck_assert(!lease_is_held(&one, 1 * S));
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert(lease_is_held(&one, 2 * S));
	ck_assert_uint_eq(one.token, 1);
	ck_assert_int_eq(write_with(&one), ERR_OK);
	beat = one.seen.beat;
	/* Nothing is written before it is time. */
	ck_assert_int_eq(lease_hold(&one, states, 3 * S), ERR_OK);
	ck_assert_uint_eq(one.seen.beat, beat);
	ck_assert_int_eq(lease_hold(&one, states, 4 * S), ERR_OK);
	ck_assert_uint_eq(one.seen.beat, beat + 1);
	/* The other one counts from when it looks, and again at each beat. */
	for (int64_t at = 4; at < 40; at += 6) {
		ck_assert_int_eq(lease_hold(&one, states, at * S), ERR_OK);
		ck_assert_int_eq(
		    lease_hold(&two, states, (at + 3) * S), ERR_BUSY);
	}
	ck_assert(!lease_is_held(&two, 40 * S));
	ck_assert_int_eq(write_with(&two), ERR_BUSY);
}
END_TEST

START_TEST(it_ends_for_the_holder_before_another_one_takes_it)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_BUSY);
	ck_assert(lease_is_held(&one, 8 * S - 1));
	ck_assert(!lease_is_held(&one, 8 * S));
	ck_assert_int_eq(lease_hold(&two, states, 11 * S - 1), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&two, states, 11 * S), ERR_OK);
	ck_assert_uint_eq(two.token, 2);
	ck_assert_int_eq(write_with(&two), ERR_OK);
}
END_TEST

START_TEST(the_holders_name_is_told)
{
	strcpy(one.who, "paris-1");
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_BUSY);
	ck_assert_str_eq(two.seen.who, "paris-1");
	lease_release(&one, states);
	ck_assert_int_eq(lease_hold(&two, states, 2 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&one, states, 2 * S), ERR_BUSY);
	ck_assert_str_eq(one.seen.who, "");
}
END_TEST

START_TEST(one_whose_holder_is_dead_is_taken_at_once)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 2 * S), ERR_BUSY);
	/* The holder has renewed since, so that it is not dead. */
	lease_expire(&two);
	ck_assert_int_eq(lease_hold(&one, states, 4 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 4 * S), ERR_BUSY);
	lease_expire(&two);
	ck_assert_int_eq(lease_hold(&two, states, 4 * S), ERR_OK);
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
}
END_TEST

START_TEST(who_wakes_up_late_writes_nothing)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&two, states, 11 * S), ERR_OK);
	/* Without another look. */
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&one, states, 12 * S), ERR_BUSY);
	ck_assert(!lease_is_held(&one, 12 * S));
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
	lease_release(&one, states);
	ck_assert_int_eq(write_with(&two), ERR_OK);
	/* A token does not come again. */
	ck_assert_int_eq(lease_hold(&one, states, 22 * S), ERR_OK);
	ck_assert_uint_eq(one.token, 3);
	ck_assert_int_eq(write_with(&two), ERR_BUSY);
}
END_TEST

START_TEST(a_released_one_is_taken_at_once)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_BUSY);
	lease_release(&one, states);
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_OK);
	ck_assert_uint_eq(two.token, 2);
}
END_TEST

START_TEST(a_lost_one_is_not_renewed)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_renew(&one, states, 4 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 5 * S), ERR_BUSY);
	ck_assert_int_eq(lease_hold(&two, states, 15 * S), ERR_OK);
	/* Nor once it is free again: another one has done the work. */
	lease_release(&two, states);
	ck_assert_int_eq(lease_renew(&one, states, 16 * S), ERR_BUSY);
	ck_assert_uint_eq(one.token, 0);
	ck_assert_int_eq(lease_renew(&one, states, 17 * S), ERR_BUSY);
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
}
END_TEST

START_TEST(a_holder_of_this_node_has_ended)
{
	strcpy(one.who, "paris-1");
	strcpy(two.who, "paris-2");
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold_alone(&two, states, 2 * S), ERR_BUSY);
	strcpy(two.who, "paris-1");
	ck_assert_int_eq(lease_hold_alone(&two, states, 2 * S), ERR_OK);
	ck_assert_int_eq(write_with(&one), ERR_BUSY);
}
END_TEST

START_TEST(each_subject_has_its_own)
{
	char code[SCHEMA_CODE_MAX + 1];

	memset(code, 'x', SCHEMA_CODE_MAX);
	code[SCHEMA_CODE_MAX] = '\0';
	ck_assert_int_eq(lease_init_for(&one, "work", span_of(code)), ERR_OK);
	code[SCHEMA_CODE_MAX - 1] = 'y';
	ck_assert_int_eq(lease_init_for(&two, "work", span_of(code)), ERR_OK);
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_OK);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, forget, code), ERR_OK);
	ck_assert_int_eq(write_with(&two), ERR_BUSY);
	ck_assert_int_eq(write_with(&one), ERR_OK);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, forget, code), ERR_OK);
	ck_assert_int_eq(lease_init(&two, "work"), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_OK);
}
END_TEST

START_TEST(a_write_of_the_holder_gives_it_back)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, give_back, &one), ERR_OK);
	ck_assert_int_eq(lease_hold(&two, states, 1 * S), ERR_OK);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, give_back, &one), ERR_BUSY);
}
END_TEST

/* The thread's part in time is that of renewals: it ends when it is told to. */
START_TEST(a_thread_keeps_it)
{
	struct lease_keeper keeper;
	struct lease copy;

	ck_assert_int_eq(lease_hold(&one, states, date_monotonic_ns()), ERR_OK);
	ck_assert_int_eq(lease_keep(&keeper, states, &one), ERR_OK);
	lease_keep_copy(&keeper, &copy);
	ck_assert_int_eq(write_with(&copy), ERR_OK);
	ck_assert_int_eq(
	    lease_hold(&two, states, date_monotonic_ns()), ERR_BUSY);
	lease_keep_end(&keeper);
	ck_assert_int_eq(lease_hold(&two, states, date_monotonic_ns()), ERR_OK);
	lease_keep_end(&keeper); /* has ended */
}
END_TEST

/* As where the answer to a taking was lost: the record has its name. */
START_TEST(a_taking_of_unknown_outcome_is_taken_again)
{
	ck_assert_int_eq(lease_hold(&one, states, 1 * S), ERR_OK);
	one.token = 0;
	ck_assert(!lease_is_held(&one, 2 * S));
	ck_assert_int_eq(lease_hold(&one, states, 2 * S), ERR_OK);
	ck_assert_uint_eq(one.token, 2);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("lease");
	TCase *tc = tcase_create("lease");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_test(tc, one_has_it_and_renews_it);
	tcase_add_test(tc, it_ends_for_the_holder_before_another_one_takes_it);
	tcase_add_test(tc, the_holders_name_is_told);
	tcase_add_test(tc, one_whose_holder_is_dead_is_taken_at_once);
	tcase_add_test(tc, who_wakes_up_late_writes_nothing);
	tcase_add_test(tc, a_released_one_is_taken_at_once);
	tcase_add_test(tc, a_lost_one_is_not_renewed);
	tcase_add_test(tc, a_holder_of_this_node_has_ended);
	tcase_add_test(tc, each_subject_has_its_own);
	tcase_add_test(tc, a_write_of_the_holder_gives_it_back);
	tcase_add_test(tc, a_thread_keeps_it);
	tcase_add_test(tc, a_taking_of_unknown_outcome_is_taken_again);
	suite_add_tcase(suite, tc);
	return suite;
}
