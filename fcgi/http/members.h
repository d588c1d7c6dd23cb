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
/* A string of C. */
void members_string(struct jsonw *json, const char *name, const char *text);
void members_int(struct jsonw *json, const char *name, int64_t value);
void members_micro(struct jsonw *json, const char *name, int64_t micro);
void members_bool(struct jsonw *json, const char *name, bool value);
void members_day(struct jsonw *json, const char *name, int32_t day);

/* The same; null for an empty text, for no range, and for the time 0. */
void members_null_text(struct jsonw *json, const char *name, struct span text);
void members_gamme(struct jsonw *json, const char *name, uint8_t gamme);
void members_time(struct jsonw *json, const char *name, int64_t ms);

/* An array of texts; no member when there are none. */
void members_names(struct jsonw *json, const char *name,
    const struct span *names, unsigned count);

/* A member that is an object; jsonw_object_end() ends it. */
void members_object(struct jsonw *json, const char *name);
