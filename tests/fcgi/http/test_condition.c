/* tests/fcgi/http/test_condition.c: fcgi/http/condition.h */
#include "fcgi/http/condition.h"

#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/num.h"
#include "tests/support/run.h"

static struct arena *arena;
static struct condition condition;
static struct fault fault;

static void
make(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
}

static void
drop(void)
{
	arena_free(arena);
}

static enum err
read_text(const char *name, const char *value)
{
	arena_reset(arena);
	fault_clear(&fault);
	return condition_read(
	    &condition, span_of(name), span_of(value), arena, &fault);
}

/* As the rows compare numbers. */
static bool
takes_number(int64_t value)
{
	bool there = false;

	if (condition.kind == CONDITION_NULL)
		return (value == NUM_NULL) != condition.negated;
	if (condition.kind == CONDITION_RANGE)
		there = (uint64_t)value - (uint64_t)condition.low <=
		    condition.width;
	for (unsigned i = 0; i < condition.count; i++)
		there |= condition.numbers[i] == value;
	return there != condition.negated && value != NUM_NULL;
}

static const struct {
	const char *name, *value;
	const char *taken, *left; /* numbers, separated by blanks */
} numbers[] = {
    {"totalCa", "eq.12.5", "12.5", "12.499999 12.500001 0"},
    {"totalCa", "neq.12.5", "12.499999 0 -12.5", "12.5"},
    {"totalCa", "gt.0", "0.000001 9223372036854.775807", "0 -0.000001"},
    {"totalCa", "gte.0", "0 0.000001", "-0.000001"},
    {"totalCa", "lt.0", "-0.000001 -9223372036854.775807", "0 1"},
    {"totalCa", "lte.-3", "-3 -4", "-2.999999"},
    {"totalCa", "gt.9223372036854.775807", "", "9223372036854.775807 0"},
    {"totalCa", "lt.-9223372036854.775807", "", "-9223372036854.775807 0"},
    {"totalCa", "not.gt.0", "0 -1", "1"},
    {"totalCa", "not.neq.4", "4", "3"},
    {"totalCa", "in.(1,2.50,1,-7)", "1 2.5 -7", "0 2 7"},
    {"totalCa", "not.in.(1,2)", "0 3", "1 2"},
    {"totalCa", "in.()", "", "0 1"},
    {"totalCa", "not.in.()", "0 1", ""},
    {"sales12m.202510", "gte.12", "12", "11.999999"},
    {"sales12mByStore.001", "gt.0", "1", "0"},
    {"stock12mByStore.a.b", "lt.2", "1", "2"},
};

static void
check_numbers(const char *list, bool taken)
{
	struct span text, rest = span_of(list);

	while (rest.len > 0 && span_cut(&text, &rest, ' ')) {
		int64_t value;

		ck_assert(num_decimal(&value, text));
		ck_assert_msg(takes_number(value) == taken, "%s", list);
	}
}

START_TEST(a_number_is_compared_as_its_operator_says)
{
	ck_assert_msg(read_text(numbers[_i].name, numbers[_i].value) == ERR_OK,
	    "%s: %s", numbers[_i].value, fault.message);
	check_numbers(numbers[_i].taken, true);
	check_numbers(numbers[_i].left, false);
	ck_assert(!takes_number(NUM_NULL));
}
END_TEST

START_TEST(null_meets_is_null_alone)
{
	ck_assert_int_eq(read_text("tva", "is.null"), ERR_OK);
	ck_assert(takes_number(NUM_NULL) && !takes_number(0));
	ck_assert_int_eq(read_text("tva", "not.is.null"), ERR_OK);
	ck_assert(!takes_number(NUM_NULL) && takes_number(0));
	ck_assert_int_eq(read_text("tva", "is.not_null"), ERR_OK);
	ck_assert(!takes_number(NUM_NULL) && takes_number(0));
}
END_TEST

START_TEST(days_and_whole_numbers_are_of_their_own_kind)
{
	ck_assert_int_eq(read_text("derniereVente", "gte.2026-11-01"), ERR_OK);
	ck_assert(takes_number(date_day_of(2026, 11, 1)));
	ck_assert(!takes_number(date_day_of(2026, 10, 31)));
	ck_assert_int_eq(read_text("nbMagasins", "gt.2.0"), ERR_OK);
	ck_assert(takes_number(3) && !takes_number(2));
}
END_TEST

START_TEST(names_are_told_apart)
{
	static const struct {
		const char *name;
		enum condition_target target;
	} good[] = {
	    {"codein", CONDITION_COLUMN},
	    {"codeGamme", CONDITION_COLUMN},
	    {"trend", CONDITION_TREND},
	    {"stock12m.202501", CONDITION_MONTH},
	    {"receptions12mByStore.9", CONDITION_STORE},
	};
	static const char *const bad[] = {"", "codeinn", "codein.1", "trend.1",
	    "network", "network.caReseau", "sales12m", "sales12mByStore",
	    "qteReseauByMonth.202501", "utm_source"};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert(condition_is_name(span_of(good[i].name)));
		ck_assert_int_eq(read_text(good[i].name, "is.null"), ERR_OK);
		ck_assert_int_eq(condition.target, good[i].target);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
		    !condition_is_name(span_of(bad[i])), "%s", bad[i]);
}
END_TEST

static const struct {
	const char *name, *value;
	const char *told; /* in the message */
} wrong[] = {
    {"marque", "Duvel", "OPERATOR.VALUE"},
    {"marque", "", "OPERATOR.VALUE"},
    {"marque", "eq", "OPERATOR.VALUE"},
    {"marque", "not.Duvel", "like, ilike, is"},
    {"marque", "not.not.eq.Duvel", "OPERATOR.VALUE"},
    {"marque", "EQ.Duvel", "OPERATOR.VALUE"},
    {"totalCa", "like.1*", "eq, neq, gt, gte, lt, lte, in, is,"},
    {"totalCa", "gt.12,5", "decimal point"},
    {"totalCa", "gt.NaN", "needs a number"},
    {"totalCa", "gt.1e5", "needs a number"},
    {"totalCa", "gt.0.0000001", "six decimals"},
    {"totalCa", "gt.", "needs a number"},
    {"totalCa", "in.1,2", "in brackets"},
    {"totalCa", "in.(1,)", "needs a number"},
    {"totalCa", "in.((1))", "needs a number"},
    {"totalCa", "is.nul", "is.null"},
    {"nbMagasins", "eq.1.5", "whole number"},
    {"derniereVente", "eq.2026-02-30", "YYYY-MM-DD"},
    {"codeGamme", "eq.E", "A, B, C, Y, Z"},
    {"trend", "eq.sideways", "up, down, flat"},
    {"sales12m.202513", "gt.0", "YYYYMM"},
    {"sales12m.2025-10", "gt.0", "YYYYMM"},
    {"sales12mByStore.", "gt.0", "store's code"},
    {"marque", "in.(\"a)", "open double quote"},
    {"marque", "in.(\"a\"b)", "behind a double quote"},
};

START_TEST(what_is_wrong_is_told)
{
	ck_assert_msg(
	    read_text(wrong[_i].name, wrong[_i].value) == ERR_BAD_INPUT, "%s",
	    wrong[_i].value);
	ck_assert_msg(strstr(fault.message, wrong[_i].told) != NULL, "%s: %s",
	    wrong[_i].value, fault.message);
}
END_TEST

START_TEST(lists_of_texts_keep_their_commas)
{
	ck_assert_int_eq(
	    read_text("marque", "in.(Duvel,\"A, \\\"B\\\"\",,Été)"), ERR_OK);
	ck_assert_int_eq(condition.kind, CONDITION_TEXT_LIST);
	ck_assert_uint_eq(condition.count, 4);
	ck_assert(span_eq(condition.texts[0], SPAN("Duvel")));
	ck_assert(span_eq(condition.texts[1], SPAN("A, \"B\"")));
	ck_assert_uint_eq(condition.texts[2].len, 0);
	ck_assert(span_eq(condition.texts[3], SPAN("Été")));
}
END_TEST

START_TEST(a_list_has_a_ceiling)
{
	static char value[16 * CONDITION_VALUES_MAX];
	size_t len = (size_t)sprintf(value, "in.(0");

	for (unsigned i = 1; i < CONDITION_VALUES_MAX; i++)
		len += (size_t)sprintf(value + len, ",%u", i);
	strcpy(value + len, ")");
	ck_assert_int_eq(read_text("totalCa", value), ERR_OK);
	ck_assert_uint_eq(condition.count, CONDITION_VALUES_MAX);
	strcpy(value + len, ",1)");
	ck_assert_int_eq(read_text("totalCa", value), ERR_BAD_INPUT);
	ck_assert_int_eq(read_text("marque", value), ERR_BAD_INPUT);
}
END_TEST

START_TEST(codes_are_sets)
{
	ck_assert_int_eq(read_text("codeGamme", "gt.B"), ERR_OK);
	ck_assert_uint_eq(condition.codes & 0x3e, 0x38); /* C, Y, Z */
	ck_assert_int_eq(read_text("codeGamme", "lte.B"), ERR_OK);
	ck_assert_uint_eq(condition.codes & 0x3e, 0x06);
	ck_assert_int_eq(read_text("codeGamme", "in.(A,Z)"), ERR_OK);
	ck_assert_uint_eq(condition.codes & 0x3e, 0x22);
	ck_assert_int_eq(read_text("trend", "not.in.(up,down)"), ERR_OK);
	ck_assert_uint_eq(condition.codes, 0x06);
	ck_assert(condition.negated);
}
END_TEST

static const struct {
	const char *pattern, *text;
	bool fits;
} patterns[] = {
    {"like.*BIÈRE*", "la biere blonde", true},
    {"like.*bière*", "vin rouge", false},
    {"ilike.Biè*", "biere blonde", true},
    {"like.bie*", "la biere", false},
    {"like.*onde", "biere blonde", true},
    {"like.*onde", "biere blonde 75cl", false},
    {"like.b*e*e", "biere blonde", true},
    {"like.b*x*e", "biere blonde", false},
    {"like.biere", "biere", true},
    {"like.biere", "biere blonde", false},
    {"like.*", "", true},
    {"like.**", "a", true},
    {"like.", "", true},
    {"like.", "a", false},
    {"like.aa*aa", "aaa", false},
    {"like.aa*aa", "aaaa", true},
    {"like.*e b*", "biere blonde", true},
};

START_TEST(a_pattern_is_folded_and_a_star_is_any_text)
{
	ck_assert_int_eq(read_text("libelle1", patterns[_i].pattern), ERR_OK);
	ck_assert_int_eq(condition.kind, CONDITION_PATTERN);
	ck_assert_msg(condition_like(span_of(patterns[_i].text),
			  condition.texts[0]) == patterns[_i].fits,
	    "%s %s", patterns[_i].pattern, patterns[_i].text);
}
END_TEST

START_TEST(texts_are_compared_exactly_but_ranges_folded)
{
	ck_assert_int_eq(read_text("marque", "eq.Été"), ERR_OK);
	ck_assert(span_eq(condition.texts[0], SPAN("Été")));
	ck_assert_int_eq(read_text("marque", "lt.Été"), ERR_OK);
	ck_assert_int_eq(condition.kind, CONDITION_TEXT_RANGE);
	ck_assert(span_eq(condition.texts[0], SPAN("ete")));
}
END_TEST

START_TEST(a_full_arena_is_told)
{
	struct arena *small = arena_new(64);

	fault_clear(&fault);
	ck_assert_int_eq(condition_read(&condition, SPAN("marque"),
			     SPAN("in.(a,b,c,d,e,f,g,h)"), small, &fault),
	    ERR_NO_MEMORY);
	arena_free(small);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *
test_suite(void)
{
	Suite *suite = suite_create("condition");
	TCase *tcase = tcase_create("condition");

	tcase_add_checked_fixture(tcase, make, drop);
	tcase_add_loop_test(tcase, a_number_is_compared_as_its_operator_says, 0,
	    COUNT(numbers));
	tcase_add_test(tcase, null_meets_is_null_alone);
	tcase_add_test(tcase, days_and_whole_numbers_are_of_their_own_kind);
	tcase_add_test(tcase, names_are_told_apart);
	tcase_add_loop_test(tcase, what_is_wrong_is_told, 0, COUNT(wrong));
	tcase_add_test(tcase, lists_of_texts_keep_their_commas);
	tcase_add_test(tcase, a_list_has_a_ceiling);
	tcase_add_test(tcase, codes_are_sets);
	tcase_add_loop_test(tcase, a_pattern_is_folded_and_a_star_is_any_text,
	    0, COUNT(patterns));
	tcase_add_test(tcase, texts_are_compared_exactly_but_ranges_folded);
	tcase_add_test(tcase, a_full_arena_is_told);
	suite_add_tcase(suite, tcase);
	return suite;
}
