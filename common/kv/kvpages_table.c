/*
 * kvpages_table: the pages of a table: their kind, their nodes, the order of their
 * keys.
 */
#include "common/kv/kvpages_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/span.h"

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

/* Reads the page and those behind it, as far as the file has them. */
static void
read_ahead(struct pages *pages, uint64_t number)
{
	ssize_t got = pread(pages->fd, pages->ahead.bytes,
	    PAGES_AHEAD * pages->page, (off_t)(number * pages->page));

	pages->ahead.from = number;
	pages->ahead.to = number + (got < 0 ? 0 : (uint64_t)got / pages->page);
}

enum err
kvpages_expect_all(struct pages *pages)
{
	fs_expect(pages->fd, 0, pages->count * pages->page);
	pages->parts = malloc(PARTS_KEPT * PAGES_AHEAD * pages->page);
	return pages->parts == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/* From the part of the file that has it. */
static enum err
read_part(struct pages *pages, uint64_t number, unsigned char *page)
{
	uint64_t from = number / PAGES_AHEAD * PAGES_AHEAD;
	size_t part = from / PAGES_AHEAD % PARTS_KEPT;
	unsigned char *bytes = pages->parts + part * PAGES_AHEAD * pages->page;

	if (number < pages->part_from[part] || number >= pages->part_to[part]) {
		ssize_t got = pread(pages->fd, bytes, PAGES_AHEAD * pages->page,
		    (off_t)(from * pages->page));

		pages->part_from[part] = from;
		pages->part_to[part] =
		    from + (got < 0 ? 0 : (uint64_t)got / pages->page);
		if (number >= pages->part_to[part])
			return read_bytes(pages, number, page, pages->page);
	}
	memcpy(page, bytes + (number - from) * pages->page, pages->page);
	return u64_at(page) == number ? ERR_OK : ERR_DAMAGED;
}

enum err
kvpages_read(struct pages *pages, uint64_t number, unsigned char *page)
{
	bool follows = number == pages->ahead.next;

	if (pages->parts != NULL)
		return read_part(pages, number, page);
	pages->ahead.next = number + 1;
	if (pages->ahead.bytes == NULL)
		return read_bytes(pages, number, page, pages->page);
	if (follows && number >= pages->ahead.to)
		read_ahead(pages, number);
	if (number < pages->ahead.from || number >= pages->ahead.to)
		return read_bytes(pages, number, page, pages->page);
	memcpy(page,
	    pages->ahead.bytes + (number - pages->ahead.from) * pages->page,
	    pages->page);
	return u64_at(page) == number ? ERR_OK : ERR_DAMAGED;
}

/*
 * Marks a page as used; ERR_DAMAGED when it is used already or does not exist.
 */
static enum err
take(struct pages *pages, uint64_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64;

	if (number < 2 || number >= pages->count)
		return ERR_DAMAGED;
	if (pages->taken == NULL)
		return ERR_OK;
	if ((pages->taken[number / 64] & bit) != 0)
		return ERR_DAMAGED;
	pages->taken[number / 64] |= bit;
	return ERR_OK;
}

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

/*
 * Takes the pages of a large value; only the first has a head to verify. In an
 * immutable file nobody reads it, and each would be a turn of the disk.
 */
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
	if (err != ERR_OK || pages->frozen)
		return err;
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

enum err
kvpages_leaf_node(struct tree *tree, const unsigned char *node, size_t room)
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
	if (flags == NODE_TABLE && (!tree->main || bytes != TABLE_BYTES))
		return ERR_DAMAGED;
	if (flags == NODE_TABLE)
		return tree->pages->taken == NULL
		    ? ERR_OK
		    : kvpages_table(tree->pages, value, false, false);
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

enum err
kvpages_key(struct span *key, const struct tree *tree,
    const unsigned char *page, size_t at)
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
		if (kvpages_key(&key, tree, page, at) != ERR_OK || key.len == 0)
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

/* Asks for the pages below a branch, those that follow one another at once. */
static void
expect_children(
    const struct pages *pages, const unsigned char *page, size_t lower)
{
	uint64_t from = 0, to = 0;

	for (size_t at = PAGE_HEAD; at < lower; at += 2) {
		uint64_t child = kvpages_child(page, at);

		if (child == to) {
			to++;
			continue;
		}
		fs_expect(
		    pages->fd, from * pages->page, (to - from) * pages->page);
		from = child;
		to = child + 1;
	}
	fs_expect(pages->fd, from * pages->page, (to - from) * pages->page);
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
	struct bounds part;
	enum err err = ERR_OK;

	if (levels > 1 && tree->pages->parts == NULL)
		expect_children(tree->pages, page, lower);
	for (size_t at = PAGE_HEAD; at < lower && err == ERR_OK; at += 2) {
		if (levels == 1) {
			err = kvpages_leaf_node(tree, page + u16_at(page + at),
			    tree->pages->page - u16_at(page + at));
			continue;
		}
		err = kvpages_part(&part, tree, page, at, bounds);
		if (err == ERR_OK)
			err = check_page(
			    tree, kvpages_child(page, at), levels - 1, &part);
	}
	return err;
}

enum err
kvpages_part(struct bounds *part, const struct tree *tree,
    const unsigned char *page, size_t at, const struct bounds *bounds)
{
	enum err err = ERR_OK;

	*part = *bounds;
	if (at > PAGE_HEAD)
		err = kvpages_key(&part->low, tree, page, at);
	if (err == ERR_OK && at + 2 < u16_at(page + 12))
		err = kvpages_key(&part->high, tree, page, at + 2);
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

enum err
kvpages_load(unsigned char **out, struct tree *tree, uint64_t number,
    unsigned levels, const struct bounds *bounds)
{
	unsigned char *page;
	struct span first;
	bool leaf = levels == 1;
	enum err err = take(tree->pages, number);

	*out = NULL;
	if (err != ERR_OK)
		return err;
	page = malloc(tree->pages->page);
	if (page == NULL)
		return ERR_NO_MEMORY;
	err = kvpages_read(tree->pages, number, page);
	if (err == ERR_OK)
		err = check_kind(tree, page, levels);
	if (err == ERR_OK)
		err = kvpages_key(&first, tree, page, PAGE_HEAD);
	if (err == ERR_OK)
		err = check_keys(tree, page, PAGE_HEAD + (leaf ? 0 : 2),
		    u16_at(page + 12), bounds);
	if (err == ERR_OK)
		*out = page;
	else
		free(page);
	return err;
}

static enum err
check_page(struct tree *tree, uint64_t number, unsigned levels,
    const struct bounds *bounds)
{
	unsigned char *page;
	enum err err = kvpages_load(&page, tree, number, levels, bounds);

	if (err == ERR_OK)
		err = check_nodes(tree, page, levels, bounds);
	free(page);
	return err;
}

enum err
kvpages_root(
    uint64_t *root, unsigned *depth, const unsigned char *table, bool free)
{
	*root = u64_at(table + 40);
	*depth = u16_at(table + 6);
	/* None of the kinds that kv makes. Behind those of free pages stand
	   flags of the environment. */
	if (free ? (u16_at(table + 4) & FLAG_KINDS) != FLAG_INTEGERS
		 : u16_at(table + 4) != 0)
		return ERR_DAMAGED;
	if (*root == NO_PAGE)
		return *depth == 0 && u64_at(table + 32) == 0 ? ERR_OK
							      : ERR_DAMAGED;
	return *depth == 0 || *depth > DEPTH_MAX ? ERR_DAMAGED : ERR_OK;
}

enum err
kvpages_table(
    struct pages *pages, const unsigned char *table, bool main, bool free)
{
	struct tree tree = {.pages = pages, .main = main, .free = free};
	uint64_t root;
	unsigned depth;
	enum err err = kvpages_root(&root, &depth, table, free);

	return err == ERR_OK
	    ? kvpages_tree(&tree, root, depth, u64_at(table + 32))
	    : err;
}

enum err
kvpages_tree(struct tree *tree, uint64_t root, unsigned depth, uint64_t entries)
{
	const struct bounds all = {0};
	enum err err;

	if (root == NO_PAGE)
		return ERR_OK;
	err = check_page(tree, root, depth, &all);
	return err == ERR_OK && tree->entries != entries ? ERR_DAMAGED : err;
}
