#include "fcgi/outside.h"

#include <string.h>

#include "fcgi/settings.h"
#include "tests/support/run.h"

static char buyers[] = "acheteurs, fruits=S1, wine = S2  S3, empty=";
static char managers[] = "direction,grid managers";
static char administrators[] = "chefs";
static char nobody[] = "";

static const struct {
	const char *groups;
	enum err err;
	enum role role;
	const char *suppliers;
} people[] = {
    {"", ERR_DENIED, 0, ""},
    {",", ERR_DENIED, 0, ""},
    {"staff", ERR_DENIED, 0, ""},
    {"Fruits", ERR_DENIED, 0, ""},
    {"fruit", ERR_DENIED, 0, ""},
    {"fruits=S9", ERR_DENIED, 0, ""},
    {"fruits", ERR_OK, ROLE_BUYER, "S1\n"},
    {" staff , fruits ", ERR_OK, ROLE_BUYER, "S1\n"},
    {"wine,fruits", ERR_OK, ROLE_BUYER, "S1\nS2\nS3\n"},
    {"wine,wine", ERR_OK, ROLE_BUYER, "S2\nS3\n"},
    {"wine,acheteurs", ERR_OK, ROLE_BUYER, ""},
    {"empty,fruits", ERR_OK, ROLE_BUYER, ""},
    {"fruits,direction", ERR_OK, ROLE_MANAGER, ""},
    {"grid managers", ERR_OK, ROLE_MANAGER, ""},
    {"chefs,direction,fruits", ERR_OK, ROLE_ADMINISTRATOR, ""},
};

START_TEST(groups_give_the_highest_role_and_all_its_suppliers)
{
	const struct api_settings settings = {.outside = true,
	    .outside_administrators = administrators,
	    .outside_managers = managers,
	    .outside_buyers = buyers};
	char suppliers[ACCESS_SUPPLIERS_MAX + 1];
	struct rights rights;

	ck_assert_int_eq(outside_rights(&rights, suppliers, &settings,
			     span_of(people[_i].groups)),
	    people[_i].err);
	if (people[_i].err != ERR_OK)
		return;
	ck_assert_int_eq(rights.role, people[_i].role);
	ck_assert(span_eq(rights.suppliers, span_of(people[_i].suppliers)));
}
END_TEST

START_TEST(empty_settings_let_nobody_in)
{
	const struct api_settings settings = {.outside = true,
	    .outside_administrators = nobody,
	    .outside_managers = nobody,
	    .outside_buyers = nobody};
	char suppliers[ACCESS_SUPPLIERS_MAX + 1];
	struct rights rights;

	ck_assert_int_eq(
	    outside_rights(&rights, suppliers, &settings, SPAN("")),
	    ERR_DENIED);
	ck_assert_int_eq(
	    outside_rights(&rights, suppliers, &settings, SPAN(",,a,")),
	    ERR_DENIED);
}
END_TEST

START_TEST(a_session_is_confirmed_in_time)
{
	struct api_settings settings = {.outside = true, .outside_s = 60};

	ck_assert(!outside_is_over(&settings, 1000000, 1000000));
	ck_assert(!outside_is_over(&settings, 1000000, 1059999));
	ck_assert(outside_is_over(&settings, 1000000, 1060000));
	ck_assert(outside_is_over(&settings, 1000000, 0));
	ck_assert_int_eq(outside_expires(&settings, 1000, 999999), 61000);
	ck_assert_int_eq(outside_expires(&settings, 1000, 5000), 5000);
	settings.outside = false;
	ck_assert(outside_is_over(&settings, 1000000, 1000000));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("outside");
	TCase *tc = tcase_create("outside");

	tcase_add_loop_test(tc,
	    groups_give_the_highest_role_and_all_its_suppliers, 0,
	    sizeof(people) / sizeof(people[0]));
	tcase_add_test(tc, empty_settings_let_nobody_in);
	tcase_add_test(tc, a_session_is_confirmed_in_time);
	suite_add_tcase(suite, tc);
	return suite;
}
