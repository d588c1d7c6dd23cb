#include "common/conf_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/num.h"
#include "common/opt.h"
#include "common/span.h"

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

const struct conf_row *
conf_find(const struct conf_row *rows, size_t count, const char *section,
    const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].section, section) == 0 &&
		    (name == NULL || strcmp(rows[i].name, name) == 0))
			return &rows[i];
	return NULL;
}

enum err
conf_set_at(void *settings, const struct conf_row *rows, size_t count,
    const char *section, const char *name, const char *value, const char *place,
    struct fault *fault)
{
	const struct conf_row *row = conf_find(rows, count, section, name);

	if (row != NULL)
		return apply(settings, row, value, place, fault);
	if (names_setting(place))
		fault_set(fault, place, "there is no such setting");
	else if (conf_find(rows, count, section, NULL) != NULL)
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
	return conf_set_at(
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
