/*
 * conf_file: a settings file. inih parses the lines, but receives them one at a time. So the line number of
 * each value is known; a line longer than inih's buffer is reported instead of
 * cut, and an indented line is not joined to the line before it.
 */
#include "common/conf_priv.h"

#include <assert.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/span.h"

#define FILE_MAX_BYTES (1 << 20)
#define TEXT_MAX 4096

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
	    conf_find(reading->rows, reading->count, name, NULL) == NULL)
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

	check_once(
	    reading, conf_find(reading->rows, reading->count, section, name));
	if (reading->err != ERR_OK)
		return 0;
	place_of(place, sizeof(place), reading);
	reading->err = conf_set_at(reading->settings, reading->rows,
	    reading->count, section, name, value, place, reading->fault);
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
