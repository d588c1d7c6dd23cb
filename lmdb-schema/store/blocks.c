#include "lmdb-schema/store/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/store/sealed.h"

/* Limits the log: repeated requests to a damaged file would fill it. */
#define TOLD_MAX 16

void
blocks_sum(uint32_t *sums, const void *bytes, uint64_t len)
{
	const char *at = bytes;

	assert(sums != NULL || len == 0);
	for (; len > 0; sums++) {
		uint64_t part = len < BLOCKS_BYTES ? len : BLOCKS_BYTES;

		*sums = deflate_crc(0, at, part);
		at += part;
		len -= part;
	}
}

enum err
blocks_sum_file(struct buf *sums, int fd, uint64_t at, uint64_t left)
{
	char *bytes = malloc(BLOCKS_BYTES);
	enum err err = bytes == NULL ? ERR_NO_MEMORY : ERR_OK;

	while (left > 0 && err == ERR_OK) {
		size_t part = left < BLOCKS_BYTES ? left : BLOCKS_BYTES;

		if (pread(fd, bytes, part, (off_t)at) != (ssize_t)part)
			err = ERR_SYSTEM;
		else
			buf_add_u32(sums, deflate_crc(0, bytes, part));
		at += part;
		left -= part;
	}
	free(bytes);
	return err == ERR_OK ? buf_end(sums) : err;
}

static bool
tell(struct blocks *blocks, uint64_t at, const char *what)
{
	if (atomic_fetch_add(&blocks->file->told, 1) < TOLD_MAX)
		sealed_log_damage(blocks->file->path, blocks->number, at, what);
	return false;
}

static void
note(struct blocks *blocks, uint64_t i, unsigned epoch)
{
	atomic_store_explicit(
	    &blocks->seen[i], (unsigned short)epoch, memory_order_release);
}

static bool
compare_one(struct blocks *blocks, uint64_t i)
{
	uint64_t at = i << BLOCKS_SHIFT, len = blocks->bytes - at;

	if (len > BLOCKS_BYTES)
		len = BLOCKS_BYTES;
	return deflate_crc(0, blocks->base + at, len) == blocks->sums[i] ||
	    tell(blocks, at, "checksum");
}

/* Blocks that are asked for ahead of a reader that goes through a section. */
#define EXPECT_BLOCKS 8

/*
 * Asks for the blocks that are to be read, in one go. A page fault would ask for
 * too little or, where the kernel reads far ahead, for too much.
 */
static void
expect(struct blocks *blocks, uint64_t first, uint64_t end, unsigned epoch)
{
	uint64_t count = blocks_count(blocks->bytes);

	while (first < end && blocks_seen(blocks, first) == epoch)
		first++;
	if (first == end)
		return;
	if (first > 0 && blocks_seen(blocks, first - 1) == epoch)
		end = end + EXPECT_BLOCKS < count ? end + EXPECT_BLOCKS : count;
	end <<= BLOCKS_SHIFT;
	first <<= BLOCKS_SHIFT;
	fs_expect_map(blocks->base + first,
	    (end < blocks->bytes ? end : blocks->bytes) - first);
}

/*
 * Use the epoch from before reading: blocks_forget() may have begun a new one
 * since.
 */
static bool
compare(struct blocks *blocks, uint64_t first, uint64_t end, unsigned epoch)
{
	if (blocks->base == NULL)
		return tell(blocks, 0, "missing");
	if (atomic_load(&blocks->file->cut))
		return tell(blocks, 0, "cut");
	expect(blocks, first, end, epoch);
	for (uint64_t i = first; i < end; i++) {
		if (blocks_seen(blocks, i) == epoch)
			continue;
		if (!compare_one(blocks, i))
			return false;
		note(blocks, i, epoch);
	}
	return true;
}

void
blocks_ask(const struct blocks *blocks, uint64_t at, uint64_t len)
{
	uint64_t from = at >> BLOCKS_SHIFT << BLOCKS_SHIFT,
		 end = at + len + BLOCKS_BYTES - 1;

	end = end >> BLOCKS_SHIFT << BLOCKS_SHIFT;
	if (end > blocks->bytes)
		end = blocks->bytes;
	if (blocks->base != NULL && !atomic_load(&blocks->file->cut))
		fs_expect_map(blocks->base + from, end - from);
}

bool
blocks_compare(struct blocks *blocks, uint64_t at, uint64_t len)
{
	assert(len > 0);
	return compare(blocks, at >> BLOCKS_SHIFT,
	    ((at + len - 1) >> BLOCKS_SHIFT) + 1,
	    atomic_load(&blocks->file->epoch));
}

bool
blocks_compare_all(struct blocks *blocks)
{
	unsigned epoch = atomic_load(&blocks->file->epoch);

	if (!compare(blocks, 0, blocks_count(blocks->bytes), epoch))
		return false;
	atomic_store_explicit(
	    &blocks->whole, (unsigned short)epoch, memory_order_release);
	return true;
}

void
blocks_file_init(struct blocks_file *file, const char *path)
{
	atomic_init(&file->epoch, 1);
	atomic_init(&file->cut, false);
	atomic_init(&file->told, 0);
	file->path = path;
}

/*
 * The epoch may wrap: a block compared 65,535 epochs ago would count, but no
 * file is touched so often.
 */
void
blocks_forget(struct blocks_file *file, bool cut)
{
	unsigned epoch = atomic_load(&file->epoch);

	atomic_store(&file->cut, cut);
	atomic_store(&file->epoch,
	    (unsigned short)(epoch == UINT16_MAX ? 1 : epoch + 1));
}
