/*
 * A random walk through all operations, held after each step against a model
 * that is written from the document's table and knows nothing of the store.
 * GRID_WALK_STEPS=20000 in the environment makes it longer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "lmdb-schema/state/proposal.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define STEPS 6000
#define ARTICLES 12
#define MANY 6 /* changes in one call, at most */

static const char letters[] = "-ABCYZ";
static const char *const authors[] = {"robot", "script", "agent"};

/* --- the model ------------------------------------------------------------ */

static struct article {
	char codein[4];
	char server, validated, pending; /* '-': none */
	const char *author; /* of the pending range */
	const char *buyer; /* of the validated range */
} model[ARTICLES];

static struct buf told; /* the audit entries that this step must bring */
static bool moved; /* this step changed what is pending or validated */

static char
recorded(const struct article *article)
{
	return article->validated != '-' ? article->validated : article->server;
}

static void
note(const char *event, const char *actor, const struct article *article,
    char gamme, char before)
{
	buf_addf(&told, "%s %s S %s %c %c\n", event, actor, article->codein,
	    gamme, before);
	moved = true;
}

static bool
model_propose(struct article *article, const char *author, char gamme)
{
	if (gamme == recorded(article)) {
		if (article->pending != '-')
			note("withdrawn", author, article, article->pending,
			    recorded(article));
		article->pending = '-';
		return false;
	}
	if (article->pending == '-')
		note("proposed", author, article, gamme, recorded(article));
	else if (article->pending != gamme || article->author != author)
		note("replaced", author, article, gamme, article->pending);
	article->pending = gamme;
	article->author = author;
	return true;
}

static void
model_record(struct article *article, const char *buyer, char gamme)
{
	article->validated = gamme == article->server ? '-' : gamme;
	article->buyer = buyer;
}

static void
model_save(struct article *article)
{
	char pending = article->pending, before = recorded(article);

	if (pending == '-')
		return;
	article->pending = '-';
	model_record(article, "buyer", pending);
	note("validated", "buyer", article, pending, before);
}

static void
model_cancel(struct article *article)
{
	if (article->pending != '-')
		note("rejected", "buyer", article, article->pending,
		    recorded(article));
	article->pending = '-';
}

static void
model_edit(struct article *article, char gamme)
{
	char before = recorded(article);

	if (article->pending == gamme) {
		model_save(article);
		return;
	}
	model_cancel(article);
	if (gamme == before)
		return;
	model_record(article, "buyer", gamme);
	note("edited", "buyer", article, gamme, before);
}

static void
model_settle(void)
{
	for (unsigned i = 0; i < ARTICLES; i++) {
		struct article *article = &model[i];

		if (article->validated == '-' ||
		    article->validated != article->server)
			continue;
		article->validated = '-';
		note("arrived", "import", article, article->server,
		    article->server);
	}
	for (unsigned i = 0; i < ARTICLES; i++) {
		struct article *article = &model[i];

		if (article->pending == '-' ||
		    article->pending != recorded(article))
			continue;
		note("withdrawn", "import", article, article->pending,
		    article->pending);
		article->pending = '-';
	}
}

static void
check_against_model(uint64_t last_audit)
{
	char text[ARTICLES * 32] = "";
	size_t len = 0;

	for (unsigned i = 0; i < ARTICLES; i++)
		if (model[i].pending != '-')
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%s=%c%s ", model[i].codein, model[i].pending,
			    model[i].author);
	ck_assert_str_eq(states_pending("S"), text);
	len = 0;
	text[0] = '\0';
	for (unsigned i = 0; i < ARTICLES; i++)
		if (model[i].validated != '-')
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%s=%c%s ", model[i].codein, model[i].validated,
			    model[i].buyer);
	ck_assert_str_eq(states_validated("S"), text);
	buf_add_char(&told, '\0');
	ck_assert_str_eq(states_audit(last_audit + 1), told.data);
}

/* --- the steps ------------------------------------------------------------ */

static unsigned
below(unsigned count)
{
	return (unsigned)(random_bits() >> 16) % count;
}

static struct article *
any_article(void)
{
	return &model[below(ARTICLES)];
}

static char
any_range(void)
{
	return letters[1 + below(ROW_GAMMES)];
}

/* An article may come twice, as long as both have the same range. */
static void
propose(void)
{
	struct proposal_change changes[MANY];
	struct proposal_result results[MANY];
	struct article *articles[MANY];
	const char *author = authors[below(3)];
	struct proposal_request request = {
	    SPAN("S"), span_of(author), changes, 1 + below(MANY)};
	char ranges[ARTICLES];
	int64_t when_ms;

	for (unsigned i = 0; i < ARTICLES; i++)
		ranges[i] = any_range();
	for (unsigned i = 0; i < request.count; i++) {
		articles[i] = any_article();
		changes[i].motif = SPAN("");
		changes[i].codein = span_of(articles[i]->codein);
		changes[i].gamme = states_code(ranges[articles[i] - model]);
	}
	ck_assert_int_eq(
	    proposal_deposit(states, &request, results, &when_ms), ERR_OK);
	for (unsigned i = 0; i < request.count; i++) {
		struct article *article = articles[i];

		ck_assert_int_eq(
		    states_letter(results[i].before), recorded(article));
		ck_assert_int_eq(
		    states_letter(results[i].server), article->server);
		ck_assert_int_eq(results[i].pending,
		    model_propose(article, author, ranges[article - model]));
	}
}

static void
model_decide(struct article *article, enum proposal_action action, char gamme)
{
	if (action == PROPOSAL_SAVE)
		model_save(article);
	else if (action == PROPOSAL_CANCEL)
		model_cancel(article);
	else
		model_edit(article, gamme);
}

/* Sometimes the buyer has seen older ranges. */
static void
decide(void)
{
	struct proposal_decision decision;
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .decisions = &decision,
	    .count = 1};
	struct article *article = any_article();
	char gamme = any_range(), saw = letters[below(6)];
	struct proposal_decided decided;
	uint64_t rest;
	bool same, gone;

	decision = (struct proposal_decision){(enum proposal_action)below(3),
	    span_of(article->codein), states_code(gamme),
	    states_code(recorded(article)),
	    states_code(below(4) == 0 ? saw : article->pending)};
	same = decision.seen_pending == states_code(article->pending);
	ck_assert_int_eq(
	    proposal_decide(states, &verdict, &decided, &rest), ERR_OK);
	gone = article->pending == '-' && decision.action != PROPOSAL_EDIT;
	ck_assert_int_eq(decided.outcome == PROPOSAL_CONFLICT, !same && !gone);
	ck_assert_int_eq(decided.outcome == PROPOSAL_ABSENT, gone);
	if (same)
		model_decide(article, decision.action, gamme);
	ck_assert_int_eq(states_letter(decided.recorded), recorded(article));
	ck_assert_int_eq(states_letter(decided.pending), article->pending);
}

static void
decide_all(void)
{
	bool save = below(2) == 0;
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .rest = save ? PROPOSAL_SAVE_REST : PROPOSAL_CANCEL_REST,
	    .seen_version = states_version("S")};
	uint64_t rest, pending = 0;

	for (unsigned i = 0; i < ARTICLES; i++)
		pending += model[i].pending != '-';
	ck_assert_int_eq(
	    proposal_decide(states, &verdict, NULL, &rest), ERR_OK);
	ck_assert_uint_eq(rest, pending);
	for (unsigned i = 0; i < ARTICLES; i++)
		model_decide(
		    &model[i], save ? PROPOSAL_SAVE : PROPOSAL_CANCEL, '-');
}

/* A crash may come between an import and settling its changes. */
static void
import(void)
{
	unsigned count = 1 + below(3);

	while (count-- > 0) {
		struct article *article = any_article();

		article->server = below(2) == 0 && article->validated != '-'
		    ? article->validated
		    : letters[below(6)];
		states_server("S", article->codein, article->server);
	}
}

static void
settle(void)
{
	struct proposal_settled settled;

	ck_assert_int_eq(
	    proposal_settle(states, SPAN("import"), true, &settled), ERR_OK);
	model_settle();
}

static void
reopen(void)
{
	states_close();
	states_open();
}

/*
 * The steps; a random number below 32 chooses the first with a larger `until`.
 */
static const struct {
	void (*run)(void);
	unsigned until;
} steps[] = {{propose, 16}, {decide, 25}, {decide_all, 26}, {import, 29},
    {settle, 31}, {reopen, 32}};

static void
step(void)
{
	unsigned throw = below(32), i = 0;

	while (throw >= steps[i].until)
		i++;
	steps[i].run();
}

START_TEST(every_step_is_as_the_table_says)
{
	uint64_t last = states_audit_last(), version;
	const char *wanted = getenv("GRID_WALK_STEPS");
	long count = wanted == NULL ? STEPS : strtol(wanted, NULL, 10);

	ck_assert_int_gt(count, 0);
	buf_init(&told, 1 << 20);
	for (unsigned i = 0; i < ARTICLES; i++) {
		snprintf(model[i].codein, sizeof(model[i].codein), "%02u", i);
		model[i].server = letters[i % 6];
		model[i].validated = model[i].pending = '-';
		states_server("S", model[i].codein, model[i].server);
	}
	version = states_version("S");
	for (long i = 0; i < count; i++) {
		buf_clear(&told);
		moved = false;
		step();
		check_against_model(last);
		ck_assert_int_eq(states_version("S") > version, moved);
		version = states_version("S");
		for (const char *at = told.data; *at != '\0'; at++)
			last += *at == '\n';
	}
	ck_assert_uint_eq(states_audit_last(), last);
	buf_fini(&told);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("proposal_walk");
	TCase *tc = tcase_create("proposal_walk");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, every_step_is_as_the_table_says);
	suite_add_tcase(suite, tc);
	return suite;
}
