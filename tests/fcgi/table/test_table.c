/* tests/fcgi/table/test_table.c: fcgi/table/table.h, the formats of text */
#include "fcgi/table/table.h"

#include <stdlib.h>

#include "fcgi/http/reply.h"
#include "tests/support/run.h"

static const struct table_column columns[] = {
    {{"a", 1}, ROW_TEXT},
    {{"b;\"c\"", 5}, ROW_DECIMAL},
    {{"d", 1}, ROW_OBJECT},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const struct {
	enum format format;
	const char *cells[COLUMNS], *line;
} lines[] = {
    {FORMAT_CSV, {"\"x\"", "1.5", "null"}, "\"x\",1.5,\n"},
    {FORMAT_CSV, {"\"\"", "-12345678.25", "{}"}, "\"\",-12345678.25,\"{}\"\n"},
    {FORMAT_CSV, {"null", "null", "null"}, ",,\n"},
    {FORMAT_CSV, {"\"a\\\"b\"", "0", "{\"k\":\"v\"}"},
	"\"a\"\"b\",0,\"{\"\"k\"\":\"\"v\"\"}\"\n"},
    {FORMAT_CSV, {"\"eight by\\\\tes\\nand more\"", "true", "[1,2]"},
	"\"eight by\\tes\nand more\",true,\"[1,2]\"\n"},
    {FORMAT_CSV, {"\"\\u0022\\u001f\"", "1", "null"}, "\"\"\"\x1f\",1,\n"},
    {FORMAT_CSV, {"\"\xc3\xa9t\xc3\xa9,; \"", "1", "null"},
	"\"\xc3\xa9t\xc3\xa9,; \",1,\n"},
    {FORMAT_CSV_FR, {"\"1.5\"", "1234567.5", "{\"k\":1.5}"},
	"\"1.5\";1234567,5;\"{\"\"k\"\":1.5}\"\r\n"},
    {FORMAT_TSV, {"\"bare\"", "1.5", "null"}, "bare\t1.5\t\n"},
    {FORMAT_TSV, {"\"\"", "1.5", "{}"}, "\"\"\t1.5\t\"{}\"\n"},
    {FORMAT_TSV, {"\"a\\tb\"", "1", "null"}, "\"a\tb\"\t1\t\n"},
};

static const char *const heads[FORMATS] = {
    [FORMAT_CSV] = "a,\"b;\"\"c\"\"\",d\n",
    [FORMAT_CSV_FR] = "\xef\xbb\xbf"
		      "a;\"b;\"\"c\"\"\";d\r\n",
    [FORMAT_TSV] = "a\t\"b;\"\"c\"\"\"\td\n",
};

static struct reply reply;
static struct request request;
static struct table table;
static struct sink sink;
static struct buf out;

static void
begin(enum format format)
{
	buf_init(&out, (size_t)1 << 26);
	sink = sink_to_buf(&out);
	request_init(&request);
	reply_init(&reply);
	reply_begin(&reply, &sink, &request);
	ck_assert_int_eq(
	    table_begin(&table, format, &reply, columns, COLUMNS), ERR_OK);
}

/* The text so far; valid until fini(). */
static struct span
written(void)
{
	ck_assert_int_eq(table_end(&table), ERR_OK);
	buf_clear(&out);
	for (unsigned i = 1; i < reply.body.count; i++)
		buf_add(&out, reply.body.iov[i].iov_base,
		    reply.body.iov[i].iov_len);
	ck_assert_int_eq(buf_end(&out), ERR_OK);
	ck_assert_uint_eq(out.len, reply.body.total);
	return buf_span(&out);
}

static void
fini(void)
{
	table_fini(&table);
	reply_fini(&reply);
	buf_fini(&out);
}

START_TEST(a_line_of_text_has_its_cells)
{
	enum format format = lines[_i].format;
	struct span text;

	begin(format);
	for (unsigned i = 0; i < COLUMNS; i++)
		table_cell(&table, span_of(lines[_i].cells[i]));
	ck_assert_int_eq(table_row_end(&table), ERR_OK);
	text = written();
	ck_assert(span_starts(text, span_of(heads[format])));
	text = span_from(text, strlen(heads[format]));
	ck_assert_msg(
	    span_eq(text, span_of(lines[_i].line)), "%.*s", SPAN_ARG(text));
	fini();
}
END_TEST

/* In a block of its very size, so that a byte read beyond it is found. */
static struct span
quoted(size_t len, char byte)
{
	char *text = malloc(len + 2);

	ck_assert_ptr_nonnull(text);
	memset(text, byte, len + 2);
	text[0] = text[len + 1] = '"';
	return span_make(text, len + 2);
}

/* Every length up to two words, and rows about as large as a chunk. */
START_TEST(a_text_of_any_length_is_whole)
{
	static const size_t more[] = {IOVBUF_CHUNK / 4, IOVBUF_CHUNK / 2 - 10,
	    IOVBUF_CHUNK / 2, IOVBUF_CHUNK, 5 * IOVBUF_CHUNK};
	size_t len = _i < 40 ? (size_t)_i : more[_i - 40];
	struct span text = quoted(len, 'x'), found;

	begin(FORMAT_CSV);
	table_cell(&table, text);
	table_cell(&table, SPAN("7"));
	table_cell(&table, SPAN("null"));
	ck_assert_int_eq(table_row_end(&table), ERR_OK);
	found = span_from(written(), strlen(heads[FORMAT_CSV]));
	ck_assert_uint_eq(found.len, text.len + 4);
	ck_assert(span_eq(span_sub(found, 0, text.len), text));
	ck_assert(span_eq(span_from(found, text.len), SPAN(",7,\n")));
	fini();
	free((void *)(uintptr_t)text.ptr);
}
END_TEST

/* An escape at any place is found. */
START_TEST(an_escape_anywhere_in_a_text_is_undone)
{
	for (size_t len = 2; len < 40; len++)
		for (size_t at = 1; at < len; at++) {
			struct span text = quoted(len, 'x'), found;
			char *to = (char *)(uintptr_t)text.ptr;

			to[at] = '\\';
			to[at + 1] = 'n';
			begin(FORMAT_CSV);
			table_cell(&table, text);
			table_cell(&table, SPAN("7"));
			table_cell(&table, SPAN("null"));
			ck_assert_int_eq(table_row_end(&table), ERR_OK);
			found = span_from(written(), strlen(heads[FORMAT_CSV]));
			ck_assert_uint_eq(found.len, text.len + 3);
			ck_assert_uint_eq(span_find(found, '\n'), at);
			fini();
			free(to);
		}
}
END_TEST

/* A row is as large as it is: quotes double all of it. */
START_TEST(a_map_of_quotes_has_twice_as_many)
{
	static const size_t lens[] = {1, IOVBUF_CHUNK / 4 - 8, IOVBUF_CHUNK / 4,
	    IOVBUF_CHUNK, 3 * IOVBUF_CHUNK};
	struct span text = quoted(lens[_i], '"'), found;

	((char *)(uintptr_t)text.ptr)[0] = '[';
	begin(FORMAT_CSV);
	table_cell(&table, SPAN("null"));
	table_cell(&table, SPAN("null"));
	table_cell(&table, text);
	ck_assert_int_eq(table_row_end(&table), ERR_OK);
	found = span_from(written(), strlen(heads[FORMAT_CSV]));
	ck_assert_uint_eq(found.len, 2 * text.len + 4);
	ck_assert(span_starts(found, SPAN(",,\"[\"\"")));
	fini();
	free((void *)(uintptr_t)text.ptr);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("table");
	TCase *cases = tcase_create("table");

	tcase_add_loop_test(cases, a_line_of_text_has_its_cells, 0,
	    sizeof(lines) / sizeof(lines[0]));
	tcase_add_loop_test(cases, a_text_of_any_length_is_whole, 0, 45);
	tcase_add_test(cases, an_escape_anywhere_in_a_text_is_undone);
	tcase_add_loop_test(cases, a_map_of_quotes_has_twice_as_many, 0, 5);
	suite_add_tcase(suite, cases);
	return suite;
}
