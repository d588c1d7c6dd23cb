/*
 * tests/lmdb-schema/upkeep/test_lacks.c: when a node tells that it is short of an
 * import, over an engine that has texts alone.
 */
#include "lmdb-schema/upkeep/lacks.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define S INT64_C(1000000000)

static struct store *store;
static struct engine engine;
static struct lacks_telling telling;
static struct lacks_note note; /* of an import */
static const struct engine_node own = {.name = "one", .run = "r1"};
static char name_there[128], text_there[256]; /* "": none */
static unsigned requests;
static bool away;

static enum err
note_put(struct engine *unused, struct span name, struct span text)
{
	(void)unused;
	requests++;
	if (away)
		return ERR_AWAY;
	ck_assert(span_copy(name_there, sizeof(name_there), name));
	ck_assert(span_copy(text_there, sizeof(text_there), text));
	return ERR_OK;
}

static enum err
note_drop(struct engine *unused, struct span name)
{
	(void)unused;
	ck_assert(span_starts(name, SPAN("lacks/one")));
	requests++;
	text_there[0] = '\0';
	return away ? ERR_AWAY : ERR_OK;
}

static enum err
notes(struct engine *unused, const char *prefix,
    enum err (*each)(void *context, struct span name, struct span text),
    void *context)
{
	(void)unused;
	ck_assert_str_eq(prefix, "lacks/");
	return text_there[0] == '\0'
	    ? ERR_OK
	    : each(context, span_of(name_there), span_of(text_there));
}

static enum err
publish(void *context, struct kv_txn *txn)
{
	struct edition edition = {.number = *(uint64_t *)context,
	    .node = "two",
	    .address = "http://192.0.2.2"};

	memset(edition.text.name, 'a', FILES_NAME_LEN);
	return edition_put(txn, edition_now, &edition);
}

/* Of another node, which this one does not show. */
static void
import(uint64_t number)
{
	ck_assert_int_eq(
	    store_write(store, STORE_STATE, publish, &number), ERR_OK);
}

static void
begin(void)
{
	static const char conf[] = "[cluster]\netcd = http://127.0.0.1:1\n"
				   "node = one\naddress = http://192.0.2.1\n"
				   "secret_file = secret\n";
	struct fault fault;

	scratch_make();
	fault_clear(&fault);
	engine = (struct engine){.title = "texts",
	    .note_put = note_put,
	    .note_drop = note_drop,
	    .notes = notes};
	ck_assert_int_eq(store_create(scratch_path("data"), &fault), ERR_OK);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("data"), &fault), ERR_OK);
	import(4);
	store_close(store);
	scratch_write("data/cluster.conf", conf, sizeof(conf) - 1);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("data"), &fault), ERR_OK);
	memset(&telling, 0, sizeof(telling));
	memset(&note, 0, sizeof(note));
	requests = 0;
	away = false;
	text_there[0] = '\0';
}

static void
end(void)
{
	store_close(store);
	scratch_remove();
}

static enum err
tell(int64_t at_s)
{
	return lacks_tell(&telling, store, &engine, &own, 0, ERR_OK, at_s * S);
}

/* Alone of its log, with the files of all. */
static void
stand(enum err followed, uint64_t place, int64_t at_s)
{
	struct engine_node node = own;

	node.places[STORE_STATE] = place;
	ck_assert_int_eq(
	    lacks_tell(&telling, store, &engine, &node, 0, followed, at_s * S),
	    ERR_OK);
}

START_TEST(a_node_that_is_getting_an_import_tells_nothing)
{
	snprintf(name_there, sizeof(name_there), "lacks/one");
	snprintf(text_there, sizeof(text_there), "r0 3 0");
	ck_assert_int_eq(tell(100), ERR_OK);
	ck_assert_int_eq(tell(100 + LACKS_S - 1), ERR_OK);
	/* But that the text of the run before goes. */
	ck_assert_uint_eq(requests, 1);
	ck_assert_str_eq(text_there, "");
}
END_TEST

START_TEST(a_node_that_lacks_an_import_for_long_tells_it_once)
{
	ck_assert_int_eq(tell(100), ERR_OK);
	requests = 0;
	ck_assert_int_eq(tell(100 + LACKS_S), ERR_OK);
	ck_assert_int_eq(tell(103 + LACKS_S), ERR_OK);
	ck_assert_str_eq(name_there, "lacks/one");
	ck_assert_str_eq(text_there, "r1 4 0");
	ck_assert_uint_eq(requests, 1);
}
END_TEST

START_TEST(a_node_that_takes_in_no_entry_tells_why)
{
	stand(ERR_NO_SPACE, 7, 100);
	stand(ERR_NO_SPACE, 7, 100 + LACKS_STANDS_S - 1);
	ck_assert_str_eq(text_there, "");
	stand(ERR_NO_SPACE, 7, 100 + LACKS_STANDS_S);
	ck_assert_str_eq(text_there, "r1 0 0 the disk is full: make room");
	/* A step takes it back, as the log's end does. */
	stand(ERR_NO_SPACE, 8, 101 + LACKS_STANDS_S);
	ck_assert_str_eq(text_there, "");
	stand(ERR_NO_SPACE, 8, 101 + 2 * LACKS_STANDS_S);
	ck_assert_str_ne(text_there, "");
	stand(ERR_OK, 8, 102 + 2 * LACKS_STANDS_S);
	ck_assert_str_eq(text_there, "");
}
END_TEST

/* _i: the log is out of reach, or another node has the name. */
START_TEST(what_is_told_elsewhere_is_no_standing)
{
	enum err followed = _i == 0 ? ERR_AWAY : ERR_EXISTS;

	stand(followed, 7, 100);
	stand(followed, 7, 100 + LACKS_STANDS_S);
	ck_assert_str_eq(text_there, "");
}
END_TEST

START_TEST(what_could_not_be_told_is_told_later)
{
	ck_assert_int_eq(tell(100), ERR_OK);
	away = true;
	ck_assert_int_eq(tell(100 + LACKS_S), ERR_AWAY);
	away = false;
	ck_assert_int_eq(tell(101 + LACKS_S), ERR_OK);
	ck_assert_str_eq(text_there, "r1 4 0");
}
END_TEST

/* Of an import that does not come, and of the bucket. */
static const struct reason {
	enum err (*tell)(struct lacks_note *note, struct engine *engine,
	    const struct engine_node *own, const struct fault *why);
	const char *name;
} reasons[] = {
    {lacks_tell_import, "lacks/one/import"},
    {lacks_tell_bucket, "lacks/one/bucket"},
};

START_TEST(a_reason_is_told_once_and_taken_back)
{
	const struct reason *of = &reasons[_i];
	struct fault why;

	fault_clear(&why);
	fault_set(&why, "/data/x", "the disk is full");
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(of->tell(&note, &engine, &own, &why), ERR_OK);
	ck_assert_str_eq(name_there, of->name);
	ck_assert_str_eq(text_there, "r1 /data/x: the disk is full");
	ck_assert_uint_eq(requests, 1);
	fault_clear(&why);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(of->tell(&note, &engine, &own, &why), ERR_OK);
	ck_assert_str_eq(text_there, "");
	ck_assert_uint_eq(requests, 2);
}
END_TEST

START_TEST(a_node_that_shares_no_files_lacks_nothing)
{
	static const char conf[] = "[cluster]\netcd = http://127.0.0.1:1\n"
				   "node = one\n";
	struct lacks lacks;

	ck_assert_int_eq(lacks_look(&lacks, store), ERR_OK);
	ck_assert_uint_eq(lacks.import, 4);
	scratch_write("data/cluster.conf", conf, sizeof(conf) - 1);
	ck_assert_int_eq(lacks_look(&lacks, store), ERR_OK);
	ck_assert_uint_eq(lacks.import, 0);
}
END_TEST

static const struct {
	const char *name, *text, *node, *run;
	struct lacks found;
} told[] = {
    {"lacks/one", "r1 4 0", "one", "r1", {4, 0, "", "", ""}},
    {"lacks/one", "r1 0 12", "one", "r1", {0, 12, "", "", ""}},
    {"lacks/one", "r1 0 12 no room: a", "one", "r1",
	{0, 12, "no room: a", "", ""}},
    {"lacks/one", "r1 0 12 no room: a", "one", "r2", {0, 0, "", "", ""}},
    {"lacks/one/import", "r1 no room: a", "one", "r1",
	{0, 0, "", "no room: a", ""}},
    {"lacks/one/bucket", "r1 full: a", "one", "r1", {0, 0, "", "", "full: a"}},
    {"lacks/one/bucket", "r1 full: a", "one", "r2", {0, 0, "", "", ""}},
    {"lacks/one/import", "r1 no room: a", "one", "r2", {0, 0, "", "", ""}},
    {"lacks/one/import", "r1 no room: a", "on", "r1", {0, 0, "", "", ""}},
    {"lacks/one", "r1 0 12", "on", "r1", {0, 0, "", "", ""}},
    {"lacks/one", "r1 -1 x", "one", "r1", {0, 0, "", "", ""}},
    {"lacks/one", "", "one", "r1", {0, 0, "", "", ""}},
    {"lacks/one", "r1", "one", "r1", {0, 0, "", "", ""}},
};

START_TEST(a_text_is_of_its_run_alone)
{
	struct engine_node node = {.name = ""};
	struct lacks found;
	struct buf lines;

	snprintf(node.name, sizeof(node.name), "%s", told[_i].node);
	snprintf(node.run, sizeof(node.run), "%s", told[_i].run);
	snprintf(name_there, sizeof(name_there), "%s", told[_i].name);
	snprintf(text_there, sizeof(text_there), "%s", told[_i].text);
	buf_init(&lines, LACKS_TEXT_MAX);
	ck_assert_int_eq(lacks_read(&lines, &engine), ERR_OK);
	lacks_find(&found, &lines, &node);
	ck_assert_uint_eq(found.import, told[_i].found.import);
	ck_assert_uint_eq(found.snapshots, told[_i].found.snapshots);
	ck_assert_str_eq(found.stands, told[_i].found.stands);
	ck_assert_str_eq(found.import_why, told[_i].found.import_why);
	ck_assert_str_eq(found.bucket_why, told[_i].found.bucket_why);
	buf_fini(&lines);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("lacks");
	TCase *tc = tcase_create("lacks");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_node_that_is_getting_an_import_tells_nothing);
	tcase_add_test(tc, a_node_that_lacks_an_import_for_long_tells_it_once);
	tcase_add_test(tc, a_node_that_takes_in_no_entry_tells_why);
	tcase_add_loop_test(tc, what_is_told_elsewhere_is_no_standing, 0, 2);
	tcase_add_test(tc, what_could_not_be_told_is_told_later);
	tcase_add_loop_test(tc, a_reason_is_told_once_and_taken_back, 0,
	    sizeof(reasons) / sizeof(reasons[0]));
	tcase_add_test(tc, a_node_that_shares_no_files_lacks_nothing);
	tcase_add_loop_test(tc, a_text_is_of_its_run_alone, 0,
	    (int)(sizeof(told) / sizeof(told[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
