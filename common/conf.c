/*
 * inih parses the lines, but receives them one at a time. So the line number of
 * each value is known; a line longer than inih's buffer is reported instead of
 * cut, and an indented line is not joined to the line before it.
 */
#include "common/conf.h"

#include <assert.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/num.h"
#include "common/opt.h"
#include "common/span.h"

#define FILE_MAX_BYTES (1 << 20)
#define TEXT_MAX 4096

/* --- one value ------------------------------------------------------------ */

static void *
member(void *settings, const struct conf_row *row)
{
	return (char *)settings + row->offset;
}

/* Both limits 0: any value that the type can hold. */
static bool
in_range(const struct conf_row *row, int64_t value)
{
	return (row->min == 0 && row->max == 0) ||
	    (value >= row->min && value <= row->max);
}

static bool
read_text(void *to, const struct conf_row *row, const char *text)
{
	char **old = to;
	char *copy;

	if (!in_range(row, (int64_t)strlen(text)))
		return false;
	copy = strdup(text);
	if (copy == NULL)
		return false;
	free(*old);
	*old = copy;
	return true;
}

static bool
keep_number(void *to, const struct conf_row *row, int64_t value)
{
	if (!in_range(row, value))
		return false;
	*(int64_t *)to = value;
	return true;
}

static bool
read_int(void *to, const struct conf_row *row, const char *text)
{
	int64_t value;

	return num_int(&value, span_of(text), INT64_MIN + 1, INT64_MAX) &&
	    keep_number(to, row, value);
}

static bool
read_seconds(void *to, const struct conf_row *row, const char *text)
{
	int64_t value;

	return opt_seconds(&value, text) && keep_number(to, row, value);
}

static bool
read_size(void *to, const struct conf_row *row, const char *text)
{
	static const char units[] = "KMGT";
	struct span span = span_of(text);
	int64_t each = 1;
	int64_t value;

	for (int i = 0; units[i] != '\0' && span.len > 0; i++) {
		if (span.ptr[span.len - 1] != units[i])
			continue;
		each = INT64_C(1) << (10 * (i + 1));
		span.len--;
		break;
	}
	return num_int(&value, span, 0, INT64_MAX / each) &&
	    keep_number(to, row, value * each);
}

static bool
read_bool(void *to, const struct conf_row *row, const char *text)
{
	static const char *const words[] = {
	    "no", "yes", "false", "true", "off", "on", "0", "1"};

	(void)row;
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!span_eq_nocase(span_of(text), span_of(words[i])))
			continue;
		*(bool *)to = i % 2 == 1;
		return true;
	}
	return false;
}

static bool
read_choice(void *to, const struct conf_row *row, const char *text)
{
	for (int i = 0; row->choices[i] != NULL; i++) {
		if (strcmp(row->choices[i], text) != 0)
			continue;
		*(int *)to = i;
		return true;
	}
	return false;
}

static const struct {
	bool (*read)(void *to, const struct conf_row *row, const char *text);
	const char *what;
	const char *unit; /* printed after min and max; NULL: none */
} types[] = {
    [CONF_TEXT] = {read_text, "a text", " bytes long"},
    [CONF_INT] = {read_int, "a whole number", ""},
    [CONF_BOOL] = {read_bool, "yes or no", NULL},
    [CONF_SIZE] = {read_size, "a size such as 512, 64M or 2G", " bytes"},
    [CONF_SECONDS] = {read_seconds, "a time such as 90, 15m, 12h or 3d",
	" seconds"},
    [CONF_CHOICE] = {read_choice, "one of", NULL},
};

/* "a whole number from 1 to 64", "one of fast, safe". */
static char *
describe(const struct conf_row *row)
{
	const char *unit = types[row->type].unit;
	struct buf buf;
	size_t len;
	char *text;

	buf_init(&buf, TEXT_MAX);
	buf_addf(&buf, "%s", types[row->type].what);
	for (int i = 0; row->type == CONF_CHOICE && row->choices[i]; i++)
		buf_addf(&buf, "%s%s", i == 0 ? " " : ", ", row->choices[i]);
	if (unit != NULL && (row->min != 0 || row->max != 0))
		buf_addf(&buf, " from %lld to %lld%s", (long long)row->min,
		    (long long)row->max, unit);
	text = buf_take(&buf, &len);
	buf_fini(&buf);
	return text;
}

/* The place is "[section] name", not a line of a file. */
static bool
names_setting(const char *place)
{
	return place[0] == '[';
}

static enum err
refuse(const struct conf_row *row, const char *value, const char *place,
    struct fault *fault)
{
	char *text = describe(row);
	const char *what = text == NULL ? types[row->type].what : text;

	if (names_setting(place))
		fault_set(fault, place, "must be %s, not \"%s\"", what, value);
	else
		fault_set(fault, place, "[%s] %s must be %s, not \"%s\"",
		    row->section, row->name, what, value);
	free(text);
	return text == NULL ? ERR_NO_MEMORY : ERR_BAD_INPUT;
}

static enum err
apply(void *settings, const struct conf_row *row, const char *value,
    const char *place, struct fault *fault)
{
	if (types[row->type].read(member(settings, row), row, value))
		return ERR_OK;
	return refuse(row, value, place, fault);
}

static const struct conf_row *
find(const struct conf_row *rows, size_t count, const char *section,
    const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].section, section) == 0 &&
		    (name == NULL || strcmp(rows[i].name, name) == 0))
			return &rows[i];
	return NULL;
}

static enum err
set_at(void *settings, const struct conf_row *rows, size_t count,
    const char *section, const char *name, const char *value, const char *place,
    struct fault *fault)
{
	const struct conf_row *row = find(rows, count, section, name);

	if (row != NULL)
		return apply(settings, row, value, place, fault);
	if (names_setting(place))
		fault_set(fault, place, "there is no such setting");
	else if (find(rows, count, section, NULL) != NULL)
		fault_set(fault, place, "[%s] has no setting named \"%s\"",
		    section, name);
	else if (section[0] == '\0')
		fault_set(
		    fault, place, "\"%s\" stands before any [section]", name);
	else
		fault_set(fault, place, "there is no section [%s]", section);
	return ERR_BAD_INPUT;
}

/* --- the calls ------------------------------------------------------------ */

enum err
conf_set(void *settings, const struct conf_row *rows, size_t count,
    const char *section, const char *name, const char *value,
    struct fault *fault)
{
	char place[sizeof(fault->place)];

	assert(section != NULL && name != NULL && value != NULL);
	snprintf(place, sizeof(place), "[%s] %s", section, name);
	return set_at(
	    settings, rows, count, section, name, value, place, fault);
}

enum err
conf_defaults(void *settings, const struct conf_row *rows, size_t count,
    struct fault *fault)
{
	enum err err = ERR_OK;

	assert(settings != NULL && (rows != NULL || count == 0));
	/* conf_fini() must be safe even when a default fails. */
	for (size_t i = 0; i < count; i++)
		if (rows[i].type == CONF_TEXT)
			*(char **)member(settings, &rows[i]) = NULL;
	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		char place[sizeof(fault->place)];

		if (rows[i].fallback == NULL && rows[i].type == CONF_TEXT)
			continue;
		snprintf(place, sizeof(place), "default of [%s] %s",
		    rows[i].section, rows[i].name);
		err = apply(settings, &rows[i],
		    rows[i].fallback == NULL ? "" : rows[i].fallback, place,
		    fault);
	}
	return err;
}

void
conf_fini(void *settings, const struct conf_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char **text = member(settings, &rows[i]);

		if (rows[i].type != CONF_TEXT)
			continue;
		free(*text);
		*text = NULL;
	}
}

/* --- a file --------------------------------------------------------------- */

struct reading {
	void *settings;
	const struct conf_row *rows;
	size_t count;
	const char *path;
	struct fault *fault;
	struct span rest; /* lines that were not handed out yet */
	unsigned line;
	/* The line that has set each row, or 0; NULL where the last one counts. */
	unsigned *set_at;
	conf_twice *twice; /* NULL: a second value is refused */
	void *context;
	enum err err;
};

static void
place_of(char *place, size_t size, const struct reading *reading)
{
	snprintf(place, size, "%s:%u", reading->path, reading->line);
}

__attribute__((format(printf, 2, 3))) static void
bad_line(struct reading *reading, const char *format, ...)
{
	char place[sizeof(reading->fault->place)], text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	place_of(place, sizeof(place), reading);
	fault_set(reading->fault, place, "%s", text);
	reading->err = ERR_BAD_INPUT;
}

/* "[pool]", followed by nothing but a comment. */
static void
check_section(struct reading *reading, struct span line)
{
	size_t end = span_find(line, ']');
	struct span after = span_trim(span_from(line, end + 1));
	struct span inside = span_sub(line, 1, end - 1);
	char name[64];

	if (end == line.len)
		bad_line(reading, "a section is written [name]");
	else if (after.len > 0 && after.ptr[0] != ';' && after.ptr[0] != '#')
		bad_line(reading, "nothing may follow a [section]");
	else if (!span_copy(name, sizeof(name), inside) ||
	    find(reading->rows, reading->count, name, NULL) == NULL)
		bad_line(
		    reading, "there is no section [%.*s]", SPAN_ARG(inside));
}

/*
 * Reject the forms with a colon: inih reads "name: value" as a setting and
 * splits "a: b = c" at its colon.
 */
static bool
is_pair(struct span line)
{
	size_t equals = span_find(line, '=');

	return equals > 0 && equals < line.len && span_find(line, ':') > equals;
}

static void
check_line(struct reading *reading, struct span line)
{
	if (line.len == 0 || line.ptr[0] == ';' || line.ptr[0] == '#')
		return;
	if (span_find(line, '\0') < line.len)
		bad_line(reading, "holds a zero byte");
	else if (line.ptr[0] == '[')
		check_section(reading, line);
	else if (!is_pair(line))
		bad_line(reading, "is neither \"name = value\" nor [section]");
}

/* inih's idea of fgets(): the next line, or NULL to stop. */
static char *
next_line(char *to, int size, void *context)
{
	struct reading *reading = context;
	struct span line;

	if (reading->err != ERR_OK || !span_cut(&line, &reading->rest, '\n'))
		return NULL;
	reading->line++;
	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	line = span_trim(line);
	check_line(reading, line);
	/* A comment of any length is fine: it is discarded. */
	if (line.len > 0 && (line.ptr[0] == '#' || line.ptr[0] == ';'))
		line.len = 0;
	if (reading->err == ERR_OK && !span_copy(to, (size_t)size - 1, line))
		bad_line(reading, "is too long");
	if (reading->err != ERR_OK)
		return NULL;
	memcpy(to + line.len, "\n", 2);
	return to;
}

static void
tell_twice(
    const struct reading *reading, const struct conf_row *row, unsigned before)
{
	char text[256];

	snprintf(text, sizeof(text),
	    "[%s] %s is set twice (lines %u and %u): the later one counts",
	    row->section, row->name, before, reading->line);
	reading->twice(reading->context, text);
}

/* Tells, or refuses, a second value for one setting. */
static void
check_once(struct reading *reading, const struct conf_row *row)
{
	unsigned *at;

	if (row == NULL || reading->set_at == NULL)
		return;
	at = &reading->set_at[row - reading->rows];
	if (*at != 0 && reading->twice == NULL)
		bad_line(reading,
		    "[%s] %s is set a second time, after line %u: remove one",
		    row->section, row->name, *at);
	else if (*at != 0)
		tell_twice(reading, row, *at);
	*at = reading->line;
}

static int
take_pair(
    void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	char place[sizeof(reading->fault->place)];

	check_once(reading, find(reading->rows, reading->count, section, name));
	if (reading->err != ERR_OK)
		return 0;
	place_of(place, sizeof(place), reading);
	reading->err = set_at(reading->settings, reading->rows, reading->count,
	    section, name, value, place, reading->fault);
	return reading->err == ERR_OK;
}

static enum err
read_file(struct reading *reading)
{
	struct buf buf;
	int line = 0;
	enum err err;

	buf_init(&buf, FILE_MAX_BYTES);
	err = fs_read(&buf, reading->path);
	if (err != ERR_OK) {
		fault_set(reading->fault, reading->path, "cannot be read: %s",
		    err_text(err));
		goto out;
	}
	reading->rest = buf_span(&buf);
	if (span_starts(reading->rest, SPAN("\xef\xbb\xbf")))
		reading->rest = span_from(reading->rest, 3);
	line = ini_parse_stream(next_line, reading, take_pair, reading);
	err = reading->err;
	if (err == ERR_OK && line != 0) {
		reading->line = line > 0 ? (unsigned)line : 0;
		bad_line(reading, "cannot be understood");
		err = line > 0 ? reading->err : ERR_NO_MEMORY;
	}
out:
	buf_fini(&buf);
	return err;
}

enum err
conf_read(void *settings, const struct conf_row *rows, size_t count,
    const char *path, struct fault *fault)
{
	struct reading reading = {.settings = settings,
	    .rows = rows,
	    .count = count,
	    .path = path,
	    .fault = fault};

	assert(path != NULL && (rows != NULL || count == 0));
	return read_file(&reading);
}

enum err
conf_read_telling(void *settings, const struct conf_row *rows, size_t count,
    const char *path, conf_twice *twice, void *context, struct fault *fault)
{
	struct reading reading = {.settings = settings,
	    .rows = rows,
	    .count = count,
	    .path = path,
	    .fault = fault,
	    .set_at = calloc(count + 1, sizeof(*reading.set_at)),
	    .twice = twice,
	    .context = context};
	enum err err;

	assert(path != NULL && (rows != NULL || count == 0));
	err = reading.set_at == NULL ? ERR_NO_MEMORY : read_file(&reading);
	free(reading.set_at);
	return err;
}

enum err
conf_read_once(void *settings, const struct conf_row *rows, size_t count,
    const char *path, struct fault *fault)
{
	return conf_read_telling(
	    settings, rows, count, path, NULL, NULL, fault);
}

/* --- the file of defaults ------------------------------------------------- */

static int
print_words(FILE *file, int at, const char *text)
{
	while (*text != '\0') {
		int word = (int)strcspn(text, " ");

		if (at == 0 || at + 1 + word > 79)
			at = fprintf(file, at == 0 ? "#" : "\n#");
		at += fprintf(file, " %.*s", word, text);
		text += word + (text[word] == ' ' ? 1 : 0);
	}
	return at;
}

static void
print_row(FILE *file, const struct conf_row *row)
{
	char *text = describe(row);
	int at = print_words(file, 0, row->help);

	if (text != NULL)
		print_words(file, print_words(file, at, "--"), text);
	fputc('\n', file);
	free(text);
	/* A setting without a default is written as its name alone. */
	if (row->fallback == NULL)
		fprintf(file, "#%s =\n", row->name);
	else
		fprintf(file, "%s = %s\n", row->name, row->fallback);
}

void
conf_print(FILE *file, const struct conf_row *rows, size_t count)
{
	assert(file != NULL);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(rows[i].section, rows[i - 1].section) != 0)
			fprintf(file, "%s[%s]\n", i == 0 ? "" : "\n",
			    rows[i].section);
		fputc('\n', file);
		print_row(file, &rows[i]);
	}
}
