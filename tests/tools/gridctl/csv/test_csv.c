#include "tools/gridctl/csv/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "common/buf.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tests/tools/gridctl/csv/csv_kit.h"

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
	csv_kit_check("f.csv", false, good[_i].expected);
}
END_TEST

#define BAD_QUOTE \
	"a quote stands where none may be (put the field in quotes, and " \
	"write each quote in it twice)"
#define NO_UTF8 "is not UTF-8 (Excel: save as \"CSV UTF-8\")"
#define UTF16 \
	"!f.csv:1: the file is UTF-16: UTF-8 is needed (Excel: save as \"CSV " \
	"UTF-8\");#1 faults, "
#define NO_COLUMN \
	"!f.csv:1: the first line names none of the columns: it must name, " \
	"in any order, a,b,c;"
#define NO_HEADER NO_COLUMN "#1 faults, "
#define NO_HEADER_2 NO_COLUMN "#2 faults, "
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
	"2:1|2,5|3;!f.csv:1: the fields are separated by semicolons: commas "
	"are needed, "
	"and a point in numbers;#1 faults, "),
    CASE("\"a\";\"b\";\"c\"\n",
	"!f.csv:1: the fields are separated by semicolons: commas are needed, "
	"and a point in numbers;#1 faults, "),
    CASE("a\tb\tc",
	"!f.csv:1: the fields are separated by tabs: commas are needed, and a "
	"point in numbers;#1 faults, "),
    CASE("a;b;c\n1;\xE9;3\n\"x\";2\n",
	"2:1||3;!f.csv:1: the fields are separated by semicolons: commas are "
	"needed, and a point in numbers;!f.csv:2: b: " NO_UTF8
	";!f.csv:3: c: is missing: the line has 2 fields, the header 3;#3 "
	"faults, "),
    /* UTF-16, of either order, with its mark and without */
    CASE("\xFF\xFE"
	 "a\0,\0",
	UTF16),
    CASE("\xFE\xFF\0a\0,", UTF16),
    CASE("a\0,\0b\0\n\0", UTF16),
    CASE("\0a\0,\0b\0\n", UTF16),
    /* what a line has too much is not taken for a column that is missing */
    CASE("a,b\n1,2,3\n4,5\n",
	"3:4|5|;!f.csv:1: c: the column is missing;!f.csv:2: b: is followed by "
	"more: the line has 3 fields, the header 2;#2 faults, "),
    CASE("\x1f\x8b\x08",
	"!f.csv:1: the file is packed by gzip: its name must end with "
	".gz;#1 faults, "),
    CASE("a,c\n1,2\n", "2:1||2;!f.csv:1: b: the column is missing;#1 faults, "),
    CASE("a,b,c,d\n1,2,3,4\n",
	"2:1|2|3;!f.csv:1: d: there is no such column;#1 faults, "),
    CASE("a,b,c,b\n1,2,3,4\n",
	"2:1|2|3;!f.csv:1: b: the column is there twice;#1 faults, "),
    CASE("a,B,c\n",
	"!f.csv:1: B: there is no such column;!f.csv:1: b: the "
	"column is missing;#2 faults, "),
    /* without a header, and with one of another file */
    CASE("1,2,3\n", NO_HEADER),
    CASE("x,y,z,farbe\n1,2,3,4\n", NO_HEADER),
    CASE("\n1,2,3\n", NO_HEADER),
    CASE("x;y;z\n",
	"!f.csv:1: the fields are separated by semicolons: commas are needed, "
	"and a point in numbers;" NO_HEADER_2),
    CASE("a,\"b,c\n",
	"!f.csv:1: a: the quoted field does not end;#1 "
	"faults, "),
    CASE("a,\xFF,c\n", "!f.csv:1: a: " NO_UTF8 ";#1 faults, "),
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
	"2:1||3;3:4|5|6;!f.csv:2: b: holds a NUL byte;#1 faults, "),
    CASE("a,b,c\n1,2,\"\0\"\n",
	"2:1|2|;!f.csv:2: c: holds a NUL byte;#1 faults, "),
    CASE("a,b,c\n1,2,3\n\0",
	"2:1|2|3;!f.csv:3: b: is missing: the line has 1 "
	"fields, the header 3;#1 faults, "),
    /* UTF-8: Latin-1, cut short, overlong, a surrogate, too high */
    CASE("a,b,c\n1,2,3\n1,cr\xE8me,3\n",
	"2:1|2|3;3:1||3;!f.csv:3: b: " NO_UTF8 ";#1 faults, "),
    CASE("a,b,c\n1,\"cr\xE8me\",3\n",
	"2:1||3;!f.csv:2: b: " NO_UTF8 ";#1 faults, "),
    CASE("a,b,c\n1,2,\xC3\n", "2:1|2|;!f.csv:2: c: " NO_UTF8 ";#1 faults, "),
    CASE(
	"a,b,c\n\xC0\xAF,2,3\n", "2:|2|3;!f.csv:2: a: " NO_UTF8 ";#1 faults, "),
    CASE("a,b,c\n\xED\xA0\x80,2,3\n",
	"2:|2|3;!f.csv:2: a: " NO_UTF8 ";#1 faults, "),
    CASE("a,b,c\n\xF4\x90\x80\x80,2,3\n",
	"2:|2|3;!f.csv:2: a: " NO_UTF8 ";#1 faults, "),
    /* a comma may not hide in half a character */
    CASE("a,b,c\n\xC3,\xA9,3\n",
	"2:||3;!f.csv:2: a: " NO_UTF8 ";!f.csv:2: b: " NO_UTF8 ";#2 faults, "),
};

START_TEST(bad_file_is_told_with_line_and_column)
{
	char expected[1024];

	snprintf(expected, sizeof(expected), "%s%s", bad[_i].expected,
	    err_text(ERR_BAD_INPUT));
	scratch_write("f.csv", bad[_i].text, bad[_i].len);
	csv_kit_check("f.csv", false, expected);
}
END_TEST

START_TEST(extra_columns_come_behind_in_the_header_s_order)
{
	scratch_text("f.csv", "2026-02,c,a,2026-01,b\n1,2,3,4,5\n");
	csv_kit_check(
	    "f.csv", true, "+2026-02;+2026-01;2:3|5|2|1|4;#0 faults, ok");
	scratch_text("f.csv", "a,b,c,2026-02,2026-02\n");
	csv_kit_check("f.csv", true,
	    "+2026-02;!f.csv:1: 2026-02: the column is there twice;#1 faults, "
	    "malformed input");
	scratch_text("f.csv", "a,b,c,february\n");
	csv_kit_check("f.csv", true,
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
	csv_kit_check("none.csv", false, wanted);
}
END_TEST

START_TEST(folder_is_no_file)
{
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
	struct csv_faults faults = {0};
	struct csv *csv;

	ck_assert_int_eq(mkdir(scratch_path("d.csv"), 0700), 0);
	ck_assert_int_ne(
	    csv_open(&csv, scratch_path("d.csv"), "d.csv", &spec, &faults),
	    ERR_OK);
	ck_assert_ptr_null(csv);
}
END_TEST

/* --- faults ---------------------------------------------------------------*/

START_TEST(caller_s_fault_names_the_column_of_its_table)
{
	struct csv_spec spec = {csv_kit_columns, 3, NULL, false};
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

START_TEST(a_hundred_faults_are_kept_and_the_rest_counted)
{
	static struct csv_faults faults;
	static char text[64 * CSV_FAULTS_KEPT];

	for (int i = 1; i <= CSV_FAULTS_KEPT + 10; i++)
		csv_faults_add(&faults, "a.csv", i, "x", "is wrong");
	ck_assert_uint_eq(faults.count, CSV_FAULTS_KEPT + 10);
	print_into(text, sizeof(text), &faults);
	ck_assert_ptr_nonnull(
	    strstr(text, "a.csv:100: x: is wrong\n... and 10 more\n"));
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
		csv_kit_read(&fast, "f.csv", false, false);
		csv_kit_read(&slow, "f.csv", true, false);
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
	tcase_add_test(tc, caller_s_fault_names_the_column_of_its_table);
	tcase_add_test(tc, a_hundred_faults_are_kept_and_the_rest_counted);
	tcase_add_test(tc, fast_way_and_libcsv_agree);
	suite_add_tcase(suite, tc);
	return suite;
}
