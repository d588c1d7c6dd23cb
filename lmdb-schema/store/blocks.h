/*
 * blocks: tracks which parts of an immutable file have been compared with their
 * checksums since it was opened.
 *
 * A section of the file is cut into blocks, each with a CRC-32. A caller asks
 * blocks_sound() before it reads bytes. A block is compared the first time it
 * is asked for, and then marked; asking again costs two loads, and a request
 * for a page of rows never reads the whole file.
 *
 * The comparison covers the page cache's copy, which all processes share: a
 * write into the file changes every process's map. A published file is never
 * written, so a file whose times or size have changed cannot be trusted:
 * blocks_forget() begins a new epoch, in which no block counts as compared.
 * Threads may ask during blocks_forget(): a block is marked with the epoch read
 * before its bytes were.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"

/* 32 KB: see docs/decisions.md. */
#define BLOCKS_SHIFT 15
#define BLOCKS_BYTES (UINT64_C(1) << BLOCKS_SHIFT)

/* The state shared by the sections of an open file. */
struct blocks_file {
	atomic_ushort epoch; /* never 0 */
	atomic_bool cut; /* truncated: nothing may be read */
	atomic_uint told; /* damages logged so far */
	const char *path; /* for the log */
};

/* A section of the file. */
struct blocks {
	const char *base; /* its bytes, or NULL: none is sound */
	const uint32_t *sums; /* one per block */
	atomic_ushort *seen; /* the epoch in which each was compared, or 0 */
	struct blocks_file *file;
	uint64_t bytes;
	uint16_t number; /* for the log */
	atomic_ushort whole; /* the epoch in which all were compared */
};

/* The number of blocks of that many bytes. */
static inline uint64_t
blocks_count(uint64_t bytes)
{
	return (bytes + BLOCKS_BYTES - 1) >> BLOCKS_SHIFT;
}

/* Writes the checksum of each block. */
void blocks_sum(uint32_t *sums, const void *bytes, uint64_t len);

/*
 * Adds the checksums of the blocks of a section, u32 each, as the file has it by
 * now. ERR_SYSTEM: it cannot be read.
 */
enum err blocks_sum_file(struct buf *sums, int fd, uint64_t at, uint64_t bytes);

static inline unsigned
blocks_seen(const struct blocks *blocks, uint64_t i)
{
	return atomic_load_explicit(&blocks->seen[i], memory_order_acquire);
}

/* For blocks_sound() and blocks_all() alone. */
bool blocks_compare(struct blocks *blocks, uint64_t at, uint64_t len);
bool blocks_compare_all(struct blocks *blocks);

/*
 * Whether `len` bytes from `at` on, which must lie in the section, match their
 * checksums. A mismatch is logged: file, section and offset.
 */
static inline bool
blocks_sound(struct blocks *blocks, uint64_t at, uint64_t len)
{
	uint64_t first = at >> BLOCKS_SHIFT,
		 last = (at + len - 1) >> BLOCKS_SHIFT;
	unsigned epoch =
	    atomic_load_explicit(&blocks->file->epoch, memory_order_relaxed);

	if (__builtin_expect(blocks_seen(blocks, first) == epoch, 1)) {
		if (__builtin_expect(first == last, 1))
			return true;
		if (last == first + 1 && blocks_seen(blocks, last) == epoch)
			return true;
	}
	return len == 0 || blocks_compare(blocks, at, len);
}

/* For blocks_expect() alone. */
void blocks_ask(const struct blocks *blocks, uint64_t at, uint64_t len);

/*
 * Asks the kernel for bytes that blocks_sound() is soon called for, unless they
 * have been compared. They may lie beyond the section.
 */
static inline void
blocks_expect(const struct blocks *blocks, uint64_t at, uint64_t len)
{
	if (at < blocks->bytes &&
	    __builtin_expect(blocks_seen(blocks, at >> BLOCKS_SHIFT) !=
		    atomic_load_explicit(
			&blocks->file->epoch, memory_order_relaxed),
		0))
		blocks_ask(blocks, at, len);
}

/* Whether all of the section matches its checksums. */
static inline bool
blocks_all(struct blocks *blocks)
{
	if (__builtin_expect(
		atomic_load_explicit(&blocks->whole, memory_order_acquire) ==
		    atomic_load_explicit(
			&blocks->file->epoch, memory_order_relaxed),
		1))
		return true;
	return blocks_compare_all(blocks);
}

/* `path` must outlive `file`. */
void blocks_file_init(struct blocks_file *file, const char *path);

/*
 * From now on no block counts as compared; with `cut`, every block is damaged
 * and none is read.
 */
void blocks_forget(struct blocks_file *file, bool cut);
