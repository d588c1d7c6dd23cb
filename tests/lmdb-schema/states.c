#include "tests/lmdb-schema/states.h"

#include <check.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_part.h"
#include "tests/lmdb-schema/by_hand.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/scratch.h"

#define TEXT_MAX ((size_t)1 << 26)

struct store *states;

void
states_open(void)
{
	struct fault fault;

	ck_assert_int_eq(
	    store_open(&states, scratch_path("data"), &fault), ERR_OK);
}

void
states_close(void)
{
	mirror_end(states);
	/* Opened anew, it is a machine's on its own, and no node's that is cut off. */
	if (states != NULL)
		ck_assert_int_eq(store_leave_log(states), ERR_OK);
	store_close(states);
	states = NULL;
}

void
states_make(void)
{
	struct fault fault;

	scratch_make();
	ck_assert_int_eq(store_create(scratch_path("data"), &fault), ERR_OK);
	states_open();
	mirror_begin(states);
}

void
states_remove(void)
{
	states_close();
	scratch_remove();
}

uint8_t
states_code(char letter)
{
	return row_gamme(letter == '-' ? SPAN("") : span_make(&letter, 1));
}

char
states_letter(uint8_t gamme)
{
	return gamme == ROW_GAMME_NONE ? '-' : row_gamme_text(gamme).ptr[0];
}

void
states_server(const char *supplier, const char *codein, char letter)
{
	struct live_change *change;

	change = hand_begin(states);
	ck_assert_int_eq(live_put_gamme(change, span_of(supplier),
			     span_of(codein), states_code(letter)),
	    ERR_OK);
	hand_commit(change);
}

bool
states_propose(const char *author, const char *codein, char letter)
{
	struct proposal_change change = {
	    .codein = span_of(codein), .gamme = states_code(letter)};
	struct proposal_request request = {
	    SPAN("S"), span_of(author), &change, 1};
	struct proposal_result result;
	int64_t when_ms;

	ck_assert_int_eq(
	    proposal_deposit(states, &request, &result, &when_ms), ERR_OK);
	return result.pending;
}

enum proposal_outcome
states_decide(enum proposal_action action, const char *codein, char letter)
{
	struct proposal_decision decision = {action, span_of(codein),
	    states_code(letter), PROPOSAL_ANY, PROPOSAL_ANY};
	struct proposal_verdict verdict = {.supplier = SPAN("S"),
	    .actor = SPAN("buyer"),
	    .decisions = &decision,
	    .count = 1};
	struct proposal_decided decided;
	uint64_t rest;

	ck_assert_int_eq(
	    proposal_decide(states, &verdict, &decided, &rest), ERR_OK);
	return decided.outcome;
}

/* --- months of the trail --------------------------------------------------- */

struct month_entries {
	int year, month; /* of all of them */
	unsigned count;
};

/* Entry i: of supplier S0 to S4, article A0 to A29, by one of three keys. */
static enum err
add_entries(void *context, struct kv_txn *txn)
{
	const struct month_entries *entries = context;
	int64_t day = date_day_of(entries->year, entries->month, 10);
	struct audit audit;
	enum err err = ERR_OK;

	audit_begin(&audit, txn);
	for (unsigned i = 0; i < entries->count && err == ERR_OK; i++) {
		char supplier[16], codein[16], actor[16];

		snprintf(supplier, sizeof(supplier), "S%u", i % 5);
		snprintf(codein, sizeof(codein), "A%u", i % 30);
		snprintf(actor, sizeof(actor), "key %u", i % 3);
		err = audit_note(&audit,
		    &(struct audit_entry){.when_ms = day * 86400000 + i,
			.event = SPAN("proposed"),
			.actor = span_of(actor),
			.supplier = span_of(supplier),
			.codein = span_of(codein),
			.gamme = SPAN("B"),
			.motif = i % 7 == 0 ? SPAN("why") : SPAN("")});
		if (err == ERR_OK)
			err = kv_put(txn, STATE_VERSIONS, span_of(supplier),
			    SPAN("\1\0\0\0\0\0\0\0"));
	}
	return audit_end(&audit, err);
}

void
states_month(int year, int month, unsigned count)
{
	struct month_entries entries = {year, month, count};

	ck_assert_int_eq(
	    store_write(states, STORE_STATE, add_entries, &entries), ERR_OK);
}

void
states_three_months(void)
{
	struct trail_closed closed;

	states_make();
	mirror_drop();
	states_month(2026, 1, 900);
	states_month(2026, 2, 100);
	states_month(2026, 3, 10);
	ck_assert_int_eq(
	    trail_close(&closed, states, TRAIL_PART_ENTRIES_MAX, INT64_MAX),
	    ERR_OK);
	ck_assert_uint_eq(closed.parts, 2);
}

/* --- reading -------------------------------------------------------------- */

static const char *
end_text(struct buf *text)
{
	buf_add_char(text, '\0');
	ck_assert_int_eq(buf_end(text), ERR_OK);
	return text->data;
}

static enum err
add_proposal(void *context, struct span codein, const struct proposal *proposal)
{
	ck_assert_int_gt(proposal->when_ms, 0);
	buf_addf(context, "%.*s=%c%.*s ", SPAN_ARG(codein),
	    states_letter(proposal->gamme), SPAN_ARG(proposal->author));
	return ERR_OK;
}

static struct buf *
cleared(struct buf *text)
{
	if (text->max == 0)
		buf_init(text, TEXT_MAX);
	buf_clear(text);
	return text;
}

const char *
states_pending(const char *supplier)
{
	static struct buf text;
	struct state_view *view;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(proposal_pending(view, span_of(supplier), add_proposal,
			     cleared(&text)),
	    ERR_OK);
	state_view_close(view);
	return end_text(&text);
}

const char *
states_validated(const char *supplier)
{
	static struct buf text;
	struct state_view *view;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(proposal_validated(view, span_of(supplier),
			     add_proposal, cleared(&text)),
	    ERR_OK);
	state_view_close(view);
	return end_text(&text);
}

uint64_t
states_version(const char *supplier)
{
	struct state_view *view;
	uint64_t version;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	version = proposal_version(view, span_of(supplier));
	state_view_close(view);
	return version;
}

static struct span
or_dash(struct span text)
{
	return text.len == 0 ? SPAN("-") : text;
}

static enum err
add_entry(void *context, const struct audit_entry *entry)
{
	ck_assert_int_gt(entry->when_ms, 0);
	buf_addf(context, "%.*s %.*s %.*s %.*s %.*s %.*s\n",
	    SPAN_ARG(entry->event), SPAN_ARG(entry->actor),
	    SPAN_ARG(or_dash(entry->supplier)), SPAN_ARG(entry->codein),
	    SPAN_ARG(or_dash(entry->gamme)), SPAN_ARG(or_dash(entry->before)));
	return ERR_OK;
}

const char *
states_audit(uint64_t number)
{
	static struct buf text;
	struct state_view *view;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    audit_each(view, number, add_entry, cleared(&text)), ERR_OK);
	state_view_close(view);
	return end_text(&text);
}

static enum err
keep_number(void *context, const struct audit_entry *entry)
{
	uint64_t *last = context;

	ck_assert_uint_eq(entry->number, *last + 1); /* without a gap */
	*last = entry->number;
	return ERR_OK;
}

uint64_t
states_audit_last(void)
{
	struct state_view *view;
	uint64_t last = 0;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(audit_each(view, 0, keep_number, &last), ERR_OK);
	state_view_close(view);
	return last;
}
