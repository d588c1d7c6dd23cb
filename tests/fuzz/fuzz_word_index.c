/*
 * A word index from a hostile disk: a sound one with damage laid over it
 * (made.h). The first byte says what else: 'c' it is cut short, too; 'h' the
 * damage is to the head; a digit, to that section. But for 'c' and 's' all
 * checksums are made to fit again, or nobody would look behind them.
 * Whatever it says, finding words in it touches nothing that is not its own.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/store/store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct buf sound;
static struct store *store;
static char path[FS_PATH_MAX];

static void
begin(void)
{
	struct fault fault;

	fault_clear(&fault);
	made_gridctl(made_flow(), "index --quiet");
	FUZZ_CHECK(store_open(&store, made_flow(), &fault) == ERR_OK);
	FUZZ_CHECK(word_index_path(path, store, "") == ERR_OK);
	buf_init(&sound, (size_t)64 << 20);
	FUZZ_CHECK(fs_read(&sound, path) == ERR_OK);
}

/* --- damage --------------------------------------------------------------- */

/* Where the head names sections in the file. */
static void
sum_again(char *file)
{
	struct word_index_head head;
	const struct word_index_section *sums = &head.section[WORD_INDEX_SUMS];
	uint64_t count = 0;

	memcpy(&head, file, sizeof(head));
	for (unsigned i = 0; i < WORD_INDEX_SECTIONS; i++) {
		const struct word_index_section *section = &head.section[i];

		if (section->at > sound.len ||
		    section->at % WORD_INDEX_ALIGN != 0 ||
		    section->bytes > sound.len - section->at)
			return;
		if (i < WORD_INDEX_SUMMED)
			count += blocks_count(section->bytes);
	}
	if (sums->bytes < count * sizeof(uint32_t))
		return;
	count = 0;
	for (unsigned i = 0; i < WORD_INDEX_SUMMED; i++) {
		const struct word_index_section *section = &head.section[i];

		blocks_sum((uint32_t *)(void *)(file + sums->at) + count,
		    file + section->at, section->bytes);
		count += blocks_count(section->bytes);
	}
	head.crc =
	    word_index_head_crc(&head, span_make(file + sums->at, sums->bytes));
	memcpy(file, &head, sizeof(head));
}

static void
damage(char *file, uint8_t where, struct span patches)
{
	struct word_index_head head;

	memcpy(&head, file, sizeof(head));
	if (where == 'h')
		made_damage(file, sizeof(head), patches);
	else if (where >= '0' && where < '0' + WORD_INDEX_SECTIONS)
		made_damage(file + head.section[where - '0'].at,
		    head.section[where - '0'].bytes, patches);
	else
		made_damage(file, sound.len, patches);
	if (where != 'c' && where != 's')
		sum_again(file);
}

/* --- reading -------------------------------------------------------------- */

static volatile uint64_t touched;

static void
find(const struct word_index *book, uint64_t *set, struct span question)
{
	uint32_t rows = word_index_head(book)->rows;
	struct words words;
	uint32_t count, found = 0;
	enum err err;

	words_split(&words, question);
	if (words.longest.len == 0)
		return;
	err = word_index_find(set, &count, book, &words);
	FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED);
	for (uint32_t rank = 0; err == ERR_OK && rank < rows; rank++)
		found += set[rank / 64] >> rank % 64 & 1;
	FUZZ_CHECK(err != ERR_OK || found == count);
	/* No row that there is not. */
	if (err == ERR_OK && rows % 64 != 0)
		FUZZ_CHECK(set[rows / 64] >> rows % 64 == 0);
}

static void
read_all(const struct word_index *book, struct span given)
{
	static const char *const questions[] = {"a", "la", "lait", "cafe",
	    "lait entier", "article 1", "\"", "s1 a1", "nowhere"};
	const struct word_index_head *head = word_index_head(book);
	uint64_t *set = malloc((word_index_set(head->rows) + 1) * sizeof(*set));

	FUZZ_CHECK(set != NULL);
	for (uint32_t i = 0; i < head->suppliers; i++)
		touched += word_index_supplier(book, i)->generation +
		    word_index_code(book, i).len;
	for (uint32_t i = 0; i < head->rows; i++) {
		struct word_index_row row;

		if (word_index_row(&row, book, i))
			touched += row.supplier + row.row;
	}
	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		find(book, set, span_of(questions[i]));
	find(book, set, given);
	/* Of its own words, some of which are damage. */
	for (size_t at = 0; at + 12 < book->text.len;
	     at += book->text.len / 8 + 1)
		find(book, set, span_sub(book->text, at, 1 + at % 11));
	free(set);
	word_index_verify(book);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct word_index *book;
	struct span input = span_make(data, len);

	if (len == 0)
		return 0;
	if (sound.len == 0)
		begin();
	made_write_damaged(path, buf_span(&sound), damage, input);
	if (word_index_open(&book, store) == ERR_OK)
		read_all(book, span_from(input, 1));
	word_index_close(book);
	return 0;
}
