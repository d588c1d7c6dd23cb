/*
 * exec: one pass over the line. A blank outside quotes ends an argument. In
 * double quotes a backslash takes the next of " ` $ \ as it is. Single quotes,
 * which the specification leaves out, are in real entries all the same, and
 * mean what GLib takes them for. A field code that stands for several
 * arguments, or none, is only read as one where it is a whole argument.
 *
 * The specification leaves open what a field code means in a quoted argument.
 * Such arguments are often scripts (sh -c "view %u"), so nothing is put into
 * them: a code is left out, and a caller's texts are refused.
 */
#include "tools/gridhook/tool/exec.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/buf.h"

#define ARGV_MAX 256
#define ARG_MAX_BYTES 65536

struct expansion {
	struct span line; /* the rest of it */
	const struct exec_fields *fields;
	struct arena *arena;
	struct fault *fault;
	struct buf arg; /* the argument being made */
	bool open; /* there is one, be it empty */
	bool quoted; /* some of it stood in quotes or behind a backslash */
	bool holds_text; /* of the caller's */
	bool takes_args; /* the line had a code for them */
	bool has_shell; /* an argument before this one is a shell */
	const char **argv;
	size_t count;
};

static enum err
refuse(struct expansion *x, const char *why)
{
	fault_set(x->fault, "Exec",
	    "not supported: the Exec line of this application %s", why);
	return ERR_BAD_INPUT;
}

static bool
is_shell(const char *program)
{
	static const char *const shells[] = {"ash", "bash", "busybox", "csh",
	    "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(slash == NULL ? program : slash + 1, shells[i]) == 0)
			return true;
	return false;
}

/* The argument behind "sh -c", "env X=1 bash -lc" and the like. */
static bool
is_script(const struct expansion *x)
{
	const char *before = x->count == 0 ? "" : x->argv[x->count - 1];

	return x->has_shell && before[0] == '-' && strchr(before, 'c') != NULL;
}

static enum err
push(struct expansion *x, struct span arg)
{
	struct span copy;

	if (x->count + 1 >= ARGV_MAX)
		return refuse(x, "has too many arguments");
	copy = arena_copy(x->arena, arg);
	if (copy.ptr == NULL)
		return ERR_NO_MEMORY;
	x->has_shell |= is_shell(copy.ptr);
	x->argv[x->count++] = copy.ptr;
	return ERR_OK;
}

/* Adds an argument that is, or ends in, a text of the caller's. */
static enum err
push_text(struct expansion *x, struct span arg)
{
	if (is_script(x))
		return refuse(x, "would have a shell run what is passed to it");
	return push(x, arg);
}

static enum err
end_arg(struct expansion *x)
{
	enum err err = buf_end(&x->arg);

	if (err == ERR_OK && x->holds_text && x->quoted)
		err = refuse(x, "has a field code in a quoted argument");
	if (err == ERR_OK && x->holds_text)
		err = push_text(x, buf_span(&x->arg));
	else if (err == ERR_OK && x->open)
		err = push(x, buf_span(&x->arg));
	buf_clear(&x->arg);
	x->open = false;
	x->quoted = false;
	x->holds_text = false;
	return err;
}

static enum err
push_files(struct expansion *x, size_t most)
{
	enum err err = ERR_OK;

	x->takes_args = true;
	if (x->fields->args_count > most) {
		fault_set(x->fault, "args",
		    "not allowed: this application takes one file at a time");
		return ERR_TOO_LARGE;
	}
	for (size_t i = 0; err == ERR_OK && i < x->fields->args_count; i++)
		err = push_text(x, x->fields->args[i]);
	return err;
}

static enum err
push_icon(struct expansion *x)
{
	enum err err;

	if (x->fields->icon.len == 0)
		return ERR_OK;
	err = push(x, SPAN("--icon"));
	return err != ERR_OK ? err : push(x, x->fields->icon);
}

/* Codes of older versions of the specification: to be left out. */
static bool
is_deprecated(char code)
{
	return code != '\0' && strchr("dDnNvm", code) != NULL;
}

/* A code inside a longer argument: text, or nothing. */
static enum err
add_code(struct expansion *x, char code)
{
	switch (code) {
	case '%':
		buf_add_char(&x->arg, '%');
		return ERR_OK;
	case 'c':
		buf_add_span(&x->arg, x->fields->name);
		return ERR_OK;
	case 'k':
		buf_add_span(&x->arg, x->fields->path);
		return ERR_OK;
	case 'f':
	case 'u':
		/* As in "--file=%f": the first, where there is one. */
		x->takes_args = true;
		if (x->fields->args_count > 1)
			return push_files(x, 1);
		if (x->fields->args_count == 1) {
			buf_add_span(&x->arg, x->fields->args[0]);
			x->holds_text = true;
		}
		return ERR_OK;
	default:
		if (is_deprecated(code))
			return ERR_OK;
		return refuse(x, "has a field code that is not known here");
	}
}

/* A code in quotes: left out, where it would not be a caller's text. */
static enum err
quoted_code(struct expansion *x, char code)
{
	if (code == '%')
		buf_add_char(&x->arg, '%');
	else if (code != '\0' && strchr("fFuU", code) != NULL) {
		if (x->fields->args_count > 0)
			return refuse(
			    x, "has a field code in a quoted argument");
		x->takes_args = true;
	} else if (code == '\0' ||
	    (strchr("cki", code) == NULL && !is_deprecated(code)))
		return refuse(x, "has a field code that is not known here");
	return ERR_OK;
}

/* A code that is an argument by itself. */
static enum err
whole_code(struct expansion *x, char code)
{
	switch (code) {
	case 'f':
	case 'u':
		return push_files(x, 1);
	case 'F':
	case 'U':
		return push_files(x, SIZE_MAX);
	case 'i':
		return push_icon(x);
	default:
		x->open = !is_deprecated(code);
		return add_code(x, code);
	}
}

static bool
is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n';
}

/* At a '%' outside quotes. */
static enum err
read_code(struct expansion *x)
{
	char code = x->line.len > 1 ? x->line.ptr[1] : '\0';
	bool whole = !x->open &&
	    (x->line.len == 2 || (x->line.len > 2 && is_blank(x->line.ptr[2])));

	x->line = span_from(x->line, 2);
	if (whole)
		return whole_code(x, code);
	x->open = true;
	return add_code(x, code);
}

/* At an opening quote; leaves the line behind the closing one. */
static enum err
read_quoted(struct expansion *x)
{
	char quote = x->line.ptr[0];
	enum err err = ERR_OK;

	x->open = true;
	x->quoted = true;
	x->line = span_from(x->line, 1);
	while (err == ERR_OK && x->line.len > 0 && x->line.ptr[0] != quote) {
		char byte = x->line.ptr[0];
		char next = x->line.len > 1 ? x->line.ptr[1] : '\0';
		size_t used = 1;

		if (byte == '\\' && quote == '"' && next != '\0' &&
		    strchr("\"`$\\", next) != NULL) {
			buf_add_char(&x->arg, next);
			used = 2;
		} else if (byte == '%') {
			err = quoted_code(x, next);
			used = 2;
		} else
			buf_add_char(&x->arg, byte);
		x->line = span_from(x->line, used);
	}
	if (err == ERR_OK && x->line.len == 0)
		err = refuse(x, "leaves a quote open");
	x->line = span_from(x->line, 1);
	return err;
}

static enum err
read_plain(struct expansion *x)
{
	size_t used = 1;

	x->open = true;
	if (x->line.ptr[0] == '\\' && x->line.len > 1) {
		used = 2; /* the next one as it is */
		x->quoted = true;
	}
	buf_add_char(&x->arg, x->line.ptr[used - 1]);
	x->line = span_from(x->line, used);
	return ERR_OK;
}

static enum err
read_line(struct expansion *x)
{
	enum err err = ERR_OK;

	while (err == ERR_OK && x->line.len > 0) {
		char byte = x->line.ptr[0];

		if (is_blank(byte)) {
			err = end_arg(x);
			x->line = span_from(x->line, 1);
		} else if (byte == '"' || byte == '\'')
			err = read_quoted(x);
		else if (byte == '%')
			err = read_code(x);
		else
			err = read_plain(x);
	}
	return err == ERR_OK ? end_arg(x) : err;
}

enum err
exec_expand(const char ***out, struct span line,
    const struct exec_fields *fields, struct arena *arena, struct fault *fault)
{
	struct expansion x = {
	    .line = line, .fields = fields, .arena = arena, .fault = fault};
	enum err err;

	assert(fields != NULL && arena != NULL);
	*out = NULL;
	x.argv = arena_array(arena, ARGV_MAX, sizeof(*x.argv));
	if (x.argv == NULL)
		return ERR_NO_MEMORY;
	buf_init(&x.arg, ARG_MAX_BYTES);
	err = read_line(&x);
	if (err == ERR_OK && x.count == 0)
		err = refuse(&x, "is empty");
	if (err == ERR_OK && !x.takes_args && fields->args_count > 0) {
		fault_set(fault, "args",
		    "not allowed: this application takes no arguments: its "
		    "Exec line has no field code for them");
		err = ERR_TOO_LARGE;
	}
	if (err == ERR_OK)
		*out = x.argv;
	buf_fini(&x.arg);
	return err;
}
