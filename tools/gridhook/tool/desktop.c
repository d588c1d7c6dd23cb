#include "tools/gridhook/tool/desktop.h"

#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/buf.h"

#define VALUE_MAX 65536

enum key_type { KEY_TEXT, KEY_BOOL };

/* Keys read from a file; the first two have languages. */
static const struct key {
	const char *name;
	enum key_type type;
	size_t offset;
} keys[] = {
#define AT(member) offsetof(struct desktop_entry, member)
    {"Name", KEY_TEXT, AT(name)},
    {"Keywords", KEY_TEXT, AT(keywords)},
    {"Exec", KEY_TEXT, AT(exec)},
    {"Icon", KEY_TEXT, AT(icon)},
    {"TryExec", KEY_TEXT, AT(try_exec)},
    {"Path", KEY_TEXT, AT(folder)},
    {"OnlyShowIn", KEY_TEXT, AT(only_in)},
    {"NotShowIn", KEY_TEXT, AT(not_in)},
    {"StartupWMClass", KEY_TEXT, AT(wm_class)},
    {"Terminal", KEY_BOOL, AT(terminal)},
    {"Hidden", KEY_BOOL, AT(hidden)},
    {"NoDisplay", KEY_BOOL, AT(hidden)},
    {"DBusActivatable", KEY_BOOL, AT(by_bus)},
#undef AT
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

struct desktop_reader {
	struct desktop_entry *entry;
	struct arena *arena;
	struct span lang, country, modifier; /* of the user */
	int ranks[KEYS]; /* how well what we have fits the language, + 1 */
};

/* lang[_COUNTRY][.ENCODING][@MODIFIER] */
static void
split_locale(struct span text, struct span *lang, struct span *country,
    struct span *modifier)
{
	size_t at = span_find(text, '@');

	*modifier = span_from(text, at + 1);
	text = span_sub(text, 0, at);
	text = span_sub(text, 0, span_find(text, '.'));
	at = span_find(text, '_');
	*country = span_from(text, at + 1);
	*lang = span_sub(text, 0, at);
}

/*
 * 1 without a language, more the better it fits the user's, 0 when it is
 * another language or country.
 */
static int
rank_of(const struct desktop_reader *reader, struct span locale)
{
	struct span lang, country, modifier;
	int rank = 2;

	if (locale.len == 0)
		return 1;
	split_locale(locale, &lang, &country, &modifier);
	if (!span_eq(lang, reader->lang))
		return 0;
	if (country.len > 0) {
		if (!span_eq(country, reader->country))
			return 0;
		rank += 2;
	}
	if (modifier.len > 0) {
		if (!span_eq(modifier, reader->modifier))
			return 0;
		rank += 1;
	}
	return rank;
}

/* \s \n \t \r and \\; what else follows a backslash stays with it. */
static struct span
unescape(struct span text, struct arena *arena)
{
	static const char from[] = "sntr\\", to[] = " \n\t\r\\";
	struct span copy = {.len = 0};
	struct buf plain;

	buf_init(&plain, VALUE_MAX);
	for (size_t i = 0; i < text.len; i++) {
		const char *found = NULL;

		if (text.ptr[i] == '\\' && i + 1 < text.len &&
		    text.ptr[i + 1] != '\0')
			found = strchr(from, text.ptr[i + 1]);
		if (found != NULL)
			i++;
		buf_add_char(
		    &plain, found == NULL ? text.ptr[i] : to[found - from]);
	}
	if (buf_end(&plain) == ERR_OK)
		copy = arena_copy(arena, buf_span(&plain));
	buf_fini(&plain);
	return copy;
}

static void
keep(struct desktop_reader *reader, size_t key, struct span locale,
    struct span value)
{
	void *to = (char *)reader->entry + keys[key].offset;
	int rank = rank_of(reader, locale);

	if (keys[key].type == KEY_BOOL) {
		*(bool *)to = *(bool *)to || span_eq(value, SPAN("true"));
		return;
	}
	if (key == 0 && locale.len == 0)
		reader->entry->plain_name = unescape(value, reader->arena);
	if (rank <= reader->ranks[key])
		return;
	reader->ranks[key] = rank;
	*(struct span *)to = unescape(value, reader->arena);
}

/* "Name[fr]=Calculatrice" */
static void
read_line(struct desktop_reader *reader, struct span line)
{
	size_t at = span_find(line, '=');
	struct span name = span_trim(span_sub(line, 0, at));
	struct span value = span_trim(span_from(line, at + 1));
	struct span locale = {.len = 0};
	size_t open = span_find(name, '['), i;

	if (at == line.len || line.ptr[0] == '#')
		return;
	if (open < name.len) {
		locale = span_from(name, open + 1);
		locale = span_sub(locale, 0, span_find(locale, ']'));
		name = span_sub(name, 0, open);
	}
	if (span_eq(name, SPAN("Type")))
		reader->entry->is_application =
		    span_eq(value, SPAN("Application"));
	for (i = 0; i < KEYS; i++)
		if (span_eq(name, span_of(keys[i].name)))
			keep(reader, i, locale, value);
}

enum err
desktop_read(struct desktop_entry *out, struct span text, const char *locale,
    struct arena *arena)
{
	struct desktop_reader reader = {.entry = out, .arena = arena};
	bool inside = false, seen = false;
	struct span line;

	assert(locale != NULL && arena != NULL);
	*out = (struct desktop_entry){.hidden = false};
	split_locale(
	    span_of(locale), &reader.lang, &reader.country, &reader.modifier);
	while (span_cut(&line, &text, '\n')) {
		if (span_ends(line, SPAN("\r")))
			line.len--;
		if (span_starts(line, SPAN("["))) {
			/* Groups behind it are actions, not the application. */
			inside = !seen &&
			    span_eq(span_trim(line), SPAN("[Desktop Entry]"));
			seen = seen || inside;
		} else if (inside && line.len > 0)
			read_line(&reader, line);
	}
	if (out->name.len == 0)
		out->name = out->plain_name;
	return seen ? ERR_OK : ERR_BAD_INPUT;
}
