/*
 * params: query parameters, text -> typed values. One table says what there
 * is, what each may be and which endpoints know it; the interface description
 * is made from the same table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/http/condition.h"
#include "lmdb-schema/feed_states.h"
#include "fcgi/http/format.h"
#include "fcgi/http/groups.h"
#include "fcgi/http/query.h"
#include "lmdb-schema/row.h"

/* The endpoints that take parameters, as bits. */
enum params_use {
	USE_FOURNISSEURS = 1,
	USE_NOMENCLATURES = 2,
	USE_GRID = 4,
	USE_SEARCH = 8,
	USE_PRODUCT = 16,
	USE_SCREEN = 32,
	USE_CONDITIONS = 64, /* conditions on columns, beside its parameters */
	USE_MAGASINS = 128,
	USE_AGGREGATES = 256,
	USE_LOOKUP = 512,
	USE_FEED = 1024,
	USE_HISTORY = 2048,
	USE_KEPT = 4096
};

enum param_type {
	PARAM_TEXT,
	PARAM_CODE, /* a supplier's code */
	PARAM_INT, /* min..max */
	PARAM_FLAG, /* "0" or "1" */
	PARAM_ORDER, /* "asc" or "desc" */
	PARAM_GAMME,
	PARAM_SORT,
	PARAM_FIELDS,
	PARAM_GROUPS,
	PARAM_VALUES,
	PARAM_DIGITS, /* 2, 4 or 6: as many as min..max says */
	PARAM_CLASS, /* the same, as a filter */
	PARAM_GENERATION,
	PARAM_FORMAT,
	PARAM_MONTHS,
	PARAM_STATES, /* of the feed, by commas */
	PARAM_CURSOR, /* of the feed */
	PARAM_MOMENT /* RFC 3339, or a day */
};

struct param_info {
	const char *name;
	enum param_type type;
	unsigned uses; /* bits of enum params_use */
	unsigned required; /* bits of those that need it */
	size_t offset; /* of its value in struct params */
	int64_t min, max; /* PARAM_INT, PARAM_DIGITS; code points of a text */
	const char *fallback; /* the default, for the description; or NULL */
	const char *meaning;
};

extern const struct param_info param_infos[];
extern const unsigned param_count;

/* A set of columns. */
struct columns {
	uint64_t bits[2];
};

static inline bool
columns_has(const struct columns *columns, unsigned column)
{
	return (columns->bits[column / 64] >> (column % 64) & 1) != 0;
}

static inline bool
columns_any(const struct columns *columns)
{
	return (columns->bits[0] | columns->bits[1]) != 0;
}

/* The first one from `column` on, or beyond all. */
static inline unsigned
columns_next(const struct columns *columns, unsigned column)
{
	for (unsigned word = column / 64; word < 2; word++) {
		uint64_t left = columns->bits[word];

		if (word == column / 64)
			left = left >> column % 64 << column % 64;
		if (left != 0)
			return word * 64 + (unsigned)__builtin_ctzll(left);
	}
	return 128;
}

static inline void
columns_add(struct columns *columns, unsigned column)
{
	columns->bits[column / 64] |= UINT64_C(1) << column % 64;
}

/* A column to sort by, or a month of a monthly map. */
struct sort_key {
	unsigned column;
	bool descending;
	int32_t month; /* 0: a scalar column */
};

/* Sort keys that a request may have. */
#define PARAMS_SORTS_MAX 4

/* The keys as given; `order` has no say in those that have a sign. */
struct sort_list {
	struct sort_key keys[PARAMS_SORTS_MAX];
	bool is_signed[PARAMS_SORTS_MAX];
	unsigned count;
};

/* Conditions that a request may have. */
#define PARAMS_CONDITIONS_MAX 24

#define PARAMS_NO_CODE UINT32_MAX

/* A classification filter: code3 / divisor == code. */
struct code_filter {
	uint32_t code; /* PARAMS_NO_CODE: none */
	uint32_t divisor;
};

struct params {
	struct span fournisseur, search, q;
	struct span parent;
	struct span codein, author; /* of proposals */
	unsigned states; /* of enum feed_state; 0: all */
	int64_t from_ms, until_ms; /* until 0: no end */
	struct feed_cursor since;
	bool has_since;
	uint64_t snapshot; /* 0: the current one */
	uint64_t since_generation; /* 0: all rows, not changes alone */
	int64_t page, limit; /* limit 0: omitted */
	int64_t niveau;
	int sort; /* the first column to sort by; -1: omitted */
	bool descending;
	bool ordered; /* order= is given */
	struct sort_list sorts; /* all of them, the first one too */
	struct columns fields; /* none: all */
	bool enrich, compute, with_data;
	uint8_t gamme; /* ROW_GAMME_NONE: any */
	bool pending; /* only rows with a proposal to validate */
	struct code_filter codes[4]; /* code1, code2, code3, nomenclature */
	struct group_list groups; /* that sums are made by */
	struct value_list values; /* columns that are summed */
	struct condition *conditions; /* all of them must be met */
	unsigned condition_count;
	struct span condition_key; /* as they were given, to compare by */
	enum format format; /* FORMATS: there is none of that name */
	enum format_months months;
	int64_t kept_version; /* 0: whichever there is */
	bool strict; /* names that are not known are wrong */
	struct span *ignored; /* such names, each once */
	unsigned ignored_count;
};

/*
 * Reads what `use` knows; other names are gathered, or with strict=1 wrong. On
 * ERR_BAD_INPUT `message` is one sentence and `details` a JSON object that names
 * each parameter that is wrong and what it may be. Another failure is that there
 * was no room for them. Lists and texts are taken from `arena`.
 */
enum err params_read(struct params *params, const struct query *query,
    enum params_use use, bool french, struct arena *arena, struct buf *message,
    struct buf *details);
