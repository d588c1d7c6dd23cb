/*
 * Writes the sections one after another, each with its checksum, and the head
 * last: without a head the file is not valid.
 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/search/word_index_priv.h"

struct word_index_writing {
	const struct word_index_content *content;
	struct word_index_head *head;
	uint64_t end; /* of the bytes written */
	int fd;
};

uint32_t
word_index_head_crc(const struct word_index_head *head,
    const struct word_index_supplier *suppliers)
{
	return sealed_head_crc(span_make((const char *)head, sizeof(*head)),
	    offsetof(struct word_index_head, crc),
	    span_make(
		(const char *)suppliers, head->suppliers * sizeof(*suppliers)));
}

/* Writes a section, and zeros up to the next multiple of 64. */
static enum err
put(struct word_index_writing *writing, unsigned number, const void *bytes,
    uint64_t len)
{
	static const char zeros[WORD_INDEX_ALIGN];
	struct word_index_section *section = &writing->head->section[number];
	uint64_t rest =
	    (WORD_INDEX_ALIGN - len % WORD_INDEX_ALIGN) % WORD_INDEX_ALIGN;
	enum err err;

	section->at = writing->end;
	section->bytes = len;
	section->crc = deflate_crc(0, bytes, len);
	err = sealed_put(writing->fd, bytes, len, writing->end);
	if (err == ERR_OK)
		err = sealed_put(writing->fd, zeros, rest, writing->end + len);
	writing->end += len + rest;
	return err;
}

static enum err
put_lists(struct word_index_writing *writing, unsigned items, unsigned at,
    const struct word_index_lists *lists, uint32_t count)
{
	enum err err = put(writing, items, lists->items,
	    (uint64_t)lists->at[count] * sizeof(*lists->items));

	return err == ERR_OK ? put(writing, at, lists->at,
				   (count + UINT64_C(1)) * sizeof(*lists->at))
			     : err;
}

static enum err
put_rows(struct word_index_writing *writing)
{
	const struct word_index_rowset *set = writing->content->set;
	struct word_index_row *rows = malloc((set->rows + 1u) * sizeof(*rows));
	uint32_t *supplier = malloc((set->rows + 1u) * sizeof(*supplier));
	enum err err = ERR_NO_MEMORY;

	if (rows != NULL && supplier != NULL) {
		for (uint32_t i = 0; i < set->supplier_count; i++)
			for (uint32_t k = 0; k < set->suppliers[i].rows; k++)
				supplier[set->first[i] + k] = i;
		for (uint32_t rank = 0; rank < set->rows; rank++) {
			uint32_t row = writing->content->by_rank[rank];

			rows[rank] = (struct word_index_row){
			    supplier[row], row - set->first[supplier[row]]};
		}
		err = put(
		    writing, WORD_INDEX_ROWS, rows, set->rows * sizeof(*rows));
	}
	free(rows);
	free(supplier);
	return err;
}

static enum err
put_text(struct word_index_writing *writing)
{
	const struct codemap *map = writing->content->set->words;
	uint32_t words = codemap_count(map);
	uint32_t *at = malloc((words + 1u) * sizeof(*at));
	struct buf text;
	enum err err = ERR_NO_MEMORY;

	buf_init(&text, UINT32_MAX);
	for (uint32_t i = 0; i < words && at != NULL; i++) {
		at[i] = (uint32_t)text.len;
		buf_add_span(&text, codemap_code(map, i));
		buf_add_char(&text, SNAP_TEXT_END);
	}
	if (at != NULL) {
		at[words] = (uint32_t)text.len;
		err = buf_end(&text);
	}
	if (err == ERR_OK)
		err = put(writing, WORD_INDEX_TEXT, text.data, text.len);
	if (err == ERR_OK)
		err = put(writing, WORD_INDEX_TEXT_AT, at,
		    (words + UINT64_C(1)) * sizeof(*at));
	buf_fini(&text);
	free(at);
	return err;
}

static void
fill_head(struct word_index_writing *writing)
{
	const struct word_index_rowset *set = writing->content->set;
	struct word_index_head *head = writing->head;

	memcpy(head->magic, WORD_INDEX_MAGIC, sizeof(head->magic));
	head->version = WORD_INDEX_VERSION;
	head->made_ms = date_now_ms();
	head->suppliers = set->supplier_count;
	head->rows = set->rows;
	head->words = codemap_count(set->words);
	writing->end =
	    sizeof(*head) + WORD_INDEX_ALIGN - sizeof(*head) % WORD_INDEX_ALIGN;
}

static enum err
write_sections(struct word_index_writing *writing)
{
	const struct word_index_content *content = writing->content;
	const struct word_index_rowset *set = content->set;
	enum err err = put(writing, WORD_INDEX_SUPPLIERS, set->suppliers,
	    set->supplier_count * sizeof(*set->suppliers));

	if (err == ERR_OK)
		err = put_rows(writing);
	if (err == ERR_OK)
		err = put_text(writing);
	if (err == ERR_OK)
		err = put_lists(writing, WORD_INDEX_LISTS, WORD_INDEX_LIST_AT,
		    &content->words, writing->head->words);
	if (err == ERR_OK)
		err = put_lists(writing, WORD_INDEX_GRAMS, WORD_INDEX_GRAM_AT,
		    &content->grams, WORD_INDEX_GRAM_LISTS);
	return err;
}

static enum err
write_head(struct word_index_writing *writing)
{
	struct word_index_head *head = writing->head;

	head->bytes = writing->end;
	head->crc = word_index_head_crc(head, writing->content->set->suppliers);
	return sealed_finish(writing->fd,
	    span_make((const char *)head, sizeof(*head)), SPAN(""));
}

enum err
word_index_write(const char *path, struct word_index_head *head,
    const struct word_index_content *content)
{
	struct word_index_writing writing = {.content = content, .head = head};
	enum err err = sealed_create(&writing.fd, path);

	assert(head->generation != 0);
	if (err != ERR_OK)
		return err;
	fill_head(&writing);
	err = write_sections(&writing);
	if (err == ERR_OK)
		err = write_head(&writing);
	close(writing.fd);
	return err;
}
