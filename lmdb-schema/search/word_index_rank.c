/*
 * Ranks: rows by turnover, highest first, nulls last; ties by codein, then in
 * the order of the suppliers. Both sorts are stable: rows are sorted by codein
 * first, and the sort by turnover keeps that order among ties.
 */
#include <stdlib.h>

#include "lmdb-schema/order.h"
#include "lmdb-schema/search/word_index_priv.h"

struct ranking {
	const struct word_index_rowset *set;
	int64_t *sorted; /* turnovers in the order of the codes */
	uint32_t *by_code, *by_value, *spare;
};

static enum err
sort(uint32_t *by_rank, struct ranking *ranking)
{
	uint32_t rows = ranking->set->rows;
	enum err err = order_texts(
	    ranking->by_code, ranking->spare, ranking->set->codes, rows);

	if (err != ERR_OK)
		return err;
	for (uint32_t i = 0; i < rows; i++)
		ranking->sorted[i] =
		    ranking->set->turnovers[ranking->by_code[i]];
	err = order_numbers(
	    ranking->spare, ranking->by_value, ranking->sorted, rows);
	for (uint32_t i = 0; i < rows && err == ERR_OK; i++)
		by_rank[i] = ranking->by_code[ranking->by_value[i]];
	return err;
}

static bool
allocate(struct ranking *ranking, uint32_t rows)
{
	ranking->sorted = malloc((rows + 1u) * sizeof(*ranking->sorted));
	ranking->by_code = malloc((rows + 1u) * sizeof(uint32_t));
	ranking->by_value = malloc((rows + 1u) * sizeof(uint32_t));
	ranking->spare = malloc((rows + 1u) * sizeof(uint32_t));
	return ranking->sorted != NULL && ranking->by_code != NULL &&
	    ranking->by_value != NULL && ranking->spare != NULL;
}

enum err
word_index_rank(uint32_t **by_rank, const struct word_index_rowset *set)
{
	struct ranking ranking = {.set = set};
	enum err err = allocate(&ranking, set->rows) ? ERR_OK : ERR_NO_MEMORY;

	*by_rank = malloc((set->rows + 1u) * sizeof(**by_rank));
	if (*by_rank == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = sort(*by_rank, &ranking);
	free(ranking.sorted);
	free(ranking.by_code);
	free(ranking.by_value);
	free(ranking.spare);
	return err;
}
