/*
 * Families in files: what the reader takes and refuses, and each sample of
 * the folder samples, pushes as their senders write them.
 *
 *	# where it is from
 *	header NAME: VALUE	of the push that follows
 *	rest TEXT		behind the push path
 *	push {...}
 *	want FAMILY {...}	members of its event's record; "-" for any family
 */
#include "tools/gridhook/events/recipe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/count.h"
#include "common/fs.h"
#include "common/log.h"
#include "tests/support/run.h"

#define HEADERS_MAX 8

struct sample {
	const char *file;
	unsigned line;
	struct span headers[HEADERS_MAX];
	unsigned header_count;
	struct span rest, push;
	char family[64];
};

static struct arena *arena;
static struct recipes *recipes;

static const char *
top_folder(void)
{
	const char *top = getenv("abs_top_srcdir");

	return top == NULL ? "." : top;
}

static void
set_up(void)
{
	char folder[FS_PATH_MAX];

	arena = arena_new(64 << 20);
	recipes = recipes_new();
	ck_assert(arena != NULL && recipes != NULL);
	ck_assert_int_eq(
	    fs_path(folder, "%s/tools/gridhook/families", top_folder()),
	    ERR_OK);
	ck_assert(recipes_add_folder(recipes, folder));
}

static void
tear_down(void)
{
	recipes_free(recipes);
	arena_free(arena);
}

/* --- samples -------------------------------------------------------------- */

static struct span
header_of(void *arg, const char *name)
{
	const struct sample *sample = arg;
	struct span line, given;

	for (unsigned i = 0; i < sample->header_count; i++) {
		line = sample->headers[i];
		given = span_sub(line, 0, span_find(line, ':'));
		if (span_eq_nocase(given, span_of(name)))
			return span_trim(span_from(line, given.len + 1));
	}
	return SPAN("");
}

static void
note_family(void *arg, const struct family *family, struct jval object)
{
	struct sample *sample = arg;

	(void)object;
	if (sample->family[0] == '\0')
		snprintf(
		    sample->family, sizeof(sample->family), "%s", family->name);
}

static void
note_nothing(void *arg, enum field field, const char *path, struct jval value)
{
	(void)arg;
	(void)field;
	(void)path;
	(void)value;
}

/* Limits that no sample may exceed. */
static void
check_manners(const struct sample *sample, const struct event *event)
{
	ck_assert_msg(!span_starts(event->text, SPAN("{")) &&
		!span_starts(event->title, SPAN("{")),
	    "%s:%u: raw JSON", sample->file, sample->line);
	ck_assert_msg(
	    event->text.len > 0, "%s:%u: no text", sample->file, sample->line);
	ck_assert_msg(
	    event->status != STATUS_ERROR || event->priority >= PRIORITY_HIGH,
	    "%s:%u: failed in silence", sample->file, sample->line);
}

static void
compare(
    const struct sample *sample, const struct event *event, struct span wanted)
{
	const struct event_place place = {
	    .seq = 1, .epoch = "E", .push = SPAN("p"), .count = 1};
	struct jscan want, record;
	struct jval name, value, found;
	struct jwalk walk;
	struct jsonw json;
	struct buf text;
	char key[64];

	buf_init(&text, 1 << 20);
	jsonw_init(&json, &text);
	event_write(&json, event, &place);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	ck_assert_int_eq(
	    jscan_parse(&record, buf_span(&text), 64, NULL), ERR_OK);
	ck_assert_msg(jscan_parse(&want, wanted, 16, NULL) == ERR_OK,
	    "%s:%u: no JSON", sample->file, sample->line);
	walk = jwalk_begin(jscan_root(&want));
	while (jwalk_next(&walk, &name, &value)) {
		ck_assert(span_copy(key, sizeof(key), jval_text(name, arena)));
		found = jval_member(jscan_root(&record), key);
		ck_assert_msg(span_eq(jval_raw(found), jval_raw(value)),
		    "%s:%u: %s is %.*s, not %.*s", sample->file, sample->line,
		    key, SPAN_ARG(jval_raw(found)), SPAN_ARG(jval_raw(value)));
	}
	jscan_fini(&want);
	jscan_fini(&record);
	buf_fini(&text);
}

/* "FAMILY {...}" */
static void
check_sample(struct sample *sample, struct span want)
{
	const struct trace trace = {
	    .event = note_family, .took = note_nothing, .arg = sample};
	const struct hints hints = {.recipes = recipes,
	    .suffix = sample->rest,
	    .header = header_of,
	    .header_arg = sample,
	    .trace = &trace};
	struct span family = span_sub(want, 0, span_find(want, ' '));
	struct events events;
	struct jscan doc;

	sample->family[0] = '\0';
	ck_assert_msg(jscan_parse(&doc, sample->push, 64, NULL) == ERR_OK,
	    "%s:%u: no JSON", sample->file, sample->line);
	ck_assert_int_eq(
	    normalise(&events, jscan_root(&doc), &hints, arena), ERR_OK);
	ck_assert_msg(span_eq(family, SPAN("-")) ||
		span_eq(family, span_of(sample->family)),
	    "%s:%u: taken by %s", sample->file, sample->line, sample->family);
	check_manners(sample, events.list[0]);
	compare(sample, events.list[0], span_from(want, family.len + 1));
	jscan_fini(&doc);
}

static unsigned
check_samples(const char *file, struct span text)
{
	struct sample sample = {.file = file};
	unsigned count = 0;
	struct span line;

	while (span_cut(&line, &text, '\n')) {
		sample.line++;
		if (span_starts(line, SPAN("header ")))
			sample.headers[sample.header_count++ % HEADERS_MAX] =
			    span_from(line, 7);
		else if (span_starts(line, SPAN("rest ")))
			sample.rest = span_from(line, 5);
		else if (span_starts(line, SPAN("push ")))
			sample.push = span_from(line, 5);
		else if (span_starts(line, SPAN("want "))) {
			check_sample(&sample, span_from(line, 5));
			sample.header_count = 0;
			sample.rest = SPAN("");
			count++;
		} else
			ck_assert_msg(line.len == 0 || line.ptr[0] == '#',
			    "%s:%u: not known", file, sample.line);
	}
	return count;
}

START_TEST(samples_of_real_senders_are_understood)
{
	char folder[FS_PATH_MAX], path[FS_PATH_MAX];
	struct dirent *entry;
	unsigned count = 0;
	struct buf text;
	DIR *dir;

	ck_assert_int_eq(
	    fs_path(
		folder, "%s/tests/tools/gridhook/events/samples", top_folder()),
	    ERR_OK);
	dir = opendir(folder);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!span_ends(span_of(entry->d_name), SPAN(".sample")))
			continue;
		ck_assert_int_eq(
		    fs_path(path, "%s/%s", folder, entry->d_name), ERR_OK);
		buf_init(&text, 1 << 20);
		ck_assert_int_eq(fs_read(&text, path), ERR_OK);
		count += check_samples(entry->d_name, buf_span(&text));
		buf_fini(&text);
	}
	closedir(dir);
	ck_assert_uint_ge(count, 60);
}
END_TEST

/* --- the reader ----------------------------------------------------------- */

static const struct {
	const char *text;
	const char *place; /* and of the message, a part */
	const char *message;
} refused[] = {
    {"title a\n", "f:2", "no match"},
    {"match a present\n", "f:2", "no title"},
    {"match a present\ntitel a\n", "f:2", "\"titel\" is no statement"},
    {"# x\n\nmatch a is\n", "f:3", "\"is\" is no condition"},
    {"match a =\n", "f:1", "a word to compare"},
    {"match a..b present\n", "f:1", "a name is missing"},
    {"match a| present\n", "f:1", "a path is missing"},
    {"match\n", "f:1", "a path is missing"},
    {"match \"a\" present\n", "f:1", "a path is missing"},
    {"match a present b\n", "f:1", "\"b\" is too much"},
    {"or\n", "f:1", "between matches"},
    {"match a present\nor\ntitle a\n", "f:4", "no match"},
    {"kind alarm\n", "f:1", "\"alarm\" is no kind"},
    {"kind job\nkind job\n", "f:2", "given above"},
    {"match a present\ntitle \"x\n", "f:2", "quotation mark"},
    {"match a present\ntitle \"x\\q\"\n", "f:2", "is not known"},
    {"match a present\ntitle \"{a\"\n", "f:2", "no } behind"},
    {"match a present\ntitle \"a}\"\n", "f:2", "no { before"},
    {"match a present\ntitle \"[a\"\n", "f:2", "no ] behind"},
    {"match a present\ntitle \"a]\"\n", "f:2", "no [ before"},
    {"match a present\ntitle \"[a[b]]\"\n", "f:2", "within another"},
    {"match a present\ntitle \"\"\n", "f:2", "empty text"},
    {"match a present\ntitle \"a\"b\n", "f:2", "blank is missing"},
    {"match a present\ntime \"now\"\n", "f:2", "a path is missing"},
    {"match a present\ntitle a when\n", "f:2", "a path is missing"},
    {"word colour red = high\n", "f:1", "\"word status\""},
    {"word status red\n", "f:1", "is wanted"},
    {"word status red = purple\n", "f:1", "\"purple\" is no status"},
    {"match header:Authorization present\n", "f:1", "cannot read"},
    {"match header:a_b present\n", "f:1", "no header"},
    {"match a present\ntitle \xFF\n", "f:0", "no UTF-8"},
    {"each a\neach b\n", "f:2", "given above"},
    {"each a|b\n", "f:1", "one list"},
    {"each header:X-A\n", "f:1", "one list"},
    {"match a present\nlines $.a \"{b}\"\n", "f:2", "one list"},
};

START_TEST(faults_name_the_line)
{
	struct fault fault = {.place = ""};
	struct recipes *own = recipes_new();

	ck_assert_ptr_nonnull(own);
	ck_assert_int_eq(
	    recipes_add(own, "x", "f", span_of(refused[_i].text), &fault),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, refused[_i].place);
	ck_assert_msg(strstr(fault.message, refused[_i].message) != NULL,
	    "\"%s\" has no \"%s\"", fault.message, refused[_i].message);
	ck_assert_uint_eq(recipes_count(own), 0);
	recipes_free(own);
}
END_TEST

/* The event that a family of one's own makes of a push. */
static struct event *
take(struct recipes *own, struct jscan *doc, const char *family,
    const char *push, unsigned which, unsigned count)
{
	struct fault fault = {.place = ""};
	const struct hints hints = {.recipes = own};
	struct events events;
	enum err err = recipes_add(own, "mine", "f", span_of(family), &fault);

	ck_assert_msg(err == ERR_OK, "%s: %s", fault.place, fault.message);
	ck_assert_int_eq(jscan_parse(doc, span_of(push), 64, NULL), ERR_OK);
	ck_assert_int_eq(
	    normalise(&events, jscan_root(doc), &hints, arena), ERR_OK);
	ck_assert_uint_eq(events.count, count);
	return events.list[which];
}

static const struct {
	const char *family, *push;
	const char *title, *text;
	enum event_status status;
	enum event_priority priority;
} taken[] = {
    /* the first that is there, brackets, escapes */
    {"match a present\ntitle b|c\ntext \"{a}[ by {x}][ at \\\"{c}\\\"]\"",
	"{\"a\":\"A\",\"c\":7}", "7", "A at \"7\"", STATUS_NONE,
	PRIORITY_UNSET},
    /* a missing member passes a line by */
    {"match a present\ntitle \"{b}!\"\ntitle \"{a}?\"\ntext a", "{\"a\":1}",
	"1?", "1", STATUS_NONE, PRIORITY_UNSET},
    /* conditions and constants */
    {"match a present\ntext a\nstatus \"error\" when a = x bad and b absent",
	"{\"a\":\"BAD\"}", "", "BAD", STATUS_ERROR, PRIORITY_HIGH},
    {"match a present\ntext a\nstatus \"error\" when a != bad",
	"{\"a\":\"bad\"}", "", "bad", STATUS_NONE, PRIORITY_UNSET},
    {"match a starts b and a ends d and a contains c\ntext a",
	"{\"a\":\"bcd\"}", "", "bcd", STATUS_NONE, PRIORITY_UNSET},
    /* words */
    {"match a present\ntext a\nstatus a\nword status red dark = error",
	"{\"a\":\"Dark\"}", "", "Dark", STATUS_ERROR, PRIORITY_HIGH},
    {"match a present\ntext a\npriority a\nword priority p1 = critical",
	"{\"a\":\"P1\"}", "", "P1", STATUS_NONE, PRIORITY_CRITICAL},
    {"match a present\ntext a\nseverity a", "{\"a\":\"major\"}", "", "major",
	STATUS_NONE, PRIORITY_HIGH},
    /* lines, through lists */
    {"match a present\ntext t\nline \"{u}\"\nlines a.*.b \"{c}\"",
	"{\"t\":\"T\",\"a\":[{\"b\":[{\"c\":1},{\"c\":2}]},5,{\"b\":{\"c\":3}}"
	"]}",
	"", "T\n1\n2\n3", STATUS_NONE, PRIORITY_UNSET},
    /* elements by number, lists of texts, objects are no text */
    {"match a list\ntitle a.1.b\ntext \"{a.2}[ {o}]\"",
	"{\"a\":[0,{\"b\":\"B\"},[\"x\",\"y\",{}]],\"o\":{\"p\":1}}", "B",
	"x, y", STATUS_NONE, PRIORITY_UNSET},
    /* or; empty lists match nothing */
    {"match a list\nor\nmatch b present\ntext b", "{\"a\":[],\"b\":\"B\"}", "",
	"B", STATUS_NONE, PRIORITY_UNSET},
    /* escaped names */
    {"match ab present\ntitle ab\ntext ab", "{\"\\u0061b\":\"x\"}", "x", "x",
	STATUS_NONE, PRIORITY_UNSET},
};

START_TEST(statements_do_as_the_page_says)
{
	struct recipes *own = recipes_new();
	struct jscan doc;
	struct event *event =
	    take(own, &doc, taken[_i].family, taken[_i].push, 0, 1);

	ck_assert_msg(span_eq(event->title, span_of(taken[_i].title)),
	    "title is %.*s", SPAN_ARG(event->title));
	ck_assert_msg(span_eq(event->text, span_of(taken[_i].text)),
	    "text is %.*s", SPAN_ARG(event->text));
	ck_assert_int_eq(event->status, taken[_i].status);
	ck_assert_int_eq(event->priority, taken[_i].priority);
	ck_assert(span_eq(event->source, SPAN("mine")));
	jscan_fini(&doc);
	recipes_free(own);
}
END_TEST

START_TEST(a_list_becomes_several_events)
{
	struct recipes *own = recipes_new();
	struct jscan doc;
	struct event *event = take(own, &doc,
	    "kind job\nmatch host present and items list\neach items\n"
	    "title \"{n} on {$.host}\"\ntext n\nstatus s\njob n",
	    "{\"host\":\"h\",\"items\":[{\"n\":\"a\"},{\"n\":\"b\","
	    "\"s\":\"failed\"}]}",
	    1, 2);

	ck_assert(span_eq(event->title, SPAN("b on h")));
	ck_assert_int_eq(event->kind, EVENT_JOB);
	ck_assert_int_eq(event->speak, FLAG_YES);
	ck_assert(span_eq(event->job_name, SPAN("b")));
	jscan_fini(&doc);
	recipes_free(own);
}
END_TEST

START_TEST(what_is_not_theirs_stays_with_others)
{
	struct recipes *own = recipes_new();
	struct jscan doc;
	struct event *event = take(own, &doc, "match mine = yes\ntext \"mine\"",
	    "{\"mine\":\"no\",\"text\":\"other\"}", 0, 1);

	ck_assert(span_eq(event->text, SPAN("other")));
	jscan_fini(&doc);
	recipes_free(own);
}
END_TEST

/* --- ceilings and folders ------------------------------------------------- */

START_TEST(ceilings_hold)
{
	struct recipes *own = recipes_new();
	struct fault fault = {.place = ""};
	struct buf text;
	char name[16];

	buf_init(&text, 1 << 20);
	buf_add_text(&text, "match a present\n");
	for (int i = 0; i < RECIPE_RULES_MAX; i++)
		buf_add_text(&text, "title a\n");
	ck_assert_int_eq(
	    recipes_add(own, "x", "f", buf_span(&text), &fault), ERR_BAD_INPUT);
	buf_clear(&text);
	fault_clear(&fault);
	buf_add_text(&text, "match a present\ntitle ");
	for (int i = 0; i < RECIPE_LINE_MAX; i++)
		buf_add_char(&text, 'a');
	ck_assert_int_eq(
	    recipes_add(own, "x", "f", buf_span(&text), &fault), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "f:2");
	buf_clear(&text);
	fault_clear(&fault);
	for (int i = 0; i <= RECIPE_FILE_MAX; i++)
		buf_add_char(&text, '\n');
	ck_assert_int_eq(
	    recipes_add(own, "x", "f", buf_span(&text), &fault), ERR_BAD_INPUT);
	fault_clear(&fault);
	for (int i = 0; i < RECIPES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_int_eq(recipes_add(own, name, "f",
				     SPAN("match a present\ntext a"), &fault),
		    ERR_OK);
	}
	ck_assert_int_eq(recipes_add(own, "more", "f",
			     SPAN("match a present\ntext a"), &fault),
	    ERR_TOO_LARGE);
	buf_fini(&text);
	recipes_free(own);
}
END_TEST

static char logged[512];

static void
catch_line(enum log_level level, const char *line)
{
	(void)level;
	snprintf(logged, sizeof(logged), "%s", line);
}

static void
put_file(const char *folder, const char *name, const char *text)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%s", folder, name), ERR_OK);
	ck_assert_int_eq(fs_replace(path, span_of(text), 0600), ERR_OK);
}

START_TEST(a_wrong_file_is_left_out_and_logged)
{
	char folder[] = "/tmp/families-XXXXXX";
	struct recipes *own = recipes_new();

	ck_assert_ptr_nonnull(mkdtemp(folder));
	put_file(folder, "a.family", "match a present\ntext a\n");
	put_file(folder, "b.family", "match b present\nnonsense\n");
	put_file(folder, "c.family", "match c present\ntext c\n");
	put_file(folder, "README", "nonsense");
	log_open("test", LOG_INFO_);
	log_catch(catch_line);
	ck_assert(!recipes_add_folder(own, folder));
	log_catch(NULL);
	ck_assert_uint_eq(recipes_count(own), 2);
	ck_assert_msg(
	    strstr(logged, "/b.family:2: \"nonsense\"") != NULL, "%s", logged);
	/* The same name again changes nothing, a missing folder neither. */
	ck_assert_int_eq(
	    recipes_add(own, "a", "f", SPAN("not even right"), NULL), ERR_OK);
	ck_assert(recipes_add_folder(own, "/nowhere/at/all"));
	ck_assert_uint_eq(recipes_count(own), 2);
	fs_remove_tree(folder);
	recipes_free(own);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook recipe");
	TCase *tc = tcase_create("recipe");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, samples_of_real_senders_are_understood);
	tcase_add_loop_test(tc, faults_name_the_line, 0, COUNT(refused));
	tcase_add_loop_test(
	    tc, statements_do_as_the_page_says, 0, COUNT(taken));
	tcase_add_test(tc, a_list_becomes_several_events);
	tcase_add_test(tc, what_is_not_theirs_stays_with_others);
	tcase_add_test(tc, ceilings_hold);
	tcase_add_test(tc, a_wrong_file_is_left_out_and_logged);
	suite_add_tcase(suite, tc);
	return suite;
}
