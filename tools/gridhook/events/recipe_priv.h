/*
 * recipe_priv: a compiled file: recipe_read.c and recipe_words.c make it,
 * recipe_find.c and recipe_take.c follow it.
 */
#pragma once

#include "tools/gridhook/events/family.h"
#include "tools/gridhook/events/recipe.h"

#define RECIPE_HOPS_MAX 16
#define RECIPE_PARTS_MAX 24

/* A step of a path: a member, an element, or "*", every element. */
struct hop {
	const char *name;
};

enum what_kind { WHAT_MEMBER, WHAT_TOP, WHAT_HEADER, WHAT_ADDRESS };

/* "a.b|c", "$.a", "header:X-A", "address:rest"; the first that is there. */
struct what {
	enum what_kind kind;
	unsigned count; /* of the hops */
	union {
		const struct hop *hops;
		const char *header; /* in lower case */
	};
	const struct what *other;
};

enum part_kind { PART_TEXT, PART_WHAT, PART_OPEN, PART_CLOSE };

struct part {
	enum part_kind kind;
	unsigned len;
	union {
		const char *text; /* of `len` bytes */
		const struct what *what;
	};
};

/* "{a}: b[ by {c}]"; a bare path is one part. */
struct template
{
	const struct part *parts;
	unsigned count;
};

enum test {
	TEST_PRESENT,
	TEST_ABSENT,
	TEST_STRING,
	TEST_NUMBER,
	TEST_BOOLEAN,
	TEST_LIST,
	TEST_OBJECT,
	TEST_EQUAL,
	TEST_UNEQUAL,
	TEST_STARTS,
	TEST_ENDS,
	TEST_CONTAINS
};

struct recipe_words {
	struct span word;
	const struct recipe_words *next;
};

struct condition {
	const struct what *what;
	enum test test;
	const struct recipe_words *words;
	const struct condition *next; /* must hold as well */
};

struct rule {
	enum field field;
	struct template value;
	const struct what *list; /* FIELD_LINES: a line for each element */
	const struct condition *when;
	const struct rule *next;
};

/* "word status DOWN = error" */
struct meaning {
	enum field field;
	struct span word;
	int value;
	const struct meaning *next;
};

/* Any one is enough. `members` has a bit for each member that must be there. */
struct match {
	const struct condition *all;
	uint64_t members;
	const struct match *next;
};

struct recipe {
	struct family family;
	const char *file;
	const struct match *matches;
	const struct what *each;
	const struct rule *rules;
	const struct meaning *meanings;
	const struct recipe *next;
};

struct recipes {
	struct arena *arena;
	const struct recipe *first;
	const struct recipe **last;
	unsigned count;
};

static inline bool
hop_is_all(const struct hop *hop)
{
	return hop->name[0] == '*' && hop->name[1] == '\0';
}

/* The bit of a member's name. */
uint64_t recipe_bit(struct span name);

/* Fills all but the name, the file and the place in the row. */
enum err recipe_read(struct recipe *recipe, const char *file, struct span text,
    struct arena *arena, struct fault *fault);
