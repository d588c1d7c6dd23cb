/*
 * condition: a filter on a column, as a parameter says it:
 *
 *	stockActuel=gt.0                 OPERATOR.VALUE
 *	marque=not.in.(Duvel,"A, B")     negated; a list
 *	sales12m.202510=gte.12           a month of a monthly map
 *	sales12mByStore.001=is.null      a store's total
 *
 * The operators are PostgREST's. A value that is null meets no condition but
 * is.null, and no negated one either, as in SQL.
 *
 * What a condition compares is typed here, once, so that the rows are compared
 * with plain numbers and folded texts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/row.h"

struct arena;

enum condition_op {
	CONDITION_EQ,
	CONDITION_NEQ,
	CONDITION_GT,
	CONDITION_GTE,
	CONDITION_LT,
	CONDITION_LTE,
	CONDITION_IN,
	CONDITION_LIKE,
	CONDITION_IS,
	CONDITION_OPS
};

/* The types of values that an operator takes, as bits. */
enum condition_type {
	CONDITION_TEXTS = 1,
	CONDITION_NUMBERS = 2, /* dates too */
	CONDITION_CODES = 4 /* ranges; directions of a trend */
};

/* The table of operators: for parameters, descriptions, help and tests. */
struct condition_info {
	const char *name;
	enum condition_op op;
	unsigned types; /* bits */
	const char *value; /* its form: "VALUE", "(A,B)" */
	const char *meaning;
	const char *peer; /* the same in PostgREST */
};

extern const struct condition_info condition_infos[];
extern const unsigned condition_count;

/* The value that is compared. */
enum condition_target {
	CONDITION_COLUMN, /* a scalar */
	CONDITION_MONTH, /* of a monthly map */
	CONDITION_STORE, /* the total of a map by store */
	CONDITION_TREND /* its direction: 1 up, 2 down, 3 flat */
};

/* How it is compared. */
enum condition_kind {
	CONDITION_RANGE, /* a number: value - low <= width, unsigned */
	CONDITION_NUMBER_LIST, /* any of `numbers` */
	CONDITION_CODE_SET, /* a code whose bit is in `codes` */
	CONDITION_TEXT_LIST, /* any of `texts`, byte by byte */
	CONDITION_TEXT_RANGE, /* folded, by `op` beside texts[0] */
	CONDITION_PATTERN, /* folded, like texts[0] with '*' for any text */
	CONDITION_NULL
};

#define CONDITION_VALUES_MAX 1000

struct condition {
	enum condition_target target;
	enum condition_kind kind;
	enum condition_op op;
	bool negated;
	unsigned column; /* the scalar, or the map */
	int32_t month; /* CONDITION_MONTH */
	struct span store; /* CONDITION_STORE */
	int64_t low;
	uint64_t width;
	uint32_t codes;
	unsigned count;
	const int64_t *numbers; /* ascending, each once */
	const struct span *texts;
	const struct span *folded; /* of a CONDITION_TEXT_LIST, beside texts */
};

/*
 * True when a parameter of that name is a condition: a scalar column, a map's
 * month or store, the trend.
 */
bool condition_is_name(struct span name);

/*
 * Reads one; texts and lists are taken from `arena`.
 *
 *	ERR_BAD_INPUT  `fault` says what is wrong, as the rest of a sentence
 *	               that begins with the parameter's name
 *	ERR_NO_MEMORY  the arena is full
 */
enum err condition_read(struct condition *out, struct span name,
    struct span value, struct arena *arena, struct fault *fault);

/* Whether a folded text is like the pattern. */
bool condition_like(struct span folded, struct span pattern);

/* The types that a scalar column's values have, as one bit. */
enum condition_type condition_type_of(unsigned column);

/* The directions of a trend as conditions number them, from 1. */
#define CONDITION_TRENDS 3
extern const char *const condition_trends[CONDITION_TRENDS + 1];

/* The maps of which a month, or a store, can be named. */
bool condition_has_months(unsigned column);
bool condition_has_stores(unsigned column);
