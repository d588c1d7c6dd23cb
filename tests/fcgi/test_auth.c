/* tests/fcgi/test_auth.c: fcgi/auth.h */
#include "fcgi/auth.h"

#include <stdio.h>

#include "fcgi/key_uses.h"
#include "fcgi/server.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

static char bearer[128];

/* KEY stands for the key. */
static struct span
with_key(const char *text)
{
	const char *at = text == NULL ? NULL : strstr(text, "KEY");

	if (at == NULL)
		return span_of(text);
	snprintf(bearer, sizeof(bearer), "%.*s%s%s", (int)(at - text), text,
	    world_key(), at + 3);
	return span_of(bearer);
}

static const struct {
	const char *api_key, *authorization;
	enum err err;
} callers[] = {
    {NULL, NULL, ERR_DENIED},
    {"", "", ERR_DENIED},
    {"KEY", NULL, ERR_OK},
    {"KEYx", NULL, ERR_DENIED},
    {"grid_", NULL, ERR_DENIED},
    {NULL, "Bearer KEY", ERR_OK},
    {NULL, "BEARER  KEY ", ERR_OK},
    {"", "Bearer KEY", ERR_OK},
    {"no", "Bearer KEY", ERR_DENIED},
    {NULL, "KEY", ERR_DENIED},
    {NULL, "Bearer", ERR_DENIED},
    {NULL, "Bearer ", ERR_DENIED},
    {NULL, "BearerKEY", ERR_DENIED},
    {NULL, "Basic KEY", ERR_DENIED},
};

START_TEST(who_calls_is_known_by_the_key)
{
	struct call call;

	world.request.api_key = with_key(callers[_i].api_key);
	world.request.authorization = with_key(callers[_i].authorization);
	call = world_call();
	ck_assert_int_eq(auth_subject(&call), callers[_i].err);
	if (callers[_i].err == ERR_OK) {
		ck_assert_int_eq(call.subject.kind, SUBJECT_KEY);
		ck_assert(span_eq(call.subject.name, SPAN("test")));
		ck_assert_uint_eq(call.subject.id.len, ACCESS_ID_LEN);
		ck_assert(!call.subject.may_propose);
	} else
		ck_assert_int_eq(call.subject.kind, SUBJECT_NOBODY);
}
END_TEST

static struct subject subject;

/* The caller with this key, through views of now. */
static enum err
who_has(const char *key)
{
	struct call call;
	enum err err;

	views_rest(&world.serving->views);
	world.request.api_key = span_of(key);
	call = world_call();
	err = auth_subject(&call);
	subject = call.subject;
	return err;
}

/* Keys are remembered when they were good; of now is what they may do. */
START_TEST(a_key_is_what_it_is_now)
{
	static const struct access_wish wish = {.name = {"other", 5},
	    .scope = ACCESS_PROPOSE,
	    .actor.name = "test"};
	char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];
	char *last = key;

	ck_assert_int_eq(who_has(world_key()), ERR_OK);
	ck_assert_int_eq(
	    access_key_create(world.server->store, &wish, key, id), ERR_OK);
	last += strlen(key) - 1;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(who_has(key), ERR_OK);
		ck_assert(span_eq(subject.name, SPAN("other")));
		ck_assert(span_eq(subject.id, span_of(id)));
		ck_assert(subject.may_propose);
		*last ^= 1;
		ck_assert_int_eq(who_has(key), ERR_DENIED);
		ck_assert_int_eq(subject.kind, SUBJECT_NOBODY);
		*last ^= 1;
		if (i == 0)
			continue; /* then it is still the one of before */
		ck_assert_int_eq(who_has(world_key()), ERR_OK);
		ck_assert(span_eq(subject.name, SPAN("test")));
		ck_assert(!subject.may_propose);
	}
	ck_assert_int_eq(who_has(key), ERR_OK);
	ck_assert_int_eq(access_key_revoke(world.server->store, span_of(id),
			     &(struct access_actor){.name = "test"}),
	    ERR_OK);
	ck_assert_int_eq(who_has(key), ERR_DENIED);
	ck_assert_int_eq(who_has(world_key()), ERR_OK);
}
END_TEST

START_TEST(refusal_is_the_same_whatever_was_wrong)
{
	char first[1024];

	world.request.api_key = SPAN("");
	ck_assert_int_eq(world_ask("/api/v1/fournisseurs"), 401);
	ck_assert_str_eq(
	    world_header("WWW-Authenticate"), "Bearer realm=\"product-grid\"");
	ck_assert(span_copy(first, sizeof(first), span_of(world_body())));
	world.request.api_key =
	    SPAN("grid_aaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	ck_assert_int_eq(world_ask("/api/v1/fournisseurs"), 401);
	ck_assert_str_eq(world_body(), first);
}
END_TEST

START_TEST(use_is_noted_once_a_key_and_written_later)
{
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(world_ask("/api/v1/fournisseurs"), 200);
	ck_assert_uint_eq(world.server->uses->count, 1);
	ck_assert_int_gt(world.server->uses->uses[0].used_ms, 0);
	server_tick(world.server);
	ck_assert_uint_eq(world.server->uses->count, 0);
}
END_TEST

START_TEST(a_thread_keeps_no_key_in_plain)
{
	const struct known_key *known = &world.serving->key;
	struct span key = span_of(world_key());

	ck_assert_int_eq(world_ask("/api/v1/fournisseurs"), 200);
	ck_assert(span_eq(span_of(known->name), SPAN("test")));
	ck_assert_ptr_null(memmem(known, sizeof(*known), key.ptr, key.len));
	/* The secret half alone is not kept either. */
	key = span_from(key, sizeof("grid_") + ACCESS_ID_LEN);
	ck_assert_uint_gt(key.len, 16);
	ck_assert_ptr_null(memmem(known, sizeof(*known), key.ptr, key.len));
}
END_TEST

START_TEST(threads_hash_one_key_differently)
{
	struct serving *other = serving_new(world.server);

	ck_assert_ptr_nonnull(other);
	ck_assert_mem_ne(other->key.secret, world.serving->key.secret,
	    sizeof(other->key.secret));
	serving_free(other);
}
END_TEST

START_TEST(uncounted_refusal_is_handed_to_nginx)
{
	world.request.api_key = SPAN("no");
	world.request.count_refusal = true;
	world_ask("/api/v1/fournisseurs");
	ck_assert_str_eq(world_header("X-Accel-Redirect"), "@refused");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("auth");
	TCase *tc = tcase_create("auth");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_add_loop_test(tc, who_calls_is_known_by_the_key, 0,
	    sizeof(callers) / sizeof(callers[0]));
	tcase_add_test(tc, a_key_is_what_it_is_now);
	tcase_add_test(tc, refusal_is_the_same_whatever_was_wrong);
	tcase_add_test(tc, use_is_noted_once_a_key_and_written_later);
	tcase_add_test(tc, a_thread_keeps_no_key_in_plain);
	tcase_add_test(tc, threads_hash_one_key_differently);
	tcase_add_test(tc, uncounted_refusal_is_handed_to_nginx);
	suite_add_tcase(suite, tc);
	return suite;
}
