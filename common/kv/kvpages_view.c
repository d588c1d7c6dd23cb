/*
 * kvpages_view: the pages on the way to one key, and to the leaves beside it.
 *
 * LMDB packs a page's nodes without a gap, from its end to `upper`. So a node
 * that damage hides leaves a gap.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/kv/kvpages.h"
#include "common/kv/kvpages_priv.h"

#define TABLES_MAX 12

struct table {
	uint64_t root, entries;
	unsigned depth;
};

struct kvpages_view {
	struct pages pages;
	struct table tables[TABLES_MAX];
	unsigned count;
};

/* Where a way leads: to a key, or to the first or last leaf below a page. */
enum aim { AIM_KEY, AIM_FIRST, AIM_LAST };

struct way {
	struct tree tree;
	struct span key;
	enum aim aim;
	bool before, behind; /* the leaves beside have been seen */
	struct kvpages_reach *reach; /* of AIM_KEY */
	struct table *found; /* the key's value is a table: gets it */
};

/* --- a page --------------------------------------------------------------- */

static size_t
node_bytes(const unsigned char *node, bool leaf)
{
	size_t bytes = NODE_HEAD + u16_at(node + 6);

	if (leaf && u16_at(node + 4) == NODE_LARGE)
		bytes += sizeof(uint64_t);
	else if (leaf)
		bytes += u32_at(node);
	return bytes + bytes % 2;
}

/* The nodes, which lie on the page, fill it from `upper` on. */
static enum err
check_full(const struct tree *tree, const unsigned char *page, bool leaf)
{
	size_t used = tree->pages->page - u16_at(page + 14);

	for (size_t at = PAGE_HEAD; at < u16_at(page + 12); at += 2) {
		size_t bytes = node_bytes(page + u16_at(page + at), leaf);

		if (bytes > used)
			return ERR_DAMAGED;
		used -= bytes;
	}
	return used == 0 ? ERR_OK : ERR_DAMAGED;
}

static enum err
check_leaf(struct tree *tree, const unsigned char *page)
{
	enum err err = ERR_OK;

	for (size_t at = PAGE_HEAD; at < u16_at(page + 12) && err == ERR_OK;
	     at += 2)
		err = kvpages_leaf_node(tree, page + u16_at(page + at),
		    tree->pages->page - u16_at(page + at));
	return err == ERR_OK ? check_full(tree, page, true) : err;
}

/* --- the way -------------------------------------------------------------- */

static enum err check_way(struct way *way, uint64_t number, unsigned levels,
    const struct bounds *bounds);

/* The node whose page has the key, as LMDB finds it. */
static size_t
place_of(const struct way *way, const unsigned char *page)
{
	size_t at = PAGE_HEAD, last = u16_at(page + 12) - 2u;
	struct span key;

	if (way->aim != AIM_KEY)
		return way->aim == AIM_FIRST ? at : last;
	while (at < last &&
	    kvpages_key(&key, &way->tree, page, at + 2) == ERR_OK &&
	    span_cmp(key, way->key) <= 0)
		at += 2;
	return at;
}

static enum err
go_down(struct way *way, const unsigned char *page, size_t at, unsigned levels,
    const struct bounds *bounds)
{
	struct bounds part;
	enum err err = kvpages_part(&part, &way->tree, page, at, bounds);

	return err == ERR_OK
	    ? check_way(way, kvpages_child(page, at), levels - 1, &part)
	    : err;
}

static void
keep_reach(struct way *way, const unsigned char *page, size_t at)
{
	struct kvpages_reach *reach = way->reach;
	struct span key;

	if (kvpages_key(&key, &way->tree, page, at) != ERR_OK ||
	    key.len > sizeof(reach->key))
		key.len = 0; /* the next step looks again */
	reach->end = false;
	reach->len = key.len;
	memcpy(reach->key, key.ptr, key.len);
}

/* The lowest page that has a page beside the one on the way is the first. */
static enum err
look_beside(struct way *way, const unsigned char *page, size_t at,
    unsigned levels, const struct bounds *bounds)
{
	bool last = at + 2 == u16_at(page + 12);
	enum err err = ERR_OK;

	if (!way->before && at > PAGE_HEAD) {
		way->before = true;
		way->aim = AIM_LAST;
		err = go_down(way, page, at - 2, levels, bounds);
	}
	if (err == ERR_OK && !way->behind && !last) {
		way->behind = true;
		way->aim = AIM_FIRST;
		keep_reach(way, page, at + 2);
		err = go_down(way, page, at + 2, levels, bounds);
	}
	way->aim = AIM_KEY;
	return err;
}

static enum err
check_through(struct way *way, const unsigned char *page, unsigned levels,
    const struct bounds *bounds)
{
	size_t at;
	enum err err = check_full(&way->tree, page, false);

	if (err != ERR_OK)
		return err;
	at = place_of(way, page);
	if (way->aim != AIM_KEY)
		return go_down(way, page, at, levels, bounds);
	err = go_down(way, page, at, levels, bounds);
	return err == ERR_OK ? look_beside(way, page, at, levels, bounds) : err;
}

static enum err
read_table(struct table *table, const unsigned char *bytes, bool free)
{
	table->entries = u64_at(bytes + 32);
	return kvpages_root(&table->root, &table->depth, bytes, free);
}

/* Of the main table: the table that the key names. */
static enum err
take_table(struct way *way, const unsigned char *page)
{
	for (size_t at = PAGE_HEAD; at < u16_at(page + 12); at += 2) {
		const unsigned char *node = page + u16_at(page + at);
		struct span key = span_make(node + NODE_HEAD, u16_at(node + 6));

		if (!span_eq(key, way->key))
			continue;
		if (u16_at(node + 4) != NODE_TABLE)
			return ERR_DAMAGED;
		return read_table(
		    way->found, node + NODE_HEAD + key.len, false);
	}
	return ERR_DAMAGED;
}

static enum err
check_way(struct way *way, uint64_t number, unsigned levels,
    const struct bounds *bounds)
{
	unsigned char *page;
	enum err err = kvpages_load(&page, &way->tree, number, levels, bounds);

	if (err == ERR_OK && levels > 1)
		err = check_through(way, page, levels, bounds);
	else if (err == ERR_OK)
		err = check_leaf(&way->tree, page);
	if (err == ERR_OK && levels == 1 && way->aim == AIM_KEY &&
	    way->found != NULL)
		err = take_table(way, page);
	free(page);
	return err;
}

/* --- the view ------------------------------------------------------------- */

/* A table of one page has all its records there. */
static enum err
look(struct way *way, const struct table *table)
{
	const struct bounds all = {0};
	enum err err;

	way->reach->end = true;
	way->reach->len = 0;
	if (table->root == NO_PAGE)
		return ERR_OK;
	err = check_way(way, table->root, table->depth, &all);
	return err == ERR_OK && table->depth == 1 &&
		way->tree.entries != table->entries
	    ? ERR_DAMAGED
	    : err;
}

/* No page is the root of two tables. */
static bool
has_root(const struct kvpages_view *view, unsigned count, uint64_t root)
{
	for (unsigned i = 0; i < count; i++)
		if (root != NO_PAGE && view->tables[i].root == root)
			return true;
	return false;
}

static enum err
find_table(
    struct kvpages_view *view, const struct table *main, const char *name)
{
	struct table *table = &view->tables[view->count];
	struct kvpages_reach reach;
	struct way way = {.tree = {.pages = &view->pages, .main = true},
	    .key = span_of(name),
	    .reach = &reach,
	    .found = table};
	enum err err = look(&way, main);

	if (err == ERR_OK && has_root(view, view->count, table->root))
		err = ERR_DAMAGED;
	view->count++;
	return err;
}

static enum err
find_tables(struct kvpages_view *view, const unsigned char *meta,
    char *const *names, unsigned count)
{
	struct table main, spare;
	enum err err = read_table(&spare, meta + 40, true);

	if (err == ERR_OK)
		err = read_table(&main, meta + 88, false);
	if (err == ERR_OK && main.root == NO_PAGE)
		return ERR_DAMAGED;
	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err = find_table(view, &main, names[i]);
	return err;
}

enum err
kvpages_view_open(struct kvpages_view **out, int fd, uint64_t transaction,
    char *const *names, unsigned count)
{
	struct kvpages_view *view = calloc(1, sizeof(*view));
	const unsigned char *meta;
	enum err err;

	assert(count <= TABLES_MAX);
	*out = NULL;
	if (view == NULL)
		return ERR_NO_MEMORY;
	err = kvpages_init(&view->pages, fd);
	if (err == ERR_OK)
		err = kvpages_meta(&meta, &view->pages, transaction);
	if (err == ERR_OK) {
		view->pages.count = u64_at(meta + 136) + 1;
		err = find_tables(view, meta, names, count);
	}
	if (err == ERR_OK)
		*out = view;
	else
		kvpages_view_close(view);
	return err;
}

enum err
kvpages_view_frozen(struct kvpages_view **out, int fd, uint64_t file_bytes,
    char *const *names, unsigned count)
{
	struct kvpages_view *view = calloc(1, sizeof(*view));
	const unsigned char *meta;
	enum err err;

	assert(count <= TABLES_MAX);
	*out = NULL;
	if (view == NULL)
		return ERR_NO_MEMORY;
	err = kvpages_init(&view->pages, fd);
	if (err == ERR_OK)
		err = kvpages_newest(&meta, &view->pages, file_bytes);
	if (err == ERR_OK) {
		view->pages.frozen = true;
		view->pages.count = u64_at(meta + 136) + 1;
		err = find_tables(view, meta, names, count);
	}
	if (err == ERR_OK)
		*out = view;
	else
		kvpages_view_close(view);
	return err;
}

enum err
kvpages_view_table(struct kvpages_view *view, int fd, unsigned table)
{
	const struct table *of = &view->tables[table];
	struct tree tree = {.pages = &view->pages};
	enum err err = ERR_OK;

	assert(table < view->count && view->pages.frozen);
	view->pages.fd = fd;
	if (view->pages.taken == NULL)
		err = kvpages_begin(&view->pages);
	if (err == ERR_OK)
		err = kvpages_tree(&tree, of->root, of->depth, of->entries);
	if (err != ERR_OK) { /* half of its pages are marked */
		free(view->pages.taken);
		free(view->pages.ahead.bytes);
		view->pages.taken = NULL;
		view->pages.ahead.bytes = NULL;
	}
	return err;
}

void
kvpages_view_close(struct kvpages_view *view)
{
	if (view == NULL)
		return;
	kvpages_fini(&view->pages);
	free(view);
}

enum err
kvpages_view_look(struct kvpages_reach *reach, struct kvpages_view *view,
    unsigned table, struct span key)
{
	struct way way = {
	    .tree = {.pages = &view->pages}, .key = key, .reach = reach};

	assert(table < view->count);
	return look(&way, &view->tables[table]);
}
