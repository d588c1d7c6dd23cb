/*
 * Two nodes that share a log: each stores in the order of the log, whatever
 * becomes of an append. mirror.h has all other tests' writes go this way.
 */
#include "lmdb-schema/store/write_log.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "tests/lmdb-schema/store/letters.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define ENTRIES_MAX 16
#define ENTRY_MAX 1024

/* The log, and what befalls the next appends. */
static struct entry {
	char id[ENGINE_ID_LEN], bytes[ENTRY_MAX];
	size_t len;
} entries[ENTRIES_MAX];
static unsigned count;
static enum { SOUND, AWAY, LOST, LATE, DARK } weather;
static unsigned bad; /* as many appends meet it */
static unsigned appends; /* calls */

/*
 * LATE appends, and LOST does not: neither caller can tell. DARK appends, and
 * tells nobody.
 */
static enum err
append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	bool meets = bad > 0;
	struct entry *to = &entries[count];

	(void)engine;
	(void)chain;
	ck_assert_int_eq(log, STORE_STATE);
	appends++;
	bad -= meets;
	if (meets && weather == AWAY)
		return ERR_AWAY;
	if (meets && weather == LOST)
		return ERR_UNKNOWN;
	if (after < count && memcmp(entries[after].id, id.ptr, id.len) != 0)
		return ERR_BEHIND;
	if (after < count)
		return meets && weather == DARK ? ERR_UNKNOWN : ERR_OK;
	ck_assert_uint_eq(after, count);
	ck_assert_uint_lt(count, ENTRIES_MAX);
	ck_assert_uint_le(entry.len, ENTRY_MAX);
	memcpy(to->id, id.ptr, id.len);
	memcpy(to->bytes, entry.ptr, entry.len);
	to->len = entry.len;
	count++;
	return meets ? ERR_UNKNOWN : ERR_OK;
}

static bool is_trimmed; /* all entries, so that none is left to read */

static enum err
read_log(struct engine *engine, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	enum err err = ERR_OK;

	(void)engine;
	(void)log;
	if (is_trimmed)
		return ERR_OK;
	for (uint64_t i = after; i < count && err == ERR_OK; i++)
		err = each(context, i + 1,
		    span_make(entries[i].bytes, entries[i].len));
	return err;
}

static unsigned stale; /* entries that a look lacks which is not sure */
static unsigned lost; /* and one that is */
static bool is_away; /* for one that is sure */

static enum err
get_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	(void)engine;
	memset(heads, 0, STORE_ENVS * sizeof(heads[0]));
	heads[STORE_STATE] = count - (sure ? lost : stale);
	return sure && is_away ? ERR_AWAY : ERR_OK;
}

static const char *epoch = ""; /* of the cluster; the nodes' is 0 */

static enum err
get_epoch(struct engine *engine, struct buf *text)
{
	(void)engine;
	buf_add_span(text, span_of(epoch));
	return buf_end(text);
}

static struct engine engine = {
    .append = append, .read = read_log, .heads = get_heads, .epoch = get_epoch};
static struct store *nodes[2];

static void
open_node(unsigned which)
{
	const char *dir = scratch_path(which == 0 ? "a" : "b");
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(store_open(&nodes[which], dir, &fault), ERR_OK);
	store_share(nodes[which], &engine);
}

static void
make_nodes(void)
{
	struct fault fault;

	scratch_make();
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_eq(store_create(scratch_path("a"), &fault), ERR_OK);
	ck_assert_int_eq(store_create(scratch_path("b"), &fault), ERR_OK);
	open_node(0);
	open_node(1);
	count = appends = bad = stale = lost = 0;
	is_away = is_trimmed = false;
	epoch = "";
}

static void
remove_nodes(void)
{
	store_close(nodes[0]);
	store_close(nodes[1]);
	quiet_end();
	scratch_remove();
}

static enum err
add(unsigned node, char letter)
{
	return store_write(nodes[node], STORE_STATE, letters_add, &letter);
}

/* Reads, as a write that finds nothing to change. */
static enum err
change_nothing(void *seen, struct kv_txn *txn)
{
	struct span value;
	enum err err = kv_get(txn, STATE_META, SPAN("text"), &value);

	*(size_t *)seen = err == ERR_OK ? value.len : 0;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
look(unsigned node, size_t *seen)
{
	return store_write(nodes[node], STORE_STATE, change_nothing, seen);
}

static void
follow(unsigned node)
{
	ck_assert_int_eq(
	    write_log_follow(&engine, STORE_STATE, store_state(nodes[node])),
	    ERR_OK);
}

static void
must_have(unsigned node, const char *text)
{
	struct kv_txn *txn;
	struct span value;

	ck_assert_int_eq(kv_read(&txn, store_state(nodes[node])), ERR_OK);
	if (kv_get(txn, STATE_META, SPAN("text"), &value) != ERR_OK)
		value = SPAN("");
	ck_assert_msg(span_eq(value, span_of(text)), "%.*s, not %s",
	    SPAN_ARG(value), text);
	kv_abort(txn);
}

static void
must_have_once(char letter)
{
	struct kv_txn *txn;
	struct span value;
	unsigned times = 0;

	ck_assert_int_eq(kv_read(&txn, store_state(nodes[0])), ERR_OK);
	ck_assert_int_eq(kv_get(txn, STATE_META, SPAN("text"), &value), ERR_OK);
	for (size_t i = 0; i < value.len; i++)
		times += value.ptr[i] == letter;
	ck_assert_uint_eq(times, 1);
	kv_abort(txn);
}

START_TEST(each_node_writes_behind_what_the_other_wrote)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	must_have(1, "");
	ck_assert_int_eq(add(1, 'b'), ERR_OK);
	must_have(1, "ab");
	ck_assert_int_eq(add(1, 'c'), ERR_OK);
	must_have(0, "a");
	ck_assert_int_eq(add(0, 'd'), ERR_OK);
	must_have(0, "abcd");
	follow(1);
	must_have(1, "abcd");
	ck_assert_uint_eq(count, 4);
}
END_TEST

START_TEST(a_log_out_of_reach_stores_nothing)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	weather = AWAY;
	bad = 1;
	ck_assert_int_eq(add(0, 'b'), ERR_AWAY);
	must_have(0, "a");
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	follow(1);
	must_have(1, "ac");
}
END_TEST

/* _i: the append was lost, or it was not and only its answer was. */
START_TEST(an_unknown_outcome_is_asked_for_again)
{
	weather = _i == 0 ? LOST : LATE;
	bad = 3;
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_gt(appends, 1);
	must_have(0, "a");
	ck_assert_int_eq(add(1, 'b'), ERR_OK);
	must_have(1, "ab");
}
END_TEST

START_TEST(an_outcome_that_stays_unknown_comes_with_the_log)
{
	weather = LATE;
	bad = 1;
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	weather = LOST;
	bad = UINT32_MAX;
	ck_assert_int_eq(add(0, 'b'), ERR_UNKNOWN);
	must_have(0, "a");
	bad = 0;
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	must_have(0, "ac");
}
END_TEST

static void *
add_in_thread(void *letter)
{
	ck_assert_int_eq(add(0, *(char *)letter), ERR_UNKNOWN);
	return NULL;
}

/* While the writer is held up, all three queue for one commit. */
START_TEST(writes_of_an_unknown_outcome_are_not_done_again_one_by_one)
{
	static char letters[] = "abc";
	pthread_t threads[3];
	struct kv_txn *txn;

	weather = DARK;
	bad = UINT32_MAX;
	ck_assert_int_eq(kv_write(&txn, store_state(nodes[0])), ERR_OK);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
				     add_in_thread, &letters[i]),
		    0);
	usleep(300000);
	kv_abort(txn);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	bad = 0;
	ck_assert_int_eq(add(0, 'd'), ERR_OK);
	for (unsigned i = 0; i < 3; i++)
		must_have_once(letters[i]);
}
END_TEST

/* No byte of any file. */
static void
limit_writes(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(what_this_nodes_disk_does_not_take_is_stored)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	limit_writes(0);
	ck_assert_int_eq(add(0, 'b'), ERR_STORED);
	must_have(0, "a");
	/* Behind the entry that the log has. */
	ck_assert_int_ne(add(0, 'c'), ERR_OK);
	limit_writes(RLIM_INFINITY);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(add(1, 'd'), ERR_OK);
	ck_assert_int_eq(add(0, 'e'), ERR_OK);
	must_have(0, "abde");
}
END_TEST

START_TEST(a_node_goes_on_where_it_was)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	store_close(nodes[0]);
	ck_assert_int_eq(add(1, 'b'), ERR_OK);
	open_node(0);
	must_have(0, "a");
	ck_assert_int_eq(add(0, 'c'), ERR_OK);
	must_have(0, "abc");
}
END_TEST

START_TEST(what_changes_nothing_or_this_node_alone_is_no_entry)
{
	struct catalog_view *view;

	ck_assert_int_eq(catalog_note_words(nodes[0], 7), ERR_OK);
	ck_assert_int_eq(catalog_view_open(&view, nodes[0]), ERR_OK);
	ck_assert_uint_eq(catalog_words(view), 7);
	catalog_view_close(view);
	ck_assert_uint_eq(appends, 0);
}
END_TEST

START_TEST(what_changes_nothing_is_of_the_newest_state)
{
	size_t seen;

	ck_assert_int_eq(look(1, &seen), ERR_OK);
	ck_assert_uint_eq(seen, 0);
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(look(1, &seen), ERR_OK);
	ck_assert_uint_eq(seen, 1);
	must_have(1, "a");
	is_away = true;
	ck_assert_int_eq(look(1, &seen), ERR_AWAY);
	ck_assert_int_eq(catalog_note_words(nodes[1], 7), ERR_OK);
	is_away = false;
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	is_trimmed = true;
	ck_assert_int_eq(look(1, &seen), ERR_OUTRUN);
	is_trimmed = false;
	lost = 2;
	ck_assert_int_eq(look(1, &seen), ERR_FORKED);
	ck_assert_int_eq(quiet_lines(), 1);
	ck_assert_uint_eq(appends, 2);
}
END_TEST

static enum err
apply(uint64_t number, struct span bytes)
{
	return write_log_apply(store_state(nodes[1]), number, bytes);
}

START_TEST(entries_are_applied_once_and_in_order)
{
	struct span bytes[2];

	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	ck_assert_int_eq(add(0, 'b'), ERR_OK);
	for (unsigned i = 0; i < 2; i++)
		bytes[i] = span_make(entries[i].bytes, entries[i].len);
	ck_assert_int_eq(apply(2, bytes[1]), ERR_NOT_FOUND);
	ck_assert_int_eq(apply(1, bytes[1]), ERR_FORKED);
	ck_assert_int_eq(apply(1, bytes[0]), ERR_OK);
	ck_assert_int_eq(apply(1, bytes[0]), ERR_EXISTS);
	ck_assert_int_eq(apply(2, bytes[0]), ERR_FORKED);
	must_have(1, "a");
	ck_assert_int_eq(apply(2, bytes[1]), ERR_OK);
	must_have(1, "ab");
}
END_TEST

#define TIME_AT (1 + ENGINE_ID_LEN + DIGEST_SHA256_LEN)
#define FRAME_AT (TIME_AT + 8 + 4)

/*
 * Parts that do not count when the entry is applied: the id, the time, and how the
 * head of the zstd frame is written (RFC 8878, 3.1.1.1.1).
 */
static bool
is_beside(size_t bit)
{
	size_t at = bit / 8;

	return (at > 0 && at <= ENGINE_ID_LEN) ||
	    (at >= TIME_AT && at < TIME_AT + 8) || at == FRAME_AT + 4;
}

START_TEST(a_damaged_entry_is_refused)
{
	struct entry *entry = &entries[0];
	enum err err;

	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	for (size_t bit = 0; bit < entry->len * 8; bit++) {
		if (is_beside(bit))
			continue;
		entry->bytes[bit / 8] ^= (char)(1 << bit % 8);
		err = apply(1, span_make(entry->bytes, entry->len));
		ck_assert_msg(err == ERR_DAMAGED || err == ERR_FORKED ||
			err == ERR_VERSION,
		    "bit %zu: %s", bit, err_text(err));
		entry->bytes[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t len = 0; len < entry->len; len++)
		ck_assert_int_eq(
		    apply(1, span_make(entry->bytes, len)), ERR_DAMAGED);
	must_have(1, "");
	entry->bytes[0]++;
	ck_assert_int_eq(
	    write_log_follow(&engine, STORE_STATE, store_state(nodes[1])),
	    ERR_VERSION);
	ck_assert_int_eq(quiet_lines(), 1);
	entry->bytes[0]--;
	follow(1);
	must_have(1, "a");
}
END_TEST

static enum err
catch_up(unsigned node)
{
	return write_log_catch_up(
	    &engine, STORE_STATE, store_state(nodes[node]));
}

/* As of a server that another has taken over from. */
START_TEST(a_head_of_a_moment_before_is_no_loss)
{
	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	stale = 1;
	ck_assert_int_eq(catch_up(0), ERR_OK);
	is_away = true;
	ck_assert_int_eq(catch_up(0), ERR_AWAY);
	ck_assert_int_eq(quiet_lines(), 0);
	is_away = false;
	lost = 1;
	ck_assert_int_eq(catch_up(0), ERR_FORKED);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

/* The log was lost, and another node has begun again: this one has to join. */
START_TEST(a_lost_log_has_ended_where_a_later_epoch_has_begun)
{
	size_t seen;

	ck_assert_int_eq(add(0, 'a'), ERR_OK);
	lost = stale = 1;
	epoch = "0 7 x";
	ck_assert_int_eq(catch_up(0), ERR_FORKED);
	epoch = "1 7 x";
	ck_assert_int_eq(catch_up(0), ERR_OUTRUN);
	ck_assert_int_eq(look(0, &seen), ERR_OUTRUN);
	ck_assert_int_eq(quiet_lines(), 2);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("write_log");
	TCase *tc = tcase_create("write_log");

	tcase_add_checked_fixture(tc, make_nodes, remove_nodes);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, each_node_writes_behind_what_the_other_wrote);
	tcase_add_test(tc, a_log_out_of_reach_stores_nothing);
	tcase_add_test(tc, a_head_of_a_moment_before_is_no_loss);
	tcase_add_test(tc, a_lost_log_has_ended_where_a_later_epoch_has_begun);
	tcase_add_loop_test(tc, an_unknown_outcome_is_asked_for_again, 0, 2);
	tcase_add_test(tc, an_outcome_that_stays_unknown_comes_with_the_log);
	tcase_add_test(
	    tc, writes_of_an_unknown_outcome_are_not_done_again_one_by_one);
	tcase_add_test(tc, what_this_nodes_disk_does_not_take_is_stored);
	tcase_add_test(tc, a_node_goes_on_where_it_was);
	tcase_add_test(tc, what_changes_nothing_or_this_node_alone_is_no_entry);
	tcase_add_test(tc, what_changes_nothing_is_of_the_newest_state);
	tcase_add_test(tc, entries_are_applied_once_and_in_order);
	tcase_add_test(tc, a_damaged_entry_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
