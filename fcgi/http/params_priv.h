/* params_priv: what params.c and params_conditions.c share. */
#pragma once

#include "fcgi/http/params.h"

/* Faults found so far: a sentence, and the members of an object. */
struct trouble {
	struct buf *message, *issues;
	bool french; /* what is wrong is told in French */
	unsigned count;
	struct buf unknown; /* names in `fields` that are no column */
	bool bad_sort;
	struct arena *arena;
	enum err err; /* no room */
};

void params_wrong(struct trouble *trouble, const char *name, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Readers of lists: a value to its place in struct params. */
void params_read_sort(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);
void params_read_groups(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);
void params_read_values(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);

/* Of the feed. */
void params_read_states(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);
void params_read_cursor(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);
void params_read_moment(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out);

/* Checks that depend on several parameters, when all were read. */
void params_finish(
    struct trouble *trouble, struct params *params, enum params_use use);
void params_finish_moments(
    struct trouble *trouble, const struct params *params);

/*
 * A pair that is no parameter of this use: a condition, or ignored. `column` is
 * the name of what it is a condition on.
 */
void params_condition(struct trouble *trouble, struct params *params,
    struct span column, const struct query_pair *pair);
void params_ignore(
    struct trouble *trouble, struct params *params, struct span name);

/*
 * True when the value of code1, code2, code3 or gamme is a condition, which an
 * older form of it never was; it is then read as one.
 */
bool params_is_condition(struct trouble *trouble, struct params *params,
    const struct param_info *info, const struct query_pair *pair);

/* Tells that a needed parameter was not given. */
void params_needed(
    struct trouble *trouble, const char *name, enum params_use use);

/* With strict=1, what was ignored is wrong. */
void params_end(struct trouble *trouble, struct params *params);
