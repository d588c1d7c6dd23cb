#include "common/kv/kv.h"
#include "common/kv/kvpages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define PAGE 4096

static char *bytes;
static size_t len;

/* Two tables, one of them of several pages, with values small and large. */
static void
make(void)
{
	static const char *const tables[] = {"one", "two"};
	struct kv_spec spec = {.tables = tables, .table_count = 2};
	static char value[9000];
	struct kv_txn *txn;
	struct buf buf;
	struct kv *kv;

	scratch_make();
	spec.path = scratch_path("good.mdb");
	spec.mode = KV_BUILD;
	spec.map_bytes = 64u << 20;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < 300; i++) {
		char key[16];
		int key_len = snprintf(key, sizeof(key), "key %05u", i);
		struct span name = span_make(key, (size_t)key_len);
		size_t size = i % 10 == 0 ? 9000 : i;

		ck_assert_int_eq(
		    kv_put(txn, 1, name, span_make(value, size)), ERR_OK);
	}
	ck_assert_int_eq(kv_put(txn, 0, SPAN("k"), SPAN("v")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(kv_finish(kv, spec.path, ERR_OK), ERR_OK);
	buf_init(&buf, 1u << 30);
	ck_assert_int_eq(fs_read(&buf, spec.path), ERR_OK);
	bytes = buf_take(&buf, &len);
}

static void
drop(void)
{
	free(bytes);
	scratch_remove();
}

static enum err
check(size_t size)
{
	enum err err;
	int fd;

	scratch_write("a.mdb", bytes, size);
	fd = open(scratch_path("a.mdb"), O_RDONLY | O_CLOEXEC);
	err = kvpages_check(fd, size);
	close(fd);
	return err;
}

START_TEST(what_was_written_may_be_walked)
{
	ck_assert_int_eq(check(len), ERR_OK);
}
END_TEST

START_TEST(what_was_cut_may_not)
{
	for (size_t size = 0; size < len; size += 777)
		ck_assert_int_eq(check(size), ERR_DAMAGED);
}
END_TEST

/* A leaf of the table, by a key of it; a branch is there only once. */
static size_t
page_with(unsigned flags)
{
	const char *key = memmem(bytes, len, "key 00123", 9);

	ck_assert_ptr_nonnull(key);
	if (flags == 2)
		return (size_t)(key - bytes) / PAGE * PAGE;
	for (size_t page = 2; page < len / PAGE; page++)
		if (bytes[page * PAGE + 10] == 1 &&
		    bytes[page * PAGE + 11] == 0 &&
		    (unsigned char)bytes[page * PAGE] == (page & 255))
			return page * PAGE;
	ck_abort_msg("no page with flags %u", flags);
	return 0;
}

static size_t
newest_meta(void)
{
	return bytes[144] > bytes[PAGE + 144] ? 0 : PAGE;
}

/* A field in a page of some kind, and a wrong value for it. */
static const struct {
	unsigned kind; /* 1 branch, 2 leaf, 8 meta */
	unsigned at;
	const char *instead;
} lies[] = {
    {2, 0, "\x7f"}, /* another page's number */
    {2, 10, "\x20"}, /* a kind that kv has not */
    {2, 10, "\x04"}, /* a value's page */
    {2, 12, "\x10"}, /* no node at all */
    {2, 12, "\x13"}, /* half a place */
    {2, 13, "\x7f"}, /* places beyond the page */
    {2, 15, "\xff"}, /* nodes beyond the page */
    {2, 17, "\x7f"}, /* a node beyond the page */
    {2, 16, "\x01"}, /* a node in the places */
    {1, 12, "\x12"}, /* a branch to one page only */
    {1, 17, "\x3f"}, /* a node elsewhere */
    {8, 94, "\x02"}, /* leaves that are not as deep */
    {8, 120, "\x03"}, /* another number of tables */
    {8, 10, "\x02"}, /* no meta page */
    {8, 16, "\x01"}, /* no magic */
    {8, 41, "\x20"}, /* another size of pages */
    {8, 92, "\x04"}, /* a table of duplicates */
    {8, 129, "\x7f"}, /* a root beyond the end */
    {8, 137, "\x7f"}, /* an end beyond the end */
};

START_TEST(a_page_that_lies_is_found)
{
	size_t page =
	    lies[_i].kind == 8 ? newest_meta() : page_with(lies[_i].kind);

	ck_assert_int_ne(bytes[page + lies[_i].at], lies[_i].instead[0]);
	bytes[page + lies[_i].at] = lies[_i].instead[0];
	ck_assert_int_eq(check(len), ERR_DAMAGED);
}
END_TEST

/* Each key of the large table, found by its way from the root. */
static void
spoil_key(size_t at)
{
	bytes[at] ^= 1;
	ck_assert_int_eq(check(len), ERR_DAMAGED);
	bytes[at] ^= 1;
}

START_TEST(a_key_that_leads_elsewhere_is_found)
{
	size_t branch = page_with(1);
	unsigned tried = 0;

	for (size_t at = branch; at + 9 < branch + PAGE; at++)
		if (memcmp(bytes + at, "key 00", 6) == 0) {
			spoil_key(at + 6); /* 00123 becomes 00023 */
			tried++;
		}
	ck_assert_uint_ge(tried, 3);
}
END_TEST

/* A leaf that is given twice hides another; two leaves change places. */
START_TEST(a_branch_that_names_a_page_twice_is_found)
{
	char *page = bytes + page_with(1), old[2];
	char *first =
	    page + (unsigned char)page[16] + 256 * (unsigned char)page[17];
	char *second =
	    page + (unsigned char)page[18] + 256 * (unsigned char)page[19];

	memcpy(old, first, 2);
	memcpy(first, second, 2);
	ck_assert_int_eq(check(len), ERR_DAMAGED);
	memcpy(second, old, 2);
	ck_assert_int_eq(check(len), ERR_DAMAGED);
	memcpy(second, first, 2);
	memcpy(first, old, 2);
	ck_assert_int_eq(check(len), ERR_OK);
}
END_TEST

/* A file that passes must be safe to walk from end to end, value by value. */
static void
walk_all(void)
{
	static const char *const tables[] = {"one", "two"};
	struct kv_spec spec = {.path = scratch_path("a.mdb"),
	    .mode = KV_FROZEN,
	    .tables = tables,
	    .table_count = 2};
	struct kv_txn *txn;
	unsigned sum = 0;
	struct kv *kv;

	if (kv_open(&kv, &spec) != ERR_OK)
		return;
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	for (unsigned table = 0; table < 2; table++) {
		struct kv_walk *walk =
		    kv_walk_begin(txn, table, SPAN(""), SPAN(""));
		struct span key, value;

		while (kv_walk_next(walk, &key, &value) == ERR_OK) {
			for (size_t i = 0; i < key.len; i++)
				sum += (unsigned char)key.ptr[i];
			for (size_t i = 0; i < value.len; i++)
				sum += (unsigned char)value.ptr[i];
		}
		kv_walk_end(walk);
		(void)kv_get(txn, table, SPAN("key 00123"), &value);
	}
	kv_abort(txn);
	kv_close(kv);
	ck_assert_uint_ne(sum, 1);
}

START_TEST(noise_in_any_page_is_found_or_harmless)
{
	for (unsigned i = 0; i < 3000; i++) {
		size_t pages = len / PAGE;
		size_t page = i % 2 == 0 ? random_bits() % pages
		    : i % 4 == 1         ? page_with(2) / PAGE
					 : page_with(1) / PAGE;
		size_t at =
		    page * PAGE + random_bits() % (i % 3 == 0 ? PAGE - 4 : 60);
		char old[4];

		memcpy(old, bytes + at, 4);
		for (unsigned k = 0; k < 1 + i % 4; k++)
			bytes[at + k] = (char)random_bits();
		if (check(len) == ERR_OK)
			walk_all();
		memcpy(bytes + at, old, 4);
	}
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
	int fd = open(scratch_path("good.mdb"), O_WRONLY | O_CLOEXEC);

	ck_assert_int_ne(kvpages_check(fd, len), ERR_OK);
	close(fd);
	ck_assert_int_ne(kvpages_check(-1, len), ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kvpages");
	TCase *tc = tcase_create("kvpages");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, what_was_written_may_be_walked);
	tcase_add_test(tc, what_was_cut_may_not);
	tcase_add_loop_test(
	    tc, a_page_that_lies_is_found, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_test(tc, a_key_that_leads_elsewhere_is_found);
	tcase_add_test(tc, a_branch_that_names_a_page_twice_is_found);
	tcase_add_test(tc, noise_in_any_page_is_found_or_harmless);
	tcase_add_test(tc, what_cannot_be_read_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
