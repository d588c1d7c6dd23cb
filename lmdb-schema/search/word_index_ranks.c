/* Sets of ranks that are taken out in their order. */
#include <assert.h>
#include <stdlib.h>

#include "lmdb-schema/search/word_index_priv.h"

enum err
word_index_ranks_init(struct word_index_ranks *ranks, uint32_t rows)
{
	uint64_t words = rows;

	*ranks = (struct word_index_ranks){.levels = 0};
	do {
		words = (words + 63) / 64 + (words == 0);
		assert(ranks->levels < WORD_INDEX_LEVELS);
		ranks->level[ranks->levels] = calloc(words, sizeof(uint64_t));
		if (ranks->level[ranks->levels++] == NULL)
			return ERR_NO_MEMORY;
	} while (words > 1);
	return ERR_OK;
}

void
word_index_ranks_fini(struct word_index_ranks *ranks)
{
	for (unsigned i = 0; i < ranks->levels; i++)
		free(ranks->level[i]);
}

void
word_index_ranks_add(struct word_index_ranks *ranks, uint32_t rank)
{
	for (unsigned i = 0; i < ranks->levels; i++) {
		uint64_t *word = &ranks->level[i][rank / 64], before = *word;

		*word |= UINT64_C(1) << rank % 64;
		if (before != 0)
			return;
		rank /= 64;
	}
}

bool
word_index_ranks_take(struct word_index_ranks *ranks, uint32_t *rank)
{
	uint32_t at = 0;

	if (ranks->level[ranks->levels - 1][0] == 0)
		return false;
	for (unsigned i = ranks->levels; i > 0; i--)
		at = at * 64 +
		    (uint32_t)__builtin_ctzll(ranks->level[i - 1][at]);
	*rank = at;
	for (unsigned i = 0; i < ranks->levels; i++) {
		uint64_t *word = &ranks->level[i][at / 64];

		*word &= ~(UINT64_C(1) << at % 64);
		if (*word != 0)
			break;
		at /= 64;
	}
	return true;
}
