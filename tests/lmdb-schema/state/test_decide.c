/* Decisions of buyers over many articles at once, and their outcomes. */
#include <stdio.h>

#include "lmdb-schema/state/proposal.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define NONE ROW_GAMME_NONE

/* Article 1: server A, pending B. Article 2: server A, validated C. Article
 * 3: nothing. */
static void
make(void)
{
	states_make();
	states_server("S", "1", 'A');
	states_server("S", "2", 'A');
	states_propose("key", "1", 'B');
	states_decide(PROPOSAL_EDIT, "2", 'C');
}

static const struct {
	enum proposal_action action;
	const char *codein;
	char gamme, seen_recorded, seen_pending; /* '*': whatever */
	enum proposal_outcome outcome;
	char server, recorded, pending; /* afterwards */
} decisions[] = {
    {PROPOSAL_SAVE, "1", '-', '*', '*', PROPOSAL_APPLIED, 'A', 'B', '-'},
    {PROPOSAL_SAVE, "1", '-', 'A', 'B', PROPOSAL_APPLIED, 'A', 'B', '-'},
    {PROPOSAL_SAVE, "1", '-', 'A', 'C', PROPOSAL_CONFLICT, 'A', 'A', 'B'},
    {PROPOSAL_SAVE, "1", '-', 'C', 'B', PROPOSAL_CONFLICT, 'A', 'A', 'B'},
    {PROPOSAL_SAVE, "1", '-', '*', '-', PROPOSAL_CONFLICT, 'A', 'A', 'B'},
    {PROPOSAL_SAVE, "2", '-', '*', '*', PROPOSAL_ABSENT, 'A', 'C', '-'},
    {PROPOSAL_SAVE, "3", '-', '*', 'B', PROPOSAL_ABSENT, '-', '-', '-'},
    {PROPOSAL_CANCEL, "2", '-', 'A', 'B', PROPOSAL_ABSENT, 'A', 'C', '-'},
    {PROPOSAL_CANCEL, "1", '-', '*', '*', PROPOSAL_APPLIED, 'A', 'A', '-'},
    {PROPOSAL_CANCEL, "1", '-', 'A', 'C', PROPOSAL_CONFLICT, 'A', 'A', 'B'},
    {PROPOSAL_CANCEL, "3", '-', '-', '-', PROPOSAL_ABSENT, '-', '-', '-'},
    {PROPOSAL_EDIT, "1", 'Z', 'A', 'B', PROPOSAL_APPLIED, 'A', 'Z', '-'},
    {PROPOSAL_EDIT, "1", 'Z', 'A', '-', PROPOSAL_CONFLICT, 'A', 'A', 'B'},
    {PROPOSAL_EDIT, "1", '-', '*', '*', PROPOSAL_REFUSED, 'A', 'A', 'B'},
    {PROPOSAL_EDIT, "2", 'A', 'C', '-', PROPOSAL_APPLIED, 'A', 'A', '-'},
    {PROPOSAL_EDIT, "2", 'B', 'A', '-', PROPOSAL_CONFLICT, 'A', 'C', '-'},
    {PROPOSAL_EDIT, "3", 'Y', '-', '-', PROPOSAL_APPLIED, '-', 'Y', '-'},
    {PROPOSAL_EDIT, "3", '-', '-', '-', PROPOSAL_APPLIED, '-', '-', '-'},
};

static uint8_t
seen(char letter)
{
	return letter == '*' ? PROPOSAL_ANY : states_code(letter);
}

START_TEST(a_decision_is_applied_or_told_why_not)
{
	struct proposal_decision decision = {decisions[_i].action,
	    span_of(decisions[_i].codein), states_code(decisions[_i].gamme),
	    seen(decisions[_i].seen_recorded),
	    seen(decisions[_i].seen_pending)};
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .decisions = &decision,
	    .count = 1};
	struct proposal_decided decided;
	uint64_t last = states_audit_last(), rest = 99;

	ck_assert_int_eq(
	    proposal_decide(states, &verdict, &decided, &rest), ERR_OK);
	ck_assert_uint_eq(rest, 0);
	ck_assert_int_eq(decided.outcome, decisions[_i].outcome);
	ck_assert_int_eq(states_letter(decided.server), decisions[_i].server);
	ck_assert_int_eq(
	    states_letter(decided.recorded), decisions[_i].recorded);
	ck_assert_int_eq(states_letter(decided.pending), decisions[_i].pending);
	if (decided.outcome != PROPOSAL_APPLIED)
		ck_assert_str_eq(states_audit(last + 1), "");
}
END_TEST

START_TEST(a_conflict_leaves_the_others_applied)
{
	struct proposal_decision mixed[] = {
	    {PROPOSAL_SAVE, SPAN("1"), NONE, 1, 5},
	    {PROPOSAL_EDIT, SPAN("2"), 2, 3, NONE},
	    {PROPOSAL_EDIT, SPAN("3"), 4, NONE, NONE}};
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .decisions = mixed,
	    .count = 3};
	struct proposal_decided decided[3];
	uint64_t rest;

	ck_assert_int_eq(
	    proposal_decide(states, &verdict, decided, &rest), ERR_OK);
	ck_assert_int_eq(decided[0].outcome, PROPOSAL_CONFLICT);
	ck_assert_int_eq(decided[1].outcome, PROPOSAL_APPLIED);
	ck_assert_int_eq(decided[2].outcome, PROPOSAL_APPLIED);
	ck_assert_str_eq(states_pending("S"), "1=Bkey ");
	ck_assert_str_eq(states_validated("S"), "2=Bbuyer 3=Ybuyer ");
}
END_TEST

START_TEST(the_rest_is_what_no_decision_names)
{
	enum proposal_rest which =
	    _i == 0 ? PROPOSAL_SAVE_REST : PROPOSAL_CANCEL_REST;
	struct proposal_decision decision = {
	    PROPOSAL_EDIT, SPAN("4"), 5, PROPOSAL_ANY, PROPOSAL_ANY};
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .decisions = &decision,
	    .count = 1,
	    .rest = which};
	struct proposal_decided decided;
	uint64_t rest = 99;

	for (const char *codein = "345"; *codein != '\0'; codein++)
		states_propose("key", (char[]){*codein, '\0'}, 'Y');
	verdict.seen_version = states_version("S");
	ck_assert_int_eq(
	    proposal_decide(states, &verdict, &decided, &rest), ERR_OK);
	ck_assert_uint_eq(rest, 3);
	ck_assert_str_eq(states_pending("S"), "");
	ck_assert_str_eq(states_validated("S"),
	    _i == 0 ? "1=Bbuyer 2=Cbuyer 3=Ybuyer 4=Zbuyer 5=Ybuyer "
		    : "2=Cbuyer 4=Zbuyer ");
}
END_TEST

START_TEST(the_rest_waits_when_the_buyer_has_not_seen_all)
{
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .rest = PROPOSAL_SAVE_REST,
	    .seen_version = states_version("S")};
	uint64_t rest;

	states_propose("key", "1", 'Y');
	ck_assert_int_eq(
	    proposal_decide(states, &verdict, NULL, &rest), ERR_BUSY);
	ck_assert_str_eq(states_pending("S"), "1=Ykey ");
	verdict.seen_version = states_version("S");
	ck_assert_int_eq(
	    proposal_decide(states, &verdict, NULL, &rest), ERR_OK);
	ck_assert_uint_eq(rest, 1);
}
END_TEST

START_TEST(what_is_no_code_or_range_is_refused)
{
	static const struct {
		const char *supplier, *actor, *codein;
		uint8_t gamme;
	} cases[] = {{"", "buyer", "1", 1}, {"S", "", "1", 1},
	    {"S", "buyer", "", 1}, {"S", "buyer", "1", ROW_GAMMES + 1}};
	struct proposal_decided decided;
	uint64_t rest;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proposal_decision decision = {PROPOSAL_EDIT,
		    span_of(cases[i].codein), cases[i].gamme, PROPOSAL_ANY,
		    PROPOSAL_ANY};
		struct proposal_verdict verdict = {
		    .supplier = span_of(cases[i].supplier),
		    .actor = span_of(cases[i].actor),
		    .decisions = &decision,
		    .count = 1};

		ck_assert_int_eq(
		    proposal_decide(states, &verdict, &decided, &rest),
		    ERR_BAD_INPUT);
	}
}
END_TEST

START_TEST(arrival_goes_over_all_suppliers)
{
	struct proposal_decision decision = {
	    PROPOSAL_EDIT, SPAN("1"), 5, PROPOSAL_ANY, PROPOSAL_ANY};
	static const char *const suppliers[] = {"A", "B", "C"};
	struct proposal_decided decided;
	struct proposal_settled settled;
	uint64_t rest, versions[3];

	for (unsigned i = 0; i < 3; i++) {
		struct proposal_verdict verdict = {
		    .supplier = span_of(suppliers[i]),
		    .actor = SPAN("buyer"),
		    .decisions = &decision,
		    .count = 1};

		ck_assert_int_eq(
		    proposal_decide(states, &verdict, &decided, &rest), ERR_OK);
		versions[i] = states_version(suppliers[i]);
	}
	states_server("A", "1", 'Z');
	states_server("C", "1", 'Z');
	ck_assert_int_eq(
	    proposal_settle(states, SPAN("import"), true, &settled), ERR_OK);
	ck_assert_uint_eq(settled.arrived, 2);
	ck_assert_uint_eq(settled.withdrawn, 0);
	for (unsigned i = 0; i < 3; i++) {
		bool moved = states_version(suppliers[i]) != versions[i];

		ck_assert_int_eq(moved, i != 1);
		ck_assert_str_eq(
		    states_validated(suppliers[i]), i == 1 ? "1=Zbuyer " : "");
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("decide");
	TCase *tc = tcase_create("decide");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, a_decision_is_applied_or_told_why_not, 0,
	    sizeof(decisions) / sizeof(decisions[0]));
	tcase_add_test(tc, a_conflict_leaves_the_others_applied);
	tcase_add_loop_test(tc, the_rest_is_what_no_decision_names, 0, 2);
	tcase_add_test(tc, the_rest_waits_when_the_buyer_has_not_seen_all);
	tcase_add_test(tc, what_is_no_code_or_range_is_refused);
	tcase_add_test(tc, arrival_goes_over_all_suppliers);
	suite_add_tcase(suite, tc);
	return suite;
}
