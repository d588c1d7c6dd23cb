/*
 * Questions and answers between nodes, of their parts of the suppliers; the first
 * byte is which: 'q' a question, 'r' the text of a row, else an answer. All that is
 * read is written the same, and nothing beyond it is touched.
 */
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "fcgi/endpoints/product_part.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/part.h"
#include "fcgi/search/part_row.h"
#include "tests/fuzz/fuzz.h"

#define WRITTEN_MAX ((size_t)1 << 24)

static void
look_at_question(struct span text)
{
	struct arena *arena = arena_new(64 << 20);
	struct part_question question, again;
	struct buf written;
	enum err err;

	FUZZ_CHECK(arena != NULL);
	err = part_question_read(&question, text, arena);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	if (err == ERR_OK) {
		buf_init(&written, WRITTEN_MAX);
		part_question_write(&written, &question);
		FUZZ_CHECK(part_question_read(
			       &again, buf_span(&written), arena) == ERR_OK);
		FUZZ_CHECK(again.wanted.hash == question.wanted.hash);
		FUZZ_CHECK(again.first == question.first);
		buf_fini(&written);
	}
	arena_free(arena);
}

static void
look_at_answer(struct span text)
{
	struct product_head head;
	struct part part, again;
	struct buf written;
	uint64_t rows = 0;

	if (part_read(&part, text) != ERR_OK)
		return;
	product_head_read(&head, part.head);
	buf_init(&written, WRITTEN_MAX);
	part_write(&written, &part);
	pack_add_unsigned(&written, part.lack_count);
	for (uint64_t i = 0; i < part.lack_count; i++)
		pack_add_text(&written, unpack_text(&part.lacks));
	for (; part_next(&part); rows++)
		part_write_row(&written, part.order, part.text);
	part_write_end(&written);
	FUZZ_CHECK(rows <= part.total);
	FUZZ_CHECK(part_read(&again, buf_span(&written)) == ERR_OK);
	FUZZ_CHECK(again.sum == part.sum && again.total == part.total);
	while (part_next(&again))
		rows--;
	FUZZ_CHECK(rows == 0);
	buf_fini(&written);
}

static void
look_at_row(struct span text)
{
	struct span values[ROW_COLUMNS];
	struct columns columns = {0};
	struct splice splice;

	splice_init(&splice);
	columns_add(&columns, COL_codein);
	columns_add(&columns, COL_totalCa);
	splice_columns(&splice, &columns);
	if (part_row_read(values, text, &splice) == ERR_OK)
		for (unsigned i = 0; i < 2; i++) {
			FUZZ_CHECK(values[i].ptr > text.ptr);
			FUZZ_CHECK(values[i].len > 0 &&
			    values[i].ptr + values[i].len <
				text.ptr + text.len);
		}
	splice_fini(&splice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Of its own length: a read behind it is seen. */
	char *copy = malloc(len == 0 ? 1 : len);
	struct span text = span_make(copy, len == 0 ? 0 : len - 1);

	FUZZ_CHECK(copy != NULL);
	if (len > 0)
		memcpy(copy, data + 1, len - 1);
	if (len > 0 && data[0] == 'q')
		look_at_question(text);
	else if (len > 0 && data[0] == 'r')
		look_at_row(text);
	else
		look_at_answer(text);
	free(copy);
	return 0;
}
