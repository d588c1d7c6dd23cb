/*
 * The layout of LMDB 0.9's pages on a 64-bit machine, all little-endian:
 *
 *	page   0 number, 10 flags (u16), 12 lower (u16), 14 upper (u16),
 *	       16 the places of its nodes (u16 each) up to `lower`
 *	meta   a page: 16 magic, 20 version, 40 the table of free pages,
 *	       88 the main table, 136 last page, 144 transaction
 *	table  0 page size (u32), 4 flags (u16), 6 depth (u16),
 *	       32 how many nodes its leaves have, 40 root
 *	node   0 size or page number (u32), 4 flags (u16), 6 key length (u16),
 *	       8 the key, then the value; of a large value: its page number
 *
 *	large  a page and those behind it: 12 how many (u32), 16 the value
 *
 * A branch's node names its page by bytes 0..5. Its key is above all keys of
 * the page before and at most the first key of its own page; the key of a
 * branch's first node is unused. So a page's keys have bounds, which every page
 * above it narrows. A named table is a node of the main table whose value is a
 * table. In the table of free pages keys are transactions, u64, and values a
 * count and then as many page numbers.
 */
#include "common/kv/kvpages.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define PAGE_MAX 65536
#define PAGE_HEAD 16
#define NODE_HEAD 8
#define TABLE_BYTES 48
#define DEPTH_MAX 16
#define MAP_PAGES_MAX (UINT64_C(1) << 32) /* more than any file of kv has */
#define NO_PAGE UINT64_MAX
#define MAGIC 0xBEEFC0DE

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_LARGE = 4, PAGE_META = 8 };
enum { NODE_LARGE = 1, NODE_TABLE = 2 };
enum { FLAG_INTEGERS = 8, FLAG_KINDS = 0xfff };

struct pages {
	int fd;
	size_t page; /* bytes of a page */
	uint64_t count; /* pages in use */
	uint64_t *taken; /* a bit for each page: in a tree, or listed as free */
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
read_bytes(
    const struct pages *pages, uint64_t number, unsigned char *page, size_t len)
{
	off_t at = (off_t)(number * pages->page);
	size_t done = 0;

	while (done < len) {
		ssize_t got =
		    pread(pages->fd, page + done, len - done, at + (off_t)done);

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

static enum err
read_page(const struct pages *pages, uint64_t number, unsigned char *page)
{
	return read_bytes(pages, number, page, pages->page);
}

/*
 * Marks a page as used; ERR_DAMAGED when it is used already or does not exist.
 */
static enum err
take(struct pages *pages, uint64_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64;

	if (number < 2 || number >= pages->count ||
	    (pages->taken[number / 64] & bit) != 0)
		return ERR_DAMAGED;
	pages->taken[number / 64] |= bit;
	return ERR_OK;
}

/* --- one table ------------------------------------------------------------ */

/* The tree being walked. */
struct tree {
	struct pages *pages;
	bool free; /* the table of free pages */
	bool main; /* may have tables in it */
	uint64_t entries; /* nodes of leaves met so far */
};

/* The bounds of a page's keys: from `low` on, below `high`. */
struct bounds {
	struct span low, high; /* without ptr: none */
};

static enum err check_table(
    struct pages *pages, const unsigned char *table, bool main, bool free);
static enum err check_page(struct tree *tree, uint64_t number, unsigned levels,
    const struct bounds *bounds);

static int
cmp(const struct tree *tree, struct span a, struct span b)
{
	uint64_t x, y;

	if (!tree->free)
		return span_cmp(a, b);
	x = u64_at((const unsigned char *)a.ptr);
	y = u64_at((const unsigned char *)b.ptr);
	return x < y ? -1 : x > y;
}

/* Takes the pages of a large value; only the first has a head to verify. */
static enum err
check_large(struct pages *pages, uint64_t number, uint64_t bytes)
{
	unsigned char head[PAGE_HEAD];
	uint64_t count = (PAGE_HEAD + bytes - 1) / pages->page + 1;
	enum err err = take(pages, number);

	if (err == ERR_OK && count > pages->count - number)
		err = ERR_DAMAGED;
	for (uint64_t i = 1; i < count && err == ERR_OK; i++)
		err = take(pages, number + i);
	if (err == ERR_OK)
		err = read_bytes(pages, number, head, sizeof(head));
	if (err == ERR_OK &&
	    (u16_at(head + 10) != PAGE_LARGE || u32_at(head + 12) != count))
		err = ERR_DAMAGED;
	return err;
}

static enum err
take_free(struct pages *pages, const unsigned char *value, uint64_t bytes)
{
	uint64_t count = bytes < 8 ? UINT64_MAX : u64_at(value);
	enum err err = count <= bytes / 8 - 1 ? ERR_OK : ERR_DAMAGED;

	for (uint64_t i = 1; err == ERR_OK && i <= count; i++)
		err = take(pages, u64_at(value + 8 * i));
	return err;
}

/* Takes the pages of a free list that is stored as a large value. */
static enum err
take_large_free(struct pages *pages, uint64_t number, uint64_t bytes)
{
	unsigned char *all = malloc(PAGE_HEAD + bytes);
	enum err err = all == NULL
	    ? ERR_NO_MEMORY
	    : read_bytes(pages, number, all, PAGE_HEAD + bytes);

	if (err == ERR_OK)
		err = take_free(pages, all + PAGE_HEAD, bytes);
	free(all);
	return err;
}

/*
 * Checks a leaf's node: its value is inline, on pages of its own, or a table.
 */
static enum err
check_leaf_node(struct tree *tree, const unsigned char *node, size_t room)
{
	uint64_t bytes = u32_at(node), number;
	uint16_t flags = u16_at(node + 4);
	size_t key = u16_at(node + 6);
	const unsigned char *value = node + NODE_HEAD + key;
	enum err err;

	if (flags > NODE_TABLE || key == 0)
		return ERR_DAMAGED;
	room -= key + NODE_HEAD;
	tree->entries++;
	if (flags != NODE_LARGE && bytes > room)
		return ERR_DAMAGED;
	if (flags == NODE_TABLE)
		return tree->main && bytes == TABLE_BYTES
		    ? check_table(tree->pages, value, false, false)
		    : ERR_DAMAGED;
	if (flags == 0)
		return tree->free ? take_free(tree->pages, value, bytes)
				  : ERR_OK;
	if (room < sizeof(number))
		return ERR_DAMAGED;
	number = u64_at(value);
	err = check_large(tree->pages, number, bytes);
	return err == ERR_OK && tree->free
	    ? take_large_free(tree->pages, number, bytes)
	    : err;
}

static uint64_t
child_of(const unsigned char *node)
{
	return u32_at(node) | (uint64_t)u16_at(node + 4) << 32;
}

/* Gets a node's key; ERR_DAMAGED unless node and key lie on the page. */
static enum err
key_at(struct span *key, const struct tree *tree, const unsigned char *page,
    size_t at)
{
	size_t place = u16_at(page + at), size = tree->pages->page, len;

	if (place < u16_at(page + 14) || place + NODE_HEAD > size)
		return ERR_DAMAGED;
	len = u16_at(page + place + 6);
	if (place + NODE_HEAD + len > size ||
	    (tree->free && len != sizeof(uint64_t) && len != 0))
		return ERR_DAMAGED;
	*key = span_make(page + place + NODE_HEAD, len);
	return ERR_OK;
}

/* Checks that the page's keys ascend, and lie within its bounds. */
static enum err
check_keys(struct tree *tree, const unsigned char *page, size_t first,
    size_t lower, const struct bounds *bounds)
{
	struct span before = bounds->low, key;

	for (size_t at = first; at < lower; at += 2) {
		if (key_at(&key, tree, page, at) != ERR_OK || key.len == 0)
			return ERR_DAMAGED;
		if (before.ptr != NULL &&
		    cmp(tree, before, key) >= (at == first ? 1 : 0))
			return ERR_DAMAGED;
		before = key;
	}
	return bounds->high.ptr == NULL || first >= lower ||
		cmp(tree, before, bounds->high) < 0
	    ? ERR_OK
	    : ERR_DAMAGED;
}

/*
 * Descends into the nodes. check_keys() has verified the keys, except the
 * unused first key of a branch.
 */
static enum err
check_nodes(struct tree *tree, const unsigned char *page, unsigned levels,
    const struct bounds *bounds)
{
	size_t lower = u16_at(page + 12);
	struct bounds part = *bounds;
	enum err err = ERR_OK;

	for (size_t at = PAGE_HEAD; at < lower && err == ERR_OK; at += 2) {
		const unsigned char *node = page + u16_at(page + at);
		struct span key;

		if (levels == 1) {
			err = check_leaf_node(
			    tree, node, tree->pages->page - u16_at(page + at));
			continue;
		}
		part.low = bounds->low;
		part.high = bounds->high;
		if (at > PAGE_HEAD)
			err = key_at(&part.low, tree, page, at);
		if (err == ERR_OK && at + 2 < lower) {
			err = key_at(&key, tree, page, at + 2);
			part.high = key;
		}
		if (err == ERR_OK)
			err =
			    check_page(tree, child_of(node), levels - 1, &part);
	}
	return err;
}

/* All leaves have the same depth, so a page's level decides its kind. */
static enum err
check_kind(const struct tree *tree, const unsigned char *page, unsigned levels)
{
	size_t lower = u16_at(page + 12), upper = u16_at(page + 14);
	bool leaf = levels == 1;

	return u16_at(page + 10) == (leaf ? PAGE_LEAF : PAGE_BRANCH) &&
		lower % 2 == 0 && lower >= PAGE_HEAD + (leaf ? 2 : 4) &&
		lower <= upper && upper <= tree->pages->page
	    ? ERR_OK
	    : ERR_DAMAGED;
}

static enum err
check_page(struct tree *tree, uint64_t number, unsigned levels,
    const struct bounds *bounds)
{
	unsigned char *page;
	struct span first;
	bool leaf = levels == 1;
	enum err err = take(tree->pages, number);

	if (err != ERR_OK)
		return err;
	page = malloc(tree->pages->page);
	if (page == NULL)
		return ERR_NO_MEMORY;
	err = read_page(tree->pages, number, page);
	if (err == ERR_OK)
		err = check_kind(tree, page, levels);
	if (err == ERR_OK)
		err = key_at(&first, tree, page, PAGE_HEAD);
	if (err == ERR_OK)
		err = check_keys(tree, page, PAGE_HEAD + (leaf ? 0 : 2),
		    u16_at(page + 12), bounds);
	if (err == ERR_OK)
		err = check_nodes(tree, page, levels, bounds);
	free(page);
	return err;
}

static enum err
check_table(
    struct pages *pages, const unsigned char *table, bool main, bool free)
{
	struct tree tree = {.pages = pages, .main = main, .free = free};
	const struct bounds all = {0};
	uint64_t root = u64_at(table + 40);
	unsigned depth = u16_at(table + 6);
	enum err err;

	/* None of the kinds that kv makes. Behind those of free pages stand
	   flags of the environment. */
	if (free ? (u16_at(table + 4) & FLAG_KINDS) != FLAG_INTEGERS
		 : u16_at(table + 4) != 0)
		return ERR_DAMAGED;
	if (root == NO_PAGE)
		return depth == 0 && u64_at(table + 32) == 0 ? ERR_OK
							     : ERR_DAMAGED;
	if (depth == 0 || depth > DEPTH_MAX)
		return ERR_DAMAGED;
	err = check_page(&tree, root, depth, &all);
	if (err == ERR_OK && tree.entries != u64_at(table + 32))
		err = ERR_DAMAGED;
	return err;
}

/* --- the file ------------------------------------------------------------- */

static enum err
check_meta(const unsigned char *meta, size_t page)
{
	if (u16_at(meta + 10) != PAGE_META || u32_at(meta + 16) != MAGIC ||
	    u32_at(meta + 40) != page)
		return ERR_DAMAGED;
	return ERR_OK;
}

/* Reads both meta pages, and verifies them. */
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
	free(pages->taken);
}

/* Sets the number of pages: a reference beyond it is damage. */
static enum err
set_count(struct pages *pages, uint64_t count)
{
	pages->count = count;
	pages->taken = calloc(count / 64 + 1, sizeof(*pages->taken));
	return pages->taken == NULL ? ERR_NO_MEMORY : ERR_OK;
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
	enum err err;

	if (u64_at(pages->second + 144) > u64_at(pages->first + 144))
		newest = pages->second;
	if (u64_at(newest + 136) >= file_bytes / pages->page)
		return ERR_DAMAGED;
	err = set_count(pages, u64_at(newest + 136) + 1);
	return err == ERR_OK ? check_table(pages, newest + 88, true, false)
			     : err;
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
 * Commits alternate between the meta pages, so their transactions must be
 * consecutive, even ones in the first. In a new file both are 0. The other page
 * may be of the next commit, which counts only when it is on the disk.
 */
static enum err
find_view(const unsigned char **meta, struct pages *pages, uint64_t transaction)
{
	uint64_t even = u64_at(pages->first + 144),
		 odd = u64_at(pages->second + 144);

	*meta = transaction % 2 == 0 ? pages->first : pages->second;
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
	enum err err = find_view(&meta, pages, transaction);

	if (err == ERR_OK && u64_at(meta + 136) >= MAP_PAGES_MAX)
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		err = set_count(pages, u64_at(meta + 136) + 1);
	if (err == ERR_OK)
		err = check_table(pages, meta + 40, false, true);
	return err == ERR_OK ? check_table(pages, meta + 88, true, false) : err;
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
