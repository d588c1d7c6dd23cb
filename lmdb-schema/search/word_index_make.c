/*
 * The old index and the snapshots of suppliers that are not in it -> runs -> one
 * file, which replaces the old one.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lmdb-schema/key.h"
#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"

struct making {
	struct store *store;
	const struct word_index_options *options;
	struct word_index_result *result;
	struct word_index_supplier *suppliers; /* of the new file */
	bool *kept; /* by supplier: its rows are taken from the old file */
	uint32_t supplier_count;
	struct word_index_rowset set;
	struct word_index_input *inputs;
	unsigned input_count;
	uint64_t memory, done; /* done: rows */
	uint64_t noted; /* generation noted in the catalogue */
	char temporary[FS_PATH_MAX];
};

static void
tell(struct making *making)
{
	if (making->options->at != NULL)
		making->options->at(making->options->context, making->done,
		    making->result->rows);
}

/* --- suppliers ------------------------------------------------------------ */

static enum err
note_supplier(
    void *context, struct span code, const struct catalog_entry *entry)
{
	struct making *making = context;
	struct word_index_supplier *bigger;

	if (!key_code_ok(code)) /* a damaged entry: no valid code */
		return ERR_OK;
	bigger = reallocarray(
	    making->suppliers, making->supplier_count + 1u, sizeof(*bigger));
	if (bigger == NULL)
		return ERR_NO_MEMORY;
	making->suppliers = bigger;
	bigger += making->supplier_count++;
	memset(bigger, 0, sizeof(*bigger));
	bigger->generation = entry->generation;
	bigger->code_len = (uint32_t)code.len;
	memcpy(bigger->code, code.ptr, code.len);
	making->result->rows += entry->rows;
	return ERR_OK;
}

static struct span
code_of(const struct word_index_supplier *supplier)
{
	return span_make(supplier->code, supplier->code_len);
}

static enum err
open_snapshot(struct snapshot **snap, struct store *store,
    const struct word_index_supplier *supplier)
{
	return snapshot_open(
	    snap, store, code_of(supplier), supplier->generation);
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
	uint32_t all = making->supplier_count, kept = 0;

	for (uint32_t i = 0; i < all; i++) {
		struct word_index_supplier *supplier = &making->suppliers[i];
		struct snapshot *snap;
		enum err err = open_snapshot(&snap, making->store, supplier);

		if (err == ERR_OK) {
			supplier->rows = snapshot_rows(snap);
			making->suppliers[kept++] = *supplier;
		}
		snapshot_close(snap);
		if (err != ERR_OK && !is_left_out(making, err))
			return err;
	}
	making->supplier_count = kept;
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
	uint32_t number = 0;

	if (word_index_head(index)->suppliers != making->supplier_count)
		return false;
	for (uint32_t i = 0; i < making->supplier_count; i++)
		if (!word_index_has(index, &number,
			code_of(&making->suppliers[i]),
			making->suppliers[i].generation))
			return false;
	return true;
}

/* --- inputs ----------------------------------------------------------------- */

/* Takes the index over. */
static enum err
add_input(struct making *making, struct word_index *index)
{
	struct word_index_input *bigger = reallocarray(
	    making->inputs, making->input_count + 1u, sizeof(*bigger));

	if (bigger == NULL) {
		word_index_close(index);
		return ERR_NO_MEMORY;
	}
	making->inputs = bigger;
	bigger[making->input_count++] =
	    (struct word_index_input){.index = index};
	return ERR_OK;
}

/*
 * Takes over the old file's rows of suppliers that have not changed, when they
 * are at least half of its rows: what else it has leaves holes in the new one.
 */
static enum err
use_old(struct making *making, struct word_index *old)
{
	uint64_t rows = 0;
	uint32_t number = 0;

	for (uint32_t i = 0; i < making->supplier_count; i++) {
		const struct word_index_supplier *supplier =
		    &making->suppliers[i];

		making->kept[i] = word_index_has(
		    old, &number, code_of(supplier), supplier->generation);
		if (making->kept[i])
			rows += supplier->rows;
	}
	if (rows == 0 || rows < word_index_head(old)->rows / 2) {
		memset(making->kept, 0, making->supplier_count);
		return ERR_OK;
	}
	making->result->taken_over = making->done = rows;
	return add_input(making, word_index_share(old));
}

/* Writes the set's rows as a run, which loses its name as soon as it is open. */
static enum err
end_run(struct making *making)
{
	struct word_index *run;
	enum err err = word_index_write_run(making->temporary, &making->set);

	word_index_rowset_fini(&making->set);
	if (err == ERR_OK)
		err = word_index_open_file(&run, making->temporary);
	if (err != ERR_OK)
		return err;
	err = fs_unlink(making->temporary);
	if (err == ERR_OK)
		err = word_index_compare(run);
	if (err == ERR_OK)
		return add_input(making, run);
	word_index_close(run);
	return err;
}

static enum err
take_rows(struct making *making, const struct word_index_supplier *supplier,
    const struct word_index_source *source)
{
	struct word_index_rowset *set = &making->set;
	uint32_t row = 0;
	enum err err = ERR_OK;

	while (row < source->rows && err == ERR_OK) {
		uint32_t before = row;

		if (set->words == NULL)
			err = word_index_rowset_init(set);
		if (err == ERR_OK)
			err = word_index_take(
			    set, supplier, source, &row, making->memory);
		making->done += row - before;
		if (err == ERR_OK && word_index_weight(set) >= making->memory)
			err = end_run(making);
	}
	return err;
}

/*
 * Closes the snapshot again: there may be more suppliers than descriptors. When
 * anything in it is damaged, none of its rows is taken.
 */
static enum err
take_supplier(struct making *making, struct word_index_supplier *supplier)
{
	struct word_index_source source;
	struct snapshot *snap;
	enum err err = open_snapshot(&snap, making->store, supplier);

	if (err == ERR_OK)
		err = word_index_source_init(&source, snap);
	if (is_left_out(making, err)) {
		snapshot_close(snap);
		return ERR_NOT_FOUND;
	}
	if (err == ERR_OK) {
		supplier->rows = source.rows;
		err = take_rows(making, supplier, &source);
	}
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
	uint32_t all = making->supplier_count, count = 0;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < all && err == ERR_OK; i++) {
		making->suppliers[count] = making->suppliers[i];
		if (!making->kept[i])
			err = take_supplier(making, &making->suppliers[count]);
		if (err == ERR_OK)
			count++;
		else if (err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	making->supplier_count = count;
	return err == ERR_OK && making->set.rows > 0 ? end_run(making) : err;
}

/* --- the file --------------------------------------------------------------- */

/* The numbers of the input's suppliers in the new file. */
static enum err
number_suppliers(struct making *making, struct word_index_input *input)
{
	const struct word_index *index = input->index;
	uint32_t number = 0;

	input->supplier =
	    malloc((index->head->suppliers + 1u) * sizeof(*input->supplier));
	if (input->supplier == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < index->head->suppliers; i++)
		input->supplier[i] = WORD_INDEX_NOWHERE;
	for (uint32_t i = 0; i < making->supplier_count; i++) {
		const struct word_index_supplier *supplier =
		    &making->suppliers[i];

		if (!word_index_has(index, &number, code_of(supplier),
			supplier->generation))
			continue;
		input->supplier[number] = i;
		input->rows += index->suppliers[number].rows;
	}
	return ERR_OK;
}

static enum err
merge_inputs(struct making *making, struct word_index_head *head)
{
	struct word_index_merge merge = {.inputs = making->inputs,
	    .count = making->input_count,
	    .suppliers = making->suppliers,
	    .memory = making->memory,
	    .file.head.generation = head->generation};
	uint64_t rows = 0;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < making->supplier_count; i++)
		rows += making->suppliers[i].rows;
	if (rows >= WORD_INDEX_NOWHERE)
		return ERR_TOO_LARGE;
	for (unsigned i = 0; i < making->input_count && err == ERR_OK; i++)
		err = number_suppliers(making, &making->inputs[i]);
	merge.file.head.suppliers = making->supplier_count;
	merge.file.head.rows = (uint32_t)rows;
	if (err == ERR_OK)
		err = word_index_merge(&merge, making->temporary);
	*head = merge.file.head;
	return err;
}

static enum err
make_file(
    struct making *making, struct word_index_head *head, struct word_index *old)
{
	char path[FS_PATH_MAX];
	enum err err = word_index_path(path, making->store, "");

	if (err == ERR_OK)
		err = word_index_path(making->temporary, making->store, ".tmp");
	making->kept =
	    calloc(making->supplier_count + 1u, sizeof(*making->kept));
	if (making->kept == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK && old != NULL)
		err = use_old(making, old);
	if (err != ERR_OK)
		return err;
	err = take_suppliers(making);
	if (err == ERR_OK)
		err = merge_inputs(making, head);
	if (err == ERR_OK)
		err = fs_publish(making->temporary, path);
	if (err != ERR_OK)
		fs_unlink(making->temporary);
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

/* The old file when it is sound, or NULL. */
static enum err
open_old(struct word_index **old, struct making *making)
{
	enum err err = word_index_open(old, making->store);

	if (err == ERR_OK)
		err = word_index_verify(*old);
	if (err == ERR_OK || *old == NULL)
		return err == ERR_NO_MEMORY ? err : ERR_OK;
	/* Readers may have it open: the next generation is larger. */
	if (making->noted < word_index_head(*old)->generation)
		making->noted = word_index_head(*old)->generation;
	word_index_close(*old);
	*old = NULL;
	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

/*
 * The existing file is kept when it is sound and made from the current
 * generations.
 */
static enum err
make_unless_there(struct making *making)
{
	struct word_index *old;
	struct word_index_head head = {.generation = 0};
	uint64_t last;
	enum err err = open_old(&old, making);

	if (err != ERR_OK)
		return err;
	if (old != NULL && is_there(making, old)) {
		fill_result(making->result, word_index_head(old));
		err = note_words(making, word_index_head(old)->generation);
		word_index_close(old);
		return err;
	}
	last = making->noted;
	if (old != NULL && last < word_index_head(old)->generation)
		last = word_index_head(old)->generation;
	head.generation = key_generation_next(last);
	err = make_file(making, &head, old);
	word_index_close(old);
	if (err != ERR_OK)
		return err;
	making->result->made = true;
	fill_result(making->result, &head);
	return note_words(making, head.generation);
}

static void
fini(struct making *making)
{
	word_index_rowset_fini(&making->set);
	for (unsigned i = 0; i < making->input_count; i++) {
		word_index_close(making->inputs[i].index);
		free(making->inputs[i].supplier);
	}
	free(making->inputs);
	free(making->suppliers);
	free(making->kept);
}

enum err
word_index_make(struct word_index_result *result, struct store *store,
    const struct word_index_options *options)
{
	struct making making = {.store = store,
	    .options = options,
	    .result = result,
	    .memory = options->memory};
	int lock = -1;
	enum err err = store_lock_words(&lock, store, true);

	assert(result != NULL);
	if (making.memory == 0)
		making.memory = WORD_INDEX_MEMORY;
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
