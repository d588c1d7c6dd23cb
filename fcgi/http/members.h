/*
 * members: members of a JSON object that are values of a row, beside those of
 * common/members.h.
 */
#pragma once

#include "common/members.h"

/* null for no range. */
void members_gamme(struct jsonw *json, const char *name, uint8_t gamme);

/* An array of such codes as access.h's; null for an empty list. */
void members_codes(struct jsonw *json, const char *name, struct span codes);
