/*
 * A family's file, a statement a line, into tables. The reader is strict: what
 * it does not know is a fault that names the file and the line.
 */
#include "tools/gridhook/events/recipe_priv.h"

#include <ctype.h>
#include <stdio.h>

#include "tools/gridhook/net/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TOKENS_MAX 48
#define OTHERS_MAX 24 /* alternatives of one path */
#define NAMES_MAX 256 /* kept once in a file */

struct token {
	struct span text;
	bool quoted;
};

struct reader {
	struct recipe *recipe;
	struct arena *arena;
	struct fault *fault;
	const char *file;
	unsigned line, statements;
	struct token tokens[TOKENS_MAX];
	unsigned count, at;
	char quoted[RECIPE_LINE_MAX]; /* what the line's quotes hold */
	size_t quoted_len;
	const char *names[NAMES_MAX];
	unsigned name_count;
	/* Where the next of each goes. */
	const struct match **match_end;
	const struct condition **condition_end;
	struct match *match;
	const struct rule **rule_end;
	const struct meaning **meaning_end;
	bool has_kind;
};

static const struct {
	const char *name;
	enum field field;
	bool takes_value; /* of a member, not a text */
} fields[] = {
    {"source", FIELD_SOURCE, false},
    {"title", FIELD_TITLE, false},
    {"text", FIELD_TEXT, false},
    {"line", FIELD_LINE, false},
    {"lines", FIELD_LINES, false},
    {"status", FIELD_STATUS, false},
    {"priority", FIELD_PRIORITY, false},
    {"priority-5", FIELD_PRIORITY_5, false},
    {"severity", FIELD_SEVERITY, false},
    {"link", FIELD_URL, false},
    {"key", FIELD_DEDUPE, false},
    {"about", FIELD_ABOUT, false},
    {"job", FIELD_JOB_NAME, false},
    {"job-id", FIELD_JOB_ID, false},
    {"job-error", FIELD_JOB_ERROR, false},
    {"format", FIELD_MARKDOWN, false},
    {"time", FIELD_TIME, true},
    {"tags", FIELD_TAGS, true},
    {"speak", FIELD_SPEAK, true},
    {"silent", FIELD_SILENT, true},
    {"job-exit", FIELD_JOB_EXIT, true},
    {"job-duration", FIELD_JOB_DURATION, true},
    {"job-next", FIELD_JOB_NEXT, true},
};

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

static const char *const kinds[] = {
    "message", "job", "alert", "code", "status"};

static enum err bad(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum err
bad(struct reader *reader, const char *format, ...)
{
	char place[256];
	va_list args;

	snprintf(place, sizeof(place), "%s:%u", reader->file, reader->line);
	va_start(args, format);
	fault_vset(reader->fault, place, format, args);
	va_end(args);
	return ERR_BAD_INPUT;
}

/* --- tokens --------------------------------------------------------------- */

/* What stands in quotes: \" and \\ are themselves, \n is the end of a line. */
static enum err
read_quoted(struct token *token, struct span *rest, struct reader *reader)
{
	char *to = reader->quoted + reader->quoted_len;
	size_t i, len = 0;

	/* It is shorter than the line, as they all are together. */
	for (i = 1; i < rest->len && rest->ptr[i] != '"'; i++) {
		if (rest->ptr[i] != '\\') {
			to[len++] = rest->ptr[i];
			continue;
		}
		if (++i == rest->len)
			break;
		if (strchr("\"\\n", rest->ptr[i]) == NULL)
			return bad(reader,
			    "\"\\%c\" is not known: \\\", \\\\ and \\n are",
			    rest->ptr[i]);
		to[len++] = rest->ptr[i] == 'n' ? '\n' : rest->ptr[i];
	}
	if (i >= rest->len)
		return bad(reader, "a quotation mark is missing at the end");
	reader->quoted_len += len;
	*token = (struct token){span_make(to, len), true};
	*rest = span_from(*rest, i + 1);
	if (rest->len > 0 && strchr(" \t", rest->ptr[0]) == NULL)
		return bad(reader, "a blank is missing behind a quoted text");
	return ERR_OK;
}

static enum err
read_tokens(struct reader *reader, struct span line)
{
	struct token *token;
	enum err err = ERR_OK;
	size_t len;

	reader->count = reader->at = 0;
	reader->quoted_len = 0;
	for (line = span_trim(line); line.len > 0 && err == ERR_OK;
	     line = span_trim(line)) {
		if (reader->count == TOKENS_MAX)
			return bad(reader, "more than %d words", TOKENS_MAX);
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

static const struct token *
peek(const struct reader *reader)
{
	static const struct token none = {{"", 0}, false};

	return reader->at < reader->count ? &reader->tokens[reader->at] : &none;
}

static struct token
next(struct reader *reader)
{
	struct token token = *peek(reader);

	if (reader->at < reader->count)
		reader->at++;
	return token;
}

static bool
is_word(const struct token *token, const char *word)
{
	return !token->quoted && span_eq(token->text, span_of(word));
}

/* --- paths ---------------------------------------------------------------- */

uint64_t
recipe_bit(struct span name)
{
	unsigned hash = 0;
	size_t i;

	for (i = 0; i < name.len; i++)
		hash = hash * 31 + (unsigned char)name.ptr[i];
	return (uint64_t)1 << (hash % 64);
}

/* One copy for each name of the file. */
static const char *
keep_name(struct reader *reader, struct span name)
{
	const char *kept;
	unsigned i;

	for (i = 0; i < reader->name_count; i++) {
		if (span_eq(span_of(reader->names[i]), name))
			return reader->names[i];
	}
	kept = arena_copy(reader->arena, name).ptr;
	if (kept != NULL && reader->name_count < NAMES_MAX)
		reader->names[reader->name_count++] = kept;
	return kept;
}

static enum err
read_header(struct what *what, struct span name, struct reader *reader)
{
	char *lower = arena_alloc(reader->arena, name.len + 1);
	size_t i;

	if (lower == NULL)
		return ERR_NO_MEMORY;
	for (i = 0; i < name.len; i++) {
		if (!isalnum((unsigned char)name.ptr[i]) && name.ptr[i] != '-')
			return bad(reader, "\"%.*s\" is no header's name",
			    SPAN_ARG(name));
		lower[i] = (char)tolower((unsigned char)name.ptr[i]);
	}
	if (name.len == 0)
		return bad(reader, "a header's name is missing");
	/* gridhook explains and logs what a file names: no secret may be. */
	if (strcmp(lower, "authorization") == 0 ||
	    strcmp(lower, "x-service-secret") == 0 ||
	    strcmp(lower, "cookie") == 0)
		return bad(reader, "a family cannot read the header %s", lower);
	what->kind = WHAT_HEADER;
	what->header = lower;
	return ERR_OK;
}

static enum err
read_hops(struct what *what, struct span path, struct reader *reader)
{
	struct hop hops[RECIPE_HOPS_MAX], *kept;
	struct span name;
	unsigned count = 0;

	while (span_cut(&name, &path, '.')) {
		if (name.len == 0)
			return bad(reader, "a name is missing in a path");
		if (count == RECIPE_HOPS_MAX)
			return bad(reader, "a path has over %d names",
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
read_path(struct what *what, struct span path, struct reader *reader)
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
read_what(const struct what **out, struct span text, struct reader *reader)
{
	unsigned others = 0;
	struct what *what;
	struct span path;
	enum err err = ERR_OK;

	while (err == ERR_OK && span_cut(&path, &text, '|')) {
		if (path.len == 0)
			return bad(reader, "a path is missing");
		if (others++ == OTHERS_MAX)
			return bad(
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

static enum err
next_what(const struct what **out, struct reader *reader)
{
	struct token token = next(reader);

	if (token.quoted || token.text.len == 0)
		return bad(reader,
		    "a path is missing (a member's name, such "
		    "as repository.name)");
	return read_what(out, token.text, reader);
}

/* --- templates ------------------------------------------------------------ */

/* The next part of a text in quotes, taken off its front. */
static enum err
read_part(struct part *part, struct span *rest, struct reader *reader)
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
			return bad(reader, "a } has no { before it");
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
		return bad(reader, "a { has no } behind it");
	part->kind = PART_WHAT;
	path = span_sub(*rest, 1, end - 1);
	*rest = span_from(*rest, end + 1);
	return read_what(&part->what, path, reader);
}

static enum err
read_quoted_template(
    struct template *out, struct span text, struct reader *reader)
{
	struct part parts[RECIPE_PARTS_MAX], *kept;
	bool open = false;
	unsigned count = 0;
	enum err err = ERR_OK;

	while (text.len > 0 && err == ERR_OK) {
		if (count == RECIPE_PARTS_MAX)
			return bad(
			    reader, "more than %d parts", RECIPE_PARTS_MAX);
		err = read_part(&parts[count], &text, reader);
		if (err != ERR_OK)
			return err;
		if (parts[count].kind == PART_OPEN && open)
			return bad(reader, "a [ stands within another");
		if (parts[count].kind == PART_CLOSE && !open)
			return bad(reader, "a ] has no [ before it");
		open = parts[count].kind == PART_OPEN ||
		    (open && parts[count].kind != PART_CLOSE);
		count++;
	}
	if (open)
		return bad(reader, "a [ has no ] behind it");
	if (count == 0)
		return bad(reader, "an empty text says nothing");
	kept = arena_array(reader->arena, count, sizeof(*kept));
	if (kept == NULL)
		return ERR_NO_MEMORY;
	memcpy(kept, parts, count * sizeof(*kept));
	*out = (struct template){kept, count};
	return ERR_OK;
}

static enum err
next_template(struct template *out, bool takes_value, struct reader *reader)
{
	struct token token;
	struct part *part;

	if (peek(reader)->quoted && !takes_value) {
		token = next(reader);
		return read_quoted_template(out, token.text, reader);
	}
	part = arena_alloc(reader->arena, sizeof(*part));
	if (part == NULL)
		return ERR_NO_MEMORY;
	part->kind = PART_WHAT;
	*out = (struct template){part, 1};
	return next_what(&part->what, reader);
}

/* --- conditions ----------------------------------------------------------- */

/* Words up to `and` or the end of the line. */
static enum err
next_words(const struct words **out, struct reader *reader)
{
	const struct words **end = out;
	struct words *word;

	while (peek(reader)->text.len > 0 || peek(reader)->quoted) {
		if (is_word(peek(reader), "and"))
			break;
		word = arena_alloc(reader->arena, sizeof(*word));
		if (word == NULL)
			return ERR_NO_MEMORY;
		word->word = arena_copy(reader->arena, next(reader).text);
		if (word->word.ptr == NULL)
			return ERR_NO_MEMORY;
		*end = word;
		end = &word->next;
	}
	return *out == NULL ? bad(reader, "a word to compare with is missing")
			    : ERR_OK;
}

static enum err
next_condition(struct condition **out, struct reader *reader)
{
	struct condition *condition =
	    arena_alloc(reader->arena, sizeof(*condition));
	struct token token;
	enum err err;
	size_t i;

	if (condition == NULL)
		return ERR_NO_MEMORY;
	*out = condition;
	err = next_what(&condition->what, reader);
	if (err != ERR_OK)
		return err;
	token = next(reader);
	for (i = 0; i < COUNT(tests) && !is_word(&token, tests[i].name); i++)
		;
	if (i == COUNT(tests))
		return bad(reader,
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
static enum err
next_conditions(const struct condition ***end, struct reader *reader)
{
	struct condition *condition;
	enum err err;

	for (;;) {
		err = next_condition(&condition, reader);
		if (err != ERR_OK)
			return err;
		**end = condition;
		*end = &condition->next;
		if (!is_word(peek(reader), "and"))
			return ERR_OK;
		next(reader);
	}
}

/* --- statements ----------------------------------------------------------- */

/* Members without which no condition of the match can hold. */
static void
note_members(struct match *match, const struct condition *from)
{
	for (; from != NULL; from = from->next) {
		if (from->test != TEST_ABSENT && from->test != TEST_UNEQUAL &&
		    from->what->other == NULL &&
		    from->what->kind == WHAT_MEMBER &&
		    !hop_is_all(&from->what->hops[0]))
			match->members |=
			    recipe_bit(span_of(from->what->hops[0].name));
	}
}

static enum err
read_match(struct reader *reader)
{
	const struct condition **from;
	enum err err;

	if (reader->match == NULL) {
		reader->match =
		    arena_alloc(reader->arena, sizeof(*reader->match));
		if (reader->match == NULL)
			return ERR_NO_MEMORY;
		*reader->match_end = reader->match;
		reader->match_end = &reader->match->next;
		reader->condition_end = &reader->match->all;
	}
	from = reader->condition_end;
	err = next_conditions(&reader->condition_end, reader);
	if (err == ERR_OK)
		note_members(reader->match, *from);
	return err;
}

static enum err
read_or(struct reader *reader)
{
	if (reader->match == NULL)
		return bad(reader, "\"or\" stands between matches");
	reader->match = NULL;
	return ERR_OK;
}

static enum err
read_kind(struct reader *reader)
{
	struct token token = next(reader);
	size_t i;

	if (reader->has_kind)
		return bad(reader, "the kind was given above");
	reader->has_kind = true;
	for (i = 0; i < COUNT(kinds); i++) {
		if (is_word(&token, kinds[i])) {
			reader->recipe->family.kind = (enum event_kind)i;
			return ERR_OK;
		}
	}
	return bad(reader,
	    "\"%.*s\" is no kind: message, job, alert, code and status are",
	    SPAN_ARG(token.text));
}

/* A list stands at one place of the object itself. */
static enum err
check_list(const struct what *what, struct reader *reader)
{
	if (what->kind != WHAT_MEMBER || what->other != NULL)
		return bad(reader, "the path of one list is wanted");
	return ERR_OK;
}

static enum err
read_each(struct reader *reader)
{
	const struct what *what = NULL;
	enum err err;

	if (reader->recipe->each != NULL)
		return bad(reader, "the list was given above");
	err = next_what(&what, reader);
	if (err == ERR_OK)
		err = check_list(what, reader);
	reader->recipe->each = what;
	return err;
}

/* word status|priority WORD... = MEANING */
static enum err
read_meaning(struct reader *reader)
{
	struct token name = next(reader), token;
	bool of_status = is_word(&name, "status");
	struct meaning *meaning;
	struct token last;
	int value;

	if (!of_status && !is_word(&name, "priority"))
		return bad(reader,
		    "\"word status\" or \"word priority\" is "
		    "wanted");
	if (reader->count < 5 ||
	    !is_word(&reader->tokens[reader->count - 2], "="))
		return bad(reader, "\"word %.*s THEIRS... = OURS\" is wanted",
		    SPAN_ARG(name.text));
	last = reader->tokens[reader->count - 1];
	value = of_status ? (int)family_status(last.text)
			  : (int)family_priority(last.text);
	if (value == 0 && !span_eq(last.text, SPAN("none")))
		return bad(reader, "\"%.*s\" is no %.*s", SPAN_ARG(last.text),
		    SPAN_ARG(name.text));
	while (reader->at < reader->count - 2) {
		token = next(reader);
		meaning = arena_alloc(reader->arena, sizeof(*meaning));
		if (meaning == NULL)
			return ERR_NO_MEMORY;
		*meaning = (struct meaning){
		    .field = of_status ? FIELD_STATUS : FIELD_PRIORITY,
		    .word = arena_copy(reader->arena, token.text),
		    .value = value};
		if (meaning->word.ptr == NULL)
			return ERR_NO_MEMORY;
		*reader->meaning_end = meaning;
		reader->meaning_end = &meaning->next;
	}
	reader->at = reader->count;
	return ERR_OK;
}

static enum err
read_rule(struct reader *reader, size_t which)
{
	struct rule *rule = arena_alloc(reader->arena, sizeof(*rule));
	const struct condition **when;
	enum err err = ERR_OK;

	if (rule == NULL)
		return ERR_NO_MEMORY;
	when = &rule->when;
	rule->field = fields[which].field;
	if (rule->field == FIELD_LINES)
		err = next_what(&rule->list, reader);
	if (err == ERR_OK && rule->list != NULL)
		err = check_list(rule->list, reader);
	if (err == ERR_OK)
		err = next_template(
		    &rule->value, fields[which].takes_value, reader);
	if (err == ERR_OK && is_word(peek(reader), "when")) {
		next(reader);
		err = next_conditions(&when, reader);
	}
	*reader->rule_end = rule;
	reader->rule_end = &rule->next;
	return err;
}

static enum err
read_statement(struct reader *reader)
{
	static const struct {
		const char *name;
		enum err (*read)(struct reader *reader);
	} statements[] = {{"match", read_match}, {"or", read_or},
	    {"kind", read_kind}, {"each", read_each}, {"word", read_meaning}};
	struct token token = next(reader);
	size_t i;

	if (reader->statements++ == RECIPE_RULES_MAX)
		return bad(reader, "more than %d statements", RECIPE_RULES_MAX);
	for (i = 0; i < COUNT(statements); i++) {
		if (is_word(&token, statements[i].name))
			return statements[i].read(reader);
	}
	for (i = 0; i < COUNT(fields); i++) {
		if (is_word(&token, fields[i].name))
			return read_rule(reader, i);
	}
	return bad(reader,
	    "\"%.*s\" is no statement (gridhook-families(5) lists them)",
	    SPAN_ARG(span_sub(token.text, 0, 64)));
}

static enum err
read_line(struct reader *reader, struct span line)
{
	enum err err;

	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (line.len > RECIPE_LINE_MAX)
		return bad(
		    reader, "the line is over %d bytes", RECIPE_LINE_MAX);
	line = span_trim(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return ERR_OK;
	err = read_tokens(reader, line);
	if (err == ERR_OK)
		err = read_statement(reader);
	if (err == ERR_OK && reader->at < reader->count)
		err = bad(reader, "\"%.*s\" is too much",
		    SPAN_ARG(span_sub(peek(reader)->text, 0, 64)));
	return err;
}

enum err
recipe_read(struct recipe *recipe, const char *file, struct span text,
    struct arena *arena, struct fault *fault)
{
	struct reader reader = {.recipe = recipe,
	    .arena = arena,
	    .fault = fault,
	    .file = file,
	    .match_end = &recipe->matches,
	    .rule_end = &recipe->rules,
	    .meaning_end = &recipe->meanings};
	enum err err = ERR_OK;
	struct span line;

	if (text.len > RECIPE_FILE_MAX)
		return bad(
		    &reader, "the file is over %d bytes", RECIPE_FILE_MAX);
	if (!utf8_is_valid(text) ||
	    (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL))
		return bad(&reader, "the file is no UTF-8 text");
	while (err == ERR_OK && span_cut(&line, &text, '\n')) {
		reader.line++;
		err = read_line(&reader, line);
	}
	if (err != ERR_OK)
		return err;
	if (reader.match == NULL)
		return bad(&reader,
		    "no match says whose pushes these are (\"match MEMBER "
		    "present\")");
	if (recipe->rules == NULL)
		return bad(&reader, "no title and no text is given");
	return ERR_OK;
}
