#include "tools/gridctl/csv/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/buf.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tests/tools/gridctl/csv/csv_kit.h"
#include "tools/gridctl/csv/csv_gunzip.h"

static size_t
size_of(const char *name)
{
	struct stat found;

	ck_assert_int_eq(stat(scratch_path(name), &found), 0);
	return (size_t)found.st_size;
}

/*
 * Two members, as appending makes them: the second is lines alone. Returns where
 * the first one ends.
 */
static size_t
pack(const char *name, int records)
{
	size_t first = 0;

	for (int part = 0; part < 2; part++) {
		gzFile file =
		    gzopen(scratch_path(name), part == 0 ? "wb" : "ab");

		ck_assert_ptr_nonnull(file);
		if (part == 0)
			gzprintf(file, "a,b,c\n");
		for (int i = part; i < records; i += 2)
			gzprintf(file, "%d,\"q\"\"%d\",%d\n", i, i, i * 7919);
		ck_assert_int_eq(gzclose(file), Z_OK);
		if (part == 0)
			first = size_of(name);
	}
	return first;
}

START_TEST(packed_file_is_read_as_what_it_holds)
{
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
	static struct csv_faults faults;
	struct csv_record record;
	uint64_t told = 0;
	struct csv *csv;
	char text[32];
	int i;

	pack("f.csv.gz", 90000);
	ck_assert_int_eq(csv_open(&csv, scratch_path("f.csv.gz"), "f.csv.gz",
			     &spec, &faults),
	    ERR_OK);
	for (i = 0; csv_next(csv, &record); i++) {
		snprintf(text, sizeof(text), "q\"%d",
		    i < 45000 ? i * 2 : (i - 45000) * 2 + 1);
		ck_assert(span_eq(record.fields[1], span_of(text)));
		ck_assert_uint_eq(record.line, i + 2);
		ck_assert_uint_ge(csv_offset(csv), told);
		told = csv_offset(csv);
	}
	ck_assert_int_eq(i, 90000);
	ck_assert_int_eq(csv_end(csv), ERR_OK);
	ck_assert_uint_eq(csv_offset(csv), size_of("f.csv.gz"));
	ck_assert_uint_eq(csv_size(csv), size_of("f.csv.gz"));
	csv_close(csv);
}
END_TEST

static void
check_packed(const char *what)
{
	char expected[256];
	struct buf out;

	for (int slow = 0; slow <= 1; slow++) {
		buf_init(&out, 1 << 24);
		csv_kit_read(&out, "f.csv.gz", slow, false);
		buf_add(&out, "", 1);
		ck_assert_int_eq(buf_end(&out), ERR_OK);
		snprintf(expected, sizeof(expected),
		    "!f.csv.gz: %s;#1 faults, malformed input", what);
		ck_assert_ptr_nonnull(strchr(out.data, '!'));
		ck_assert_str_eq(strchr(out.data, '!'), expected);
		buf_fini(&out);
	}
}

START_TEST(packed_file_without_its_end_is_one_fault)
{
	size_t first = pack("f.csv.gz", 200);

	for (size_t size = size_of("f.csv.gz"); size-- > 0;) {
		ck_assert_int_eq(
		    truncate(scratch_path("f.csv.gz"), (off_t)size), 0);
		/* A file cut between members is whole. */
		if (size != first && (size % 37 == 0 || size < 30))
			check_packed("is cut short: its end is missing");
	}
}
END_TEST

START_TEST(packed_file_with_a_wrong_byte_is_one_fault)
{
	FILE *file;

	pack("f.csv.gz", 2000);
	file = fopen(scratch_path("f.csv.gz"), "r+b");
	ck_assert_ptr_nonnull(file);
	/* The last but eight: of the checksum of the second member. */
	ck_assert_int_eq(fseek(file, -8, SEEK_END), 0);
	ck_assert_int_eq(fwrite("\0\0\0\0", 4, 1, file), 1);
	ck_assert_int_eq(fclose(file), 0);
	check_packed("is damaged: it cannot be unpacked to its end");
}
END_TEST

START_TEST(a_name_ending_with_gz_promises_gzip)
{
	scratch_text("f.csv.gz", "a,b,c\n1,2,3\n");
	check_packed("is no gzip file, as its name says");
}
END_TEST

START_TEST(unpacking_ends_at_its_ceiling)
{
	static char room[4096];
	struct csv_gunzip *gunzip;
	enum err err = ERR_OK;
	size_t got = 1, sum = 0;
	int fd;

	pack("f.csv.gz", 5000);
	fd = open(scratch_path("f.csv.gz"), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(csv_gunzip_new(&gunzip, fd, 20000), ERR_OK);
	while (err == ERR_OK && got > 0) {
		err = csv_gunzip_read(&got, gunzip, room, sizeof(room));
		sum += got;
	}
	ck_assert_int_eq(err, ERR_TOO_LARGE);
	ck_assert_uint_lt(sum, 20000 + sizeof(room));
	ck_assert_ptr_nonnull(csv_gunzip_why(gunzip));
	csv_gunzip_free(gunzip);
	close(fd);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("csv gunzip");
	TCase *tc = tcase_create("csv gunzip");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, packed_file_is_read_as_what_it_holds);
	tcase_add_test(tc, packed_file_without_its_end_is_one_fault);
	tcase_add_test(tc, packed_file_with_a_wrong_byte_is_one_fault);
	tcase_add_test(tc, a_name_ending_with_gz_promises_gzip);
	tcase_add_test(tc, unpacking_ends_at_its_ceiling);
	suite_add_tcase(suite, tc);
	return suite;
}
