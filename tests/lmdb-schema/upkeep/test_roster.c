/*
 * tests/lmdb-schema/upkeep/test_roster.c: the nodes that a cluster has, over an engine
 * of one log whose nodes a test says.
 */
#include "lmdb-schema/upkeep/roster.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lmdb-schema/state/share.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/upkeep/list_engine.h"
#include "tests/support/run.h"

#define S INT64_C(1000000000)
#define NOTES 8

static struct store *store;
static struct engine engine;
static char names[NOTES][128], texts[NOTES][64]; /* "": none */
static unsigned put_count;
static bool away;

/* --- the engine ----------------------------------------------------------- */

static enum err
node_drop(struct engine *own, const char *name)
{
	(void)own, (void)name;
	return away ? ERR_AWAY : ERR_OK;
}

/* The place of the note, or of a new one. */
static unsigned
place_of(struct span name)
{
	unsigned at = NOTES;

	for (unsigned i = NOTES; i-- > 0;)
		if (names[i][0] == '\0' && at == NOTES)
			at = i;
	for (unsigned i = 0; i < NOTES; i++)
		if (span_eq(name, span_of(names[i])))
			at = i;
	ck_assert_uint_lt(at, NOTES);
	return at;
}

static enum err
note_put(struct engine *own, struct span name, struct span text)
{
	unsigned at = place_of(name);

	(void)own;
	put_count++;
	if (away)
		return ERR_AWAY;
	ck_assert(span_copy(names[at], sizeof(names[at]), name));
	ck_assert(span_copy(texts[at], sizeof(texts[at]), text));
	return ERR_OK;
}

static enum err
note_drop(struct engine *own, struct span name)
{
	(void)own;
	names[place_of(name)][0] = '\0';
	return ERR_OK;
}

static enum err
notes(struct engine *own, const char *prefix,
    enum err (*each)(void *context, struct span name, struct span text),
    void *context)
{
	enum err err = away ? ERR_AWAY : ERR_OK;

	(void)own;
	for (unsigned i = 0; i < NOTES && err == ERR_OK; i++)
		if (span_starts(span_of(names[i]), span_of(prefix)))
			err =
			    each(context, span_of(names[i]), span_of(texts[i]));
	return err;
}

static void
begin(void)
{
	store = list_begin(&engine);
	engine.node_drop = node_drop;
	engine.note_put = note_put;
	engine.note_drop = note_drop;
	engine.notes = notes;
	memset(names, 0, sizeof(names));
	put_count = 0;
	list_alive = "a";
	away = false;
}

static void
end(void)
{
	list_end(store);
}

/* --- */

static enum err
add_name(void *context, struct span node, int64_t there_ms)
{
	char *found = context;

	sprintf(found + strlen(found), "%.*s=%lld ", SPAN_ARG(node),
	    (long long)there_ms);
	return ERR_OK;
}

static void
must_have(const char *wanted)
{
	char found[256] = "";

	ck_assert_int_eq(roster_each(&engine, add_name, found), ERR_OK);
	ck_assert_str_eq(found, wanted);
}

START_TEST(a_node_that_runs_tells_when_it_was_there)
{
	int64_t next_ns = 0;

	ck_assert_int_eq(
	    roster_tell(&next_ns, &engine, "a", 1000, 5 * S), ERR_OK);
	must_have("a=1000 ");
	ck_assert_int_eq(
	    roster_tell(&next_ns, &engine, "a", 2000, (4 + ROSTER_EACH_S) * S),
	    ERR_OK);
	must_have("a=1000 ");
	ck_assert_uint_eq(put_count, 1);
	ck_assert_int_eq(
	    roster_tell(&next_ns, &engine, "a", 3000, (5 + ROSTER_EACH_S) * S),
	    ERR_OK);
	must_have("a=3000 ");
}
END_TEST

START_TEST(what_could_not_be_told_is_told_later)
{
	int64_t next_ns = 0;

	away = true;
	ck_assert_int_eq(
	    roster_tell(&next_ns, &engine, "a", 1000, 5 * S), ERR_AWAY);
	away = false;
	ck_assert_int_eq(
	    roster_tell(&next_ns, &engine, "a", 2000, 6 * S), ERR_OK);
	must_have("a=2000 ");
}
END_TEST

START_TEST(another_text_tells_no_time)
{
	ck_assert_int_eq(
	    note_put(&engine, SPAN("roster/b"), SPAN("soon")), ERR_OK);
	ck_assert_int_eq(note_put(&engine, SPAN("else/c"), SPAN("1")), ERR_OK);
	must_have("b=0 ");
}
END_TEST

START_TEST(a_node_that_is_gone_is_taken_out)
{
	struct share_node node = {.name = "c", .keep = 2};
	struct share share;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(roster_put(&engine, "a", 1), ERR_OK);
	ck_assert_int_eq(roster_put(&engine, "b", 2), ERR_OK);
	ck_assert_int_eq(roster_remove(store, &engine, "b", &fault), ERR_OK);
	must_have("a=1 ");
	/* Of an earlier version, which has told nothing. */
	ck_assert_int_eq(share_put(store, &node), ERR_OK);
	ck_assert_int_eq(roster_remove(store, &engine, "c", &fault), ERR_OK);
	ck_assert_int_eq(share_look(&share, store), ERR_OK);
	ck_assert_uint_eq(share.count, 0);
	ck_assert(!fault_is_set(&fault));
}
END_TEST

static const struct {
	const char *node;
	bool away;
	enum err err;
	const char *said;
} refused[] = {
    {"a", false, ERR_BUSY, "has node a alive"},
    {"b", false, ERR_NOT_FOUND, "has no node b"},
    {"a", true, ERR_AWAY, "is out of reach"},
};

START_TEST(a_node_that_is_alive_or_unknown_is_not_taken_out)
{
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(roster_put(&engine, "a", 1), ERR_OK);
	away = refused[_i].away;
	list_alive = away ? NULL : "a";
	ck_assert_int_eq(
	    roster_remove(store, &engine, refused[_i].node, &fault),
	    refused[_i].err);
	ck_assert_ptr_nonnull(strstr(fault.message, refused[_i].said));
	away = false;
	must_have("a=1 ");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("roster");
	TCase *tc = tcase_create("roster");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_node_that_runs_tells_when_it_was_there);
	tcase_add_test(tc, what_could_not_be_told_is_told_later);
	tcase_add_test(tc, another_text_tells_no_time);
	tcase_add_test(tc, a_node_that_is_gone_is_taken_out);
	tcase_add_loop_test(tc,
	    a_node_that_is_alive_or_unknown_is_not_taken_out, 0,
	    (int)(sizeof(refused) / sizeof(refused[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
