#include "lmdb-schema/facts/live.h"
#include "common/fs.h"

#include <stdio.h>

#include "common/num.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/row.h"
#include "tests/lmdb-schema/by_hand.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct live_view *view;

static void
make(void)
{
	facts_make();
	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
}

static void
drop(void)
{
	live_view_close(view);
	facts_remove();
}

static void
renew(void)
{
	live_view_rest(view);
	ck_assert_int_eq(live_view_renew(view), ERR_OK);
}

static uint8_t
gamme(const char *supplier, const char *codein)
{
	uint8_t code = 99;

	ck_assert_int_eq(
	    live_gamme(view, span_of(supplier), span_of(codein), &code),
	    ERR_OK);
	return code;
}

START_TEST(an_empty_store_knows_nothing)
{
	struct network network;

	ck_assert_uint_eq(live_facts(view), 0);
	ck_assert_uint_eq(live_network_generation(view), 0);
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("S")), 0);
	ck_assert_uint_eq(gamme("S", "1"), ROW_GAMME_NONE);
	ck_assert_int_eq(
	    live_network(view, SPAN("100001"), &network), ERR_NOT_FOUND);
	ck_assert_int_eq(live_network(view, SPAN(""), &network), ERR_NOT_FOUND);
}
END_TEST

START_TEST(what_is_put_is_seen_by_a_new_view_only)
{
	struct network network;

	facts_gamme("S", "1", 3);
	facts_network("100001", 5 * NUM_MICRO);
	ck_assert_uint_eq(gamme("S", "1"), ROW_GAMME_NONE);
	renew();
	ck_assert_uint_eq(gamme("S", "1"), 3);
	ck_assert_uint_eq(gamme("S", "2"), ROW_GAMME_NONE);
	ck_assert_int_eq(live_network(view, SPAN("100001"), &network), ERR_OK);
	ck_assert_int_eq(network.ca, 5 * NUM_MICRO);
	ck_assert_uint_eq(network.months, 2);
}
END_TEST

START_TEST(what_is_aborted_was_never_there)
{
	struct live_change *change;

	change = hand_begin(facts);
	ck_assert_int_eq(
	    live_put_gamme(change, SPAN("S"), SPAN("1"), 1), ERR_OK);
	ck_assert_int_eq(live_set_facts(change, 77), ERR_OK);
	hand_abort(change);
	renew();
	ck_assert_uint_eq(gamme("S", "1"), ROW_GAMME_NONE);
	ck_assert_uint_eq(live_facts(view), 0);
}
END_TEST

START_TEST(a_change_moves_only_what_it_changed)
{
	uint64_t s, t, network;

	facts_gamme("S", "1", 1);
	facts_gamme("T", "1", 1);
	facts_network("100001", 1);
	renew();
	s = live_gamme_generation(view, SPAN("S"));
	t = live_gamme_generation(view, SPAN("T"));
	network = live_network_generation(view);
	ck_assert_uint_ne(s, 0);
	ck_assert_uint_ne(network, 0);

	facts_gamme("S", "1", 1); /* the same */
	facts_network("100001", 1);
	renew();
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("S")), s);
	ck_assert_uint_eq(live_network_generation(view), network);

	facts_gamme("S", "1", 2);
	renew();
	ck_assert_uint_gt(live_gamme_generation(view, SPAN("S")), s);
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("T")), t);
	ck_assert_uint_eq(live_network_generation(view), network);

	facts_network("100001", 2);
	renew();
	ck_assert_uint_gt(live_network_generation(view), network);
}
END_TEST

START_TEST(no_range_takes_one_away)
{
	uint64_t before;

	facts_gamme("S", "1", 1);
	renew();
	before = live_gamme_generation(view, SPAN("S"));
	facts_gamme("S", "1", ROW_GAMME_NONE);
	facts_gamme("S", "2", ROW_GAMME_NONE); /* never had one */
	renew();
	ck_assert_uint_eq(gamme("S", "1"), ROW_GAMME_NONE);
	ck_assert_uint_gt(live_gamme_generation(view, SPAN("S")), before);
}
END_TEST

START_TEST(a_change_counts_what_it_alters)
{
	struct live_change *change;
	struct live_counts counts;

	facts_gamme("S", "1", 1);
	change = hand_begin(facts);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(live_put_gamme(change, SPAN("S"),
				     span_make(&"123"[i], 1), 1),
		    ERR_OK);
	counts = live_change_counts(change);
	ck_assert_uint_eq(counts.gammes, 2);
	ck_assert_uint_eq(counts.gammes_same, 1);
	hand_commit(change);
}
END_TEST

struct list {
	char text[256];
};

static enum err
add_code(void *context, struct span codein, uint8_t code)
{
	struct list *list = context;
	size_t len = strlen(list->text);

	snprintf(list->text + len, sizeof(list->text) - len, "%.*s=%u ",
	    SPAN_ARG(codein), code);
	return ERR_OK;
}

START_TEST(a_suppliers_ranges_come_in_order_and_no_others)
{
	struct list list = {""};

	facts_gamme("S", "20", 2);
	facts_gamme("S", "1", 1);
	facts_gamme("S2", "3", 3);
	facts_gamme("R", "4", 4);
	renew();
	ck_assert_int_eq(live_gammes(view, SPAN("S"), add_code, &list), ERR_OK);
	ck_assert_str_eq(list.text, "1=1 20=2 ");
}
END_TEST

static enum err
stop(void *context, struct span codein, uint8_t code)
{
	(void)codein;
	(void)code;
	++*(unsigned *)context;
	return ERR_CLOSED;
}

START_TEST(a_callbacks_failure_ends_the_walk)
{
	unsigned calls = 0;

	facts_gamme("S", "1", 1);
	facts_gamme("S", "2", 1);
	renew();
	ck_assert_int_eq(
	    live_gammes(view, SPAN("S"), stop, &calls), ERR_CLOSED);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

static bool
is_of_t(void *context, struct span key)
{
	(void)context;
	return span_starts(key, SPAN("T"));
}

START_TEST(forgetting_ranges_changes_who_loses_one)
{
	struct live_change *change;
	uint64_t s, t;

	facts_gamme("S", "1", 1);
	facts_gamme("T", "1", 1);
	renew();
	s = live_gamme_generation(view, SPAN("S"));
	t = live_gamme_generation(view, SPAN("T"));
	change = hand_begin(facts);
	ck_assert_int_eq(
	    live_put_gamme(change, SPAN("T"), SPAN("1"), 1), ERR_OK);
	ck_assert_int_eq(live_forget_gammes(change, is_of_t, NULL), ERR_OK);
	hand_commit(change);
	renew();
	ck_assert_uint_eq(gamme("S", "1"), ROW_GAMME_NONE);
	ck_assert_uint_eq(gamme("T", "1"), 1);
	ck_assert_uint_gt(live_gamme_generation(view, SPAN("S")), s);
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("T")), t);
}
END_TEST

static enum err
count(void *context, struct span code, const struct network *network)
{
	ck_assert(network_code_ok(code));
	ck_assert_int_eq(network->stores, 27);
	++*(unsigned *)context;
	return ERR_OK;
}

static uint64_t
network_generation(void)
{
	renew();
	return live_network_generation(view);
}

/* Puts every product again, except those left out. */
static struct live_counts
replace_networks(const char *const *codes, unsigned count)
{
	struct live_change *change;
	struct live_counts counts;
	struct network network;

	renew();
	ck_assert_int_eq(live_network(view, SPAN("100001"), &network), ERR_OK);
	change = hand_begin(facts);
	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(
		    live_put_network(change, span_of(codes[i]), &network),
		    ERR_OK);
	ck_assert_int_eq(live_forget_networks(change), ERR_OK);
	counts = live_change_counts(change);
	hand_commit(change);
	return counts;
}

START_TEST(products_that_are_not_put_are_forgotten)
{
	static const char *const codes[] = {"100001", "100003"};
	unsigned products = 0;
	struct live_counts counts;
	struct network network;
	uint64_t generation;

	facts_network("100001", 1);
	facts_network("100002", 1);
	generation = network_generation();
	counts = replace_networks(codes, 2);
	ck_assert_uint_eq(counts.networks, 1);
	ck_assert_uint_eq(counts.networks_same, 1);
	ck_assert_uint_eq(counts.networks_gone, 1);
	ck_assert_uint_gt(network_generation(), generation);
	ck_assert_int_eq(live_networks(view, count, &products), ERR_OK);
	ck_assert_uint_eq(products, 2);
	ck_assert_int_eq(
	    live_network(view, SPAN("100002"), &network), ERR_NOT_FOUND);
	counts = replace_networks(NULL, 0);
	ck_assert_uint_eq(counts.networks_gone, 2);
	products = 0;
	renew();
	ck_assert_int_eq(live_networks(view, count, &products), ERR_OK);
	ck_assert_uint_eq(products, 0);
}
END_TEST

START_TEST(the_same_products_again_change_nothing)
{
	static const char *const codes[] = {"100001", "100002"};
	struct live_counts counts;
	uint64_t generation;

	facts_network("100001", 1);
	facts_network("100002", 1);
	generation = network_generation();
	counts = replace_networks(codes, 2);
	ck_assert_uint_eq(counts.networks_same, 2);
	ck_assert_uint_eq(counts.networks_gone, 0);
	ck_assert_uint_eq(network_generation(), generation);
}
END_TEST

static void
store_raw(unsigned table, struct span key, struct span value)
{
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_live(facts)), ERR_OK);
	ck_assert_int_eq(kv_put(txn, table, key, value), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	renew();
}

START_TEST(a_damaged_range_is_told)
{
	unsigned calls = 0;
	uint8_t code;

	store_raw(LIVE_GAMMES,
	    span_make("S\0"
		      "1",
		3),
	    SPAN("q"));
	ck_assert_int_eq(
	    live_gamme(view, SPAN("S"), SPAN("1"), &code), ERR_DAMAGED);
	ck_assert_int_eq(
	    live_gammes(view, SPAN("S"), stop, &calls), ERR_DAMAGED);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(a_damaged_product_is_told)
{
	struct network network;
	unsigned products = 0;

	store_raw(LIVE_NETWORK, SPAN("100001"), SPAN("\xff"));
	ck_assert_int_eq(
	    live_network(view, SPAN("100001"), &network), ERR_DAMAGED);
	ck_assert_int_eq(live_networks(view, count, &products), ERR_DAMAGED);
}
END_TEST

static void
spoil(unsigned table, struct span key)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/live.mdb", facts_dir()), ERR_OK);
	spoil_one(store_live(facts), table, path, key);
	/* A view that has read a generation keeps it until the next commit. */
	live_view_close(view);
	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
}

START_TEST(a_generation_that_is_damaged_is_unknown_and_any_change_mends_it)
{
	uint64_t network, ranges;

	quiet_begin();
	facts_gamme("S", "A", 1);
	facts_network("100001", 1);
	renew();
	network = live_network_generation(view);
	ranges = live_gamme_generation(view, SPAN("S"));
	spoil(LIVE_META, SPAN("network"));
	spoil(LIVE_GAMMEGEN, SPAN("S"));
	ck_assert_uint_eq(live_network_generation(view), LIVE_UNKNOWN);
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("S")), LIVE_UNKNOWN);
	/* The damaged record may be that of T, with a damaged key. */
	ck_assert_uint_eq(live_gamme_generation(view, SPAN("T")), LIVE_UNKNOWN);
	facts_network("100001", 1); /* the same as before */
	renew();
	ck_assert_uint_gt(live_network_generation(view), network);
	ck_assert_uint_lt(live_network_generation(view), LIVE_UNKNOWN);
	ck_assert_uint_gt(live_gamme_generation(view, SPAN("S")), ranges);
	ck_assert_uint_lt(live_gamme_generation(view, SPAN("S")), LIVE_UNKNOWN);
}
END_TEST

START_TEST(a_damaged_record_is_mended_by_what_it_was)
{
	struct key key = key_pair(SPAN("S"), SPAN("A"));
	struct network network;
	uint8_t code;

	quiet_begin();
	facts_gamme("S", "A", 1);
	facts_network("100001", 7);
	renew();
	spoil(LIVE_GAMMES, key_span(&key));
	spoil(LIVE_NETWORK, SPAN("100001"));
	ck_assert_int_eq(
	    live_gamme(view, SPAN("S"), SPAN("A"), &code), ERR_DAMAGED);
	ck_assert_int_eq(
	    live_network(view, SPAN("100001"), &network), ERR_DAMAGED);
	facts_gamme("S", "A", 1);
	facts_network("100001", 7);
	renew();
	ck_assert_uint_eq(gamme("S", "A"), 1);
	ck_assert_int_eq(live_network(view, SPAN("100001"), &network), ERR_OK);
	ck_assert_int_eq(network.ca, 7);
}
END_TEST

START_TEST(damaged_products_are_replaced_or_forgotten)
{
	static const char *const codes[] = {"100001", "100002"};
	struct live_counts counts;
	unsigned products = 0;

	facts_network("100001", 1);
	facts_network("100002", 1);
	facts_network("100003", 1);
	spoil(LIVE_NETWORK, SPAN("100002"));
	spoil(LIVE_NETWORK, SPAN("100003"));
	ck_assert_int_eq(live_networks(view, count, &products), ERR_DAMAGED);
	counts = replace_networks(codes, 2);
	ck_assert_uint_eq(counts.networks, 1);
	ck_assert_uint_eq(counts.networks_same, 1);
	ck_assert_uint_eq(counts.networks_gone, 1);
	products = 0;
	renew();
	ck_assert_int_eq(live_networks(view, count, &products), ERR_OK);
	ck_assert_uint_eq(products, 2);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("live");
	TCase *tc = tcase_create("live");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, an_empty_store_knows_nothing);
	tcase_add_test(tc, what_is_put_is_seen_by_a_new_view_only);
	tcase_add_test(tc, what_is_aborted_was_never_there);
	tcase_add_test(tc, a_change_moves_only_what_it_changed);
	tcase_add_test(tc, no_range_takes_one_away);
	tcase_add_test(tc, a_change_counts_what_it_alters);
	tcase_add_test(tc, a_suppliers_ranges_come_in_order_and_no_others);
	tcase_add_test(tc, a_callbacks_failure_ends_the_walk);
	tcase_add_test(tc, forgetting_ranges_changes_who_loses_one);
	tcase_add_test(tc, products_that_are_not_put_are_forgotten);
	tcase_add_test(tc, the_same_products_again_change_nothing);
	tcase_add_test(tc, a_damaged_range_is_told);
	tcase_add_test(tc, a_damaged_product_is_told);
	tcase_add_test(tc,
	    a_generation_that_is_damaged_is_unknown_and_any_change_mends_it);
	tcase_add_test(tc, a_damaged_record_is_mended_by_what_it_was);
	tcase_add_test(tc, damaged_products_are_replaced_or_forgotten);
	suite_add_tcase(suite, tc);
	return suite;
}
