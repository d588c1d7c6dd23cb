#include "tools/gridctl/csv/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/buf.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tools/gridctl/csv/csv_block.h"
#include "tools/gridctl/csv/csv_gunzip.h"

static const char *const columns[] = {"a", "b", "c"};

static bool
is_month(struct span name)
{
	return name.len == 7 && name.ptr[4] == '-';
}

/*
 * Reads the file and writes down the results: "line:field|field|...;" for a
 * record, "!place: message;" for a fault, and how it ended.
 */
static void
read_all(struct buf *out, const char *name, bool slow, bool months)
{
	struct csv_spec spec = {columns, 3, months ? is_month : NULL, slow};
	struct csv_faults *faults = calloc(1, sizeof(*faults));
	struct csv_record record;
	struct csv *csv;
	enum err err;

	err = csv_open(&csv, scratch_path(name), name, &spec, faults);
	if (csv != NULL) {
		for (unsigned i = 0; i < csv_extra_count(csv); i++)
			buf_addf(
			    out, "+%.*s;", SPAN_ARG(csv_extra_name(csv, i)));
		while (csv_next(csv, &record)) {
			buf_addf(out, "%d:", (int)record.line);
			for (unsigned i = 0; i < 3 + csv_extra_count(csv);
			     i++) {
				if (i > 0)
					buf_add_char(out, '|');
				buf_add_span(out, record.fields[i]);
			}
			buf_add_char(out, ';');
		}
		err = csv_end(csv);
	}
	csv_close(csv);
	for (unsigned i = 0; i < faults->count && i < CSV_FAULTS_KEPT; i++)
		buf_addf(out, "!%s: %s;", faults->kept[i].place,
		    faults->kept[i].message);
	buf_addf(out, "#%d faults, %s", (int)faults->count, err_text(err));
	free(faults);
}

static void
check_outcome(const char *name, bool months, const char *expected)
{
	struct buf out;

	for (int slow = 0; slow <= 1; slow++) {
		buf_init(&out, 1 << 24);
		read_all(&out, name, slow, months);
		buf_add(&out, "", 1);
		ck_assert_int_eq(buf_end(&out), ERR_OK);
		ck_assert_str_eq(out.data, expected);
		buf_fini(&out);
	}
}

#define CASE(text, expected) \
	{ \
		"" text, sizeof(text) - 1, expected \
	}

static const struct {
	const char *text;
	size_t len;
	const char *expected;
} good[] = {
    CASE("a,b,c\n1,2,3\n4,5,6\n", "2:1|2|3;3:4|5|6;#0 faults, ok"),
    CASE("a,b,c\n", "#0 faults, ok"),
    CASE("a,b,c", "#0 faults, ok"),
    CASE("c,a,b\n1,2,3\n", "2:2|3|1;#0 faults, ok"),
    CASE("a,b,c\n1,2,3", "2:1|2|3;#0 faults, ok"),
    CASE("a,b,c\n,,\n", "2:||;#0 faults, ok"),
    CASE("a,b,c\n,,", "2:||;#0 faults, ok"),
    CASE("a,b,c\n\"\",\"\",\"\"\n", "2:||;#0 faults, ok"),
    /* CRLF, and both in one file */
    CASE("a,b,c\r\n1,2,3\r\n4,5,6", "2:1|2|3;3:4|5|6;#0 faults, ok"),
    CASE("a,b,c\n1,2,3\r\n4,5,6\n", "2:1|2|3;3:4|5|6;#0 faults, ok"),
    CASE("a,b,c\r\n1,2,\"3\"\r\n", "2:1|2|3;#0 faults, ok"),
    /* a byte order mark */
    CASE("\xEF\xBB\xBF"
	 "a,b,c\n1,2,3\n",
	"2:1|2|3;#0 faults, ok"),
    CASE("\xEF\xBB\xBF\"a\",b,c\n1,2,3\n", "2:1|2|3;#0 faults, ok"),
    /* quotes */
    CASE("\"a\",\"b\",\"c\"\n\"1\",2,3\n", "2:1|2|3;#0 faults, ok"),
    CASE("a,b,c\n\"x,y\",\"say \"\"no\"\"\",3\n4,5,6\n",
	"2:x,y|say \"no\"|3;3:4|5|6;#0 faults, ok"),
    CASE("a,b,c\n1,2,\"3\"", "2:1|2|3;#0 faults, ok"),
    /* newlines in quotes; the line is where the record begins */
    CASE(
	"a,b,c\n1,\"x\ny\n\",3\n4,5,6\n", "2:1|x\ny\n|3;5:4|5|6;#0 faults, ok"),
    CASE("a,b,c\r\n1,\"x\r\ny\",3\r\n4,5,6\r\n",
	"2:1|x\r\ny|3;4:4|5|6;#0 faults, ok"),
    CASE("a,b,c\n1,\"x\ry\",3\n", "2:1|x\ry|3;#0 faults, ok"),
    CASE("a,b,c\n1,2,\"\n\n\"\n", "2:1|2|\n\n;#0 faults, ok"),
    /* blanks are the field's own */
    CASE("a,b,c\n 1 ,\t2, \n", "2: 1 |\t2| ;#0 faults, ok"),
    CASE("a,b,c\n\" 1 \",2,3\n", "2: 1 |2|3;#0 faults, ok"),
    CASE("a,b,c\ncr\xC3\xA8me,\xE2\x82\xAC,'*+#!-./\n",
	"2:cr\xC3\xA8me|\xE2\x82\xAC|'*+#!-./;#0 faults, ok"),
};

START_TEST(good_file_is_read)
{
	scratch_write("f.csv", good[_i].text, good[_i].len);
	check_outcome("f.csv", false, good[_i].expected);
}
END_TEST

#define BAD_QUOTE \
	"a quote stands where none may be (put the field in quotes, and " \
	"write each quote in it twice)"
#define BAD_CR "a carriage return stands outside quotes and ends no line"

static const struct {
	const char *text;
	size_t len;
	const char *expected;
} bad[] = {
    /* the header */
    CASE("",
	"!f.csv:1: a: the file is empty: it must begin with a header "
	"line;#1 faults, "),
    CASE("\xEF\xBB\xBF",
	"!f.csv:1: a: the file is empty: it must begin with "
	"a header line;#1 faults, "),
    CASE("a;b;c\n1;2,5;3\n",
	"!f.csv:1: the fields are separated by semicolons: commas are needed, "
	"and a point in numbers;#1 faults, "),
    CASE("\"a\";\"b\";\"c\"\n",
	"!f.csv:1: the fields are separated by semicolons: commas are needed, "
	"and a point in numbers;#1 faults, "),
    CASE("a\tb\tc",
	"!f.csv:1: the fields are separated by tabs: commas are needed, and a "
	"point in numbers;#1 faults, "),
    CASE("\x1f\x8b\x08",
	"!f.csv:1: the file is packed by gzip: its name must end with "
	".gz;#1 faults, "),
    CASE("a,c\n1,2\n", "!f.csv:1: b: the column is missing;#1 faults, "),
    CASE("a,b,c,d\n1,2,3,4\n",
	"!f.csv:1: d: there is no such column;#1 faults, "),
    CASE("a,b,c,b\n1,2,3,4\n",
	"!f.csv:1: b: the column is there twice;#1 faults, "),
    CASE("a,B,c\n",
	"!f.csv:1: B: there is no such column;!f.csv:1: b: the "
	"column is missing;#2 faults, "),
    CASE("1,2,3\n",
	"!f.csv:1: 1: there is no such column;!f.csv:1: 2: there "
	"is no such column;!f.csv:1: 3: there is no such "
	"column;!f.csv:1: a: the column is missing;!f.csv:1: b: "
	"the column is missing;!f.csv:1: c: the column is "
	"missing;#6 faults, "),
    CASE("a,\"b,c\n",
	"!f.csv:1: a: the quoted field does not end;#1 "
	"faults, "),
    CASE("a,\xFF,c\n", "!f.csv:1: a: is not UTF-8;#1 faults, "),
    /* the number of fields */
    CASE("a,b,c\n1,2\n4,5,6\n",
	"3:4|5|6;!f.csv:2: c: is missing: the line has 2 fields, the header "
	"3;#1 faults, "),
    CASE("a,b,c\n1,2,3,4\n4,5,6\n",
	"3:4|5|6;!f.csv:2: c: is followed by more: the line has 4 fields, the "
	"header 3;#1 faults, "),
    CASE("a,b,c\n1,\"2\"\n",
	"!f.csv:2: c: is missing: the line has 2 fields, the header 3;#1 "
	"faults, "),
    CASE("a,b,c\n\n1,2,3\n",
	"3:1|2|3;!f.csv:2: a: the line is empty;#1 faults, "),
    CASE("a,b,c\r\n\r\n1,2,3\r\n",
	"3:1|2|3;!f.csv:2: a: the line is empty;#1 faults, "),
    CASE("a,b,c\n1,2,3\n\n",
	"2:1|2|3;!f.csv:3: a: the line is empty;#1 faults, "),
    /* quotes */
    CASE("a,b,c\n1,x\"y,3\n4,5,6\n",
	"3:4|5|6;!f.csv:2: b: " BAD_QUOTE ";#1 faults, "),
    CASE("a,b,c\n1,\"x\"y,3\n4,5,6\n",
	"3:4|5|6;!f.csv:2: b: " BAD_QUOTE ";#1 faults, "),
    CASE("a,b,c\n1, \"x\",3\n4,5,6\n",
	"3:4|5|6;!f.csv:2: b: " BAD_QUOTE ";#1 faults, "),
    CASE("a,b,c\n1,\"x\n\"y,3\n4,5,6\n",
	"4:4|5|6;!f.csv:2: b: " BAD_QUOTE ";#1 faults, "),
    CASE("a,b,c\n1,\"2,3\n4,5,6\n",
	"!f.csv:2: b: the quoted field does not end;#1 faults, "),
    CASE("a,b,c\n1,2,\"",
	"!f.csv:2: c: the quoted field does not end;#1 faults, "),
    /* carriage returns */
    CASE("a,b,c\n1,2\rx,3\n4,5,6\n",
	"3:4|5|6;!f.csv:2: b: " BAD_CR ";#1 faults, "),
    CASE("a,b,c\n1,2,3\r\r\n4,5,6\n",
	"3:4|5|6;!f.csv:2: c: " BAD_CR ";#1 faults, "),
    CASE(
	"a,b,c\n1,2,3\n4,5,6\r", "2:1|2|3;!f.csv:3: c: " BAD_CR ";#1 faults, "),
    CASE("a,b,c\n\r1,2,3\n", "!f.csv:2: a: " BAD_CR ";#1 faults, "),
    CASE("a,b,c\n\r", "!f.csv:2: a: " BAD_CR ";#1 faults, "),
    /* NUL */
    CASE("a,b,c\n1,x\0y,3\n4,5,6\n",
	"3:4|5|6;!f.csv:2: b: holds a NUL byte;#1 faults, "),
    CASE("a,b,c\n1,2,\"\0\"\n", "!f.csv:2: c: holds a NUL byte;#1 faults, "),
    CASE("a,b,c\n1,2,3\n\0",
	"2:1|2|3;!f.csv:3: b: is missing: the line has 1 "
	"fields, the header 3;#1 faults, "),
    /* UTF-8: Latin-1, cut short, overlong, a surrogate, too high */
    CASE("a,b,c\n1,2,3\n1,cr\xE8me,3\n",
	"2:1|2|3;!f.csv:3: b: is not UTF-8;#1 faults, "),
    CASE("a,b,c\n1,\"cr\xE8me\",3\n", "!f.csv:2: b: is not UTF-8;#1 faults, "),
    CASE("a,b,c\n1,2,\xC3\n", "!f.csv:2: c: is not UTF-8;#1 faults, "),
    CASE("a,b,c\n\xC0\xAF,2,3\n", "!f.csv:2: a: is not UTF-8;#1 faults, "),
    CASE("a,b,c\n\xED\xA0\x80,2,3\n", "!f.csv:2: a: is not UTF-8;#1 faults, "),
    CASE("a,b,c\n\xF4\x90\x80\x80,2,3\n",
	"!f.csv:2: a: is not UTF-8;#1 faults, "),
    /* a comma may not hide in half a character */
    CASE("a,b,c\n\xC3,\xA9,3\n", "!f.csv:2: a: is not UTF-8;#1 faults, "),
};

START_TEST(bad_file_is_told_with_line_and_column)
{
	char expected[1024];

	snprintf(expected, sizeof(expected), "%s%s", bad[_i].expected,
	    err_text(ERR_BAD_INPUT));
	scratch_write("f.csv", bad[_i].text, bad[_i].len);
	check_outcome("f.csv", false, expected);
}
END_TEST

START_TEST(extra_columns_come_behind_in_the_header_s_order)
{
	scratch_text("f.csv", "2026-02,c,a,2026-01,b\n1,2,3,4,5\n");
	check_outcome(
	    "f.csv", true, "+2026-02;+2026-01;2:3|5|2|1|4;#0 faults, ok");
	scratch_text("f.csv", "a,b,c,2026-02,2026-02\n");
	check_outcome("f.csv", true,
	    "!f.csv:1: 2026-02: the column is there twice;#1 faults, "
	    "malformed input");
	scratch_text("f.csv", "a,b,c,february\n");
	check_outcome("f.csv", true,
	    "!f.csv:1: february: there is no such column;#1 faults, "
	    "malformed input");
}
END_TEST

START_TEST(missing_file_is_told)
{
	char wanted[512];

	/* The whole path: it is not said which folder was meant. */
	snprintf(wanted, sizeof(wanted),
	    "!%s: cannot be opened: not found;#1 faults, not found",
	    scratch_path("none.csv"));
	check_outcome("none.csv", false, wanted);
}
END_TEST

START_TEST(folder_is_no_file)
{
	struct csv_spec spec = {columns, 3, NULL, false};
	struct csv_faults faults = {0};
	struct csv *csv;

	ck_assert_int_eq(mkdir(scratch_path("d.csv"), 0700), 0);
	ck_assert_int_ne(
	    csv_open(&csv, scratch_path("d.csv"), "d.csv", &spec, &faults),
	    ERR_OK);
	ck_assert_ptr_null(csv);
}
END_TEST

/* --- ceilings -------------------------------------------------------------*/

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
		read_all(&out, "f.csv", slow, false);
		ck_assert(span_ends(
		    buf_span(&out), SPAN("xx|3;3:4|5|6;#0 faults, ok")));
		buf_fini(&out);
	}
	write_long("f.csv", CSV_FIELD_MAX + 1, "");
	check_outcome("f.csv", false,
	    "3:4|5|6;!f.csv:2: b: is longer than 65536 bytes;#1 faults, "
	    "malformed input");
	write_long("f.csv", CSV_FIELD_MAX + 1, "\"");
	check_outcome("f.csv", false,
	    "658:4|5|6;!f.csv:2: b: is longer than 65536 bytes;#1 faults, "
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
		read_all(&out, "f.csv", false, false);
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
	struct csv_spec spec = {columns, 3, NULL, false};
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
	struct csv_spec spec = {columns, 3, is_month, false};
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
	struct csv_spec spec = {columns, 3, NULL, false};
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
	struct csv_spec spec = {columns, 3, NULL, false};
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

/* --- packed files ---------------------------------------------------------*/

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
	struct csv_spec spec = {columns, 3, NULL, false};
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
		read_all(&out, "f.csv.gz", slow, false);
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

/* --- faults ---------------------------------------------------------------*/

START_TEST(caller_s_fault_names_the_column_of_its_table)
{
	struct csv_spec spec = {columns, 3, NULL, false};
	struct csv_faults faults = {0};
	struct csv_record record;
	struct csv *csv;

	scratch_text("f.csv", "c,b,a\n1,2,3\n");
	ck_assert_int_eq(
	    csv_open(&csv, scratch_path("f.csv"), "f.csv", &spec, &faults),
	    ERR_OK);
	ck_assert(csv_next(csv, &record));
	csv_fault(csv, 2, "is %d too many", 1);
	ck_assert_int_eq(csv_end(csv), ERR_BAD_INPUT);
	ck_assert_str_eq(faults.kept[0].place, "f.csv:2: c");
	ck_assert_str_eq(faults.kept[0].message, "is 1 too many");
	csv_close(csv);
}
END_TEST

static void
print_into(char *text, size_t size, const struct csv_faults *faults)
{
	FILE *file = fmemopen(text, size, "w");

	ck_assert_ptr_nonnull(file);
	csv_faults_print(faults, file);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(twenty_faults_are_kept_and_the_rest_counted)
{
	static struct csv_faults one, two;
	char text[4096];

	for (int i = 1; i <= 15; i++) {
		csv_faults_add(&one, "a.csv", i, "x", "is wrong");
		csv_faults_add(&two, "b.csv", i, NULL, "is worse");
	}
	csv_faults_join(&one, &two);
	ck_assert_uint_eq(one.count, 30);
	print_into(text, sizeof(text), &one);
	ck_assert_ptr_nonnull(strstr(text, "a.csv:15: x: is wrong\nb.csv:1: "));
	ck_assert_ptr_nonnull(
	    strstr(text, "b.csv:5: is worse\n... and 10 more\n"));
}
END_TEST

/* --- both ways are one ----------------------------------------------------*/

/* A file of pieces that matter, in any order. */
static void
write_random(const char *name)
{
	static const char *const pieces[] = {",", ",", ",", ",", "\n", "\n",
	    "\n", "\r\n", "\"", "\"", "\"\"", "\r", "1", "12.5", "x y",
	    "\xC3\xA9", "\xE9", "-", "'&#", " ", "1,2,3\n", "4,5,6\n",
	    "7,8,9\r\n", "\"a\",\"b\",\"c\"\n", "long enough for words,,\n"};
	FILE *file = fopen(scratch_path(name), "wb");
	unsigned count;

	ck_assert_ptr_nonnull(file);
	fputs("b,c,a\n", file);
	count = random_bits() % 60;
	for (unsigned i = 0; i < count; i++) {
		unsigned pick = (unsigned)(random_bits() >> 32);

		if (pick % 97 == 0)
			fputc('\0', file);
		else
			fputs(
			    pieces[pick % (sizeof(pieces) / sizeof(pieces[0]))],
			    file);
	}
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(fast_way_and_libcsv_agree)
{
	struct buf fast, slow;

	buf_init(&fast, 1 << 20);
	buf_init(&slow, 1 << 20);
	for (int round = 0; round < 1500; round++) {
		write_random("f.csv");
		buf_clear(&fast);
		buf_clear(&slow);
		read_all(&fast, "f.csv", false, false);
		read_all(&slow, "f.csv", true, false);
		ck_assert_msg(span_eq(buf_span(&fast), buf_span(&slow)),
		    "round %d:\n%.*s\n%.*s", round, SPAN_ARG(buf_span(&fast)),
		    SPAN_ARG(buf_span(&slow)));
	}
	buf_fini(&fast);
	buf_fini(&slow);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("csv");
	TCase *tc = tcase_create("csv");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(
	    tc, good_file_is_read, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, bad_file_is_told_with_line_and_column, 0,
	    sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, extra_columns_come_behind_in_the_header_s_order);
	tcase_add_test(tc, missing_file_is_told);
	tcase_add_test(tc, folder_is_no_file);
	tcase_add_test(tc, field_at_its_ceiling_passes_and_one_over_does_not);
	tcase_add_test(tc, line_over_its_ceiling_is_refused_and_passed_over);
	tcase_add_test(tc, line_numbers_go_on_behind_a_quote_that_never_ends);
	tcase_add_test(tc, all_columns_may_be_there_and_not_one_more);
	tcase_add_test(tc, records_across_blocks_stay_whole);
	tcase_add_test(tc, pipe_that_gives_a_byte_at_a_time_is_read);
	tcase_add_test(tc, packed_file_is_read_as_what_it_holds);
	tcase_add_test(tc, packed_file_without_its_end_is_one_fault);
	tcase_add_test(tc, packed_file_with_a_wrong_byte_is_one_fault);
	tcase_add_test(tc, a_name_ending_with_gz_promises_gzip);
	tcase_add_test(tc, unpacking_ends_at_its_ceiling);
	tcase_add_test(tc, caller_s_fault_names_the_column_of_its_table);
	tcase_add_test(tc, twenty_faults_are_kept_and_the_rest_counted);
	tcase_add_test(tc, fast_way_and_libcsv_agree);
	suite_add_tcase(suite, tc);
	return suite;
}
