/*
 * Ranks: rows by turnover, highest first, those without one last; equals by
 * codein, then in the order in which the suppliers come. Both sorts are
 * stable, so the second one keeps what the first has done.
 */
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "lmdb-schema/order.h"
#include "lmdb-schema/wordbook_making.h"

#define UNPACKED_MAX ((size_t)1 << 30)

struct ranking {
	const struct wordbook_rowset *set;
	struct arena *arena; /* codes that had to be unpacked */
	struct span *codes;
	int64_t *values, *sorted; /* the second in the order of the codes */
	uint32_t *by_code, *by_value, *spare;
};

/* As it was given: a code's JSON has no other escape than \" and \\. */
static enum err
unpack(struct span *code, struct arena *arena)
{
	char *plain = arena_alloc(arena, code->len);
	size_t len = 0;

	if (plain == NULL)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < code->len; i++) {
		if (code->ptr[i] == '\\' && i + 1 < code->len)
			i++;
		plain[len++] = code->ptr[i];
	}
	*code = span_make(plain, len);
	return ERR_OK;
}

static enum err
read_code(struct ranking *ranking, struct snapshot *snap, uint32_t row,
    struct span *code)
{
	struct span json = snapshot_value(snap, row, COL_codein);

	if (json.len < 2)
		return ERR_DAMAGED;
	*code = span_sub(json, 1, json.len - 2);
	if (memchr(code->ptr, '\\', code->len) == NULL)
		return ERR_OK;
	return unpack(code, ranking->arena);
}

static enum err
read_supplier(struct ranking *ranking, uint32_t number)
{
	struct snapshot *snap = ranking->set->snaps[number];
	uint32_t first = ranking->set->first[number];
	const int64_t *values = snapshot_numbers(snap, COL_totalCa);
	enum err err = values == NULL ? ERR_DAMAGED : ERR_OK;

	for (uint32_t i = 0; i < snapshot_rows(snap) && err == ERR_OK; i++) {
		ranking->values[first + i] = values[i];
		err = read_code(ranking, snap, i, &ranking->codes[first + i]);
	}
	return err;
}

static enum err
sort(uint32_t *by_rank, struct ranking *ranking)
{
	uint32_t rows = ranking->set->rows;
	enum err err =
	    order_texts(ranking->by_code, ranking->spare, ranking->codes, rows);

	if (err != ERR_OK)
		return err;
	for (uint32_t i = 0; i < rows; i++)
		ranking->sorted[i] = ranking->values[ranking->by_code[i]];
	err = order_numbers(
	    ranking->spare, ranking->by_value, ranking->sorted, rows);
	for (uint32_t i = 0; i < rows && err == ERR_OK; i++)
		by_rank[i] = ranking->by_code[ranking->by_value[i]];
	return err;
}

static bool
allocate(struct ranking *ranking, uint32_t rows)
{
	ranking->arena = arena_new(UNPACKED_MAX);
	ranking->codes = malloc((rows + 1u) * sizeof(*ranking->codes));
	ranking->values = malloc((rows + 1u) * sizeof(*ranking->values));
	ranking->sorted = malloc((rows + 1u) * sizeof(*ranking->sorted));
	ranking->by_code = malloc((rows + 1u) * sizeof(uint32_t));
	ranking->by_value = malloc((rows + 1u) * sizeof(uint32_t));
	ranking->spare = malloc((rows + 1u) * sizeof(uint32_t));
	return ranking->arena != NULL && ranking->codes != NULL &&
	    ranking->values != NULL && ranking->sorted != NULL &&
	    ranking->by_code != NULL && ranking->by_value != NULL &&
	    ranking->spare != NULL;
}

enum err
wordbook_rank(uint32_t **by_rank, const struct wordbook_rowset *set)
{
	struct ranking ranking = {.set = set};
	enum err err = allocate(&ranking, set->rows) ? ERR_OK : ERR_NO_MEMORY;

	*by_rank = malloc((set->rows + 1u) * sizeof(**by_rank));
	if (*by_rank == NULL)
		err = ERR_NO_MEMORY;
	for (uint32_t i = 0; i < set->supplier_count && err == ERR_OK; i++)
		err = read_supplier(&ranking, i);
	if (err == ERR_OK)
		err = sort(*by_rank, &ranking);
	arena_free(ranking.arena);
	free(ranking.codes);
	free(ranking.values);
	free(ranking.sorted);
	free(ranking.by_code);
	free(ranking.by_value);
	free(ranking.spare);
	return err;
}
