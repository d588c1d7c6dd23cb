/* tests/fcgi/test_route.c: fcgi/route.h */
#include "fcgi/route.h"

#include "fcgi/call.h"
#include "tests/support/run.h"

static struct arena *arena;
static struct request request;
static struct call call;
static char allowed[64];

static void
make(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
}

static void
drop(void)
{
	arena_free(arena);
}

static enum err
find(enum method method, const char *uri)
{
	memset(&call, 0, sizeof(call));
	request_init(&request);
	request.method = method;
	call.request = &request;
	ck_assert_int_eq(
	    query_parse(&call.query, span_of(uri), arena, NULL), ERR_OK);
	return route_find(&call, allowed);
}

static const struct {
	const char *uri, *operation; /* NULL: no such path */
} paths[] = {
    {"/api/v1/openapi.json", "getOpenapi"},
    {"/api/v1/fournisseurs", "listFournisseurs"},
    {"/api/v1/nomenclatures?a=b", "listNomenclatures"},
    {"/api/v1/grid", "getGrid"},
    {"/api/v1/products/search", "searchProducts"},
    {"/api/v1/products/sear%63h", "searchProducts"},
    {"/api/v1/products/searching", "getProduct"},
    {"/api/v1/network/100001", "getNetwork"},
    {"/healthz", "healthz"},
    {"/api%2Fv1/grid", NULL},
    {"/api/v1%2Fgrid", NULL},
    {"/api/v1/products%2Fsearch", NULL},
    {"/api/v1/gri", NULL},
    {"/api/v1/grids", NULL},
    {"/api/v1/%7Bcodein%7D", NULL},
    {"/api/v1/grid/", NULL},
    {"/api/v1/grid/x", NULL},
    {"/api/v1/products", NULL},
    {"/api/v1", NULL},
    {"/api/v1/Grid", NULL},
    {"/v1/grid", NULL},
    {"/", NULL},
};

START_TEST(path_finds_its_endpoint)
{
	enum err err = find(METHOD_GET, paths[_i].uri);

	ck_assert_int_eq(
	    err, paths[_i].operation == NULL ? ERR_NOT_FOUND : ERR_OK);
	if (err == ERR_OK)
		ck_assert_str_eq(call.route->operation, paths[_i].operation);
}
END_TEST

START_TEST(braces_capture_the_segment)
{
	ck_assert_int_eq(find(METHOD_GET, "/api/v1/products/a%20b"), ERR_OK);
	ck_assert(span_eq(call.path[0], SPAN("a b")));
}
END_TEST

/* An article may be called lookup: what has no other taker is its. */
START_TEST(a_concrete_path_keeps_its_own_methods_alone)
{
	ck_assert_int_eq(find(METHOD_POST, "/api/v1/products/lookup"), ERR_OK);
	ck_assert_str_eq(call.route->operation, "lookupProducts");
	ck_assert_int_eq(find(METHOD_GET, "/api/v1/products/lookup"), ERR_OK);
	ck_assert_str_eq(call.route->operation, "getProduct");
	ck_assert_int_eq(
	    find(METHOD_PUT, "/api/v1/products/lookup"), ERR_DENIED);
	ck_assert_str_eq(allowed, "POST, GET, HEAD, OPTIONS");
}
END_TEST

static const struct {
	enum method method;
	const char *uri;
	bool reads;
} readings[] = {
    {METHOD_GET, "/api/v1/grid", true},
    {METHOD_HEAD, "/api/v1/grid", true},
    {METHOD_OPTIONS, "/api/v1/gammes", true},
    {METHOD_POST, "/api/v1/products/lookup", true},
    {METHOD_POST, "/api/v1/products/lookup?fournisseur=1", true},
    {METHOD_PUT, "/api/v1/products/lookup", false},
    {METHOD_POST, "/api/v1/products/lookups", false},
    {METHOD_POST, "/api/v1/gammes", false},
    {METHOD_POST, "/app/session", false},
    {METHOD_DELETE, "/app/session", false},
};

START_TEST(what_reads_is_told_by_method_or_route)
{
	request_init(&request);
	request.method = readings[_i].method;
	request.uri = span_of(readings[_i].uri);
	ck_assert_int_eq(route_reads(&request), readings[_i].reads);
}
END_TEST

START_TEST(get_serves_head)
{
	ck_assert_int_eq(find(METHOD_HEAD, "/api/v1/grid"), ERR_OK);
}
END_TEST

START_TEST(other_methods_are_told_what_is_allowed)
{
	static const enum method others[] = {
	    METHOD_DELETE, METHOD_OPTIONS, METHOD_OTHER};

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    find(others[i], "/api/v1/products/search"), ERR_DENIED);
		ck_assert_str_eq(allowed, "GET, HEAD, OPTIONS");
	}
	ck_assert_int_eq(find(METHOD_DELETE, "/api/v1/none"), ERR_NOT_FOUND);
}
END_TEST

START_TEST(names_are_one_a_route_and_one_for_none)
{
	for (unsigned i = 0; i <= route_count; i++)
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(route_name(i), route_name(k));
	ck_assert_str_eq(route_name(route_count), "none");
}
END_TEST

START_TEST(public_routes_are_described_and_no_other)
{
	for (unsigned i = 0; i < route_count; i++)
		ck_assert_int_eq(
		    span_starts(span_of(routes[i].path), SPAN("/api/v1/")),
		    routes[i].doc.tag != NULL && routes[i].doc.text != NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("route");
	TCase *tc = tcase_create("route");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(
	    tc, path_finds_its_endpoint, 0, sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(tc, braces_capture_the_segment);
	tcase_add_test(tc, a_concrete_path_keeps_its_own_methods_alone);
	tcase_add_loop_test(tc, what_reads_is_told_by_method_or_route, 0,
	    sizeof(readings) / sizeof(readings[0]));
	tcase_add_test(tc, get_serves_head);
	tcase_add_test(tc, other_methods_are_told_what_is_allowed);
	tcase_add_test(tc, names_are_one_a_route_and_one_for_none);
	tcase_add_test(tc, public_routes_are_described_and_no_other);
	suite_add_tcase(suite, tc);
	return suite;
}
