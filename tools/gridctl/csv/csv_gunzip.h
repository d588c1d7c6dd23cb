/*
 * csv_gunzip: the bytes that a gzip file holds, some at a time. Several members
 * in a row, as `cat a.gz b.gz` makes, are one text, and memory does not grow
 * with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Most that one file may unpack to. gzip makes bytes a thousand times fewer. */
#define CSV_GUNZIP_MAX ((uint64_t)64 << 30)

struct csv_gunzip;

/* True for a name such as "sales.csv.gz". */
bool csv_gunzip_is_name(const char *name);

/* The descriptor stays the caller's. Pair with csv_gunzip_free(). */
enum err csv_gunzip_new(struct csv_gunzip **out, int fd, uint64_t most);
void csv_gunzip_free(struct csv_gunzip *gunzip); /* NULL is fine */

/*
 * Unpacks up to `len` bytes; *got is 0 at the end alone.
 *
 *   ERR_BAD_INPUT  no gzip, damaged or cut short: csv_gunzip_why()
 *   ERR_TOO_LARGE  more than `most` bytes: csv_gunzip_why()
 *
 * Any other failure is that of reading, with errno.
 */
enum err csv_gunzip_read(
    size_t *got, struct csv_gunzip *gunzip, char *to, size_t len);

/* A sentence about what is wrong with the file; NULL while nothing is. */
const char *csv_gunzip_why(const struct csv_gunzip *gunzip);

/* Bytes of the file itself that were used, for progress. */
uint64_t csv_gunzip_taken(const struct csv_gunzip *gunzip);
