/*
 * sealed: immutable files that are no LMDB environment: packed rows and the word
 * index. Such a file begins with a head, which has the CRC-32 of itself and of
 * the table behind it; the head is written last, so that a file without one was
 * never finished. It is read in place through a map.
 *
 * What the sections hold, and when each is compared with its checksum, is the
 * matter of each format.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"

/*
 * The CRC-32 of a head, with its own four bytes at `crc_at` counted as zeros, and
 * of the table, which may lie elsewhere or be empty.
 */
uint32_t sealed_head_crc(struct span head, size_t crc_at, struct span table);

/*
 * Logs that bytes do not match their checksum: `what` is "checksum", "cut" or
 * "missing". A path or a name of the file; `section` is a number of the format. The
 * same damage is logged once a minute.
 */
void sealed_log_damage(
    const char *file, unsigned section, uint64_t offset, const char *what);

/* --- reading -------------------------------------------------------------- */

struct sealed {
	const char *bytes;
	size_t len; /* of the file */
	int fd;
	struct fs_stamp stamp; /* taken before any byte was read */
};

/*
 * Maps a file; pair with sealed_close() either way.
 *
 *   ERR_NOT_FOUND  there is none
 *   ERR_DAMAGED    it is empty
 */
enum err sealed_open(struct sealed *file, const char *path);

/* The same in two steps: until the second, `bytes` is NULL. */
enum err sealed_begin(struct sealed *file, const char *path);
enum err sealed_map(struct sealed *file);

/* Reads `len` bytes at `offset` without the map. ERR_DAMAGED: there are fewer. */
enum err sealed_read(
    const struct sealed *file, void *to, size_t len, uint64_t offset);

void sealed_close(struct sealed *file);

/*
 * Whether the file was touched since it was opened: it may be shorter than its
 * map, and must be opened again. Costs one fstat().
 */
bool sealed_is_touched(const struct sealed *file);

/* --- writing -------------------------------------------------------------- */

/* Begins a file, or begins one again; close() ends it. */
enum err sealed_create(int *fd, const char *path);

/* ERR_NO_SPACE for a limit on file sizes, too: it is as good as a full disk. */
enum err sealed_put(int fd, const void *bytes, uint64_t len, uint64_t offset);

/* Writes the head, and behind it the table, and syncs the file. */
enum err sealed_finish(int fd, struct span head, struct span table);
