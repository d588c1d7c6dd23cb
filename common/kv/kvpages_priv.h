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
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
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

/* Pages are read so many at once where they follow one another. */
#define PAGES_AHEAD 16

/* Parts of so many pages that are kept: a walk goes back and forth a little. */
#define PARTS_KEPT 32

struct pages {
	int fd;
	size_t page; /* bytes of a page */
	uint64_t count; /* pages in use */
	/*
	 * A bit for each page: in a tree, or listed as free. NULL: pages are
	 * looked at one by one, and the tables in the main one not at all.
	 */
	uint64_t *taken;
	bool frozen; /* no heads of large values: only writers use them */
	unsigned char *first, *second; /* the meta pages */
	struct {
		unsigned char *bytes; /* NULL: pages are read one by one */
		uint64_t from, to; /* the pages that are there */
		uint64_t next; /* behind the page that was read last */
	} ahead;
	/* Of a live file, nearly all of which is read, part by part: */
	unsigned char *parts; /* NULL: of another file */
	uint64_t part_from[PARTS_KEPT], part_to[PARTS_KEPT];
};

static inline uint16_t
u16_at(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t
u32_at(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t
u64_at(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

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

/* kvpages.c: reads both meta pages, and finds that of a view. */
enum err kvpages_init(struct pages *pages, int fd);
void kvpages_fini(struct pages *pages);
enum err kvpages_meta(
    const unsigned char **meta, struct pages *pages, uint64_t transaction);

enum err kvpages_read(
    struct pages *pages, uint64_t number, unsigned char *page);

/* Walks a table, and marks its pages as used; ERR_DAMAGED when one is not sound. */
enum err kvpages_table(
    struct pages *pages, const unsigned char *table, bool main, bool free);

/* The same of a table that kvpages_root() has read. */
enum err kvpages_tree(
    struct tree *tree, uint64_t root, unsigned depth, uint64_t entries);

/* kvpages.c: the newer meta page of a file of so many bytes. */
enum err kvpages_newest(
    const unsigned char **meta, const struct pages *pages, uint64_t file_bytes);

/* The file will be read part by part, and the kernel is asked for all of it. */
enum err kvpages_expect_all(struct pages *pages);

/* Gets the bits of the pages, and room to read ahead. */
enum err kvpages_begin(struct pages *pages);

/* A table's root and depth; NO_PAGE and 0 for an empty one. */
enum err kvpages_root(
    uint64_t *root, unsigned *depth, const unsigned char *table, bool free);

/*
 * Reads a page of a tree, `levels` above the leaves' end, 1 for a leaf; its kind
 * and its keys are checked. The caller frees it.
 */
enum err kvpages_load(unsigned char **out, struct tree *tree, uint64_t number,
    unsigned levels, const struct bounds *bounds);

/*
 * Gets a node's key, by its place on the page; ERR_DAMAGED unless node and key
 * lie on the page.
 */
enum err kvpages_key(struct span *key, const struct tree *tree,
    const unsigned char *page, size_t at);

/*
 * Checks a leaf's node: its value is inline, on pages of its own, or a table.
 */
enum err kvpages_leaf_node(
    struct tree *tree, const unsigned char *node, size_t room);

/* The page that a branch's node names, by the node's place. */
static inline uint64_t
kvpages_child(const unsigned char *page, size_t at)
{
	const unsigned char *node = page + u16_at(page + at);

	return u32_at(node) | (uint64_t)u16_at(node + 4) << 32;
}

/* The bounds of that page. */
enum err kvpages_part(struct bounds *part, const struct tree *tree,
    const unsigned char *page, size_t at, const struct bounds *bounds);
