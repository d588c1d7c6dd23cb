/*
 * tests/lmdb-schema/upkeep/test_edition_await.c: how an import tells which nodes did
 * not get its files, over an engine that has nodes and texts alone.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "tests/lmdb-schema/upkeep/node_store.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define NODES 10 /* with the one that imports */

static struct store *store;
static const struct engine_node own = {.name = "node0", .run = "r"};
static const struct edition made = {.number = 1, .node = "node0"};
static char lines[1 << 16]; /* of the log, each with a line end */

/* As long as a denial with its command is. */
static const char reason[] =
    "https://grid-of-the-second-office.example: it answered 403: nginx may "
    "not read the folder files of https://grid-of-the-second-office.example: "
    "on that node, as root, 'systemd-tmpfiles --create "
    "product-grid-cluster.conf' (docs/cluster.md)";

static void
take_line(enum log_level level, const char *line)
{
	size_t len = strlen(lines);

	(void)level;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static enum err
nodes(struct engine *unused,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	enum err err = ERR_OK;

	(void)unused;
	for (unsigned i = 0; err == ERR_OK && i < NODES; i++) {
		struct engine_node node = {
		    .run = "r", .address = "https://192.0.2.1"};

		snprintf(node.name, sizeof(node.name), "node%u", i);
		err = each(context, &node);
	}
	return err;
}

static enum err
notes(struct engine *unused, const char *prefix,
    enum err (*each)(void *context, struct span name, struct span text),
    void *context)
{
	char name[64], text[1024];
	enum err err = ERR_OK;

	(void)unused;
	for (unsigned i = 1; err == ERR_OK && i < NODES; i++) {
		snprintf(name, sizeof(name), "%snode%u/import", prefix, i);
		snprintf(text, sizeof(text), "r %s", reason);
		err = each(context, span_of(name), span_of(text));
	}
	return err;
}

static enum err
heads(struct engine *unused, bool sure, uint64_t out[STORE_ENVS])
{
	(void)unused, (void)sure, (void)out;
	return ERR_AWAY;
}

static enum err
put_holders(void *context, struct kv_txn *txn)
{
	char name[ENGINE_NODE_NAME_MAX], sha[FILES_NAME_LEN + 1] = "";
	enum err err = ERR_OK;

	(void)context;
	memset(sha, 'a', FILES_NAME_LEN);
	for (unsigned i = 1; err == ERR_OK && i < NODES; i++) {
		snprintf(name, sizeof(name), "node%u", i);
		err = edition_put_holder(txn, name, sha);
	}
	return err;
}

static void
begin(void)
{
	struct engine *engine;

	store = node_store_begin(put_holders);
	engine = store_engine(store);
	engine->nodes = nodes;
	engine->notes = notes;
	engine->heads = heads;
	lines[0] = '\0';
	log_open("test", LOG_WARN_);
	log_catch(take_line);
}

static void
end(void)
{
	quiet_end();
	node_store_end(store);
}

START_TEST(of_ten_nodes_each_reason_is_told_to_its_end)
{
	const struct edition_awaited awaited = {
	    .store = store, .own = &own, .made = &made, .copies = NODES + 1};
	char line[sizeof(reason) + 128];
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(edition_await(&awaited, 0, &fault), ERR_TIMED_OUT);
	ck_assert_ptr_nonnull(strstr(fault.message,
	    "nothing was changed: 1 of 11 nodes have the import's files"));
	ck_assert_ptr_null(strstr(fault.message, "..."));
	for (unsigned i = 1; i < NODES; i++) {
		snprintf(line, sizeof(line),
		    "node node%u does not get them: %s\n", i, reason);
		ck_assert_msg(strstr(lines, line) != NULL, "%s", lines);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("edition_await");
	TCase *tc = tcase_create("edition_await");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, of_ten_nodes_each_reason_is_told_to_its_end);
	suite_add_tcase(suite, tc);
	return suite;
}
