#include "tools/gridctl/csv/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tests/tools/gridctl/csv/csv_kit.h"
#include "tools/gridctl/csv/csv_block.h"

/* "a,b,c", then a record with `len` bytes in b, then a short one. */
static void
write_long(const char *name, size_t len, const char *quote)
{
	FILE *file = fopen(scratch_path(name), "wb");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "a,b,c\n1,%s", quote);
	for (size_t i = 0; i < len; i++)
		fputc(i % 100 == 99 && *quote != '\0' ? '\n' : 'x', file);
	fprintf(file, "%s,3\n4,5,6\n", quote);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(field_at_its_ceiling_passes_and_one_over_does_not)
{
	struct buf out;

	for (int slow = 0; slow <= 1; slow++) {
		write_long("f.csv", CSV_FIELD_MAX, "");
		buf_init(&out, 1 << 20);
		csv_kit_read(&out, "f.csv", slow, false);
		ck_assert(span_ends(
		    buf_span(&out), SPAN("xx|3;3:4|5|6;#0 faults, ok")));
		buf_fini(&out);
	}
	write_long("f.csv", CSV_FIELD_MAX + 1, "");
	csv_kit_check("f.csv", false,
	    "2:1||3;3:4|5|6;!f.csv:2: b: is longer than 65536 bytes;#1 faults, "
	    "malformed input");
	write_long("f.csv", CSV_FIELD_MAX + 1, "\"");
	csv_kit_check("f.csv", false,
	    "2:1||3;658:4|5|6;!f.csv:2: b: is longer than 65536 bytes;#1 "
	    "faults, "
	    "malformed input");
}
END_TEST

START_TEST(line_over_its_ceiling_is_refused_and_passed_over)
{
	struct buf out;

	for (size_t len = CSV_LINE_MAX - 3; len < (size_t)4 * CSV_LINE_MAX;
	     len += CSV_LINE_MAX) {
		write_long("f.csv", len, "");
		buf_init(&out, 1 << 20);
		csv_kit_read(&out, "f.csv", false, false);
		ck_assert(
		    span_starts(buf_span(&out), SPAN("3:4|5|6;!f.csv:2: ")));
		ck_assert(span_ends(buf_span(&out),
		    SPAN(": the line is longer than 1048576 bytes;#1 faults, "
			 "malformed input")));
		buf_fini(&out);
	}
}
END_TEST

START_TEST(line_numbers_go_on_behind_a_quote_that_never_ends)
{
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
	static struct csv_faults faults;
	struct csv_record record;
	uint64_t last = 0;
	struct csv *csv;
	FILE *file;

	file = fopen(scratch_path("f.csv"), "wb");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "a,b,c\n1,\"2,3\n");
	for (int i = 3; i <= 600000; i++)
		fprintf(file, "%d,x,y\n", i);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(
	    csv_open(&csv, scratch_path("f.csv"), "f.csv", &spec, &faults),
	    ERR_OK);
	while (csv_next(csv, &record)) {
		char text[24];

		snprintf(text, sizeof(text), "%d", (int)record.line);
		ck_assert(span_eq(record.fields[0], span_of(text)));
		last = record.line;
	}
	ck_assert_uint_eq(last, 600000);
	ck_assert_uint_eq(faults.count, 1);
	ck_assert_str_eq(faults.kept[0].place, "f.csv:2: b");
	csv_close(csv);
}
END_TEST

START_TEST(all_columns_may_be_there_and_not_one_more)
{
	struct csv_spec spec = {csv_kit_columns, 3, csv_kit_is_month, false};
	static struct csv_faults faults;
	struct csv_record record;
	struct csv *csv;
	FILE *file;

	for (int extra = CSV_COLUMNS_MAX - 3; extra <= CSV_COLUMNS_MAX;
	     extra++) {
		file = fopen(scratch_path("f.csv"), "wb");
		ck_assert_ptr_nonnull(file);
		for (int i = 0; i < extra; i++)
			fprintf(file, "%04d-01,", i);
		fprintf(file, "a,b,c\n");
		for (int i = 0; i < extra + 2; i++)
			fprintf(file, "%d,", i);
		fprintf(file, "x\n");
		ck_assert_int_eq(fclose(file), 0);
		memset(&faults, 0, sizeof(faults));
		csv_open(&csv, scratch_path("f.csv"), "f.csv", &spec, &faults);
		ck_assert_int_eq(csv != NULL, extra == CSV_COLUMNS_MAX - 3);
		ck_assert_int_eq(faults.count == 0, csv != NULL);
		if (csv != NULL) {
			ck_assert(csv_next(csv, &record));
			ck_assert(span_eq(record.fields[2], SPAN("x")));
			ck_assert(span_eq(record.fields[255], SPAN("252")));
		}
		csv_close(csv);
	}
}
END_TEST

/* --- blocks ---------------------------------------------------------------*/

START_TEST(records_across_blocks_stay_whole)
{
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
	static struct csv_faults faults;
	struct csv_record record;
	struct csv *csv;
	char text[32];
	FILE *file;
	int i;

	file = fopen(scratch_path("f.csv"), "wb");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "a,b,c\n");
	for (i = 0; i < 60000; i++)
		if (i % 7 == 0)
			fprintf(file, "%d,\"q\"\"%d\",z\n", i, i);
		else
			fprintf(file, "%d,q%d,z\n", i, i);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(
	    csv_open(&csv, scratch_path("f.csv"), "f.csv", &spec, &faults),
	    ERR_OK);
	for (i = 0; csv_next(csv, &record); i++) {
		snprintf(text, sizeof(text), i % 7 == 0 ? "q\"%d" : "q%d", i);
		ck_assert(span_eq(record.fields[1], span_of(text)));
		ck_assert_uint_eq(record.line, i + 2);
	}
	ck_assert_int_eq(i, 60000);
	ck_assert_uint_eq(csv_offset(csv), csv_size(csv));
	ck_assert_int_eq(csv_end(csv), ERR_OK);
	csv_close(csv);
}
END_TEST

START_TEST(pipe_that_gives_a_byte_at_a_time_is_read)
{
	static const char text[] = "\xEF\xBB\xBF"
				   "a,b,c\r\n1,\"x\ny\",3\r\n";
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
	struct csv_faults faults = {0};
	struct csv_record record;
	struct csv *csv;
	int fd;

	ck_assert_int_eq(mkfifo(scratch_path("f"), 0600), 0);
	if (fork() == 0) {
		fd = open(scratch_path("f"), O_WRONLY);
		for (size_t i = 0; fd >= 0 && i < sizeof(text) - 1; i++) {
			if (write(fd, text + i, 1) != 1)
				_exit(1);
			usleep(500);
		}
		_exit(0);
	}
	ck_assert_int_eq(
	    csv_open(&csv, scratch_path("f"), "f", &spec, &faults), ERR_OK);
	ck_assert(csv_next(csv, &record));
	ck_assert(span_eq(record.fields[1], SPAN("x\ny")));
	ck_assert(!csv_next(csv, &record));
	ck_assert_int_eq(csv_end(csv), ERR_OK);
	ck_assert_uint_eq(csv_size(csv), 0);
	csv_close(csv);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("csv limits");
	TCase *tc = tcase_create("csv limits");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, field_at_its_ceiling_passes_and_one_over_does_not);
	tcase_add_test(tc, line_over_its_ceiling_is_refused_and_passed_over);
	tcase_add_test(tc, line_numbers_go_on_behind_a_quote_that_never_ends);
	tcase_add_test(tc, all_columns_may_be_there_and_not_one_more);
	tcase_add_test(tc, records_across_blocks_stay_whole);
	tcase_add_test(tc, pipe_that_gives_a_byte_at_a_time_is_read);
	suite_add_tcase(suite, tc);
	return suite;
}
