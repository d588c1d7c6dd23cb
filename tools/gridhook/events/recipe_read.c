/*
 * A family's file, a statement a line, into tables. The reader is strict: a
 * statement that it does not know is a fault that names the file and the line.
 */
#include "tools/gridhook/events/recipe_read_priv.h"

#include <assert.h>

#include "common/utf8.h"

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

static const char *const kinds[] = {
    "message", "job", "alert", "code", "status"};

/* Members without which no condition of the match can hold. */
static void
note_members(struct match *match, const struct condition *from)
{
	for (; from != NULL; from = from->next)
		if (from->test != TEST_ABSENT && from->test != TEST_UNEQUAL &&
		    from->what->other == NULL &&
		    from->what->kind == WHAT_MEMBER &&
		    !hop_is_all(&from->what->hops[0]))
			match->members |=
			    recipe_bit(span_of(from->what->hops[0].name));
}

static enum err
read_match(struct recipe_reader *reader)
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
	err = reader_conditions(&reader->condition_end, reader);
	if (err == ERR_OK)
		note_members(reader->match, *from);
	return err;
}

static enum err
read_or(struct recipe_reader *reader)
{
	if (reader->match == NULL)
		return reader_bad(reader, "\"or\" stands between matches");
	reader->match = NULL;
	return ERR_OK;
}

static enum err
read_kind(struct recipe_reader *reader)
{
	struct token token = reader_next(reader);

	if (reader->has_kind)
		return reader_bad(reader, "the kind was given above");
	reader->has_kind = true;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (reader_is_word(&token, kinds[i])) {
			reader->recipe->family.kind = (enum event_kind)i;
			return ERR_OK;
		}
	return reader_bad(reader,
	    "\"%.*s\" is no kind: message, job, alert, code and status are",
	    SPAN_ARG(token.text));
}

/* A list stands at one place of the object itself. */
static enum err
check_list(const struct what *what, struct recipe_reader *reader)
{
	if (what->kind != WHAT_MEMBER || what->other != NULL)
		return reader_bad(reader, "the path of one list is wanted");
	return ERR_OK;
}

static enum err
read_each(struct recipe_reader *reader)
{
	const struct what *what = NULL;
	enum err err;

	if (reader->recipe->each != NULL)
		return reader_bad(reader, "the list was given above");
	err = reader_what(&what, reader);
	if (err == ERR_OK)
		err = check_list(what, reader);
	reader->recipe->each = what;
	return err;
}

/* word status|priority WORD... = MEANING */
static enum err
read_meaning(struct recipe_reader *reader)
{
	struct token name = reader_next(reader), token;
	bool of_status = reader_is_word(&name, "status");
	struct meaning *meaning;
	struct token last;
	int value;

	if (!of_status && !reader_is_word(&name, "priority"))
		return reader_bad(reader,
		    "\"word status\" or \"word priority\" is "
		    "wanted");
	if (reader->count < 5 ||
	    !reader_is_word(&reader->tokens[reader->count - 2], "="))
		return reader_bad(reader,
		    "\"word %.*s THEIRS... = OURS\" is wanted",
		    SPAN_ARG(name.text));
	last = reader->tokens[reader->count - 1];
	value = of_status ? (int)family_status(last.text)
			  : (int)family_priority(last.text);
	if (value == 0 && !span_eq(last.text, SPAN("none")))
		return reader_bad(reader, "\"%.*s\" is no %.*s",
		    SPAN_ARG(last.text), SPAN_ARG(name.text));
	while (reader->at < reader->count - 2) {
		token = reader_next(reader);
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
read_rule(struct recipe_reader *reader, size_t which)
{
	struct rule *rule = arena_alloc(reader->arena, sizeof(*rule));
	const struct condition **when;
	enum err err = ERR_OK;

	if (rule == NULL)
		return ERR_NO_MEMORY;
	when = &rule->when;
	rule->field = fields[which].field;
	if (rule->field == FIELD_LINES)
		err = reader_what(&rule->list, reader);
	if (err == ERR_OK && rule->list != NULL)
		err = check_list(rule->list, reader);
	if (err == ERR_OK)
		err = reader_template(
		    &rule->value, fields[which].takes_value, reader);
	if (err == ERR_OK && reader_is_word(reader_peek(reader), "when")) {
		reader_next(reader);
		err = reader_conditions(&when, reader);
	}
	*reader->rule_end = rule;
	reader->rule_end = &rule->next;
	return err;
}

static enum err
read_statement(struct recipe_reader *reader)
{
	static const struct {
		const char *name;
		enum err (*read)(struct recipe_reader *reader);
	} statements[] = {{"match", read_match}, {"or", read_or},
	    {"kind", read_kind}, {"each", read_each}, {"word", read_meaning}};
	struct token token = reader_next(reader);

	if (reader->statements++ == RECIPE_RULES_MAX)
		return reader_bad(
		    reader, "more than %d statements", RECIPE_RULES_MAX);
	for (size_t i = 0; i < COUNT(statements); i++)
		if (reader_is_word(&token, statements[i].name))
			return statements[i].read(reader);
	for (size_t i = 0; i < COUNT(fields); i++)
		if (reader_is_word(&token, fields[i].name))
			return read_rule(reader, i);
	return reader_bad(reader,
	    "\"%.*s\" is no statement (gridhook-families(5) lists them)",
	    SPAN_ARG(span_sub(token.text, 0, 64)));
}

static enum err
read_line(struct recipe_reader *reader, struct span line)
{
	enum err err;

	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (line.len > RECIPE_LINE_MAX)
		return reader_bad(
		    reader, "the line is over %d bytes", RECIPE_LINE_MAX);
	line = span_trim(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return ERR_OK;
	err = reader_tokens(reader, line);
	if (err == ERR_OK)
		err = read_statement(reader);
	if (err == ERR_OK && reader->at < reader->count)
		err = reader_bad(reader, "\"%.*s\" is too much",
		    SPAN_ARG(span_sub(reader_peek(reader)->text, 0, 64)));
	return err;
}

enum err
recipe_read(struct recipe *recipe, const char *file, struct span text,
    struct arena *arena, struct fault *fault)
{
	struct recipe_reader reader = {.recipe = recipe,
	    .arena = arena,
	    .fault = fault,
	    .file = file,
	    .match_end = &recipe->matches,
	    .rule_end = &recipe->rules,
	    .meaning_end = &recipe->meanings};
	enum err err = ERR_OK;
	struct span line;

	assert(recipe->rules == NULL && recipe->matches == NULL);
	if (text.len > RECIPE_FILE_MAX)
		return reader_bad(
		    &reader, "the file is over %d bytes", RECIPE_FILE_MAX);
	if (!utf8_is_valid(text) ||
	    (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL))
		return reader_bad(&reader, "the file is no UTF-8 text");
	while (err == ERR_OK && span_cut(&line, &text, '\n')) {
		reader.line++;
		err = read_line(&reader, line);
	}
	if (err != ERR_OK)
		return err;
	if (reader.match == NULL)
		return reader_bad(&reader,
		    "no match says whose pushes these are (\"match MEMBER "
		    "present\")");
	if (recipe->rules == NULL)
		return reader_bad(&reader, "no title and no text is given");
	return ERR_OK;
}
