/*
 * All snapshots -> rows and words -> ranks -> the words' lists -> the grams'
 * lists -> the file. Lists are made in two passes: one counts the entries of
 * each list, the other writes them at the offsets that follow. Entries are met
 * in order, so the lists come out sorted.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"

struct making {
	struct store *store;
	const struct word_index_options *options;
	struct word_index_result *result;
	struct word_index_rowset set;
	struct word_index_content content; /* its rows are `set` */
	uint64_t noted; /* generation noted in the catalogue */
};

static void
tell(struct making *making)
{
	if (making->options->at != NULL)
		making->options->at(making->options->context, making->set.rows,
		    making->result->rows);
}

/* --- suppliers ------------------------------------------------------------ */

static enum err
note_supplier(
    void *context, struct span code, const struct catalog_entry *entry)
{
	struct making *making = context;
	struct word_index_rowset *set = &making->set;
	struct word_index_supplier *bigger;

	if (!key_code_ok(code)) /* a damaged entry: no valid code */
		return ERR_OK;
	bigger = reallocarray(
	    set->suppliers, set->supplier_count + 1u, sizeof(*bigger));
	if (bigger == NULL)
		return ERR_NO_MEMORY;
	set->suppliers = bigger;
	bigger += set->supplier_count++;
	memset(bigger, 0, sizeof(*bigger));
	bigger->generation = entry->generation;
	bigger->code_len = (uint32_t)code.len;
	memcpy(bigger->code, code.ptr, code.len);
	making->result->rows += entry->rows;
	return ERR_OK;
}

static enum err
open_snapshot(struct snapshot **snap, struct store *store,
    const struct word_index_supplier *supplier)
{
	return snapshot_open(snap, store,
	    span_make(supplier->code, supplier->code_len),
	    supplier->generation);
}

/* Damage in one supplier's file leaves out that supplier alone. */
static bool
is_left_out(struct making *making, enum err err)
{
	bool left_out =
	    err == ERR_DAMAGED || err == ERR_NOT_FOUND || err == ERR_VERSION;

	making->result->left_out += left_out;
	return left_out;
}

/*
 * Drops suppliers whose snapshot cannot be opened, before is_there() compares:
 * otherwise such a supplier would cause a rebuild every time.
 */
static enum err
leave_out(struct making *making)
{
	struct word_index_rowset *set = &making->set;
	uint32_t all = set->supplier_count, kept = 0;

	for (uint32_t i = 0; i < all; i++) {
		struct snapshot *snap;
		enum err err =
		    open_snapshot(&snap, making->store, &set->suppliers[i]);

		snapshot_close(snap);
		if (err == ERR_OK)
			set->suppliers[kept++] = set->suppliers[i];
		else if (!is_left_out(making, err))
			return err;
	}
	set->supplier_count = kept;
	return ERR_OK;
}

static enum err
note_suppliers(struct making *making)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, making->store);

	if (err == ERR_OK) {
		making->noted = catalog_words(view);
		err = catalog_each(view, note_supplier, making);
	}
	catalog_view_close(view);
	/* The log has named the entry that cannot be read. */
	return err == ERR_OK || err == ERR_DAMAGED ? leave_out(making) : err;
}

/* True when the existing file was made from exactly these generations. */
static bool
is_there(const struct making *making, struct word_index *index)
{
	const struct word_index_rowset *set = &making->set;

	if (word_index_head(index)->suppliers != set->supplier_count)
		return false;
	for (uint32_t i = 0; i < set->supplier_count; i++)
		if (word_index_supplier(index, i)->generation !=
			set->suppliers[i].generation ||
		    !span_eq(word_index_code(index, i),
			span_make(set->suppliers[i].code,
			    set->suppliers[i].code_len)))
			return false;
	return true;
}

/* Closes the snapshot again: there may be more suppliers than descriptors. */
static enum err
take_supplier(struct making *making, uint32_t number)
{
	struct word_index_rowset *set = &making->set;
	struct word_index_supplier *supplier = &set->suppliers[number];
	struct snapshot *snap;
	enum err err = open_snapshot(&snap, making->store, supplier);

	if (err != ERR_OK)
		return err;
	set->first[number] = set->rows;
	supplier->rows = snapshot_rows(snap);
	err = word_index_take_order(set, snap);
	if (err == ERR_OK)
		err = word_index_take_words(set, snap);
	snapshot_close(snap);
	tell(making);
	return err;
}

/*
 * Suppliers that fail to read are left out: a search reads their snapshots
 * directly.
 */
static enum err
take_suppliers(struct making *making)
{
	struct word_index_rowset *set = &making->set;
	uint32_t all = set->supplier_count, kept = 0;
	enum err err = ERR_OK;

	set->words = codemap_new();
	set->first = calloc(all + 1u, sizeof(*set->first));
	if (set->words == NULL || set->first == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < all && err == ERR_OK; i++) {
		set->suppliers[kept] = set->suppliers[i];
		err = take_supplier(making, kept);
		if (is_left_out(making, err))
			err = ERR_OK;
		else
			kept++;
	}
	set->supplier_count = kept;
	return err;
}

/* --- lists ---------------------------------------------------------------- */

/* Turns the lengths in at[1..count] into offsets, and allocates their sum. */
static enum err
begin_lists(struct word_index_lists *lists, uint32_t count)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t len = lists->at[i];

		lists->at[i] = (uint32_t)total;
		total += len;
		if (total > UINT32_MAX)
			return ERR_TOO_LARGE;
	}
	lists->at[count] = (uint32_t)total;
	lists->items = malloc((total + 1) * sizeof(*lists->items));
	return lists->items == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/* Writing advanced each offset to where the next list begins: shift back. */
static void
end_lists(struct word_index_lists *lists, uint32_t count)
{
	memmove(lists->at + 1, lists->at, count * sizeof(*lists->at));
	lists->at[0] = 0;
}

/* Builds, for each word, the list of the ranks of its rows. */
static enum err
list_rows(struct making *making)
{
	const struct word_index_rowset *set = &making->set;
	uint32_t words = codemap_count(set->words);
	struct word_index_lists *lists = &making->content.words;
	enum err err;

	lists->at = calloc(words + 1u, sizeof(*lists->at));
	if (lists->at == NULL)
		return ERR_NO_MEMORY;
	for (uint64_t i = 0; i < set->use_count; i++)
		lists->at[set->uses[i]]++;
	err = begin_lists(lists, words);
	for (uint32_t rank = 0; rank < set->rows && err == ERR_OK; rank++) {
		uint32_t row = making->content.by_rank[rank];

		for (uint32_t i = set->use_at[row]; i < set->use_at[row + 1];
		     i++)
			lists->items[lists->at[set->uses[i]]++] = rank;
	}
	if (err == ERR_OK)
		end_lists(lists, words);
	return err;
}

/*
 * Visits each distinct gram of each word. Without items, counts it in at[];
 * with items, writes the word at the offset in at[] and advances it.
 */
static void
walk_grams(struct making *making, uint32_t *last)
{
	const struct word_index_rowset *set = &making->set;
	struct word_index_lists *grams = &making->content.grams;

	memset(last, 0, WORD_INDEX_GRAM_LISTS * sizeof(*last));
	for (uint32_t i = 0; i < codemap_count(set->words); i++) {
		struct span word = codemap_code(set->words, i);

		for (size_t k = 0; k + 3 <= word.len; k++) {
			uint32_t gram = word_index_gram(word.ptr + k);

			if (last[gram] == i + 1)
				continue;
			last[gram] = i + 1;
			if (grams->items != NULL)
				grams->items[grams->at[gram]] = i;
			grams->at[gram]++;
		}
	}
}

/* Builds, for each gram, the list of the words that contain it. */
static enum err
list_words(struct making *making)
{
	struct word_index_lists *grams = &making->content.grams;
	uint32_t *last = malloc(WORD_INDEX_GRAM_LISTS * sizeof(*last));
	enum err err = ERR_NO_MEMORY;

	grams->at = calloc(WORD_INDEX_GRAM_LISTS + 1u, sizeof(*grams->at));
	if (last != NULL && grams->at != NULL) {
		walk_grams(making, last);
		err = begin_lists(grams, WORD_INDEX_GRAM_LISTS);
	}
	if (err == ERR_OK) {
		walk_grams(making, last);
		end_lists(grams, WORD_INDEX_GRAM_LISTS);
	}
	free(last);
	return err;
}

/* --- making ------------------------------------------------------------ */

static void
fini(struct making *making)
{
	struct word_index_rowset *set = &making->set;

	arena_free(set->arena);
	codemap_free(set->words);
	free(set->suppliers);
	free(set->first);
	free(set->uses);
	free(set->use_at);
	free(set->last);
	free(set->turnovers);
	free(set->codes);
	free(making->content.by_rank);
	free(making->content.words.at);
	free(making->content.words.items);
	free(making->content.grams.at);
	free(making->content.grams.items);
}

static enum err
make_file(struct making *making, struct word_index_head *head)
{
	char path[FS_PATH_MAX], temporary[FS_PATH_MAX];
	enum err err = word_index_path(path, making->store, "");

	if (err == ERR_OK)
		err = word_index_path(temporary, making->store, ".tmp");
	if (err == ERR_OK)
		err = take_suppliers(making);
	if (err == ERR_OK)
		err = word_index_rank(&making->content.by_rank, &making->set);
	if (err == ERR_OK)
		err = list_rows(making);
	if (err == ERR_OK)
		err = list_words(making);
	if (err != ERR_OK)
		return err;
	err = word_index_write(temporary, head, &making->content);
	if (err == ERR_OK)
		err = fs_publish(temporary, path);
	if (err != ERR_OK)
		fs_unlink(temporary);
	return err;
}

static void
fill_result(
    struct word_index_result *result, const struct word_index_head *head)
{
	result->suppliers = head->suppliers;
	result->rows = head->rows;
	result->words = head->words;
	result->bytes = head->bytes;
}

/*
 * Notes the file in the catalogue, unless that is done: the process that made
 * the file may have died before.
 */
static enum err
note_words(struct making *making, uint64_t generation)
{
	return making->noted == generation
	    ? ERR_OK
	    : catalog_note_words(making->store, generation);
}

/*
 * The existing file is kept when it is sound and made from the current
 * generations.
 */
static enum err
make_unless_there(struct making *making)
{
	struct word_index *index;
	struct word_index_head head = {.generation = 0};
	uint64_t last = making->noted, generation;
	bool there;
	enum err err = word_index_open(&index, making->store);

	if (err == ERR_OK) {
		generation = word_index_head(index)->generation;
		if (last < generation)
			last = generation;
		there = is_there(making, index) &&
		    word_index_verify(index) == ERR_OK;
		if (there)
			fill_result(making->result, word_index_head(index));
		word_index_close(index);
		if (there)
			return note_words(making, generation);
	} else if (err == ERR_NO_MEMORY)
		return err;
	head.generation = key_generation_next(last);
	err = make_file(making, &head);
	if (err != ERR_OK)
		return err;
	making->result->made = true;
	fill_result(making->result, &head);
	return note_words(making, head.generation);
}

enum err
word_index_make(struct word_index_result *result, struct store *store,
    const struct word_index_options *options)
{
	struct making making = {
	    .store = store, .options = options, .result = result};
	int lock = -1;
	enum err err = store_lock_words(&lock, store, true);

	assert(result != NULL && options != NULL);
	making.content.set = &making.set;
	memset(result, 0, sizeof(*result));
	if (err == ERR_OK)
		err = note_suppliers(&making);
	if (err == ERR_OK)
		err = make_unless_there(&making);
	fini(&making);
	if (lock >= 0)
		close(lock);
	return err;
}
