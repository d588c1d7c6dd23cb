#include "fcgi/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "common/log.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct api_settings settings;
static struct fault fault;

static void
begin(void)
{
	scratch_make();
	memset(&settings, 0, sizeof(settings));
	fault_clear(&fault);
	ck_assert_int_eq(
	    conf_defaults(&settings, settings_rows, settings_count, &fault),
	    ERR_OK);
}

static void
end(void)
{
	conf_fini(&settings, settings_rows, settings_count);
	scratch_remove();
}

START_TEST(the_defaults_are_sound)
{
	ck_assert_int_eq(settings.pages_processes, 2);
	ck_assert_int_eq(settings.pages_backlog, 1024);
	ck_assert_int_eq(settings.slow_backlog, 64);
	ck_assert_int_eq(settings.body_bytes, 8 << 20);
	ck_assert_int_eq(settings.retention_s, 15 * 60);
	ck_assert_int_eq(settings.compute_timeout_s, 300);
	ck_assert_int_eq(settings.drain_s, 30);
	ck_assert_int_eq(settings.session_s, 12 * 3600);
	ck_assert_int_eq(settings.log_level, LOG_INFO_);
	ck_assert(!settings.secure_cookie);
	ck_assert_str_eq(settings.public_url, "");
	ck_assert_str_ne(settings.pages_socket, settings.slow_socket);
	/* Waiting requests must leave threads of the slow pool for others. */
	ck_assert_int_lt(settings.compute_waiters, settings.slow_threads);
}
END_TEST

START_TEST(what_is_printed_can_be_read)
{
	struct api_settings again = {0};
	const char *path = scratch_path("gridapi.conf");
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	conf_print(file, settings_rows, settings_count);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(
	    conf_defaults(&again, settings_rows, settings_count, &fault),
	    ERR_OK);
	ck_assert_int_eq(
	    conf_read(&again, settings_rows, settings_count, path, &fault),
	    ERR_OK);
	ck_assert_str_eq(again.data_dir, settings.data_dir);
	ck_assert_str_eq(again.gridctl, settings.gridctl);
	ck_assert_int_eq(again.socket_mode, settings.socket_mode);
	ck_assert_int_eq(again.body_bytes, settings.body_bytes);
	ck_assert_int_eq(again.session_s, settings.session_s);
	conf_fini(&again, settings_rows, settings_count);
}
END_TEST

static const struct {
	const char *section, *name, *value;
	bool good;
} values[] = {
    {"pages", "processes", "1", true},
    {"pages", "processes", "0", false},
    {"pages", "threads", "257", false},
    {"pages", "socket_mode", "600", true},
    {"api", "body_max", "16M", true},
    {"api", "body_max", "12", false},
    {"api", "public_url", "https://grid.example.net", true},
    {"compute", "timeout", "0", false},
    {"compute", "timeout", "5m", true},
    {"log", "level", "debug", true},
    {"log", "level", "loud", false},
    {"session", "secure_cookie", "yes", true},
    {"session", "secure_cookie", "perhaps", false},
    {"page", "threads", "2", false},
    {"pages", "thread", "2", false},
};

START_TEST(limits_are_kept)
{
	enum err err = conf_set(&settings, settings_rows, settings_count,
	    values[_i].section, values[_i].name, values[_i].value, &fault);

	ck_assert_int_eq(err, values[_i].good ? ERR_OK : ERR_BAD_INPUT);
	ck_assert(fault_is_set(&fault) == !values[_i].good);
}
END_TEST

START_TEST(months_are_only_taken_to_a_folder)
{
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "trail", "keep", "12", &fault),
	    ERR_OK);
	ck_assert_int_eq(settings_check(&settings, &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[trail] archive");
	fault_clear(&fault);
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "trail", "archive", "/srv/archive", &fault),
	    ERR_OK);
	ck_assert_int_eq(settings_check(&settings, &fault), ERR_OK);
}
END_TEST

/* With keep or without. */
START_TEST(an_archive_has_a_whole_path)
{
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "trail", "archive", "archive", &fault),
	    ERR_OK);
	ck_assert_int_eq(settings_check(&settings, &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[trail] archive");
}
END_TEST

START_TEST(an_archive_without_months_to_keep_is_noted)
{
	ck_assert_ptr_null(settings_note(&settings));
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "trail", "archive", "/srv/archive", &fault),
	    ERR_OK);
	ck_assert_ptr_nonnull(
	    strstr(settings_note(&settings), "[trail] keep is 0"));
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "trail", "keep", "12", &fault),
	    ERR_OK);
	ck_assert_ptr_null(settings_note(&settings));
}
END_TEST

static const struct {
	const char *url;
	bool good;
} urls[] = {
    {"", true},
    {"https://grid.example.net", true},
    {"http://grid.example.net:8080/", true},
    {"http://[::1]:8080", true},
    {"https://example.net/tools/grid", true},
    {"grid", false},
    {"grid.example.net", false},
    {"ftp://x/y?z", false},
    {"https://", false},
    {"https:///grid", false},
    {"http://:80", false},
    {"https://example.net/grid?a=1", false},
    {"https://example.net?a=1", false},
    {"https://example.net/#top", false},
    {"https://user@example.net", false},
    {"https://example .net", false},
    {"https://example.net\n", false},
};

START_TEST(public_url_is_an_address)
{
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "api", "public_url", urls[_i].url, &fault),
	    ERR_OK);
	ck_assert_int_eq(settings_check(&settings, &fault),
	    urls[_i].good ? ERR_OK : ERR_BAD_INPUT);
	ck_assert(fault_is_set(&fault) == !urls[_i].good);
	if (!urls[_i].good)
		ck_assert_str_eq(fault.place, "[api] public_url");
}
END_TEST

static enum err
check_gridctl(const char *path)
{
	fault_clear(&fault);
	ck_assert_int_eq(conf_set(&settings, settings_rows, settings_count,
			     "compute", "gridctl", path, &fault),
	    ERR_OK);
	return settings_check_gridctl(&settings, &fault);
}

START_TEST(gridctl_is_a_program)
{
	const char *path = scratch_path("gridctl");

	ck_assert_int_eq(check_gridctl(path), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[compute] gridctl");
	ck_assert_ptr_nonnull(strstr(fault.message, "is not there"));
	scratch_text("gridctl", "#!/bin/sh\n");
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(check_gridctl(path), ERR_BAD_INPUT);
	ck_assert_ptr_nonnull(strstr(fault.message, "may not be executed"));
	ck_assert_int_eq(chmod(path, 0750), 0);
	ck_assert_int_eq(check_gridctl(path), ERR_OK);
	ck_assert_int_eq(check_gridctl("/"), ERR_BAD_INPUT);
	ck_assert_ptr_nonnull(strstr(fault.message, "is no file"));
}
END_TEST

START_TEST(no_setting_is_there_twice)
{
	for (size_t i = 0; i < settings_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct conf_row *a = &settings_rows[i];
			const struct conf_row *b = &settings_rows[k];

			ck_assert(strcmp(a->section, b->section) != 0 ||
			    strcmp(a->name, b->name) != 0);
			ck_assert_uint_ne(a->offset, b->offset);
		}
}
END_TEST

/* The man page has each section's heading and each name in it. */
START_TEST(the_man_page_lists_every_setting)
{
	const char *top = getenv("abs_top_srcdir");
	char path[FS_PATH_MAX], item[128];
	struct buf page;
	const char *at = NULL, *section = "";
	char *text;

	if (top == NULL)
		return; /* started by hand */
	buf_init(&page, 1 << 20);
	ck_assert_int_eq(
	    fs_path(path, "%s/docs/man/gridapi.conf.5", top), ERR_OK);
	ck_assert_int_eq(fs_read(&page, path), ERR_OK);
	text = buf_take(&page, NULL);
	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < settings_count; i++) {
		const struct conf_row *row = &settings_rows[i];

		if (strcmp(section, row->section) != 0) {
			section = row->section;
			snprintf(item, sizeof(item), ".Ss The section %s\n",
			    section);
			at = strstr(text, item);
			ck_assert_msg(at != NULL, "no section %s", section);
		}
		snprintf(item, sizeof(item), "\n.It Cm %s ", row->name);
		at = strstr(at, item);
		ck_assert_msg(at != NULL, "no %s in %s", row->name, section);
	}
	free(text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("settings");
	TCase *tc = tcase_create("settings");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, the_defaults_are_sound);
	tcase_add_test(tc, what_is_printed_can_be_read);
	tcase_add_loop_test(
	    tc, limits_are_kept, 0, (int)(sizeof(values) / sizeof(values[0])));
	tcase_add_loop_test(tc, public_url_is_an_address, 0,
	    (int)(sizeof(urls) / sizeof(urls[0])));
	tcase_add_test(tc, gridctl_is_a_program);
	tcase_add_test(tc, no_setting_is_there_twice);
	tcase_add_test(tc, the_man_page_lists_every_setting);
	tcase_add_test(tc, months_are_only_taken_to_a_folder);
	tcase_add_test(tc, an_archive_has_a_whole_path);
	tcase_add_test(tc, an_archive_without_months_to_keep_is_noted);
	suite_add_tcase(suite, tc);
	return suite;
}
