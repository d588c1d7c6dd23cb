/*
 * The promises of engine.h, kept by each door: etcd as stub_etcd.h has it, and
 * PostgreSQL where GRID_POSTGRES has a connection string
 * (tests/system/postgres.sh).
 */
#include "lmdb-schema/store/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/store/engine_etcd.h"
#include "lmdb-schema/store/engine_pg.h"
#include "lmdb-schema/store/pg.h"
#include "lmdb-schema/store/write_log.h"
#include "tests/lmdb-schema/store/letters.h"
#include "tests/lmdb-schema/store/stub_etcd.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static char name[64]; /* of the cluster: each test's own */
static char members[256];
static struct engine *engines[2];
static struct store *nodes[2];

/* --- doors ---------------------------------------------------------------- */

static enum err
open_etcd(struct engine **out, uint64_t epoch, struct fault *fault)
{
	const struct engine_etcd_settings settings = {.members = members,
	    .name = name,
	    .ca = "",
	    .cert = "",
	    .key = "",
	    .user = "",
	    .epoch = epoch,
	    .password = ""};

	/* The first member is one that nobody listens at. */
	if (members[0] == '\0')
		snprintf(members, sizeof(members), "http://127.0.0.1:1, %s",
		    stub_start());
	return engine_etcd_open(out, &settings, fault);
}

/* To forget: all, the entries, or the first one of the state's log. */
enum part { ALL, ENTRIES, FIRST };

static void
forget_etcd(enum part part)
{
	static const char *const keys[] = {
	    "", "log/", "log/state/0000000000000001"};
	char key[128];

	snprintf(key, sizeof(key), "%s/%s", name, keys[part]);
	stub_forget(key);
}

static enum err
open_pg(struct engine **out, uint64_t epoch, struct fault *fault)
{
	const struct engine_pg_settings settings = {
	    .postgres = getenv("GRID_POSTGRES"),
	    .name = name,
	    .epoch = epoch,
	    .password = ""};

	return engine_pg_open(out, &settings, fault);
}

static void
ask_pg(const char *sql)
{
	struct pg_places *places;
	struct pg *pg;
	struct pg_value value = {.bytes = span_of(name)};
	int64_t end_ns = date_monotonic_ns() + INT64_C(10000000000);
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(
	    pg_places_new(&places, getenv("GRID_POSTGRES"), "", &fault),
	    ERR_OK);
	ck_assert_int_eq(pg_open(&pg, places, 0, end_ns, 1000, &fault), ERR_OK);
	ck_assert_int_eq(pg_ask(pg, sql, &value, 1, end_ns, &fault), ERR_OK);
	pg_close(pg);
	pg_places_free(places);
}

static void
forget_pg(enum part part)
{
	if (part == ALL)
		ask_pg("DELETE FROM product_grid_head WHERE cluster = $1");
	ask_pg(part != FIRST
		? "DELETE FROM product_grid_log WHERE cluster = $1"
		: "DELETE FROM product_grid_log WHERE cluster = $1 AND "
		  "number = 1");
}

static const struct door {
	enum err (*open)(
	    struct engine **out, uint64_t epoch, struct fault *fault);
	void (*forget)(enum part part);
	void (*rest)(void);
} doors[] = {
    {open_etcd, forget_etcd, stub_rest},
    {open_pg, forget_pg, NULL},
};

static const struct door *door;

/* --- nodes ---------------------------------------------------------------- */

static void
open_node(unsigned i, const char *dir)
{
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(store_create(scratch_path(dir), &fault), ERR_OK);
	ck_assert_int_eq(
	    store_open(&nodes[i], scratch_path(dir), &fault), ERR_OK);
	ck_assert_msg(door->open(&engines[i], 0, &fault) == ERR_OK, "%s: %s",
	    fault.place, fault.message);
	store_share(nodes[i], engines[i]);
}

static void
begin(int which)
{
	door = &doors[which];
	snprintf(name, sizeof(name), "t%d-%llu", (int)getpid(),
	    (unsigned long long)date_monotonic_ns());
	scratch_make();
	quiet_begin();
	open_node(0, "a");
	open_node(1, "b");
}

static void
end(void)
{
	if (door->rest != NULL)
		door->rest();
	for (unsigned i = 0; i < 2; i++) {
		store_close(nodes[i]);
		engines[i]->close(engines[i]);
	}
	quiet_end();
	scratch_remove();
}

/*
 * A busy machine may take longer than a request's limit: nothing is stored then,
 * and the question is put again.
 */
static bool
is_away(enum err err)
{
	if (err == ERR_AWAY)
		usleep(50000);
	return err == ERR_AWAY;
}

static enum err
add(unsigned node, char letter)
{
	enum err err;

	do
		err =
		    store_write(nodes[node], STORE_STATE, letters_add, &letter);
	while (is_away(err));
	return err;
}

/* The ends of the logs, as `node` is told. */
static void
must_tell(unsigned node, uint64_t heads[STORE_ENVS])
{
	enum err err;

	do
		err = engines[node]->heads(engines[node], true, heads);
	while (is_away(err));
	ck_assert_int_eq(err, ERR_OK);
}

static enum err
follow(unsigned node)
{
	enum err err;

	do
		err = write_log_follow(
		    engines[node], STORE_STATE, store_state(nodes[node]));
	while (is_away(err));
	return err;
}

static void
must_have(const char *wanted)
{
	for (unsigned i = 0; i < 2; i++) {
		struct kv_txn *txn;
		struct span value;

		ck_assert_int_eq(follow(i), ERR_OK);
		ck_assert_int_eq(kv_read(&txn, store_state(nodes[i])), ERR_OK);
		ck_assert_int_eq(
		    kv_get(txn, STATE_META, SPAN("text"), &value), ERR_OK);
		ck_assert_msg(
		    span_eq(value, span_of(wanted)), "%.*s", SPAN_ARG(value));
		kv_abort(txn);
	}
}

START_TEST(two_nodes_write_one_log)
{
	uint64_t heads[STORE_ENVS];

	begin(_i);
	must_tell(0, heads);
	ck_assert_uint_eq(heads[STORE_STATE], 0);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(add(1, 'b'), ERR_OK);
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	must_have("abc");
	must_tell(1, heads);
	ck_assert_uint_eq(heads[STORE_STATE], 3);
	ck_assert_uint_eq(heads[STORE_LIVE], 0);
	end();
}
END_TEST

/* More entries than one answer has. */
START_TEST(a_node_far_behind_catches_up)
{
	char text[151] = "";

	begin(_i);
	for (unsigned i = 0; i < 150; i++) {
		text[i] = (char)('a' + i % 26);
		ck_assert_int_eq(add(0, text[i]), ERR_OK);
	}
	must_have(text);
	end();
}
END_TEST

/* As bytes of an entry; the door looks at nothing but its chain. */
struct made {
	char bytes[ENGINE_CHAIN_AT + ENGINE_CHAIN_LEN];
	char id[ENGINE_ID_LEN], before[ENGINE_CHAIN_LEN];
};

static enum err
append(uint64_t after, const struct made *made)
{
	enum err err;

	do
		err = engines[0]->append(engines[0], STORE_LIVE, after,
		    span_make(made->before, sizeof(made->before)),
		    span_make(made->id, sizeof(made->id)),
		    span_make(made->bytes, sizeof(made->bytes)));
	while (is_away(err));
	return err;
}

START_TEST(an_append_is_known_by_its_id)
{
	struct made one = {{1}, {1}, {0}}, other = {{2}, {2}, {0}};
	uint64_t heads[STORE_ENVS];

	begin(_i);
	ck_assert_int_eq(append(0, &one), ERR_OK);
	ck_assert_int_eq(append(0, &one), ERR_OK);
	ck_assert_int_eq(append(0, &other), ERR_BEHIND);
	ck_assert_int_eq(append(0, &one), ERR_OK);
	must_tell(1, heads);
	ck_assert_uint_eq(heads[STORE_LIVE], 1);
	end();
}
END_TEST

START_TEST(a_log_made_anew_is_not_written_to)
{
	begin(_i);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	door->forget(ALL);
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_int_eq(
	    write_log_catch_up(engines[0], STORE_STATE, store_state(nodes[0])),
	    ERR_FORKED);
	/* Not a line for each of them. */
	ck_assert_int_eq(quiet_lines(), 1);
	end();
}
END_TEST

/* Of a node that has left: at entry 0 it is like one that has just begun. */
START_TEST(a_log_that_has_ended_for_a_node_is_not_written_to)
{
	begin(_i);
	engine_end(engines[1]);
	ck_assert_int_eq(add(1, 'z'), ERR_OUTRUN);
	ck_assert_int_eq(follow(1), ERR_OUTRUN);
	ck_assert_int_eq(
	    write_log_catch_up(engines[1], STORE_STATE, store_state(nodes[1])),
	    ERR_OUTRUN);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	end();
}
END_TEST

/* Restored from an older copy, it has as many entries again, and others. */
START_TEST(a_fork_of_the_same_length_is_not_written_to)
{
	begin(_i);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	door->forget(ALL);
	ck_assert_int_eq(add(1, 'z'), ERR_OK);
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_int_gt(quiet_lines(), 0);
	ck_assert_int_eq(add(1, 'y'), ERR_OK);
	ck_assert_int_eq(follow(0), ERR_FORKED);
	end();
}
END_TEST

START_TEST(trimmed_entries_are_missed)
{
	begin(_i);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	door->forget(FIRST);
	ck_assert_int_eq(follow(1), ERR_OUTRUN);
	ck_assert_int_eq(add(1, 'c'), ERR_OUTRUN);
	end();
}
END_TEST

static enum err
catch_up(unsigned node)
{
	enum err err;

	do
		err = write_log_catch_up(
		    engines[node], STORE_STATE, store_state(nodes[node]));
	while (is_away(err));
	return err;
}

static enum err
trim(enum store_env log, uint64_t up_to)
{
	enum err err;

	do
		err = engines[0]->trim(engines[0], log, up_to);
	while (is_away(err));
	return err;
}

/* Up to which entry; the last one stays. */
static const uint64_t trims[] = {0, 1, 4, 5, 6, UINT64_MAX};
#define TRIMS (sizeof(trims) / sizeof(trims[0]))

START_TEST(a_trimmed_log_goes_on_for_who_has_it)
{
	uint64_t heads[STORE_ENVS], up_to = trims[(size_t)_i % TRIMS];

	begin(_i / (int)TRIMS);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(add(0, (char)('a' + i)), ERR_OK);
	ck_assert_int_eq(trim(STORE_STATE, up_to), ERR_OK);
	must_tell(0, heads);
	ck_assert_uint_eq(heads[STORE_STATE], 5);
	ck_assert_int_eq(add(0, 'f'), ERR_OK);
	ck_assert_int_eq(catch_up(0), ERR_OK);
	if (up_to == 0)
		must_have("abcdef");
	else {
		ck_assert_int_eq(catch_up(1), ERR_OUTRUN);
		ck_assert_int_eq(add(1, 'x'), ERR_OUTRUN);
	}
	end();
}
END_TEST

static enum err
count_entry(void *context, uint64_t number, struct span entry)
{
	(void)number;
	(void)entry;
	++*(unsigned *)context;
	return ERR_OK;
}

/* More than one request removes. */
START_TEST(a_long_log_is_trimmed_in_pieces)
{
	struct made one = {{1}, {1}, {0}};
	unsigned left = 0;

	begin(_i);
	for (uint64_t i = 0; i < 1205; i++) {
		memcpy(one.id, &i, sizeof(i));
		ck_assert_int_eq(append(i, &one), ERR_OK);
	}
	ck_assert_int_eq(trim(STORE_LIVE, 1200), ERR_OK);
	ck_assert_int_eq(
	    engines[1]->read(engines[1], STORE_LIVE, 1200, count_entry, &left),
	    ERR_OK);
	ck_assert_uint_eq(left, 5);
	ck_assert_int_eq(
	    engines[1]->read(engines[1], STORE_LIVE, 1199, count_entry, &left),
	    ERR_NOT_FOUND);
	end();
}
END_TEST

/* Nothing tells of the gap but the head. */
START_TEST(a_log_without_entries_is_not_taken_for_a_short_one)
{
	begin(_i);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	door->forget(ENTRIES);
	ck_assert_int_eq(catch_up(0), ERR_OK);
	ck_assert_int_eq(catch_up(1), ERR_OUTRUN);
	end();
}
END_TEST

static enum err
take_note(void *context, struct span note, struct span text)
{
	struct buf *to = context;

	buf_addf(to, "%.*s=%.*s ", SPAN_ARG(note), SPAN_ARG(text));
	return ERR_OK;
}

static enum err
put_note(struct span note, struct span text)
{
	return engines[0]->note_put(engines[0], note, text);
}

static void
must_have_notes(const char *prefix, const char *wanted)
{
	struct buf found;

	buf_init(&found, 1000);
	ck_assert_int_eq(
	    engines[1]->notes(engines[1], prefix, take_note, &found), ERR_OK);
	buf_add_char(&found, '\0');
	ck_assert_str_eq(found.data, wanted);
	buf_fini(&found);
}

START_TEST(notes_are_by_name)
{
	begin(_i);
	must_have_notes("", "");
	ck_assert_int_eq(put_note(SPAN("a/2"), SPAN("two")), ERR_OK);
	ck_assert_int_eq(put_note(SPAN("a/1"), SPAN("0")), ERR_OK);
	ck_assert_int_eq(put_note(SPAN("a/1"), SPAN("one")), ERR_OK);
	ck_assert_int_eq(put_note(SPAN("b/1"), SPAN("b")), ERR_OK);
	must_have_notes("a/", "a/1=one a/2=two ");
	ck_assert_int_eq(
	    engines[1]->note_drop(engines[1], SPAN("a/1")), ERR_OK);
	must_have_notes("", "a/2=two b/1=b ");
	end();
}
END_TEST

static const char chain[ENGINE_CHAIN_LEN] = {7};

#define CHAIN_TEXT \
	"0700000000000000000000000000000000000000000000000000000000000000"

static enum err
begin_epoch(struct span before, struct span now, uint64_t number)
{
	enum err err;

	do
		err = engines[0]->begin(engines[0], before, now, number,
		    span_make(chain, sizeof(chain)));
	while (is_away(err));
	return err;
}

static void
must_be_epoch(const char *wanted)
{
	struct buf text;

	buf_init(&text, 100);
	ck_assert_int_eq(engines[1]->epoch(engines[1], &text), ERR_OK);
	ck_assert(span_eq(buf_span(&text), span_of(wanted)));
	buf_fini(&text);
}

/* The log of epoch 1 goes on behind `after` with the chain it began with. */
static void
must_begin_at(uint64_t after)
{
	struct made other = {{9}, {9}, {8}}, right = {{9}, {9}, {7}};
	uint64_t heads[STORE_ENVS];
	struct engine *next;
	struct fault fault;
	struct span id = span_make(right.id, sizeof(right.id));
	struct span entry = span_make(right.bytes, sizeof(right.bytes));

	fault_clear(&fault);
	ck_assert_int_eq(door->open(&next, 1, &fault), ERR_OK);
	ck_assert_int_eq(next->heads(next, true, heads), ERR_OK);
	ck_assert_uint_eq(heads[STORE_STATE], after);
	ck_assert_int_eq(
	    next->append(next, STORE_STATE, after,
		span_make(other.before, sizeof(other.before)), id, entry),
	    ERR_FORKED);
	ck_assert_int_eq(
	    next->append(next, STORE_STATE, after,
		span_make(right.before, sizeof(right.before)), id, entry),
	    ERR_OK);
	next->close(next);
}

/* Each node is opened for epoch 0; the engine tells of another one. */
START_TEST(a_new_epoch_ends_the_one_before)
{
	begin(_i);
	must_be_epoch("");
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(begin_epoch(SPAN("3 x"), SPAN("4 x"), 7), ERR_EXISTS);
	/* The entry came after a look at the head that saw none. */
	ck_assert_int_eq(begin_epoch(SPAN(""), SPAN("1 x"), 0), ERR_EXISTS);
	must_be_epoch("");
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	ck_assert_int_eq(
	    begin_epoch(SPAN(""), SPAN("1 7 " CHAIN_TEXT), 7), ERR_OK);
	ck_assert_int_eq(begin_epoch(SPAN(""), SPAN("1 y"), 7), ERR_EXISTS);
	must_be_epoch("1 7 " CHAIN_TEXT);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(add(i, 'b'), ERR_OUTRUN);
		ck_assert_int_eq(catch_up(i), ERR_OUTRUN);
	}
	must_begin_at(7);
	end();
}
END_TEST

START_TEST(a_first_epoch_begins_with_its_chain)
{
	begin(_i);
	ck_assert_int_eq(
	    begin_epoch(SPAN(""), SPAN("1 0 " CHAIN_TEXT), 0), ERR_OK);
	ck_assert_int_eq(add(0, 'a'), ERR_OUTRUN);
	must_begin_at(0);
	end();
}
END_TEST

static unsigned seen;

static enum err
must_be_a(void *context, const struct engine_node *node)
{
	const struct engine_node *wanted = context;

	seen++;
	ck_assert_str_eq(node->name, wanted->name);
	ck_assert_str_eq(node->address, wanted->address);
	ck_assert_str_eq(node->program, wanted->program);
	ck_assert_str_eq(node->run, wanted->run);
	ck_assert_uint_eq(node->beat, wanted->beat);
	ck_assert_uint_eq(
	    node->places[STORE_STATE], wanted->places[STORE_STATE]);
	ck_assert_uint_eq(node->log_version, wanted->log_version);
	return ERR_OK;
}

START_TEST(a_record_is_its_runs_until_it_ends)
{
	struct engine_node node = {.name = "a",
	    .address = "http://192.0.2.1",
	    .program = "0.1",
	    .run = "one",
	    .places = {1, 2, 3},
	    .log_version = 1};
	struct engine_node other, second;

	begin(_i);
	ck_assert_int_eq(
	    engines[0]->node_put(engines[0], &node, 60, &other), ERR_OK);
	node.beat++;
	ck_assert_int_eq(
	    engines[0]->node_put(engines[0], &node, 60, &other), ERR_OK);
	second = node;
	memcpy(second.run, "two", sizeof("two"));
	ck_assert_int_eq(
	    engines[1]->node_put(engines[1], &second, 60, &other), ERR_EXISTS);
	ck_assert_str_eq(other.run, "one");
	ck_assert_uint_eq(other.beat, 1);
	seen = 0;
	ck_assert_int_eq(
	    engines[1]->nodes(engines[1], must_be_a, &node), ERR_OK);
	ck_assert_uint_eq(seen, 1);
	ck_assert_int_eq(engines[0]->node_drop(engines[0], "a"), ERR_OK);
	ck_assert_int_eq(
	    engines[1]->nodes(engines[1], must_be_a, &node), ERR_OK);
	ck_assert_uint_eq(seen, 1);
	ck_assert_int_eq(
	    engines[1]->node_put(engines[1], &second, 60, &other), ERR_OK);
	end();
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("engine");
	TCase *tc = tcase_create("engine");
	int count = getenv("GRID_POSTGRES") == NULL ? 1 : 2;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, two_nodes_write_one_log, 0, count);
	tcase_add_loop_test(tc, a_node_far_behind_catches_up, 0, count);
	tcase_add_loop_test(tc, an_append_is_known_by_its_id, 0, count);
	tcase_add_loop_test(tc, a_log_made_anew_is_not_written_to, 0, count);
	tcase_add_loop_test(
	    tc, a_log_that_has_ended_for_a_node_is_not_written_to, 0, count);
	/* etcd's head has a number alone. */
	tcase_add_loop_test(
	    tc, a_fork_of_the_same_length_is_not_written_to, 0, count);
	tcase_add_loop_test(tc, trimmed_entries_are_missed, 0, count);
	tcase_add_loop_test(
	    tc, a_trimmed_log_goes_on_for_who_has_it, 0, count * (int)TRIMS);
	tcase_add_loop_test(tc, a_long_log_is_trimmed_in_pieces, 0, count);
	tcase_add_loop_test(
	    tc, a_log_without_entries_is_not_taken_for_a_short_one, 0, count);
	tcase_add_loop_test(tc, notes_are_by_name, 0, count);
	tcase_add_loop_test(tc, a_new_epoch_ends_the_one_before, 0, count);
	tcase_add_loop_test(tc, a_first_epoch_begins_with_its_chain, 0, count);
	tcase_add_loop_test(tc, a_record_is_its_runs_until_it_ends, 0, count);
	suite_add_tcase(suite, tc);
	return suite;
}
