#include "tools/gridhook/settings.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/jscan.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct hook_settings settings;
static struct fault fault;

static void
set_up(void)
{
	scratch_make();
	quiet_begin();
	unsetenv("GRIDHOOK_SECRET");
	unsetenv("CREDENTIALS_DIRECTORY");
	fault = (struct fault){.place = ""};
}

static void
tear_down(void)
{
	settings_fini(&settings);
	quiet_end();
	scratch_remove();
}

static enum err
load(const char *text)
{
	scratch_text("conf", text);
	return settings_load(&settings, scratch_path("conf"), &fault);
}

START_TEST(defaults_are_the_documents)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(load(""), ERR_OK);
	ck_assert_int_eq(settings.port, SETTINGS_PORT);
	ck_assert_str_eq(settings_host(&settings), "127.0.0.1");
	ck_assert(!settings.has_secret);
	ck_assert_int_eq(settings_push_path(path, &settings), ERR_OK);
	ck_assert_str_eq(path, "/assistant/hook");
}
END_TEST

START_TEST(with_a_secret_the_host_is_every_address)
{
	setenv("GRIDHOOK_SECRET", "abc", 1);
	ck_assert_int_eq(load(""), ERR_OK);
	ck_assert(settings.has_secret);
	ck_assert_str_eq(settings_host(&settings), "0.0.0.0");
	ck_assert_ptr_null(getenv("GRIDHOOK_SECRET"));
	settings_fini(&settings);
	setenv("GRIDHOOK_SECRET", "abc", 1);
	ck_assert_int_eq(load("[server]\nhost = 192.0.2.1\n"), ERR_OK);
	ck_assert_str_eq(settings_host(&settings), "192.0.2.1");
}
END_TEST

static const struct {
	const char *bytes, *secret; /* NULL: refused */
} secrets[] = {
    {"abc", "abc"},
    {"abc\n", "abc"},
    {"  a b \r\n", "a b"},
    {"h\xC3\xA9", "h\xC3\xA9"},
    {"", NULL},
    {" \n", NULL},
    {"a\nb", NULL},
    {"a\tb", NULL},
    {"a\x7F", NULL},
};

START_TEST(secret_is_one_line_of_a_file)
{
	enum err err;

	scratch_text("secret", secrets[_i].bytes);
	ck_assert_int_eq(chmod(scratch_path("secret"), 0600), 0);
	ck_assert_int_eq(load(""), ERR_OK);
	err = settings_read_secret(&settings, scratch_path("secret"), &fault);
	if (secrets[_i].secret == NULL) {
		ck_assert_int_ne(err, ERR_OK);
		ck_assert(fault_is_set(&fault));
		ck_assert(!settings.has_secret);
		return;
	}
	ck_assert_int_eq(err, ERR_OK);
	ck_assert_str_eq(settings.secret, secrets[_i].secret);
}
END_TEST

START_TEST(file_wins_over_the_credential_and_that_over_the_environment)
{
	char conf[1000];

	scratch_text("own", "file");
	ck_assert_int_eq(mkdir(scratch_path("credentials"), 0700), 0);
	scratch_text("credentials/secret", "credential");
	snprintf(conf, sizeof(conf), "[server]\nsecret_file = %s\n",
	    scratch_path("own"));
	setenv("GRIDHOOK_SECRET", "environment", 1);
	ck_assert_int_eq(load(""), ERR_OK);
	ck_assert_str_eq(settings.secret, "environment");
	settings_fini(&settings);
	setenv("CREDENTIALS_DIRECTORY", scratch_path("credentials"), 1);
	setenv("GRIDHOOK_SECRET", "environment", 1);
	ck_assert_int_eq(load(""), ERR_OK);
	ck_assert_str_eq(settings.secret, "credential");
	settings_fini(&settings);
	ck_assert_int_eq(load(conf), ERR_OK);
	ck_assert_str_eq(settings.secret, "file");
	unsetenv("CREDENTIALS_DIRECTORY");
}
END_TEST

static const struct {
	const char *text, *words;
} wrongs[] = {
    {"[server]\nport = 0\n", "port"},
    {"[server]\nport = 65536\n", "port"},
    {"[server]\nport = 80x\n", "port"},
    {"[server]\nprot = 80\n", "prot"},
    {"[server]\napp = a/b\n", "app"},
    {"[server]\napp = mcp\n", "app"},
    {"[server]\napp = .hidden\n", "app"},
    {"[tools]\ndisabled = lock_session, lock_sesion\n", "lock_sesion"},
    {"[interface]\nreplay = some\n", "replay"},
    {"[limits]\nidle = soon\n", "idle"},
};

START_TEST(what_is_wrong_is_told_with_its_name)
{
	ck_assert_int_ne(load(wrongs[_i].text), ERR_OK);
	ck_assert_msg(strstr(fault.place, wrongs[_i].words) != NULL ||
		strstr(fault.message, wrongs[_i].words) != NULL,
	    "%s: %s", fault.place, fault.message);
}
END_TEST

START_TEST(printed_defaults_can_be_read_again)
{
	FILE *file = fopen(scratch_path("printed"), "w");

	ck_assert_ptr_nonnull(file);
	settings_print(file);
	fclose(file);
	ck_assert_int_eq(
	    settings_load(&settings, scratch_path("printed"), &fault), ERR_OK);
	ck_assert_int_eq(settings.port, SETTINGS_PORT);
}
END_TEST

START_TEST(helper_hears_of_our_end_only_where_it_is_to_end_with_us)
{
	struct jsonw json;
	struct jscan doc;
	struct buf text;

	ck_assert_int_eq(load("[desktop]\nfind_roots = /a , /b c\n"), ERR_OK);
	for (int ends = 0; ends < 2; ends++) {
		buf_init(&text, 65536);
		jsonw_init(&json, &text);
		settings_for_helper(&json, &settings, ends == 1);
		ck_assert_int_eq(jsonw_end(&json), ERR_OK);
		ck_assert_int_eq(
		    jscan_parse(&doc, buf_span(&text), 8, NULL), ERR_OK);
		ck_assert_int_eq(
		    jval_is_absent(jval_member(jscan_root(&doc), "life_fd")),
		    ends == 0);
		ck_assert_uint_eq(
		    jval_count(jval_member(jscan_root(&doc), "find_roots")), 2);
		jscan_fini(&doc);
		buf_fini(&text);
	}
}
END_TEST

START_TEST(lists_are_of_names_between_commas)
{
	ck_assert(settings_list_has("a, b c", SPAN("B")));
	ck_assert(settings_list_has("a, b c", SPAN("c")));
	ck_assert(!settings_list_has("a, b c", SPAN("bc")));
	ck_assert(!settings_list_has("abc", SPAN("ab")));
	ck_assert(!settings_list_has("", SPAN("")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook settings");
	TCase *tc = tcase_create("settings");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, defaults_are_the_documents);
	tcase_add_test(tc, with_a_secret_the_host_is_every_address);
	tcase_add_loop_test(tc, secret_is_one_line_of_a_file, 0,
	    (int)(sizeof(secrets) / sizeof(secrets[0])));
	tcase_add_test(
	    tc, file_wins_over_the_credential_and_that_over_the_environment);
	tcase_add_loop_test(tc, what_is_wrong_is_told_with_its_name, 0,
	    (int)(sizeof(wrongs) / sizeof(wrongs[0])));
	tcase_add_test(tc, printed_defaults_can_be_read_again);
	tcase_add_test(
	    tc, helper_hears_of_our_end_only_where_it_is_to_end_with_us);
	tcase_add_test(tc, lists_are_of_names_between_commas);
	suite_add_tcase(suite, tc);
	return suite;
}
