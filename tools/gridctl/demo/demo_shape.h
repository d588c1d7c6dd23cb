/*
 * demo_shape: the attributes and sales of an article. All in whole numbers:
 * quantities in thousandths (of a piece, or of a kilogram), money in cents.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "tools/gridctl/demo/demo_plan.h"
#include "tools/gridctl/demo/demo_words.h"

#define DEMO_MONTHS 24
#define DEMO_NETWORK_MONTHS 24
#define DEMO_NETWORK_USUAL 13 /* months of most series */
#define DEMO_LAST_MONTH (2026 * 12 + 10 - 1) /* October 2026, as in date.h */
#define DEMO_FIRST_MONTH (DEMO_LAST_MONTH - DEMO_MONTHS + 1)

/* The data of a product, the same at every supplier that lists it. */
struct demo_product {
	uint32_t id;
	const struct demo_kind *kind;
	struct span name, variant, size, note, brand;
	uint32_t codein; /* eight digits; grows with the id */
	uint64_t gtin; /* thirteen digits; 0: none */
	uint32_t central; /* behind "10000"; 0: none */
	bool classified; /* false: no code3 */
	bool sold; /* false: listed, but not in any store yet */
	uint32_t price; /* cents, tax included */
	uint32_t pcb;
	char range; /* A B C Y Z; 0: none */
	/* Sales: thousandths a store and month, and how they change. */
	int64_t level;
	int64_t slope; /* per mille a month */
	int first_month, last_month; /* sold from, ordered to: 0..23 */
	int known_from; /* of earlier months the data have sales alone */
	int promo_a, promo_b; /* months with a promotion */
};

/* The terms of one supplier. */
struct demo_terms {
	uint32_t cost; /* cents, without tax */
	bool has_cost, has_price, has_pcb, has_tva;
	char reference[24];
};

/* The figures of an article in a store in a month. */
struct demo_cell {
	bool open; /* its stock and receptions are known */
	bool stock_told;
	int64_t sold, received, stock; /* thousandths */
	int64_t ca, marge; /* cents, without tax */
};

/*
 * The position of an article in a store at the end; days as in date.h, or
 * DATE_NULL.
 */
struct demo_position {
	int64_t stock; /* thousandths */
	int32_t first_sale, last_sale, last_reception;
};

#define DEMO_NULL INT64_MIN

/* The figures that a network of 270 stores reports for a product. */
struct demo_network {
	bool known;
	int64_t ca; /* cents */
	int64_t quantity; /* thousandths; the last twelve months */
	uint32_t stores;
	int64_t margin; /* ten-thousandths */
	/* Thousandths, some returned rather than sold; DEMO_NULL: null. */
	int64_t months[DEMO_NETWORK_MONTHS];
};

void demo_product_make(
    struct demo_product *product, const struct demo_plan *plan, uint32_t id);

void demo_terms_make(struct demo_terms *terms, const struct demo_plan *plan,
    const struct demo_listing *listing, const struct demo_product *product);

/* False when the store does not carry it; the cells are then all empty. */
bool demo_shelf_make(struct demo_cell cells[DEMO_MONTHS],
    const struct demo_plan *plan, const struct demo_listing *listing,
    const struct demo_product *product, const struct demo_terms *terms,
    uint32_t store);

void demo_position_make(struct demo_position *position,
    const struct demo_plan *plan, const struct demo_product *product,
    const struct demo_cell cells[DEMO_MONTHS], uint32_t store);

void demo_network_make(struct demo_network *network,
    const struct demo_plan *plan, const struct demo_product *product);
