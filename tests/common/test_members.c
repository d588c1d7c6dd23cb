#include "common/members.h"

#include "common/num.h"
#include "tests/support/run.h"

static struct buf buf;
static struct jsonw json;

static void
begin(void)
{
	buf_init(&buf, 1 << 16);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
}

static void
end(void)
{
	buf_fini(&buf);
}

static void
holds(struct span expected)
{
	jsonw_object_end(&json);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&buf), expected), "%.*s is not %.*s",
	    SPAN_ARG(buf_span(&buf)), SPAN_ARG(expected));
}

START_TEST(each_kind_has_its_name_and_value)
{
	members_text(&json, "a", SPAN("\"x\""));
	members_string(&json, "b", "y");
	members_int(&json, "c", -7);
	members_micro(&json, "d", NUM_MICRO / 2);
	members_bool(&json, "e", true);
	members_day(&json, "f", 0);
	members_time(&json, "g", 1000);
	members_object(&json, "h");
	jsonw_object_end(&json);
	holds(SPAN("{\"a\":\"\\\"x\\\"\",\"b\":\"y\",\"c\":-7,\"d\":0.5,"
		   "\"e\":true,\"f\":\"1970-01-01\","
		   "\"g\":\"1970-01-01T00:00:01.000Z\",\"h\":{}}"));
}
END_TEST

START_TEST(no_text_is_an_empty_one_null_or_no_member)
{
	members_text(&json, "a", SPAN(""));
	members_null_text(&json, "b", SPAN(""));
	members_null_text(&json, "c", SPAN("x"));
	members_given(&json, "d", "");
	members_given(&json, "e", NULL);
	members_given(&json, "f", "x");
	members_time(&json, "g", 0);
	holds(SPAN("{\"a\":\"\",\"b\":null,\"c\":\"x\",\"f\":\"x\","
		   "\"g\":null}"));
}
END_TEST

START_TEST(an_array_of_no_names_is_no_member)
{
	const struct span names[] = {SPAN("x"), SPAN("y")};

	members_names(&json, "a", NULL, 0);
	members_names(&json, "b", names, 2);
	holds(SPAN("{\"b\":[\"x\",\"y\"]}"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("members");
	TCase *tc = tcase_create("members");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, each_kind_has_its_name_and_value);
	tcase_add_test(tc, no_text_is_an_empty_one_null_or_no_member);
	tcase_add_test(tc, an_array_of_no_names_is_no_member);
	suite_add_tcase(suite, tc);
	return suite;
}
