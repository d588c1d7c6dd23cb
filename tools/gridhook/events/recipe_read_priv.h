/*
 * recipe_read_priv: what reads a family's file.
 *
 *	recipe_read.c   statements
 *	recipe_words.c  the words of one
 */
#pragma once

#include "common/count.h"
#include "common/err.h"
#include "tools/gridhook/events/recipe_priv.h"

#define TOKENS_MAX 48
#define NAMES_MAX 256 /* kept once in a file */

struct token {
	struct span text;
	bool quoted;
};

struct recipe_reader {
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

/* A fault at the line that is read; ERR_BAD_INPUT. */
enum err reader_bad(struct recipe_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Cuts a line into words. */
enum err reader_tokens(struct recipe_reader *reader, struct span line);

/* The next word, which is empty at the end; `next` goes on to the one behind. */
const struct token *reader_peek(const struct recipe_reader *reader);
struct token reader_next(struct recipe_reader *reader);

/* True for this word outside quotes. */
bool reader_is_word(const struct token *token, const char *word);

/* The alternatives of a path, "a|b.c". */
enum err reader_what(const struct what **out, struct recipe_reader *reader);

/* A path, or unless a member's value is wanted a text in quotes. */
enum err reader_template(
    struct template *out, bool takes_value, struct recipe_reader *reader);

/* A B and C D: all of them, put at *end, which moves behind them. */
enum err reader_conditions(
    const struct condition ***end, struct recipe_reader *reader);
