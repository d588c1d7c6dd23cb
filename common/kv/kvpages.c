/*
 * The layout of LMDB 0.9's pages on a 64-bit machine, all little-endian:
 *
 *	page   0 number, 10 flags (u16), 12 lower (u16), 14 upper (u16),
 *	       16 the places of its nodes (u16 each) up to `lower`
 *	meta   a page: 16 magic, 20 version, 40 the table of free pages,
 *	       88 the main table, 136 last page, 144 transaction
 *	table  0 page size (u32), 4 flags (u16), 6 depth (u16), 40 root
 *	node   0 size or page number (u32), 4 flags (u16), 6 key length (u16),
 *	       8 the key, then the value; of a large value: its page number
 *
 * A branch's node names its page by bytes 0..5. A named table is a node of
 * the main table whose value is a table.
 */
#include "common/kv/kvpages.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MAX 65536
#define PAGE_HEAD 16
#define NODE_HEAD 8
#define TABLE_BYTES 48
#define DEPTH_MAX 16
#define NO_PAGE UINT64_MAX
#define MAGIC 0xBEEFC0DE

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_META = 8 };
enum { NODE_LARGE = 1, NODE_TABLE = 2, NODE_DUPLICATES = 4 };

struct pages {
	int fd;
	size_t page; /* bytes of a page */
	uint64_t count; /* pages in use */
	uint64_t visits; /* left: no page is visited twice in a tree */
	unsigned char *first, *second; /* the meta pages */
};

static uint16_t
u16_at(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static uint32_t
u32_at(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t
u64_at(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static enum err
read_page(const struct pages *pages, uint64_t number, unsigned char *page)
{
	off_t at = (off_t)(number * pages->page);
	size_t done = 0;

	while (done < pages->page) {
		ssize_t got = pread(pages->fd, page + done, pages->page - done,
		    at + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_from_errno(errno);
		if (got == 0)
			return ERR_DAMAGED;
		done += (size_t)got;
	}
	return u64_at(page) == number ? ERR_OK : ERR_DAMAGED;
}

static enum err check_table(
    struct pages *pages, const unsigned char *table, unsigned depth);
static enum err check_page(
    struct pages *pages, uint64_t number, unsigned depth);

/* A leaf's node: its value is here, on pages of its own, or a table. */
static enum err
check_leaf_node(
    struct pages *pages, const unsigned char *node, size_t room, unsigned depth)
{
	uint64_t bytes = u32_at(node), number;
	uint16_t flags = u16_at(node + 4);
	size_t key = u16_at(node + 6);
	const unsigned char *value = node + NODE_HEAD + key;

	if (key + NODE_HEAD > room || (flags & NODE_DUPLICATES) != 0)
		return ERR_DAMAGED;
	room -= key + NODE_HEAD;
	if ((flags & NODE_LARGE) == 0) {
		if (bytes > room)
			return ERR_DAMAGED;
		if ((flags & NODE_TABLE) == 0)
			return ERR_OK;
		return bytes == TABLE_BYTES ? check_table(pages, value, depth)
					    : ERR_DAMAGED;
	}
	if ((flags & NODE_TABLE) != 0 || room < sizeof(number))
		return ERR_DAMAGED;
	number = u64_at(value);
	if (number < 2 || number >= pages->count ||
	    PAGE_HEAD + bytes > (pages->count - number) * pages->page)
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
check_branch_node(
    struct pages *pages, const unsigned char *node, size_t room, unsigned depth)
{
	uint64_t number = u32_at(node) | (uint64_t)u16_at(node + 4) << 32;

	if ((size_t)u16_at(node + 6) + NODE_HEAD > room)
		return ERR_DAMAGED;
	return check_page(pages, number, depth + 1);
}

static enum err
check_nodes(struct pages *pages, const unsigned char *page, unsigned depth)
{
	uint16_t flags = u16_at(page + 10);
	size_t lower = u16_at(page + 12), upper = u16_at(page + 14);
	bool branch = flags == PAGE_BRANCH;
	enum err err = ERR_OK;

	if ((!branch && flags != PAGE_LEAF) || lower % 2 != 0 ||
	    lower < PAGE_HEAD + (branch ? 4 : 2) || lower > upper ||
	    upper > pages->page)
		return ERR_DAMAGED;
	for (size_t at = PAGE_HEAD; at < lower && err == ERR_OK; at += 2) {
		size_t place = u16_at(page + at);

		if (place < upper || place + NODE_HEAD > pages->page)
			return ERR_DAMAGED;
		err = (branch ? check_branch_node : check_leaf_node)(
		    pages, page + place, pages->page - place, depth);
	}
	return err;
}

static enum err
check_page(struct pages *pages, uint64_t number, unsigned depth)
{
	unsigned char *page;
	enum err err;

	if (number < 2 || number >= pages->count || depth > DEPTH_MAX ||
	    pages->visits-- == 0)
		return ERR_DAMAGED;
	page = malloc(pages->page);
	if (page == NULL)
		return ERR_NO_MEMORY;
	err = read_page(pages, number, page);
	if (err == ERR_OK)
		err = check_nodes(pages, page, depth);
	free(page);
	return err;
}

static enum err
check_root(struct pages *pages, const unsigned char *table, unsigned depth)
{
	uint64_t root = u64_at(table + 40);

	return root == NO_PAGE ? ERR_OK : check_page(pages, root, depth + 1);
}

static enum err
check_table(struct pages *pages, const unsigned char *table, unsigned depth)
{
	if (u16_at(table + 4) != 0) /* none of the kinds that kv makes */
		return ERR_DAMAGED;
	return check_root(pages, table, depth);
}

static enum err
check_meta(const unsigned char *meta, size_t page)
{
	if (u16_at(meta + 10) != PAGE_META || u32_at(meta + 16) != MAGIC ||
	    u32_at(meta + 40) != page)
		return ERR_DAMAGED;
	return ERR_OK;
}

/* Opens both meta pages, and looks them over. */
static enum err
pages_init(struct pages *pages, int fd)
{
	enum err err;

	*pages =
	    (struct pages){.fd = fd, .page = (size_t)sysconf(_SC_PAGESIZE)};
	if (pages->page > PAGE_MAX)
		return ERR_DAMAGED;
	pages->first = malloc(2 * pages->page);
	if (pages->first == NULL)
		return ERR_NO_MEMORY;
	pages->second = pages->first + pages->page;
	err = read_page(pages, 0, pages->first);
	if (err == ERR_OK)
		err = read_page(pages, 1, pages->second);
	if (err == ERR_OK)
		err = check_meta(pages->first, pages->page);
	if (err == ERR_OK)
		err = check_meta(pages->second, pages->page);
	return err;
}

static void
pages_fini(struct pages *pages)
{
	free(pages->first);
}

enum err
kvpages_check_head(int fd)
{
	struct pages pages;
	enum err err = pages_init(&pages, fd);

	pages_fini(&pages);
	return err;
}

/* LMDB uses the meta page of the later transaction. */
static enum err
check_newest(struct pages *pages, uint64_t file_bytes)
{
	const unsigned char *newest = pages->first;

	if (u64_at(pages->second + 144) > u64_at(pages->first + 144))
		newest = pages->second;
	if (u64_at(newest + 136) >= file_bytes / pages->page)
		return ERR_DAMAGED;
	pages->count = u64_at(newest + 136) + 1;
	pages->visits = pages->count;
	return check_table(pages, newest + 88, 0);
}

enum err
kvpages_check(int fd, uint64_t file_bytes)
{
	struct pages pages;
	enum err err = pages_init(&pages, fd);

	if (err == ERR_OK)
		err = check_newest(&pages, file_bytes);
	pages_fini(&pages);
	return err;
}

/*
 * The list of free pages is walked too: writers follow it. Pages at the end
 * that were given back may be missing in the file, and are then in no tree.
 */
static enum err
check_view(struct pages *pages, uint64_t transaction)
{
	const unsigned char *meta = pages->first;
	enum err err;

	if (u64_at(pages->second + 144) == transaction)
		meta = pages->second;
	if (u64_at(meta + 144) != transaction)
		return ERR_BUSY;
	pages->count = u64_at(meta + 136) + 1;
	pages->visits = pages->count;
	err = check_root(pages, meta + 40, 0);
	return err == ERR_OK ? check_table(pages, meta + 88, 0) : err;
}

enum err
kvpages_check_view(int fd, uint64_t transaction)
{
	struct pages pages;
	enum err err = pages_init(&pages, fd);

	if (err == ERR_OK)
		err = check_view(&pages, transaction);
	pages_fini(&pages);
	return err;
}
