#include "lmdb-schema/snapshot/catalog.h"

#include <stdio.h>

#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/run.h"

static struct catalog_view *view;

static void
make(void)
{
	facts_make();
	ck_assert_int_eq(catalog_view_open(&view, facts), ERR_OK);
}

static void
drop(void)
{
	catalog_view_close(view);
	facts_remove();
}

static void
renew(void)
{
	catalog_view_rest(view);
	ck_assert_int_eq(catalog_view_renew(view), ERR_OK);
}

static struct catalog_entry
publish(const char *supplier, uint64_t generation)
{
	struct catalog_entry entry = {.generation = generation,
	    .computed_ms = 1000,
	    .rows = 3,
	    .facts = 4,
	    .network = 5,
	    .gamme = 6,
	    .bytes = 7};

	ck_assert_int_eq(
	    catalog_publish(facts, span_of(supplier), &entry), ERR_OK);
	renew();
	return entry;
}

START_TEST(a_supplier_that_was_never_computed_is_not_found)
{
	struct catalog_entry entry;

	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_NOT_FOUND);
	ck_assert_int_eq(catalog_get(view, SPAN(""), &entry), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    catalog_current(facts, SPAN("S"), &entry), ERR_NOT_FOUND);
	ck_assert(!catalog_keeps(view, SPAN("S"), 1));
	ck_assert(!catalog_keeps(view, SPAN(""), 1));
}
END_TEST

START_TEST(what_is_published_reads_back)
{
	struct catalog_entry in = publish("S", 100), out;

	memset(&out, 0, sizeof(out));
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &out), ERR_OK);
	ck_assert_mem_eq(&out, &in, sizeof(in));
	ck_assert_int_eq(catalog_current(facts, SPAN("S"), &out), ERR_OK);
	ck_assert_mem_eq(&out, &in, sizeof(in));
}
END_TEST

static uint64_t
generation_of(const char *supplier)
{
	struct catalog_entry entry;

	return catalog_get(view, span_of(supplier), &entry) == ERR_OK
	    ? entry.generation
	    : 0;
}

START_TEST(what_was_asked_for_last_is_as_it_is_now)
{
	publish("S", 100);
	publish("ST", 200);
	ck_assert_uint_eq(generation_of("S"), 100);
	ck_assert_uint_eq(generation_of("S"), 100);
	ck_assert_uint_eq(generation_of("ST"), 200);
	ck_assert_uint_eq(generation_of("s"), 0);
	ck_assert_uint_eq(generation_of(""), 0);
	ck_assert_uint_eq(generation_of("ST"), 200);
	publish("ST", 201);
	ck_assert_uint_eq(generation_of("ST"), 201);
	ck_assert_int_eq(catalog_forget(facts, SPAN("ST")), ERR_OK);
	ck_assert_uint_eq(generation_of("ST"), 201);
	renew();
	ck_assert_uint_eq(generation_of("ST"), 0);
	ck_assert_uint_eq(generation_of("S"), 100);
}
END_TEST

START_TEST(a_view_stays_as_it_was)
{
	struct catalog_entry entry;

	publish("S", 100);
	entry.generation = 200;
	ck_assert_int_eq(catalog_publish(facts, SPAN("S"), &entry), ERR_OK);
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_OK);
	ck_assert_uint_eq(entry.generation, 100);
	renew();
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_OK);
	ck_assert_uint_eq(entry.generation, 200);
}
END_TEST

START_TEST(what_is_replaced_is_kept)
{
	publish("S", 100);
	publish("S", 200);
	ck_assert(catalog_keeps(view, SPAN("S"), 100));
	ck_assert(catalog_keeps(view, SPAN("S"), 200));
	ck_assert(!catalog_keeps(view, SPAN("S"), 150));
	ck_assert(!catalog_keeps(view, SPAN("T"), 100));
}
END_TEST

START_TEST(what_is_forgotten_is_not_current_any_more)
{
	struct catalog_entry entry;

	publish("S", 100);
	ck_assert_int_eq(catalog_forget(facts, SPAN("S")), ERR_OK);
	ck_assert_int_eq(catalog_forget(facts, SPAN("S")), ERR_OK);
	renew();
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_NOT_FOUND);
	ck_assert(catalog_keeps(view, SPAN("S"), 100));
}
END_TEST

/* Each of two generations, and one that there never was. */
static const struct {
	uint64_t generation;
	bool current, first_kept, second_kept;
} disowned[] = {
    {100, false, false, true},
    {200, true, true, false},
    {300, false, true, true},
};

START_TEST(what_is_disowned_is_not_kept_and_no_other)
{
	struct catalog_entry entry;
	bool was_current = true;

	publish("S", 100);
	publish("S", 200);
	ck_assert_int_eq(catalog_disown(facts, SPAN("S"),
			     disowned[_i].generation, &was_current),
	    ERR_OK);
	ck_assert(was_current == disowned[_i].current);
	renew();
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry),
	    disowned[_i].current ? ERR_NOT_FOUND : ERR_OK);
	ck_assert(
	    catalog_keeps(view, SPAN("S"), 100) == disowned[_i].first_kept);
	ck_assert(
	    catalog_keeps(view, SPAN("S"), 200) == disowned[_i].second_kept);
}
END_TEST

static enum err
add(void *context, struct span supplier, const struct catalog_entry *entry)
{
	char *text = context;
	size_t len = strlen(text);

	snprintf(text + len, 100 - len, "%.*s=%u ", SPAN_ARG(supplier),
	    (unsigned)entry->generation);
	return entry->generation == 13 ? ERR_CLOSED : ERR_OK;
}

START_TEST(all_come_in_order)
{
	char text[100] = "";

	publish("T", 2);
	publish("R", 1);
	publish("T", 3);
	ck_assert_int_eq(catalog_each(view, add, text), ERR_OK);
	ck_assert_str_eq(text, "R=1 T=3 ");
	publish("S", 13);
	text[0] = '\0';
	ck_assert_int_eq(catalog_each(view, add, text), ERR_CLOSED);
	ck_assert_str_eq(text, "R=1 S=13 ");
}
END_TEST

static void
spoil(const char *supplier)
{
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_catalog(facts)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, CATALOG_CURRENT, span_of(supplier), SPAN("\x80")),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	renew();
}

START_TEST(a_damaged_entry_is_told)
{
	struct catalog_entry entry;
	char text[100] = "";

	spoil("S");
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_DAMAGED);
	ck_assert_int_eq(catalog_each(view, add, text), ERR_DAMAGED);
}
END_TEST

START_TEST(publishing_heals_a_damaged_entry)
{
	struct catalog_entry entry;

	spoil("S");
	publish("S", 100);
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_OK);
	ck_assert_uint_eq(entry.generation, 100);
}
END_TEST

START_TEST(a_damaged_entry_can_be_forgotten)
{
	struct catalog_entry entry;

	spoil("S");
	ck_assert_int_eq(catalog_forget(facts, SPAN("S")), ERR_OK);
	renew();
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &entry), ERR_NOT_FOUND);
}
END_TEST

static enum err
count_kept(void *context, struct span supplier, uint64_t generation)
{
	(void)supplier;
	(void)generation;
	++*(uint64_t *)context;
	return ERR_OK;
}

static enum err
forget_files(void *context, struct kv_txn *txn)
{
	(void)context;
	return catalog_forget_files(txn);
}

static const char first_file[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const char next_file[] =
    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

static void
file_must_be(uint64_t generation, const char *wanted)
{
	char file[FILES_NAME_LEN + 1];

	renew();
	ck_assert_int_eq(
	    catalog_file(view, SPAN("S"), generation, file), ERR_OK);
	ck_assert_str_eq(file, wanted);
}

START_TEST(a_shared_one_has_a_file_as_long_as_it_is_kept)
{
	struct catalog_entry entry = {.generation = 100, .rows = 3}, other;
	uint64_t made, taken;
	bool was_current;

	ck_assert_int_eq(
	    catalog_publish_shared(facts, SPAN("S"), &entry, first_file, false),
	    ERR_OK);
	entry.generation = 90; /* of another node's clock */
	ck_assert_int_eq(
	    catalog_publish_shared(facts, SPAN("S"), &entry, next_file, true),
	    ERR_OK);
	ck_assert_int_eq(
	    store_write_local(facts, STORE_CATALOG, forget_files, NULL),
	    ERR_OK);
	file_must_be(100, first_file);
	file_must_be(90, next_file);
	ck_assert(catalog_keeps(view, SPAN("S"), 100));
	ck_assert_int_eq(catalog_get(view, SPAN("S"), &other), ERR_OK);
	ck_assert(catalog_is_same(&entry, &other));
	other.bytes++;
	ck_assert(!catalog_is_same(&entry, &other));
	ck_assert_int_eq(catalog_shared(view, &made, &taken), ERR_OK);
	ck_assert(made == 1 && taken == 1);

	ck_assert_int_eq(
	    catalog_disown(facts, SPAN("S"), 90, &was_current), ERR_OK);
	ck_assert(was_current);
	ck_assert_int_eq(
	    store_write_local(facts, STORE_CATALOG, forget_files, NULL),
	    ERR_OK);
	file_must_be(90, "");
	file_must_be(100, first_file);
}
END_TEST

START_TEST(one_whose_file_came_anew_is_not_replaced)
{
	struct catalog_entry entry = {.generation = 100, .rows = 3};
	uint64_t kept = 0;

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(catalog_publish_shared(facts, SPAN("S"),
				     &entry, first_file, i > 0),
		    ERR_OK);
	renew();
	ck_assert_int_eq(catalog_each_kept(view, count_kept, &kept), ERR_OK);
	ck_assert_uint_eq(kept, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("catalog");
	TCase *tc = tcase_create("catalog");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, a_supplier_that_was_never_computed_is_not_found);
	tcase_add_test(tc, what_is_published_reads_back);
	tcase_add_test(tc, what_was_asked_for_last_is_as_it_is_now);
	tcase_add_test(tc, a_view_stays_as_it_was);
	tcase_add_test(tc, what_is_replaced_is_kept);
	tcase_add_test(tc, what_is_forgotten_is_not_current_any_more);
	tcase_add_loop_test(
	    tc, what_is_disowned_is_not_kept_and_no_other, 0, 3);
	tcase_add_test(tc, all_come_in_order);
	tcase_add_test(tc, a_damaged_entry_is_told);
	tcase_add_test(tc, publishing_heals_a_damaged_entry);
	tcase_add_test(tc, a_damaged_entry_can_be_forgotten);
	tcase_add_test(tc, a_shared_one_has_a_file_as_long_as_it_is_kept);
	tcase_add_test(tc, one_whose_file_came_anew_is_not_replaced);
	suite_add_tcase(suite, tc);
	return suite;
}
