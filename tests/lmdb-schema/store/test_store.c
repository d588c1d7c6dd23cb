#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "common/fs.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/write_log.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/plain.h"
#include "tests/support/flip.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct fault fault;

static bool
is_there(const char *name)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%s", facts_dir(), name), ERR_OK);
	return access(path, F_OK) == 0;
}

START_TEST(a_new_store_has_all_its_parts)
{
	static const char *const parts[] = {"live.mdb", "catalog.mdb",
	    "state.mdb", "facts", "snapshots", "locks", "store"};

	for (unsigned i = 0; i < 7; i++)
		ck_assert(is_there(parts[i]));
}
END_TEST

START_TEST(a_whole_store_is_not_made_again)
{
	fault_clear(&fault);
	ck_assert_int_eq(store_create(facts_dir(), &fault), ERR_EXISTS);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(a_half_made_store_is_completed)
{
	char path[FS_PATH_MAX];

	facts_close();
	ck_assert_int_eq(fs_path(path, "%s/store", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(fs_path(path, "%s/catalog.mdb", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	fault_clear(&fault);
	ck_assert_int_eq(
	    store_open(&facts, facts_dir(), &fault), ERR_NOT_FOUND);
	ck_assert(fault_is_set(&fault));
	fault_clear(&fault);
	ck_assert_int_eq(store_create(facts_dir(), &fault), ERR_OK);
	facts_open();
}
END_TEST

START_TEST(a_folder_that_is_no_store_is_told)
{
	struct store *store;

	fault_clear(&fault);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("none"), &fault), ERR_NOT_FOUND);
	ck_assert_ptr_null(store);
	ck_assert_ptr_nonnull(strstr(fault.message, "init"));
	store_close(NULL);
}
END_TEST

static void
put_version(struct kv *kv, uint32_t version)
{
	const uint32_t number = htole32(version);
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, 0, SPAN("schema"), span_make(&number, sizeof(number))),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

static void
must_refuse(enum err err, const char *words)
{
	fault_clear(&fault);
	ck_assert_int_eq(store_open(&facts, facts_dir(), &fault), err);
	ck_assert_ptr_null(facts);
	ck_assert_msg(
	    strstr(fault.message, words) != NULL, "told: %s", fault.message);
}

START_TEST(another_version_is_told_and_not_touched)
{
	put_version(store_live(facts), SCHEMA_LIVE_SHARES + 1);
	facts_close();
	must_refuse(ERR_VERSION, "version 4, this program reads 1 to 3");
}
END_TEST

/* --- with and without checksums ------------------------------------------- */

static const char *const env_files[] = {"live.mdb", "catalog.mdb", "state.mdb"};

static struct kv *
env_of(unsigned which)
{
	return which == 0 ? store_live(facts)
	    : which == 1  ? store_catalog(facts)
			  : store_state(facts);
}

/* The bytes behind a key of table 0, as they are on the disk. */
static void
raw_value(struct buf *out, unsigned which, const char *key)
{
	const char *const names[] = {"meta"};
	char path[FS_PATH_MAX];
	struct kv_spec spec = {.path = path,
	    .mode = KV_SHARED,
	    .map_bytes = (size_t)1 << 26,
	    .tables = names,
	    .table_count = 1};
	struct kv *kv;
	struct kv_txn *txn;
	struct span value;

	ck_assert_int_eq(
	    fs_path(path, "%s/%s", facts_dir(), env_files[which]), ERR_OK);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_get(txn, 0, span_of(key), &value), ERR_OK);
	buf_init(out, 64);
	buf_add_span(out, value);
	ck_assert_int_eq(buf_end(out), ERR_OK);
	kv_abort(txn);
	kv_close(kv);
}

/* schema.h's worked examples. */
START_TEST(values_are_followed_by_the_crc_of_key_and_value)
{
	static const char schema[] = "\x02\0\0\0\x32\xb9\xab\xfb";
	struct buf got;
	uint32_t crc, kept;

	facts_close();
	raw_value(&got, (unsigned)_i, "schema");
	ck_assert_uint_eq(got.len, 8);
	crc = (uint32_t)crc32_z(0, (const Bytef *)"schema", 6);
	crc = (uint32_t)crc32_z(crc, (const Bytef *)"\x02\0\0\0", 4);
	memcpy(&kept, got.data + 4, sizeof(kept));
	ck_assert_uint_eq(le32toh(kept), crc);
	ck_assert_mem_eq(got.data, schema, 8);
	buf_fini(&got);
	facts_open();
}
END_TEST

START_TEST(a_range_on_the_disk_is_as_the_schema_says)
{
	static const char pair[] = "S\0A1A"
				   "\x45\xd3\x4f\x0f";
	char path[FS_PATH_MAX];
	struct buf file;

	facts_gamme("S", "A1", 1);
	ck_assert_int_eq(fs_path(path, "%s/live.mdb", facts_dir()), ERR_OK);
	buf_init(&file, (size_t)1 << 28);
	ck_assert_int_eq(fs_read(&file, path), ERR_OK);
	ck_assert_ptr_nonnull(
	    memmem(file.data, file.len, pair, sizeof(pair) - 1));
	buf_fini(&file);
}
END_TEST

START_TEST(an_environment_of_the_version_before_goes_on_without_sums)
{
	static const char number[] = {7, 0, 0, 0, 0, 0, 0, 0};
	struct kv_txn *txn;
	struct buf got;
	uint64_t back;

	facts_close();
	ck_assert_int_eq(plain_make((unsigned)_i, facts_dir()), ERR_OK);
	facts_open();
	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, env_of((unsigned)_i)), ERR_OK);
	ck_assert_int_eq(store_set_number(txn, "x", 7), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	facts_close();
	raw_value(&got, (unsigned)_i, "x");
	ck_assert_uint_eq(got.len, 8);
	ck_assert_mem_eq(got.data, number, 8);
	buf_fini(&got);
	facts_open();
	ck_assert_int_eq(kv_read(&txn, env_of((unsigned)_i)), ERR_OK);
	ck_assert_int_eq(store_number(txn, "x", &back), ERR_OK);
	ck_assert_uint_eq(back, 7);
	kv_abort(txn);
}
END_TEST

/* gridctl init, after something else was removed together with the marker. */
START_TEST(completing_a_store_keeps_the_version_of_what_is_there)
{
	char path[FS_PATH_MAX];
	struct buf got;

	facts_close();
	ck_assert_int_eq(plain_make(2, facts_dir()), ERR_OK);
	ck_assert_int_eq(fs_path(path, "%s/store", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(fs_path(path, "%s/live.mdb", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(store_create(facts_dir(), &fault), ERR_OK);
	raw_value(&got, 2, "schema");
	ck_assert_mem_eq(got.data, "\1\0\0\0\0\0\0\0", 8);
	buf_fini(&got);
	raw_value(&got, 0, "schema");
	ck_assert_mem_eq(got.data, "\2\0\0\0", 4);
	buf_fini(&got);
	facts_open();
}
END_TEST

/* Also when the flip makes a 2 of it, or the 1 that has no sums. */
START_TEST(a_flipped_bit_in_the_version_is_told)
{
	static const struct {
		const char *record; /* what is on the disk */
		size_t at;
	} cases[] = {
	    {"schema\2\0\0\0", 6},
	    {"schema\2\0\0\0", 8},
	    {"schema\2\0\0\0", 10},
	    {"schema\2\0\0\0", 13},
	    {"schema\1\0\0\0", 7},
	    {"schema\1\0\0\0", 13},
	};
	char path[FS_PATH_MAX];

	facts_close();
	if (cases[_i].record[6] == 1)
		ck_assert_int_eq(plain_make(0, facts_dir()), ERR_OK);
	ck_assert_int_eq(fs_path(path, "%s/live.mdb", facts_dir()), ERR_OK);
	flip(path, span_make(cases[_i].record, 10), cases[_i].at);
	quiet_begin();
	must_refuse(ERR_DAMAGED, "restore a backup");
}
END_TEST

START_TEST(an_environment_that_is_no_environment_is_told)
{
	static const char *const files[] = {
	    "data/live.mdb", "data/catalog.mdb", "data/state.mdb"};
	char noise[20000];

	memset(noise, 'x', sizeof(noise));
	facts_close();
	scratch_write(files[_i], noise, sizeof(noise));
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_eq(store_open(&facts, facts_dir(), &fault), ERR_DAMAGED);
	ck_assert_ptr_null(facts);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(a_state_that_is_lost_is_told_with_where_it_is)
{
	static const char *const told[] = {"is damaged", "has lost all"};
	static const char none[] = "nowhere else", nodes[] = "join --anew";
	char noise[20000];

	memset(noise, 'x', sizeof(noise));
	facts_close();
	ck_assert(!store_lost_state(facts_dir()));
	scratch_write("data/state.mdb", noise, _i == 0 ? sizeof(noise) : 0);
	quiet_begin();
	must_refuse(_i == 0 ? ERR_DAMAGED : ERR_NOT_FOUND, told[_i]);
	ck_assert_ptr_nonnull(strstr(fault.message, none));
	ck_assert_ptr_null(strstr(fault.message, nodes));
	scratch_text("data/cluster.conf", "[cluster]\n");
	must_refuse(_i == 0 ? ERR_DAMAGED : ERR_NOT_FOUND, told[_i]);
	ck_assert_ptr_nonnull(strstr(fault.message, nodes));
	ck_assert_ptr_null(strstr(fault.message, none));
	ck_assert(store_lost_state(facts_dir()));
}
END_TEST

START_TEST(a_store_cannot_be_made_where_a_file_is)
{
	scratch_text("file", "x");
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_ne(store_create(scratch_path("file"), &fault), ERR_OK);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(numbers_that_are_not_there_are_0)
{
	struct kv_txn *txn;
	uint64_t number = 5;

	ck_assert_int_eq(kv_read(&txn, store_catalog(facts)), ERR_OK);
	ck_assert_int_eq(store_number(txn, "nothing", &number), ERR_OK);
	ck_assert_uint_eq(number, 0);
	kv_abort(txn);
}
END_TEST

START_TEST(a_suppliers_files_stand_in_its_own_folder)
{
	char path[FS_PATH_MAX], expected[FS_PATH_MAX];

	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("A/../B"),
			     0x019a1b2c3d4e5f60, ".tmp"),
	    ERR_OK);
	ck_assert_int_eq(
	    fs_path(expected,
		"%s/snapshots/A%%2F%%2E%%2E%%2FB/019a1b2c3d4e5f60.mdb.tmp",
		facts_dir()),
	    ERR_OK);
	ck_assert_str_eq(path, expected);
}
END_TEST

/* --- locks --------------------------------------------------------------- */

START_TEST(one_import_at_a_time)
{
	int first, second;

	ck_assert_int_eq(store_lock_import(&first, facts, false), ERR_OK);
	ck_assert_int_eq(store_lock_import(&second, facts, false), ERR_BUSY);
	ck_assert_int_eq(second, -1);
	close(first);
	ck_assert_int_eq(store_lock_import(&second, facts, false), ERR_OK);
	close(second);
}
END_TEST

START_TEST(suppliers_are_locked_apart)
{
	int a, b, again;

	ck_assert_int_eq(
	    store_lock_supplier(&a, facts, SPAN("A"), false), ERR_OK);
	ck_assert_int_eq(
	    store_lock_supplier(&b, facts, SPAN("B"), false), ERR_OK);
	ck_assert_int_eq(
	    store_lock_supplier(&again, facts, SPAN("A"), false), ERR_BUSY);
	close(a);
	close(b);
}
END_TEST

START_TEST(no_more_slots_than_allowed)
{
	int fds[4];

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
		    store_lock_slot(&fds[i], facts, 3, false), ERR_OK);
	ck_assert_int_eq(store_lock_slot(&fds[3], facts, 3, false), ERR_BUSY);
	close(fds[1]);
	ck_assert_int_eq(store_lock_slot(&fds[1], facts, 3, true), ERR_OK);
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
}
END_TEST

START_TEST(few_work_out_passwords_at_once)
{
	int fds[STORE_LOGINS], late;

	for (unsigned i = 0; i < STORE_LOGINS; i++)
		ck_assert_int_eq(store_lock_login(&fds[i], facts, 0), ERR_OK);
	ck_assert_int_eq(store_lock_login(&late, facts, 0), ERR_BUSY);
	ck_assert_int_eq(store_lock_login(&late, facts, 30), ERR_BUSY);
	ck_assert_int_eq(late, -1);
	close(fds[0]);
	ck_assert_int_eq(store_lock_login(&late, facts, 60000), ERR_OK);
	ck_assert_int_eq(store_lock_login(&fds[0], facts, 0), ERR_BUSY);
	close(late);
	close(fds[1]);
}
END_TEST

START_TEST(a_lock_dies_with_its_holder)
{
	int fd, ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		bool held =
		    store_lock_supplier(&fd, facts, SPAN("A"), false) == ERR_OK;

		if (!held || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(
	    store_lock_supplier(&fd, facts, SPAN("A"), false), ERR_BUSY);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(
	    store_lock_supplier(&fd, facts, SPAN("A"), false), ERR_OK);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

/* --- a node's, without its cluster.conf ------------------------------------ */

static const struct {
	uint64_t number, epoch;
	enum err err;
} states[] = {
    {0, 0, ERR_OK}, /* also of one that left before STORE_EPOCH_LEFT was */
    {1, 0, ERR_CUT_OFF},
    {0, 1, ERR_CUT_OFF},
    {7, 2, ERR_CUT_OFF},
    {0, STORE_EPOCH_LEFT, ERR_OK},
};
#define STATES (sizeof(states) / sizeof(states[0]))

static enum err
put_state(void *context, struct kv_txn *txn)
{
	const struct write_log_place place = {
	    .number = states[*(const int *)context].number};

	return write_log_put_place(txn, &place);
}

static enum err
put_number(void *context, struct kv_txn *txn)
{
	(void)context;
	return store_set_number(txn, "a", 1);
}

static void
writes_are(enum err err)
{
	ck_assert(store_is_cut_off(facts) == (err != ERR_OK));
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		ck_assert_int_eq(
		    store_write(facts, (enum store_env)i, put_number, NULL),
		    i == STORE_STATE ? err : ERR_OK);
		ck_assert_int_eq(store_write_local(facts, (enum store_env)i,
				     put_number, NULL),
		    ERR_OK);
	}
}

/* A mirror would be its log. */
static void
open_again(void)
{
	facts_close();
	fault_clear(&fault);
	ck_assert_int_eq(store_open(&facts, facts_dir(), &fault), ERR_OK);
}

START_TEST(a_nodes_state_is_not_changed_without_its_conf)
{
	mirror_drop();
	ck_assert_int_eq(
	    store_write_local(facts, STORE_STATE, put_state, &_i), ERR_OK);
	ck_assert_int_eq(store_set_epoch(facts, states[_i].epoch), ERR_OK);
	open_again();
	writes_are(states[_i].err);
	fault_clear(&fault);
	ck_assert_int_eq(store_untold(facts, &fault),
	    states[_i].err == ERR_OK ? ERR_NOT_FOUND : ERR_CUT_OFF);
	ck_assert_int_eq(store_leave_log(facts), ERR_OK);
	open_again();
	writes_are(ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_add_test(tc, a_new_store_has_all_its_parts);
	tcase_add_test(tc, a_whole_store_is_not_made_again);
	tcase_add_test(tc, a_half_made_store_is_completed);
	tcase_add_test(tc, a_folder_that_is_no_store_is_told);
	tcase_add_test(tc, another_version_is_told_and_not_touched);
	tcase_add_loop_test(
	    tc, values_are_followed_by_the_crc_of_key_and_value, 0, 3);
	tcase_add_test(tc, a_range_on_the_disk_is_as_the_schema_says);
	tcase_add_loop_test(tc,
	    an_environment_of_the_version_before_goes_on_without_sums, 0, 3);
	tcase_add_test(
	    tc, completing_a_store_keeps_the_version_of_what_is_there);
	tcase_add_loop_test(tc, a_flipped_bit_in_the_version_is_told, 0, 6);
	tcase_add_loop_test(
	    tc, an_environment_that_is_no_environment_is_told, 0, 3);
	tcase_add_loop_test(
	    tc, a_state_that_is_lost_is_told_with_where_it_is, 0, 2);
	tcase_add_test(tc, a_store_cannot_be_made_where_a_file_is);
	tcase_add_test(tc, numbers_that_are_not_there_are_0);
	tcase_add_test(tc, a_suppliers_files_stand_in_its_own_folder);
	tcase_add_test(tc, one_import_at_a_time);
	tcase_add_test(tc, suppliers_are_locked_apart);
	tcase_add_test(tc, no_more_slots_than_allowed);
	tcase_add_test(tc, few_work_out_passwords_at_once);
	tcase_add_test(tc, a_lock_dies_with_its_holder);
	tcase_add_loop_test(
	    tc, a_nodes_state_is_not_changed_without_its_conf, 0, (int)STATES);
	suite_add_tcase(suite, tc);
	return suite;
}
