/* tests/lmdb-schema/state/test_proposal_many.c: many changes, articles and suppliers at once */
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/state.h"
#include "tests/lmdb-schema/spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lmdb-schema/states.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define CHANGE(article, range) \
	{ \
		.codein = span_of(article), .gamme = range \
	}

static enum err
add_clash(void *context, unsigned first, unsigned again)
{
	char *text = context;
	size_t len = strlen(text);

	snprintf(text + len, 64 - len, "%u-%u ", first, again);
	return ERR_OK;
}

START_TEST(clashing_changes_are_named_and_nothing_is_done)
{
	struct proposal_change changes[] = {CHANGE("1", 1), CHANGE("2", 1),
	    CHANGE("1", 2), CHANGE("2", 1), CHANGE("1", 3), CHANGE("3", 1)};
	struct proposal_request request = {SPAN("S"), SPAN("key"), changes, 6};
	struct proposal_result results[6];
	char text[64] = "";
	int64_t when_ms;

	ck_assert_int_eq(proposal_clashes(changes, 6, add_clash, text), ERR_OK);
	ck_assert_str_eq(text, "0-2 0-4 ");
	ck_assert_int_eq(proposal_deposit(states, &request, results, &when_ms),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(states_pending("S"), "");
	ck_assert_str_eq(states_audit(0), "");
}
END_TEST

static const struct {
	const char *supplier, *author, *codein;
	uint8_t gamme;
} refusals[] = {
    {"", "key", "1", 1},
    {"S", "", "1", 1},
    {"S", "key", "", 1},
    {"S", "key", "1\n", 1},
    {"S", "key",
	"12345678901234567890123456789012345678901234567890123456789012345", 1},
    {"S", "key", "1", ROW_GAMME_NONE},
    {"S", "key", "1", ROW_GAMMES + 1},
    {"S", "key", "1", ROW_GAMME_BAD},
};

START_TEST(what_is_no_code_or_range_is_refused)
{
	struct proposal_change changes[] = {
	    CHANGE("ok", 1), CHANGE(refusals[_i].codein, refusals[_i].gamme)};
	struct proposal_request request = {span_of(refusals[_i].supplier),
	    span_of(refusals[_i].author), changes, 2};
	struct proposal_result results[2];
	int64_t when_ms;

	ck_assert_int_eq(proposal_deposit(states, &request, results, &when_ms),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(states_pending("S"), "");
}
END_TEST

START_TEST(suppliers_are_apart)
{
	struct proposal_change change = CHANGE("1", 1);
	struct proposal_request request = {SPAN("S2"), SPAN("key"), &change, 1};
	struct proposal_result result;
	uint64_t before = states_version("S");
	int64_t when_ms;

	ck_assert_int_eq(
	    proposal_deposit(states, &request, &result, &when_ms), ERR_OK);
	ck_assert_str_eq(states_pending("S"), "");
	ck_assert_str_eq(states_pending("S2"), "1=Akey ");
	ck_assert_uint_eq(states_version("S"), before);
	ck_assert_uint_gt(states_version("S2"), 0);
}
END_TEST

static enum err
add_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	char *text = context;
	size_t len = strlen(text);

	snprintf(text + len, 64 - len, "%.*s:%llu,%llu ", SPAN_ARG(supplier),
	    (unsigned long long)counts->pending,
	    (unsigned long long)counts->validated);
	return ERR_OK;
}

START_TEST(suppliers_with_something_are_counted)
{
	struct state_view *view;
	char text[64] = "";

	states_propose("key", "1", 'B');
	states_propose("key", "2", 'B');
	states_propose("key", "3", 'B');
	states_decide(PROPOSAL_SAVE, "2", '-');
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(proposal_suppliers(view, add_supplier, text), ERR_OK);
	state_view_close(view);
	ck_assert_str_eq(text, "S:2,1 ");
}
END_TEST

START_TEST(a_damaged_version_is_unknown_until_something_changes)
{
	uint64_t version;

	quiet_begin();
	ck_assert(states_propose("robot", "1", 'A'));
	version = states_version("S");
	spoil_one(store_state(states), STATE_VERSIONS,
	    scratch_path("data/state.mdb"), SPAN("S"));
	ck_assert_uint_eq(states_version("S"), PROPOSAL_VERSION_UNKNOWN);
	ck_assert(states_propose("robot", "2", 'B'));
	ck_assert_uint_gt(states_version("S"), version);
	ck_assert_uint_lt(states_version("S"), PROPOSAL_VERSION_UNKNOWN);
}
END_TEST

START_TEST(a_damaged_proposal_is_no_other_proposal)
{
	struct key key = key_pair(SPAN("S"), SPAN("1"));
	struct proposal_counts counts;
	struct state_view *view;

	quiet_begin();
	ck_assert(states_propose("robot", "1", 'A'));
	spoil_one(store_state(states), STATE_PENDING,
	    scratch_path("data/state.mdb"), key_span(&key));
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(proposal_count(view, SPAN("S"), &counts), ERR_DAMAGED);
	state_view_close(view);
}
END_TEST

/* --- a small map ----------------------------------------------------------- */

#define ROOM ((rlim_t)128 << 20) /* addresses besides those in use */
#define FIRST_MAP (ROOM / 8) /* of each environment, at most */
#define AT_ONCE 500

/* Every article anew at each supplier; the answer of the store. */
static enum err
deposit_many(unsigned supplier)
{
	static char codes[AT_ONCE][8];
	static struct proposal_change changes[AT_ONCE];
	static struct proposal_result results[AT_ONCE];
	char name[8];
	struct proposal_request request = {
	    SPAN(""), SPAN("key"), changes, AT_ONCE};
	int64_t when_ms;

	snprintf(name, sizeof(name), "S%u", supplier);
	request.supplier = span_of(name);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		snprintf(codes[i], sizeof(codes[i]), "%06u", i);
		changes[i] =
		    (struct proposal_change)CHANGE(codes[i], 1 + i % 3);
	}
	return proposal_deposit(states, &request, results, &when_ms);
}

static bool
limit_addresses(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	bool known = file != NULL && fscanf(file, "%llu", &pages) == 1;
	struct rlimit limit;

	if (file != NULL)
		fclose(file);
	limit.rlim_cur = limit.rlim_max =
	    pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
	return known && setrlimit(RLIMIT_AS, &limit) == 0;
}

static bool
outgrew_its_map(void)
{
	struct stat found;

	return stat(scratch_path("data/state.mdb"), &found) == 0 &&
	    found.st_size > (off_t)(2 * FIRST_MAP);
}

/* Deposits until the addresses are used up, and notes how many. */
static int
deposit_under_a_limit(void)
{
	struct fault fault;
	unsigned count = 0;
	enum err err;
	FILE *note;

	if (!limit_addresses())
		return 1;
	if (store_open(&states, scratch_path("data"), &fault) != ERR_OK)
		return 2;
	while ((err = deposit_many(count)) == ERR_OK && count < 5000)
		count++;
	if (err != ERR_NO_ADDRESS)
		return 3;
	if (!outgrew_its_map())
		return 4;
	/* Nothing of the deposit that failed is there. */
	if (states_audit_last() != (uint64_t)count * AT_ONCE)
		return 5;
	store_close(states);
	note = fopen(scratch_path("count"), "we");
	if (note == NULL || fprintf(note, "%u", count) < 0 || fclose(note) != 0)
		return 6;
	return 0;
}

START_TEST(a_small_map_grows_under_deposits_and_its_end_is_told)
{
	char text[16] = "";
	unsigned count;
	FILE *note;

	states_close();
	ck_assert_int_eq(process_run(deposit_under_a_limit), 0);
	note = fopen(scratch_path("count"), "re");
	ck_assert_ptr_nonnull(note);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), note));
	fclose(note);
	count = (unsigned)strtoul(text, NULL, 10);
	states_open();
	ck_assert_uint_eq(states_audit_last(), (uint64_t)count * AT_ONCE);
	ck_assert_int_eq(deposit_many(count), ERR_OK);
	for (unsigned i = 0; i <= count; i++) {
		char name[8];

		snprintf(name, sizeof(name), "S%u", i);
		ck_assert_uint_ne(states_version(name), 0);
	}
	ck_assert_uint_eq(states_audit_last(), ((uint64_t)count + 1) * AT_ONCE);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("proposals of many");
	TCase *tc = tcase_create("many");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, clashing_changes_are_named_and_nothing_is_done);
	tcase_add_loop_test(tc, what_is_no_code_or_range_is_refused, 0,
	    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tc, suppliers_are_apart);
	tcase_add_test(tc, suppliers_with_something_are_counted);
	tcase_add_test(
	    tc, a_damaged_version_is_unknown_until_something_changes);
	tcase_add_test(tc, a_damaged_proposal_is_no_other_proposal);
	tcase_set_timeout(tc, 120);
	tcase_add_test(
	    tc, a_small_map_grows_under_deposits_and_its_end_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
