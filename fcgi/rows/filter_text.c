/*
 * Conditions on texts. The distinct texts of a column are in the order of their
 * folded forms, so equality, comparison and "begins with" each select a run of
 * them, by two binary searches. For any other pattern all texts are scanned for
 * its longest piece, and only texts that contain it are compared.
 */
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "common/date.h"
#include "common/words.h"
#include "fcgi/rows/filter_priv.h"

#define PREFIX_MAX 256

/* The first term after all terms whose folded form is `folded`. */
static uint32_t
term_behind(const struct snapshot_terms *terms, struct span folded)
{
	uint32_t term = snapshot_term_at(terms, folded);

	while (term < terms->count &&
	    span_eq(snapshot_term_folded(terms, term), folded))
		term++;
	return term;
}

static void
set_run(struct filter_test *test, uint32_t first, uint32_t end)
{
	test->way = FILTER_TERM_RANGE;
	test->first = first;
	test->span = end - first;
}

static void
text_range(struct filter_test *test)
{
	const struct snapshot_terms *terms = &test->terms;
	struct span folded = test->condition->texts[0];

	switch (test->condition->op) {
	case CONDITION_GT:
		set_run(test, term_behind(terms, folded), terms->count);
		break;
	case CONDITION_GTE:
		set_run(test, snapshot_term_at(terms, folded), terms->count);
		break;
	case CONDITION_LT:
		set_run(test, 0, snapshot_term_at(terms, folded));
		break;
	default:
		set_run(test, 0, term_behind(terms, folded));
	}
}

/* --- patterns ------------------------------------------------------------- */

/* The first term after `from` that does not begin with the prefix. */
static uint32_t
behind_prefix(const struct snapshot_terms *terms, struct span prefix)
{
	char next[PREFIX_MAX];

	if (prefix.len == 0)
		return terms->count;
	/* UTF-8 has no byte 0xff: the last one can grow by 1. */
	memcpy(next, prefix.ptr, prefix.len);
	next[prefix.len - 1]++;
	return snapshot_term_at(terms, span_make(next, prefix.len));
}

static void
text_pattern(struct filter_test *test)
{
	const struct snapshot_terms *terms = &test->terms;
	struct span pattern = test->condition->texts[0];
	size_t star = span_find(pattern, '*');
	struct span prefix = span_sub(pattern, 0, star);

	if (star == pattern.len)
		set_run(test, snapshot_term_at(terms, pattern),
		    term_behind(terms, pattern));
	else if (star + 1 == pattern.len && star <= PREFIX_MAX)
		set_run(test, snapshot_term_at(terms, prefix),
		    behind_prefix(terms, prefix));
	else
		test->way = FILTER_TERM_TABLE;
}

static struct span
longest_piece(struct span pattern)
{
	struct span piece, rest = pattern, longest = SPAN("");

	while (span_cut(&piece, &rest, '*'))
		if (piece.len > longest.len)
			longest = piece;
	return longest;
}

static void
fill_by_pattern(struct filter_test *test)
{
	const struct snapshot_terms *terms = &test->terms;
	struct span pattern = test->condition->texts[0];
	struct span longest = longest_piece(pattern);
	const char *start = terms->folded.ptr, *from = start, *hit;
	const char *end = start + terms->folded.len;
	uint32_t next = 0;

	while (longest.len > 0 && next < terms->count &&
	    (hit = words_find(span_make(from, (size_t)(end - from)), end,
		 longest)) != NULL) {
		uint32_t term = words_which(terms->folded_at, next,
		    terms->count, (size_t)(hit - start));

		test->term_table[term] =
		    condition_like(snapshot_term_folded(terms, term), pattern);
		next = term + 1;
		from = start + terms->folded_at[next];
	}
	for (uint32_t i = 0; longest.len == 0 && i < terms->count; i++)
		test->term_table[i] = 1; /* only stars */
}

static uint32_t
find_text(const struct filter_test *test, unsigned i)
{
	return snapshot_term_find(&test->terms, test->condition->texts[i],
	    test->condition->folded[i]);
}

enum err
filter_text_table(struct filter_test *test)
{
	if (test->way != FILTER_TERM_TABLE || test->term_table != NULL)
		return ERR_OK;
	test->term_table = calloc(test->terms.count + 1u, 1);
	if (test->term_table == NULL)
		return ERR_NO_MEMORY;
	if (test->condition->kind == CONDITION_PATTERN) {
		if (!snapshot_terms_fit(&test->terms))
			return ERR_DAMAGED;
		fill_by_pattern(test);
		return ERR_OK;
	}
	for (unsigned i = 0; i < test->condition->count; i++) {
		uint32_t term = find_text(test, i);

		if (term != SNAP_NO_TERM)
			test->term_table[term] = 1;
	}
	return ERR_OK;
}

bool
filter_text_term(const struct filter_test *test, uint32_t term)
{
	const struct condition *condition = test->condition;
	struct span text;

	if (test->term_table != NULL)
		return test->term_table[term] != 0;
	if (condition->kind == CONDITION_PATTERN)
		return condition_like(snapshot_term_folded(&test->terms, term),
		    condition->texts[0]);
	text = snapshot_term(&test->terms, term);
	for (unsigned i = 0; i < condition->count; i++)
		if (span_eq(text, condition->texts[i]))
			return true;
	return false;
}

/* --- any of them ---------------------------------------------------------- */

static void
text_list(struct filter_test *test)
{
	uint32_t term;

	if (test->condition->count != 1) {
		test->way = FILTER_TERM_TABLE;
		return;
	}
	term = find_text(test, 0);
	set_run(test, term, term == SNAP_NO_TERM ? term : term + 1);
}

enum err
filter_text(struct filter_test *test, struct snapshot *snap)
{
	const struct condition *condition = test->condition;

	if (!snapshot_terms(snap, condition->column, &test->terms))
		return ERR_DAMAGED;
	if (condition->kind == CONDITION_NULL) {
		/* No term is null, so rows without a term are the rest. */
		set_run(test, 0, 0);
		test->nulls = !condition->negated;
	} else if (condition->kind == CONDITION_TEXT_LIST)
		text_list(test);
	else if (condition->kind == CONDITION_PATTERN)
		text_pattern(test);
	else
		text_range(test);
	return ERR_OK;
}

/* --- maps by store, where no totals are kept ------------------------------ */

/*
 * The sum of the numbers of "202501":1,"202502":2 up to a '}' or the end; with
 * `stock` the one of the month `newest`. NUM_NULL without any.
 */
static int64_t
months_total(struct span months, bool stock, int32_t newest)
{
	struct span member, rest = span_sub(months, 0, span_find(months, '}'));
	int64_t sum = NUM_NULL;

	while (rest.len > 0 && span_cut(&member, &rest, ',')) {
		size_t colon = span_find(member, ':');
		int64_t value;
		int32_t month;

		if (colon < 2 ||
		    !date_month(&month, span_sub(member, 1, colon - 2)) ||
		    !num_decimal(&value, span_from(member, colon + 1)) ||
		    (stock && month != newest))
			continue;
		if (sum == NUM_NULL)
			sum = 0;
		if (!num_add(&sum, sum, value))
			sum = value < 0 ? -INT64_MAX : INT64_MAX;
	}
	return sum;
}

int64_t
filter_store_total(struct span map, struct span key, bool stock, int32_t newest)
{
	const char *end = map.ptr + map.len, *from = map.ptr, *hit;

	while (map.len > 0 &&
	    (hit = memmem(from, (size_t)(end - from), key.ptr, key.len)) !=
		NULL) {
		/* A code within another is no key: a key follows '{' or ','. */
		if (hit > map.ptr && (hit[-1] == '{' || hit[-1] == ','))
			return months_total(span_make(hit + key.len,
						(size_t)(end - hit) - key.len),
			    stock, newest);
		from = hit + 1;
	}
	return NUM_NULL;
}
