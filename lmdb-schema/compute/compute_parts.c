/*
 * The sections of a snapshot file, each made by one task. The slices, the
 * longest tasks, are started first.
 */
#include <assert.h>
#include <stdlib.h>

#include "common/fold.h"
#include "common/num.h"
#include "lmdb-schema/compute/compute_priv.h"
#include "lmdb-schema/order.h"
#include "lmdb-schema/snapshot/grams.h"

#define FOLD_MAX ((size_t)1 << 30)

/* --- slices: the rows' JSON --------------------------------------------- */

struct rowtext
computing_row_text(const struct computing *c, uint32_t article)
{
	return (struct rowtext){.article = &c->articles[article],
	    .supplier = c->supplier,
	    .name = c->info.name,
	    .labels = c->labels,
	    .gamme = c->gammes[article],
	    .abc = c->abc[article]};
}

static void
row_input(struct computing *c, uint32_t article, struct rowjson_input *in,
    struct row_numbers *numbers, struct network *network)
{
	for (unsigned k = 0; k < c->json.places.count; k++)
		numbers->number[k] = c->numbers[(size_t)k * c->count + article];
	in->text = computing_row_text(c, article);
	in->numbers = numbers;
	in->network = NULL;
	if (c->networks[article].ptr != NULL &&
	    network_read(network, c->networks[article]) == ERR_OK)
		in->network = network;
}

static enum err
slice(struct computing *c, unsigned number, struct buf *flats, struct buf *maps)
{
	uint32_t row = number * c->head.slice_rows;
	uint32_t end = row + c->head.slice_rows;
	struct rowjson_input in;
	struct row_numbers numbers;
	struct network network;
	struct rowjson_sums sums = {.store = {NULL}};
	int64_t *stores = NULL;
	struct buf cells;

	if (c->stores[0] != NULL) {
		stores = calloc(SNAP_MEASURES * (size_t)c->json.stores + 1,
		    sizeof(*stores));
		if (stores == NULL)
			return ERR_NO_MEMORY;
		for (unsigned i = 0; i < SNAP_MEASURES; i++)
			sums.store[i] = stores + (size_t)i * c->json.stores;
	}
	buf_clear(flats);
	buf_clear(maps);
	buf_init(&cells, ROWJSON_CELLS_MAX);
	for (; row < end && row < c->count; row++) {
		row_input(c, c->row_article[row], &in, &numbers, &network);
		rowjson_flat(&c->json, flats, &c->flat_at[row], &in);
		rowjson_maps(
		    &c->json, maps, &cells, &c->maps_at[row], &in, &sums);
		computing_sums_take(c, row, &sums, in.network);
	}
	free(stores);
	buf_fini(&cells);
	snapwrite_put(
	    c->write, SNAP_SLICE + 2 * number, flats->data, flats->len);
	snapwrite_put(
	    c->write, SNAP_SLICE + 2 * number + 1, maps->data, maps->len);
	return buf_end(flats) == ERR_OK ? buf_end(maps) : buf_end(flats);
}

/* --- sorted orders ------------------------------------------------------ */

/* All the column's texts folded into one buffer; `texts` point into it. */
static enum err
fold_column(
    struct computing *c, unsigned column, struct buf *buf, struct span *texts)
{
	size_t start = 0;
	char code[ROWTEXT_CODE_MAX];

	for (uint32_t i = 0; i < c->count; i++) {
		struct rowtext row = computing_row_text(c, i);
		struct span text = rowtext_of(&row, column, code);

		start = buf->len;
		if (text.len > 0)
			fold_add(buf, text);
		texts[i].len = buf->len - start;
		texts[i].ptr = text.len > 0 ? "" : NULL;
	}
	start = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		if (texts[i].len > 0)
			texts[i].ptr = buf->data + start;
		start += texts[i].len;
	}
	return buf_end(buf);
}

static enum err
sort_column(struct computing *c, unsigned column, uint32_t *asc, uint32_t *desc)
{
	struct span *texts;
	struct buf buf;
	enum err err = ERR_NO_MEMORY;

	if (row_is_number(column))
		return order_numbers(
		    asc, desc, computing_numbers(c, column), c->count);
	buf_init(&buf, FOLD_MAX);
	texts = calloc(c->count + 1u, sizeof(*texts));
	if (texts != NULL)
		err = fold_column(c, column, &buf, texts);
	if (err == ERR_OK)
		err = order_texts(asc, desc, texts, c->count);
	if (err == ERR_OK && !row_is_gamme(column))
		err = computing_terms(c, column, texts, asc);
	free(texts);
	buf_fini(&buf);
	return err;
}

static enum err
sorted(struct computing *c, unsigned column)
{
	size_t bytes = c->count * sizeof(uint32_t);
	uint32_t *asc = malloc(bytes + 1), *desc = malloc(bytes + 1);
	enum err err = ERR_NO_MEMORY;

	if (asc != NULL && desc != NULL)
		err = sort_column(c, column, asc, desc);
	for (uint32_t i = 0; err == ERR_OK && i < c->count; i++) {
		asc[i] = c->article_row[asc[i]];
		desc[i] = c->article_row[desc[i]];
	}
	if (err == ERR_OK) {
		snapwrite_put(c->write, SNAP_ASC + column, asc, bytes);
		snapwrite_put(c->write, SNAP_DESC + column, desc, bytes);
	}
	free(asc);
	free(desc);
	return err;
}

/* --- columns ------------------------------------------------------------ */

static enum err
numbers(struct computing *c)
{
	int64_t *out = calloc(c->count + 1u, sizeof(*out));

	if (out == NULL)
		return ERR_NO_MEMORY;
	for (unsigned k = 0; k < c->json.places.count; k++) {
		const int64_t *in = c->numbers + (size_t)k * c->count;

		for (uint32_t row = 0; row < c->count; row++)
			out[row] = in[c->row_article[row]];
		snapwrite_put(
		    c->write, SNAP_NUMBER + k, out, c->count * sizeof(*out));
	}
	free(out);
	return ERR_OK;
}

static enum err
codes(struct computing *c)
{
	uint32_t *code3 = calloc(c->count + 1u, sizeof(*code3));
	uint8_t *gammes = calloc(c->count + 1u, sizeof(*gammes));
	enum err err = ERR_NO_MEMORY;

	if (code3 != NULL && gammes != NULL) {
		for (uint32_t row = 0; row < c->count; row++) {
			code3[row] = c->articles[c->row_article[row]].code3;
			gammes[row] = c->gammes[c->row_article[row]];
		}
		snapwrite_put(
		    c->write, SNAP_CODE3, code3, c->count * sizeof(*code3));
		snapwrite_put(c->write, SNAP_GAMME, gammes, c->count);
		snapwrite_put(c->write, SNAP_CODEIN, c->article_row,
		    c->count * sizeof(*c->article_row));
		err = ERR_OK;
	}
	free(code3);
	free(gammes);
	return err;
}

/* --- search text -------------------------------------------------------- */

static enum err
put_grams(struct computing *c, struct span text, const uint32_t *at)
{
	struct grams_made made;
	enum err err = grams_make(&made, text, at, c->count);

	if (err != ERR_OK || made.at == NULL)
		return err;
	snapwrite_put(c->write, SNAP_GRAM_AT, made.at,
	    grams_at_count(c->count) * sizeof(*made.at));
	snapwrite_put(
	    c->write, SNAP_GRAMS, made.lists, made.count * sizeof(*made.lists));
	grams_made_fini(&made);
	return ERR_OK;
}

static enum err
search_text(struct computing *c)
{
	uint32_t *at = calloc(c->count + 1u, sizeof(*at));
	struct buf text;
	enum err err;
	char code[ROWTEXT_CODE_MAX];

	if (at == NULL)
		return ERR_NO_MEMORY;
	buf_init(&text, UINT32_MAX);
	for (uint32_t row = 0; row < c->count; row++) {
		struct rowtext texts =
		    computing_row_text(c, c->row_article[row]);

		at[row] = (uint32_t)text.len;
		for (unsigned i = 0; i < ROW_FLATS; i++) {
			if ((row_info[i].flags & ROW_SEARCH) == 0)
				continue;
			fold_add(&text, rowtext_of(&texts, i, code));
			buf_add_char(&text, SNAP_TEXT_END);
		}
	}
	at[c->count] = (uint32_t)text.len;
	err = buf_end(&text);
	if (err == ERR_OK)
		err = put_grams(c, buf_span(&text), at);
	if (err == ERR_OK) {
		snapwrite_put(c->write, SNAP_TEXT, text.data, text.len);
		snapwrite_put(
		    c->write, SNAP_TEXT_AT, at, (c->count + 1u) * sizeof(*at));
	}
	buf_fini(&text);
	free(at);
	return err;
}

/* --- the classification's three levels ---------------------------------- */

struct tree {
	uint32_t head[4]; /* counts of levels 1..3, articles without code */
	struct buf classes, labels;
};

static void
add_level(struct computing *c, struct tree *tree, const uint32_t *order,
    uint32_t coded, unsigned level)
{
	const int64_t *ca = computing_numbers(c, COL_totalCa);
	const int64_t *qte = computing_numbers(c, COL_totalQuantite);

	for (uint32_t i = 0; i < coded;) {
		struct snap_class class = {
		    .code =
			rowtext_code(c->articles[order[i]].code3, level + 1)};
		struct span label = c->labels[level][class.code];

		for (; i < coded &&
		     rowtext_code(c->articles[order[i]].code3, level + 1) ==
			 class.code;
		     i++) {
			class.articles++;
			if (!num_add(&class.ca, class.ca, ca[order[i]]) ||
			    !num_add(&class.qte, class.qte, qte[order[i]]))
				buf_fail(&tree->classes, ERR_TOO_LARGE);
		}
		class.label_at = (uint32_t)tree->labels.len;
		class.label_len = (uint32_t)label.len;
		buf_add_span(&tree->labels, label);
		buf_add(&tree->classes, &class, sizeof(class));
		tree->head[level]++;
	}
}

static enum err
order_by_code(struct computing *c, uint32_t *order, uint32_t *coded)
{
	int64_t *keys = calloc(c->count + 1u, sizeof(*keys));
	uint32_t *desc = calloc(c->count + 1u, sizeof(*desc));
	enum err err = ERR_NO_MEMORY;

	*coded = 0;
	for (uint32_t i = 0; keys != NULL && i < c->count; i++) {
		bool has = c->articles[i].code3 != SOURCE_NO_CODE3;

		keys[i] = has ? c->articles[i].code3 : NUM_NULL;
		*coded += has;
	}
	if (keys != NULL && desc != NULL)
		err = order_numbers(order, desc, keys, c->count);
	free(keys);
	free(desc);
	return err;
}

static enum err
tree(struct computing *c)
{
	uint32_t *order = calloc(c->count + 1u, sizeof(*order)), coded = 0;
	struct tree tree = {.head = {0}};
	enum err err = ERR_NO_MEMORY;

	buf_init(&tree.classes, 1u << 30);
	buf_init(&tree.labels, 1u << 30);
	if (order != NULL)
		err = order_by_code(c, order, &coded);
	if (err == ERR_OK) {
		buf_add(&tree.classes, tree.head, sizeof(tree.head));
		for (unsigned level = 0; level < 3; level++)
			add_level(c, &tree, order, coded, level);
		tree.head[3] = c->count - coded;
		buf_add_span(&tree.classes, buf_span(&tree.labels));
		buf_fail(&tree.classes, buf_end(&tree.labels));
		err = buf_end(&tree.classes);
	}
	if (err == ERR_OK) {
		memcpy(tree.classes.data, tree.head, sizeof(tree.head));
		snapwrite_put(
		    c->write, SNAP_TREE, tree.classes.data, tree.classes.len);
	}
	buf_fini(&tree.classes);
	buf_fini(&tree.labels);
	free(order);
	return err;
}

/* --- the tasks ---------------------------------------------------------- */

static unsigned
slice_count(const struct computing *c)
{
	return (c->count + c->head.slice_rows - 1) / c->head.slice_rows;
}

enum { TASK_NUMBERS, TASK_CODES, TASK_TEXT, TASK_TREE, TASK_OTHERS };

unsigned
computing_tasks(const struct computing *c)
{
	return slice_count(c) + TASK_OTHERS + ROW_FLATS;
}

enum err
computing_task(
    struct computing *c, unsigned task, struct buf *flats, struct buf *maps)
{
	static enum err (*const others[TASK_OTHERS])(struct computing *) = {
	    numbers, codes, search_text, tree};
	unsigned slices = slice_count(c);
	enum err err;

	assert(task < computing_tasks(c));
	if (task < slices)
		err = slice(c, task, flats, maps);
	else if (task - slices < TASK_OTHERS)
		err = others[task - slices](c);
	else
		err = sorted(c, task - slices - TASK_OTHERS);
	return err;
}
