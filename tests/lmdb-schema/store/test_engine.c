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
open_etcd(struct engine **out, struct fault *fault)
{
	const struct engine_etcd_settings settings = {.members = members,
	    .name = name,
	    .ca = "",
	    .cert = "",
	    .key = "",
	    .user = "",
	    .password = ""};

	/* The first member is one that nobody listens at. */
	if (members[0] == '\0')
		snprintf(members, sizeof(members), "http://127.0.0.1:1, %s",
		    stub_start());
	return engine_etcd_open(out, &settings, fault);
}

/* Forgets entry 1 of the state's log, or all that the log has. */
static void
forget_etcd(bool all)
{
	char key[128];

	snprintf(key, sizeof(key), "%s/%s", name,
	    all ? "" : "log/state/0000000000000001");
	stub_forget(key);
}

static enum err
open_pg(struct engine **out, struct fault *fault)
{
	const struct engine_pg_settings settings = {
	    .postgres = getenv("GRID_POSTGRES"), .name = name, .password = ""};

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
forget_pg(bool all)
{
	if (all)
		ask_pg("DELETE FROM product_grid_head WHERE cluster = $1");
	ask_pg(all ? "DELETE FROM product_grid_log WHERE cluster = $1"
		   : "DELETE FROM product_grid_log WHERE cluster = $1 AND "
		     "number = 1");
}

static const struct door {
	enum err (*open)(struct engine **out, struct fault *fault);
	void (*forget)(bool all);
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
	ck_assert_msg(door->open(&engines[i], &fault) == ERR_OK, "%s: %s",
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

static enum err
add_letter(void *context, struct kv_txn *txn)
{
	char text[256];
	struct span old;
	enum err err = kv_get(txn, STATE_META, SPAN("text"), &old);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	snprintf(text, sizeof(text), "%.*s%c", SPAN_ARG(old),
	    *(const char *)context);
	return kv_put(txn, STATE_META, SPAN("text"), span_of(text));
}

static enum err
add(unsigned node, char letter)
{
	return store_write(nodes[node], STORE_STATE, add_letter, &letter);
}

/* A busy machine may take longer than a request's limit: nothing is sent then. */
static void
add_when_there(unsigned node, char letter)
{
	enum err err = add(node, letter);

	while (err == ERR_AWAY) {
		usleep(50000);
		err = add(node, letter);
	}
	ck_assert_msg(err == ERR_OK, "%s", err_text(err));
}

static enum err
follow(unsigned node)
{
	return write_log_follow(
	    engines[node], STORE_STATE, store_state(nodes[node]));
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
	ck_assert_int_eq(engines[0]->heads(engines[0], heads), ERR_OK);
	ck_assert_uint_eq(heads[STORE_STATE], 0);
	add_when_there(0, 'a');
	add_when_there(1, 'b');
	add_when_there(0, 'c');
	must_have("abc");
	ck_assert_int_eq(engines[1]->heads(engines[1], heads), ERR_OK);
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
		add_when_there(0, text[i]);
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
	return engines[0]->append(engines[0], STORE_LIVE, after,
	    span_make(made->before, sizeof(made->before)),
	    span_make(made->id, sizeof(made->id)),
	    span_make(made->bytes, sizeof(made->bytes)));
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
	ck_assert_int_eq(engines[1]->heads(engines[1], heads), ERR_OK);
	ck_assert_uint_eq(heads[STORE_LIVE], 1);
	end();
}
END_TEST

START_TEST(a_log_made_anew_is_not_written_to)
{
	begin(_i);
	add_when_there(0, 'a');
	door->forget(true);
	ck_assert_int_eq(add(0, 'b'), ERR_DAMAGED);
	ck_assert_int_gt(quiet_lines(), 0);
	ck_assert_int_eq(
	    write_log_catch_up(engines[0], STORE_STATE, store_state(nodes[0])),
	    ERR_DAMAGED);
	ck_assert_int_gt(quiet_lines(), 0);
	end();
}
END_TEST

/* Restored from an older copy, it has as many entries again, and others. */
START_TEST(a_fork_of_the_same_length_is_not_written_to)
{
	begin(_i);
	add_when_there(0, 'a');
	door->forget(true);
	add_when_there(1, 'z');
	ck_assert_int_eq(add(0, 'b'), ERR_DAMAGED);
	ck_assert_int_gt(quiet_lines(), 0);
	add_when_there(1, 'y');
	ck_assert_int_eq(follow(0), ERR_DAMAGED);
	end();
}
END_TEST

START_TEST(trimmed_entries_are_missed)
{
	begin(_i);
	add_when_there(0, 'a');
	add_when_there(0, 'b');
	door->forget(false);
	ck_assert_int_eq(follow(1), ERR_OUTRUN);
	ck_assert_int_eq(add(1, 'c'), ERR_OUTRUN);
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
	/* etcd's head has a number alone. */
	tcase_add_loop_test(
	    tc, a_fork_of_the_same_length_is_not_written_to, 1, count);
	tcase_add_loop_test(tc, trimmed_entries_are_missed, 0, count);
	tcase_add_loop_test(tc, a_record_is_its_runs_until_it_ends, 0, count);
	suite_add_tcase(suite, tc);
	return suite;
}
