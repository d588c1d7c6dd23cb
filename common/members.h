/*
 * members: members of a JSON object, a name and a value at once. Names are
 * constants of the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/jsonw.h"
#include "common/span.h"

void members_text(struct jsonw *json, const char *name, struct span text);
void members_string(struct jsonw *json, const char *name, const char *text);
void members_int(struct jsonw *json, const char *name, int64_t value);
void members_micro(struct jsonw *json, const char *name, int64_t micro);
void members_bool(struct jsonw *json, const char *name, bool value);
void members_day(struct jsonw *json, const char *name, int32_t day);

/* No member for a text that is NULL or empty. */
void members_given(struct jsonw *json, const char *name, const char *text);

/* null for an empty text, and for the time 0. */
void members_null_text(struct jsonw *json, const char *name, struct span text);
void members_time(struct jsonw *json, const char *name, int64_t ms);

/* An array of texts; no member when there are none. */
void members_names(struct jsonw *json, const char *name,
    const struct span *names, unsigned count);

/* A member that is an object; jsonw_object_end() ends it. */
void members_object(struct jsonw *json, const char *name);
