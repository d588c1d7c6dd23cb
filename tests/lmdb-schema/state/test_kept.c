#include "lmdb-schema/state/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/user.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/run.h"

static enum err
keep(uint64_t *version, const char *owner, const char *name, struct span value,
    uint64_t known)
{
	struct kept kept = {.name = span_of(name),
	    .author = SPAN("marie"),
	    .value = value,
	    .version = known,
	    .when_ms = 1000};

	return kept_put(version, states, span_of(owner), &kept);
}

/* The value, or "-" when there is none; borrowed until the next call. */
static const char *
value_of(const char *owner, const char *name)
{
	static char text[64];
	struct state_view *view;
	struct kept kept;
	enum err err;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	err = kept_get(&kept, view, span_of(owner), span_of(name));
	if (err == ERR_OK)
		ck_assert(span_copy(text, sizeof(text), kept.value));
	else
		ck_assert_int_eq(err, ERR_NOT_FOUND);
	state_view_close(view);
	return err == ERR_OK ? text : "-";
}

static enum err
note_name(void *context, const struct kept *kept)
{
	struct buf *names = context;

	buf_add_span(names, kept->name);
	buf_add_char(names, ' ');
	return ERR_OK;
}

static const char *
names_of(const char *owner)
{
	static char text[256];
	struct state_view *view;
	struct buf names;

	buf_init(&names, sizeof(text));
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    kept_each(view, span_of(owner), note_name, &names), ERR_OK);
	state_view_close(view);
	ck_assert_int_eq(buf_end(&names), ERR_OK);
	ck_assert(span_copy(text, sizeof(text), buf_span(&names)));
	buf_fini(&names);
	return text;
}

START_TEST(each_owner_has_values_of_its_own)
{
	uint64_t version;

	ck_assert_int_eq(keep(&version, "marie", "b", SPAN("one"), 0), ERR_OK);
	ck_assert_int_eq(
	    keep(&version, "marie", "a", SPAN("two"), KEPT_ANY), ERR_OK);
	ck_assert_int_eq(keep(&version, "", "a", SPAN("all's"), 0), ERR_OK);
	ck_assert_str_eq(value_of("marie", "a"), "two");
	ck_assert_str_eq(value_of("", "a"), "all's");
	ck_assert_str_eq(value_of("mari", "a"), "-");
	ck_assert_str_eq(names_of("marie"), "a b ");
	ck_assert_str_eq(names_of(""), "a ");
	ck_assert_str_eq(names_of("m"), "");
}
END_TEST

START_TEST(who_knows_an_old_version_overwrites_nothing)
{
	uint64_t first, second, third;

	ck_assert_int_eq(keep(&first, "marie", "a", SPAN("one"), 0), ERR_OK);
	ck_assert_int_eq(
	    keep(&second, "marie", "a", SPAN("two"), 0), ERR_EXISTS);
	ck_assert_int_eq(
	    keep(&second, "marie", "a", SPAN("two"), first), ERR_OK);
	ck_assert_uint_gt(second, first);
	ck_assert_int_eq(
	    keep(&third, "marie", "a", SPAN("three"), first), ERR_EXISTS);
	ck_assert_str_eq(value_of("marie", "a"), "two");
	ck_assert_int_eq(
	    kept_remove(states, SPAN("marie"), SPAN("a"), first), ERR_EXISTS);
	ck_assert_int_eq(
	    kept_remove(states, SPAN("marie"), SPAN("a"), second), ERR_OK);
	ck_assert_int_eq(
	    kept_remove(states, SPAN("marie"), SPAN("a"), KEPT_ANY),
	    ERR_NOT_FOUND);
	ck_assert_str_eq(value_of("marie", "a"), "-");
	ck_assert_int_eq(
	    keep(&third, "marie", "a", SPAN("new"), first), ERR_EXISTS);
}
END_TEST

START_TEST(an_owner_has_a_ceiling)
{
	char *large = calloc(1, KEPT_VALUE_MAX + 1), name[16];
	unsigned most = KEPT_BYTES_MAX / KEPT_VALUE_MAX;
	uint64_t version;

	ck_assert_ptr_nonnull(large);
	ck_assert_int_eq(keep(&version, "marie", "a",
			     span_make(large, KEPT_VALUE_MAX + 1), 0),
	    ERR_TOO_LARGE);
	for (unsigned i = 0; i < most; i++) {
		snprintf(name, sizeof(name), "%u", i);
		ck_assert_int_eq(
		    keep(&version, "marie", name,
			span_make(large, KEPT_VALUE_MAX), KEPT_ANY),
		    i + 1 < most ? ERR_OK : ERR_TOO_LARGE);
	}
	ck_assert_int_eq(
	    keep(&version, "marie", "0", SPAN(""), KEPT_ANY), ERR_OK);
	ck_assert_int_eq(keep(&version, "pierre", "0",
			     span_make(large, KEPT_VALUE_MAX), KEPT_ANY),
	    ERR_OK);
	free(large);
}
END_TEST

START_TEST(names_have_a_ceiling_too)
{
	uint64_t version;
	char name[16];

	for (unsigned i = 0; i <= KEPT_COUNT_MAX; i++) {
		snprintf(name, sizeof(name), "%u", i);
		ck_assert_int_eq(keep(&version, "marie", name, SPAN("x"), 0),
		    i < KEPT_COUNT_MAX ? ERR_OK : ERR_TOO_LARGE);
	}
	ck_assert_int_eq(
	    keep(&version, "marie", "7", SPAN("y"), KEPT_ANY), ERR_OK);
}
END_TEST

START_TEST(what_is_kept_goes_with_its_user)
{
	uint64_t version;

	ck_assert_int_eq(
	    user_add(states, SPAN("marie"), SPAN("long enough"), "test"),
	    ERR_OK);
	ck_assert_int_eq(keep(&version, "marie", "a", SPAN("one"), 0), ERR_OK);
	ck_assert_int_eq(keep(&version, "marie2", "a", SPAN("two"), 0), ERR_OK);
	ck_assert_int_eq(user_remove(states, SPAN("marie"), "test"), ERR_OK);
	ck_assert_str_eq(value_of("marie", "a"), "-");
	ck_assert_str_eq(value_of("marie2", "a"), "two");
}
END_TEST

static const struct {
	const char *name;
	bool ok;
} names[] = {
    {"a", true},
    {"drafts.12345", true},
    {"Ma vue d'été", true},
    {"", false},
    {"a\nb", false},
    {"\x7f", false},
    {"\xff", false},
};

START_TEST(a_name_is_text)
{
	ck_assert_int_eq(kept_name_ok(span_of(names[_i].name)), names[_i].ok);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kept");
	TCase *tc = tcase_create("kept");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, each_owner_has_values_of_its_own);
	tcase_add_test(tc, who_knows_an_old_version_overwrites_nothing);
	tcase_add_test(tc, an_owner_has_a_ceiling);
	tcase_add_test(tc, names_have_a_ceiling_too);
	tcase_add_test(tc, what_is_kept_goes_with_its_user);
	tcase_add_loop_test(
	    tc, a_name_is_text, 0, sizeof(names) / sizeof(names[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
