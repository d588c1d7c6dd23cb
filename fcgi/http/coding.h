/*
 * coding: how a client weighs what it lists in Accept and Accept-Encoding
 * (RFC 9110, 12.4 and 12.5).
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

/*
 * The weight among the parameters of a listed value, in thousandths: 1000
 * without one, 0 for one that the grammar does not allow.
 */
unsigned coding_weight(struct span params);

enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD, CODINGS };

/* As Content-Encoding has it; plain bytes have none. */
extern const char *const coding_names[CODINGS];

/*
 * The coding of most weight; of several zstd, then gzip, then plain bytes.
 * zstd only where it is named: "*" is said by programs that know gzip alone.
 */
enum coding coding_best(struct span list);

/* True when the list has gzip in it, and plain bytes weigh no more. */
bool coding_takes_gzip(struct span list);

/* The same, and zstd weighs no more either. */
bool coding_likes_gzip(struct span list);
