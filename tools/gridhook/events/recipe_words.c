/* The words of a statement: paths, texts with paths in them, conditions. */
#include "tools/gridhook/events/recipe_read_priv.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#define OTHERS_MAX 24 /* alternatives of one path */

static const struct {
	const char *name;
	enum test test;
	bool has_words;
} tests[] = {
    {"present", TEST_PRESENT, false},
    {"absent", TEST_ABSENT, false},
    {"string", TEST_STRING, false},
    {"number", TEST_NUMBER, false},
    {"boolean", TEST_BOOLEAN, false},
    {"list", TEST_LIST, false},
    {"object", TEST_OBJECT, false},
    {"=", TEST_EQUAL, true},
    {"!=", TEST_UNEQUAL, true},
    {"starts", TEST_STARTS, true},
    {"ends", TEST_ENDS, true},
    {"contains", TEST_CONTAINS, true},
};

enum err
reader_bad(struct recipe_reader *reader, const char *format, ...)
{
	char place[256];
	va_list args;

	assert(reader->file != NULL && format != NULL);
	snprintf(place, sizeof(place), "%s:%u", reader->file, reader->line);
	va_start(args, format);
	fault_vset(reader->fault, place, format, args);
	va_end(args);
	return ERR_BAD_INPUT;
}

/* --- tokens --------------------------------------------------------------- */

/* A quoted text: \" and \\ are themselves, \n is the end of a line. */
static enum err
read_quoted(
    struct token *token, struct span *rest, struct recipe_reader *reader)
{
	char *to = reader->quoted + reader->quoted_len;
	size_t i, len = 0;

	/* All quoted texts together are shorter than the line. */
	for (i = 1; i < rest->len && rest->ptr[i] != '"'; i++) {
		if (rest->ptr[i] != '\\') {
			to[len++] = rest->ptr[i];
			continue;
		}
		if (++i == rest->len)
			break;
		if (strchr("\"\\n", rest->ptr[i]) == NULL)
			return reader_bad(reader,
			    "\"\\%c\" is not known: \\\", \\\\ and \\n are",
			    rest->ptr[i]);
		to[len++] = rest->ptr[i] == 'n' ? '\n' : rest->ptr[i];
	}
	if (i >= rest->len)
		return reader_bad(
		    reader, "a quotation mark is missing at the end");
	reader->quoted_len += len;
	*token = (struct token){span_make(to, len), true};
	*rest = span_from(*rest, i + 1);
	if (rest->len > 0 && strchr(" \t", rest->ptr[0]) == NULL)
		return reader_bad(
		    reader, "a blank is missing behind a quoted text");
	return ERR_OK;
}

enum err
reader_tokens(struct recipe_reader *reader, struct span line)
{
	struct token *token;
	enum err err = ERR_OK;
	size_t len;

	assert(line.len <= RECIPE_LINE_MAX);
	reader->count = reader->at = 0;
	reader->quoted_len = 0;
	for (line = span_trim(line); line.len > 0 && err == ERR_OK;
	     line = span_trim(line)) {
		if (reader->count == TOKENS_MAX)
			return reader_bad(
			    reader, "more than %d words", TOKENS_MAX);
		token = &reader->tokens[reader->count++];
		if (line.ptr[0] == '"') {
			err = read_quoted(token, &line, reader);
			continue;
		}
		for (len = 0; len < line.len && line.ptr[len] != ' ' &&
		     line.ptr[len] != '\t';
		     len++)
			;
		*token = (struct token){span_sub(line, 0, len), false};
		line = span_from(line, len);
	}
	return err;
}

const struct token *
reader_peek(const struct recipe_reader *reader)
{
	static const struct token none = {{"", 0}, false};

	assert(reader->at <= reader->count && reader->count <= TOKENS_MAX);
	return reader->at < reader->count ? &reader->tokens[reader->at] : &none;
}

struct token
reader_next(struct recipe_reader *reader)
{
	struct token token = *reader_peek(reader);

	if (reader->at < reader->count)
		reader->at++;
	return token;
}

bool
reader_is_word(const struct token *token, const char *word)
{
	assert(token != NULL && word != NULL);
	return !token->quoted && span_eq(token->text, span_of(word));
}

/* --- paths ---------------------------------------------------------------- */

uint64_t
recipe_bit(struct span name)
{
	unsigned hash = 0;

	for (size_t i = 0; i < name.len; i++)
		hash = hash * 31 + (unsigned char)name.ptr[i];
	return (uint64_t)1 << (hash % 64);
}

/* Keeps a single copy of each name of the file. */
static const char *
keep_name(struct recipe_reader *reader, struct span name)
{
	const char *kept;

	for (unsigned i = 0; i < reader->name_count; i++)
		if (span_eq(span_of(reader->names[i]), name))
			return reader->names[i];
	kept = arena_copy(reader->arena, name).ptr;
	if (kept != NULL && reader->name_count < NAMES_MAX)
		reader->names[reader->name_count++] = kept;
	return kept;
}

static enum err
read_header(struct what *what, struct span name, struct recipe_reader *reader)
{
	char *lower = arena_alloc(reader->arena, name.len + 1);

	if (lower == NULL)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < name.len; i++) {
		if (!isalnum((unsigned char)name.ptr[i]) && name.ptr[i] != '-')
			return reader_bad(reader,
			    "\"%.*s\" is no header's name", SPAN_ARG(name));
		lower[i] = (char)tolower((unsigned char)name.ptr[i]);
	}
	if (name.len == 0)
		return reader_bad(reader, "a header's name is missing");
	/* gridhook explains and logs what a file names: no secret may be. */
	if (strcmp(lower, "authorization") == 0 ||
	    strcmp(lower, "x-service-secret") == 0 ||
	    strcmp(lower, "cookie") == 0)
		return reader_bad(
		    reader, "a family cannot read the header %s", lower);
	what->kind = WHAT_HEADER;
	what->header = lower;
	return ERR_OK;
}

static enum err
read_hops(struct what *what, struct span path, struct recipe_reader *reader)
{
	struct hop hops[RECIPE_HOPS_MAX], *kept;
	struct span name;
	unsigned count = 0;

	while (span_cut(&name, &path, '.')) {
		if (name.len == 0)
			return reader_bad(
			    reader, "a name is missing in a path");
		if (count == RECIPE_HOPS_MAX)
			return reader_bad(reader, "a path has over %d names",
			    RECIPE_HOPS_MAX);
		hops[count].name = keep_name(reader, name);
		if (hops[count].name == NULL)
			return ERR_NO_MEMORY;
		count++;
	}
	kept = arena_array(reader->arena, count, sizeof(*kept));
	if (kept == NULL)
		return ERR_NO_MEMORY;
	memcpy(kept, hops, count * sizeof(*kept));
	what->hops = kept;
	what->count = count;
	return ERR_OK;
}

static enum err
read_path(struct what *what, struct span path, struct recipe_reader *reader)
{
	if (span_starts(path, SPAN("header:")))
		return read_header(what, span_from(path, 7), reader);
	if (span_eq(path, SPAN("address:rest"))) {
		what->kind = WHAT_ADDRESS;
		return ERR_OK;
	}
	if (span_starts(path, SPAN("$."))) {
		what->kind = WHAT_TOP;
		path = span_from(path, 2);
	}
	return read_hops(what, path, reader);
}

/* "a|b.c": the alternatives, chained. */
static enum err
read_what(
    const struct what **out, struct span text, struct recipe_reader *reader)
{
	unsigned others = 0;
	struct what *what;
	struct span path;
	enum err err = ERR_OK;

	while (err == ERR_OK && span_cut(&path, &text, '|')) {
		if (path.len == 0)
			return reader_bad(reader, "a path is missing");
		if (others++ == OTHERS_MAX)
			return reader_bad(
			    reader, "more than %d alternatives", OTHERS_MAX);
		what = arena_alloc(reader->arena, sizeof(*what));
		if (what == NULL)
			return ERR_NO_MEMORY;
		err = read_path(what, path, reader);
		*out = what;
		out = &what->other;
	}
	return err;
}

enum err
reader_what(const struct what **out, struct recipe_reader *reader)
{
	struct token token = reader_next(reader);

	assert(out != NULL);
	if (token.quoted || token.text.len == 0)
		return reader_bad(reader,
		    "a path is missing (a member's name, such "
		    "as repository.name)");
	return read_what(out, token.text, reader);
}

/* --- templates ------------------------------------------------------------ */

/* The next part of a text in quotes, taken off its front. */
static enum err
read_part(struct part *part, struct span *rest, struct recipe_reader *reader)
{
	size_t len = 0, end;
	struct span path;

	*part = (struct part){.kind = PART_TEXT};
	if (rest->ptr[0] == '[' || rest->ptr[0] == ']') {
		part->kind = rest->ptr[0] == '[' ? PART_OPEN : PART_CLOSE;
		*rest = span_from(*rest, 1);
		return ERR_OK;
	}
	if (rest->ptr[0] != '{') {
		while (
		    len < rest->len && strchr("{}[]", rest->ptr[len]) == NULL)
			len++;
		if (len == 0)
			return reader_bad(reader, "a } has no { before it");
		part->text =
		    arena_copy(reader->arena, span_sub(*rest, 0, len)).ptr;
		part->len = (unsigned)len;
		if (part->text == NULL)
			return ERR_NO_MEMORY;
		*rest = span_from(*rest, len);
		return ERR_OK;
	}
	end = span_find(*rest, '}');
	if (end == rest->len)
		return reader_bad(reader, "a { has no } behind it");
	part->kind = PART_WHAT;
	path = span_sub(*rest, 1, end - 1);
	*rest = span_from(*rest, end + 1);
	return read_what(&part->what, path, reader);
}

static enum err
read_quoted_template(
    struct template *out, struct span text, struct recipe_reader *reader)
{
	struct part parts[RECIPE_PARTS_MAX], *kept;
	bool open = false;
	unsigned count = 0;
	enum err err = ERR_OK;

	while (text.len > 0 && err == ERR_OK) {
		if (count == RECIPE_PARTS_MAX)
			return reader_bad(
			    reader, "more than %d parts", RECIPE_PARTS_MAX);
		err = read_part(&parts[count], &text, reader);
		if (err != ERR_OK)
			return err;
		if (parts[count].kind == PART_OPEN && open)
			return reader_bad(reader, "a [ stands within another");
		if (parts[count].kind == PART_CLOSE && !open)
			return reader_bad(reader, "a ] has no [ before it");
		open = parts[count].kind == PART_OPEN ||
		    (open && parts[count].kind != PART_CLOSE);
		count++;
	}
	if (open)
		return reader_bad(reader, "a [ has no ] behind it");
	if (count == 0)
		return reader_bad(reader, "an empty text says nothing");
	kept = arena_array(reader->arena, count, sizeof(*kept));
	if (kept == NULL)
		return ERR_NO_MEMORY;
	memcpy(kept, parts, count * sizeof(*kept));
	*out = (struct template){kept, count};
	return ERR_OK;
}

enum err
reader_template(
    struct template *out, bool takes_value, struct recipe_reader *reader)
{
	struct token token;
	struct part *part;

	assert(out != NULL);
	if (reader_peek(reader)->quoted && !takes_value) {
		token = reader_next(reader);
		return read_quoted_template(out, token.text, reader);
	}
	part = arena_alloc(reader->arena, sizeof(*part));
	if (part == NULL)
		return ERR_NO_MEMORY;
	part->kind = PART_WHAT;
	*out = (struct template){part, 1};
	return reader_what(&part->what, reader);
}

/* --- conditions ----------------------------------------------------------- */

/* Words up to `and` or the end of the line. */
static enum err
next_words(const struct recipe_words **out, struct recipe_reader *reader)
{
	const struct recipe_words **end = out;
	struct recipe_words *word;

	while (
	    reader_peek(reader)->text.len > 0 || reader_peek(reader)->quoted) {
		if (reader_is_word(reader_peek(reader), "and"))
			break;
		word = arena_alloc(reader->arena, sizeof(*word));
		if (word == NULL)
			return ERR_NO_MEMORY;
		word->word =
		    arena_copy(reader->arena, reader_next(reader).text);
		if (word->word.ptr == NULL)
			return ERR_NO_MEMORY;
		*end = word;
		end = &word->next;
	}
	return *out == NULL
	    ? reader_bad(reader, "a word to compare with is missing")
	    : ERR_OK;
}

static enum err
next_condition(struct condition **out, struct recipe_reader *reader)
{
	struct condition *condition =
	    arena_alloc(reader->arena, sizeof(*condition));
	struct token token;
	enum err err;
	size_t i;

	if (condition == NULL)
		return ERR_NO_MEMORY;
	*out = condition;
	err = reader_what(&condition->what, reader);
	if (err != ERR_OK)
		return err;
	token = reader_next(reader);
	for (i = 0; i < COUNT(tests) && !reader_is_word(&token, tests[i].name);
	     i++)
		;
	if (i == COUNT(tests))
		return reader_bad(reader,
		    "\"%.*s\" is no condition: present, absent, string, "
		    "number, boolean, list, object, =, !=, starts, ends and "
		    "contains are",
		    SPAN_ARG(token.text));
	condition->test = tests[i].test;
	if (tests[i].has_words)
		err = next_words(&condition->words, reader);
	return err;
}

/* A B and C D: all of them, put at *end, which moves behind them. */
enum err
reader_conditions(const struct condition ***end, struct recipe_reader *reader)
{
	struct condition *condition;
	enum err err;

	assert(end != NULL && *end != NULL);
	for (;;) {
		err = next_condition(&condition, reader);
		if (err != ERR_OK)
			return err;
		**end = condition;
		*end = &condition->next;
		if (!reader_is_word(reader_peek(reader), "and"))
			return ERR_OK;
		reader_next(reader);
	}
}
