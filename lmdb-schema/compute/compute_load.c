#include <stdlib.h>

#include "common/num.h"
#include "lmdb-schema/compute/compute_priv.h"

static const unsigned level_codes[] = {100, 10000, 1000000};

static enum err
allocate(struct computing *c)
{
	size_t n = c->count + 1u;

	c->articles = calloc(n, sizeof(*c->articles));
	c->networks = calloc(n, sizeof(*c->networks));
	c->gammes = calloc(n, sizeof(*c->gammes));
	c->numbers = calloc(n * c->json.places.count, sizeof(*c->numbers));
	c->row_article = calloc(n, sizeof(*c->row_article));
	c->article_row = calloc(n, sizeof(*c->article_row));
	c->abc = calloc(n, sizeof(*c->abc));
	c->left = calloc(n, sizeof(*c->left));
	for (unsigned i = 0; i < 3; i++) {
		c->labels[i] = calloc(level_codes[i], sizeof(*c->labels[i]));
		if (c->labels[i] == NULL)
			return ERR_NO_MEMORY;
	}
	if (c->articles == NULL || c->networks == NULL || c->gammes == NULL ||
	    c->numbers == NULL || c->row_article == NULL ||
	    c->article_row == NULL || c->abc == NULL || c->left == NULL)
		return ERR_NO_MEMORY;
	return ERR_OK;
}

void
computing_unload(struct computing *c)
{
	free(c->articles);
	free(c->networks);
	free(c->gammes);
	free(c->numbers);
	free(c->row_article);
	free(c->article_row);
	free(c->abc);
	free(c->left);
	for (unsigned i = 0; i < 3; i++)
		free(c->labels[i]);
}

static enum err
take_class(void *context, struct span code, struct span label)
{
	struct computing *c = context;
	int64_t number;

	if (code.len % 2 == 0 && code.len >= 2 && code.len <= 6 &&
	    num_decimal(&number, code))
		c->labels[code.len / 2 - 1][number / NUM_MICRO] = label;
	return ERR_OK;
}

static enum err
load_articles(struct computing *c)
{
	struct source_walk *walk;
	struct source_article article;
	uint32_t count = 0;
	enum err err = source_walk_begin(&walk, c->source, c->supplier);

	if (err != ERR_OK)
		return err;
	while ((err = source_walk_next(walk, &article)) == ERR_OK) {
		if (count == c->count) {
			err = ERR_DAMAGED;
			break;
		}
		c->articles[count++] = article;
	}
	source_walk_end(walk);
	if (err != ERR_NOT_FOUND)
		return err;
	return count == c->count ? ERR_OK : ERR_DAMAGED;
}

static enum err
load_networks(struct computing *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		enum err err = live_network_raw(
		    c->live, c->articles[i].code_centrale, &c->networks[i]);

		if (err == ERR_NOT_FOUND)
			c->networks[i] = (struct span){NULL, 0};
		else if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

struct gamme_merge {
	struct computing *c;
	uint32_t at;
};

/*
 * Both sequences are ordered by codein; a range whose article is gone is
 * skipped.
 */
static enum err
take_gamme(void *context, struct span codein, uint8_t gamme)
{
	struct gamme_merge *merge = context;
	struct computing *c = merge->c;

	while (merge->at < c->count &&
	    span_cmp(c->articles[merge->at].codein, codein) < 0)
		merge->at++;
	if (merge->at < c->count &&
	    span_eq(c->articles[merge->at].codein, codein))
		c->gammes[merge->at] = gamme;
	return ERR_OK;
}

enum err
computing_load(struct computing *c)
{
	struct gamme_merge merge = {c, 0};
	enum err err = allocate(c);

	if (err == ERR_OK)
		err = source_classes(c->source, take_class, c);
	if (err == ERR_OK)
		err = load_articles(c);
	if (err == ERR_OK)
		err = load_networks(c);
	if (err == ERR_OK)
		err = live_gammes(c->live, c->supplier, take_gamme, &merge);
	return err;
}
