/*
 * tests/fcgi/rows/test_rows.c: what surrounds the rows of an answer:
 * fcgi/rows/negotiate.h, fcgi/rows/paging.h, fcgi/rows/etag.h and
 * fcgi/rows/snapview.h
 */
#include "fcgi/http/format.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/snapview.h"

#include <stdio.h>

#include "tests/fcgi/world.h"
#include "tests/support/run.h"

static const struct {
	const char *accept;
	enum format format;
} forms[] = {
    {"", FORMAT_JSON},
    {"*/*", FORMAT_JSON},
    {"application/json", FORMAT_JSON},
    {"text/csv", FORMAT_CSV},
    {"Text/CSV; charset=utf-8", FORMAT_CSV},
    {"application/x-ndjson", FORMAT_NDJSON},
    {"application/json, text/csv", FORMAT_JSON},
    {"text/csv, application/json", FORMAT_CSV},
    {"text/csv;q=0.5, application/x-ndjson", FORMAT_NDJSON},
    {"text/csv;q=0.5, */*", FORMAT_JSON},
    {"text/csv, */*;q=0.1", FORMAT_CSV},
    {"text/csv;q=0.2, application/*;q=0.3", FORMAT_JSON},
    {"text/csv;q=0", FORMAT_JSON},
    {"text/csv;q=x", FORMAT_JSON},
    {"text/csv;q=2", FORMAT_JSON},
    {"text/csv ; q=1.000 ", FORMAT_CSV},
    {"text/tab-separated-values", FORMAT_TSV},
    {"text/html", FORMAT_JSON},
    {",,;;,", FORMAT_JSON},
};

START_TEST(accept_chooses_the_form)
{
	struct call asked = {.params.format = FORMAT_OMITTED};
	struct request request;

	request_init(&request);
	request.accept = span_of(forms[_i].accept);
	asked.request = &request;
	ck_assert_int_eq(negotiate_format(&asked), forms[_i].format);
	asked.params.format = FORMAT_NDJSON;
	ck_assert_int_eq(negotiate_format(&asked), FORMAT_NDJSON);
}
END_TEST

static const struct {
	struct paging is;
} page_sums[] = {
    {{1, 10, 0, 0, false}},
    {{1, 10, 1, 1, false}},
    {{1, 10, 10, 1, false}},
    {{1, 10, 11, 2, true}},
    {{2, 10, 11, 2, false}},
    {{9, 10, 11, 2, false}},
    {{1, 1, INT64_MAX, INT64_MAX, true}},
    {{1, INT64_MAX, INT64_MAX, 1, false}},
    {{INT64_MAX, INT64_MAX, 5, 1, false}},
};

START_TEST(pages_are_counted_without_overflow)
{
	const struct paging *want = &page_sums[_i].is;
	struct paging got = paging_of(want->page, want->limit, want->total);

	ck_assert_int_eq(got.pages, want->pages);
	ck_assert_int_eq(got.more, want->more);
	ck_assert_int_eq(got.limit, want->limit);
}
END_TEST

START_TEST(omitted_limit_is_the_total)
{
	struct paging got = paging_of(1, 0, 7);

	ck_assert_int_eq(got.limit, 7);
	ck_assert_int_eq(got.pages, 1);
	ck_assert(!got.more);
	ck_assert_int_eq(paging_of(1, 0, 0).pages, 0);
}
END_TEST

static const struct {
	const char *list; /* TAG stands for the tag */
	bool matches;
} tags[] = {
    {"TAG", true},
    {"W/TAG", true},
    {"*", true},
    {" * ", true},
    {"\"a\", W/TAG", true},
    {"\"a\",TAG,\"b\"", true},
    {"\"a\"", false},
    {"\"a\", *", false},
    {"w/TAG", false},
    {"", false},
};

START_TEST(tags_compare_weakly)
{
	const uint64_t generation = 7;
	struct call call;
	struct span head, tag;
	char sent[128] = "";
	const char *at;

	world.request.uri = SPAN("/x");
	call = world_call();
	ck_assert(!etag_matches(&call, &generation, 1, FORMAT_JSON));
	head = buf_span(&call.reply->head);
	ck_assert(span_starts(head, SPAN("ETag: W/\"")));
	tag = span_sub(head, 8, 18);
	at = strstr(tags[_i].list, "TAG");
	if (at == NULL)
		snprintf(sent, sizeof(sent), "%s", tags[_i].list);
	else
		snprintf(sent, sizeof(sent), "%.*s%.*s%s",
		    (int)(at - tags[_i].list), tags[_i].list, SPAN_ARG(tag),
		    at + 3);
	world.request.if_none_match = span_of(sent);
	reply_restart(call.reply);
	ck_assert_int_eq(
	    etag_matches(&call, &generation, 1, FORMAT_JSON), tags[_i].matches);
	ck_assert_int_eq(call.reply->status, tags[_i].matches ? 304 : 200);
}
END_TEST

START_TEST(tag_depends_on_all_that_decides)
{
	const uint64_t one[] = {1, 2}, other[] = {2, 1};
	struct call call;
	char seen[4][64];

	world.request.uri = SPAN("/x");
	for (unsigned i = 0; i < 4; i++) {
		if (i == 3)
			world.request.uri = SPAN("/y");
		call = world_call();
		etag_matches(&call, i == 1 ? other : one, 2,
		    i == 2 ? FORMAT_CSV : FORMAT_JSON);
		ck_assert(span_copy(seen[i], sizeof(seen[i]),
		    span_sub(buf_span(&call.reply->head), 0, 28)));
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(seen[i], seen[k]);
	}
}
END_TEST

START_TEST(generation_that_is_not_kept_is_told_apart)
{
	struct snapview view;
	struct call call = world_call();

	ck_assert_int_eq(
	    snapview_open(&view, &call, SPAN("S1"), 1), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    snapview_open(&view, &call, SPAN("S3"), 0), ERR_NOT_READY);
	ck_assert_int_eq(snapview_open(&view, &call, SPAN("S1"), 0), ERR_OK);
	snapview_close(&view, &call, ERR_OK);
	snapview_close(&view, &call, ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("rows");
	TCase *plain = tcase_create("plain"), *tc = tcase_create("world");

	tcase_add_loop_test(plain, accept_chooses_the_form, 0,
	    sizeof(forms) / sizeof(forms[0]));
	tcase_add_loop_test(plain, pages_are_counted_without_overflow, 0,
	    sizeof(page_sums) / sizeof(page_sums[0]));
	tcase_add_test(plain, omitted_limit_is_the_total);
	suite_add_tcase(suite, plain);
	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_add_loop_test(
	    tc, tags_compare_weakly, 0, sizeof(tags) / sizeof(tags[0]));
	tcase_add_test(tc, tag_depends_on_all_that_decides);
	tcase_add_test(tc, generation_that_is_not_kept_is_told_apart);
	suite_add_tcase(suite, tc);
	return suite;
}
