/*
 * A supplier's rows are made of its name and articles and of the labels of their
 * classification; and, all suppliers' alike, of the stores' codes, of the year
 * that ends with the newest month of all facts, and of the month since which
 * sales are known. Digests of both, equal in
 * two imports, say that nothing of them has changed. Series have the stores'
 * numbers, so the second takes all codes; no row shows a store's name.
 */
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/digest.h"
#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/schema.h"

struct mark {
	bool made;
	uint8_t digest[SCHEMA_DIGEST];
	uint64_t *products;
	size_t count;
};

struct intake_marks {
	struct intake *intake;
	struct digest_parts *digest;
	uint8_t common[DIGEST_SHA256_LEN]; /* of what all suppliers share */
	struct mark *marks; /* by the supplier's number */
	struct mark *open; /* of the supplier that has begun, or NULL */
	size_t room; /* of its products */
	uint32_t last_code3; /* whose labels the digest has taken */
};

static struct span
bytes_of(const void *bytes, size_t len)
{
	return span_make(bytes, len);
}

static enum err
take_common(struct intake_marks *marks)
{
	struct intake *intake = marks->intake;
	uint32_t months[] = {htole32((uint32_t)intake->header.newest_month),
	    htole32((uint32_t)intake->header.oldest_sales)};

	digest_parts_add(marks->digest, bytes_of(months, sizeof(months)));
	for (uint32_t i = 0; i < codemap_count(intake->stores.codes); i++)
		digest_parts_add(marks->digest,
		    codemap_code(intake->stores.codes, intake->store_order[i]));
	return digest_parts_end(marks->digest, marks->common);
}

enum err
marks_new(struct intake_marks **out, struct intake *intake)
{
	struct intake_marks *marks = calloc(1, sizeof(*marks));
	enum err err = ERR_NO_MEMORY;

	assert(intake->sealed);
	*out = marks;
	if (marks == NULL)
		return err;
	marks->intake = intake;
	marks->marks = calloc(
	    codemap_count(intake->suppliers.codes) + 1, sizeof(*marks->marks));
	if (marks->marks != NULL)
		err = digest_parts_new(&marks->digest);
	return err == ERR_OK ? take_common(marks) : err;
}

void
marks_free(struct intake_marks *marks)
{
	if (marks == NULL)
		return;
	if (marks->marks != NULL)
		for (uint32_t i = 0;
		     i < codemap_count(marks->intake->suppliers.codes); i++)
			free(marks->marks[i].products);
	free(marks->marks);
	digest_parts_free(marks->digest);
	free(marks);
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
sort_products(struct mark *mark)
{
	size_t kept = 0;

	if (mark->count > 0)
		qsort(mark->products, mark->count, sizeof(*mark->products),
		    by_value);
	for (size_t i = 0; i < mark->count; i++)
		if (i == 0 || mark->products[i] != mark->products[kept - 1])
			mark->products[kept++] = mark->products[i];
	mark->count = kept;
}

static enum err
end_supplier(struct intake_marks *marks)
{
	struct mark *mark = marks->open;
	uint8_t digest[DIGEST_SHA256_LEN];
	enum err err;

	if (mark == NULL)
		return ERR_OK;
	marks->open = NULL;
	sort_products(mark);
	err = digest_parts_end(marks->digest, digest);
	memcpy(mark->digest, digest, sizeof(mark->digest));
	return err;
}

enum err
marks_begin(struct intake_marks *marks, struct span supplier)
{
	struct intake_table *table = &marks->intake->suppliers;
	uint32_t number = codemap_find(table->codes, supplier);
	enum err err = end_supplier(marks);

	assert(number != CODEMAP_NONE && !marks->marks[number].made);
	marks->open = &marks->marks[number];
	marks->open->made = true;
	marks->room = 0;
	marks->last_code3 = SOURCE_NO_CODE3;
	digest_parts_add(marks->digest, table->values[number]);
	return err;
}

/* The labels of the three levels above an article. */
static void
take_labels(struct intake_marks *marks, uint32_t code3)
{
	struct intake_table *table = &marks->intake->classes;
	char code[16];

	if (code3 == marks->last_code3 || code3 == SOURCE_NO_CODE3)
		return;
	marks->last_code3 = code3;
	snprintf(code, sizeof(code), "%06u", (unsigned)code3);
	for (size_t len = 2; len <= 6; len += 2) {
		uint32_t number =
		    codemap_find(table->codes, span_make(code, len));

		digest_parts_add(marks->digest,
		    number == CODEMAP_NONE ? SPAN("") : table->values[number]);
	}
}

static enum err
add_product(struct intake_marks *marks, struct span code)
{
	struct mark *mark = marks->open;
	uint64_t *products;

	if (code.len == 0)
		return ERR_OK;
	if (mark->count == marks->room) {
		marks->room = marks->room == 0 ? 256 : marks->room * 2;
		products = reallocarray(
		    mark->products, marks->room, sizeof(*products));
		if (products == NULL)
			return ERR_NO_MEMORY;
		mark->products = products;
	}
	mark->products[mark->count++] = source_product_hash(code);
	return ERR_OK;
}

enum err
marks_take(struct intake_marks *marks, struct span record,
    const struct source_article *article)
{
	assert(marks->open != NULL);
	digest_parts_add(marks->digest, record);
	take_labels(marks, article->code3);
	return add_product(marks, article->code_centrale);
}

struct span
marks_common(const struct intake_marks *marks)
{
	return bytes_of(marks->common, SCHEMA_DIGEST);
}

enum err
marks_write(struct intake_marks *marks, uint32_t supplier, struct buf *record)
{
	struct mark *mark = &marks->marks[supplier];
	enum err err = ERR_OK;

	if (!mark->made) /* it has no article */
		err = marks_begin(marks,
		    codemap_code(marks->intake->suppliers.codes, supplier));
	if (err == ERR_OK)
		err = end_supplier(marks);
	for (size_t i = 0; i < mark->count; i++)
		mark->products[i] = htole64(mark->products[i]);
	pack_add_text(record, bytes_of(mark->digest, sizeof(mark->digest)));
	pack_add_text(record,
	    mark->count == 0
		? SPAN("")
		: bytes_of(mark->products, mark->count * sizeof(uint64_t)));
	free(mark->products);
	mark->products = NULL;
	return err;
}
