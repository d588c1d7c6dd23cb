#include "common/opt.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/count.h"
#include "common/num.h"
#include "common/span.h"

#define HELP_COLUMN 26
#define LINE_COLUMNS 79

static const struct opt_row help_row = {
    .name = "--help", .letter = 'h', .help = "show this help and exit"};

static const struct unit {
	char letter;
	int64_t seconds;
} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

/* The state of reading one command line. */
struct reading {
	void *values;
	const struct opt_spec *spec;
	char **argv;
	int argc;
	int at; /* the next argument */
	int kept; /* operands that were moved to the front */
	enum opt_result result;
};

/* --- telling -------------------------------------------------------------- */

#define PROGRAM_MAX 64
#define HELP_MAX 512 /* of one option */
#define LIMIT_MAX 32

/* The next word of a usage line, or all of "[--data DIR]". */
static size_t
usage_word(const char *at)
{
	size_t bracket = strcspn(at, "]");

	if (strncmp(at, "[--", 3) == 0 && at[bracket] == ']')
		return bracket + 1;
	return strcspn(at, " ");
}

static bool
is_name(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)word[i]) &&
		    (i == 0 || word[i] != '-'))
			return false;
	return len > 0;
}

/* "gridctl import" of "gridctl [--data DIR] import [OPTION]... DIR". */
static void
program_of(char program[PROGRAM_MAX], const struct opt_spec *spec)
{
	const char *at = spec->usage;
	size_t len = 0;

	while (*at != '\0') {
		size_t word = usage_word(at);

		if (strncmp(at, "[--", 3) != 0) {
			if (!is_name(at, word) || len + word + 2 > PROGRAM_MAX)
				break;
			len +=
			    (size_t)snprintf(program + len, PROGRAM_MAX - len,
				"%s%.*s", len > 0 ? " " : "", (int)word, at);
		}
		at += word;
		at += *at == ' ' ? 1 : 0;
	}
	program[len] = '\0';
}

/*
 * fault_set() replaces control characters: an argument must not be able to
 * control the terminal.
 */
static void
wrong(struct reading *reading, const struct fault *fault)
{
	char program[PROGRAM_MAX];

	program_of(program, reading->spec);
	reading->result = OPT_WRONG;
	fprintf(stderr, "%s: %s; try '%s --help'\n", program, fault->message,
	    program);
}

#define wrong_about(reading, ...) \
	do { \
		struct fault fault_; \
		fault_clear(&fault_); \
		fault_set(&fault_, "", __VA_ARGS__); \
		wrong(reading, &fault_); \
	} while (0)

/*
 * Wraps words into lines that begin at `column`; the first line is already
 * indented.
 */
static void
print_wrapped(FILE *file, const char *text, int column)
{
	int at = column;

	while (*text != '\0') {
		int word = (int)strcspn(text, " ");

		if (at > column && at + 1 + word > LINE_COLUMNS) {
			fprintf(file, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', file);
			at++;
		}
		fprintf(file, "%.*s", word, text);
		at += word;
		text += word + (text[word] == ' ' ? 1 : 0);
	}
	fputc('\n', file);
}

/* A limit as it may be given: 3600 seconds are "1h". */
static void
limit_text(char text[LIMIT_MAX], const struct opt_row *row, int64_t limit)
{
	const struct unit *unit = units;

	for (size_t i = 0; i < COUNT(units) && limit > 0; i++)
		if (limit % units[i].seconds == 0)
			unit = &units[i];
	if (row->type == OPT_SECONDS)
		snprintf(text, LIMIT_MAX, "%lld%c",
		    (long long)(limit / unit->seconds), unit->letter);
	else
		snprintf(text, LIMIT_MAX, "%lld", (long long)limit);
}

/* The help of an option, with the limits of its number. */
static void
help_text(char text[HELP_MAX], const struct opt_row *row)
{
	char min[LIMIT_MAX], max[LIMIT_MAX];

	limit_text(min, row, row->min);
	limit_text(max, row, row->max);
	if (row->max == 0 || row->max == INT64_MAX)
		snprintf(text, HELP_MAX, "%s", row->help);
	else
		snprintf(text, HELP_MAX, "%s [%s to %s]", row->help, min, max);
}

static void
print_row(FILE *file, const struct opt_row *row)
{
	char help[HELP_MAX];
	char head[128];
	char letter[] = {'-', row->letter, ',', '\0'};
	int len;

	len = snprintf(head, sizeof(head), "  %3s %s%s%s",
	    row->letter == 0 ? "" : letter, row->name,
	    row->operand == NULL ? "" : " ",
	    row->operand == NULL ? "" : row->operand);
	fputs(head, file);
	if (len < HELP_COLUMN - 1)
		fprintf(file, "%*s", HELP_COLUMN - len, "");
	else
		fprintf(file, "\n%*s", HELP_COLUMN, "");
	help_text(help, row);
	print_wrapped(file, help, HELP_COLUMN);
}

void
opt_help(FILE *file, const struct opt_spec *spec)
{
	bool own_h = false;

	assert(file != NULL);
	fprintf(file, "usage: %s\n\n", spec->usage);
	print_wrapped(file, spec->about, 0);
	fputc('\n', file);
	for (size_t i = 0; i < spec->count; i++) {
		print_row(file, &spec->rows[i]);
		own_h = own_h || spec->rows[i].letter == 'h';
	}
	if (own_h)
		fprintf(file, "      %-*s%s\n", HELP_COLUMN - 6, help_row.name,
		    help_row.help);
	else
		print_row(file, &help_row);
}

/* --- values --------------------------------------------------------------- */

bool
opt_seconds(int64_t *out, const char *text)
{
	struct span span = span_of(text);
	int64_t each = 1;
	int64_t number;

	for (size_t i = 0; i < COUNT(units); i++) {
		if (span.len == 0 || span.ptr[span.len - 1] != units[i].letter)
			continue;
		each = units[i].seconds;
		span.len--;
		break;
	}
	if (!num_int(&number, span, 0, INT64_MAX / each))
		return false;
	*out = number * each;
	return true;
}

static void
set_number(struct reading *reading, const struct opt_row *row, int64_t *to,
    const char *text)
{
	bool any = row->min == 0 && row->max == 0;
	int64_t min = any ? INT64_MIN + 1 : row->min;
	int64_t max = any ? INT64_MAX : row->max;
	int64_t value = 0;
	bool good = row->type == OPT_SECONDS
	    ? opt_seconds(&value, text) && value >= min && value <= max
	    : num_int(&value, span_of(text), min, max);

	if (good) {
		*to = value;
		return;
	}
	if (row->type == OPT_SECONDS && any)
		wrong_about(reading,
		    "%s is a time such as 90, 15m, 12h or 3d, not \"%s\"",
		    row->name, text);
	else if (row->type == OPT_SECONDS)
		wrong_about(reading,
		    "%s is a time such as 90, 15m, 12h or 3d, from %lld to "
		    "%lld seconds, not \"%s\"",
		    row->name, (long long)min, (long long)max, text);
	else if (any)
		wrong_about(reading, "%s is a whole number, not \"%s\"",
		    row->name, text);
	else
		wrong_about(reading,
		    "%s is a whole number from %lld to %lld, not \"%s\"",
		    row->name, (long long)min, (long long)max, text);
}

static void
add_item(struct reading *reading, const struct opt_row *row,
    struct opt_list *list, const char *text)
{
	if (list->count < OPT_LIST_MAX)
		list->items[list->count++] = text;
	else
		wrong_about(reading, "%s may be given %d times at most",
		    row->name, OPT_LIST_MAX);
}

static void
set(struct reading *reading, const struct opt_row *row, const char *text)
{
	char *member = (char *)reading->values + row->offset;

	switch (row->type) {
	case OPT_FLAG:
		*(bool *)(void *)member = true;
		break;
	case OPT_TEXT:
		*(const char **)(void *)member = text;
		break;
	case OPT_INT:
	case OPT_SECONDS:
		set_number(reading, row, (int64_t *)(void *)member, text);
		break;
	case OPT_LIST:
		add_item(reading, row, (struct opt_list *)(void *)member, text);
		break;
	}
}

/* The next argument as an option's value, when the option has none attached. */
static const char *
next_value(struct reading *reading, const struct opt_row *row)
{
	if (reading->at < reading->argc)
		return reading->argv[reading->at++];
	wrong_about(reading, "option %s needs a value: %s %s", row->name,
	    row->name, row->operand == NULL ? "VALUE" : row->operand);
	return NULL;
}

/* --- arguments ------------------------------------------------------------ */

static void
read_long(struct reading *reading, const char *arg)
{
	const struct opt_spec *spec = reading->spec;
	struct span name = span_make(arg, strcspn(arg, "="));
	const char *value = arg[name.len] == '=' ? arg + name.len + 1 : NULL;
	const struct opt_row *row = NULL;

	for (size_t i = 0; i < spec->count && row == NULL; i++)
		if (span_eq(name, span_of(spec->rows[i].name)))
			row = &spec->rows[i];
	if (row == NULL && strcmp(arg, help_row.name) == 0)
		reading->result = OPT_HELP;
	else if (row == NULL)
		wrong_about(reading, "unknown option %.*s", SPAN_ARG(name));
	else if (row->type == OPT_FLAG && value != NULL)
		wrong_about(reading, "option %s takes no value", row->name);
	else if (row->type == OPT_FLAG)
		set(reading, row, NULL);
	else {
		if (value == NULL)
			value = next_value(reading, row);
		if (value != NULL)
			set(reading, row, value);
	}
}

/* "-qj2": letters of flags, up to one that takes the rest as its value. */
static void
read_letters(struct reading *reading, const char *letters)
{
	const struct opt_spec *spec = reading->spec;

	while (*letters != '\0' && reading->result == OPT_GO) {
		const struct opt_row *row = NULL;
		char letter = *letters++;

		for (size_t i = 0; i < spec->count && row == NULL; i++)
			if (spec->rows[i].letter == letter)
				row = &spec->rows[i];
		if (row == NULL && letter == help_row.letter)
			reading->result = OPT_HELP;
		else if (row == NULL)
			wrong_about(reading, "unknown option -%c", letter);
		else if (row->type == OPT_FLAG)
			set(reading, row, NULL);
		else {
			const char *value = *letters != '\0'
			    ? letters
			    : next_value(reading, row);

			if (value != NULL)
				set(reading, row, value);
			return;
		}
	}
}

static void
check_count(struct reading *reading)
{
	const struct opt_spec *spec = reading->spec;

	if (reading->kept < spec->args_min)
		wrong_about(reading, "an operand is missing: %s", spec->usage);
	else if (spec->args_max >= 0 && reading->kept > spec->args_max)
		wrong_about(reading, "unexpected operand \"%s\"",
		    reading->argv[1 + spec->args_max]);
}

/* Reads options up to the end, or to the first operand. */
static void
read_options(struct reading *reading, bool head)
{
	bool only_operands = false;

	while (reading->at < reading->argc && reading->result == OPT_GO) {
		char *arg = reading->argv[reading->at];

		if (only_operands || arg[0] != '-' || arg[1] == '\0') {
			if (head)
				return;
			reading->at++;
			reading->argv[1 + reading->kept++] = arg;
			continue;
		}
		reading->at++;
		if (strcmp(arg, "--") == 0)
			only_operands = true;
		else if (arg[1] == '-')
			read_long(reading, arg);
		else
			read_letters(reading, arg + 1);
	}
}

static enum opt_result
finish(struct reading *reading)
{
	if (reading->result == OPT_GO)
		check_count(reading);
	if (reading->result == OPT_HELP)
		opt_help(stdout, reading->spec);
	return reading->result;
}

enum opt_result
opt_read(void *values, const struct opt_spec *spec, int argc, char **argv,
    int *args_count)
{
	struct reading reading = {values, spec, argv, argc, 1, 0, OPT_GO};

	assert(spec->usage != NULL && args_count != NULL);
	read_options(&reading, false);
	*args_count = reading.kept;
	return finish(&reading);
}

bool
opt_go(int *code, void *values, const struct opt_spec *spec, int argc,
    char **argv, int *args_count)
{
	enum opt_result result = opt_read(values, spec, argc, argv, args_count);

	assert(code != NULL);
	if (result != OPT_GO)
		*code = result == OPT_HELP ? EXIT_SUCCESS : OPT_USAGE;
	return result == OPT_GO;
}

enum opt_result
opt_read_head(void *values, const struct opt_spec *spec, int argc, char **argv,
    int *first_operand)
{
	struct reading reading = {values, spec, argv, argc, 1, 0, OPT_GO};

	read_options(&reading, true);
	*first_operand = reading.at;
	/* The subcommand reads and counts the arguments after its name. */
	reading.kept = reading.at < argc ? spec->args_min : 0;
	return finish(&reading);
}
