/*
 * members: JSON values, and members of an object, added to a body.
 *
 * A member begins with a comma: the first member of an object is written by
 * hand. Names are constants without a character that JSON escapes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

struct iovbuf;

/* A quoted string; `text` must stay until the body is put. */
void members_quote(struct iovbuf *body, struct span text);

/* A number without a name. */
void members_number(struct iovbuf *body, int64_t value);

/* ,"name":value */
void members_text(struct iovbuf *body, const char *name, struct span text);
void members_int(struct iovbuf *body, const char *name, int64_t value);
void members_bool(struct iovbuf *body, const char *name, bool value);
void members_time(struct iovbuf *body, const char *name, int64_t ms);
void members_day(struct iovbuf *body, const char *name, int32_t day);

/* The same; null when the text is empty. */
void members_null_text(struct iovbuf *body, const char *name, struct span text);

/* ,"name":["a","b"], and nothing when there are none. */
void members_names(struct iovbuf *body, const char *name,
    const struct span *names, unsigned count);
