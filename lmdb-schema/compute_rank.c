#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/computing.h"
#include "lmdb-schema/order.h"

#define CALC_CHUNK 2048

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

/* A class by what is ranked before: A below 80 %, B below 95 %. */
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

	/* article_row serves as the ascending order that nobody needs. */
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
