/* tests/fcgi/table/test_walk.c: fcgi/table/walk.h */
#include "fcgi/table/walk.h"

#include <stdio.h>

#include "tests/support/run.h"

static const struct {
	const char *inside, *found;
	size_t left;
} objects[] = {
    {"", "", 0},
    {"\"a\":1", "a=1;", 0},
    {"\"a\":1,\"b\":-2.5", "a=1;b=-2.5;", 0},
    {"\"a\":\"x,\\\"}\",\"b\":null", "a=\"x,\\\"}\";b=null;", 0},
    {"\"a\":{\"x\":{\"}\":1},\"y\":[1,2]},\"b\":[]",
	"a={\"x\":{\"}\":1},\"y\":[1,2]};b=[];", 0},
    {"\"q\\\"\":\"\"", "q\\\"=\"\";", 0},
    {"\"a\"", "", 3},
    {"\"a\":", "", 4},
    {"\"a\":\"x", "", 6},
    {"\"a\":{\"b\":1", "", 10},
    {"\"a\":1,b", "a=1;", 1},
    {"\"a\":\"x\"y", "", 8},
    {"\"a\\", "", 3},
};

START_TEST(walk_gives_members_and_stops_at_what_is_none)
{
	struct span name, value, rest = span_of(objects[_i].inside);
	char found[256] = "";
	size_t len = 0;

	while (walk_member(&rest, &name, &value))
		len += (size_t)snprintf(found + len, sizeof(found) - len,
		    "%.*s=%.*s;", SPAN_ARG(name), SPAN_ARG(value));
	ck_assert_str_eq(found, objects[_i].found);
	ck_assert_uint_eq(rest.len, objects[_i].left);
}
END_TEST

START_TEST(walk_gives_items_and_stops_at_what_is_none)
{
	struct span value, rest = SPAN("{\"a\":[1,2]},null,\"x,\",{");

	ck_assert(walk_item(&rest, &value));
	ck_assert(span_eq(value, SPAN("{\"a\":[1,2]}")));
	ck_assert(walk_item(&rest, &value));
	ck_assert(span_eq(value, SPAN("null")));
	ck_assert(walk_item(&rest, &value));
	ck_assert(span_eq(value, SPAN("\"x,\"")));
	ck_assert(!walk_item(&rest, &value));
	ck_assert(span_eq(rest, SPAN("{")));
	rest = SPAN("");
	ck_assert(!walk_item(&rest, &value));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("walk");
	TCase *tc = tcase_create("walk");

	tcase_add_loop_test(tc, walk_gives_members_and_stops_at_what_is_none, 0,
	    sizeof(objects) / sizeof(objects[0]));
	tcase_add_test(tc, walk_gives_items_and_stops_at_what_is_none);
	suite_add_tcase(suite, tc);
	return suite;
}
