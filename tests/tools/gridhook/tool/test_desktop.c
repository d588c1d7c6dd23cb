#include "tests/support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/arena.h"
#include "tests/support/scratch.h"
#include "tools/gridhook/tool/desktop.h"

static struct arena *arena;

static void
set_up(void)
{
	scratch_make();
	arena = arena_new(16 * 1024 * 1024);
	ck_assert_ptr_nonnull(arena);
}

static void
tear_down(void)
{
	arena_free(arena);
	scratch_remove();
}

static const char calculator[] = "# a comment\n"
				 "[Desktop Entry]\r\n"
				 "Type=Application\r\n"
				 "Name=Calculator\n"
				 "Name[fr]=Calculatrice\n"
				 "Name[fr_CA]=Calculette\n"
				 "Name[de]=Rechner\n"
				 "Name[sr@latin]=Kalkulator\n"
				 "Name[sr]=\xd0\x9a\n"
				 " Keywords = sums;plus; \n"
				 "Exec=calc --x\\s\"a\\\\\\\\b\" %U\n"
				 "Icon=calc\n"
				 "Terminal=true\n"
				 "[Desktop Action new]\n"
				 "Name=New window\n"
				 "Exec=calc --new\n";

static const struct {
	const char *locale, *name;
} names[] = {
    {"", "Calculator"},
    {"C", "Calculator"},
    {"it_IT.UTF-8", "Calculator"},
    {"fr_FR.UTF-8", "Calculatrice"},
    {"fr_CA.UTF-8", "Calculette"},
    {"fr", "Calculatrice"},
    {"de_AT@euro", "Rechner"},
    {"sr_RS.UTF-8@latin", "Kalkulator"},
    {"sr_RS", "\xd0\x9a"},
};

START_TEST(a_name_is_in_the_language_of_the_user)
{
	struct desktop_entry entry;

	ck_assert_int_eq(
	    desktop_read(&entry, span_of(calculator), names[_i].locale, arena),
	    ERR_OK);
	ck_assert_str_eq(entry.name.ptr, names[_i].name);
	ck_assert_str_eq(entry.plain_name.ptr, "Calculator");
}
END_TEST

START_TEST(values_are_read_of_the_first_group_only)
{
	struct desktop_entry entry;

	ck_assert_int_eq(
	    desktop_read(&entry, span_of(calculator), "", arena), ERR_OK);
	ck_assert(entry.is_application);
	ck_assert(entry.terminal);
	ck_assert(!entry.hidden);
	ck_assert_str_eq(entry.exec.ptr, "calc --x \"a\\\\b\" %U");
	ck_assert_str_eq(entry.keywords.ptr, "sums;plus;");
	ck_assert_str_eq(entry.icon.ptr, "calc");
	ck_assert_uint_eq(entry.try_exec.len, 0);
}
END_TEST

START_TEST(a_file_without_the_group_is_no_entry)
{
	struct desktop_entry entry;

	ck_assert_int_eq(
	    desktop_read(&entry, SPAN("Name=x\n[Other]\nExec=y\n"), "", arena),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(
	    desktop_read(&entry, SPAN(""), "", arena), ERR_BAD_INPUT);
}
END_TEST

static struct desktop_entry installed[] = {
    {.id = SPAN("org.gnome.Calculator.desktop"),
	.name = SPAN("Calculatrice"),
	.plain_name = SPAN("Calculator"),
	.keywords = SPAN("sums;plus;")},
    {.id = SPAN("firefox.desktop"),
	.name = SPAN("Firefox Web Browser"),
	.plain_name = SPAN("Firefox Web Browser"),
	.keywords = SPAN("web;internet;")},
    {.id = SPAN("firefox-esr.desktop"),
	.name = SPAN("Firefox ESR"),
	.plain_name = SPAN("Firefox ESR")},
    {.id = SPAN("kde4-edit.desktop"),
	.name = SPAN("\xc3\x89"
		     "diteur"),
	.plain_name = SPAN("Editor")},
    {.id = SPAN("one.Terminal.desktop"),
	.name = SPAN("Terminal"),
	.plain_name = SPAN("Terminal")},
    {.id = SPAN("two-terminal.desktop"),
	.name = SPAN("Terminal"),
	.plain_name = SPAN("Terminal")},
};

static const struct {
	const char *wanted;
	enum err err;
	const char *id;
} matches[] = {
    {"firefox.desktop", ERR_OK, "firefox.desktop"},
    {"firefox", ERR_OK, "firefox.desktop"},
    {"FIREFOX", ERR_OK, "firefox.desktop"},
    {"firefox-esr", ERR_OK, "firefox-esr.desktop"},
    {"Firefox ESR", ERR_OK, "firefox-esr.desktop"},
    {"firefox  esr", ERR_OK, "firefox-esr.desktop"},
    {"org.gnome.Calculator", ERR_OK, "org.gnome.Calculator.desktop"},
    {"calculatrice", ERR_OK, "org.gnome.Calculator.desktop"},
    {"Calculator", ERR_OK, "org.gnome.Calculator.desktop"},
    {"calcul", ERR_OK, "org.gnome.Calculator.desktop"},
    {"plus", ERR_OK, "org.gnome.Calculator.desktop"},
    {"internet", ERR_OK, "firefox.desktop"},
    {"editeur", ERR_OK, "kde4-edit.desktop"},
    {"\xc3\x89"
     "DITEUR",
	ERR_OK, "kde4-edit.desktop"},
    {"firef", ERR_EXISTS, NULL},
    {"Terminal", ERR_EXISTS, NULL},
    {"two-terminal", ERR_OK, "two-terminal.desktop"},
    {"esr", ERR_NOT_FOUND, NULL},
    {"/usr/bin/firefox", ERR_NOT_FOUND, NULL},
    {"../firefox", ERR_NOT_FOUND, NULL},
    {"firefox; id", ERR_NOT_FOUND, NULL},
    {"", ERR_NOT_FOUND, NULL},
    {" ", ERR_NOT_FOUND, NULL},
    {"\xff", ERR_NOT_FOUND, NULL},
};

START_TEST(a_word_names_one_application_or_none)
{
	struct desktop_index index = {.entries = installed,
	    .count = sizeof(installed) / sizeof(installed[0])};
	const struct desktop_entry *entry;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(
	    desktop_match(&entry, &index, span_of(matches[_i].wanted), &fault),
	    matches[_i].err);
	if (matches[_i].err != ERR_OK) {
		ck_assert_ptr_null(entry);
		ck_assert(fault_is_set(&fault));
	} else
		ck_assert_str_eq(entry->id.ptr, matches[_i].id);
}
END_TEST

START_TEST(several_that_fit_are_told)
{
	struct desktop_index index = {.entries = installed,
	    .count = sizeof(installed) / sizeof(installed[0])};
	const struct desktop_entry *entry;
	struct fault fault;

	fault_clear(&fault);
	desktop_match(&entry, &index, SPAN("Terminal"), &fault);
	ck_assert_str_eq(fault.message,
	    "not found: several applications fit \"Terminal\"; name one by "
	    "its id: one.Terminal, two-terminal");
}
END_TEST

static void
install(const char *name, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "[Desktop Entry]\nType=Application\nName=%s\nExec=/bin/true\n%s",
	    name, more);
	scratch_text(name, text);
}

static bool
is_there(const struct desktop_index *index, const char *id)
{
	for (size_t i = 0; i < index->count; i++)
		if (span_eq(index->entries[i].id, span_of(id)))
			return true;
	return false;
}

START_TEST(what_may_not_be_shown_is_not_there)
{
	struct desktop_index index;

	ck_assert_int_eq(mkdir(scratch_path("home"), 0700), 0);
	ck_assert_int_eq(mkdir(scratch_path("home/applications"), 0700), 0);
	ck_assert_int_eq(mkdir(scratch_path("home/applications/sub"), 0700), 0);
	ck_assert_int_eq(mkdir(scratch_path("dirs"), 0700), 0);
	ck_assert_int_eq(mkdir(scratch_path("dirs/applications"), 0700), 0);
	install("home/applications/plain.desktop", "");
	install("home/applications/sub/below.desktop", "");
	install("home/applications/gone.desktop", "Hidden=true\n");
	install("home/applications/quiet.desktop", "NoDisplay=true\n");
	install("home/applications/link.desktop", "Type=Link\n");
	install("home/applications/gnome.desktop", "OnlyShowIn=GNOME;\n");
	install("home/applications/kde.desktop", "OnlyShowIn=XFCE;KDE;\n");
	install("home/applications/notkde.desktop", "NotShowIn=KDE;\n");
	install("home/applications/try.desktop", "TryExec=no-such-program\n");
	install("home/applications/has.desktop", "TryExec=sh\n");
	install("home/applications/text.txt", "");
	install("dirs/applications/gone.desktop", "");
	install("dirs/applications/far.desktop", "");
	setenv("XDG_DATA_HOME", scratch_path("home"), 1);
	setenv("XDG_DATA_DIRS", scratch_path("dirs"), 1);
	setenv("XDG_CURRENT_DESKTOP", "X-Own:KDE", 1);

	ck_assert_int_eq(desktop_load(&index, arena), ERR_OK);
	ck_assert(is_there(&index, "plain.desktop"));
	ck_assert(is_there(&index, "sub-below.desktop"));
	ck_assert(is_there(&index, "kde.desktop"));
	ck_assert(is_there(&index, "has.desktop"));
	ck_assert(is_there(&index, "far.desktop"));
	ck_assert_uint_eq(index.count, 5);
}
END_TEST

START_TEST(folders_that_are_missing_hold_nothing)
{
	struct desktop_index index;

	setenv("XDG_DATA_HOME", scratch_path("none"), 1);
	setenv("XDG_DATA_DIRS", "relative:", 1);
	ck_assert_int_eq(desktop_load(&index, arena), ERR_OK);
	ck_assert_uint_eq(index.count, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool desktop");
	TCase *tc = tcase_create("desktop");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, a_name_is_in_the_language_of_the_user, 0,
	    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, values_are_read_of_the_first_group_only);
	tcase_add_test(tc, a_file_without_the_group_is_no_entry);
	tcase_add_loop_test(tc, a_word_names_one_application_or_none, 0,
	    sizeof(matches) / sizeof(matches[0]));
	tcase_add_test(tc, several_that_fit_are_told);
	tcase_add_test(tc, what_may_not_be_shown_is_not_there);
	tcase_add_test(tc, folders_that_are_missing_hold_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
