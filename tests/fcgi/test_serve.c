/* tests/fcgi/test_serve.c: fcgi/serve.h: what holds for whole requests; what
 * each endpoint answers is in tests/flow. */
#include "fcgi/serve.h"
#include "fcgi/server.h"

#include <stdio.h>

#include "common/jsonr.h"
#include "tests/fcgi/failing.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

static const char *const uris[] = {
    "/api/v1/openapi.json",
    "/api/v1/fournisseurs?search=e",
    "/api/v1/nomenclatures?fournisseur=S1&niveau=2",
    "/api/v1/grid?fournisseur=S1",
    "/api/v1/grid?fournisseur=S1&fields=codein,libelle1&limit=3",
    "/api/v1/grid?fournisseur=S1&gamme=A&search=e&sort=libelle1",
    "/api/v1/products/search?q=a&sort=libelle1",
    "/api/v1/products/search?q=a&fournisseur=S1",
    "/api/v1/products/A1",
    "/api/v1/products/C1",
    "/api/v1/network/100001",
    "/api/v1/grid?fournisseur=S9",
    "/api/v1/grid?limit=0&sort=x&fields=y",
    "/healthz",
    "/readyz",
    "/metrics",
};
#define URIS (sizeof(uris) / sizeof(uris[0]))

/* --- allocations ---------------------------------------------------------- */

static const struct {
	const char *uri;
	unsigned long most; /* allocations once it is warm */
} budgets[] = {
    {"/api/v1/grid?fournisseur=S1&fields=codein,libelle1&limit=3", 8},
    {"/api/v1/grid?fournisseur=S1&limit=3", 8},
    {"/api/v1/grid?fournisseur=S1&gamme=A&search=e", 10},
    {"/api/v1/products/A1?fields=codein", 4},
    {"/api/v1/network/100001", 4},
    {"/healthz", 1},
};

START_TEST(page_keeps_its_allocation_budget)
{
	struct sink sink;
	unsigned long count;
	enum err err;

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(world_ask(budgets[_i].uri), 200);
	buf_clear(&world.answer);
	sink = sink_to_buf(&world.answer);
	failing_begin(0);
	err = serve(world.serving, &world.request, &sink);
	count = failing_end();
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_msg(count <= budgets[_i].most, "%s: %lu allocations",
	    budgets[_i].uri, count);
}
END_TEST

/* Gives a whole answer, an honest 500, or a failure that is told. */
static void
check_answer(enum err err, int usual)
{
	struct jsonr_limits limits = {1 << 20, 0, 1, NULL};
	struct jsonr *doc;
	int status;

	if (err != ERR_OK)
		return;
	buf_add_char(&world.answer, '\0');
	ck_assert_int_eq(buf_end(&world.answer), ERR_OK);
	ck_assert_int_eq(sscanf(world.answer.data, "Status: %d", &status), 1);
	ck_assert_msg(status == usual || status == 500 || status == 503,
	    "status %d", status);
	if (strstr(world.answer.data, "application/json") == NULL)
		return;
	ck_assert_msg(
	    jsonr_parse(&doc, span_of(world_body()), &limits, NULL) == ERR_OK,
	    "%s", world_body());
	jsonr_free(doc);
}

START_TEST(each_allocation_may_fail)
{
	int usual = world_ask(uris[_i]);

	for (unsigned long nth = 1;; nth++) {
		struct sink sink;
		unsigned long count;
		enum err err;

		/* A server that has nothing yet, so that all is allocated. */
		world_close();
		world_open();
		world.request.uri = span_of(uris[_i]);
		ck_assert_ptr_nonnull(buf_room(&world.answer, 1 << 17));
		sink = sink_to_buf(&world.answer);
		failing_begin(nth);
		err = serve(world.serving, &world.request, &sink);
		count = failing_end();
		check_answer(err, usual);
		/* The next request is served as though nothing had been. */
		ck_assert_msg(world_ask(uris[_i]) == usual,
		    "after allocation %lu of %lu failed: %s", nth, count,
		    world_body());
		if (count < nth)
			break;
		ck_assert_uint_lt(nth, 2000);
	}
}
END_TEST

/* --- calls of tools ------------------------------------------------------- */

static const char *const tool_calls[] = {
    "\"list_suppliers\"",
    "\"describe_columns\",\"arguments\":{\"supplier\":\"S1\",\"columns\":"
    "[\"totalCa\",\"derniereVente\",\"stockActuel\"]}",
    "\"describe_columns\",\"arguments\":{\"columns\":[\"tauxmarge\"]}",
    "\"query_rows\",\"arguments\":{\"supplier\":\"S1\",\"filters\":"
    "[\"totalCa=gt.0\"],\"sort\":[\"-totalCa\"],\"limit\":2}",
    "\"query_rows\",\"arguments\":{\"supplier\":\"S1\",\"fields\":[\"x\"]}",
    "\"aggregate\",\"arguments\":{\"supplier\":\"S1\",\"groups\":"
    "[\"marque\"]}",
    "\"get_product\",\"arguments\":{\"codein\":\"A1\"}",
    "\"proposal_status\"",
};
#define TOOL_CALLS (sizeof(tool_calls) / sizeof(tool_calls[0]))

static int
ask_tool(const char *call, struct buf *body)
{
	buf_clear(body);
	buf_addf(body,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":%s}}",
	    call);
	ck_assert_int_eq(buf_end(body), ERR_OK);
	world.request.method = METHOD_POST;
	world.request.method_text = SPAN("POST");
	world.request.content_type = SPAN("application/json");
	world.request.body = buf_span(body);
	return world_ask("/mcp");
}

START_TEST(each_allocation_of_a_tool_may_fail)
{
	struct buf body;

	buf_init(&body, 4096);
	ck_assert_int_eq(ask_tool(tool_calls[_i], &body), 200);
	for (unsigned long nth = 1;; nth++) {
		struct sink sink;
		unsigned long count;
		enum err err;

		world_close();
		world_open();
		world.request.method = METHOD_POST;
		world.request.method_text = SPAN("POST");
		world.request.content_type = SPAN("application/json");
		world.request.uri = SPAN("/mcp");
		world.request.body = buf_span(&body);
		ck_assert_ptr_nonnull(buf_room(&world.answer, 1 << 17));
		sink = sink_to_buf(&world.answer);
		failing_begin(nth);
		err = serve(world.serving, &world.request, &sink);
		count = failing_end();
		check_answer(err, 200);
		if (count < nth)
			break;
		ck_assert_uint_lt(nth, 2000);
	}
	buf_fini(&body);
}
END_TEST

START_TEST(a_server_that_cannot_be_opened_says_where_and_why)
{
	unsigned long nth = 1;
	struct fault fault;
	enum err err;

	serving_free(world.serving);
	world.serving = NULL;
	server_close(world.server);
	for (;; nth++) {
		fault_clear(&fault);
		failing_begin(nth);
		err = server_open(
		    &world.server, &world.settings, world.metrics, &fault);
		if (failing_end() < nth)
			break;
		ck_assert_int_eq(err, ERR_NO_MEMORY);
		ck_assert_str_ne(fault.place, "");
		ck_assert_str_ne(fault.message, "");
		failing_begin(nth);
		err = server_open(
		    &world.server, &world.settings, world.metrics, NULL);
		failing_end();
		ck_assert_int_eq(err, ERR_NO_MEMORY);
	}
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_uint_gt(nth, 4);
}
END_TEST

/* --- the rows' life ------------------------------------------------------- */

static struct serving *beside;

/* While it is put, somebody else needs the only place for a snapshot. */
static enum err
put_late(struct sink *sink, struct iovec *pieces, int count)
{
	struct request other = world.request;
	struct buf answer;
	struct sink aside;

	other.uri = SPAN("/api/v1/grid?fournisseur=S2");
	buf_init(&answer, 1 << 20);
	aside = sink_to_buf(&answer);
	ck_assert_int_eq(serve(beside, &other, &aside), ERR_OK);
	buf_fini(&answer);
	for (int i = 0; i < count; i++)
		buf_add(sink->to, pieces[i].iov_base, pieces[i].iov_len);
	return ERR_OK;
}

START_TEST(rows_stay_open_until_they_are_put)
{
	struct sink sink = {.put = put_late, .to = &world.answer};

	serving_free(world.serving);
	server_close(world.server);
	world.settings.snapshots_open = 1;
	ck_assert_int_eq(
	    server_open(&world.server, &world.settings, world.metrics, NULL),
	    ERR_OK);
	world.serving = serving_new(world.server);
	beside = serving_new(world.server);
	for (unsigned i = 3; i <= 7; i++) {
		world.request.uri = span_of(uris[i]);
		buf_clear(&world.answer);
		ck_assert_int_eq(
		    serve(world.serving, &world.request, &sink), ERR_OK);
		check_answer(ERR_OK, 200);
	}
	serving_free(beside);
}
END_TEST

static enum err
refuse(struct sink *sink, struct iovec *pieces, int count)
{
	(void)sink;
	(void)pieces;
	(void)count;
	return ERR_CLOSED;
}

START_TEST(client_that_left_is_counted)
{
	struct sink sink = {.put = refuse};

	world.request.uri = span_of(uris[3]);
	ck_assert_int_eq(
	    serve(world.serving, &world.request, &sink), ERR_CLOSED);
	ck_assert_uint_eq(atomic_load(&world.metrics->requests_aborted), 1);
	ck_assert_int_eq(world_ask(uris[3]), 200);
}
END_TEST

START_TEST(absent_snapshot_goes_to_the_slow_pool)
{
	ck_assert_int_eq(world_ask("/api/v1/grid?fournisseur=S3"), 200);
	ck_assert_str_eq(world_header("X-Accel-Redirect"), "@slow");
	/* nginx counts by the key's id, and never sees the key there. */
	ck_assert_int_eq(strncmp(world_header("X-Grid-Caller"), "key ", 4), 0);
	ck_assert_uint_eq(
	    strlen(world_header("X-Grid-Caller")), 4 + ACCESS_ID_LEN);
	ck_assert_str_eq(world_body(), "");
	ck_assert_int_eq(
	    world_ask("/api/v1/grid?fournisseur=S3&compute=0"), 202);
	ck_assert_ptr_null(world_header("X-Accel-Redirect"));
}
END_TEST

START_TEST(answers_are_counted_by_route_and_status)
{
	struct buf text;

	world_ask("/api/v1/grid?fournisseur=S1");
	world_ask("/api/v1/grid?fournisseur=S9");
	world_ask("/nothing");
	world_ask("/metrics");
	buf_init(&text, 1 << 16);
	buf_add_span(&text, span_of(world_body()));
	buf_add_char(&text, '\0');
	ck_assert_ptr_nonnull(strstr(text.data,
	    "gridapi_requests_total{endpoint=\"getGrid\",status=\"200\"} 1"));
	ck_assert_ptr_nonnull(strstr(text.data,
	    "gridapi_requests_total{endpoint=\"getGrid\",status=\"404\"} 1"));
	ck_assert_ptr_nonnull(strstr(text.data,
	    "gridapi_requests_total{endpoint=\"none\",status=\"404\"} 1"));
	buf_fini(&text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("serve");
	TCase *tc = tcase_create("serve");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, page_keeps_its_allocation_budget, 0,
	    sizeof(budgets) / sizeof(budgets[0]));
	tcase_add_loop_test(tc, each_allocation_may_fail, 0, URIS);
	tcase_add_loop_test(
	    tc, each_allocation_of_a_tool_may_fail, 0, TOOL_CALLS);
	tcase_add_test(tc, a_server_that_cannot_be_opened_says_where_and_why);
	tcase_add_test(tc, rows_stay_open_until_they_are_put);
	tcase_add_test(tc, client_that_left_is_counted);
	tcase_add_test(tc, absent_snapshot_goes_to_the_slow_pool);
	tcase_add_test(tc, answers_are_counted_by_route_and_status);
	suite_add_tcase(suite, tc);
	return suite;
}
