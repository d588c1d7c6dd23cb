/*
 * csv_unpack: the bytes that a file packed by gzip or zstd holds, some at a time.
 * Several members or frames in a row, as `cat a.gz b.gz` makes, are one text, and
 * memory does not grow with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Most that one file may unpack to. gzip makes bytes a thousand times fewer. */
#define CSV_UNPACK_MAX ((uint64_t)64 << 30)

struct csv_unpack;

/* The n-th ending of a packed file's name, such as ".gz"; NULL behind the last. */
const char *csv_unpack_ending(unsigned n);

/* True for a name such as "sales.csv.gz". */
bool csv_unpack_is_name(const char *name);

/*
 * The ending of `path`, whose name is a packed file's, says how it is packed. The
 * descriptor stays the caller's. Pair with csv_unpack_free().
 */
enum err csv_unpack_new(
    struct csv_unpack **out, const char *path, int fd, uint64_t most);
void csv_unpack_free(struct csv_unpack *unpack); /* NULL is fine */

/*
 * Unpacks up to `len` bytes; *got is 0 at the end alone.
 *
 *   ERR_BAD_INPUT  not so packed, damaged or cut short: csv_unpack_why()
 *   ERR_TOO_LARGE  more than `most` bytes: csv_unpack_why()
 *
 * Any other failure is that of reading, with errno.
 */
enum err csv_unpack_read(
    size_t *got, struct csv_unpack *unpack, char *to, size_t len);

/* A sentence about what is wrong with the file; NULL while nothing is. */
const char *csv_unpack_why(const struct csv_unpack *unpack);

/* Bytes of the file itself that were used, for progress. */
uint64_t csv_unpack_taken(const struct csv_unpack *unpack);
