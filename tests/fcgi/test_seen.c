/*
 * tests/fcgi/test_seen.c: fcgi/seen.h: a request that names an entry is
 * answered with it or not at all, also when the caches are of before and the
 * entry comes while the request waits.
 */
#include "fcgi/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/row.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

#define PAGE "/api/v1/grid?fournisseur=S2&fields=codein,gammeAValider"
#define FILTERED PAGE "&gammeAValider=eq.C"

/* A log that takes all. */
static enum err
append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)engine, (void)log, (void)after, (void)chain, (void)id;
	(void)entry;
	return ERR_OK;
}

/* Of no other node. */
static enum err
get_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	(void)engine, (void)sure;
	return store_places(world.server->store, heads);
}

static struct engine engine = {.append = append, .heads = get_heads};

static void
share(void)
{
	world_open();
	store_share(world.server->store, &engine);
	world.server->node = strdup("paris-1");
	ck_assert_ptr_nonnull(world.server->node);
}

/* A commit that brings an entry, as the follower's does. */
static void
propose(char letter)
{
	const struct proposal_change change = {.codein = SPAN("A1"),
	    .gamme = row_gamme(span_make(&letter, 1)),
	    .motif = SPAN("")};
	const struct proposal_request request = {.supplier = SPAN("S2"),
	    .author = SPAN("test"),
	    .changes = &change,
	    .count = 1};
	struct proposal_result result;
	int64_t when_ms;

	ck_assert_int_eq(
	    proposal_deposit(world.server->store, &request, &result, &when_ms),
	    ERR_OK);
}

static uint64_t
number(void)
{
	uint64_t out;

	ck_assert_int_eq(
	    store_place(world.server->store, STORE_STATE, &out), ERR_OK);
	return out;
}

static int
ask(const char *uri, uint64_t seen)
{
	static char text[64];

	snprintf(text, sizeof(text), "state:%llu", (unsigned long long)seen);
	world.request.grid_seen = span_of(text);
	return world_ask(uri);
}

static uint64_t
told(void)
{
	const char *text = world_header("X-Grid-Seen");

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(strncmp(text, "state:", 6), 0);
	return strtoull(text + 6, NULL, 10);
}

static void
must_show(const char *gamme)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted),
	    "\"codein\":\"A1\",\"gammeAValider\":\"%s\"", gamme);
	ck_assert_msg(strstr(world_body(), wanted) != NULL, "no %s in %s",
	    wanted, world_body());
}

START_TEST(an_answer_names_the_node_and_what_it_shows)
{
	propose('A');
	ck_assert_int_eq(world_ask(PAGE), 200);
	ck_assert_str_eq(world_header("X-Grid-Node"), "paris-1");
	ck_assert_uint_eq(told(), number());
	must_show("A");
	ck_assert_int_eq(ask(PAGE, number()), 200);
	ck_assert_int_eq(ask("/nowhere", number()), 404);
	ck_assert_uint_eq(told(), number());
}
END_TEST

START_TEST(a_node_on_its_own_names_nothing)
{
	free(world.server->node);
	world.server->node = NULL;
	ck_assert_int_eq(ask(PAGE, 1000), 200);
	ck_assert_ptr_null(world_header("X-Grid-Node"));
	ck_assert_ptr_null(world_header("X-Grid-Seen"));
}
END_TEST

static unsigned looks;
static char next;

/* The server looks for its client while it waits: then the entry comes. */
static bool
write_between(void *connection)
{
	(void)connection;
	if (looks++ == 1)
		propose(next);
	return false;
}

/*
 * The caches have what was there before, in this thread and in those that all
 * threads share; _i: of rows in order, or filtered by what changes.
 */
START_TEST(what_comes_while_a_request_waits_is_in_its_answer)
{
	const char *uri = _i == 0 ? PAGE : FILTERED;

	for (unsigned turn = 0; turn < 12; turn++) {
		propose('A');
		ck_assert_int_eq(ask(uri, number()), 200);
		looks = 0;
		next = turn % 2 == 0 ? 'C' : 'Y';
		world.request.gone = write_between;
		ck_assert_int_eq(ask(uri, number() + 1), 200);
		world.request.gone = NULL;
		ck_assert_uint_ge(looks, 2);
		ck_assert_uint_eq(told(), number());
		if (_i == 0)
			must_show(next == 'C' ? "C" : "Y");
		else
			ck_assert((strstr(world_body(), "\"A1\"") != NULL) ==
			    (next == 'C'));
	}
}
END_TEST

START_TEST(what_does_not_come_is_told)
{
	propose('A');
	ck_assert_int_eq(ask(PAGE, number() + 1), 503);
	ck_assert_str_eq(world_header("Retry-After"), "1");
	ck_assert_str_eq(world_header("X-Grid-Node"), "paris-1");
	ck_assert_int_eq(ask(PAGE, INT64_MAX - 1), 503);
	/* The next request is answered. */
	ck_assert_int_eq(ask(PAGE, number()), 200);
	ck_assert_uint_eq(atomic_load(&world.server->waiting), 0);
}
END_TEST

START_TEST(no_more_than_half_of_the_threads_wait)
{
	atomic_store(&world.server->waiting,
	    ((unsigned)world.settings.pages_threads + 1) / 2);
	looks = 0;
	world.request.gone = write_between;
	ck_assert_int_eq(ask(PAGE, number() + 1), 503);
	ck_assert_uint_eq(looks, 0);
}
END_TEST

START_TEST(what_is_no_number_is_refused)
{
	static const char *const wrong[] = {"7", "state:", "state:-1",
	    "state:1x", "live:1", "state: 1", "state:9223372036854775807"};

	world.request.grid_seen = span_of(wrong[_i]);
	ck_assert_int_eq(world_ask(PAGE), 400);
}
END_TEST

START_TEST(the_screens_cookie_counts_as_the_header_does)
{
	char cookie[100];

	propose('A');
	snprintf(cookie, sizeof(cookie), "a=b; grid_seen=state:%llu",
	    (unsigned long long)number() + 1);
	world.request.cookie = span_of(cookie);
	ck_assert_int_eq(world_ask(PAGE), 503);
	world.request.cookie = SPAN("grid_seen=x");
	ck_assert_int_eq(world_ask(PAGE), 200);
}
END_TEST

START_TEST(an_unknown_outcome_names_where_it_would_be)
{
	struct call call = world_call();
	char text[SEEN_TEXT_MAX], wanted[SEEN_TEXT_MAX];

	propose('A');
	seen_at_most(text, &call);
	snprintf(wanted, sizeof(wanted), "state:%llu",
	    (unsigned long long)number() + 1);
	ck_assert_str_eq(text, wanted);
	views_rest(&world.serving->views);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("seen");
	TCase *tc = tcase_create("seen");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, share, world_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, an_answer_names_the_node_and_what_it_shows);
	tcase_add_test(tc, a_node_on_its_own_names_nothing);
	tcase_add_loop_test(
	    tc, what_comes_while_a_request_waits_is_in_its_answer, 0, 2);
	tcase_add_test(tc, what_does_not_come_is_told);
	tcase_add_test(tc, no_more_than_half_of_the_threads_wait);
	tcase_add_loop_test(tc, what_is_no_number_is_refused, 0, 7);
	tcase_add_test(tc, the_screens_cookie_counts_as_the_header_does);
	tcase_add_test(tc, an_unknown_outcome_names_where_it_would_be);
	suite_add_tcase(suite, tc);
	return suite;
}
