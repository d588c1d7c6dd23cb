/*
 * The file is read through a map. Opening compares the head with the file's
 * size, and the suppliers with their checksums; the bytes of other sections are
 * compared, and the numbers in them checked, where they are used.
 */
#include "lmdb-schema/search/word_index.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"

enum err
word_index_path(
    char path[FS_PATH_MAX], const struct store *store, const char *suffix)
{
	return fs_path(path, "%s/words.idx%s", store_dir(store), suffix);
}

/* --- opening -------------------------------------------------------------- */

/* The size that a section must have; UINT64_MAX: any size. */
static uint64_t
wanted_bytes(const struct word_index_head *head, unsigned section)
{
	switch (section) {
	case WORD_INDEX_SUPPLIERS:
		return head->suppliers * sizeof(struct word_index_supplier);
	case WORD_INDEX_ROWS:
		return head->rows * sizeof(struct word_index_row);
	case WORD_INDEX_TEXT_AT:
	case WORD_INDEX_LIST_AT:
		return (head->words + UINT64_C(1)) * sizeof(uint32_t);
	case WORD_INDEX_GRAM_AT:
		return (WORD_INDEX_GRAM_LISTS + UINT64_C(1)) * sizeof(uint32_t);
	case WORD_INDEX_TURNOVERS:
		return head->rows * sizeof(int64_t);
	case WORD_INDEX_CODE_AT:
		return (head->rows + UINT64_C(1)) * sizeof(uint32_t);
	default:
		return UINT64_MAX;
	}
}

static bool
sections_fit(const struct word_index *index)
{
	const struct word_index_head *head = index->head;
	uint64_t sums = 0;

	for (unsigned i = 0; i < WORD_INDEX_SECTIONS; i++) {
		const struct word_index_section *section = &head->section[i];
		uint64_t wanted = wanted_bytes(head, i);

		if (section->at % WORD_INDEX_ALIGN != 0 ||
		    section->at > head->bytes ||
		    section->bytes > head->bytes - section->at ||
		    (wanted != UINT64_MAX && section->bytes != wanted))
			return false;
		if (i < WORD_INDEX_SUMMED)
			sums += blocks_count(section->bytes);
	}
	return head->section[WORD_INDEX_SUMS].bytes == sums * sizeof(uint32_t);
}

/*
 * Walks rely on the order of the codes: each must be valid, and greater than
 * the one before.
 */
static bool
suppliers_fit(const struct word_index *index)
{
	uint64_t rows = 0;

	for (uint32_t i = 0; i < index->head->suppliers; i++) {
		const struct word_index_supplier *supplier =
		    &index->suppliers[i];

		if (supplier->code_len > SCHEMA_CODE_MAX)
			return false;
		if (i > 0 &&
		    span_cmp(word_index_code(index, i - 1),
			word_index_code(index, i)) >= 0)
			return false;
		rows += supplier->rows;
	}
	return rows == index->head->rows;
}

static const void *
section_of(const struct word_index *index, unsigned section)
{
	return index->file.bytes + index->head->section[section].at;
}

static uint64_t
count_of(const struct word_index *index, unsigned section)
{
	return index->head->section[section].bytes / sizeof(uint32_t);
}

static struct span
text_of(const struct word_index *index, unsigned section)
{
	return span_make(
	    section_of(index, section), index->head->section[section].bytes);
}

static void
find_sections(struct word_index *index)
{
	index->suppliers = section_of(index, WORD_INDEX_SUPPLIERS);
	index->rows = section_of(index, WORD_INDEX_ROWS);
	index->text = text_of(index, WORD_INDEX_TEXT);
	index->text_at = section_of(index, WORD_INDEX_TEXT_AT);
	index->lists = section_of(index, WORD_INDEX_LISTS);
	index->list_count = count_of(index, WORD_INDEX_LISTS);
	index->list_at = section_of(index, WORD_INDEX_LIST_AT);
	index->grams = section_of(index, WORD_INDEX_GRAMS);
	index->gram_count = count_of(index, WORD_INDEX_GRAMS);
	index->gram_at = section_of(index, WORD_INDEX_GRAM_AT);
	index->turnovers = section_of(index, WORD_INDEX_TURNOVERS);
	index->codes = text_of(index, WORD_INDEX_CODES);
	index->code_at = section_of(index, WORD_INDEX_CODE_AT);
}

static enum err
find_blocks(struct word_index *index)
{
	const uint32_t *sums = section_of(index, WORD_INDEX_SUMS);
	uint64_t at = 0;

	index->blocks = calloc(WORD_INDEX_SUMMED, sizeof(*index->blocks));
	index->seen =
	    calloc(count_of(index, WORD_INDEX_SUMS) + 1, sizeof(*index->seen));
	if (index->blocks == NULL || index->seen == NULL)
		return ERR_NO_MEMORY;
	blocks_file_init(&index->sums, "words.idx");
	for (unsigned i = 0; i < WORD_INDEX_SUMMED; i++) {
		struct blocks *blocks = &index->blocks[i];

		blocks->base = section_of(index, i);
		blocks->bytes = index->head->section[i].bytes;
		blocks->sums = sums + at;
		blocks->seen = index->seen + at;
		blocks->file = &index->sums;
		blocks->number = (uint16_t)i;
		at += blocks_count(blocks->bytes);
	}
	return ERR_OK;
}

static enum err
examine(struct word_index *index)
{
	const struct word_index_head *head;
	enum err err;

	if (index->file.len < sizeof(*head))
		return ERR_DAMAGED;
	head = (const struct word_index_head *)(const void *)index->file.bytes;
	index->head = head;
	if (memcmp(head->magic, WORD_INDEX_MAGIC, sizeof(head->magic)) != 0)
		return ERR_DAMAGED;
	if (head->version != WORD_INDEX_VERSION)
		return ERR_VERSION;
	if (head->bytes != index->file.len || !sections_fit(index))
		return ERR_DAMAGED;
	fs_expect_map(section_of(index, WORD_INDEX_SUMS),
	    head->section[WORD_INDEX_SUMS].bytes);
	if (word_index_head_crc(head, text_of(index, WORD_INDEX_SUMS)) !=
	    head->crc)
		return ERR_DAMAGED;
	find_sections(index);
	err = find_blocks(index);
	if (err != ERR_OK)
		return err;
	return blocks_all(&index->blocks[WORD_INDEX_SUPPLIERS]) &&
		suppliers_fit(index)
	    ? ERR_OK
	    : ERR_DAMAGED;
}

enum err
word_index_open_file(struct word_index **out, const char *path)
{
	struct word_index *index = calloc(1, sizeof(*index));
	enum err err;

	*out = NULL;
	if (index == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&index->users, 1);
	err = sealed_open(&index->file, path);
	if (err == ERR_OK)
		err = examine(index);
	if (err == ERR_OK)
		*out = index;
	else
		word_index_close(index);
	return err;
}

enum err
word_index_open(struct word_index **out, struct store *store)
{
	char path[FS_PATH_MAX];
	enum err err = word_index_path(path, store, "");

	*out = NULL;
	if (err == ERR_OK)
		err = word_index_open_file(out, path);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		log_error("the index of all suppliers' words cannot be used, "
			  "'gridctl index' makes it again: file=%s error=%s",
		    path, err_text(err));
	return err;
}

struct word_index *
word_index_share(struct word_index *index)
{
	assert(atomic_load(&index->users) > 0);
	atomic_fetch_add(&index->users, 1);
	return index;
}

void
word_index_close(struct word_index *index)
{
	if (index == NULL || atomic_fetch_sub(&index->users, 1) != 1)
		return;
	sealed_close(&index->file);
	free(index->blocks);
	free(index->seen);
	free(index);
}

void
word_index_forget(const void *map, uint64_t bytes)
{
	/* Failing costs memory that the kernel can take back anyway. */
	if (madvise((void *)(uintptr_t)map, bytes, MADV_DONTNEED) != 0)
		log_debug(
		    "pages were not forgotten: error=%s", strerror(errno));
}

/* --- reading -------------------------------------------------------- */

const struct word_index_head *
word_index_head(const struct word_index *index)
{
	return index->head;
}

const struct word_index_supplier *
word_index_supplier(const struct word_index *index, uint32_t number)
{
	assert(number < index->head->suppliers);
	return &index->suppliers[number];
}

struct span
word_index_code(const struct word_index *index, uint32_t number)
{
	const struct word_index_supplier *supplier = &index->suppliers[number];

	assert(number < index->head->suppliers);
	return span_make(supplier->code, supplier->code_len);
}

bool
word_index_has(const struct word_index *index, uint32_t *number,
    struct span supplier, uint64_t generation)
{
	int way = 1;

	assert(*number <= index->head->suppliers);
	while (*number < index->head->suppliers &&
	    (way = span_cmp(word_index_code(index, *number), supplier)) < 0)
		++*number;
	return *number < index->head->suppliers && way == 0 &&
	    index->suppliers[*number].generation == generation;
}

bool
word_index_row(
    struct word_index_row *row, const struct word_index *index, uint32_t rank)
{
	const struct word_index_row *found;

	assert(rank < index->head->rows);
	found = word_index_bytes(index, WORD_INDEX_ROWS,
	    (uint64_t)rank * sizeof(*found), sizeof(*found));
	if (found == NULL)
		return false;
	*row = *found;
	return row->supplier < index->head->suppliers;
}

bool
word_index_is_missing(struct store *store)
{
	char path[FS_PATH_MAX];
	struct catalog_view *view;
	uint64_t generation, bytes, on_disk;

	if (catalog_view_open(&view, store) != ERR_OK)
		return false; /* which has been logged */
	generation = catalog_words(view);
	catalog_view_close(view);
	return generation != 0 && word_index_path(path, store, "") == ERR_OK &&
	    fs_size(path, &bytes, &on_disk) == ERR_NOT_FOUND;
}

void
word_index_discard(struct store *store)
{
	char path[FS_PATH_MAX];

	if (word_index_path(path, store, "") == ERR_OK)
		fs_unlink(path);
}

bool
word_index_is_touched(const struct word_index *index)
{
	return sealed_is_touched(&index->file) ||
	    fs_stamp_is_young(&index->file.stamp);
}

/* --- verifying ------------------------------------------------------------ */

/* Offsets that never descend, from 0 to the end. */
static bool
places_fit(const uint32_t *at, uint64_t count, uint64_t end)
{
	for (uint64_t i = 0; i < count; i++)
		if (at[i] > at[i + 1])
			return false;
	return at[0] == 0 && at[count] == end;
}

/* Lists whose numbers are ascending, and below `limit`. */
static bool
lists_fit(
    const uint32_t *lists, const uint32_t *at, uint64_t count, uint32_t limit)
{
	for (uint64_t i = 0; i < count; i++)
		for (uint32_t k = at[i]; k < at[i + 1]; k++)
			if (lists[k] >= limit ||
			    (k > at[i] && lists[k - 1] >= lists[k]))
				return false;
	return true;
}

/* Each row of each supplier once, in its own order; next[] is all 0. */
static bool
rows_fit(const struct word_index *index, uint32_t *next)
{
	bool fit = true;

	for (uint32_t i = 0; i < index->head->rows && fit; i++) {
		const struct word_index_row *row = &index->rows[i];

		fit = row->supplier < index->head->suppliers &&
		    row->row == next[row->supplier];
		if (fit)
			next[row->supplier]++;
	}
	for (uint32_t i = 0; i < index->head->suppliers && fit; i++)
		fit = next[i] == index->suppliers[i].rows;
	return fit;
}

/* Words that stand one behind the other, each greater than the one before. */
static bool
words_fit(const struct word_index *index)
{
	struct span last = SPAN(""), text;

	for (uint32_t i = 0; i < index->head->words; i++) {
		if (!word_index_text(&text, index, i) || text.len < 2 ||
		    text.ptr[text.len - 1] != SNAP_TEXT_END)
			return false;
		text.len--;
		if (span_cmp(last, text) >= 0 ||
		    memchr(text.ptr, SNAP_TEXT_END, text.len) != NULL)
			return false;
		last = text;
	}
	return true;
}

/* Rows by what they are ordered by; code_at[] fits. */
static bool
ranks_fit(const struct word_index *index)
{
	struct span last = SPAN("");

	for (uint32_t i = 0; i < index->head->rows; i++) {
		struct span code = span_sub(index->codes, index->code_at[i],
		    index->code_at[i + 1] - index->code_at[i]);
		int way = i == 0
		    ? -1
		    : word_index_compare_rows(index->turnovers[i - 1], last,
			  index->turnovers[i], code);

		if (way > 0 ||
		    (way == 0 &&
			index->rows[i - 1].supplier >= index->rows[i].supplier))
			return false;
		last = code;
	}
	return true;
}

enum err
word_index_compare(const struct word_index *index)
{
	for (unsigned i = 0; i < WORD_INDEX_SUMMED; i++)
		if (!blocks_all(&index->blocks[i]))
			return ERR_DAMAGED;
	return ERR_OK;
}

static bool
all_places_fit(const struct word_index *index)
{
	const struct word_index_head *head = index->head;

	return places_fit(index->text_at, head->words, index->text.len) &&
	    places_fit(index->list_at, head->words, index->list_count) &&
	    places_fit(
		index->gram_at, WORD_INDEX_GRAM_LISTS, index->gram_count) &&
	    places_fit(index->code_at, head->rows, index->codes.len);
}

enum err
word_index_verify(const struct word_index *index)
{
	const struct word_index_head *head = index->head;
	uint32_t *next = calloc(head->suppliers + 1u, sizeof(*next));
	const char *wrong = NULL;

	if (next == NULL)
		return ERR_NO_MEMORY;
	if (word_index_compare(index) != ERR_OK)
		wrong = "a checksum";
	else if (!rows_fit(index, next))
		wrong = "the order of the rows";
	else if (!all_places_fit(index))
		wrong = "a place";
	else if (!ranks_fit(index))
		wrong = "a rank";
	else if (!words_fit(index))
		wrong = "the order of the words";
	else if (!lists_fit(
		     index->lists, index->list_at, head->words, head->rows) ||
	    !lists_fit(index->grams, index->gram_at, WORD_INDEX_GRAM_LISTS,
		head->words))
		wrong = "a list";
	free(next);
	if (wrong == NULL)
		return ERR_OK;
	log_error("the index of all suppliers' words is damaged: %s is not "
		  "what was written",
	    wrong);
	return ERR_DAMAGED;
}
