#include "tools/gridhud/app/policy.h"

#include <locale.h>

#include "common/count.h"
#include "tests/support/run.h"
#include "tools/gridhud/words.h"

/*
 * The decision table, every combination: for each row, one letter for each of
 * the priorities min low normal high critical. F: spoken as a failure, S: its
 * summary is spoken, -: silent.
 */
static const struct {
	bool failure, replayed, quiet, muted;
	const char *lax; /* quiet.strict = no */
	const char *strict; /* quiet.strict = yes */
} table[] = {
    {false, false, false, false, "SSSSS", "SSSSS"},
    {false, false, false, true, "---SS", "---SS"},
    {false, false, true, false, "---SS", "-----"},
    {false, false, true, true, "---SS", "-----"},
    {false, true, false, false, "-----", "-----"},
    {false, true, false, true, "-----", "-----"},
    {false, true, true, false, "-----", "-----"},
    {false, true, true, true, "-----", "-----"},
    {true, false, false, false, "FFFFF", "FFFFF"},
    {true, false, false, true, "FFFFF", "FFFFF"},
    {true, false, true, false, "FFFFF", "FFFFF"},
    {true, false, true, true, "FFFFF", "FFFFF"},
    {true, true, false, false, "-----", "-----"},
    {true, true, false, true, "-----", "-----"},
    {true, true, true, false, "-----", "-----"},
    {true, true, true, true, "-----", "-----"},
};

static const char letters[] = {
    [SAY_NOTHING] = '-', [SAY_SUMMARY] = 'S', [SAY_FAILURE] = 'F'};

static struct policy_facts
facts_of(int row, enum priority priority, bool strict)
{
	return (struct policy_facts){.failure = table[row].failure,
	    .priority = priority,
	    .quiet = table[row].quiet,
	    .muted = table[row].muted,
	    .replayed = table[row].replayed,
	    .speech_on = true,
	    .speak_failures = true,
	    .quiet_strict = strict};
}

START_TEST(what_is_spoken_follows_the_table)
{
	struct policy_facts facts;

	for (unsigned strict = 0; strict < 2; strict++)
		for (unsigned priority = 0; priority < PRIORITY_COUNT;
		     priority++) {
			facts =
			    facts_of(_i, (enum priority)priority, strict == 1);
			ck_assert_int_eq(letters[policy_decide(&facts).say],
			    (strict ? table[_i].strict
				    : table[_i].lax)[priority]);
		}
}
END_TEST

START_TEST(word_counts_as_high_priority)
{
	struct policy_facts facts;
	unsigned higher;

	for (unsigned strict = 0; strict < 2; strict++)
		for (unsigned priority = 0; priority < PRIORITY_COUNT;
		     priority++) {
			facts =
			    facts_of(_i, (enum priority)priority, strict == 1);
			facts.matched = true;
			higher =
			    priority > PRIORITY_HIGH ? priority : PRIORITY_HIGH;
			ck_assert_int_eq(letters[policy_decide(&facts).say],
			    (strict ? table[_i].strict
				    : table[_i].lax)[higher]);
			ck_assert_uint_eq(
			    policy_decide(&facts).priority, higher);
		}
}
END_TEST

START_TEST(repeated_message_is_never_spoken)
{
	struct policy_facts facts = facts_of(_i, PRIORITY_CRITICAL, false);
	struct verdict verdict;

	facts.duplicate = true;
	verdict = policy_decide(&facts);
	ck_assert_int_eq(verdict.say, SAY_NOTHING);
	ck_assert(!verdict.counts);
	ck_assert(!verdict.alert);
	ck_assert(!verdict.bell);
	ck_assert(!verdict.in_summary);
}
END_TEST

START_TEST(senders_silence_and_speech_off_leave_only_failures)
{
	struct policy_facts facts = facts_of(_i, PRIORITY_CRITICAL, false);
	char want = table[_i].failure && !table[_i].replayed ? 'F' : '-';

	facts.silenced = true;
	ck_assert_int_eq(letters[policy_decide(&facts).say], want);
	facts.silenced = false;
	facts.speech_on = false;
	ck_assert_int_eq(letters[policy_decide(&facts).say], want);
}
END_TEST

START_TEST(what_its_sender_asks_for_is_spoken_but_not_from_the_muted)
{
	struct policy_facts facts = facts_of(_i, PRIORITY_MIN, false);
	char as_high = table[_i].lax[PRIORITY_HIGH];
	char as_it_is = table[_i].lax[PRIORITY_MIN];

	facts.asked = true;
	ck_assert_int_eq(letters[policy_decide(&facts).say],
	    table[_i].muted ? as_it_is : as_high);
	facts.quiet_strict = true;
	if (table[_i].quiet)
		ck_assert_int_eq(letters[policy_decide(&facts).say],
		    table[_i].strict[PRIORITY_MIN]);
}
END_TEST

START_TEST(failures_that_are_not_to_be_read_follow_the_other_rules)
{
	struct policy_facts facts = facts_of(_i, PRIORITY_LOW, false);
	bool silent = table[_i].quiet || table[_i].muted || table[_i].replayed;

	facts.speak_failures = false;
	ck_assert_int_eq(policy_decide(&facts).say == SAY_NOTHING, silent);
}
END_TEST

START_TEST(every_message_but_a_repeated_one_counts_as_unread)
{
	struct policy_facts facts = facts_of(_i, PRIORITY_MIN, true);
	struct verdict verdict = policy_decide(&facts);

	ck_assert(verdict.counts);
	ck_assert_int_eq(verdict.in_summary, table[_i].replayed);
	ck_assert_int_eq(verdict.alert, table[_i].failure);
}
END_TEST

static const struct {
	bool failure, firing;
	enum priority priority;
	bool quiet, strict;
	bool alert, bell;
} signals[] = {
    {false, false, PRIORITY_NORMAL, false, false, false, false},
    {false, false, PRIORITY_HIGH, false, false, false, true},
    {false, false, PRIORITY_CRITICAL, false, false, true, true},
    {false, true, PRIORITY_NORMAL, false, false, false, false},
    {false, true, PRIORITY_HIGH, false, false, true, true},
    {true, false, PRIORITY_MIN, false, false, true, true},
    {false, false, PRIORITY_NORMAL, true, false, false, false},
    {false, false, PRIORITY_HIGH, true, false, false, true},
    {false, false, PRIORITY_HIGH, true, true, false, false},
    {true, false, PRIORITY_MIN, true, true, true, true},
};

START_TEST(alert_and_bell_are_for_what_matters)
{
	struct policy_facts facts = {.failure = signals[_i].failure,
	    .firing = signals[_i].firing,
	    .priority = signals[_i].priority,
	    .quiet = signals[_i].quiet,
	    .quiet_strict = signals[_i].strict,
	    .speech_on = true,
	    .speak_failures = true};
	struct verdict verdict = policy_decide(&facts);

	ck_assert_int_eq(verdict.alert, signals[_i].alert);
	ck_assert_int_eq(verdict.bell, signals[_i].bell);
}
END_TEST

START_TEST(summary_is_spoken_for_failures_or_when_others_are)
{
	struct policy_facts facts = {.speech_on = true, .speak_failures = true};

	ck_assert(policy_speaks_summary(0, &facts));
	facts.quiet = true;
	ck_assert(!policy_speaks_summary(0, &facts));
	ck_assert(policy_speaks_summary(1, &facts));
	facts.speech_on = false;
	ck_assert(policy_speaks_summary(1, &facts));
	facts.speak_failures = false;
	ck_assert(!policy_speaks_summary(1, &facts));
}
END_TEST

static const struct {
	const char *list, *text, *hit; /* NULL: none */
} words_table[] = {
    {"urgent", "this is URGENT, really", "URGENT"},
    {"urgent", "urgently", NULL},
    {"urgent", "insurgent", NULL},
    {"urgent", "not-urgent!", "urgent"},
    {"urgence", "une Urgence.", "Urgence"},
    {"échec", "un ECHEC total", "ECHEC"},
    {"echec", "un \xC3\x89\x63hec", "\xC3\x89\x63hec"},
    {"echec", "E\xCC\x81\x63hec", "E\xCC\x81\x63hec"},
    {"disk full", "the disk \t full today", "disk \t full"},
    {"disk full", "the disk fullness", NULL},
    {"a, b b ,c", "x b  b y", "b  b"},
    {"", "anything", NULL},
    {" , ,", "anything , ,", NULL},
    {"стоп", "СТОП!", "СТОП"},
    {"stop", "x", NULL},
    {"go, stop", "stop and go", "stop"},
};

START_TEST(priority_words_are_whole_words_in_any_case)
{
	struct hud_words *words = NULL;
	struct span hit;

	ck_assert_int_eq(words_new(&words, words_table[_i].list), ERR_OK);
	hit = words_find(words, span_of(words_table[_i].text), 0);
	ck_assert_msg(span_eq(hit, span_of(words_table[_i].hit)),
	    "found \"%.*s\"", SPAN_ARG(hit));
	words_free(words);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud policy");
	TCase *tc = tcase_create("policy");
	int rows = COUNT(table);

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(tc, what_is_spoken_follows_the_table, 0, rows);
	tcase_add_loop_test(tc, word_counts_as_high_priority, 0, rows);
	tcase_add_loop_test(tc, repeated_message_is_never_spoken, 0, rows);
	tcase_add_loop_test(
	    tc, senders_silence_and_speech_off_leave_only_failures, 0, rows);
	tcase_add_loop_test(tc,
	    what_its_sender_asks_for_is_spoken_but_not_from_the_muted, 0, rows);
	tcase_add_loop_test(tc,
	    failures_that_are_not_to_be_read_follow_the_other_rules, 0, rows);
	tcase_add_loop_test(
	    tc, every_message_but_a_repeated_one_counts_as_unread, 0, rows);
	tcase_add_loop_test(
	    tc, alert_and_bell_are_for_what_matters, 0, COUNT(signals));
	tcase_add_test(tc, summary_is_spoken_for_failures_or_when_others_are);
	tcase_add_loop_test(tc, priority_words_are_whole_words_in_any_case, 0,
	    COUNT(words_table));
	suite_add_tcase(suite, tc);
	return suite;
}
