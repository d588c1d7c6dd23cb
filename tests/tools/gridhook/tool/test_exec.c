#include "tests/support/run.h"

#include "common/arena.h"
#include "common/buf.h"
#include "tools/gridhook/tool/exec.h"

static struct arena *arena;

static void
set_up(void)
{
	arena = arena_new(1024 * 1024);
	ck_assert_ptr_nonnull(arena);
}

static void
tear_down(void)
{
	arena_free(arena);
}

#define NAME \
	"L'\xc3\xa9" \
	"diteur" /* a name with a quote and an accent */

static const struct span files[] = {
    {"/a b", 4}, {"http://x/?a=1&b=$(id)", 21}, {"/c", 2}};

static enum err
expand(const char ***argv, const char *line, size_t files_count)
{
	struct exec_fields fields = {.name = SPAN(NAME),
	    .icon = SPAN("ed"),
	    .path = SPAN("/usr/share/applications/ed.desktop"),
	    .args = files,
	    .args_count = files_count};
	struct fault fault;

	fault_clear(&fault);
	return exec_expand(argv, span_of(line), &fields, arena, &fault);
}

/* The vector as "[a][b]", which shows blanks and empty arguments. */
static const struct {
	const char *line;
	size_t files;
	const char *expected;
} lines[] = {
    {"ed", 0, "[ed]"},
    {"  ed \t -x  ", 0, "[ed][-x]"},
    {"\"/opt/my ed/ed\" x", 0, "[/opt/my ed/ed][x]"},
    {"ed \"a b\\\\\\$c\"", 0, "[ed][a b\\$c]"},
    {"ed \"say \\\"hi\\\" \\`x\\`\"", 0, "[ed][say \"hi\" `x`]"},
    {"ed \"a\\nb\"", 0, "[ed][a\\nb]"},
    {"ed \"\" ''", 0, "[ed][][]"},
    {"sh -c 'a \"b\" $c'", 0, "[sh][-c][a \"b\" $c]"},
    {"ed a\\ b", 0, "[ed][a b]"},
    {"ed pre\"mid dle\"post", 0, "[ed][premid dlepost]"},
    {"ed %c", 0, "[ed][" NAME "]"},
    {"ed --title=%c", 0, "[ed][--title=" NAME "]"},
    {"ed \"x%c%k%i%m\" '%c'", 0, "[ed][x][]"},
    {"sh -c \"view %u\"", 0, "[sh][-c][view ]"},
    {"ed \"50%%\"", 0, "[ed][50%]"},
    {"ed %i x", 0, "[ed][--icon][ed][x]"},
    {"ed %k", 0, "[ed][/usr/share/applications/ed.desktop]"},
    {"ed 100%% %%", 0, "[ed][100%][%]"},
    {"ed %f %F %u %U", 0, "[ed]"},
    {"ed %d %D %n %N %v %m", 0, "[ed]"},
    {"ed -- %U end", 2, "[ed][--][/a b][http://x/?a=1&b=$(id)][end]"},
    {"ed %F", 3, "[ed][/a b][http://x/?a=1&b=$(id)][/c]"},
    {"ed %f", 1, "[ed][/a b]"},
    {"ed --file=%u", 1, "[ed][--file=/a b]"},
    {"ed --file=%u", 0, "[ed][--file=]"},
    {"ed \"a b\" %u", 1, "[ed][a b][/a b]"},
    {"sh -c 'view \"$@\"' view %U", 1, "[sh][-c][view \"$@\"][view][/a b]"},
    {"ed -c %f", 1, "[ed][-c][/a b]"},
    {"sh /opt/ed.sh --file=%f", 1, "[sh][/opt/ed.sh][--file=/a b]"},
    {"ed $HOME `id` ; rm | > <", 0, "[ed][$HOME][`id`][;][rm][|][>][<]"},
};

START_TEST(a_line_becomes_its_arguments)
{
	const char **argv = NULL;
	struct buf shown;

	ck_assert_int_eq(
	    expand(&argv, lines[_i].line, lines[_i].files), ERR_OK);
	buf_init(&shown, 4096);
	for (; *argv != NULL; argv++)
		buf_addf(&shown, "[%s]", *argv);
	buf_add_char(&shown, '\0');
	ck_assert_str_eq(shown.data, lines[_i].expected);
	buf_fini(&shown);
}
END_TEST

static const struct {
	const char *line;
	size_t files;
	enum err err;
} refused[] = {
    {"", 0, ERR_BAD_INPUT},
    {"   ", 0, ERR_BAD_INPUT},
    {"%F", 0, ERR_BAD_INPUT},
    {"ed \"open", 0, ERR_BAD_INPUT},
    {"ed 'open", 0, ERR_BAD_INPUT},
    {"ed \"ends in \\", 0, ERR_BAD_INPUT},
    {"ed %z", 0, ERR_BAD_INPUT},
    {"ed a%F", 1, ERR_BAD_INPUT},
    {"ed %", 0, ERR_BAD_INPUT},
    {"ed \"%\"", 0, ERR_BAD_INPUT},
    {"sh -c \"echo %u\"", 1, ERR_BAD_INPUT},
    {"sh -c 'echo %u'", 1, ERR_BAD_INPUT},
    {"ed \"%u\"", 1, ERR_BAD_INPUT},
    {"ed \"%F\"", 1, ERR_BAD_INPUT},
    {"sh -c \"echo \"%u", 1, ERR_BAD_INPUT},
    {"sh -c %u\" x\"", 1, ERR_BAD_INPUT},
    {"sh -c echo\\ %u", 1, ERR_BAD_INPUT},
    {"sh -c %u", 1, ERR_BAD_INPUT},
    {"sh -c %U", 2, ERR_BAD_INPUT},
    {"env A=1 /bin/bash -lc %f", 1, ERR_BAD_INPUT},
    {"sh -c echo$IFS%u", 1, ERR_BAD_INPUT},
    {"busybox sh -ce %u", 1, ERR_BAD_INPUT},
    {"ed -v", 2, ERR_TOO_LARGE},
    {"xterm -e", 1, ERR_TOO_LARGE},
    {"ed %f", 2, ERR_TOO_LARGE},
    {"ed --file=%u", 2, ERR_TOO_LARGE},
};

START_TEST(a_line_that_cannot_be_understood_is_refused)
{
	const char **argv = NULL;

	ck_assert_int_eq(expand(&argv, refused[_i].line, refused[_i].files),
	    refused[_i].err);
	ck_assert_ptr_null(argv);
}
END_TEST

START_TEST(an_endless_line_is_refused)
{
	const char **argv = NULL;
	char line[1025];

	for (size_t i = 0; i < 1024; i++)
		line[i] = i % 2 ? ' ' : 'x';
	line[1024] = '\0';
	ck_assert_int_eq(expand(&argv, line, 0), ERR_BAD_INPUT);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool exec");
	TCase *tc = tcase_create("exec");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, a_line_becomes_its_arguments, 0,
	    sizeof(lines) / sizeof(lines[0]));
	tcase_add_loop_test(tc, a_line_that_cannot_be_understood_is_refused, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, an_endless_line_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
