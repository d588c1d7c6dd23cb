#include <assert.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/compute/compute_priv.h"
#include "lmdb-schema/order.h"

#define CALC_CHUNK 2048
#define NAMED 20 /* left-out articles named in the log; the rest are counted */

static void
leave_out(struct computing *c, uint32_t i)
{
	c->left[i] = 1;
	if (atomic_fetch_add(&c->left_out, 1) < NAMED)
		log_error("article is left out, its sums are too large (mend "
			  "its figures and import again): supplier=%.*s "
			  "codein=%.*s",
		    SPAN_ARG(c->supplier), SPAN_ARG(c->articles[i].codein));
}

static enum err
calc_chunk(
    struct computing *c, unsigned task, struct buf *flats, struct buf *maps)
{
	uint32_t start = task * CALC_CHUNK, end = start + CALC_CHUNK;
	unsigned columns = c->json.places.count;

	(void)flats;
	(void)maps;
	for (uint32_t i = start; i < end && i < c->count; i++) {
		struct row_numbers row;
		struct network network;
		bool known = c->networks[i].ptr != NULL;
		enum err err = ERR_OK;

		if (known)
			err = network_read(&network, c->networks[i]);
		if (err == ERR_OK)
			err = rowcalc_article(&row, &c->json.places,
			    &c->articles[i], known ? &network : NULL,
			    &c->period);
		if (err == ERR_TOO_LARGE) {
			leave_out(c, i);
			continue;
		}
		if (err != ERR_OK) {
			log_error("article cannot be computed: supplier=%.*s "
				  "codein=%.*s error=%s",
			    SPAN_ARG(c->supplier),
			    SPAN_ARG(c->articles[i].codein), err_text(err));
			return err;
		}
		for (unsigned k = 0; k < columns; k++)
			c->numbers[(size_t)k * c->count + i] = row.number[k];
	}
	return ERR_OK;
}

/* --- what is left out ----------------------------------------------------- */

static uint64_t
size_of(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

struct totals {
	unsigned __int128 ca, qte;
};

/*
 * Totals are of absolute values: when they fit, each class's sum fits too.
 * Articles left out count as zero.
 */
static bool
totals_fit(const struct totals *totals)
{
	return totals->ca <= INT64_MAX && totals->qte <= INT64_MAX;
}

/* Leaves out the largest articles until the totals of the others fit. */
static enum err
leave_out_largest(struct computing *c, struct totals totals)
{
	const int64_t *ca = computing_numbers(c, COL_totalCa);
	const int64_t *qte = computing_numbers(c, COL_totalQuantite);
	int64_t *keys = calloc(c->count + 1u, sizeof(*keys));
	enum err err = ERR_NO_MEMORY;

	for (uint32_t i = 0; keys != NULL && i < c->count; i++) {
		uint64_t larger = size_of(ca[i]) > size_of(qte[i])
		    ? size_of(ca[i])
		    : size_of(qte[i]);

		keys[i] = larger > INT64_MAX ? INT64_MAX : (int64_t)larger;
	}
	if (keys != NULL)
		err = order_numbers(
		    c->article_row, c->row_article, keys, c->count);
	for (uint32_t at = 0;
	     err == ERR_OK && at < c->count && !totals_fit(&totals); at++) {
		uint32_t i = c->row_article[at];

		if (c->left[i])
			continue;
		leave_out(c, i);
		totals.ca -= size_of(ca[i]);
		totals.qte -= size_of(qte[i]);
	}
	free(keys);
	return err;
}

/* Removes the articles left out from the arrays. */
static void
close_up(struct computing *c)
{
	uint32_t kept = c->count - c->left_out, at = 0;

	for (unsigned k = 0; k < c->json.places.count; k++) {
		const int64_t *from = c->numbers + (size_t)k * c->count;
		int64_t *to = c->numbers + (size_t)k * kept;

		for (uint32_t i = 0; i < c->count; i++)
			if (!c->left[i])
				*to++ = from[i];
	}
	for (uint32_t i = 0; i < c->count; i++)
		if (!c->left[i]) {
			c->articles[at] = c->articles[i];
			c->networks[at] = c->networks[i];
			c->gammes[at++] = c->gammes[i];
		}
	c->count = kept;
}

static enum err
leave_out_absurd(struct computing *c)
{
	const int64_t *ca = computing_numbers(c, COL_totalCa);
	const int64_t *qte = computing_numbers(c, COL_totalQuantite);
	struct totals totals = {0, 0};
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < c->count; i++) {
		totals.ca += size_of(ca[i]);
		totals.qte += size_of(qte[i]);
	}
	if (!totals_fit(&totals))
		err = leave_out_largest(c, totals);
	if (err != ERR_OK || c->left_out == 0)
		return err;
	log_error("articles are left out: supplier=%.*s count=%u of=%u",
	    SPAN_ARG(c->supplier), c->left_out, c->count);
	if (c->left_out == c->count)
		return ERR_TOO_LARGE;
	close_up(c);
	return ERR_OK;
}

/* --- ranking -------------------------------------------------------------- */

/* The class, by the turnover ranked before: A below 80 %, B below 95 %. */
static char
class_of(__int128 before, __int128 total)
{
	if (total <= 0)
		return '\0';
	if (before * 100 < total * 80)
		return 'A';
	return before * 100 < total * 95 ? 'B' : 'C';
}

static void
share(struct computing *c)
{
	const int64_t *ca = computing_numbers(c, COL_totalCa);
	int64_t *part = computing_numbers(c, COL_partCa);
	int64_t *rank = computing_numbers(c, COL_rangCa);
	int64_t *cumul = computing_numbers(c, COL_cumulCaPct);
	__int128 total = 0, sum = 0;

	for (uint32_t i = 0; i < c->count; i++)
		total += ca[i];
	for (uint32_t row = 0; row < c->count; row++) {
		uint32_t i = c->row_article[row];

		c->abc[i] = class_of(sum, total);
		sum += ca[i];
		rank[i] = row + 1;
		part[i] = num_ratio(ca[i], total);
		cumul[i] = num_ratio(sum, total);
	}
}

enum err
computing_rank(struct computing *c)
{
	enum err err = computing_parallel(
	    c, (c->count + CALC_CHUNK - 1) / CALC_CHUNK, calc_chunk);

	assert(c->numbers != NULL);
	if (err == ERR_OK)
		err = leave_out_absurd(c);
	/*
	 * The ascending order is not needed; article_row serves as its scratch.
	 */
	if (err == ERR_OK)
		err = order_numbers(c->article_row, c->row_article,
		    computing_numbers(c, COL_totalCa), c->count);
	if (err != ERR_OK)
		return err;
	for (uint32_t row = 0; row < c->count; row++)
		c->article_row[c->row_article[row]] = row;
	share(c);
	return ERR_OK;
}
