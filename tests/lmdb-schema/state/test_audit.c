#include "lmdb-schema/state/audit.h"

#include <stdio.h>

#include "common/kv/kv.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static enum err
add_three(void *context, struct kv_txn *txn)
{
	const char *const *events = context;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < 3 && err == ERR_OK; i++)
		err = audit_add(txn,
		    &(struct audit_entry){.event = span_of(events[i]),
			.actor = SPAN("été"),
			.supplier = SPAN("S"),
			.codein = SPAN("1"),
			.gamme = SPAN("B"),
			.before = SPAN("")});
	return err;
}

static enum err
fail_after(void *context, struct kv_txn *txn)
{
	enum err err = add_three(context, txn);

	return err == ERR_OK ? ERR_INTERNAL : err;
}

START_TEST(entries_are_numbered_without_a_gap)
{
	const char *events[] = {"one", "two", "three"};

	ck_assert_int_eq(
	    store_write(states, STORE_STATE, add_three, events), ERR_OK);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, fail_after, events), ERR_INTERNAL);
	states_close();
	states_open();
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, add_three, events), ERR_OK);
	ck_assert_uint_eq(states_audit_last(), 6);
	ck_assert_str_eq(states_audit(3),
	    "three été S 1 B -\none été S 1 B -\ntwo été S 1 B -\n"
	    "three été S 1 B -\n");
	ck_assert_str_eq(states_audit(7), "");
}
END_TEST

static enum err
stop_at_second(void *context, const struct audit_entry *entry)
{
	unsigned *seen = context;

	return entry->number == 2 ? ERR_BUSY : (++*seen, ERR_OK);
}

START_TEST(whoever_reads_may_stop)
{
	const char *events[] = {"one", "two", "three"};
	struct state_view *view;
	unsigned seen = 0;

	ck_assert_int_eq(
	    store_write(states, STORE_STATE, add_three, events), ERR_OK);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(audit_each(view, 0, stop_at_second, &seen), ERR_BUSY);
	ck_assert_uint_eq(seen, 1);
	state_view_close(view);
}
END_TEST

static enum err
put_damaged(void *context, struct kv_txn *txn)
{
	static const char number[8] = {0, 0, 0, 0, 0, 0, 0, 1};

	(void)context;
	return kv_put(
	    txn, STATE_AUDIT, span_make(number, 8), SPAN("\x01\x7f..."));
}

START_TEST(a_damaged_entry_is_told)
{
	struct state_view *view;
	unsigned seen = 0;

	ck_assert_int_eq(
	    store_write(states, STORE_STATE, put_damaged, NULL), ERR_OK);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    audit_each(view, 0, stop_at_second, &seen), ERR_DAMAGED);
	state_view_close(view);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("audit");
	TCase *tc = tcase_create("audit");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, entries_are_numbered_without_a_gap);
	tcase_add_test(tc, whoever_reads_may_stop);
	tcase_add_test(tc, a_damaged_entry_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
