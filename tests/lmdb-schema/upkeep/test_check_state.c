#include <stdio.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/upkeep/check.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/lmdb-schema/states.h"
#include "tests/lmdb-schema/told.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define DAY_MS INT64_C(86400000)

static void
must_tell(const char *words)
{
	told_check(states);
	ck_assert_uint_eq(told_counts.damages, 1);
	told_must_have(words);
	ck_assert_msg(strstr(told, "state.mdb") == told, "told: %s", told);
}

/* A key, a user with a session, a proposal, a validated change. */
static void
make(void)
{
	const struct access_wish wish = {.name = SPAN("robot"),
	    .scope = ACCESS_READ,
	    .actor.name = "test",
	    .alone = true};
	char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];
	char token[SESSION_TOKEN_LEN + 1];

	states_make();
	ck_assert_int_eq(access_key_create(states, &wish, key, id), ERR_OK);
	ck_assert_int_eq(
	    user_add(states, SPAN("marie"), SPAN("long enough"), "test"),
	    ERR_OK);
	ck_assert_int_eq(session_login(states, SPAN("marie"),
			     SPAN("long enough"), DAY_MS, DAY_MS, token),
	    ERR_OK);
	ck_assert(states_propose("robot", "1", 'A'));
	ck_assert(states_propose("robot", "2", 'B'));
	ck_assert_int_eq(
	    states_decide(PROPOSAL_SAVE, "2", 'B'), PROPOSAL_APPLIED);
}

/* Puts or deletes a pair directly, without any check of the records. */
static void
spoil(unsigned table, struct span key, const struct span *value)
{
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(value == NULL ? kv_del(txn, table, key)
				       : kv_put(txn, table, key, *value),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

START_TEST(a_healthy_state_is_whole_and_counted)
{
	told_check(states);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.damages, 0);
	ck_assert_uint_eq(told_counts.people, 3);
	/* The pending one, the validated one, and what the trail says: a key,
	 * a user, two proposed, one validated. */
	ck_assert_uint_eq(told_counts.proposals, 2);
	ck_assert_uint_eq(told_counts.entries, 5);
	ck_assert_uint_eq(told_counts.references, 1);
}
END_TEST

/* Records that cannot be decoded: in each table, one of one byte. */
static const struct {
	unsigned table;
	const char *key, *words;
} torn[] = {
    {STATE_KEYS, "aaaaaaaaaa", "a key, user or session cannot be read"},
    {STATE_USERS, "paul", "a key, user or session cannot be read"},
    {STATE_SESSIONS, "x", "a key, user or session cannot be read"},
    {STATE_AUDIT, "\xff\xff\xff\xff\xff\xff\xff\xff",
	"a proposal or an entry of the audit trail cannot be read"},
};

START_TEST(a_record_that_cannot_be_decoded_is_told)
{
	const struct span value = SPAN("\xff");

	spoil(torn[_i].table, span_of(torn[_i].key), &value);
	must_tell(torn[_i].words);
	ck_assert_msg(strstr(told, "restore a backup") != NULL, "%s", told);
}
END_TEST

static void
spoil_article(unsigned table, const char *codein, struct span value)
{
	char key[32];
	int len = snprintf(key, sizeof(key), "S%c%s", '\0', codein);

	spoil(table, span_make(key, (size_t)len), &value);
}

START_TEST(a_proposal_that_cannot_be_decoded_is_told)
{
	static const unsigned tables[] = {STATE_PENDING, STATE_VALIDATED};

	spoil_article(tables[_i], "3", SPAN("\x01Q"));
	must_tell("a proposal or an entry of the audit trail cannot be read");
}
END_TEST

START_TEST(a_proposal_without_author_is_told)
{
	struct buf value;

	buf_init(&value, 64);
	pack_add_text(&value, SPAN("A"));
	pack_add_text(&value, SPAN(""));
	pack_add_unsigned(&value, 1);
	spoil_article(STATE_PENDING, "3", buf_span(&value));
	buf_fini(&value);
	must_tell("the range of article 3 of supplier S has no author");
}
END_TEST

START_TEST(a_session_of_nobody_is_told)
{
	spoil(STATE_USERS, SPAN("marie"), NULL);
	must_tell("a session of marie, who is no user");
}
END_TEST

START_TEST(an_entry_missing_in_the_trail_is_told)
{
	static const char second[8] = {0, 0, 0, 0, 0, 0, 0, 2};

	spoil(STATE_AUDIT, span_make(second, sizeof(second)), NULL);
	must_tell("the audit trail lacks entry 2");
}
END_TEST

static void
look(const char *table, struct span key)
{
	char text[KV_KEY_TEXT_MAX], words[KV_KEY_TEXT_MAX + 64];

	kv_key_text(text, key);
	snprintf(words, sizeof(words),
	    "record %s of table %s does not match its checksum", text, table);
	must_tell(words);
}

/* Each record of each table: none is reported twice, or by another's name. */
START_TEST(a_flipped_bit_in_any_value_is_told_by_its_record)
{
	ck_assert_uint_gt(spoil_each(store_state(states), (unsigned)_i,
			      scratch_path("data/state.mdb"), look),
	    4);
	told_check(states);
	ck_assert_str_eq(told, "");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("check_state");
	TCase *tc = tcase_create("check_state");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, a_healthy_state_is_whole_and_counted);
	tcase_add_loop_test(tc, a_record_that_cannot_be_decoded_is_told, 0,
	    sizeof(torn) / sizeof(torn[0]));
	tcase_add_loop_test(
	    tc, a_proposal_that_cannot_be_decoded_is_told, 0, 2);
	tcase_add_test(tc, a_proposal_without_author_is_told);
	tcase_add_test(tc, a_session_of_nobody_is_told);
	tcase_add_test(tc, an_entry_missing_in_the_trail_is_told);
	tcase_add_loop_test(tc,
	    a_flipped_bit_in_any_value_is_told_by_its_record, 0, STATE_TABLES);
	suite_add_tcase(suite, tc);
	return suite;
}
