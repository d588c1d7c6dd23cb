#include "common/kv.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define MAP_BYTES (64u << 20)

static const char *const two_tables[] = {"first", "second"};
static int lines_logged;

static void
count_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
	lines_logged++;
}

static void
setup(void)
{
	scratch_make();
	lines_logged = 0;
	log_catch(count_line);
}

static void
teardown(void)
{
	log_catch(NULL);
	scratch_remove();
}

/* --- helpers -------------------------------------------------------------- */

static struct kv_spec
spec_of(const char *name, enum kv_mode mode)
{
	return (struct kv_spec){.path = scratch_path(name),
	    .mode = mode,
	    .map_bytes = mode == KV_FROZEN ? 0 : MAP_BYTES};
}

static struct kv *
open_kv(const char *name, enum kv_mode mode)
{
	struct kv_spec spec = spec_of(name, mode);
	struct kv *kv;

	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_ptr_nonnull(kv);
	return kv;
}

static enum err
try_open(const char *name, enum kv_mode mode)
{
	struct kv_spec spec = spec_of(name, mode);
	struct kv *kv;
	enum err err = kv_open(&kv, &spec);

	ck_assert_int_eq(err == ERR_OK, kv != NULL);
	kv_close(kv);
	return err;
}

static void
put_one(struct kv *kv, const char *key, const char *value)
{
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, span_of(key), span_of(value)), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

static bool
is_there(struct kv_txn *txn, unsigned table, const char *key, const char *value)
{
	struct span got;
	enum err err = kv_get(txn, table, span_of(key), &got);

	ck_assert(err == ERR_OK || err == ERR_NOT_FOUND);
	return err == ERR_OK && span_eq(got, span_of(value));
}

static bool
has_one(struct kv *kv, const char *key, const char *value)
{
	struct kv_txn *txn;
	bool there;

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	there = is_there(txn, 0, key, value);
	kv_abort(txn);
	return there;
}

/* `count` pairs of `size` bytes each, in one commit. */
static void
fill(struct kv *kv, unsigned count, size_t size)
{
	char *value = calloc(1, size);
	struct kv_txn *txn;
	char key[16];

	ck_assert_ptr_nonnull(value);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "%08u", i);
		ck_assert_int_eq(
		    kv_append(txn, 0, span_of(key), span_make(value, size)),
		    ERR_OK);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	free(value);
}

/* Runs `work` in a process of its own and gives its exit code. */
static int
in_child(int (*work)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(work());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Starts `work`, which writes a byte to `fd` when it is where it should be. */
static pid_t
start_child(void (*work)(int fd))
{
	int pipe_fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work(pipe_fds[1]);
		_exit(1);
	}
	close(pipe_fds[1]);
	ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	return pid;
}

static void
kill_child(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

static off_t
size_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(scratch_path(name), &st), 0);
	return st.st_size;
}

/* --- pairs ---------------------------------------------------------------- */

START_TEST(what_is_committed_is_there_after_reopening)
{
	struct kv *kv = open_kv("a.mdb", (enum kv_mode)_i);

	put_one(kv, "key", "value");
	put_one(kv, "empty", "");
	ck_assert_int_eq(kv_sync(kv), ERR_OK);
	kv_close(kv);
	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert(has_one(kv, "key", "value"));
	ck_assert(has_one(kv, "empty", ""));
	ck_assert(!has_one(kv, "other", ""));
	kv_close(kv);
	ck_assert_int_eq(lines_logged, 0);
}
END_TEST

START_TEST(what_is_aborted_is_not_there)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("key"), SPAN("v")), ERR_OK);
	ck_assert(is_there(txn, 0, "key", "v"));
	kv_abort(txn);
	kv_abort(NULL);
	ck_assert(!has_one(kv, "key", "v"));
	kv_close(kv);
	kv_close(NULL);
}
END_TEST

START_TEST(pairs_out_of_bounds_are_refused_and_do_no_harm)
{
	static const char bytes[KV_KEY_MAX + 1];
	static const struct {
		size_t key, value;
		enum err err;
	} cases[] = {
	    {1, 0, ERR_OK},
	    {KV_KEY_MAX, 10, ERR_OK},
	    {0, 1, ERR_TOO_LARGE},
	    {KV_KEY_MAX + 1, 1, ERR_TOO_LARGE},
	    {1, (size_t)UINT32_MAX + 1, ERR_TOO_LARGE},
	};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	struct span got;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct span key = span_make(bytes, cases[i].key);
		bool good = cases[i].err == ERR_OK;

		lines_logged = 0;
		ck_assert_int_eq(
		    kv_put(txn, 0, key, span_make(bytes, cases[i].value)),
		    cases[i].err);
		ck_assert_int_eq(lines_logged, good ? 0 : 1);
		if (cases[i].value > KV_KEY_MAX)
			continue;
		ck_assert_int_eq(
		    kv_get(txn, 0, key, &got), good ? ERR_OK : ERR_NOT_FOUND);
		ck_assert_int_eq(
		    kv_del(txn, 0, key), good ? ERR_OK : ERR_NOT_FOUND);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);
}
END_TEST

START_TEST(append_out_of_order_is_told_and_the_rest_goes_on)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("b"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("a"), SPAN("2")), ERR_EXISTS);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("b"), SPAN("2")), ERR_EXISTS);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("c"), SPAN("3")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert(has_one(kv, "b", "1"));
	ck_assert(!has_one(kv, "a", "2"));
	ck_assert(has_one(kv, "c", "3"));
	kv_close(kv);
}
END_TEST

START_TEST(reserved_room_is_the_value)
{
	struct kv *kv = open_kv("a.mdb", (enum kv_mode)_i);
	struct kv_txn *txn;
	struct span got;
	void *room;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    kv_reserve(txn, 0, SPAN("big"), 100000, &room), ERR_OK);
	memset(room, 'x', 100000);
	ck_assert_int_eq(kv_reserve(txn, 0, SPAN("abc"), 3, &room), ERR_OK);
	memcpy(room, "abc", 3);
	ck_assert_int_eq(kv_reserve(txn, 0, SPAN(""), 3, &room), ERR_TOO_LARGE);
	ck_assert_ptr_null(room);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert(has_one(kv, "abc", "abc"));
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_get(txn, 0, SPAN("big"), &got), ERR_OK);
	ck_assert_uint_eq(got.len, 100000);
	ck_assert(got.ptr[0] == 'x' && got.ptr[99999] == 'x');
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(tables_are_apart_counted_and_emptied)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txn;
	uint64_t count;

	spec.tables = two_tables;
	spec.table_count = 2;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("k"), SPAN("0")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 1, SPAN("k"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 1, SPAN("l"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 1, &count), ERR_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(kv_clear(txn, 1), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 1, &count), ERR_OK);
	ck_assert_uint_eq(count, 0);
	ck_assert(is_there(txn, 0, "k", "0"));
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);

	/* And are found again, without anything being written. */
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert(is_there(txn, 0, "k", "0"));
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(immutable_file_without_its_table_is_damaged)
{
	struct kv_spec spec = spec_of("a.mdb", KV_FROZEN);
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "k", "v");
	kv_close(kv);
	spec.tables = two_tables;
	spec.table_count = 2;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_DAMAGED);
	ck_assert_ptr_null(kv);
	ck_assert_int_eq(lines_logged, 1);
}
END_TEST

/* --- walks ---------------------------------------------------------------- */

static const struct {
	const char *prefix;
	const char *from;
	const char *keys; /* those that are met, each with a blank behind */
} walks[] = {
    {"", "", "a ab abc abd b ba c "},
    {"a", "", "a ab abc abd "},
    {"ab", "", "ab abc abd "},
    {"abc", "", "abc "},
    {"abcd", "", ""},
    {"d", "", ""},
    {"a", "ab", "ab abc abd "},
    {"a", "abb", "abc abd "},
    {"a", "abe", ""},
    {"a", "b", ""},
    {"b", "a", "b ba "},
    {"", "abd", "abd b ba c "},
    {"", "d", ""},
};

static void
put_walked(struct kv_txn *txn)
{
	static const char *const keys[] = {
	    "b", "abd", "c", "a", "ba", "abc", "ab"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		ck_assert_int_eq(
		    kv_put(txn, 0, span_of(keys[i]), span_of(keys[i])), ERR_OK);
}

static void
walk_all(char *met, size_t size, struct kv_txn *txn, const char *prefix,
    const char *from)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, 0, span_of(prefix), span_of(from));
	struct span key, value;
	size_t len = 0;
	enum err err;

	met[0] = '\0';
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		ck_assert(span_eq(key, value));
		len += (size_t)snprintf(
		    met + len, size - len, "%.*s ", SPAN_ARG(key));
	}
	ck_assert_int_eq(err, ERR_NOT_FOUND);
	/* And stays so. */
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	ck_assert_uint_eq(key.len, 0);
	kv_walk_end(walk);
}

START_TEST(walk_meets_the_keys_of_its_prefix_in_order)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	char met[64];

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	put_walked(txn);
	walk_all(met, sizeof(met), txn, walks[_i].prefix, walks[_i].from);
	ck_assert_str_eq(met, walks[_i].keys);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk_all(met, sizeof(met), txn, walks[_i].prefix, walks[_i].from);
	ck_assert_str_eq(met, walks[_i].keys);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(walk_over_an_empty_table_ends_at_once)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	char met[64];

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk_all(met, sizeof(met), txn, "", "");
	ck_assert_str_eq(met, "");
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

/* Keys of the greatest length, and bounds that are longer than any key. */
START_TEST(walk_bounds_may_be_longer_than_a_key)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	char text[KV_KEY_MAX + 2];
	struct span whole = span_make(text, KV_KEY_MAX + 1);
	struct span key_text = span_make(text, KV_KEY_MAX);
	struct span key, value;
	struct kv_walk *walk;
	struct kv_txn *txn;

	memset(text, 'm', sizeof(text));
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, key_text, SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("n"), SPAN("2")), ERR_OK);

	walk = kv_walk_begin(txn, 0, key_text, SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(walk);

	walk = kv_walk_begin(txn, 0, whole, SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(walk);

	walk = kv_walk_begin(txn, 0, SPAN(""), whole);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert(span_eq(key, SPAN("n")));
	kv_walk_end(walk);

	text[0] = 'l'; /* now before the first key, and not a key itself */
	walk = kv_walk_begin(txn, 0, SPAN(""), whole);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert_uint_eq(key.len, KV_KEY_MAX);
	kv_walk_end(walk);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(walk_without_memory_says_so)
{
	struct span key, value;

	ck_assert_int_eq(kv_walk_next(NULL, &key, &value), ERR_NO_MEMORY);
	kv_walk_end(NULL);
}
END_TEST

START_TEST(walk_goes_on_after_deleting)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_walk *walk;
	struct kv_txn *txn;
	struct span key, value;
	unsigned met = 0;
	uint64_t left;

	fill(kv, 5000, 20);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	walk = kv_walk_begin(txn, 0, SPAN("0000"), SPAN("00000010"));
	while (kv_walk_next(walk, &key, &value) == ERR_OK) {
		char name[16];

		snprintf(name, sizeof(name), "%08u", 10 + met++);
		ck_assert(span_eq(key, span_of(name)));
		if (met % 3 != 0)
			ck_assert_int_eq(kv_walk_del(walk), ERR_OK);
	}
	kv_walk_end(walk);
	ck_assert_uint_eq(met, 4990);
	ck_assert_int_eq(kv_count(txn, 0, &left), ERR_OK);
	ck_assert_uint_eq(left, 10 + 4990 / 3);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);
}
END_TEST

/* --- views ---------------------------------------------------------------- */

START_TEST(reader_keeps_its_view_until_it_is_renewed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader;
	uint64_t before;

	put_one(kv, "k", "old");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	before = kv_txn_id(reader);
	put_one(kv, "k", "new");
	ck_assert(is_there(reader, 0, "k", "old"));
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "new"));
	ck_assert_uint_eq(kv_txn_id(reader), before + 1);
	kv_rest(reader);
	kv_rest(reader);
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "new"));
	kv_rest(reader);
	kv_abort(reader);
	kv_close(kv);
}
END_TEST

START_TEST(writer_stands_on_the_last_commit)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader, *writer;

	put_one(kv, "k", "v");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(kv_write(&writer, kv), ERR_OK);
	ck_assert_uint_eq(kv_txn_id(reader), kv_txn_id(writer));
	ck_assert_int_eq(kv_commit(reader), ERR_OK);
	kv_abort(writer);
	kv_close(kv);
}
END_TEST

/* Both halves are always of one commit, whichever thread looks. */
static void *
look_often(void *context)
{
	struct kv *kv = context;
	struct kv_txn *txn;
	struct span a, b;
	bool good = kv_read(&txn, kv) == ERR_OK;

	for (int i = 0; good && i < 500; i++) {
		good = kv_renew(txn) == ERR_OK &&
		    kv_get(txn, 0, SPAN("a"), &a) == ERR_OK &&
		    kv_get(txn, 0, SPAN("b"), &b) == ERR_OK && span_eq(a, b);
		kv_rest(txn);
	}
	kv_abort(txn);
	return good ? context : NULL;
}

static void
put_halves(struct kv *kv, int number)
{
	struct kv_txn *txn;
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("a"), span_of(text)), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("b"), span_of(text)), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

START_TEST(threads_read_whole_commits_while_one_writes)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED_LAZY);
	pthread_t threads[4];
	void *result;

	put_halves(kv, 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, look_often, kv), 0);
	for (int i = 1; i < 200; i++)
		put_halves(kv, i);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &result), 0);
		ck_assert_ptr_nonnull(result);
	}
	kv_close(kv);
}
END_TEST

/* --- opening -------------------------------------------------------------- */

START_TEST(second_opening_of_a_live_file_is_refused)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_INTERNAL);
	ck_assert_int_eq(
	    symlink(scratch_path("a.mdb"), scratch_path("b.mdb")), 0);
	ck_assert_int_eq(try_open("b.mdb", KV_SHARED_LAZY), ERR_INTERNAL);
	ck_assert_int_eq(try_open("b.mdb", KV_FROZEN), ERR_INTERNAL);
	ck_assert_int_eq(lines_logged, 3);
	put_one(kv, "k", "v");
	kv_close(kv);
	ck_assert_int_eq(try_open("b.mdb", KV_SHARED), ERR_OK);
}
END_TEST

START_TEST(immutable_file_is_shared_until_its_last_user_closes)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv *one, *two;

	put_one(kv, "k", "v");
	kv_close(kv);
	one = open_kv("a.mdb", KV_FROZEN);
	two = open_kv("a.mdb", KV_FROZEN);
	ck_assert_ptr_eq(one, two);
	ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_INTERNAL);
	kv_close(one);
	ck_assert_int_eq(unlink(scratch_path("a.mdb")), 0);
	ck_assert(has_one(two, "k", "v"));
	kv_close(two);
	ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_NOT_FOUND);
}
END_TEST

START_TEST(finished_file_is_as_long_as_its_pages)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);
	struct kv_txn *txn;
	uint64_t count;
	size_t used;

	fill(kv, 3000, 700);
	used = kv_used_bytes(kv);
	ck_assert_int_eq(size_of("a.mdb"), MAP_BYTES);
	ck_assert_uint_gt(used, 3000 * 700);
	ck_assert_uint_lt(used, 3000 * 700 * 2);
	ck_assert_int_eq(kv_finish(kv, scratch_path("a.mdb"), ERR_OK), ERR_OK);
	ck_assert_int_eq(size_of("a.mdb"), (off_t)used);

	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert_uint_eq(kv_used_bytes(kv), used);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 0, &count), ERR_OK);
	ck_assert_uint_eq(count, 3000);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(file_whose_making_failed_is_removed)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);

	put_one(kv, "k", "v");
	ck_assert_int_eq(
	    kv_finish(kv, scratch_path("a.mdb"), ERR_BAD_INPUT), ERR_BAD_INPUT);
	ck_assert_int_ne(access(scratch_path("a.mdb"), F_OK), 0);
	ck_assert_int_eq(
	    kv_finish(NULL, scratch_path("a.mdb"), ERR_NO_SPACE), ERR_NO_SPACE);
	ck_assert_int_eq(lines_logged, 0);
}
END_TEST

START_TEST(file_that_is_there_is_not_built_over)
{
	struct kv_spec spec = spec_of("a.mdb", KV_BUILD);
	struct kv *kv;
	enum err err;

	scratch_text("a.mdb", "");
	ck_assert_int_eq(try_open("a.mdb", KV_BUILD), ERR_OK);
	err = kv_open(&kv, &spec);
	ck_assert_int_eq(err, ERR_EXISTS);
	ck_assert_int_eq(kv_finish(kv, spec.path, err), ERR_EXISTS);
	ck_assert_int_eq(size_of("a.mdb"), MAP_BYTES);
	ck_assert_int_eq(lines_logged, 1);
}
END_TEST

START_TEST(immutable_file_takes_no_writer)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	put_one(kv, "k", "v");
	kv_close(kv);
	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_DENIED);
	ck_assert_ptr_null(txn);
	ck_assert_int_eq(kv_sync(kv), ERR_OK);
	kv_close(kv);
}
END_TEST

/* --- damage --------------------------------------------------------------- */

START_TEST(cut_file_is_damaged_and_no_signal)
{
	static const enum kv_mode modes[] = {KV_FROZEN, KV_SHARED};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	off_t cut;

	fill(kv, 100, 5000);
	kv_close(kv);
	for (cut = size_of("a.mdb") - 1; cut > 0; cut = cut * 2 / 3) {
		ck_assert_int_eq(truncate(scratch_path("a.mdb"), cut), 0);
		lines_logged = 0;
		ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_DAMAGED);
		ck_assert_int_eq(lines_logged, 1);
	}
	ck_assert_int_eq(truncate(scratch_path("a.mdb"), 0), 0);
	ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_DAMAGED);
	for (int i = 0; i < 2; i++) {
		scratch_text("b.mdb", "not what it should be");
		ck_assert_int_eq(try_open("b.mdb", modes[i]), ERR_DAMAGED);
	}
}
END_TEST

/* Many free pages, in a list of several pages itself. */
static void
make_holes(struct kv *kv)
{
	struct kv_txn *reader;
	char key[16];
	char value[600] = "";

	fill(kv, 400, 600);
	/* Who still looks at the old pages keeps them from being used. */
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	for (unsigned i = 0; i < 400; i++) {
		struct kv_txn *txn;

		snprintf(key, sizeof(key), "%08u", i);
		ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
		ck_assert_int_eq(kv_put(txn, 0, span_of(key),
				     span_make(value, sizeof(value))),
		    ERR_OK);
		ck_assert_int_eq(kv_commit(txn), ERR_OK);
	}
	kv_abort(reader);
	/* Now low pages are free, for the root of the list among others. */
	for (int i = 0; i < 20; i++)
		put_one(kv, "z", "v");
}

/* How many of the pairs are there and as they were. */
static unsigned
count_good(struct kv *kv)
{
	static const char zeros[600];
	struct kv_txn *txn;
	struct span value;
	unsigned good = 0;
	char key[16];

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < 400; i++) {
		snprintf(key, sizeof(key), "%08u", i);
		if (kv_get(txn, 0, span_of(key), &value) == ERR_OK &&
		    span_eq(value, span_make(zeros, sizeof(zeros))))
			good++;
	}
	kv_abort(txn);
	return good;
}

START_TEST(live_file_cut_anywhere_is_damaged_or_whole)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED_LAZY);
	struct kv_spec spec;
	off_t whole;
	unsigned damaged = 0;
	enum err err;

	make_holes(kv);
	kv_close(kv);
	whole = size_of("a.mdb");
	for (off_t cut = whole - 1; cut > 0; cut -= 5 * 4096) {
		ck_assert_int_eq(truncate(scratch_path("a.mdb"), cut), 0);
		lines_logged = 0;
		spec = spec_of("a.mdb", KV_SHARED_LAZY);
		err = kv_open(&kv, &spec);
		if (err == ERR_OK) {
			ck_assert_int_eq(size_of("a.mdb"), whole);
			ck_assert_uint_eq(count_good(kv), 400);
			kv_close(kv);
			continue;
		}
		ck_assert_int_eq(err, ERR_DAMAGED);
		ck_assert_int_eq(lines_logged, 1);
		ck_assert_int_eq(size_of("a.mdb"), cut);
		damaged++;
	}
	ck_assert_uint_gt(damaged, 10);
}
END_TEST

/*
 * Pages taken at the end of the file and given back in one transaction are
 * never written; the file is then shorter than it says, yet whole.
 */
START_TEST(pages_given_back_at_the_end_are_no_damage)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	void *room;
	size_t used;

	/* Free pages for the rest, so that only "big" is at the end. */
	for (int i = 0; i < 5; i++)
		put_one(kv, "k", "v");
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    kv_reserve(txn, 0, SPAN("big"), 1 << 20, &room), ERR_OK);
	memset(room, 0, 1 << 20);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("l"), SPAN("v")), ERR_OK);
	ck_assert_int_eq(kv_del(txn, 0, SPAN("big")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	used = kv_used_bytes(kv);
	ck_assert_uint_gt(used, 1 << 20);
	ck_assert_int_lt(size_of("a.mdb"), (off_t)used); /* the case itself */
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_OK);
	kv_close(kv);
	ck_assert_int_eq(try_open("b.mdb", KV_FROZEN), ERR_OK);
	kv = open_kv("a.mdb", KV_SHARED);
	ck_assert(has_one(kv, "l", "v"));
	ck_assert_int_eq(size_of("a.mdb"), (off_t)used);
	kv_close(kv);
	ck_assert_int_eq(lines_logged, 0);
}
END_TEST

/* --- copies --------------------------------------------------------------- */

START_TEST(copy_holds_what_was_committed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv *copy;
	struct kv_txn *txn;

	put_one(kv, "k", "v");
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("l"), SPAN("w")), ERR_OK);
	kv_abort(txn);
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_OK);
	put_one(kv, "k", "later");
	copy = open_kv("b.mdb", KV_FROZEN);
	ck_assert(has_one(copy, "k", "v"));
	ck_assert(!has_one(copy, "l", "w"));
	kv_close(copy);
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_EXISTS);
	ck_assert_int_eq(kv_copy(kv, scratch_path("no/b.mdb")), ERR_NOT_FOUND);
	kv_close(kv);
}
END_TEST

/* --- several processes ---------------------------------------------------- */

static int
write_from_child(void)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "k", "of the child");
	kv_close(kv);
	return 0;
}

START_TEST(one_process_sees_what_another_committed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader;

	put_one(kv, "k", "own");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(in_child(write_from_child), 0);
	ck_assert(is_there(reader, 0, "k", "own"));
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "of the child"));
	kv_abort(reader);
	kv_close(kv);
}
END_TEST

START_TEST(processes_that_open_a_new_file_at_once_all_get_it)
{
	enum { COUNT = 8 };
	struct kv *kv;
	pid_t pids[COUNT];
	int status;
	char key[8];

	for (int i = 0; i < COUNT; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] != 0)
			continue;
		kv = open_kv("a.mdb", KV_SHARED);
		snprintf(key, sizeof(key), "%d", i);
		put_one(kv, key, "v");
		kv_close(kv);
		_exit(0);
	}
	for (int i = 0; i < COUNT; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
	}
	kv = open_kv("a.mdb", KV_SHARED);
	for (int i = 0; i < COUNT; i++) {
		snprintf(key, sizeof(key), "%d", i);
		ck_assert(has_one(kv, key, "v"));
	}
	kv_close(kv);
}
END_TEST

static void
write_until_killed(int fd)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	put_one(kv, "done", "v");
	if (kv_write(&txn, kv) != ERR_OK ||
	    kv_put(txn, 0, SPAN("undone"), SPAN("v")) != ERR_OK)
		return;
	if (write(fd, "x", 1) == 1)
		for (;;)
			pause();
}

START_TEST(writer_that_is_killed_leaves_its_commits_and_no_lock)
{
	pid_t pid = start_child(write_until_killed);
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	kill_child(pid);
	ck_assert(has_one(kv, "done", "v"));
	ck_assert(!has_one(kv, "undone", "v"));
	put_one(kv, "after", "v");
	ck_assert(has_one(kv, "after", "v"));
	kv_close(kv);
}
END_TEST

static void
read_until_killed(int fd)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txns[4];

	spec.readers = 4;
	if (kv_open(&kv, &spec) != ERR_OK)
		return;
	for (int i = 0; i < 4; i++)
		if (kv_read(&txns[i], kv) != ERR_OK)
			return;
	if (write(fd, "x", 1) == 1)
		for (;;)
			pause();
}

START_TEST(slots_of_killed_readers_are_taken_back)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txn;
	pid_t pid;

	/* Before any other: who comes first says how many slots there are. */
	spec.readers = 4;
	pid = start_child(read_until_killed);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_BUSY);
	ck_assert_int_eq(lines_logged, 1);
	kill_child(pid);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	kv_abort(txn);
	ck_assert_int_eq(kv_reap_readers(kv), 0);
	kv_close(kv);
}
END_TEST

/* --- no room -------------------------------------------------------------- */

static enum err
fill_until_it_fails(struct kv *kv, size_t size)
{
	char *value = calloc(1, size);
	struct kv_txn *txn;
	enum err put = ERR_OK;
	enum err commit = ERR_OK;
	char key[16];

	for (unsigned i = 0; put == ERR_OK && commit == ERR_OK; i++) {
		if (kv_write(&txn, kv) != ERR_OK)
			break;
		snprintf(key, sizeof(key), "%u", i);
		put = kv_put(txn, 0, span_of(key), span_make(value, size));
		commit = kv_commit(txn);
	}
	free(value);
	/* What could not be put must not be committed without it. */
	return put != ERR_OK && commit != put ? ERR_INTERNAL : commit;
}

static int
fill_a_small_disk(void)
{
	struct rlimit old, small;
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "before", "v");
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		return 1;
	small = old;
	small.rlim_cur = (1 << 20) + 1000; /* a write ends in the middle */
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 2;
	if (fill_until_it_fails(kv, 50000) != ERR_NO_SPACE)
		return 3;
	if (!has_one(kv, "before", "v"))
		return 4;
	if (kv_copy(kv, scratch_path("b.mdb")) != ERR_OK)
		return 5;
	if (setrlimit(RLIMIT_FSIZE, &old) != 0)
		return 6;
	put_one(kv, "after", "v");
	kv_close(kv);
	return 0;
}

START_TEST(full_disk_is_told_and_what_was_there_stays)
{
	struct kv *kv;

	ck_assert_int_eq(in_child(fill_a_small_disk), 0);
	kv = open_kv("a.mdb", KV_SHARED);
	ck_assert(has_one(kv, "before", "v"));
	ck_assert(has_one(kv, "after", "v"));
	kv_close(kv);
}
END_TEST

static int
copy_to_a_small_disk(void)
{
	struct rlimit small = {1 << 20, 1 << 20};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 1;
	if (kv_copy(kv, scratch_path("b.mdb")) != ERR_NO_SPACE)
		return 2;
	return access(scratch_path("b.mdb"), F_OK) == 0 ? 3 : 0;
}

START_TEST(copy_that_does_not_fit_leaves_no_file)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	fill(kv, 500, 5000);
	kv_close(kv);
	ck_assert_int_eq(in_child(copy_to_a_small_disk), 0);
}
END_TEST

START_TEST(full_map_is_told_and_what_was_there_stays)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;

	spec.map_bytes = 1 << 20;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	put_one(kv, "before", "v");
	ck_assert_int_eq(fill_until_it_fails(kv, 50000), ERR_NO_SPACE);
	ck_assert_int_eq(lines_logged, 1);
	ck_assert(has_one(kv, "before", "v"));
	kv_close(kv);
}
END_TEST

static int
open_as_nobody(void)
{
	if (geteuid() == 0 && seteuid(65534) != 0)
		return 1;
	if (try_open("a.mdb", KV_SHARED) != ERR_DENIED)
		return 2;
	return try_open("a.mdb", KV_FROZEN) == ERR_DENIED ? 0 : 3;
}

START_TEST(forbidden_file_is_denied)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	kv_close(kv);
	ck_assert_int_eq(chmod(scratch_path("a.mdb"), 0), 0);
	ck_assert_int_eq(in_child(open_as_nobody), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv");
	TCase *tc = tcase_create("kv");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, what_is_committed_is_there_after_reopening,
	    KV_SHARED, KV_BUILD + 1);
	tcase_add_test(tc, what_is_aborted_is_not_there);
	tcase_add_test(tc, pairs_out_of_bounds_are_refused_and_do_no_harm);
	tcase_add_test(tc, append_out_of_order_is_told_and_the_rest_goes_on);
	tcase_add_loop_test(
	    tc, reserved_room_is_the_value, KV_SHARED, KV_BUILD + 1);
	tcase_add_test(tc, tables_are_apart_counted_and_emptied);
	tcase_add_test(tc, immutable_file_without_its_table_is_damaged);
	tcase_add_loop_test(tc, walk_meets_the_keys_of_its_prefix_in_order, 0,
	    sizeof(walks) / sizeof(walks[0]));
	tcase_add_test(tc, walk_over_an_empty_table_ends_at_once);
	tcase_add_test(tc, walk_bounds_may_be_longer_than_a_key);
	tcase_add_test(tc, walk_without_memory_says_so);
	tcase_add_test(tc, walk_goes_on_after_deleting);
	tcase_add_test(tc, reader_keeps_its_view_until_it_is_renewed);
	tcase_add_test(tc, writer_stands_on_the_last_commit);
	tcase_add_test(tc, threads_read_whole_commits_while_one_writes);
	tcase_add_test(tc, second_opening_of_a_live_file_is_refused);
	tcase_add_test(tc, immutable_file_is_shared_until_its_last_user_closes);
	tcase_add_test(tc, finished_file_is_as_long_as_its_pages);
	tcase_add_test(tc, file_whose_making_failed_is_removed);
	tcase_add_test(tc, file_that_is_there_is_not_built_over);
	tcase_add_test(tc, immutable_file_takes_no_writer);
	tcase_add_test(tc, cut_file_is_damaged_and_no_signal);
	tcase_add_test(tc, live_file_cut_anywhere_is_damaged_or_whole);
	tcase_add_test(tc, pages_given_back_at_the_end_are_no_damage);
	tcase_add_test(tc, copy_holds_what_was_committed);
	tcase_add_test(tc, one_process_sees_what_another_committed);
	tcase_add_test(tc, processes_that_open_a_new_file_at_once_all_get_it);
	tcase_add_test(
	    tc, writer_that_is_killed_leaves_its_commits_and_no_lock);
	tcase_add_test(tc, slots_of_killed_readers_are_taken_back);
	tcase_add_test(tc, full_disk_is_told_and_what_was_there_stays);
	tcase_add_test(tc, copy_that_does_not_fit_leaves_no_file);
	tcase_add_test(tc, full_map_is_told_and_what_was_there_stays);
	tcase_add_test(tc, forbidden_file_is_denied);
	suite_add_tcase(suite, tc);
	return suite;
}
