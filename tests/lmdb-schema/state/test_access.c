#include "lmdb-schema/state/access.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/digest.h"
#include "common/kv/kv.h"
#include "lmdb-schema/state/session.h"
#include "lmdb-schema/state/user.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct state_view *view;
static const struct access_actor tester = {.name = "test"};
static char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];

static enum err
create(const char *name, bool alone, char new_key[ACCESS_KEY_MAX],
    char new_id[ACCESS_ID_LEN + 1])
{
	const struct access_wish wish = {.name = span_of(name),
	    .scope = ACCESS_PROPOSE,
	    .actor.name = "test",
	    .alone = alone};

	return access_key_create(states, &wish, new_key, new_id);
}

static void
make(void)
{
	states_make();
	ck_assert_int_eq(create("robot", true, key, id), ERR_OK);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
}

static void
drop(void)
{
	state_view_close(view);
	states_remove();
}

static enum err
check(struct access_key *out, const char *text)
{
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	return access_key_check(out, view, span_of(text));
}

START_TEST(a_key_says_who_may_do_what)
{
	struct access_key found;

	ck_assert_int_eq(check(&found, key), ERR_OK);
	ck_assert(span_eq(found.id, span_of(id)));
	ck_assert(span_eq(found.name, SPAN("robot")));
	ck_assert_int_eq(found.scope, ACCESS_PROPOSE);
	ck_assert_int_gt(found.created_ms, 0);
	ck_assert_int_eq(found.used_ms, 0);
	ck_assert_ptr_nonnull(strstr(states_audit(0), "key-created test - "));
	ck_assert_ptr_nonnull(strstr(states_audit(0), id));
}
END_TEST

START_TEST(the_key_itself_is_not_stored)
{
	uint8_t hash[DIGEST_SHA256_LEN];
	struct span value;

	digest_sha256(hash, span_of(key));
	ck_assert_int_eq(
	    kv_get(state_view_txn(view), STATE_KEYS, span_of(id), &value),
	    ERR_OK);
	ck_assert_ptr_nonnull(memmem(value.ptr, value.len, hash, sizeof(hash)));
	ck_assert_ptr_null(
	    memmem(value.ptr, value.len, key + strlen(key) - 20, 20));
}
END_TEST

START_TEST(a_key_with_one_wrong_byte_is_refused)
{
	struct access_key found;
	char forged[ACCESS_KEY_MAX];

	for (size_t i = 0; i < strlen(key); i++) {
		memcpy(forged, key, sizeof(forged));
		forged[i] = forged[i] == 'x' ? 'y' : 'x';
		ck_assert_int_eq(check(&found, forged), ERR_DENIED);
	}
	memcpy(forged, key, sizeof(forged));
	forged[strlen(forged) - 1] = '\0';
	ck_assert_int_eq(check(&found, forged), ERR_DENIED);
	ck_assert_int_eq(check(&found, ""), ERR_DENIED);
	ck_assert_int_eq(check(&found, id), ERR_DENIED);
}
END_TEST

START_TEST(a_revoked_key_is_refused_for_ever)
{
	struct access_key found;
	uint64_t before, after;

	ck_assert_int_eq(access_generation(view, &before), ERR_OK);
	ck_assert_int_eq(
	    access_key_revoke(states, span_of(id), &tester), ERR_OK);
	ck_assert_int_eq(check(&found, key), ERR_DENIED);
	ck_assert_int_eq(access_generation(view, &after), ERR_OK);
	ck_assert_uint_gt(after, before);
	ck_assert_int_eq(
	    access_key_revoke(states, span_of(id), &tester), ERR_EXISTS);
	ck_assert_int_eq(
	    access_key_revoke(states, SPAN("nothing"), &tester), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    access_key_revoke(states, SPAN(""), &tester), ERR_NOT_FOUND);
}
END_TEST

/* Of a user who is an administrator until `role` is given. */
static struct access_actor
actor_who_becomes(enum role role)
{
	static uint8_t session[DIGEST_SHA256_LEN];
	const struct rights rights = {.role = role};
	char token[SESSION_TOKEN_LEN + 1];

	ck_assert_int_eq(
	    user_add(states, SPAN("marie"), SPAN("long enough"), "test"),
	    ERR_OK);
	ck_assert_int_eq(session_login(states, SPAN("marie"),
			     SPAN("long enough"), 1000, 1000, token),
	    ERR_OK);
	digest_sha256(session, span_of(token));
	ck_assert_int_eq(
	    user_set_rights(states, SPAN("marie"), &rights, "test"), ERR_OK);
	return (struct access_actor){
	    .session = span_make(session, sizeof(session))};
}

/* The request has passed the first check: the right is gone since. */
START_TEST(keys_are_changed_by_who_is_an_administrator_when_it_is_written)
{
	bool may = _i == 1;
	const struct access_actor actor =
	    actor_who_becomes(may ? ROLE_ADMINISTRATOR : ROLE_MANAGER);
	const struct access_wish wish = {
	    .name = SPAN("new"), .scope = ACCESS_READ, .actor = actor};
	char new_key[ACCESS_KEY_MAX], new_id[ACCESS_ID_LEN + 1];
	struct access_key found;
	uint64_t last = states_audit_last();

	ck_assert_int_eq(access_key_create(states, &wish, new_key, new_id),
	    may ? ERR_OK : ERR_DENIED);
	ck_assert_int_eq(access_key_revoke(states, span_of(id), &actor),
	    may ? ERR_OK : ERR_DENIED);
	ck_assert_int_eq(check(&found, key), may ? ERR_DENIED : ERR_OK);
	ck_assert_uint_eq(states_audit_last(), last + (may ? 2 : 0));
	if (may)
		ck_assert_ptr_nonnull(
		    strstr(states_audit(last + 1), "key-created marie"));
}
END_TEST

START_TEST(last_use_only_moves_on)
{
	struct access_use uses[2] = {{"", 2000}, {"missing", 2000}};
	struct access_key found;

	memcpy(uses[0].id, id, sizeof(uses[0].id));
	ck_assert_int_eq(access_note_uses(states, uses, 2), ERR_OK);
	ck_assert_int_eq(check(&found, key), ERR_OK);
	ck_assert_int_eq(found.used_ms, 2000);
	uses[0].used_ms = 1000;
	ck_assert_int_eq(access_note_uses(states, uses, 1), ERR_OK);
	ck_assert_int_eq(check(&found, key), ERR_OK);
	ck_assert_int_eq(found.used_ms, 2000);
	ck_assert_int_eq(found.scope, ACCESS_PROPOSE);
}
END_TEST

static const struct {
	const char *text;
	bool ok;
} names[] = {{"a", true}, {"été à Nîmes", true}, {"", false}, {"a\tb", false},
    {"\x7f", false}, {"\xc3", false},
    {"1234567890123456789012345678901234567890123456789012345678901234", true},
    {"12345678901234567890123456789012345678901234567890123456789012345",
	false}};

START_TEST(names_are_short_clean_text)
{
	ck_assert_int_eq(access_name_ok(span_of(names[_i].text)), names[_i].ok);
}
END_TEST

START_TEST(scopes_have_names)
{
	enum access_scope scope;

	ck_assert(access_scope(&scope, SPAN("read")));
	ck_assert_int_eq(scope, ACCESS_READ);
	ck_assert_str_eq(access_scope_text(scope), "read");
	ck_assert(access_scope(&scope, SPAN("propose")));
	ck_assert_int_eq(scope, ACCESS_PROPOSE);
	ck_assert_str_eq(access_scope_text(scope), "propose");
	ck_assert(!access_scope(&scope, SPAN("")));
	ck_assert(!access_scope(&scope, SPAN("Read")));
}
END_TEST

static enum err
count_key(void *context, const struct access_key *found)
{
	unsigned *count = context;

	++*count;
	return found->name.len > 0 ? ERR_OK : ERR_INTERNAL;
}

START_TEST(all_keys_are_listed)
{
	char other[ACCESS_KEY_MAX], other_id[ACCESS_ID_LEN + 1];
	unsigned count = 0;

	ck_assert_int_eq(create("other", true, other, other_id), ERR_OK);
	ck_assert_int_eq(
	    access_key_revoke(states, span_of(id), &tester), ERR_OK);
	ck_assert_int_eq(state_view_renew(view), ERR_OK);
	ck_assert_int_eq(access_key_each(view, count_key, &count), ERR_OK);
	ck_assert_uint_eq(count, 2);
}
END_TEST

/* Keys created at the same moment, by threads that all found the name free. */
static void *
create_same(void *result)
{
	char other[ACCESS_KEY_MAX], other_id[ACCESS_ID_LEN + 1];

	*(enum err *)result = create("one", true, other, other_id);
	return NULL;
}

START_TEST(of_those_who_want_one_name_alone_one_gets_it)
{
	enum err errs[8];
	pthread_t threads[8];
	unsigned made = 0;

	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, create_same, &errs[i]),
		    0);
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		ck_assert(errs[i] == ERR_OK || errs[i] == ERR_EXISTS);
		made += errs[i] == ERR_OK;
	}
	ck_assert_uint_eq(made, 1);
}
END_TEST

START_TEST(a_name_is_free_again_once_its_key_is_revoked)
{
	char other[ACCESS_KEY_MAX], first[ACCESS_ID_LEN + 1];
	char second[ACCESS_ID_LEN + 1];

	ck_assert_int_eq(create("robot", true, other, second), ERR_EXISTS);
	ck_assert_int_eq(create("robot", false, other, first), ERR_OK);
	ck_assert_int_eq(
	    access_key_revoke(states, span_of(id), &tester), ERR_OK);
	ck_assert_int_eq(create("robot", true, other, second), ERR_EXISTS);
	ck_assert_int_eq(
	    access_key_revoke(states, span_of(first), &tester), ERR_OK);
	ck_assert_int_eq(create("robot", true, other, second), ERR_OK);
}
END_TEST

START_TEST(what_bounds_a_key_is_kept)
{
	const struct access_wish wish = {.name = SPAN("bound"),
	    .scope = ACCESS_READ,
	    .actor.name = "test",
	    .bounds = {.expires_ms = INT64_C(4000000000000),
		.per_minute = 60,
		.suppliers = SPAN("A\nB C\n")}};
	char bound[ACCESS_KEY_MAX], bound_id[ACCESS_ID_LEN + 1];
	const struct access_use use = {.used_ms = 1};
	struct access_use used = use;
	struct access_key found;

	ck_assert_int_eq(
	    access_key_create(states, &wish, bound, bound_id), ERR_OK);
	memcpy(used.id, bound_id, sizeof(used.id));
	ck_assert_int_eq(access_note_uses(states, &used, 1), ERR_OK);
	ck_assert_int_eq(check(&found, bound), ERR_OK);
	ck_assert_int_eq(found.bounds.expires_ms, wish.bounds.expires_ms);
	ck_assert_int_eq(found.bounds.per_minute, 60);
	ck_assert(access_sees(found.bounds.suppliers, SPAN("A")));
	ck_assert(access_sees(found.bounds.suppliers, SPAN("B C")));
	ck_assert(!access_sees(found.bounds.suppliers, SPAN("B")));
	ck_assert(!access_sees(found.bounds.suppliers, SPAN("")));
	ck_assert(access_sees(SPAN(""), SPAN("any")));
}
END_TEST

START_TEST(a_key_is_valid_until_its_end)
{
	struct access_key some = {.bounds = {.expires_ms = 1000}};

	ck_assert(access_key_valid(&some, 999));
	ck_assert(!access_key_valid(&some, 1000));
	some.bounds.expires_ms = 0;
	ck_assert(access_key_valid(&some, INT64_MAX));
	some.revoked_ms = 1;
	ck_assert(!access_key_valid(&some, 0));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("access");
	TCase *tc = tcase_create("access");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, a_key_says_who_may_do_what);
	tcase_add_test(tc, the_key_itself_is_not_stored);
	tcase_add_test(tc, a_key_with_one_wrong_byte_is_refused);
	tcase_add_test(tc, a_revoked_key_is_refused_for_ever);
	tcase_add_loop_test(tc,
	    keys_are_changed_by_who_is_an_administrator_when_it_is_written, 0,
	    2);
	tcase_add_test(tc, last_use_only_moves_on);
	tcase_add_loop_test(tc, names_are_short_clean_text, 0,
	    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, scopes_have_names);
	tcase_add_test(tc, all_keys_are_listed);
	tcase_add_test(tc, of_those_who_want_one_name_alone_one_gets_it);
	tcase_add_test(tc, a_name_is_free_again_once_its_key_is_revoked);
	tcase_add_test(tc, what_bounds_a_key_is_kept);
	tcase_add_test(tc, a_key_is_valid_until_its_end);
	suite_add_tcase(suite, tc);
	return suite;
}
