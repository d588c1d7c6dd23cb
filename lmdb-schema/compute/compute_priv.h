/*
 * compute_priv: the state that the parts of one computation share. For compute*.c
 * only.
 *
 * Articles are numbered in the order of the facts, by codein; rows by turnover.
 * `articles[row_article[row]]` is a row's article.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/compute/rowjson.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/snapwrite.h"

struct computing {
	struct store *store;
	struct span supplier;
	struct source_supplier info;
	const struct compute_options *options;
	struct source *source;
	struct live_view *live;
	struct period period;
	struct rowjson json;

	uint32_t count; /* articles, without those left out */
	uint8_t *left; /* 1: its sums do not fit; until the ranking */
	atomic_uint left_out; /* how many */
	struct source_article *articles;
	struct span *networks; /* stored bytes; .ptr NULL: none */
	uint8_t *gammes; /* server range */
	int64_t *numbers; /* [number column * count + article] */
	uint32_t *row_article, *article_row;
	char *abc; /* by article */
	uint8_t *trends; /* by row: trend_code() */
	int64_t *months[SNAP_MONTHLY]; /* [month * count + row] */
	int64_t *stores[SNAP_MEASURES]; /* [store * count + row], or NULL */

	struct span *labels[3]; /* by code at its level; sparse */
	struct snap_flat *flat_at; /* by row */
	struct snap_maps *maps_at;
	struct snap_head head;
	struct snapwrite *write;
	atomic_uint done; /* tasks, for the progress */
	_Atomic enum err err; /* the first failure of any thread */
};

static inline int64_t *
computing_numbers(struct computing *c, unsigned column)
{
	return c->numbers + (size_t)c->json.places.of[column] * c->count;
}

/* compute_load.c: facts, metrics and ranges into memory. */
enum err computing_load(struct computing *c);
void computing_unload(struct computing *c);

/* compute_rank.c: the values that compare articles with one another. */
enum err computing_rank(struct computing *c);

/* compute_parts.c: the sections of the file, as tasks for threads. */
unsigned computing_tasks(const struct computing *c);
enum err computing_task(
    struct computing *c, unsigned task, struct buf *flats, struct buf *maps);

/* The texts of an article's row. */
struct rowtext computing_row_text(const struct computing *c, uint32_t article);

/*
 * compute_columns.c: what filters compare and groups are made of.
 *
 * computing_terms() writes a column's texts, given them folded, by article, and
 * the articles in their order. The others take the sums and the trend of each
 * row, and write them when all rows were taken.
 */
enum err computing_terms(struct computing *c, unsigned column,
    const struct span *folded, const uint32_t *order);
enum err computing_sums_begin(struct computing *c);
void computing_sums_end(struct computing *c);
void computing_sums_take(struct computing *c, uint32_t row,
    const struct rowjson_sums *sums, const struct network *network);
enum err computing_sums_put(struct computing *c);

/* Runs `count` calls of `run` on the computation's threads. */
enum err computing_parallel(struct computing *c, unsigned count,
    enum err (*run)(struct computing *c, unsigned task, struct buf *flats,
	struct buf *maps));
