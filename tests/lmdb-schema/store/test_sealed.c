/* tests/lmdb-schema/store/test_sealed.c: lmdb-schema/store/sealed.h */
#include "lmdb-schema/store/sealed.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/limit.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

struct head {
	char magic[8];
	uint32_t crc;
	uint32_t count;
};

static const char table[] = "the table";

static struct span
span_of_head(const struct head *head)
{
	return span_make((const char *)head, sizeof(*head));
}

START_TEST(the_sum_covers_head_and_table_but_not_itself)
{
	struct head head = {"GRIDTEST", 0, 7};
	size_t at = offsetof(struct head, crc);
	uint32_t alone = (uint32_t)crc32_z(0, (void *)&head, sizeof(head));
	uint32_t both =
	    (uint32_t)crc32_z(alone, (const void *)table, sizeof(table));

	for (head.crc = 0; head.crc < 3; head.crc++) {
		ck_assert_uint_eq(sealed_head_crc(span_of_head(&head), at,
				      span_make(NULL, 0)),
		    alone);
		ck_assert_uint_eq(sealed_head_crc(span_of_head(&head), at,
				      span_make(table, sizeof(table))),
		    both);
	}
	head.count++;
	ck_assert_uint_ne(
	    sealed_head_crc(span_of_head(&head), at, SPAN("")), alone);
}
END_TEST

START_TEST(what_was_put_is_read_with_head_and_table_before_it)
{
	const struct head head = {"GRIDTEST", 1, 2};
	const char *path = scratch_path("sealed");
	struct sealed file;
	int fd;

	ck_assert_int_eq(sealed_create(&fd, path), ERR_OK);
	ck_assert_int_eq(sealed_put(fd, "section", 7, 64), ERR_OK);
	ck_assert_int_eq(sealed_finish(fd, span_of_head(&head),
			     span_make(table, sizeof(table))),
	    ERR_OK);
	close(fd);

	ck_assert_int_eq(sealed_open(&file, path), ERR_OK);
	ck_assert_uint_eq(file.len, 64 + 7);
	ck_assert_mem_eq(file.bytes, &head, sizeof(head));
	ck_assert_mem_eq(file.bytes + sizeof(head), table, sizeof(table));
	ck_assert_mem_eq(file.bytes + 64, "section", 7);
	sealed_close(&file);
	sealed_close(&file); /* which does no harm */
}
END_TEST

START_TEST(a_file_that_is_missing_or_empty_is_not_opened)
{
	struct sealed file;

	ck_assert_int_eq(
	    sealed_open(&file, scratch_path("none")), ERR_NOT_FOUND);
	sealed_close(&file);
	scratch_text("empty", "");
	ck_assert_int_eq(
	    sealed_open(&file, scratch_path("empty")), ERR_DAMAGED);
	sealed_close(&file);
}
END_TEST

/* Callers discard a damaged file; this one only has no room in memory. */
START_TEST(a_file_without_room_for_its_map_is_not_damaged)
{
	const struct rlimit none = {4096, RLIM_INFINITY};
	const char *path = scratch_path("sealed");
	struct rlimit before;
	struct sealed file;
	enum err err;

	scratch_text("sealed", "some bytes");
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	err = sealed_open(&file, path);
	setrlimit(RLIMIT_AS, &before);
	sealed_close(&file);
	ck_assert_int_eq(err, ERR_NO_MEMORY);
}
END_TEST

START_TEST(a_touched_file_is_noticed)
{
	struct sealed file;
	int fd;

	scratch_text("sealed", "some bytes");
	ck_assert_int_eq(sealed_open(&file, scratch_path("sealed")), ERR_OK);
	ck_assert(!sealed_is_touched(&file));
	fd = open(scratch_path("sealed"), O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "!", 1), 1);
	close(fd);
	ck_assert(sealed_is_touched(&file));
	sealed_close(&file);
}
END_TEST

START_TEST(a_limit_on_file_sizes_is_a_full_disk)
{
	static const char bytes[4096];
	enum err first, second;
	int fd;

	ck_assert_int_eq(sealed_create(&fd, scratch_path("sealed")), ERR_OK);
	limit_files(sizeof(bytes));
	first = sealed_put(fd, bytes, sizeof(bytes), 0);
	second = sealed_put(fd, bytes, sizeof(bytes), sizeof(bytes));
	limit_end();
	close(fd);
	ck_assert_int_eq(first, ERR_OK);
	ck_assert_int_eq(second, ERR_NO_SPACE);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("sealed");
	TCase *tc = tcase_create("sealed");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, the_sum_covers_head_and_table_but_not_itself);
	tcase_add_test(tc, what_was_put_is_read_with_head_and_table_before_it);
	tcase_add_test(tc, a_file_that_is_missing_or_empty_is_not_opened);
	tcase_add_test(tc, a_file_without_room_for_its_map_is_not_damaged);
	tcase_add_test(tc, a_touched_file_is_noticed);
	tcase_add_test(tc, a_limit_on_file_sizes_is_a_full_disk);
	suite_add_tcase(suite, tc);
	return suite;
}
