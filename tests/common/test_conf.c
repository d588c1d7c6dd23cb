#include "common/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/count.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

struct settings {
	char *data;
	char *token;
	char *name;
	int64_t threads;
	int64_t any;
	bool sync;
	int64_t map;
	int64_t keep;
	int mode;
};

static const char *const modes[] = {"fast", "safe", NULL};

static const struct conf_row rows[] = {
    {"store", "data", CONF_TEXT, offsetof(struct settings, data),
	"/var/lib/grid", 0, 0, NULL, "where everything is stored"},
    {"store", "map", CONF_SIZE, offsetof(struct settings, map), "64G", 1 << 20,
	INT64_C(1) << 40, NULL,
	"the most that one file may grow to, which costs nothing but addresses "
	"as long as it is not used"},
    {"store", "sync", CONF_BOOL, offsetof(struct settings, sync), "yes", 0, 0,
	NULL, "whether to wait for the disk"},
    {"store", "mode", CONF_CHOICE, offsetof(struct settings, mode), "safe", 0,
	0, modes, "how to write"},
    {"pool", "threads", CONF_INT, offsetof(struct settings, threads), "4", 1,
	64, NULL, "how many"},
    {"pool", "any", CONF_INT, offsetof(struct settings, any), "-1", 0, 0, NULL,
	"any number"},
    {"pool", "keep", CONF_SECONDS, offsetof(struct settings, keep), "15m", 0, 0,
	NULL, "how long"},
    {"pool", "name", CONF_TEXT, offsetof(struct settings, name), "grid", 2, 8,
	NULL, "a short name"},
    {"pool", "token", CONF_TEXT, offsetof(struct settings, token), NULL, 0, 0,
	NULL, "a secret"},
};

static struct settings settings;
static struct fault fault;

static void
setup(void)
{
	scratch_make();
	fault_clear(&fault);
	memset(&settings, 0x5a, sizeof(settings));
	ck_assert_int_eq(
	    conf_defaults(&settings, rows, COUNT(rows), &fault), ERR_OK);
}

static void
teardown(void)
{
	conf_fini(&settings, rows, COUNT(rows));
	scratch_remove();
}

static enum err
read_text(const char *text)
{
	scratch_text("grid.conf", text);
	return conf_read(
	    &settings, rows, COUNT(rows), scratch_path("grid.conf"), &fault);
}

static void
check_defaults(void)
{
	ck_assert_str_eq(settings.data, "/var/lib/grid");
	ck_assert_str_eq(settings.name, "grid");
	ck_assert_ptr_null(settings.token);
	ck_assert_int_eq(settings.threads, 4);
	ck_assert_int_eq(settings.any, -1);
	ck_assert(settings.sync);
	ck_assert_int_eq(settings.map, INT64_C(64) << 30);
	ck_assert_int_eq(settings.keep, 900);
	ck_assert_int_eq(settings.mode, 1);
}

START_TEST(every_setting_has_its_default)
{
	check_defaults();
	ck_assert(!fault_is_set(&fault));
}
END_TEST

START_TEST(default_that_does_not_fit_is_told)
{
	static const struct conf_row wrong[] = {
	    {"a", "text", CONF_TEXT, offsetof(struct settings, data), "x", 0, 0,
		NULL, ""},
	    {"a", "number", CONF_INT, offsetof(struct settings, any), "99", 1,
		9, NULL, ""},
	    {"a", "late", CONF_TEXT, offsetof(struct settings, name), "x", 0, 0,
		NULL, ""},
	};
	struct settings own;

	memset(&own, 0x5a, sizeof(own));
	ck_assert_int_eq(
	    conf_defaults(&own, wrong, COUNT(wrong), &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "default of [a] number");
	conf_fini(&own, wrong, COUNT(wrong));
	conf_fini(&own, wrong, COUNT(wrong));
}
END_TEST

START_TEST(file_is_read_over_what_is_there)
{
	ck_assert_int_eq(read_text("\xef\xbb\xbf# a comment\r\n"
				   "; another [one\n"
				   "[pool] ; here too\n"
				   "  threads=7\n"
				   "\ttoken = a b = c \n"
				   "\n"
				   "[store]\r\n"
				   "mode=fast ; as it is\r\n"
				   "data =\n"
				   "[pool]\n"
				   "threads = 8"),
	    ERR_OK);
	ck_assert_int_eq(settings.threads, 8);
	ck_assert_str_eq(settings.token, "a b = c");
	ck_assert_int_eq(settings.mode, 0);
	ck_assert_str_eq(settings.data, "");
	ck_assert_str_eq(settings.name, "grid");
	ck_assert(!fault_is_set(&fault));
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *told; /* how the message begins */
} bad[] = {
    {"[pool]\nthreads = 0\n", 2,
	"[pool] threads must be a whole number from 1 to 64, not \"0\""},
    {"[pool]\n\n\nthreads = x\nany = y\n", 4, "[pool] threads must be"},
    {"[pool]\nthread = 1\n", 2, "[pool] has no setting named \"thread\""},
    {"[pools]\n", 1, "there is no section [pools]"},
    {"[pool\n", 1, "a section is written [name]"},
    {"[pool] threads = 1\n", 1, "nothing may follow a [section]"},
    {"threads = 1\n", 1, "\"threads\" stands before any [section]"},
    {"[pool]\nthreads\n", 2, "is neither \"name = value\" nor [section]"},
    {"[pool]\n= 1\n", 2, "is neither \"name = value\" nor [section]"},
    {"[pool]\nthreads: 1\n", 2, "is neither \"name = value\""},
    {"[store]\ndata: a = b\n", 2, "is neither \"name = value\""},
    {"[pool]\n; = 1\nx\n", 3, "is neither \"name = value\" nor [section]"},
    {"[pool]\ntoken = 1\n  2\n", 3, "is neither \"name = value\""},
    {"[pool]\ntoken = 1\n  name = x\n", 3,
	"[pool] name must be a text from 2 "},
    {"[pool]\nname = 123456789\n", 2,
	"[pool] name must be a text from 2 to 8 bytes long, not"},
    {"[pool]\nkeep = 5w\n", 2,
	"[pool] keep must be a time such as 90, 15m, 12h or 3d, not \"5w\""},
    {"[store]\nmap = 1K\n", 2,
	"[store] map must be a size such as 512, 64M or 2G from 1048576 to "
	"1099511627776 bytes, not \"1K\""},
    {"[store]\nsync = maybe\n", 2,
	"[store] sync must be yes or no, not \"maybe\""},
    {"[store]\nmode = Fast\n", 2,
	"[store] mode must be one of fast, safe, not \"Fast\""},
    {"[store]\ndata = \033[31m\nmode = x", 3, "[store] mode must be one of"},
};

START_TEST(bad_file_is_told_by_path_and_line)
{
	char place[256];

	ck_assert_int_eq(read_text(bad[_i].text), ERR_BAD_INPUT);
	snprintf(place, sizeof(place), "%s:%u", scratch_path("grid.conf"),
	    bad[_i].line);
	ck_assert_str_eq(fault.place, place);
	ck_assert_mem_eq(fault.message, bad[_i].told, strlen(bad[_i].told));
}
END_TEST

START_TEST(a_setting_that_stands_twice_may_be_refused)
{
	static const char text[] =
	    "[pool]\nthreads = 1\n[store]\n[pool]\n\nthreads = 2\n";
	char place[256];

	ck_assert_int_eq(read_text(text), ERR_OK);
	ck_assert_int_eq(settings.threads, 2);
	ck_assert_int_eq(conf_read_once(&settings, rows, COUNT(rows),
			     scratch_path("grid.conf"), &fault),
	    ERR_BAD_INPUT);
	snprintf(place, sizeof(place), "%s:%u", scratch_path("grid.conf"), 6u);
	ck_assert_str_eq(fault.place, place);
	ck_assert_str_eq(fault.message,
	    "[pool] threads is set a second time, after line 2: remove one");
}
END_TEST

static void
note_twice(void *context, const char *text)
{
	buf_addf(context, "%s\n", text);
}

START_TEST(a_setting_that_stands_twice_may_be_told)
{
	struct buf told;

	scratch_text("grid.conf",
	    "[pool]\nthreads = 1\nany = 5\n[store]\nmode = safe\n[pool]\n"
	    "threads = 2\nthreads = 3\n");
	buf_init(&told, 1000);
	ck_assert_int_eq(
	    conf_read_telling(&settings, rows, COUNT(rows),
		scratch_path("grid.conf"), note_twice, &told, &fault),
	    ERR_OK);
	ck_assert_int_eq(settings.threads, 3);
	ck_assert(span_eq(buf_span(&told),
	    SPAN("[pool] threads is set twice (lines 2 and 7): the later one "
		 "counts\n"
		 "[pool] threads is set twice (lines 7 and 8): the later one "
		 "counts\n")));
	buf_fini(&told);
}
END_TEST

START_TEST(first_trouble_stops_it)
{
	ck_assert_int_eq(read_text("[pool]\nthreads = 5\nany = x\nkeep = 1\n"),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(settings.threads, 5);
	ck_assert_int_eq(settings.keep, 900);
	ck_assert_int_eq(read_text("[pool]\nthreads = 6\nbad line\nkeep = 1\n"),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(settings.threads, 6);
	ck_assert_int_eq(settings.keep, 900);
}
END_TEST

/* inih has a buffer of 200 bytes, and would read the rest as another line. */
START_TEST(long_line_is_told_unless_it_is_a_comment)
{
	char text[1024];
	int len = snprintf(text, sizeof(text), "[pool]\n# %0*d\ntoken = %0*d\n",
	    400, 0, 150, 0);

	ck_assert_int_eq(read_text(text), ERR_OK);
	ck_assert_uint_eq(strlen(settings.token), 150);
	snprintf(
	    text + len, sizeof(text) - (size_t)len, "token = %0*d\n", 300, 0);
	ck_assert_int_eq(read_text(text), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.message, "is too long");
	ck_assert_uint_eq(strlen(settings.token), 150);
}
END_TEST

START_TEST(zero_byte_is_told)
{
	static const char bytes[] = "[pool]\ntoken = a\0b\n";

	scratch_write("grid.conf", bytes, sizeof(bytes) - 1);
	ck_assert_int_eq(conf_read(&settings, rows, COUNT(rows),
			     scratch_path("grid.conf"), &fault),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.message, "holds a zero byte");
}
END_TEST

START_TEST(missing_file_is_not_found)
{
	ck_assert_int_eq(conf_read(&settings, rows, COUNT(rows),
			     scratch_path("none"), &fault),
	    ERR_NOT_FOUND);
	ck_assert_str_eq(fault.place, scratch_path("none"));
	check_defaults();
}
END_TEST

static const struct {
	const char *section, *name, *value;
	enum err err;
} sets[] = {
    {"pool", "threads", "64", ERR_OK},
    {"pool", "threads", "65", ERR_BAD_INPUT},
    {"pool", "threads", "", ERR_BAD_INPUT},
    {"pool", "threads", " 1", ERR_BAD_INPUT},
    {"pool", "any", "-9223372036854775807", ERR_OK},
    {"pool", "any", "9223372036854775808", ERR_BAD_INPUT},
    {"pool", "keep", "0", ERR_OK},
    {"pool", "keep", "3d", ERR_OK},
    {"pool", "keep", "-3d", ERR_BAD_INPUT},
    {"pool", "name", "ab", ERR_OK},
    {"pool", "name", "a", ERR_BAD_INPUT},
    {"pool", "token", "", ERR_OK},
    {"store", "map", "1M", ERR_OK},
    {"store", "map", "1T", ERR_OK},
    {"store", "map", "2T", ERR_BAD_INPUT},
    {"store", "map", "9999999999T", ERR_BAD_INPUT},
    {"store", "map", "M", ERR_BAD_INPUT},
    {"store", "map", "1m", ERR_BAD_INPUT},
    {"store", "map", "1.5G", ERR_BAD_INPUT},
    {"store", "sync", "Off", ERR_OK},
    {"store", "sync", "1", ERR_OK},
    {"store", "sync", "2", ERR_BAD_INPUT},
    {"store", "sync", "", ERR_BAD_INPUT},
    {"store", "mode", "fast", ERR_OK},
    {"store", "mode", "", ERR_BAD_INPUT},
    {"store", "threads", "1", ERR_BAD_INPUT},
    {"", "threads", "1", ERR_BAD_INPUT},
    {"none", "threads", "1", ERR_BAD_INPUT},
};

START_TEST(one_setting_is_set_or_left_as_it_was)
{
	char place[256];

	ck_assert_int_eq(
	    conf_set(&settings, rows, COUNT(rows), sets[_i].section,
		sets[_i].name, sets[_i].value, &fault),
	    sets[_i].err);
	if (sets[_i].err == ERR_OK)
		return;
	snprintf(
	    place, sizeof(place), "[%s] %s", sets[_i].section, sets[_i].name);
	ck_assert_str_eq(fault.place, place);
	/* The place is said once. */
	ck_assert_ptr_null(strchr(fault.message, '['));
	check_defaults();
}
END_TEST

static const struct {
	const char *value;
	int64_t bytes;
} sizes[] = {
    {"1048576", 1 << 20},
    {"1024K", 1 << 20},
    {"3M", 3 << 20},
    {"2G", INT64_C(2) << 30},
    {"1T", INT64_C(1) << 40},
};

START_TEST(size_units_are_powers_of_1024)
{
	ck_assert_int_eq(conf_set(&settings, rows, COUNT(rows), "store", "map",
			     sizes[_i].value, &fault),
	    ERR_OK);
	ck_assert_int_eq(settings.map, sizes[_i].bytes);
}
END_TEST

static const char printed[] =
    "[store]\n"
    "\n"
    "# where everything is stored -- a text\n"
    "data = /var/lib/grid\n"
    "\n"
    "# the most that one file may grow to, which costs nothing but addresses "
    "as "
    "long\n"
    "# as it is not used -- a size such as 512, 64M or 2G from 1048576 to\n"
    "# 1099511627776 bytes\n"
    "map = 64G\n"
    "\n"
    "# whether to wait for the disk -- yes or no\n"
    "sync = yes\n"
    "\n"
    "# how to write -- one of fast, safe\n"
    "mode = safe\n"
    "\n"
    "[pool]\n"
    "\n"
    "# how many -- a whole number from 1 to 64\n"
    "threads = 4\n"
    "\n"
    "# any number -- a whole number\n"
    "any = -1\n"
    "\n"
    "# how long -- a time such as 90, 15m, 12h or 3d\n"
    "keep = 15m\n"
    "\n"
    "# a short name -- a text from 2 to 8 bytes long\n"
    "name = grid\n"
    "\n"
    "# a secret -- a text\n"
    "#token =\n";

START_TEST(printed_file_explains_and_gives_the_defaults_when_read)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(file);
	conf_print(file, rows, COUNT(rows));
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_str_eq(text, printed);
	conf_set(&settings, rows, COUNT(rows), "pool", "threads", "9", &fault);
	ck_assert_int_eq(read_text(text), ERR_OK);
	check_defaults();
	free(text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("conf");
	TCase *tc = tcase_create("conf");

	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_setting_has_its_default);
	tcase_add_test(tc, default_that_does_not_fit_is_told);
	tcase_add_test(tc, file_is_read_over_what_is_there);
	tcase_add_loop_test(
	    tc, bad_file_is_told_by_path_and_line, 0, COUNT(bad));
	tcase_add_test(tc, a_setting_that_stands_twice_may_be_refused);
	tcase_add_test(tc, a_setting_that_stands_twice_may_be_told);
	tcase_add_test(tc, first_trouble_stops_it);
	tcase_add_test(tc, long_line_is_told_unless_it_is_a_comment);
	tcase_add_test(tc, zero_byte_is_told);
	tcase_add_test(tc, missing_file_is_not_found);
	tcase_add_loop_test(
	    tc, one_setting_is_set_or_left_as_it_was, 0, COUNT(sets));
	tcase_add_loop_test(tc, size_units_are_powers_of_1024, 0, COUNT(sizes));
	tcase_add_test(
	    tc, printed_file_explains_and_gives_the_defaults_when_read);
	suite_add_tcase(suite, tc);
	return suite;
}
