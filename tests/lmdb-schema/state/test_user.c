#include "lmdb-schema/state/user.h"

#include <stdio.h>
#include <string.h>

#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/state.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define HOUR_MS INT64_C(3600000)

static enum err
login(const char *name, const char *password)
{
	char token[SESSION_TOKEN_LEN + 1];

	return session_login(
	    states, span_of(name), span_of(password), HOUR_MS, HOUR_MS, token);
}

static enum err
add(const char *name, const char *password)
{
	return user_add(states, span_of(name), span_of(password), "test");
}

START_TEST(a_user_is_who_knows_the_password)
{
	ck_assert_int_eq(add("marie", "correct horse"), ERR_OK);
	ck_assert_int_eq(login("marie", "correct horse"), ERR_OK);
	ck_assert_int_eq(login("marie", "Correct horse"), ERR_DENIED);
	ck_assert_int_eq(login("marie", ""), ERR_DENIED);
	ck_assert_int_eq(login("mari", "correct horse"), ERR_DENIED);
	ck_assert_int_eq(login("", "correct horse"), ERR_DENIED);
	ck_assert_int_eq(add("marie", "another one"), ERR_EXISTS);
	ck_assert_int_eq(login("marie", "another one"), ERR_DENIED);
	ck_assert_str_eq(states_audit(0), "user-added test - marie - -\n");
}
END_TEST

static const struct {
	const char *name, *password;
} refusals[] = {
    {"", "long enough"},
    {" marie", "long enough"},
    {"marie ", "long enough"},
    {"ma\nrie", "long enough"},
    {"\xff", "long enough"},
    {"12345678901234567890123456789012345678901234567890123456789012345",
	"long enough"},
    {"marie", ""},
    {"marie", "1234567"},
};

START_TEST(names_and_passwords_that_will_not_do_are_refused)
{
	ck_assert_int_eq(
	    add(refusals[_i].name, refusals[_i].password), ERR_BAD_INPUT);
	ck_assert_str_eq(states_audit(0), "");
}
END_TEST

START_TEST(a_new_password_ends_the_old_one)
{
	ck_assert_int_eq(add("marie", "first password"), ERR_OK);
	ck_assert_int_eq(
	    user_passwd(states, SPAN("marie"), SPAN("second password"), "test"),
	    ERR_OK);
	ck_assert_int_eq(login("marie", "first password"), ERR_DENIED);
	ck_assert_int_eq(login("marie", "second password"), ERR_OK);
	ck_assert_int_eq(user_passwd(states, SPAN("pierre"),
			     SPAN("second password"), "test"),
	    ERR_NOT_FOUND);
}
END_TEST

START_TEST(a_user_renews_the_password_who_knows_it)
{
	ck_assert_int_eq(add("marie", "first password"), ERR_OK);
	ck_assert_int_eq(user_renew(states, SPAN("marie"),
			     SPAN("wrong password"), SPAN("second password")),
	    ERR_DENIED);
	ck_assert_int_eq(user_renew(states, SPAN("pierre"),
			     SPAN("first password"), SPAN("second password")),
	    ERR_DENIED);
	ck_assert_int_eq(user_renew(states, SPAN("marie"),
			     SPAN("first password"), SPAN("short")),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(login("marie", "first password"), ERR_OK);
	ck_assert_int_eq(user_renew(states, SPAN("marie"),
			     SPAN("first password"), SPAN("second password")),
	    ERR_OK);
	ck_assert_int_eq(login("marie", "first password"), ERR_DENIED);
	ck_assert_int_eq(login("marie", "second password"), ERR_OK);
}
END_TEST

START_TEST(who_is_removed_is_nobody)
{
	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(user_remove(states, SPAN("marie"), "test"), ERR_OK);
	ck_assert_int_eq(
	    user_remove(states, SPAN("marie"), "test"), ERR_NOT_FOUND);
	ck_assert_int_eq(login("marie", "long enough"), ERR_DENIED);
}
END_TEST

static struct rights
rights_now(const char *name)
{
	static char suppliers[64];
	struct state_view *view;
	struct user user;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(user_get(&user, view, span_of(name)), ERR_OK);
	ck_assert(
	    span_copy(suppliers, sizeof(suppliers), user.rights.suppliers));
	state_view_close(view);
	return (struct rights){user.rights.role, span_of(suppliers)};
}

START_TEST(a_user_without_a_role_is_an_administrator)
{
	struct state_view *view;
	struct unpack from;
	struct span value;
	struct rights rights;

	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	rights = rights_now("marie");
	ck_assert_int_eq(rights.role, ROLE_ADMINISTRATOR);
	ck_assert(rights_decide(&rights, SPAN("S1")));
	ck_assert(rights_share(&rights));
	/* As earlier programs write and read it. */
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    kv_get(state_view_txn(view), STATE_USERS, SPAN("marie"), &value),
	    ERR_OK);
	unpack_init(&from, value);
	unpack_text(&from);
	unpack_unsigned(&from);
	ck_assert(unpack_done(&from));
	state_view_close(view);
}
END_TEST

START_TEST(a_role_can_be_given_changed_and_taken_back)
{
	const struct rights buyer = {ROLE_BUYER, SPAN("S1\nS2\n")};
	const struct rights manager = {.role = ROLE_MANAGER};
	const struct rights all = {.role = ROLE_ADMINISTRATOR};
	struct rights rights;

	ck_assert_int_eq(user_add_as(states, SPAN("paul"), SPAN("long enough"),
			     &buyer, "test"),
	    ERR_OK);
	rights = rights_now("paul");
	ck_assert_int_eq(rights.role, ROLE_BUYER);
	ck_assert(rights_decide(&rights, SPAN("S2")));
	ck_assert(!rights_decide(&rights, SPAN("S")));
	ck_assert(!rights_decide(&rights, SPAN("S3")));
	ck_assert(!rights_share(&rights));
	/* Another password leaves the role. */
	ck_assert_int_eq(
	    user_passwd(states, SPAN("paul"), SPAN("second password"), "test"),
	    ERR_OK);
	ck_assert_int_eq(rights_now("paul").role, ROLE_BUYER);
	/* Another role leaves the password. */
	ck_assert_int_eq(
	    user_set_rights(states, SPAN("paul"), &manager, "test"), ERR_OK);
	rights = rights_now("paul");
	ck_assert(rights_decide(&rights, SPAN("S3")));
	ck_assert(rights_share(&rights));
	ck_assert_int_eq(login("paul", "second password"), ERR_OK);
	ck_assert_int_eq(
	    user_set_rights(states, SPAN("paul"), &all, "test"), ERR_OK);
	ck_assert_int_eq(rights_now("paul").role, ROLE_ADMINISTRATOR);
	ck_assert_int_eq(
	    user_set_rights(states, SPAN("none"), &all, "test"), ERR_NOT_FOUND);
	ck_assert_str_eq(states_audit(0),
	    "user-added test - paul - -\n"
	    "user-password test - paul - -\n"
	    "user-role test - paul - -\n"
	    "user-role test - paul - -\n");
}
END_TEST

START_TEST(a_buyer_without_a_list_decides_for_all)
{
	const struct rights buyer = {.role = ROLE_BUYER};

	ck_assert(rights_decide(&buyer, SPAN("S1")));
	ck_assert(!rights_share(&buyer));
}
END_TEST

START_TEST(rights_of_nobody_are_damage)
{
	static const struct span values[] = {
	    {"\x00\x00", 2}, /* no such role */
	    {"\x04\x00", 2}, {"\x02\x03S1\n", 5}, /* a manager with a list */
	    {"\x01", 1}, /* cut off */
	    {"\x01\x00\x00", 3}, /* and more */
	};
	struct unpack from;
	struct rights rights;

	unpack_init(&from, values[_i]);
	ck_assert(!rights_unpack(&rights, &from) || !unpack_done(&from));
}
END_TEST

static enum err
add_name(void *context, const struct user *user)
{
	char *text = context;
	size_t len = strlen(text);

	ck_assert_int_gt(user->created_ms, 0);
	snprintf(text + len, 64 - len, "%.*s ", SPAN_ARG(user->name));
	return ERR_OK;
}

START_TEST(users_come_in_order_and_move_the_generation)
{
	struct state_view *view;
	uint64_t before, after;
	char text[64] = "";

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(access_generation(view, &before), ERR_OK);
	ck_assert_int_eq(add("paul", "long enough"), ERR_OK);
	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	ck_assert_int_eq(access_generation(view, &after), ERR_OK);
	ck_assert_uint_gt(after, before);
	ck_assert_int_eq(user_each(view, add_name, text), ERR_OK);
	ck_assert_str_eq(text, "marie paul ");
	state_view_close(view);
}
END_TEST

START_TEST(a_damaged_user_can_be_removed_and_added_again)
{
	quiet_begin();
	ck_assert_int_eq(
	    user_add(states, SPAN("anne"), SPAN("long enough"), "test"),
	    ERR_OK);
	spoil_one(store_state(states), STATE_USERS,
	    scratch_path("data/state.mdb"), SPAN("anne"));
	ck_assert_int_eq(
	    user_add(states, SPAN("anne"), SPAN("long enough"), "test"),
	    ERR_DAMAGED);
	ck_assert_int_eq(user_remove(states, SPAN("anne"), "test"), ERR_OK);
	ck_assert_int_eq(
	    user_add(states, SPAN("anne"), SPAN("long enough"), "test"),
	    ERR_OK);
}
END_TEST

/* --- changes by administrators --------------------------------------------- */

static struct {
	uint8_t id[DIGEST_SHA256_LEN];
	char user[16];
} sessions[8];
static unsigned session_count;

static void
forget_sessions(void)
{
	session_count = 0;
}

/* Makes a change in a session of `user`, opened by the first call of a test. */
static enum err
change_by(const char *user, enum user_act act, const char *name, enum role role)
{
	unsigned at = 0;
	char token[SESSION_TOKEN_LEN + 1];

	while (at < session_count && strcmp(sessions[at].user, user) != 0)
		at++;
	if (at == session_count) {
		ck_assert_uint_lt(at, sizeof(sessions) / sizeof(sessions[0]));
		ck_assert(span_copy(sessions[at].user,
		    sizeof(sessions[at].user), span_of(user)));
		ck_assert_int_eq(
		    session_login(states, span_of(user), SPAN("long enough"),
			HOUR_MS, HOUR_MS, token),
		    ERR_OK);
		digest_sha256(sessions[session_count++].id, span_of(token));
	}
	return user_change_by(states,
	    &(struct user_change){
		act, span_of(name), SPAN("long enough too"), {.role = role}},
	    span_make(sessions[at].id, DIGEST_SHA256_LEN));
}

START_TEST(an_administrator_manages_users)
{
	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_ADD, "paul", ROLE_BUYER), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_ADD, "paul", ROLE_BUYER), ERR_EXISTS);
	ck_assert_int_eq(login("paul", "long enough too"), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_RIGHTS, "paul", ROLE_MANAGER), ERR_OK);
	ck_assert_int_eq(rights_now("paul").role, ROLE_MANAGER);
	ck_assert_int_eq(change_by("marie", USER_PASSWD, "paul", 0), ERR_OK);
	ck_assert_int_eq(change_by("marie", USER_REMOVE, "paul", 0), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_REMOVE, "paul", 0), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    change_by("marie", USER_PASSWD, "paul", 0), ERR_NOT_FOUND);
	ck_assert_str_eq(states_audit(2),
	    "user-added marie - paul - -\n"
	    "user-role marie - paul - -\n"
	    "user-password marie - paul - -\n"
	    "user-removed marie - paul - -\n");
}
END_TEST

START_TEST(nobody_else_does)
{
	static const struct rights manager = {.role = ROLE_MANAGER};
	uint8_t none[DIGEST_SHA256_LEN] = {0};

	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(user_add_as(states, SPAN("paul"), SPAN("long enough"),
			     &manager, "test"),
	    ERR_OK);
	for (enum user_act act = USER_ADD; act <= USER_REMOVE; act++)
		ck_assert_int_eq(
		    change_by("paul", act, act == USER_ADD ? "anne" : "marie",
			ROLE_ADMINISTRATOR),
		    ERR_DENIED);
	ck_assert_int_eq(
	    change_by("paul", USER_RIGHTS, "paul", ROLE_ADMINISTRATOR),
	    ERR_DENIED);
	ck_assert_int_eq(
	    user_change_by(states,
		&(struct user_change){.act = USER_REMOVE, .name = SPAN("paul")},
		span_make(none, sizeof(none))),
	    ERR_DENIED);
	ck_assert_int_eq(rights_now("paul").role, ROLE_MANAGER);
}
END_TEST

/* Both requests have passed the first check: the second one's right is gone. */
START_TEST(of_two_who_take_the_right_from_each_other_one_does)
{
	enum user_act act = _i == 0 ? USER_REMOVE : USER_RIGHTS;

	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(add("paul", "long enough"), ERR_OK);
	ck_assert_int_eq(
	    change_by("paul", USER_RIGHTS, "paul", ROLE_ADMINISTRATOR), ERR_OK);
	ck_assert_int_eq(change_by("marie", act, "paul", ROLE_BUYER), ERR_OK);
	ck_assert_int_eq(
	    change_by("paul", act, "marie", ROLE_BUYER), ERR_DENIED);
	ck_assert_int_eq(rights_now("marie").role, ROLE_ADMINISTRATOR);
}
END_TEST

START_TEST(the_last_administrator_stays)
{
	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_ADD, "anne", ROLE_BUYER), ERR_OK);
	ck_assert_int_eq(change_by("marie", USER_REMOVE, "marie", 0), ERR_LAST);
	ck_assert_int_eq(
	    change_by("marie", USER_RIGHTS, "marie", ROLE_MANAGER), ERR_LAST);
	ck_assert_int_eq(
	    change_by("marie", USER_RIGHTS, "marie", ROLE_ADMINISTRATOR),
	    ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_ADD, "paul", ROLE_ADMINISTRATOR), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_RIGHTS, "marie", ROLE_BUYER), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_REMOVE, "marie", 0), ERR_DENIED);
	/* The operator of the machine can help: none is needed. */
	ck_assert_int_eq(user_remove(states, SPAN("paul"), "test"), ERR_OK);
}
END_TEST

START_TEST(a_damaged_administrator_is_none)
{
	quiet_begin();
	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(add("anne", "long enough"), ERR_OK);
	ck_assert_int_eq(
	    change_by("marie", USER_RIGHTS, "anne", ROLE_ADMINISTRATOR),
	    ERR_OK);
	spoil_one(store_state(states), STATE_USERS,
	    scratch_path("data/state.mdb"), SPAN("anne"));
	ck_assert_int_eq(change_by("marie", USER_REMOVE, "marie", 0), ERR_LAST);
	ck_assert_int_eq(change_by("marie", USER_REMOVE, "anne", 0), ERR_OK);
}
END_TEST

/* From outside: the rights are the session's, and there is no user. */
START_TEST(an_administrator_from_outside_leaves_one_here)
{
	static const struct rights all = {.role = ROLE_ADMINISTRATOR};
	char token[SESSION_TOKEN_LEN + 1];
	uint8_t id[DIGEST_SHA256_LEN];
	struct user_change removal = {
	    .act = USER_REMOVE, .name = SPAN("marie")};

	ck_assert_int_eq(add("marie", "long enough"), ERR_OK);
	ck_assert_int_eq(add("anne", "long enough"), ERR_OK);
	ck_assert_int_eq(session_admit(states, SPAN("zoe@example.org"), &all,
			     HOUR_MS, HOUR_MS, token),
	    ERR_OK);
	digest_sha256(id, span_of(token));
	ck_assert_int_eq(
	    user_change_by(states, &removal, span_make(id, sizeof(id))),
	    ERR_OK);
	removal.name = SPAN("anne");
	ck_assert_int_eq(
	    user_change_by(states, &removal, span_make(id, sizeof(id))),
	    ERR_LAST);
	ck_assert_str_eq(
	    states_audit(3), "user-removed zoe@example.org - marie - -\n");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("user");
	TCase *tc = tcase_create("user");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_checked_fixture(tc, forget_sessions, NULL);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_user_is_who_knows_the_password);
	tcase_add_loop_test(tc,
	    names_and_passwords_that_will_not_do_are_refused, 0,
	    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tc, a_new_password_ends_the_old_one);
	tcase_add_test(tc, a_user_renews_the_password_who_knows_it);
	tcase_add_test(tc, who_is_removed_is_nobody);
	tcase_add_test(tc, a_user_without_a_role_is_an_administrator);
	tcase_add_test(tc, a_role_can_be_given_changed_and_taken_back);
	tcase_add_test(tc, a_buyer_without_a_list_decides_for_all);
	tcase_add_loop_test(tc, rights_of_nobody_are_damage, 0, 5);
	tcase_add_test(tc, users_come_in_order_and_move_the_generation);
	tcase_add_test(tc, a_damaged_user_can_be_removed_and_added_again);
	tcase_add_test(tc, an_administrator_manages_users);
	tcase_add_test(tc, nobody_else_does);
	tcase_add_loop_test(
	    tc, of_two_who_take_the_right_from_each_other_one_does, 0, 2);
	tcase_add_test(tc, the_last_administrator_stays);
	tcase_add_test(tc, a_damaged_administrator_is_none);
	tcase_add_test(tc, an_administrator_from_outside_leaves_one_here);
	suite_add_tcase(suite, tc);
	return suite;
}
