/*
 * kvpages: the head of a file, and all tables of a view; kvpages_table.c checks
 * each.
 */
#include "common/kv/kvpages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kvpages_priv.h"

/* --- the file ------------------------------------------------------------- */

static enum err
check_meta(const unsigned char *meta, size_t page)
{
	if (u16_at(meta + 10) != PAGE_META || u32_at(meta + 16) != MAGIC ||
	    u32_at(meta + 40) != page)
		return ERR_DAMAGED;
	return ERR_OK;
}

enum err
kvpages_init(struct pages *pages, int fd)
{
	enum err err;

	*pages =
	    (struct pages){.fd = fd, .page = (size_t)sysconf(_SC_PAGESIZE)};
	if (pages->page > PAGE_MAX)
		return ERR_DAMAGED;
	pages->first = malloc(2 * pages->page);
	if (pages->first == NULL)
		return ERR_NO_MEMORY;
	fs_expect(fd, 0, 2 * pages->page);
	pages->second = pages->first + pages->page;
	err = kvpages_read(pages, 0, pages->first);
	if (err == ERR_OK)
		err = kvpages_read(pages, 1, pages->second);
	if (err == ERR_OK)
		err = check_meta(pages->first, pages->page);
	if (err == ERR_OK)
		err = check_meta(pages->second, pages->page);
	return err;
}

void
kvpages_fini(struct pages *pages)
{
	free(pages->first);
	free(pages->taken);
	free(pages->ahead.bytes);
	free(pages->parts);
}

/*
 * Sets the number of pages: a reference beyond it is damage. All of them will be
 * read.
 */
static enum err
set_count(struct pages *pages, uint64_t count)
{
	pages->count = count;
	return kvpages_begin(pages);
}

enum err
kvpages_begin(struct pages *pages)
{
	pages->taken = calloc(pages->count / 64 + 1, sizeof(*pages->taken));
	pages->ahead.bytes = malloc(PAGES_AHEAD * pages->page);
	return pages->taken == NULL || pages->ahead.bytes == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

enum err
kvpages_check_head(int fd)
{
	struct pages pages;
	enum err err = kvpages_init(&pages, fd);

	kvpages_fini(&pages);
	return err;
}

/* LMDB uses the meta page of the later transaction. */
enum err
kvpages_newest(
    const unsigned char **meta, const struct pages *pages, uint64_t file_bytes)
{
	*meta = u64_at(pages->second + 144) > u64_at(pages->first + 144)
	    ? pages->second
	    : pages->first;
	return u64_at(*meta + 136) < file_bytes / pages->page ? ERR_OK
							      : ERR_DAMAGED;
}

static enum err
check_newest(struct pages *pages, uint64_t file_bytes)
{
	const unsigned char *newest;
	enum err err = kvpages_newest(&newest, pages, file_bytes);

	if (err == ERR_OK)
		err = set_count(pages, u64_at(newest + 136) + 1);
	return err == ERR_OK ? kvpages_table(pages, newest + 88, true, false)
			     : err;
}

enum err
kvpages_check(int fd, uint64_t file_bytes)
{
	struct pages pages;
	enum err err = kvpages_init(&pages, fd);

	pages.frozen = true;
	if (err == ERR_OK)
		err = check_newest(&pages, file_bytes);
	kvpages_fini(&pages);
	return err;
}

/*
 * Commits alternate between the meta pages, so their transactions must be
 * consecutive, even ones in the first. In a new file both are 0. The other page
 * may be of the next commit, which counts only when it is on the disk.
 */
enum err
kvpages_meta(
    const unsigned char **meta, struct pages *pages, uint64_t transaction)
{
	uint64_t even = u64_at(pages->first + 144),
		 odd = u64_at(pages->second + 144);

	*meta = transaction % 2 == 0 ? pages->first : pages->second;
	if (u64_at(*meta + 136) >= MAP_PAGES_MAX)
		return ERR_DAMAGED;
	if (even == transaction && odd == transaction && transaction == 0)
		return ERR_OK;
	if (even > transaction + 1 || odd > transaction + 1)
		return ERR_BUSY;
	if (even % 2 != 0 || odd % 2 == 0 ||
	    (even + 1 != odd && odd + 1 != even))
		return ERR_DAMAGED;
	return u64_at(*meta + 144) == transaction ? ERR_OK : ERR_DAMAGED;
}

/*
 * Walks the list of free pages too, because writers rely on it. Free pages at
 * the end may be missing in the file; no tree refers to them.
 */
static enum err
check_view(struct pages *pages, uint64_t transaction)
{
	const unsigned char *meta;
	enum err err = kvpages_meta(&meta, pages, transaction);

	if (err == ERR_OK)
		err = set_count(pages, u64_at(meta + 136) + 1);
	/* Most pages of a live file are index pages. */
	if (err == ERR_OK)
		err = kvpages_expect_all(pages);
	if (err == ERR_OK)
		err = kvpages_table(pages, meta + 40, false, true);
	return err == ERR_OK ? kvpages_table(pages, meta + 88, true, false)
			     : err;
}

enum err
kvpages_check_view(int fd, uint64_t transaction)
{
	struct pages pages;
	enum err err = kvpages_init(&pages, fd);

	if (err == ERR_OK)
		err = check_view(&pages, transaction);
	kvpages_fini(&pages);
	return err;
}
