#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/state.h"

#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define CHANGE(article, range) \
	{ \
		.codein = span_of(article), .gamme = range \
	}

/* --- one article ---------------------------------------------------------- */

/*
 * Steps done to article 1, whose server range is A, and its ranges afterwards.
 */
static const struct {
	const char *steps; /* "pX" proposes, s saves, c cancels, "eX" edits,
			      "iX" imports, t settles */
	const char *pending, *validated, *audit;
} lives[] = {
    {"pB", "1=Bkey ", "", "proposed key S 1 B A\n"},
    {"pA", "", "", ""},
    {"pBpA", "", "", "proposed key S 1 B A\nwithdrawn key S 1 B A\n"},
    {"pBpB", "1=Bkey ", "", "proposed key S 1 B A\n"},
    {"pBpC", "1=Ckey ", "", "proposed key S 1 B A\nreplaced key S 1 C B\n"},
    {"pBs", "", "1=Bbuyer ", "proposed key S 1 B A\nvalidated buyer S 1 B A\n"},
    {"pBc", "", "", "proposed key S 1 B A\nrejected buyer S 1 B A\n"},
    {"pBspC", "1=Ckey ", "1=Bbuyer ",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"
	"proposed key S 1 C B\n"},
    {"pBspB", "", "1=Bbuyer ",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"},
    {"pBspCpB", "", "1=Bbuyer ",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"
	"proposed key S 1 C B\nwithdrawn key S 1 C B\n"},
    /* Back to the server's range: nothing is left to export. */
    {"pBspAs", "", "",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"
	"proposed key S 1 A B\nvalidated buyer S 1 A B\n"},
    {"pBsiBt", "", "",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"
	"arrived import S 1 B B\n"},
    {"pBsiCt", "", "1=Bbuyer ",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"},
    {"pBsiBtt", "", "",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"
	"arrived import S 1 B B\n"},
    {"pBiBt", "", "", "proposed key S 1 B A\nwithdrawn import S 1 B B\n"},
    {"pBiBtt", "", "", "proposed key S 1 B A\nwithdrawn import S 1 B B\n"},
    {"pBiCt", "1=Bkey ", "", "proposed key S 1 B A\n"},
    {"i-pBiBt", "", "", "proposed key S 1 B -\nwithdrawn import S 1 B B\n"},
    /* The recorded range is C until C arrives, whatever the server has. */
    {"eCpBiBt", "1=Bkey ", "1=Cbuyer ",
	"edited buyer S 1 C A\nproposed key S 1 B C\n"},
    {"eCpBiCt", "1=Bkey ", "",
	"edited buyer S 1 C A\nproposed key S 1 B C\n"
	"arrived import S 1 C C\n"},
    {"pBiBs", "", "", "proposed key S 1 B A\nvalidated buyer S 1 B B\n"},
    {"eB", "", "1=Bbuyer ", "edited buyer S 1 B A\n"},
    {"eA", "", "", ""},
    {"eBeA", "", "", "edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"pBeB", "", "1=Bbuyer ",
	"proposed key S 1 B A\nvalidated buyer S 1 B A\n"},
    {"pBeC", "", "1=Cbuyer ",
	"proposed key S 1 B A\nrejected buyer S 1 B A\n"
	"edited buyer S 1 C A\n"},
    {"pBeA", "", "", "proposed key S 1 B A\nrejected buyer S 1 B A\n"},
    {"i-pA", "1=Akey ", "", "proposed key S 1 A -\n"},
    {"i-pAc", "", "", "proposed key S 1 A -\nrejected buyer S 1 A -\n"},
    {"i-pAse-", "", "",
	"proposed key S 1 A -\nvalidated buyer S 1 A -\n"
	"edited buyer S 1 - A\n"},
    /* The export is on its way: back to the server's range is a change. */
    {"eBxeA", "", "1=Abuyer ", "edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxeAt", "", "1=Abuyer ", "edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxeAiBt", "", "1=Abuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxeAiBtiAt", "", "",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"
	"arrived import S 1 A A\n"},
    {"eBxeAxt", "", "",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"
	"arrived import S 1 A A\n"},
    {"eBxeAxiBt", "", "1=Abuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxeAxiBtiAt", "", "",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"
	"arrived import S 1 A A\n"},
    {"eBxeAxu", "", "1=Abuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxiBu", "", "", "edited buyer S 1 B A\narrived import S 1 B B\n"},
    /* An export that was not done may be out, or not. */
    {"eBxeAft", "", "1=Abuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBfeAt", "", "1=Abuyer ", "edited buyer S 1 B A\nedited buyer S 1 A B\n"},
    {"eBxeAfxt", "", "",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"
	"arrived import S 1 A A\n"},
    {"eBxeCeAt", "", "1=Abuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 C B\nedited buyer S 1 A C\n"},
    {"eBxeCiBtiCt", "", "",
	"edited buyer S 1 B A\nedited buyer S 1 C B\n"
	"arrived import S 1 C C\n"},
    {"eBxiBteAiBt", "", "1=Abuyer ",
	"edited buyer S 1 B A\narrived import S 1 B B\n"
	"edited buyer S 1 A B\n"},
    /* "None" cannot be exported, so it cannot overtake. */
    {"eBxeAxtiBeB", "", "1=Bbuyer ",
	"edited buyer S 1 B A\nedited buyer S 1 A B\n"
	"arrived import S 1 A A\nedited buyer S 1 B B\n"},
    {"i-eBxe-", "", "1=Bbuyer ", "edited buyer S 1 B -\n"},
};

static enum err
any_article(
    bool *wanted, void *context, struct span supplier, struct span codein)
{
	(void)context, (void)supplier, (void)codein;
	*wanted = true;
	return ERR_OK;
}

static void
export_all(bool done)
{
	struct proposal_export *export;

	ck_assert_int_eq(
	    proposal_export_begin(&export, states, any_article, NULL), ERR_OK);
	if (done)
		ck_assert_int_eq(proposal_export_done(export), ERR_OK);
	proposal_export_free(export);
}

static void
walk_life(const char *step)
{
	struct proposal_settled settled;

	for (; *step != '\0'; step++)
		switch (*step) {
		case 'p':
			states_propose("key", "1", *++step);
			break;
		case 's':
			states_decide(PROPOSAL_SAVE, "1", '-');
			break;
		case 'c':
			states_decide(PROPOSAL_CANCEL, "1", '-');
			break;
		case 'e':
			states_decide(PROPOSAL_EDIT, "1", *++step);
			break;
		case 'i':
			states_server("S", "1", *++step);
			break;
		case 'u':
			ck_assert_int_eq(proposal_settle(states, SPAN("import"),
					     false, &settled),
			    ERR_OK);
			break;
		case 'x':
		case 'f':
			export_all(*step == 'x');
			break;
		default:
			ck_assert_int_eq(proposal_settle(states, SPAN("import"),
					     true, &settled),
			    ERR_OK);
		}
}

START_TEST(an_article_lives_by_the_table)
{
	states_server("S", "1", 'A');
	walk_life(lives[_i].steps);
	ck_assert_str_eq(states_pending("S"), lives[_i].pending);
	ck_assert_str_eq(states_validated("S"), lives[_i].validated);
	ck_assert_str_eq(states_audit(0), lives[_i].audit);
}
END_TEST

/* Codes of 64 bytes that differ in the last: each has a note of its own. */
START_TEST(what_is_sent_of_a_long_code_is_of_no_other)
{
	struct proposal_export *export;
	char one[65], other[65];

	memset(one, 'x', 64);
	one[64] = '\0';
	memcpy(other, one, sizeof(other));
	other[63] = 'y';
	states_server("S", one, 'A');
	states_server("S", other, 'A');
	states_decide(PROPOSAL_EDIT, one, 'B');
	export_all(true);
	states_decide(PROPOSAL_EDIT, other, 'B');
	states_decide(PROPOSAL_EDIT, other, 'A');
	/* The second is where it was; the first is still to arrive. */
	ck_assert_int_eq(
	    proposal_export_begin(&export, states, any_article, NULL), ERR_OK);
	for (unsigned i = 0; i < proposal_export_count(export); i++)
		ck_assert(span_eq(
		    proposal_export_at(export, i).codein, span_of(one)));
	proposal_export_free(export);
}
END_TEST

/*
 * A central database takes exports in as late as it likes, in their order;
 * imports bring what it has at any moment.
 */
struct central {
	char server;
	char queue[64];
	unsigned taken, queued;
};

static void
hand_over(struct central *central)
{
	struct proposal_export *export;

	ck_assert_int_eq(
	    proposal_export_begin(&export, states, any_article, NULL), ERR_OK);
	for (unsigned i = 0; i < proposal_export_count(export); i++)
		central->queue[central->queued++ % 64] =
		    states_letter(proposal_export_at(export, i).gamme);
	ck_assert_int_eq(proposal_export_done(export), ERR_OK);
	proposal_export_free(export);
}

static void
import(const struct central *central)
{
	struct proposal_settled settled;

	states_server("S", "1", central->server);
	ck_assert_int_eq(
	    proposal_settle(states, SPAN("import"), true, &settled), ERR_OK);
}

static unsigned
dice(uint32_t *seed, unsigned sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 16) % sides;
}

START_TEST(last_decision_is_the_last_that_arrives)
{
	struct central central = {.server = 'A'};
	uint32_t seed = (uint32_t)_i;
	char decided = 'A';
	bool any = false;

	states_server("S", "1", 'A');
	for (unsigned step = 0; step < 40; step++)
		switch (dice(&seed, 4)) {
		case 0:
			decided = "ABC"[dice(&seed, 3)];
			any = true;
			states_decide(PROPOSAL_EDIT, "1", decided);
			break;
		case 1:
			if (central.queued - central.taken < 60)
				hand_over(&central);
			break;
		case 2:
			if (central.taken < central.queued)
				central.server =
				    central.queue[central.taken++ % 64];
			break;
		default:
			import(&central);
		}
	for (unsigned turn = 0; any && turn < 2; turn++) {
		hand_over(&central);
		while (central.taken < central.queued)
			central.server = central.queue[central.taken++ % 64];
		import(&central);
	}
	ck_assert(!any || central.server == decided);
	ck_assert_str_eq(any ? states_validated("S") : "", "");
}
END_TEST

START_TEST(a_result_tells_what_was_recorded)
{
	struct proposal_change changes[] = {CHANGE("1", states_code('B')),
	    CHANGE("2", states_code('B')), CHANGE("3", states_code('C')),
	    CHANGE("1", states_code('B'))};
	struct proposal_request request = {SPAN("S"), SPAN("key"), changes, 4};
	struct proposal_result results[4];
	static const struct {
		char before, server;
		bool pending;
	} expected[] = {{'A', 'A', true}, {'B', 'B', false}, {'C', 'Y', false},
	    {'A', 'A', true}};
	int64_t when_ms = 0;

	states_server("S", "1", 'A');
	states_server("S", "2", 'B');
	states_server("S", "3", 'Y');
	states_decide(PROPOSAL_EDIT, "3", 'C');
	ck_assert_int_eq(
	    proposal_deposit(states, &request, results, &when_ms), ERR_OK);
	ck_assert_int_gt(when_ms, 0);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(
		    states_letter(results[i].before), expected[i].before);
		ck_assert_int_eq(
		    states_letter(results[i].server), expected[i].server);
		ck_assert_int_eq(results[i].pending, expected[i].pending);
	}
	ck_assert_str_eq(states_pending("S"), "1=Bkey ");
}
END_TEST

START_TEST(another_author_takes_a_proposal_over)
{
	states_propose("one", "1", 'B');
	states_propose("two", "1", 'B');
	ck_assert_str_eq(states_pending("S"), "1=Btwo ");
	ck_assert_str_eq(
	    states_audit(0), "proposed one S 1 B -\nreplaced two S 1 B B\n");
}
END_TEST

/* One of the two readers of a single article; no `author`: there is none. */
static void
check_made(enum err (*of)(struct state_view *view, struct span supplier,
	       struct span codein, struct proposal *proposal),
    const char *codein, char letter, const char *author)
{
	struct proposal made;
	struct state_view *view;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	if (author == NULL) {
		ck_assert_int_eq(
		    of(view, SPAN("S"), span_of(codein), &made), ERR_NOT_FOUND);
	} else {
		ck_assert_int_eq(
		    of(view, SPAN("S"), span_of(codein), &made), ERR_OK);
		ck_assert_int_eq(made.gamme, states_code(letter));
		ck_assert(span_eq(made.author, span_of(author)));
		ck_assert_int_gt(made.when_ms, 0);
	}
	state_view_close(view);
}

START_TEST(one_article_tells_who_proposed_and_who_saved)
{
	states_server("S", "1", 'A');
	check_made(proposal_pending_of, "1", '-', NULL);
	check_made(proposal_validated_of, "1", '-', NULL);
	ck_assert(states_propose("agent", "1", 'B'));
	check_made(proposal_pending_of, "1", 'B', "agent");
	check_made(proposal_validated_of, "1", '-', NULL);
	ck_assert_int_eq(
	    states_decide(PROPOSAL_SAVE, "1", '-'), PROPOSAL_APPLIED);
	check_made(proposal_pending_of, "1", '-', NULL);
	check_made(proposal_validated_of, "1", 'B', "buyer");
}
END_TEST

START_TEST(version_moves_when_something_changed_and_only_then)
{
	uint64_t version = 0;
	struct proposal_settled settled;
	static const struct {
		const char *steps;
		bool moves;
	} cases[] = {{"pB", true}, {"pB", false}, {"s", true}, {"s", false},
	    {"pB", false}, {"eB", false}, {"iB", false}, {"t", true},
	    {"t", false}, {"c", false}};

	states_server("S", "1", 'A');
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		walk_life(cases[i].steps);
		ck_assert_int_eq(states_version("S") > version, cases[i].moves);
		ck_assert_uint_ge(states_version("S"), version);
		version = states_version("S");
	}
	ck_assert_int_eq(
	    proposal_settle(states, SPAN("import"), true, &settled), ERR_OK);
	ck_assert_uint_eq(settled.arrived, 0);
	ck_assert_uint_eq(settled.withdrawn, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("proposal");
	TCase *tc = tcase_create("proposal");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, what_is_sent_of_a_long_code_is_of_no_other);
	tcase_add_loop_test(tc, last_decision_is_the_last_that_arrives, 0, 20);
	tcase_add_loop_test(tc, an_article_lives_by_the_table, 0,
	    sizeof(lives) / sizeof(lives[0]));
	tcase_add_test(tc, a_result_tells_what_was_recorded);
	tcase_add_test(tc, one_article_tells_who_proposed_and_who_saved);
	tcase_add_test(tc, another_author_takes_a_proposal_over);
	tcase_add_test(tc, version_moves_when_something_changed_and_only_then);
	suite_add_tcase(suite, tc);
	return suite;
}
