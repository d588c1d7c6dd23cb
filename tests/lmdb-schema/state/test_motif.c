/* tests/lmdb-schema/state/test_motif.c: why a range is proposed */
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static enum err
propose(const char *author, char letter, struct span motif)
{
	struct proposal_change change = {SPAN("1"), states_code(letter), motif};
	const struct proposal_request request = {
	    SPAN("S"), span_of(author), &change, 1};
	struct proposal_result result;
	int64_t when_ms;

	return proposal_deposit(states, &request, &result, &when_ms);
}

/* The motif of the pending or the validated range. */
static void
check_motif(enum err (*of)(struct state_view *view, struct span supplier,
		struct span codein, struct proposal *proposal),
    const char *motif)
{
	struct state_view *view;
	struct proposal made;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(of(view, SPAN("S"), SPAN("1"), &made), ERR_OK);
	ck_assert(span_eq(made.motif, span_of(motif)));
	state_view_close(view);
}

static enum err
add_line(void *context, const struct audit_entry *entry)
{
	buf_addf(context, "%.*s %.*s by %.*s (%.*s)%s\n",
	    SPAN_ARG(entry->event), SPAN_ARG(entry->recorded),
	    SPAN_ARG(entry->author), SPAN_ARG(entry->motif),
	    entry->proposed_ms > 0 ? "!" : "");
	return ERR_OK;
}

static void
check_trail(const char *want)
{
	struct state_view *view;
	struct buf text;

	buf_init(&text, 1 << 16);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(audit_each(view, 0, add_line, &text), ERR_OK);
	state_view_close(view);
	buf_add_char(&text, '\0');
	ck_assert_str_eq(text.data, want);
	buf_fini(&text);
}

START_TEST(a_motif_stays_with_the_range)
{
	states_server("S", "1", 'A');
	ck_assert_int_eq(propose("key", 'B', SPAN("invendu")), ERR_OK);
	check_motif(proposal_pending_of, "invendu");
	ck_assert_int_eq(
	    states_decide(PROPOSAL_SAVE, "1", '-'), PROPOSAL_APPLIED);
	check_motif(proposal_validated_of, "invendu");
	check_trail("proposed A by  (invendu)\n"
		    "validated B by key (invendu)!\n");
}
END_TEST

START_TEST(another_motif_is_another_proposal)
{
	states_server("S", "1", 'A');
	ck_assert_int_eq(propose("key", 'B', SPAN("one")), ERR_OK);
	ck_assert_int_eq(propose("key", 'B', SPAN("one")), ERR_OK);
	ck_assert_int_eq(propose("key", 'B', SPAN("")), ERR_OK);
	check_motif(proposal_pending_of, "one");
	ck_assert_int_eq(propose("key", 'B', SPAN("two")), ERR_OK);
	ck_assert_int_eq(propose("other", 'C', SPAN("")), ERR_OK);
	check_motif(proposal_pending_of, "");
	ck_assert_int_eq(
	    states_decide(PROPOSAL_CANCEL, "1", '-'), PROPOSAL_APPLIED);
	check_trail("proposed A by  (one)\nreplaced A by key (two)!\n"
		    "replaced A by key ()!\nrejected A by other ()!\n");
}
END_TEST

START_TEST(a_motif_is_one_line_of_500_characters)
{
	char text[PROPOSAL_MOTIF_BYTES + 2];

	for (unsigned i = 0; i < PROPOSAL_MOTIF_BYTES; i += 4)
		memcpy(text + i, "\xf0\x9f\x8d\xba", 4);
	ck_assert_int_eq(
	    propose("k", 'B', span_make(text, PROPOSAL_MOTIF_BYTES)), ERR_OK);
	memset(text, 'a', sizeof(text));
	ck_assert(proposal_motif_ok(span_make(text, 500)));
	ck_assert(!proposal_motif_ok(span_make(text, 501)));
	ck_assert(!proposal_motif_ok(SPAN("a\nb")));
	ck_assert(!proposal_motif_ok(SPAN("a\x7f")));
	ck_assert(!proposal_motif_ok(SPAN("\xc3")));
	ck_assert_int_eq(propose("k", 'C', SPAN("a\nb")), ERR_BAD_INPUT);
}
END_TEST

/* As every version before wrote it: range, author, time. */
static void
pack_plain(struct buf *value, uint64_t when_ms)
{
	buf_init(value, 100);
	pack_add_text(value, SPAN("B"));
	pack_add_text(value, SPAN("key"));
	pack_add_unsigned(value, when_ms);
}

START_TEST(without_a_motif_a_record_is_as_it_always_was)
{
	struct key key = key_pair(SPAN("S"), SPAN("1"));
	struct state_view *view;
	struct proposal made;
	struct span value;
	struct buf plain;

	ck_assert_int_eq(propose("key", 'B', SPAN("")), ERR_OK);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    proposal_pending_of(view, SPAN("S"), SPAN("1"), &made), ERR_OK);
	ck_assert_int_eq(
	    kv_get(state_view_txn(view), STATE_PENDING, key_span(&key), &value),
	    ERR_OK);
	pack_plain(&plain, (uint64_t)made.when_ms);
	ck_assert(span_eq(value, buf_span(&plain)));
	state_view_close(view);
	buf_fini(&plain);
}
END_TEST

static enum err
put_plain(void *context, struct kv_txn *txn)
{
	struct key key = key_pair(SPAN("S"), SPAN("1"));

	return kv_put(txn, STATE_PENDING, key_span(&key), buf_span(context));
}

START_TEST(a_record_of_an_earlier_version_is_read)
{
	struct buf plain;

	states_server("S", "1", 'A');
	ck_assert_int_eq(propose("key", 'C', SPAN("gone")), ERR_OK);
	pack_plain(&plain, 1000);
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, put_plain, &plain), ERR_OK);
	check_motif(proposal_pending_of, "");
	ck_assert_str_eq(states_pending("S"), "1=Bkey ");
	ck_assert_int_eq(
	    states_decide(PROPOSAL_SAVE, "1", '-'), PROPOSAL_APPLIED);
	check_motif(proposal_validated_of, "");
	buf_fini(&plain);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("motif");
	TCase *tc = tcase_create("motif");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, a_motif_stays_with_the_range);
	tcase_add_test(tc, another_motif_is_another_proposal);
	tcase_add_test(tc, a_motif_is_one_line_of_500_characters);
	tcase_add_test(tc, without_a_motif_a_record_is_as_it_always_was);
	tcase_add_test(tc, a_record_of_an_earlier_version_is_read);
	suite_add_tcase(suite, tc);
	return suite;
}
