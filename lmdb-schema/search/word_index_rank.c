/*
 * Ranks: rows by turnover, highest first, nulls last; ties by codein, then in
 * the order of the suppliers. Both sorts are stable: rows are sorted by codein
 * first, and the sort by turnover keeps that order among ties.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "lmdb-schema/order.h"
#include "lmdb-schema/search/word_index_priv.h"

#define CODES_MAX ((size_t)4 << 30)

/* --- sort keys ------------------------------------------------------ */

/* Makes room for `more` rows. */
static enum err
reserve(struct word_index_rowset *set, uint32_t more)
{
	uint64_t room = set->order_room == 0 ? 1024 : set->order_room;
	int64_t *turnovers;
	struct span *codes;

	if (set->arena == NULL)
		set->arena = arena_new(CODES_MAX);
	if (set->arena == NULL)
		return ERR_NO_MEMORY;
	if ((uint64_t)set->rows + more <= set->order_room)
		return ERR_OK;
	while (room < (uint64_t)set->rows + more)
		room *= 2;
	turnovers = reallocarray(set->turnovers, room, sizeof(*turnovers));
	if (turnovers != NULL)
		set->turnovers = turnovers;
	codes = reallocarray(set->codes, room, sizeof(*codes));
	if (codes != NULL)
		set->codes = codes;
	if (turnovers == NULL || codes == NULL)
		return ERR_NO_MEMORY;
	set->order_room = room;
	return ERR_OK;
}

/* The codein, unescaped from its JSON text. */
static enum err
take_code(struct span *code, struct arena *arena, struct span json)
{
	char *plain;
	size_t len = 0;

	if (json.len < 2 || json.len > 2 * SCHEMA_CODE_MAX + 2)
		return ERR_DAMAGED;
	plain = arena_alloc(arena, json.len);
	if (plain == NULL)
		return ERR_NO_MEMORY;
	json = jsonw_inside(json);
	for (size_t at = 0; at < json.len;)
		plain[len++] = jsonw_plain_byte(json, &at);
	*code = span_make(plain, len);
	return ERR_OK;
}

/* Whether row 0 and row 1 of the arrays are in the order of the ranks. */
static bool
in_order(const int64_t *turnovers, const struct span *codes)
{
	if (turnovers[0] == turnovers[1])
		return span_cmp(codes[0], codes[1]) < 0;
	return turnovers[1] == NUM_NULL ||
	    (turnovers[0] != NUM_NULL && turnovers[0] > turnovers[1]);
}

/* Reject unsorted rows: ranks assume that each snapshot is in order. */
enum err
word_index_take_order(struct word_index_rowset *set, struct snapshot *snap)
{
	const int64_t *turnovers = snapshot_numbers(snap, COL_totalCa);
	uint32_t rows = snapshot_rows(snap);
	enum err err = turnovers == NULL ? ERR_DAMAGED : reserve(set, rows);

	assert(set->supplier_count > 0);
	for (uint32_t i = 0; i < rows && err == ERR_OK; i++) {
		set->turnovers[set->rows + i] = turnovers[i];
		err = take_code(&set->codes[set->rows + i], set->arena,
		    snapshot_value(snap, i, COL_codein));
		if (err == ERR_OK && i > 0 &&
		    !in_order(
			&turnovers[i - 1], &set->codes[set->rows + i - 1]))
			err = ERR_DAMAGED;
	}
	return err;
}

/* --- ranks ---------------------------------------------------------------- */

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
