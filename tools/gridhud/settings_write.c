/*
 * Changes of the settings file: the line of a setting is replaced, or joins its
 * section; comments and all else stay. The file is checked before it takes the
 * old one's place.
 */
#include "tools/gridhud/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

struct change {
	struct span section, name, value;
	bool in_section, done;
	size_t section_end; /* of what was written: behind its last line */
};

/* "[section]" of a line; a zero span for any other. */
static struct span
section_of(struct span line)
{
	line = span_trim(line);
	if (line.len < 2 || line.ptr[0] != '[')
		return (struct span){.ptr = NULL};
	return span_sub(line, 1, span_find(line, ']') - 1);
}

static bool
is_setting(struct span line, struct span name)
{
	size_t equals = span_find(line, '=');

	return equals < line.len &&
	    span_eq(span_trim(span_sub(line, 0, equals)), name);
}

static void
put_setting(struct buf *buf, struct change *change)
{
	buf_addf(buf, "%.*s = %.*s\n", SPAN_ARG(change->name),
	    SPAN_ARG(change->value));
	change->done = true;
}

static void
take_line(struct buf *buf, struct span line, struct change *change)
{
	struct span section = section_of(line);

	if (section.ptr != NULL)
		change->in_section = span_eq(section, change->section);
	else if (change->in_section && is_setting(line, change->name)) {
		if (!change->done)
			put_setting(buf, change);
		change->section_end = buf->len;
		return;
	}
	buf_add_span(buf, line);
	buf_add_char(buf, '\n');
	if (change->in_section && span_trim(line).len > 0)
		change->section_end = buf->len;
}

/* Behind the last line of its section, or in a new one at the end. */
static enum err
put_missing(struct buf *buf, struct change *change)
{
	struct buf rest;
	enum err err;

	if (change->section_end == 0) {
		buf_addf(buf, "%s[%.*s]\n", buf->len > 0 ? "\n" : "",
		    SPAN_ARG(change->section));
		put_setting(buf, change);
		return buf_end(buf);
	}
	buf_init(&rest, FILE_MAX);
	buf_add_span(&rest, span_from(buf_span(buf), change->section_end));
	err = buf_end(&rest);
	if (err == ERR_OK) {
		buf->len = change->section_end;
		put_setting(buf, change);
		buf_add_span(buf, buf_span(&rest));
		err = buf_end(buf);
	}
	buf_fini(&rest);
	return err;
}

static enum err
rewrite(struct buf *out, const char *path, struct change *change)
{
	struct span rest, line;
	struct buf old;
	enum err err;

	buf_init(&old, FILE_MAX);
	err = fs_read(&old, path);
	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	rest = buf_span(&old);
	while (err == ERR_OK && rest.len > 0 && span_cut(&line, &rest, '\n'))
		take_line(out, line, change);
	if (err == ERR_OK && !change->done)
		err = put_missing(out, change);
	buf_fini(&old);
	return err == ERR_OK ? buf_end(out) : err;
}

/* A value may be read otherwise than it was written: " ;" begins a comment. */
static enum err
check_file(const char *path, const struct change *change, struct fault *fault)
{
	struct hud_settings settings;
	struct buf value;
	enum err err = settings_load(&settings, path, fault);

	buf_init(&value, FILE_MAX);
	if (err == ERR_OK) {
		settings_value(
		    &settings, change->section, change->name, &value);
		err = buf_end(&value);
		if (err == ERR_OK &&
		    !span_eq(buf_span(&value), change->value)) {
			fault_set(fault, "the value",
			    "cannot be written in a settings file");
			err = ERR_BAD_INPUT;
		}
	}
	buf_fini(&value);
	settings_fini(&settings);
	return err;
}

static enum err
write_file(const char *path, struct span text)
{
	FILE *file = fopen(path, "we");
	enum err err = ERR_OK;

	if (file == NULL)
		return err_from_errno(errno);
	if (fwrite(text.ptr, 1, text.len, file) != text.len ||
	    fflush(file) != 0 || fsync(fileno(file)) != 0)
		err = err_from_errno(errno);
	if (fclose(file) != 0 && err == ERR_OK)
		err = err_from_errno(errno);
	return err;
}

/* The file itself, where the path is a link; it keeps its mode. */
static enum err
publish(const char *path, struct span text, const struct change *change,
    struct fault *fault)
{
	char real[FS_PATH_MAX], part[FS_PATH_MAX];
	char *found = realpath(path, NULL);
	struct stat st;
	enum err err = fs_path(real, "%s", found == NULL ? path : found);

	free(found);
	if (err == ERR_OK)
		err = fs_path(part, "%s.part", real);
	if (err != ERR_OK)
		return err;
	err = write_file(part, text);
	if (err == ERR_OK && stat(real, &st) == 0 &&
	    chmod(part, st.st_mode & 07777) != 0)
		err = err_from_errno(errno);
	if (err == ERR_OK)
		err = check_file(part, change, fault);
	if (err == ERR_OK)
		err = fs_publish(part, real);
	if (err != ERR_OK)
		unlink(part);
	return err;
}

enum err
settings_change(const char *given, struct span section, struct span name,
    struct span value, struct fault *fault)
{
	struct change change = {
	    .section = section, .name = name, .value = span_trim(value)};
	char path[FS_PATH_MAX];
	struct buf text;
	enum err err = settings_path(path, given);

	assert(section.len > 0 && name.len > 0);
	if (span_find(value, '\n') < value.len) {
		fault_set(fault, "the value", "has more than one line");
		return ERR_BAD_INPUT;
	}
	buf_init(&text, FILE_MAX);
	if (err == ERR_OK)
		err = rewrite(&text, path, &change);
	if (err == ERR_OK)
		err = publish(path, buf_span(&text), &change, fault);
	if (err != ERR_OK && fault->message[0] == '\0')
		fault_set(fault, path, "cannot be written: %s", err_text(err));
	buf_fini(&text);
	return err;
}
