/*
 * codemap: codes to numbers, in memory, for an import: millions of look-ups a
 * second. It grows by itself and keeps its own copy of the codes.
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
 * Numbers are given in the order of arrival, from 0. ERR_EXISTS when the code
 * is there already; *number is then the old one.
 */
enum err codemap_add(struct codemap *map, struct span code, uint32_t *number);

/* CODEMAP_NONE when it is not there. Safe from several threads at once. */
uint32_t codemap_find(const struct codemap *map, struct span code);

uint32_t codemap_count(const struct codemap *map);
struct span codemap_code(const struct codemap *map, uint32_t number);

/*
 * The numbers in the bytewise order of their codes: a malloc'ed array of
 * codemap_count() of them, or NULL when memory is out.
 */
uint32_t *codemap_sorted(const struct codemap *map);
