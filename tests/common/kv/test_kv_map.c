/* Maps that are made small on purpose: told, grown, and nothing lost. */
#include "common/kv/kv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/common/kv/kv_help.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define SMALL ((size_t)1 << 20)
#define VALUE 50000

static char value[VALUE];

static struct kv *
open_small(void)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;

	spec.map_bytes = SMALL;
	spec.grows = true;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	return kv;
}

static enum err
put_number(struct kv *kv, unsigned number)
{
	struct kv_txn *txn;
	char key[16];
	enum err err = kv_write(&txn, kv);

	if (err != ERR_OK)
		return err;
	snprintf(key, sizeof(key), "%06u", number);
	memset(value, (int)(number % 251), VALUE);
	err = kv_put(txn, 0, span_of(key), span_make(value, VALUE));
	if (err == ERR_OK)
		return kv_commit(txn);
	kv_abort(txn);
	return err;
}

/* Again after each full map, as the store does. */
static enum err
put_again(struct kv *kv, unsigned number, unsigned *full)
{
	enum err err;

	while ((err = put_number(kv, number)) == ERR_MAP_FULL)
		++*full;
	return err;
}

static bool
has_numbers(struct kv_txn *txn, unsigned count)
{
	char key[16];

	for (unsigned i = 0; i < count; i++) {
		struct span got;

		snprintf(key, sizeof(key), "%06u", i);
		if (kv_get(txn, 0, span_of(key), &got) != ERR_OK ||
		    got.len != VALUE ||
		    (unsigned char)got.ptr[VALUE - 1] != i % 251)
			return false;
	}
	return true;
}

START_TEST(a_full_map_grows_and_nothing_is_lost)
{
	struct kv *kv = open_small();
	struct kv_txn *reader;
	unsigned full = 0;

	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	kv_rest(reader);
	for (unsigned i = 0; i < 400; i++)
		ck_assert_int_eq(put_again(kv, i, &full), ERR_OK);
	ck_assert_uint_gt(full, 0);
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(has_numbers(reader, 400));
	kv_abort(reader);
	kv_close(kv);
	kv = open_small(); /* at least as large as its file, from the start */
	ck_assert_int_eq(put_number(kv, 400), ERR_OK);
	kv_close(kv);
}
END_TEST

START_TEST(a_map_stays_where_it_is_while_somebody_reads)
{
	struct kv *kv = open_small();
	struct kv_txn *reader;
	enum err err;
	unsigned count = 0;

	while ((err = put_number(kv, count)) == ERR_OK)
		count++;
	ck_assert_int_eq(err, ERR_MAP_FULL);
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(put_number(kv, count), ERR_BUSY);
	ck_assert(has_numbers(reader, count));
	kv_abort(reader);
	ck_assert_int_eq(put_number(kv, count), ERR_MAP_FULL);
	ck_assert_int_eq(put_number(kv, count), ERR_OK);
	kv_close(kv);
}
END_TEST

static int
write_much(void)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	enum err err = ERR_OK;

	for (unsigned i = 0; i < 100 && err == ERR_OK; i++)
		err = put_number(kv, i);
	kv_close(kv);
	return err == ERR_OK ? 0 : 1;
}

/* Runs the writer in another process; a fork has no environment open. */
static void
outgrow(void)
{
	ck_assert_int_eq(process_run(write_much), 0);
}

static int
follow(void)
{
	struct kv *kv = open_small();
	struct kv_txn *reader, *writer;
	enum err err;

	if (kv_read(&reader, kv) != ERR_OK)
		return 1;
	kv_rest(reader);
	outgrow();
	err = kv_renew(reader);
	if (err != ERR_OK || !has_numbers(reader, 100))
		return 2;
	kv_abort(reader);
	if (kv_write(&writer, kv) != ERR_OK)
		return 3;
	kv_abort(writer);
	kv_close(kv);
	return 0;
}

START_TEST(a_map_follows_what_another_process_writes)
{
	ck_assert_int_eq(process_run(follow), 0);
}
END_TEST

struct crowd {
	struct kv *kv;
	atomic_uint written;
	atomic_bool ended, wrong;
};

static void *
read_on(void *context)
{
	struct crowd *crowd = context;
	struct kv_txn *reader;

	if (kv_read(&reader, crowd->kv) != ERR_OK) {
		atomic_store(&crowd->wrong, true);
		return NULL;
	}
	while (!atomic_load(&crowd->ended)) {
		unsigned count = atomic_load(&crowd->written);

		if (kv_renew(reader) != ERR_OK || !has_numbers(reader, count))
			atomic_store(&crowd->wrong, true);
		kv_rest(reader);
	}
	kv_abort(reader);
	return NULL;
}

START_TEST(a_map_grows_under_threads_that_read)
{
	struct crowd crowd = {.kv = open_small()};
	pthread_t threads[3];
	unsigned full = 0;

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, read_on, &crowd), 0);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_int_eq(put_again(crowd.kv, i, &full), ERR_OK);
		atomic_store(&crowd.written, i + 1);
	}
	atomic_store(&crowd.ended, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert(!atomic_load(&crowd.wrong));
	ck_assert_uint_gt(full, 0);
	kv_close(crowd.kv);
}
END_TEST

START_TEST(a_build_makes_room_for_what_is_expected)
{
	struct kv_spec spec = spec_of("a.mdb", KV_BUILD);
	size_t large = (size_t)40 << 20;
	char *bytes = calloc(1, large);
	struct kv_txn *txn;
	struct kv *kv;

	ck_assert_ptr_nonnull(bytes);
	spec.map_bytes = SMALL;
	spec.grows = true;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	for (unsigned i = 0; i < 3; i++) {
		char key[2] = {(char)('a' + i), '\0'};

		kv_expect(kv, large);
		ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
		ck_assert_int_eq(
		    kv_put(txn, 0, span_of(key), span_make(bytes, large)),
		    ERR_OK);
		ck_assert_int_eq(kv_commit(txn), ERR_OK);
	}
	ck_assert_int_eq(kv_finish(kv, spec.path, ERR_OK), ERR_OK);
	free(bytes);
}
END_TEST

/* 96 MB more than the process has. */
static bool
limit_addresses(void)
{
	struct rlimit limit;
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	bool known = file != NULL && fscanf(file, "%llu", &pages) == 1;

	if (file != NULL)
		fclose(file);
	limit.rlim_cur = limit.rlim_max =
	    pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)96 << 20);
	return known && setrlimit(RLIMIT_AS, &limit) == 0;
}

static int
write_under_a_limit(void)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	unsigned full = 0, count = 0;
	struct kv_txn *reader;
	struct kv *kv;
	enum err err;

	if (!limit_addresses())
		return 1;
	spec.map_bytes = (size_t)64 << 30;
	if (kv_open(&kv, &spec) != ERR_NO_ADDRESS)
		return 2;
	spec.grows = true;
	if (kv_open(&kv, &spec) != ERR_OK)
		return 3;
	while ((err = put_again(kv, count, &full)) == ERR_OK && count < 4000)
		count++;
	if (err != ERR_NO_ADDRESS || full == 0 || count < 100)
		return 4;
	if (kv_read(&reader, kv) != ERR_OK || !has_numbers(reader, count))
		return 5;
	kv_abort(reader);
	kv_close(kv);
	return 0;
}

START_TEST(a_limit_on_addresses_is_told_as_what_it_is)
{
	ck_assert_int_eq(process_run(write_under_a_limit), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_map");
	TCase *tc = tcase_create("kv_map");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_full_map_grows_and_nothing_is_lost);
	tcase_add_test(tc, a_map_stays_where_it_is_while_somebody_reads);
	tcase_add_test(tc, a_map_follows_what_another_process_writes);
	tcase_add_test(tc, a_map_grows_under_threads_that_read);
	tcase_add_test(tc, a_build_makes_room_for_what_is_expected);
	tcase_add_test(tc, a_limit_on_addresses_is_told_as_what_it_is);
	suite_add_tcase(suite, tc);
	return suite;
}
