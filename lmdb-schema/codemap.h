/*
 * codemap: an in-memory map from codes to numbers, for an import: millions of
 * look-ups a second. The map grows on demand and keeps its own copy of the
 * codes.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define CODEMAP_NONE UINT32_MAX

struct codemap;

struct codemap *codemap_new(void); /* NULL when memory is out */
void codemap_free(struct codemap *map);

/*
 * Numbers a new code, from 0 in the order of arrival. ERR_EXISTS when the map
 * has the code already; *number is then its number.
 */
enum err codemap_add(struct codemap *map, struct span code, uint32_t *number);

/* CODEMAP_NONE for an unknown code. Several threads may look up at once. */
uint32_t codemap_find(const struct codemap *map, struct span code);

uint32_t codemap_count(const struct codemap *map);
struct span codemap_code(const struct codemap *map, uint32_t number);

/*
 * The numbers in the bytewise order of their codes: a malloc'ed array of
 * codemap_count() of them, or NULL when memory is out.
 */
uint32_t *codemap_sorted(const struct codemap *map);
