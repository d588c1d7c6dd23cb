/*
 * Two nodes over an etcd that loses, delays, repeats and answers late: what a
 * node was told is what all nodes have.
 */
#include "lmdb-schema/store/engine_etcd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/kv/kv.h"
#include "lmdb-schema/store/write_log.h"
#include "tests/lmdb-schema/store/letters.h"
#include "tests/lmdb-schema/store/stub_etcd.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct engine_etcd_settings settings;
static struct engine *engines[2];
static struct store *nodes[2];
static char members[256];

static void
open_node(unsigned i, const char *name)
{
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(store_create(scratch_path(name), &fault), ERR_OK);
	ck_assert_int_eq(
	    store_open(&nodes[i], scratch_path(name), &fault), ERR_OK);
	ck_assert_int_eq(
	    engine_etcd_open(&engines[i], &settings, &fault), ERR_OK);
	store_share(nodes[i], engines[i]);
}

static void
begin(void)
{
	scratch_make();
	quiet_begin();
	/* The first member is one that nobody listens at. */
	snprintf(
	    members, sizeof(members), "http://127.0.0.1:1, %s", stub_start());
	settings = (struct engine_etcd_settings){.members = members,
	    .name = "grid",
	    .ca = "",
	    .cert = "",
	    .key = "",
	    .user = "",
	    .password = ""};
	open_node(0, "a");
	open_node(1, "b");
}

static void
end(void)
{
	stub_rest();
	for (unsigned i = 0; i < 2; i++) {
		store_close(nodes[i]);
		engines[i]->close(engines[i]);
	}
	quiet_end();
	scratch_remove();
}

static enum err
add(unsigned node, char letter)
{
	return store_write(nodes[node], STORE_STATE, letters_add, &letter);
}

/* Nothing is sent for a moment after a failure. */
static void
add_when_there(unsigned node, char letter)
{
	enum err err = add(node, letter);

	while (err == ERR_AWAY) {
		usleep(50000);
		err = add(node, letter);
	}
	ck_assert_int_eq(err, ERR_OK);
}

static void
read_text(char text[256], unsigned node)
{
	struct kv_txn *txn;
	struct span value;

	ck_assert_int_eq(write_log_follow(engines[node], STORE_STATE,
			     store_state(nodes[node])),
	    ERR_OK);
	ck_assert_int_eq(kv_read(&txn, store_state(nodes[node])), ERR_OK);
	if (kv_get(txn, STATE_META, SPAN("text"), &value) != ERR_OK)
		value = SPAN("");
	ck_assert(span_copy(text, 256, value));
	kv_abort(txn);
}

static void
must_have(const char *wanted)
{
	char text[256];

	for (unsigned i = 0; i < 2; i++) {
		read_text(text, i);
		ck_assert_str_eq(text, wanted);
	}
}

START_TEST(two_nodes_write_one_log)
{
	uint64_t heads[STORE_ENVS];

	ck_assert_int_eq(engines[0]->heads(engines[0], true, heads), ERR_OK);
	ck_assert_uint_eq(heads[STORE_STATE], 0);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(add(1, 'b'), ERR_OK);
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	must_have("abc");
	ck_assert_int_eq(engines[1]->heads(engines[1], true, heads), ERR_OK);
	ck_assert_uint_eq(heads[STORE_STATE], 3);
	ck_assert_uint_eq(heads[STORE_LIVE], 0);
	ck_assert_uint_eq(stub_transactions(), 3);
}
END_TEST

static unsigned
times(const char *text, char letter)
{
	unsigned found = 0;

	for (; *text != '\0'; text++)
		found += *text == letter;
	return found;
}

/* _i: a weather, met by one request and by as many as there are. */
START_TEST(what_was_told_is_there_once)
{
	const enum stub_weather now = (enum stub_weather)(_i / 2);
	char text[256];
	enum err err;

	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_set(now, _i % 2 == 0 ? 1 : 1000);
	err = add(0, 'b');
	stub_set(STUB_SOUND, 0);
	stub_rest();
	add_when_there(1, 'c');
	add_when_there(0, 'd');
	read_text(text, 0);
	must_have(text);
	ck_assert_uint_eq(times(text, 'a') + times(text, 'c'), 2);
	ck_assert_uint_eq(times(text, 'd'), 1);
	ck_assert_msg(err == ERR_OK || err == ERR_AWAY || err == ERR_UNKNOWN,
	    "%s", err_text(err));
	if (err == ERR_OK)
		ck_assert_uint_eq(times(text, 'b'), 1);
	if (err == ERR_AWAY)
		ck_assert_uint_eq(times(text, 'b'), 0);
	ck_assert_uint_le(times(text, 'b'), 1);
}
END_TEST

/*
 * A fault that passes is none for the caller; but for one who was held up for
 * the whole limit, as a busy machine may do once.
 */
START_TEST(an_answer_that_was_lost_is_asked_for_again)
{
	static const enum stub_weather passing[] = {STUB_LOSES, STUB_MUTE,
	    STUB_REFUSES, STUB_TWICE, STUB_CUT, STUB_NONSENSE};

	char text[256];
	enum err err = ERR_UNKNOWN;

	for (unsigned tries = 0; tries < 5 && err == ERR_UNKNOWN; tries++) {
		add_when_there(0, 'a');
		stub_set(passing[_i], 1);
		err = add(0, 'b');
	}
	ck_assert_int_eq(err, ERR_OK);
	read_text(text, 1);
	ck_assert_str_eq(text + strlen(text) - 2, "ab");
	must_have(text);
}
END_TEST

START_TEST(a_log_that_is_full_stores_nothing)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_set(STUB_FULL, 1);
	ck_assert_int_eq(add(0, 'b'), ERR_AWAY);
	must_have("a");
}
END_TEST

START_TEST(nobody_is_asked_for_a_moment_after_a_failure)
{
	char text[256];

	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_set_all(STUB_LOSES);
	ck_assert_int_eq(add(0, 'b'), ERR_UNKNOWN);
	ck_assert_int_eq(add(0, 'c'), ERR_AWAY);
	ck_assert_int_eq(add(0, 'd'), ERR_AWAY);
	ck_assert_uint_eq(stub_transactions(), 1);
	stub_set_all(STUB_SOUND);
	add_when_there(0, 'e');
	read_text(text, 1);
	ck_assert_str_eq(text, "ae");
}
END_TEST

START_TEST(a_user_logs_in_again_when_the_token_has_ended)
{
	stub_wants_user();
	settings.user = "grid";
	settings.password = "a \"password\"";
	for (unsigned i = 0; i < 2; i++)
		store_close(nodes[i]);
	for (unsigned i = 0; i < 2; i++)
		engines[i]->close(engines[i]);
	open_node(0, "c");
	open_node(1, "d");
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_wants_user();
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	must_have("ab");
}
END_TEST

START_TEST(who_has_no_user_stores_nothing)
{
	stub_wants_user();
	ck_assert_int_eq(add(0, 'a'), ERR_AWAY);
}
END_TEST

START_TEST(an_etcd_made_anew_is_not_written_to)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_forget("grid/");
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_int_gt(quiet_lines(), 0);
	ck_assert_int_eq(
	    write_log_catch_up(engines[0], STORE_STATE, store_state(nodes[0])),
	    ERR_FORKED);
	ck_assert_uint_eq(stub_transactions(), 1);
}
END_TEST

/* While nodes are upgraded, entries of both versions follow each other. */
START_TEST(entries_of_an_earlier_version_are_gone_on_from)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_write_earlier_ids();
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	stub_write_earlier_ids();
	/* The other node lacks all of them. */
	ck_assert_int_eq(add(1, 'd'), ERR_OK);
	must_have("abcd");
	ck_assert_uint_eq(stub_transactions(), 4);
}
END_TEST

/* As long as what the node has, and by nodes of an earlier version. */
START_TEST(entries_of_an_earlier_version_are_compared)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_forget("grid/");
	ck_assert_int_eq(add(1, 'z'), ERR_OK);
	stub_write_earlier_ids();
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_uint_eq(stub_transactions(), 2);
	ck_assert_int_eq(add(1, 'y'), ERR_OK);
}
END_TEST

/* A log with a head and without its last entry is none that a node has written. */
START_TEST(a_log_that_lacks_its_last_entry_is_not_written_to)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stub_forget("grid/log/");
	ck_assert_int_eq(add(0, 'b'), ERR_FORKED);
	ck_assert_uint_eq(stub_transactions(), 1);
}
END_TEST

/* More entries than one answer has. */
START_TEST(a_node_far_behind_catches_up)
{
	char text[256];

	for (unsigned i = 0; i < 150; i++)
		ck_assert_int_eq(add(0, (char)('a' + i % 26)), ERR_OK);
	read_text(text, 1);
	ck_assert_uint_eq(strlen(text), 150);
	must_have(text);
}
END_TEST

static struct engine_node
make_node(const char *name, const char *run, uint64_t beat)
{
	struct engine_node node = {.beat = beat, .log_version = 1};

	snprintf(node.name, sizeof(node.name), "%s", name);
	snprintf(node.run, sizeof(node.run), "%s", run);
	snprintf(node.address, sizeof(node.address), "http://192.0.2.1");
	snprintf(node.program, sizeof(node.program), "0.9");
	node.places[STORE_STATE] = beat * 10;
	return node;
}

static enum err
put_node(unsigned at, const char *name, const char *run, uint64_t beat,
    struct engine_node *other)
{
	const struct engine_node node = make_node(name, run, beat);

	return engines[at]->node_put(engines[at], &node, 10, other);
}

static enum err
add_node(void *context, const struct engine_node *node)
{
	const struct engine_node wanted =
	    make_node(node->name, node->run, node->beat);

	ck_assert_mem_eq(node, &wanted, sizeof(wanted));
	buf_addf(
	    context, "%s %s %u, ", node->name, node->run, (unsigned)node->beat);
	return ERR_OK;
}

static void
must_have_nodes(const char *wanted)
{
	struct buf text;

	buf_init(&text, 1000);
	ck_assert_int_eq(
	    engines[0]->nodes(engines[0], add_node, &text), ERR_OK);
	buf_add_char(&text, '\0');
	ck_assert_int_eq(buf_end(&text), ERR_OK);
	ck_assert_str_eq(text.data, wanted);
	buf_fini(&text);
}

START_TEST(nodes_know_of_each_other)
{
	struct engine_node other;

	must_have_nodes("");
	ck_assert_int_eq(put_node(0, "b", "r1", 1, &other), ERR_OK);
	ck_assert_int_eq(put_node(1, "a", "r2", 1, &other), ERR_OK);
	ck_assert_int_eq(put_node(0, "b", "r1", 2, &other), ERR_OK);
	must_have_nodes("a r2 1, b r1 2, ");
	stub_forget("grid/node/a");
	stub_forget("grid/run/a");
	must_have_nodes("b r1 2, ");
	ck_assert_int_eq(put_node(1, "a", "r3", 7, &other), ERR_OK);
	must_have_nodes("a r3 7, b r1 2, ");
	/* The log is another matter. */
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	must_have("a");
}
END_TEST

START_TEST(two_nodes_of_one_name_are_told)
{
	struct engine_node other;

	ck_assert_int_eq(put_node(0, "a", "r1", 1, &other), ERR_OK);
	ck_assert_int_eq(put_node(1, "a", "r2", 1, &other), ERR_EXISTS);
	ck_assert_str_eq(other.run, "r1");
	ck_assert_uint_eq(other.beat, 1);
	ck_assert_int_eq(put_node(0, "a", "r1", 2, &other), ERR_OK);
	ck_assert_int_eq(put_node(1, "a", "r2", 2, &other), ERR_EXISTS);
	ck_assert_uint_eq(other.beat, 2);
	must_have_nodes("a r1 2, ");
}
END_TEST

/* _i: a weather. */
START_TEST(a_record_that_is_told_is_there)
{
	struct engine_node other;
	enum err err;

	stub_set((enum stub_weather)_i, 2);
	err = put_node(0, "a", "r1", 1, &other);
	ck_assert_msg(err == ERR_OK || err == ERR_AWAY, "%s", err_text(err));
	stub_set(STUB_SOUND, 0);
	stub_rest();
	if (err == ERR_OK)
		must_have_nodes("a r1 1, ");
	ck_assert_int_eq(put_node(0, "a", "r1", 2, &other), ERR_OK);
	must_have_nodes("a r1 2, ");
}
END_TEST

START_TEST(what_is_no_address_is_refused)
{
	static const char *const wrong[] = {"", "127.0.0.1:2379", "ftp://a:1",
	    "http://a:1/v3", "http://a:1,", "http://u:p@a:1",
	    "http://a:1,,http://b:1"};
	struct engine *engine;
	struct fault fault;

	fault_clear(&fault);
	settings.members = wrong[_i];
	ck_assert_int_eq(
	    engine_etcd_open(&engine, &settings, &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "etcd");
	ck_assert_ptr_null(engine);
	settings.members = members;
	settings.name = "a/b";
	fault_clear(&fault);
	ck_assert_int_eq(
	    engine_etcd_open(&engine, &settings, &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "name");
}
END_TEST

/* The threads of the stub live as long as the process. */
const bool run_forks = true;

Suite *
test_suite(void)
{
	Suite *suite = suite_create("engine_etcd");
	TCase *tc = tcase_create("engine_etcd");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, two_nodes_write_one_log);
	tcase_add_loop_test(
	    tc, what_was_told_is_there_once, 0, 2 * STUB_WEATHERS);
	tcase_add_loop_test(
	    tc, an_answer_that_was_lost_is_asked_for_again, 0, 6);
	tcase_add_test(tc, a_log_that_is_full_stores_nothing);
	tcase_add_test(tc, nobody_is_asked_for_a_moment_after_a_failure);
	tcase_add_test(tc, a_user_logs_in_again_when_the_token_has_ended);
	tcase_add_test(tc, who_has_no_user_stores_nothing);
	tcase_add_test(tc, an_etcd_made_anew_is_not_written_to);
	tcase_add_test(tc, entries_of_an_earlier_version_are_gone_on_from);
	tcase_add_test(tc, entries_of_an_earlier_version_are_compared);
	tcase_add_test(tc, a_log_that_lacks_its_last_entry_is_not_written_to);
	tcase_add_test(tc, a_node_far_behind_catches_up);
	tcase_add_test(tc, nodes_know_of_each_other);
	tcase_add_test(tc, two_nodes_of_one_name_are_told);
	tcase_add_loop_test(
	    tc, a_record_that_is_told_is_there, 0, STUB_WEATHERS);
	tcase_add_loop_test(tc, what_is_no_address_is_refused, 0, 7);
	suite_add_tcase(suite, tc);
	return suite;
}
