/*
 * jsonr: JSON in, strictly, and typed. The door to jansson.
 *
 * Refused: a member given twice, anything behind the value, NaN, a NUL or bad
 * UTF-8 in a string, nesting or size beyond the limits. Errors *inside* a
 * well-formed body are collected as issues, each with the path of the value, so
 * that one answer reports them all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonw.h"
#include "common/span.h"

struct jsonr; /* a parsed document and its issues */
struct jsonr_value; /* a value inside one; borrowed until jsonr_free() */

enum jsonr_type {
	JSONR_ABSENT, /* no such member */
	JSONR_NULL,
	JSONR_BOOL,
	JSONR_INT,
	JSONR_REAL,
	JSONR_STRING,
	JSONR_ARRAY,
	JSONR_OBJECT
};

struct jsonr_limits {
	size_t bytes;
	unsigned depth; /* at most 64; 0 means 64 */
	unsigned issues; /* kept at most; further ones are only counted */
	/* The words of issues in another language, by the English; or NULL. */
	const char *(*words)(const char *english);
};

/*
 *   ERR_BAD_INPUT  not JSON by the rules above; `fault` says where and why
 *   ERR_TOO_LARGE  over the limits
 *
 * On failure *out is NULL. `text` need not outlive the call.
 */
enum err jsonr_parse(struct jsonr **out, struct span text,
    const struct jsonr_limits *limits, struct fault *fault);
void jsonr_free(struct jsonr *doc);

const struct jsonr_value *jsonr_root(const struct jsonr *doc);

/* NULL counts as absent everywhere below. */
enum jsonr_type jsonr_type(const struct jsonr_value *value);
const struct jsonr_value *jsonr_member(
    const struct jsonr_value *object, const char *name);
size_t jsonr_count(const struct jsonr_value *value); /* members or elements */
const struct jsonr_value *jsonr_at(const struct jsonr_value *array, size_t i);

/*
 * Walks the members in the order of the text. *iter starts at NULL; false at
 * the end.
 */
bool jsonr_next(const struct jsonr_value *object, void **iter,
    struct span *name, const struct jsonr_value **value);

/* Untyped reading: the zero value when the type differs. */
struct span jsonr_as_string(const struct jsonr_value *value);
bool jsonr_as_bool(const struct jsonr_value *value);
int64_t jsonr_as_int(const struct jsonr_value *value);
double jsonr_as_real(const struct jsonr_value *value); /* ints too */

/* Compact JSON text of a value. */
void jsonr_write(const struct jsonr_value *value, struct buf *buf);

/*
 * Typed reading. `path` is where the value stands ("changes[3].gamme"). Each
 * returns true and fills *out when the value has the type; else it notes an
 * issue and returns false. An absent value is an issue too.
 */
bool jsonr_want_string(struct jsonr *doc, struct span *out,
    const struct jsonr_value *value, const char *path);
bool jsonr_want_bool(struct jsonr *doc, bool *out,
    const struct jsonr_value *value, const char *path);
bool jsonr_want_int(struct jsonr *doc, int64_t *out,
    const struct jsonr_value *value, const char *path, int64_t min,
    int64_t max);
bool jsonr_want_array(
    struct jsonr *doc, const struct jsonr_value *value, const char *path);
bool jsonr_want_object(
    struct jsonr *doc, const struct jsonr_value *value, const char *path);

/* Notes an issue for every member of `object` whose name is not listed. */
void jsonr_only(struct jsonr *doc, const struct jsonr_value *object,
    const char *path, const char *const *names, size_t count);

/* Notes an issue found by the caller. */
void jsonr_issue(struct jsonr *doc, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number of issues, including those beyond the limit. */
size_t jsonr_issues(const struct jsonr *doc);

/* Writes them as [{"path":"…","message":"…"}, …]. */
void jsonr_issues_write(const struct jsonr *doc, struct jsonw *json);
