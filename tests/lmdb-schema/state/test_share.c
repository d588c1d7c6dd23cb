/* tests/lmdb-schema/state/test_share.c: lmdb-schema/state/share.h */
#include "lmdb-schema/state/share.h"

#include <stdio.h>
#include <string.h>

#include "tests/lmdb-schema/states.h"
#include "tests/support/run.h"

#define SUPPLIERS 1000

static struct share share;
static char code[16];

static struct span
supplier(unsigned number)
{
	snprintf(code, sizeof(code), "F%05u", number);
	return span_of(code);
}

static void
add(const char *name, unsigned keep)
{
	struct share_node *node = &share.nodes[share.count++];

	snprintf(node->name, sizeof(node->name), "%s", name);
	snprintf(
	    node->address, sizeof(node->address), "https://%s.example", name);
	node->keep = keep;
}

static void
begin(unsigned nodes, unsigned keep)
{
	char name[16];

	share.count = 0;
	for (unsigned i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "node%u", i);
		add(name, keep);
	}
}

static unsigned
count_of(unsigned node)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SUPPLIERS; i++)
		count += share_keeps(&share, node, supplier(i));
	return count;
}

/* _i: how many nodes. Each has its part, within a tenth of it. */
START_TEST(shares_are_even)
{
	const unsigned nodes = (unsigned)_i;

	begin(nodes, 2);
	for (unsigned node = 0; node < nodes; node++) {
		unsigned tenths = count_of(node) * nodes * 10;

		ck_assert_uint_ge(tenths, 9 * 2 * SUPPLIERS);
		ck_assert_uint_le(tenths, 11 * 2 * SUPPLIERS);
	}
}
END_TEST

START_TEST(as_many_nodes_keep_each_as_they_want)
{
	for (unsigned keep = 1; keep <= 5; keep++) {
		begin((unsigned)_i, keep);
		for (unsigned i = 0; i < SUPPLIERS; i++) {
			unsigned kept = 0;

			for (unsigned node = 0; node < share.count; node++)
				kept += share_keeps(&share, node, supplier(i));
			ck_assert_uint_eq(
			    kept, keep < share.count ? keep : share.count);
		}
	}
}
END_TEST

/* The others keep what they had, and take what it had. */
START_TEST(a_node_that_goes_moves_its_own_share)
{
	static bool before[SUPPLIERS][10];
	const unsigned gone = (unsigned)_i / 2;
	unsigned moved = 0, had;

	begin((unsigned)_i, 2);
	had = count_of(gone);
	for (unsigned i = 0; i < SUPPLIERS; i++)
		for (unsigned node = 0; node < share.count; node++)
			before[i][node] =
			    share_keeps(&share, node, supplier(i));
	memmove(&share.nodes[gone], &share.nodes[gone + 1],
	    (share.count - gone - 1) * sizeof(share.nodes[0]));
	share.count--;
	for (unsigned i = 0; i < SUPPLIERS; i++)
		for (unsigned node = 0; node < share.count; node++) {
			bool was = before[i][node < gone ? node : node + 1];
			bool is = share_keeps(&share, node, supplier(i));

			ck_assert(is || !was);
			moved += is && !was;
			if (is && !was)
				ck_assert(before[i][gone]);
		}
	ck_assert_uint_eq(moved, had);
}
END_TEST

START_TEST(a_node_that_wants_all_keeps_all)
{
	begin(5, 2);
	share.nodes[1].keep = 0;
	ck_assert_uint_eq(count_of(1), SUPPLIERS);
	ck_assert_uint_lt(count_of(0), SUPPLIERS / 2);
	/* So does one without a record. */
	ck_assert_uint_eq(count_of(5), SUPPLIERS);
	begin(2, 2);
	ck_assert_uint_eq(count_of(0), SUPPLIERS);
}
END_TEST

/* Whatever the machine and the version: nodes must agree. */
START_TEST(order_is_the_same_for_good)
{
	static const unsigned wanted[] = {3, 2, 1, 4, 0};
	unsigned order[SHARE_NODES_MAX];

	begin(5, 2);
	share_order(order, &share, SPAN("12345"));
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(order[i], wanted[i]);
}
END_TEST

START_TEST(records_are_of_the_state)
{
	struct share_node one = {"one", "http://192.0.2.11", 2}, two = one;
	struct share found;

	snprintf(two.name, sizeof(two.name), "two");
	two.keep = 0;
	ck_assert_int_eq(share_look(&found, states), ERR_OK);
	ck_assert_uint_eq(found.count, 0);
	ck_assert_uint_eq(found.changes, 0);
	ck_assert_int_eq(share_put(states, &two), ERR_OK);
	ck_assert_int_eq(share_put(states, &one), ERR_OK);
	/* No entry where nothing changes. */
	ck_assert_int_eq(share_put(states, &one), ERR_OK);
	ck_assert_int_eq(share_drop(states, "three"), ERR_OK);
	ck_assert_int_eq(share_look(&found, states), ERR_OK);
	ck_assert_uint_eq(found.changes, 2);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_str_eq(found.nodes[0].name, "one");
	ck_assert_str_eq(found.nodes[0].address, "http://192.0.2.11");
	ck_assert_uint_eq(found.nodes[0].keep, 2);
	ck_assert_uint_eq(found.nodes[1].keep, 0);
	ck_assert_uint_eq(share_find(&found, "two"), 1);
	ck_assert_uint_eq(share_find(&found, "three"), 2);
	one.keep = 3;
	ck_assert_int_eq(share_put(states, &one), ERR_OK);
	ck_assert_int_eq(share_drop(states, "two"), ERR_OK);
	ck_assert_int_eq(share_look(&found, states), ERR_OK);
	ck_assert_uint_eq(found.changes, 4);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.nodes[0].keep, 3);
}
END_TEST

/* The list has no room for the last one. */
START_TEST(records_beyond_the_list_are_put_once)
{
	struct share_node node = {"", "http://192.0.2.11", 2};
	struct share found;

	for (unsigned i = 0; i <= SHARE_NODES_MAX; i++) {
		snprintf(node.name, sizeof(node.name), "node%02u", i);
		ck_assert_int_eq(share_put(states, &node), ERR_OK);
	}
	ck_assert_int_eq(share_put(states, &node), ERR_OK);
	ck_assert_int_eq(share_look(&found, states), ERR_OK);
	ck_assert_uint_eq(found.count, SHARE_NODES_MAX);
	ck_assert_uint_eq(found.changes, SHARE_NODES_MAX + 1);
	ck_assert_int_eq(share_drop(states, node.name), ERR_OK);
	ck_assert_int_eq(share_look(&found, states), ERR_OK);
	ck_assert_uint_eq(found.changes, SHARE_NODES_MAX + 2);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("share");
	TCase *order = tcase_create("order"),
	      *records = tcase_create("records");

	tcase_add_loop_test(order, shares_are_even, 3, 11);
	tcase_add_loop_test(order, as_many_nodes_keep_each_as_they_want, 1, 11);
	tcase_add_loop_test(order, a_node_that_goes_moves_its_own_share, 3, 11);
	tcase_add_test(order, a_node_that_wants_all_keeps_all);
	tcase_add_test(order, order_is_the_same_for_good);
	tcase_add_checked_fixture(records, states_make, states_remove);
	tcase_add_test(records, records_are_of_the_state);
	tcase_add_test(records, records_beyond_the_list_are_put_once);
	suite_add_tcase(suite, order);
	suite_add_tcase(suite, records);
	return suite;
}
