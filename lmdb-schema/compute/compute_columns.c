/* The columns of texts, months, stores and trends: snapfile.h has their bytes. */
#include <assert.h>
#include <stdlib.h>

#include "common/num.h"
#include "lmdb-schema/compute/compute_priv.h"
#include "lmdb-schema/facts/trend.h"

#define TERMS_MAX ((size_t)1 << 30)

/* --- texts ---------------------------------------------------------------- */

/* A text of an article; short codes are made, and have their room here. */
struct item {
	uint32_t article;
	bool own; /* the text is in `code` */
	struct span text;
	char code[ROWTEXT_CODE_MAX];
};

/* The terms of a column in the making. */
struct terms {
	struct computing *c;
	unsigned column;
	uint32_t *of; /* by row */
	uint32_t count;
	struct buf folded_at, text_at, folded, texts;
};

static struct item
item_of(struct terms *terms, uint32_t article)
{
	struct rowtext row = computing_row_text(terms->c, article);
	struct item item = {.article = article};

	item.text = rowtext_of(&row, terms->column, item.code);
	item.own = item.text.ptr == item.code;
	return item;
}

static struct span
item_text(const struct item *item)
{
	return item->own ? span_make(item->code, item->text.len) : item->text;
}

static int
compare_items(const void *a, const void *b)
{
	return span_cmp(item_text(a), item_text(b));
}

static void
add_term(struct terms *terms, struct span folded, const struct item *item)
{
	buf_add_span(&terms->folded, folded);
	buf_add_char(&terms->folded, SNAP_TEXT_END);
	buf_add_span(&terms->texts, item_text(item));
	buf_add_u32(&terms->folded_at, (uint32_t)terms->folded.len);
	buf_add_u32(&terms->text_at, (uint32_t)terms->texts.len);
	terms->count++;
}

/* Articles whose folded texts are equal: mostly one text, now and then more. */
static enum err
add_run(struct terms *terms, struct span folded, const uint32_t *order,
    uint32_t count)
{
	struct item *items = calloc(count, sizeof(*items));
	bool differ = false;

	if (items == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		items[i] = item_of(terms, order[i]);
		differ |= compare_items(&items[0], &items[i]) != 0;
	}
	if (differ)
		qsort(items, count, sizeof(*items), compare_items);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || compare_items(&items[i - 1], &items[i]) != 0)
			add_term(terms, folded, &items[i]);
		terms->of[terms->c->article_row[items[i].article]] =
		    terms->count - 1;
	}
	free(items);
	return ERR_OK;
}

static enum err
add_runs(struct terms *terms, const struct span *folded, const uint32_t *order)
{
	uint32_t count = terms->c->count, end;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i = end) {
		struct span text = folded[order[i]];

		for (end = i + 1;
		     end < count && span_eq(text, folded[order[end]]) &&
		     (text.ptr == NULL) == (folded[order[end]].ptr == NULL);
		     end++)
			;
		if (text.ptr != NULL)
			err = add_run(terms, text, order + i, end - i);
	}
	return err;
}

/* True when all rows have the only text: no row then needs to say so. */
static bool
is_constant(const struct terms *terms)
{
	for (uint32_t row = 0; row < terms->c->count; row++)
		if (terms->of[row] != 0)
			return false;
	return terms->count == 1;
}

static enum err
put_terms(struct terms *terms)
{
	struct snapwrite *write = terms->c->write;
	struct buf all;
	enum err err;

	buf_init(&all, UINT32_MAX);
	buf_add_u32(&all, terms->count);
	buf_add_span(&all, buf_span(&terms->folded_at));
	buf_add_span(&all, buf_span(&terms->text_at));
	buf_add_span(&all, buf_span(&terms->folded));
	buf_add_span(&all, buf_span(&terms->texts));
	buf_fail(&all, buf_end(&terms->folded));
	buf_fail(&all, buf_end(&terms->texts));
	buf_fail(&all, buf_end(&terms->folded_at));
	buf_fail(&all, buf_end(&terms->text_at));
	err = buf_end(&all);
	if (err == ERR_OK) {
		snapwrite_put(
		    write, SNAP_TERMS + terms->column, all.data, all.len);
		if (!is_constant(terms))
			snapwrite_put(write, SNAP_TERM + terms->column,
			    terms->of, terms->c->count * sizeof(*terms->of));
	}
	buf_fini(&all);
	return err;
}

enum err
computing_terms(struct computing *c, unsigned column, const struct span *folded,
    const uint32_t *order)
{
	struct terms terms = {.c = c, .column = column};
	enum err err = ERR_NO_MEMORY;

	buf_init(&terms.folded_at, TERMS_MAX);
	buf_init(&terms.text_at, TERMS_MAX);
	buf_init(&terms.folded, TERMS_MAX);
	buf_init(&terms.texts, TERMS_MAX);
	buf_add_u32(&terms.folded_at, 0);
	buf_add_u32(&terms.text_at, 0);
	terms.of = malloc((c->count + 1u) * sizeof(*terms.of));
	if (terms.of != NULL) {
		memset(terms.of, 0xff, c->count * sizeof(*terms.of));
		err = add_runs(&terms, folded, order);
	}
	if (err == ERR_OK)
		err = put_terms(&terms);
	free(terms.of);
	buf_fini(&terms.folded_at);
	buf_fini(&terms.text_at);
	buf_fini(&terms.folded);
	buf_fini(&terms.texts);
	return err;
}

/* --- sums ----------------------------------------------------------------- */

enum err
computing_sums_begin(struct computing *c)
{
	uint64_t by_store = (uint64_t)c->count * c->json.stores;

	c->trends = calloc(c->count + 1u, sizeof(*c->trends));
	if (c->trends == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < SNAP_MONTHLY; i++) {
		c->months[i] = calloc((size_t)c->count * SCHEMA_MONTHS + 1,
		    sizeof(*c->months[i]));
		if (c->months[i] == NULL)
			return ERR_NO_MEMORY;
	}
	for (unsigned i = 0; i < SNAP_MEASURES && by_store <= SNAP_STORES_MAX;
	     i++) {
		c->stores[i] = calloc(by_store + 1, sizeof(*c->stores[i]));
		if (c->stores[i] == NULL)
			return ERR_NO_MEMORY;
	}
	return ERR_OK;
}

void
computing_sums_end(struct computing *c)
{
	free(c->trends);
	for (unsigned i = 0; i < SNAP_MONTHLY; i++)
		free(c->months[i]);
	for (unsigned i = 0; i < SNAP_MEASURES; i++)
		free(c->stores[i]);
}

void
computing_sums_take(struct computing *c, uint32_t row,
    const struct rowjson_sums *sums, const struct network *network)
{
	assert(row < c->count);
	c->trends[row] = trend_code(network);
	for (unsigned i = 0; i < SNAP_MONTHLY; i++)
		for (unsigned m = 0; m < SCHEMA_MONTHS; m++)
			c->months[i][(size_t)m * c->count + row] =
			    sums->month[i][m];
	for (unsigned i = 0; i < SNAP_MEASURES; i++)
		for (unsigned s = 0; c->stores[i] != NULL && s < c->json.stores;
		     s++)
			c->stores[i][(size_t)s * c->count + row] =
			    sums->store[i][s];
}

/* True when all are whole numbers of units in 31 bits. */
static bool
are_narrow(const int64_t *values, size_t count, int64_t unit)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] != NUM_NULL &&
		    (values[i] % unit != 0 || values[i] / unit > INT32_MAX ||
			values[i] / unit < -INT32_MAX))
			return false;
	return true;
}

/* In place: each is written before or where it was read. */
static size_t
make_narrow(int64_t *values, size_t count, int64_t unit)
{
	int32_t *out = (int32_t *)(void *)values;

	for (size_t i = 0; i < count; i++) {
		int64_t value = values[i];
		int32_t narrow =
		    value == NUM_NULL ? INT32_MIN : (int32_t)(value / unit);

		memcpy(&out[i], &narrow, sizeof(narrow));
	}
	return count * sizeof(*out);
}

static enum err
put_narrow(struct computing *c, unsigned section, int64_t *values, size_t count)
{
	struct snap_narrow head = {8, 0, 1};
	size_t bytes = count * sizeof(*values);
	struct buf all;
	enum err err;

	for (int64_t unit = NUM_MICRO; unit > 1 && head.width == 8; unit /= 10)
		if (are_narrow(values, count, unit)) {
			head = (struct snap_narrow){4, 0, unit};
			bytes = make_narrow(values, count, unit);
		}
	buf_init(&all, sizeof(head) + bytes + 1);
	buf_add(&all, &head, sizeof(head));
	buf_add(&all, values, bytes);
	err = buf_end(&all);
	if (err == ERR_OK)
		snapwrite_put(c->write, section, all.data, all.len);
	buf_fini(&all);
	return err;
}

static enum err
put_store_codes(struct computing *c)
{
	struct buf all;
	uint32_t at = 0;
	enum err err;

	buf_init(&all, TERMS_MAX);
	buf_add_u32(&all, c->json.stores);
	buf_add_u32(&all, 0);
	for (unsigned i = 0; i < c->json.stores; i++) {
		at += (uint32_t)source_store_code(c->source, (uint16_t)i).len;
		buf_add_u32(&all, at);
	}
	for (unsigned i = 0; i < c->json.stores; i++)
		buf_add_span(&all, source_store_code(c->source, (uint16_t)i));
	err = buf_end(&all);
	if (err == ERR_OK)
		snapwrite_put(c->write, SNAP_STORE_CODES, all.data, all.len);
	buf_fini(&all);
	return err;
}

enum err
computing_sums_put(struct computing *c)
{
	enum err err = put_store_codes(c);

	snapwrite_put(c->write, SNAP_TREND, c->trends, c->count);
	for (unsigned i = 0; i < SNAP_MONTHLY && err == ERR_OK; i++)
		err = put_narrow(c, SNAP_MONTHS + i, c->months[i],
		    (size_t)c->count * SCHEMA_MONTHS);
	for (unsigned i = 0; i < SNAP_MEASURES && err == ERR_OK; i++)
		if (c->stores[i] != NULL)
			err = put_narrow(c, SNAP_STORES + i, c->stores[i],
			    (size_t)c->count * c->json.stores);
	return err;
}
