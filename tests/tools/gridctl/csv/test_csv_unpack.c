#include "tools/gridctl/csv/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tests/tools/gridctl/csv/csv_kit.h"
#include "tools/gridctl/csv/csv_unpack.h"

static size_t
size_of(const char *name)
{
	struct stat found;

	ck_assert_int_eq(stat(scratch_path(name), &found), 0);
	return (size_t)found.st_size;
}

static const char *const names[] = {"f.csv.gz", "f.csv.zst"};

static bool
is_zstd(const char *name)
{
	return strstr(name, ".zst") != NULL;
}

static void
add_packed(const char *name, const char *how, struct span text)
{
	char path[FS_PATH_MAX];
	static char packed[4 << 20];
	size_t len;
	FILE *file;

	ck_assert_int_eq(fs_path(path, "%s", scratch_path(name)), ERR_OK);
	if (is_zstd(name)) {
		ZSTD_CCtx *context = ZSTD_createCCtx();

		ck_assert_ptr_nonnull(context);
		ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
		len = ZSTD_compress2(
		    context, packed, sizeof(packed), text.ptr, text.len);
		ck_assert(!ZSTD_isError(len));
		ZSTD_freeCCtx(context);
		file = fopen(path, how);
		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fwrite(packed, 1, len, file), len);
		ck_assert_int_eq(fclose(file), 0);
	} else {
		gzFile zip = gzopen(path, how);

		ck_assert_ptr_nonnull(zip);
		ck_assert_int_eq(
		    gzwrite(zip, text.ptr, (unsigned)text.len), (int)text.len);
		ck_assert_int_eq(gzclose(zip), Z_OK);
	}
}

/*
 * Two members, as appending makes them: the second is lines alone. Returns where
 * the first one ends.
 */
static size_t
pack(const char *name, int records)
{
	size_t first = 0;
	struct buf text;

	for (int part = 0; part < 2; part++) {
		buf_init(&text, 4 << 20);
		if (part == 0)
			buf_add_text(&text, "a,b,c\n");
		for (int i = part; i < records; i += 2)
			buf_addf(&text, "%d,\"q\"\"%d\",%d\n", i, i, i * 7919);
		ck_assert_int_eq(buf_end(&text), ERR_OK);
		add_packed(name, part == 0 ? "wb" : "ab", buf_span(&text));
		buf_fini(&text);
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
	const char *name = names[_i];
	struct csv *csv;
	char text[32];
	int i;

	pack(name, 90000);
	ck_assert_int_eq(
	    csv_open(&csv, scratch_path(name), name, &spec, &faults), ERR_OK);
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
	ck_assert_uint_eq(csv_offset(csv), size_of(name));
	ck_assert_uint_eq(csv_size(csv), size_of(name));
	csv_close(csv);
}
END_TEST

static void
check_packed(const char *name, const char *what)
{
	char expected[256];
	struct buf out;

	for (int slow = 0; slow <= 1; slow++) {
		buf_init(&out, 1 << 24);
		csv_kit_read(&out, name, slow, false);
		buf_add(&out, "", 1);
		ck_assert_int_eq(buf_end(&out), ERR_OK);
		snprintf(expected, sizeof(expected),
		    "!%s: %s;#1 faults, malformed input", name, what);
		ck_assert_ptr_nonnull(strchr(out.data, '!'));
		ck_assert_str_eq(strchr(out.data, '!'), expected);
		buf_fini(&out);
	}
}

START_TEST(packed_file_without_its_end_is_one_fault)
{
	const char *name = names[_i];
	size_t first = pack(name, 200);

	for (size_t size = size_of(name); size-- > 0;) {
		ck_assert_int_eq(truncate(scratch_path(name), (off_t)size), 0);
		/* A file cut between members is whole. */
		if (size != first && (size % 37 == 0 || size < 30))
			check_packed(name, "is cut short: its end is missing");
	}
}
END_TEST

START_TEST(packed_file_with_a_wrong_byte_is_one_fault)
{
	const char *name = names[_i];
	FILE *file;

	pack(name, 2000);
	file = fopen(scratch_path(name), "r+b");
	ck_assert_ptr_nonnull(file);
	/* The checksum of the second member. */
	ck_assert_int_eq(fseek(file, is_zstd(name) ? -4 : -8, SEEK_END), 0);
	ck_assert_int_eq(fwrite("\0\0\0\0", 4, 1, file), 1);
	ck_assert_int_eq(fclose(file), 0);
	check_packed(name, "is damaged: it cannot be unpacked to its end");
}
END_TEST

START_TEST(the_end_of_a_name_promises_its_packing)
{
	char expected[64];

	scratch_text(names[_i], "a,b,c\n1,2,3\n");
	snprintf(expected, sizeof(expected), "is no %s file, as its name says",
	    _i == 0 ? "gzip" : "zstd");
	check_packed(names[_i], expected);
}
END_TEST

START_TEST(unpacking_ends_at_its_ceiling)
{
	static char room[4096];
	struct csv_unpack *unpack;
	enum err err = ERR_OK;
	size_t got = 1, sum = 0;
	int fd;

	pack(names[_i], 5000);
	fd = open(scratch_path(names[_i]), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(csv_unpack_new(&unpack, names[_i], fd, 20000), ERR_OK);
	while (err == ERR_OK && got > 0) {
		err = csv_unpack_read(&got, unpack, room, sizeof(room));
		sum += got;
	}
	ck_assert_int_eq(err, ERR_TOO_LARGE);
	ck_assert_uint_lt(sum, 20000 + sizeof(room));
	ck_assert_ptr_nonnull(csv_unpack_why(unpack));
	csv_unpack_free(unpack);
	close(fd);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("csv unpack");
	TCase *tc = tcase_create("csv unpack");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, packed_file_is_read_as_what_it_holds, 0, 2);
	tcase_add_loop_test(tc, packed_file_without_its_end_is_one_fault, 0, 2);
	tcase_add_loop_test(
	    tc, packed_file_with_a_wrong_byte_is_one_fault, 0, 2);
	tcase_add_loop_test(tc, the_end_of_a_name_promises_its_packing, 0, 2);
	tcase_add_loop_test(tc, unpacking_ends_at_its_ceiling, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
