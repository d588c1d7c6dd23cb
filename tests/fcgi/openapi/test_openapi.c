/* tests/fcgi/openapi/test_openapi.c: fcgi/openapi/openapi.h; what linters say
 * of the document
 * is tests/system/openapi-lint.sh's. */
#include "fcgi/openapi/openapi.h"

#include <pthread.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/jsonr.h"
#include "fcgi/route.h"
#include "lmdb-schema/row.h"
#include "tests/support/run.h"

static struct buf text;
static struct jsonr *doc;
static const struct jsonr_value *root;

static void
make(void)
{
	struct jsonr_limits limits = {1 << 22, 0, 1, NULL};

	buf_init(&text, 1 << 22);
	ck_assert_int_eq(
	    openapi_write(&text, SPAN("https://grid.example/api/v1")), ERR_OK);
	ck_assert_int_eq(
	    jsonr_parse(&doc, buf_span(&text), &limits, NULL), ERR_OK);
	root = jsonr_root(doc);
}

static void
drop(void)
{
	jsonr_free(doc);
	buf_fini(&text);
}

static const struct jsonr_value *
at(const struct jsonr_value *from, const char *a, const char *b)
{
	return jsonr_member(jsonr_member(from, a), b);
}

static const struct jsonr_value *
operation_of(const struct route *route)
{
	static const char *const methods[] = {
	    "get", "head", "post", "put", "delete"};

	return at(jsonr_member(root, "paths"),
	    route->path + sizeof("/api/v1") - 1, methods[route->method]);
}

static bool
is_ours(const struct route *route)
{
	return span_starts(span_of(route->path), SPAN("/api/v1/"));
}

START_TEST(every_route_under_v1_is_described)
{
	for (unsigned i = 0; i < route_count; i++) {
		const struct jsonr_value *operation;

		if (!is_ours(&routes[i]))
			continue;
		operation = operation_of(&routes[i]);
		ck_assert_msg(operation != NULL, "%s needs a line in openapi.c",
		    routes[i].path);
		ck_assert(span_eq(
		    jsonr_as_string(jsonr_member(operation, "operationId")),
		    span_of(routes[i].operation)));
	}
}
END_TEST

START_TEST(nothing_else_is_described)
{
	size_t count = 0;

	for (unsigned i = 0; i < route_count; i++)
		count += is_ours(&routes[i]) &&
		    (i == 0 || strcmp(routes[i].path, routes[i - 1].path) != 0);
	ck_assert_uint_eq(jsonr_count(jsonr_member(root, "paths")), count);
}
END_TEST

START_TEST(every_column_is_described)
{
	const struct jsonr_value *product =
	    at(jsonr_member(root, "components"), "schemas", "Product");
	const struct jsonr_value *properties =
	    jsonr_member(product, "properties");

	ck_assert_uint_eq(jsonr_count(jsonr_member(product, "required")), 1);
	ck_assert_uint_eq(jsonr_count(properties), ROW_COLUMNS);
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		const struct jsonr_value *column =
		    jsonr_member(properties, row_info[i].name.ptr);

		ck_assert_ptr_nonnull(column);
		ck_assert(span_eq(
		    jsonr_as_string(jsonr_member(column, "description")),
		    span_of(row_info[i].meaning)));
		ck_assert(
		    span_eq(jsonr_as_string(jsonr_member(column, "x-label-fr")),
			span_of(row_info[i].label_fr)));
		ck_assert_int_eq(
		    jsonr_as_bool(jsonr_member(column, "x-sortable")),
		    row_sortable(i));
	}
}
END_TEST

/* Follows "#/a/b". */
static bool
resolves(struct span ref)
{
	const struct jsonr_value *node = root;
	struct span step, rest = span_from(ref, 2);
	char name[64];

	while (node != NULL && span_cut(&step, &rest, '/'))
		node = span_copy(name, sizeof(name), step)
		    ? jsonr_member(node, name)
		    : NULL;
	return node != NULL;
}

static void
check_refs(const struct jsonr_value *value)
{
	const struct jsonr_value *member;
	struct span name;
	void *iter = NULL;

	for (size_t i = 0;
	     jsonr_type(value) == JSONR_ARRAY && i < jsonr_count(value); i++)
		check_refs(jsonr_at(value, i));
	while (jsonr_type(value) == JSONR_OBJECT &&
	    jsonr_next(value, &iter, &name, &member)) {
		if (span_eq(name, SPAN("$ref")))
			ck_assert_msg(resolves(jsonr_as_string(member)), "%.*s",
			    SPAN_ARG(jsonr_as_string(member)));
		check_refs(member);
	}
}

START_TEST(every_reference_leads_somewhere)
{
	check_refs(root);
}
END_TEST

/* The examples of an operation's parameters, as a query. */
static void
example_query(struct buf *query, const struct jsonr_value *parameters)
{
	for (size_t i = 0; i < jsonr_count(parameters); i++) {
		const struct jsonr_value *one = jsonr_at(parameters, i);
		const struct jsonr_value *example =
		    jsonr_member(one, "example");

		/* A tool that tries it out sends every example there is. */
		if (jsonr_as_bool(jsonr_member(one, "required")))
			ck_assert_ptr_nonnull(example);
		if (example == NULL)
			continue;
		if (span_eq(
			jsonr_as_string(jsonr_member(one, "in")), SPAN("path")))
			continue;
		buf_add_span(query, jsonr_as_string(jsonr_member(one, "name")));
		buf_add_char(query, '=');
		if (jsonr_type(example) == JSONR_ARRAY)
			buf_add_text(query, "libelle1,totalCa");
		else if (jsonr_type(example) == JSONR_INT)
			buf_addf(
			    query, "%lld", (long long)jsonr_as_int(example));
		else
			buf_add_span(query, jsonr_as_string(example));
		buf_add_char(query, '&');
	}
}

START_TEST(the_examples_of_an_operation_are_accepted_together)
{
	struct arena *arena = arena_new(1 << 20);
	struct buf uri, message, details;

	buf_init(&uri, 4096);
	buf_init(&message, 4096);
	buf_init(&details, 65536);
	for (unsigned i = 0; i < route_count; i++) {
		struct query query;
		struct params params;

		if (!is_ours(&routes[i]))
			continue;
		buf_clear(&uri);
		buf_add_text(&uri, "/x?");
		if (routes[i].use != 0)
			buf_add_text(&uri, "strict=1&");
		example_query(
		    &uri, jsonr_member(operation_of(&routes[i]), "parameters"));
		ck_assert_int_eq(
		    query_parse(&query, buf_span(&uri), arena, NULL), ERR_OK);
		ck_assert_msg(params_read(&params, &query, routes[i].use, false,
				  arena, &message, &details) == ERR_OK,
		    "%s: %.*s", routes[i].path, SPAN_ARG(buf_span(&message)));
	}
	buf_fini(&uri);
	buf_fini(&message);
	buf_fini(&details);
	arena_free(arena);
}
END_TEST

/* Both of the operators' tables, and no name twice. */
START_TEST(every_scalar_column_is_a_condition)
{
	const struct jsonr_value *conditions =
	    at(root, "components", "parameters");
	const struct jsonr_value *schema =
	    jsonr_member(at(root, "components", "schemas"), "Condition");
	struct span told = jsonr_as_string(jsonr_member(schema, "description"));

	for (unsigned i = 0; i < ROW_FLATS; i++) {
		bool older = i == COL_code1 || i == COL_code2 || i == COL_code3;

		ck_assert((jsonr_member(conditions, row_info[i].name.ptr) ==
			      NULL) == older);
	}
	ck_assert_ptr_nonnull(jsonr_member(conditions, "trend"));
	for (unsigned i = 0; i < condition_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), " %s.", condition_infos[i].name);
		ck_assert_ptr_nonnull(
		    memmem(told.ptr, told.len, name, strlen(name)));
	}
}
END_TEST

START_TEST(too_little_room_is_told)
{
	struct buf small;

	buf_init(&small, 1000);
	ck_assert_int_eq(openapi_write(&small, SPAN("/")), ERR_TOO_LARGE);
	buf_fini(&small);
}
END_TEST

/* NULL when each of many descriptions is the one that make() made. */
static void *
describe_often(void *context)
{
	const char *wrong = NULL;
	struct buf again;

	(void)context;
	buf_init(&again, 1 << 22);
	for (unsigned i = 0; i < 100 && wrong == NULL; i++) {
		buf_clear(&again);
		if (openapi_write(&again,
			SPAN("https://grid.example/api/v1")) != ERR_OK ||
		    !span_eq(buf_span(&again), buf_span(&text)))
			wrong = "another description";
	}
	buf_fini(&again);
	return (void *)(uintptr_t)wrong;
}

START_TEST(threads_describe_at_once)
{
	pthread_t threads[4];
	void *wrong;

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, describe_often, NULL), 0);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("openapi");
	TCase *tc = tcase_create("openapi");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, every_route_under_v1_is_described);
	tcase_add_test(tc, nothing_else_is_described);
	tcase_add_test(tc, every_column_is_described);
	tcase_add_test(tc, every_reference_leads_somewhere);
	tcase_add_test(tc, the_examples_of_an_operation_are_accepted_together);
	tcase_add_test(tc, every_scalar_column_is_a_condition);
	tcase_add_test(tc, threads_describe_at_once);
	tcase_add_test(tc, too_little_room_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
