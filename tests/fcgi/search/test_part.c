/* tests/fcgi/search/test_part.c: fcgi/search/part.h: rows of parts, merged by their
 * orders, are those of one search; what is no question or answer is refused. */
#include "fcgi/search/part.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/num.h"
#include "fcgi/call.h"
#include "fcgi/rows/sort_bytes.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/part_row.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

/* --- the order ------------------------------------------------------------ */

static struct buf a, b;

static int
compare_numbers(int64_t x, int64_t y, bool descending)
{
	buf_clear(&a);
	buf_clear(&b);
	sort_bytes_number(&a, x, descending);
	sort_bytes_number(&b, y, descending);
	return span_cmp(buf_span(&a), buf_span(&b));
}

static int
compare_texts(struct span x, struct span y, bool descending)
{
	buf_clear(&a);
	buf_clear(&b);
	sort_bytes_text(&a, x, descending);
	sort_bytes_text(&b, y, descending);
	/* Whatever follows does not decide. */
	buf_add_text(&a, "\xff");
	buf_add_text(&b, "\0");
	return span_cmp(buf_span(&a), buf_span(&b));
}

START_TEST(bytes_are_ordered_as_their_values_are)
{
	static const int64_t numbers[] = {
	    INT64_MIN + 1, -300, -1, 0, 1, 255, 256, 1 << 30, INT64_MAX};
	static const struct span texts[] = {{"", 0}, {"\0", 1}, {"\0\0", 2},
	    {"\0\xff", 2}, {"\1", 1}, {"a", 1}, {"a\0", 2}, {"a\0b", 3},
	    {"aa", 2}, {"b", 1}, {"\xff", 1}, {"\xff\xff", 2}};
	const unsigned n = sizeof(numbers) / sizeof(numbers[0]),
		       t = sizeof(texts) / sizeof(texts[0]);

	buf_init(&a, 100);
	buf_init(&b, 100);
	for (unsigned i = 0; i + 1 < n; i++) {
		ck_assert_int_lt(
		    compare_numbers(numbers[i], numbers[i + 1], false), 0);
		ck_assert_int_gt(
		    compare_numbers(numbers[i], numbers[i + 1], true), 0);
		ck_assert_int_lt(
		    compare_numbers(numbers[i], NUM_NULL, false), 0);
		ck_assert_int_lt(
		    compare_numbers(numbers[i], NUM_NULL, true), 0);
	}
	for (unsigned i = 0; i < t; i++)
		for (unsigned k = 0; k < t; k++) {
			int way = span_cmp(texts[i], texts[k]);

			if (way == 0)
				continue;
			ck_assert((compare_texts(texts[i], texts[k], false) <
				      0) == (way < 0));
			ck_assert((compare_texts(texts[i], texts[k], true) <
				      0) == (way > 0));
		}
	buf_fini(&a);
	buf_fini(&b);
}
END_TEST

/* --- questions and answers -------------------------------------------------- */

static struct span
question_of(struct buf *out, const char *uri, const char *const *codes,
    uint64_t first, uint64_t count)
{
	static struct span list[4];
	struct part_question question = {.address = span_of(uri),
	    .first = first,
	    .count = count,
	    .text = true,
	    .wanted = {.codes = list}};

	for (; *codes != NULL; codes++)
		list[question.wanted.count++] = span_of(*codes);
	buf_init(out, PART_QUESTION_MAX);
	part_question_write(out, &question);
	ck_assert_int_eq(buf_end(out), ERR_OK);
	return buf_span(out);
}

static const char *const none[] = {NULL}, *const ones[] = {"S1", "S5", NULL},
			 *const twos[] = {"S2", NULL},
			 *const unsorted[] = {"S5", "S1", NULL},
			 *const twice[] = {"S1", "S1", NULL},
			 *const empty[] = {"", NULL};

START_TEST(questions_are_read_as_written_or_refused)
{
	const char *const *const bad[] = {none, unsorted, twice, empty};
	struct arena *arena = arena_new(1 << 20);
	struct part_question question;
	struct buf text;
	struct span bytes = question_of(&text, "/x?q=a", ones, 3, 4);

	ck_assert_int_eq(part_question_read(&question, bytes, arena), ERR_OK);
	ck_assert(span_eq(question.address, SPAN("/x?q=a")));
	ck_assert_uint_eq(question.first, 3);
	ck_assert_uint_eq(question.count, 4);
	ck_assert(question.text);
	ck_assert_uint_eq(question.wanted.count, 2);
	ck_assert(span_eq(question.wanted.codes[1], SPAN("S5")));
	for (size_t len = 0; len < bytes.len; len++)
		ck_assert_int_eq(part_question_read(
				     &question, span_sub(bytes, 0, len), arena),
		    ERR_BAD_INPUT);
	buf_add_char(&text, 0);
	ck_assert_int_eq(part_question_read(&question, buf_span(&text), arena),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(
	    part_question_read(&question, span_make(NULL, 0), arena),
	    ERR_BAD_INPUT);
	buf_fini(&text);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bytes = question_of(&text, "/x", bad[i], 0, 1);
		ck_assert_int_eq(
		    part_question_read(&question, bytes, arena), ERR_BAD_INPUT);
		buf_fini(&text);
	}
	arena_free(arena);
}
END_TEST

static void
begin_answer(struct buf *out, uint64_t total)
{
	const struct part head = {.total = total,
	    .suppliers = 1,
	    .sum = UINT64_MAX,
	    .places = 5,
	    .head = SPAN("h")};

	buf_init(out, 4096);
	part_write(out, &head);
	pack_add_unsigned(out, 1);
	pack_add_text(out, SPAN("S9"));
}

START_TEST(answers_are_read_as_written_or_refused)
{
	struct buf text;
	struct part part;

	begin_answer(&text, 2);
	part_write_row(&text, SPAN("a"), SPAN("{}"));
	part_write_row(&text, SPAN("b"), SPAN(""));
	part_write_end(&text);
	ck_assert_int_eq(part_read(&part, buf_span(&text)), ERR_OK);
	ck_assert_uint_eq(part.sum, UINT64_MAX);
	ck_assert_uint_eq(part.lack_count, 1);
	ck_assert(span_eq(part.head, SPAN("h")));
	ck_assert(part_next(&part));
	ck_assert(span_eq(part.text, SPAN("{}")));
	ck_assert(part_next(&part));
	ck_assert(span_eq(part.order, SPAN("b")));
	ck_assert(!part_next(&part));
	ck_assert(!part_next(&part));
	for (size_t len = 0; len < text.len; len++)
		ck_assert_int_eq(
		    part_read(&part, span_make(text.data, len)), ERR_BAD_INPUT);
	buf_add_char(&text, 0);
	ck_assert_int_eq(part_read(&part, buf_span(&text)), ERR_BAD_INPUT);
	ck_assert_int_eq(part_read(&part, span_make(NULL, 0)), ERR_BAD_INPUT);
	buf_fini(&text);
}
END_TEST

START_TEST(rows_out_of_order_or_too_many_are_refused)
{
	static const struct {
		const char *first, *second;
		uint64_t total;
		enum err err;
	} cases[] = {
	    {"a", "b", 2, ERR_OK},
	    {"a", "b", 1, ERR_BAD_INPUT},
	    {"a", "a", 2, ERR_BAD_INPUT},
	    {"b", "a", 2, ERR_BAD_INPUT},
	    {"", "a", 2, ERR_BAD_INPUT},
	    {"a", "b", UINT64_MAX, ERR_BAD_INPUT},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf text;
		struct part part;

		begin_answer(&text, cases[i].total);
		part_write_row(&text, span_of(cases[i].first), SPAN("{}"));
		part_write_row(&text, span_of(cases[i].second), SPAN("{}"));
		part_write_end(&text);
		ck_assert_int_eq(
		    part_read(&part, buf_span(&text)), cases[i].err);
		buf_fini(&text);
	}
}
END_TEST

START_TEST(rows_of_other_columns_are_refused)
{
	static const struct {
		const char *text;
		enum err err;
	} cases[] = {
	    {"{\"codein\":\"1\",\"totalCa\":2.5}", ERR_OK},
	    {"{\"codein\":\"1\",\"totalCa\":null}", ERR_OK},
	    {"{\"totalCa\":2.5,\"codein\":\"1\"}", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\"}", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\"totalCa\":2,\"marque\":1}", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\"totalCa\":2},", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\n\"totalCa\":2}", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\"totalCa\":2", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\"totalCa\":02}", ERR_BAD_INPUT},
	    {"{\"codein\":\"\xff\",\"totalCa\":2}", ERR_BAD_INPUT},
	    {"{\"codein\":\"1\",\"totalCa\":[[[[[[[[[[]]]]]]]]]]}",
		ERR_BAD_INPUT},
	    {"[\"codein\",\"totalCa\"]", ERR_BAD_INPUT},
	    {"{}", ERR_BAD_INPUT},
	    {"", ERR_BAD_INPUT},
	};
	struct span values[ROW_COLUMNS];
	struct columns columns = {0};
	struct splice splice;

	splice_init(&splice);
	columns_add(&columns, COL_codein);
	columns_add(&columns, COL_totalCa);
	splice_columns(&splice, &columns);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(part_row_read(values, span_of(cases[i].text),
				  &splice) == cases[i].err,
		    "%s", cases[i].text);
	ck_assert_int_eq(
	    part_row_read(values, span_of(cases[0].text), &splice), ERR_OK);
	ck_assert(span_eq(values[0], SPAN("\"1\"")));
	ck_assert(span_eq(values[1], SPAN("2.5")));
	splice_fini(&splice);
}
END_TEST

/* --- parts of a search ------------------------------------------------------ */

/* Serves the question; the status, and the answer's bytes in *body. */
static int
ask_part(struct span *body, struct span question)
{
	struct request before = world.request;
	int status;

	world.request.method = METHOD_POST;
	world.request.method_text = SPAN("POST");
	world.request.body = question;
	world.request.api_key = span_make(NULL, 0);
	status = world_ask("/cluster/part");
	world.request = before;
	/* As many bytes as there are before the NUL that world_ask() adds. */
	*body = span_make(world_body(),
	    (size_t)(world.answer.data + world.answer.len - world_body()) - 1);
	return status;
}

/* A part of the search, in a copy that the caller frees. */
static char *
get_part(struct part *part, const char *uri, const char *const *codes,
    uint64_t first, uint64_t count)
{
	struct buf question;
	struct span body;
	char *copy;

	world.request.grid_part = SPAN("1");
	ck_assert_msg(
	    ask_part(&body, question_of(&question, uri, codes, first, count)) ==
		200,
	    "%s: %s", uri, world_body());
	world.request.grid_part = span_make(NULL, 0);
	buf_fini(&question);
	copy = malloc(body.len);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, body.ptr, body.len);
	ck_assert_int_eq(part_read(part, span_make(copy, body.len)), ERR_OK);
	return copy;
}

/* The rows of both, in the order of their bytes. */
static void
merge(struct buf *out, struct part *x, struct part *y)
{
	bool in_x = part_next(x), in_y = part_next(y);

	buf_clear(out);
	while (in_x || in_y) {
		bool take_x =
		    in_x && (!in_y || span_cmp(x->order, y->order) < 0);
		struct part *from = take_x ? x : y;

		if (out->len > 0)
			buf_add_char(out, ',');
		buf_add_span(out, from->text);
		if (take_x)
			in_x = part_next(x);
		else
			in_y = part_next(y);
	}
	buf_add_char(out, '\0');
}

static const char *const words[] = {
    "a", "la", "lait", "0", "zzz", "a%20e", "1%200", "bio"};

static const char *const ways[] = {"", "&order=asc", "&sort=libelle1",
    "&sort=codein&order=asc", "&sort=-marque,libelle1", "&gamme=A",
    "&sort=codeGamme", "&sort=gammeAValider,-totalCa", "&sort=stockActuel",
    "&sort=-caReseau,codein", "&sort=derniereVente&order=asc", "&enrich=0",
    "&fields=codein,codeGamme", "&totalCa=gt.0&sort=marque&order=desc"};

static void
parts_are_the_search(void)
{
	struct buf merged;
	char uri[256], *copies[2];

	buf_init(&merged, 1 << 24);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (unsigned k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
			struct part x, y;
			const char *found;

			snprintf(uri, sizeof(uri),
			    "/api/v1/products/search?q=%s%s&limit=100000",
			    words[i], ways[k]);
			copies[0] = get_part(&x, uri, ones, 0, 100000);
			copies[1] = get_part(&y, uri, twos, 0, 100000);
			ck_assert_uint_eq(x.suppliers, 2);
			ck_assert_uint_eq(y.suppliers, 1);
			merge(&merged, &x, &y);
			ck_assert_msg(world_ask(uri) == 200, "%s", uri);
			found = world_body();
			ck_assert(strncmp(found, "{\"data\":[", 9) == 0);
			ck_assert_msg(strncmp(found + 9, merged.data,
					  merged.len - 1) == 0 &&
				found[9 + merged.len - 1] == ']',
			    "%s:\n%s\n%s", uri, found, merged.data);
			free(copies[0]);
			free(copies[1]);
		}
	buf_fini(&merged);
}

START_TEST(parts_in_their_order_are_one_search)
{
	static const struct word_index_options options;
	struct word_index_result result;

	world_without_jobs();
	parts_are_the_search();
	ck_assert_int_eq(
	    word_index_make(&result, world.server->store, &options), ERR_OK);
	parts_are_the_search();
}
END_TEST

START_TEST(rows_of_a_part_begin_where_they_are_asked_to)
{
	const char *uri = "/api/v1/products/search?q=a&sort=libelle1";
	struct part whole, some;
	char *all = get_part(&whole, uri, ones, 0, 1000), *piece;

	ck_assert_uint_gt(whole.total, 3);
	for (uint64_t i = 0; i < whole.total; i++) {
		ck_assert(part_next(&whole));
		piece = get_part(&some, uri, ones, i, 2);
		ck_assert_uint_eq(some.total, whole.total);
		ck_assert(part_next(&some));
		ck_assert(span_eq(some.order, whole.order));
		ck_assert(span_eq(some.text, whole.text));
		ck_assert(part_next(&some) == (i + 1 < whole.total));
		ck_assert(!part_next(&some));
		free(piece);
	}
	piece = get_part(&some, uri, ones, whole.total, 2);
	ck_assert(!part_next(&some));
	free(piece);
	free(all);
}
END_TEST

START_TEST(suppliers_without_snapshot_are_named)
{
	static const char *const codes[] = {"S1", "S3", "S9", NULL};
	struct part part;
	char *copy =
	    get_part(&part, "/api/v1/products/search?q=a", codes, 0, 1);

	ck_assert_uint_eq(part.suppliers, 1);
	ck_assert_uint_eq(part.lack_count, 2);
	ck_assert(span_eq(unpack_text(&part.lacks), SPAN("S3")));
	free(copy);
}
END_TEST

START_TEST(only_nginx_can_say_that_it_is_another_nodes)
{
	struct buf question;
	struct span body;
	const char *uris[] = {"/api/v1/magasins", "/api/v1/grid?fournisseur=S1",
	    "/metrics", "/", "x", "/api/v1/products/search", "/cluster/part"};

	question_of(&question, "/api/v1/products/search?q=a", ones, 0, 1);
	ck_assert_int_eq(ask_part(&body, buf_span(&question)), 404);
	buf_fini(&question);
	world.request.grid_part = SPAN("1");
	for (unsigned i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		question_of(&question, uris[i], ones, 0, 1);
		ck_assert_int_eq(ask_part(&body, buf_span(&question)), 400);
		buf_fini(&question);
	}
	ck_assert_int_eq(ask_part(&body, SPAN("")), 400);
	world.request.grid_part = span_make(NULL, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("part");
	TCase *plain = tcase_create("text"), *tc = tcase_create("search");

	tcase_add_test(plain, bytes_are_ordered_as_their_values_are);
	tcase_add_test(plain, questions_are_read_as_written_or_refused);
	tcase_add_test(plain, answers_are_read_as_written_or_refused);
	tcase_add_test(plain, rows_out_of_order_or_too_many_are_refused);
	tcase_add_test(plain, rows_of_other_columns_are_refused);
	suite_add_tcase(suite, plain);
	tcase_set_timeout(tc, 300);
	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_add_test(tc, parts_in_their_order_are_one_search);
	tcase_add_test(tc, rows_of_a_part_begin_where_they_are_asked_to);
	tcase_add_test(tc, suppliers_without_snapshot_are_named);
	tcase_add_test(tc, only_nginx_can_say_that_it_is_another_nodes);
	suite_add_tcase(suite, tc);
	return suite;
}
