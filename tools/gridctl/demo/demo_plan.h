/* demo_plan: the size of each supplier, and the articles it lists. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

#define DEMO_ARTICLES_MAX 10000000
#define DEMO_SUPPLIERS_MAX 5000
#define DEMO_STORES_MAX 400

struct demo_supplier {
	char code[6];
	uint32_t number; /* by plan: 0 is the largest */
	uint32_t own; /* articles of its own */
	uint32_t shared; /* articles that the largest lists too */
	uint32_t first; /* where its listings begin */
};

/* An article at a supplier. */
struct demo_listing {
	uint32_t supplier; /* index into suppliers */
	uint32_t product;
	bool own; /* the supplier that the product was made for */
};

struct demo_plan {
	uint64_t seed;
	uint32_t store_count;
	uint32_t supplier_count;
	uint32_t listing_count;
	uint32_t product_count;
	uint32_t largest; /* index into suppliers */
	struct demo_supplier *suppliers; /* by code */
	struct demo_listing *listings; /* by supplier, then by product */
};

/*
 * The largest supplier gets exactly `articles`. Of the others, as far as there
 * are enough: one has over 10,000 (or a tenth of the largest), one a few
 * hundred, one none, and the rest a few to some hundred. A `total` other than 0
 * is the number of all listings: the rest are then enlarged in proportion.
 * ERR_BAD_INPUT when there is no rest, or the total is exceeded already.
 */
enum err demo_plan_make(struct demo_plan *plan, uint64_t seed,
    uint32_t articles, uint32_t suppliers, uint32_t stores, uint32_t total);

void demo_plan_fini(struct demo_plan *plan);
