#include "lmdb-schema/state/session.h"

#include <stdio.h>
#include <time.h>
#include <string.h>

#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/user.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define LIFE_MS INT64_C(43200000)
#define START_MS INT64_C(1700000000000)

static struct state_view *view;
static char token[SESSION_TOKEN_LEN + 1];

static void
make(void)
{
	states_make();
	ck_assert_int_eq(
	    user_add(states, SPAN("marie"), SPAN("long enough"), "test"),
	    ERR_OK);
	ck_assert_int_eq(session_login(states, SPAN("marie"),
			     SPAN("long enough"), LIFE_MS, START_MS, token),
	    ERR_OK);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
}

static void
drop(void)
{
	state_view_close(view);
	states_remove();
}

static enum err
check(struct session *session, const char *text, int64_t now_ms)
{
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	return session_check(session, view, span_of(text), LIFE_MS, now_ms);
}

START_TEST(a_session_is_its_users)
{
	struct session session;

	ck_assert_uint_eq(strlen(token), SESSION_TOKEN_LEN);
	ck_assert_int_eq(check(&session, token, START_MS), ERR_OK);
	ck_assert_str_eq(session.user, "marie");
	ck_assert_int_eq(session.created_ms, START_MS);
	ck_assert_int_eq(session.used_ms, START_MS);
}
END_TEST

START_TEST(only_the_tokens_hash_is_stored)
{
	struct kv_walk *walk;
	struct span key, value;
	uint8_t hash[DIGEST_SHA256_LEN];

	digest_sha256(hash, span_of(token));
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	walk = kv_walk_begin(
	    state_view_txn(view), STATE_SESSIONS, SPAN(""), SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert(span_eq(key, span_make(hash, sizeof(hash))));
	ck_assert_ptr_null(
	    memmem(value.ptr, value.len, token, SESSION_TOKEN_LEN));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(walk);
}
END_TEST

START_TEST(a_forged_token_is_refused)
{
	struct session session;
	char forged[SESSION_TOKEN_LEN + 1];

	for (unsigned i = 0; i < SESSION_TOKEN_LEN; i++) {
		memcpy(forged, token, sizeof(forged));
		forged[i] = forged[i] == 'x' ? 'y' : 'x';
		ck_assert_int_eq(check(&session, forged, START_MS), ERR_DENIED);
	}
	ck_assert_int_eq(check(&session, "", START_MS), ERR_DENIED);
	ck_assert_int_eq(check(&session, token + 1, START_MS), ERR_DENIED);
}
END_TEST

static const struct {
	int64_t after_ms;
	enum err err;
} ages[] = {
    {0, ERR_OK},
    {LIFE_MS - 1, ERR_OK},
    {LIFE_MS, ERR_DENIED},
    {2 * LIFE_MS, ERR_DENIED},
    {-1000, ERR_OK}, /* the clock was set back a little */
    {-LIFE_MS, ERR_DENIED},
};

START_TEST(a_session_lasts_its_lifetime_after_the_last_use)
{
	struct session session;

	ck_assert_int_eq(
	    check(&session, token, START_MS + ages[_i].after_ms), ages[_i].err);
}
END_TEST

START_TEST(use_prolongs_it_with_one_write_a_minute)
{
	struct session session;
	int64_t later = START_MS + LIFE_MS - 1;

	ck_assert_int_eq(check(&session, token, START_MS), ERR_OK);
	ck_assert(
	    !session_wants_touch(&session, START_MS + SESSION_TOUCH_MS - 1));
	ck_assert(session_wants_touch(&session, START_MS + SESSION_TOUCH_MS));
	ck_assert_int_eq(session_touch(states, &session, later), ERR_OK);
	ck_assert_int_eq(check(&session, token, START_MS + LIFE_MS), ERR_OK);
	ck_assert_int_eq(session.used_ms, later);
	ck_assert_str_eq(session.user, "marie");
	ck_assert_int_eq(session.created_ms, START_MS);
	/* A worker with an older time does not take it back. */
	ck_assert_int_eq(
	    session_touch(states, &session, START_MS + 60000), ERR_OK);
	ck_assert_int_eq(check(&session, token, START_MS + LIFE_MS), ERR_OK);
	ck_assert_int_eq(session.used_ms, later);
}
END_TEST

START_TEST(logout_ends_it_for_good)
{
	struct session session, again;

	ck_assert_int_eq(check(&session, token, START_MS), ERR_OK);
	ck_assert_int_eq(session_logout(states, span_of(token)), ERR_OK);
	ck_assert_int_eq(session_logout(states, span_of(token)), ERR_OK);
	ck_assert_int_eq(session_logout(states, SPAN("none")), ERR_OK);
	ck_assert_int_eq(check(&again, token, START_MS), ERR_DENIED);
	/* A request that was under way does not bring it back. */
	ck_assert_int_eq(
	    session_touch(states, &session, START_MS + 60000), ERR_OK);
	ck_assert_int_eq(check(&again, token, START_MS), ERR_DENIED);
}
END_TEST

START_TEST(password_and_removal_end_a_users_sessions_only)
{
	char other[SESSION_TOKEN_LEN + 1];
	struct session session;

	ck_assert_int_eq(
	    user_add(states, SPAN("paul"), SPAN("long enough"), "test"),
	    ERR_OK);
	ck_assert_int_eq(session_login(states, SPAN("paul"),
			     SPAN("long enough"), LIFE_MS, START_MS, other),
	    ERR_OK);
	if (_i == 0)
		ck_assert_int_eq(user_passwd(states, SPAN("marie"),
				     SPAN("another one"), "test"),
		    ERR_OK);
	else
		ck_assert_int_eq(
		    user_remove(states, SPAN("marie"), "test"), ERR_OK);
	ck_assert_int_eq(check(&session, token, START_MS), ERR_DENIED);
	ck_assert_int_eq(check(&session, other, START_MS), ERR_OK);
	ck_assert_str_eq(session.user, "paul");
}
END_TEST

START_TEST(what_is_over_is_swept_up)
{
	char other[SESSION_TOKEN_LEN + 1];
	uint64_t swept;

	ck_assert_int_eq(
	    session_sweep(states, LIFE_MS, START_MS, &swept), ERR_OK);
	ck_assert_uint_eq(swept, 0);
	/* A login removes them too, so that no other sweep is needed. */
	ck_assert_int_eq(
	    session_login(states, SPAN("marie"), SPAN("long enough"), LIFE_MS,
		START_MS + LIFE_MS, other),
	    ERR_OK);
	ck_assert_int_eq(
	    session_sweep(states, LIFE_MS, START_MS + LIFE_MS, &swept), ERR_OK);
	ck_assert_uint_eq(swept, 0);
	ck_assert_int_eq(
	    session_sweep(states, LIFE_MS, START_MS + 2 * LIFE_MS, &swept),
	    ERR_OK);
	ck_assert_uint_eq(swept, 1);
}
END_TEST

/* The median of some tries, so that one interruption does not count. */
#define TRIES 3

/*
 * The processor time of this thread, without waiting: the machine may be busy.
 */
static int64_t
work_ns(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t
login_ns(const char *name)
{
	char none[SESSION_TOKEN_LEN + 1];
	int64_t start = work_ns();

	ck_assert_int_eq(session_login(states, span_of(name),
			     SPAN("wrong password"), LIFE_MS, START_MS, none),
	    ERR_DENIED);
	ck_assert_str_eq(none, "");
	return work_ns() - start;
}

START_TEST(an_unknown_user_takes_as_long)
{
	int64_t known = INT64_MAX, unknown = INT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		int64_t one = login_ns("marie"), other = login_ns("nobody");

		known = one < known ? one : known;
		unknown = other < unknown ? other : unknown;
	}
	/*
	 * Both compute a hash of 64 MB; without the hash, one would be 1000
	 * times faster.
	 */
	ck_assert_int_lt(known, 2 * unknown);
	ck_assert_int_lt(unknown, 2 * known);
}
END_TEST

struct met {
	unsigned count, stop_at;
	char users[64];
};

static enum err
meet(void *context, struct span id, const struct session_record *record)
{
	struct met *met = context;
	size_t len = strlen(met->users);

	ck_assert_uint_eq(id.len, DIGEST_SHA256_LEN);
	ck_assert(!record->outside);
	snprintf(met->users + len, sizeof(met->users) - len, "%.*s ",
	    SPAN_ARG(record->user));
	return ++met->count == met->stop_at ? ERR_BUSY : ERR_OK;
}

START_TEST(each_session_is_met_over_or_not)
{
	struct met met = {.count = 0};
	char other[SESSION_TOKEN_LEN + 1];

	/* Just before it is over: else logging in would sweep it up. */
	ck_assert_int_eq(
	    session_login(states, SPAN("marie"), SPAN("long enough"), LIFE_MS,
		START_MS + LIFE_MS - 1, other),
	    ERR_OK);
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	ck_assert_int_eq(session_each(view, meet, &met), ERR_OK);
	ck_assert_str_eq(met.users, "marie marie ");
	met = (struct met){.stop_at = 1};
	ck_assert_int_eq(session_each(view, meet, &met), ERR_BUSY);
	ck_assert_uint_eq(met.count, 1);
	ck_assert_int_eq(session_logout(states, span_of(token)), ERR_OK);
	ck_assert_int_eq(session_logout(states, span_of(other)), ERR_OK);
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	met = (struct met){.count = 0};
	ck_assert_int_eq(session_each(view, meet, &met), ERR_OK);
	ck_assert_uint_eq(met.count, 0);
}
END_TEST

START_TEST(a_broken_session_stops_the_walk)
{
	struct met met = {.count = 0};
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, STATE_SESSIONS, SPAN("x"), SPAN("\xff")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	ck_assert_int_eq(session_each(view, meet, &met), ERR_DAMAGED);
}
END_TEST

START_TEST(a_damaged_session_ends_and_keeps_nobody_from_logging_in)
{
	struct session session;
	uint8_t id[DIGEST_SHA256_LEN];
	char other[SESSION_TOKEN_LEN + 1];

	quiet_begin();
	digest_sha256(id, span_of(token));
	spoil_one(store_state(states), STATE_SESSIONS,
	    scratch_path("data/state.mdb"), span_make(id, sizeof(id)));
	ck_assert_int_eq(check(&session, token, START_MS), ERR_DAMAGED);
	ck_assert_int_eq(session_login(states, SPAN("marie"),
			     SPAN("long enough"), LIFE_MS, START_MS, other),
	    ERR_OK);
	ck_assert_int_eq(check(&session, other, START_MS), ERR_OK);
	ck_assert_int_eq(check(&session, token, START_MS), ERR_DENIED);
}
END_TEST

START_TEST(a_person_from_outside_is_no_user_and_has_the_sessions_rights)
{
	const struct rights rights = {ROLE_BUYER, SPAN("S1\nS2\n")};
	struct session session;
	char other[SESSION_TOKEN_LEN + 1];

	ck_assert_int_eq(session_admit(states, SPAN("zoe@grid.example"),
			     &rights, LIFE_MS, START_MS, other),
	    ERR_OK);
	ck_assert_int_eq(check(&session, other, START_MS), ERR_OK);
	ck_assert_str_eq(session.user, "zoe@grid.example");
	ck_assert(session.outside);
	ck_assert_int_eq(session.rights.role, ROLE_BUYER);
	ck_assert(span_eq(session.rights.suppliers, SPAN("S1\nS2\n")));
	/* Writing the last use leaves the rights. */
	ck_assert_int_eq(
	    session_touch(states, &session, START_MS + SESSION_TOUCH_MS),
	    ERR_OK);
	ck_assert_int_eq(check(&session, other, START_MS + 1), ERR_OK);
	ck_assert_int_eq(session.used_ms, START_MS + SESSION_TOUCH_MS);
	ck_assert(session.outside);
	ck_assert(span_eq(session.rights.suppliers, SPAN("S1\nS2\n")));
	/* A user's session has none of its own. */
	ck_assert_int_eq(check(&session, token, START_MS), ERR_OK);
	ck_assert(!session.outside);
}
END_TEST

START_TEST(a_person_from_outside_can_be_put_out)
{
	const struct rights rights = {.role = ROLE_MANAGER};
	struct session session;
	char other[SESSION_TOKEN_LEN + 1];

	ck_assert_int_eq(session_admit(states, SPAN(" zoe"), &rights, LIFE_MS,
			     START_MS, other),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(session_admit(states, SPAN("zoe"), &rights, LIFE_MS,
			     START_MS, other),
	    ERR_OK);
	ck_assert_int_eq(user_remove(states, SPAN("zoe"), "test"), ERR_OK);
	ck_assert_int_eq(check(&session, other, START_MS), ERR_DENIED);
	ck_assert_int_eq(check(&session, token, START_MS), ERR_OK);
	ck_assert_int_eq(
	    user_remove(states, SPAN("zoe"), "test"), ERR_NOT_FOUND);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("session");
	TCase *tc = tcase_create("session");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_session_is_its_users);
	tcase_add_test(tc, only_the_tokens_hash_is_stored);
	tcase_add_test(tc, a_forged_token_is_refused);
	tcase_add_loop_test(tc, a_session_lasts_its_lifetime_after_the_last_use,
	    0, sizeof(ages) / sizeof(ages[0]));
	tcase_add_test(tc, use_prolongs_it_with_one_write_a_minute);
	tcase_add_test(tc, logout_ends_it_for_good);
	tcase_add_loop_test(
	    tc, password_and_removal_end_a_users_sessions_only, 0, 2);
	tcase_add_test(tc, what_is_over_is_swept_up);
	tcase_add_test(tc, an_unknown_user_takes_as_long);
	tcase_add_test(
	    tc, a_person_from_outside_is_no_user_and_has_the_sessions_rights);
	tcase_add_test(tc, a_person_from_outside_can_be_put_out);
	tcase_add_test(tc, each_session_is_met_over_or_not);
	tcase_add_test(tc, a_broken_session_stops_the_walk);
	tcase_add_test(
	    tc, a_damaged_session_ends_and_keeps_nobody_from_logging_in);
	suite_add_tcase(suite, tc);
	return suite;
}
