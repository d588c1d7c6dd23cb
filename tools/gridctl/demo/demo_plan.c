#include "tools/gridctl/demo/demo_plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gridctl/demo/demo_random.h"

/* Codes that tests and tutorials use. */
static const char *const known_codes[] = {"12345", "00042", "00107", "90909"};

#define KNOWN (sizeof(known_codes) / sizeof(known_codes[0]))

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t
most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * Most suppliers are small: the product of two uniform draws leans to the low
 * end.
 */
static uint32_t
small_size(struct demo_random *random, uint32_t articles)
{
	uint32_t max = most(1, least(600, articles / 4));
	uint64_t size = (uint64_t)demo_below(random, max);

	size = size * demo_below(random, max) / max;
	return 3 + (uint32_t)size > max ? max : 3 + (uint32_t)size;
}

static uint32_t
supplier_size(struct demo_random *random, uint32_t number, uint32_t articles)
{
	switch (number) {
	case 0:
		return articles;
	case 1:
		return articles >= 20000 ? most(12000, articles / 10)
					 : most(1, articles / 10);
	case 2:
		return most(1, least(350, articles / 4));
	case 3:
		return 0;
	default:
		return small_size(random, articles);
	}
}

static void
size_supplier(struct demo_plan *plan, uint32_t number, uint32_t articles)
{
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_SUPPLIER, number, 0);
	struct demo_supplier *supplier = &plan->suppliers[number];
	uint32_t size = supplier_size(&random, number, articles);

	supplier->number = number;
	/* Two suppliers in three also list articles of the largest. */
	if (number != 0 && number % 3 != 0)
		supplier->shared = least(size / 8, articles / 8);
	supplier->own = size - supplier->shared;
}

/*
 * Suppliers of a size of their own come first. The listings missing up to
 * `total` are shared among the rest in proportion to their sizes; the remainder
 * of the division goes one each to the first of them.
 */
static enum err
stretch(struct demo_plan *plan, uint32_t total)
{
	uint64_t sum = 0, rest = 0, missing, left;

	for (uint32_t i = 0; i < plan->supplier_count; i++) {
		uint64_t size =
		    plan->suppliers[i].own + plan->suppliers[i].shared;

		sum += size;
		if (i >= KNOWN)
			rest += size;
	}
	if (rest == 0 || sum > total)
		return ERR_BAD_INPUT;
	missing = left = total - sum;
	for (uint32_t i = KNOWN; i < plan->supplier_count; i++) {
		struct demo_supplier *supplier = &plan->suppliers[i];
		uint64_t part =
		    missing * (supplier->own + supplier->shared) / rest;

		supplier->own += (uint32_t)part;
		left -= part;
	}
	for (uint32_t i = KNOWN; left > 0; i++, left--)
		plan->suppliers[i].own++;
	return ERR_OK;
}

static bool
code_is_taken(const struct demo_plan *plan, uint32_t count, const char *code)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (strcmp(known_codes[i], code) == 0)
			return true;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(plan->suppliers[i].code, code) == 0)
			return true;
	return false;
}

static void
name_codes(struct demo_plan *plan)
{
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_PLAN, plan->supplier_count, 0);
	char code[sizeof(plan->suppliers[0].code)];

	for (uint32_t i = 0; i < plan->supplier_count; i++) {
		if (i < KNOWN) {
			memcpy(plan->suppliers[i].code, known_codes[i], 6);
			continue;
		}
		do
			snprintf(code, sizeof(code), "%05u",
			    (unsigned)demo_below(&random, 100000));
		while (code_is_taken(plan, i, code));
		memcpy(plan->suppliers[i].code, code, sizeof(code));
	}
}

static int
by_code(const void *a, const void *b)
{
	const struct demo_supplier *left = a, *right = b;

	return strcmp(left->code, right->code);
}

static int
by_product(const void *a, const void *b)
{
	const struct demo_listing *left = a, *right = b;

	return (left->product > right->product) -
	    (left->product < right->product);
}

/*
 * Fills the supplier's listings. For the shared ones, the largest supplier's
 * products are cut into as many equal parts and one is drawn from each, so that
 * none comes twice.
 */
static void
list_articles(struct demo_plan *plan, uint32_t index, uint32_t first_product,
    uint32_t articles)
{
	struct demo_supplier *supplier = &plan->suppliers[index];
	struct demo_listing *to = plan->listings + supplier->first;
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_SUPPLIER, supplier->number, 1);
	uint32_t part;

	for (uint32_t i = 0; i < supplier->shared; i++) {
		part = articles / supplier->shared;
		*to++ = (struct demo_listing){
		    index, i * part + demo_below(&random, part), false};
	}
	for (uint32_t i = 0; i < supplier->own; i++)
		*to++ = (struct demo_listing){index, first_product + i, true};
	qsort(plan->listings + supplier->first,
	    to - (plan->listings + supplier->first), sizeof(*to), by_product);
}

/* The largest has the products 0..articles-1; the others follow. */
static enum err
list_all(struct demo_plan *plan, uint32_t articles)
{
	uint32_t next = articles;
	struct demo_supplier *supplier;

	plan->listings = calloc(plan->listing_count, sizeof(*plan->listings));
	if (plan->listings == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < plan->supplier_count; i++) {
		supplier = &plan->suppliers[i];
		if (supplier->number == 0) {
			plan->largest = i;
			list_articles(plan, i, 0, articles);
		} else {
			list_articles(plan, i, next, articles);
			next += supplier->own;
		}
	}
	plan->product_count = next;
	return ERR_OK;
}

enum err
demo_plan_make(struct demo_plan *plan, uint64_t seed, uint32_t articles,
    uint32_t suppliers, uint32_t stores, uint32_t total)
{
	assert(plan != NULL);
	assert(articles <= DEMO_ARTICLES_MAX);
	assert(suppliers > 0 && suppliers <= DEMO_SUPPLIERS_MAX);
	assert(stores > 0 && stores <= DEMO_STORES_MAX);
	*plan = (struct demo_plan){
	    .seed = seed, .store_count = stores, .supplier_count = suppliers};
	plan->suppliers = calloc(suppliers, sizeof(*plan->suppliers));
	if (plan->suppliers == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < suppliers; i++)
		size_supplier(plan, i, articles);
	if (total != 0 && stretch(plan, total) != ERR_OK)
		return ERR_BAD_INPUT;
	name_codes(plan);
	qsort(plan->suppliers, suppliers, sizeof(*plan->suppliers), by_code);
	for (uint32_t i = 0; i < suppliers; i++) {
		plan->suppliers[i].first = plan->listing_count;
		plan->listing_count +=
		    plan->suppliers[i].own + plan->suppliers[i].shared;
	}
	return list_all(plan, articles);
}

void
demo_plan_fini(struct demo_plan *plan)
{
	assert(plan != NULL);
	free(plan->suppliers);
	free(plan->listings);
	plan->suppliers = NULL;
	plan->listings = NULL;
}
