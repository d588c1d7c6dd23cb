/*
 * csv_block: the lines of a file, found in one block that slides along it.
 *
 * It is read rather than mapped: a file that is cut short while it is read
 * must not end in SIGBUS. A file named *.gz or *.zst is unpacked on the way. Behind the bytes
 * stand CSV_BLOCK_SLACK newlines, so that a search for the end of a line always
 * finds one, and may read eight bytes at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct csv_unpack;

#define CSV_LINE_MAX 1048576 /* bytes in one record */
#define CSV_BLOCK_SLACK 16

struct csv_block {
	const char *path;
	int fd;
	struct csv_unpack *unpack; /* of a packed file; NULL for another */
	enum err err; /* the failure that stopped reading */
	char *data;
	size_t cap;
	size_t begin, end; /* the bytes not consumed yet */
	bool at_end; /* the file has no more bytes */
	uint64_t offset; /* bytes of the file that were read */
	uint64_t size; /* in all; 0: not known */
	uint64_t line; /* the number of the line at `begin` */
};

/*
 * Describes the error of a packed file, as a sentence; NULL for any other
 * failure.
 */
const char *csv_block_why(const struct csv_block *block);

/*
 * Quiet: the caller reports a failure. Pair with csv_block_fini() in any case.
 */
enum err csv_block_init(struct csv_block *block, const char *path);
void csv_block_fini(struct csv_block *block);

/*
 * Reads more, and sets `at_end` at the end; invalidates pointers into the
 * block.
 */
void csv_block_fill(struct csv_block *block);

/*
 * Finds the end of the line that begins `from` bytes after `begin`: its
 * newline, or the end of the file. False when that is more than CSV_LINE_MAX
 * bytes after `begin`.
 */
bool csv_block_find(struct csv_block *block, size_t from, size_t *stop);

/* Consumes `len` bytes, and the newline after them if any. */
void csv_block_use(struct csv_block *block, size_t len);

/* Consumes the rest of a line, however long. */
void csv_block_skip(struct csv_block *block);
