/*
 * A month's demand is the article's level, times its season, its trend, the
 * store's size and the promotion if there is one, with some noise. A store
 * orders whole cases when its stock falls below a month's need, sells from its
 * stock, and keeps the rest: so sales, receptions and stock always agree. Of
 * the months before, most articles have sales alone.
 */
#include "tools/gridctl/demo/demo_shape.h"

#include <assert.h>
#include <stdio.h>

#include "common/date.h"
#include "tools/gridctl/demo/demo_random.h"

/* Per mille of a mean month, January to December. */
static const int16_t seasons[DEMO_SEASONS][12] = {
    [DEMO_FLAT] = {990, 960, 1010, 1000, 1010, 1000, 980, 960, 1010, 1010, 1000,
	1070},
    [DEMO_SUMMER] = {520, 560, 760, 980, 1240, 1530, 1720, 1600, 1090, 790, 590,
	620},
    [DEMO_WINTER] = {1330, 1240, 1140, 940, 800, 690, 620, 660, 890, 1090, 1260,
	1340},
    [DEMO_YEAR_END] = {700, 720, 760, 830, 760, 720, 690, 680, 790, 960, 1540,
	2850},
    [DEMO_SPRING] = {620, 820, 1320, 1690, 1710, 1360, 960, 760, 830, 740, 610,
	580},
    [DEMO_EASTER] = {560, 890, 2100, 2750, 720, 590, 520, 540, 690, 840, 1050,
	1750},
    [DEMO_SCHOOL] = {870, 860, 900, 880, 840, 830, 990, 1990, 1630, 900, 860,
	850},
    [DEMO_WINE] = {680, 690, 780, 850, 960, 980, 900, 890, 1690, 1080, 1010,
	1490},
};

/* Pieces a store and month, in thousandths: most sell little, few sell much. */
static const int32_t levels[] = {700, 900, 1100, 1400, 1800, 2300, 3000, 3800,
    4800, 6000, 7500, 9500, 12000, 16000, 22000, 31000, 46000, 75000, 140000,
    320000};

static const uint16_t cases[] = {1, 2, 4, 6, 6, 8, 10, 12, 12, 16, 18, 24, 48};

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* --- products -------------------------------------------------------------*/

static uint64_t
with_check_digit(uint64_t twelve)
{
	uint64_t rest = twelve;
	unsigned sum = 0, weight = 3;

	for (; rest > 0; rest /= 10) {
		sum += weight * (rest % 10);
		weight = 4 - weight;
	}
	return twelve * 10 + (10 - sum % 10) % 10;
}

/* Goods sold by weight have in-store numbers, which begin with 2. */
static uint64_t
make_gtin(uint32_t id, bool by_weight)
{
	uint64_t scattered = ((uint64_t)id * 48271 + 12345) % 1000000000;

	return with_check_digit(
	    (by_weight ? 240 : 376) * UINT64_C(1000000000) + scattered);
}

/* A price between the kind's limits, leaning to the low end; ends in 9 or 5. */
static uint32_t
make_price(struct demo_random *random, const struct demo_kind *kind)
{
	uint64_t width = kind->price_max - kind->price_min + 1;
	uint64_t price = demo_below(random, (uint32_t)width);

	price = kind->price_min +
	    price * demo_below(random, (uint32_t)width) / width;
	return (uint32_t)price / 10 * 10 + (demo_chance(random, 70) ? 9 : 5);
}

static void
make_words(struct demo_product *product, struct demo_random *random)
{
	const struct demo_kind *kind = product->kind;

	product->name = demo_draw(random, kind->names);
	product->variant = demo_draw(random, kind->variants);
	product->size = demo_draw(random, kind->sizes);
	product->brand = demo_draw(random, demo_brands);
	product->note = demo_chance(random, 45) ? demo_draw(random, demo_notes)
						: (struct span){"", 0};
	if (demo_chance(random, 4))
		product->brand = (struct span){"", 0};
}

static void
make_codes(struct demo_product *product, struct demo_random *random)
{
	static const char ranges[] = "AAAAAAABBBBBBCCCCYYZ";

	product->codein = 1000000 + product->id * 7 + demo_below(random, 7);
	if (!demo_chance(random, 3))
		product->gtin =
		    make_gtin(product->id, product->kind->by_weight);
	if (!demo_chance(random, 2))
		product->central = 2000000 + product->id;
	product->classified = !demo_chance(random, 1);
	if (!demo_chance(random, 8))
		product->range = ranges[demo_below(random, sizeof(ranges) - 1)];
}

static int64_t
make_slope(struct demo_random *random)
{
	if (demo_chance(random, 50))
		return demo_between(random, -5, 5);
	return demo_between(random, -32, 38);
}

static void
make_life(struct demo_product *product, struct demo_random *random)
{
	product->sold = !demo_chance(random, 1);
	product->level = levels[demo_below(random, COUNT(levels))];
	product->slope = make_slope(random);
	product->known_from = demo_chance(random, 24) ? 0 : 12;
	product->first_month = 0;
	product->last_month = DEMO_MONTHS - 1;
	if (demo_chance(random, 9))
		product->first_month = (int)demo_between(random, 3, 22);
	else if (demo_chance(random, 7))
		product->last_month = (int)demo_between(random, 6, 21);
	product->promo_a = (int)demo_below(random, DEMO_MONTHS);
	product->promo_b = (int)demo_below(random, DEMO_MONTHS * 2);
}

/* Articles that sell slowly, or by weight, are not delivered by the pallet. */
static void
make_case(struct demo_product *product, struct demo_random *random)
{
	bool small = product->kind->by_weight || product->level < 4000;

	product->pcb = cases[demo_below(random, small ? 5 : COUNT(cases))];
}

void
demo_product_make(
    struct demo_product *product, const struct demo_plan *plan, uint32_t id)
{
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_PRODUCT, id, 0);

	assert(id < plan->product_count);
	*product = (struct demo_product){.id = id};
	product->kind = &demo_kinds[demo_below(&random, demo_kind_count)];
	product->price = make_price(&random, product->kind);
	make_words(product, &random);
	make_codes(product, &random);
	make_life(product, &random);
	make_case(product, &random);
}

/* --- terms ----------------------------------------------------------------*/

static int64_t
rounded(int64_t top, int64_t bottom)
{
	return top < 0 ? -((-top + bottom / 2) / bottom)
		       : (top + bottom / 2) / bottom;
}

static int64_t
without_tax(const struct demo_product *product, int64_t cents)
{
	return rounded(cents * 1000, 1000 + product->kind->tva_permille);
}

static void
make_reference(struct demo_terms *terms, uint32_t supplier,
    const struct demo_product *product, struct demo_random *random)
{
	unsigned number = demo_below(random, 90000) + 10000;

	switch (supplier % 4) {
	case 0:
		snprintf(terms->reference, sizeof(terms->reference), "%u",
		    number * 10 + product->id % 10);
		break;
	case 1:
		snprintf(terms->reference, sizeof(terms->reference), "%c%c-%u",
		    'A' + (int)(supplier % 26),
		    'A' + (int)demo_below(random, 26), number);
		break;
	case 2:
		snprintf(terms->reference, sizeof(terms->reference),
		    "%u.%03u/%u", number % 100, number / 100, product->pcb);
		break;
	default:
		snprintf(
		    terms->reference, sizeof(terms->reference), "0%u", number);
	}
}

void
demo_terms_make(struct demo_terms *terms, const struct demo_plan *plan,
    const struct demo_listing *listing, const struct demo_product *product)
{
	uint32_t supplier = plan->suppliers[listing->supplier].number;
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_LISTING, supplier, product->id);
	int64_t margin = demo_between(&random, 14, 46);

	assert(listing->supplier < plan->supplier_count);
	assert(listing->product == product->id);
	if (demo_chance(&random, 2))
		margin = demo_between(&random, -6, 3);
	terms->cost = (uint32_t)rounded(
	    without_tax(product, product->price) * (100 - margin), 100);
	terms->has_cost = !demo_chance(&random, 1);
	terms->has_price = !demo_chance(&random, 1);
	terms->has_pcb = !demo_chance(&random, 1);
	terms->has_tva = !demo_chance(&random, 1);
	make_reference(terms, supplier, product, &random);
	if (demo_chance(&random, 2))
		terms->reference[0] = '\0';
}

/* --- shelves --------------------------------------------------------------*/

/* The month of the year, 0..11, of month `m` of the data. */
static int
month_of_year(int m)
{
	return (DEMO_FIRST_MONTH + m) % 12;
}

static bool
is_promoted(const struct demo_product *product, int m)
{
	return m == product->promo_a || m == product->promo_b;
}

/* The demand of month `m`, for a mean month of `scale` per mille. */
static int64_t
demand(const struct demo_product *product, int m, int64_t scale)
{
	int64_t season = seasons[product->kind->season][month_of_year(m)];
	int64_t trend = 1000 + product->slope * (m - DEMO_MONTHS / 2);
	int64_t level = product->level * season / 1000;

	if (trend < 150)
		trend = 150;
	level = level * trend / 1000;
	level = level * scale / 1000;
	return is_promoted(product, m) ? level * 23 / 10 : level;
}

/* Adds noise; rounds to whole pieces, unless the article is sold by weight. */
static int64_t
demand_drawn(const struct demo_product *product, int64_t level,
    struct demo_random *random)
{
	int64_t drawn = level * demo_between(random, 550, 1450) / 1000;

	if (product->kind->by_weight)
		return drawn;
	return (drawn + demo_below(random, 1000)) / 1000 * 1000;
}

static int64_t
order(const struct demo_product *product, int64_t stock, int64_t level)
{
	int64_t whole = (int64_t)product->pcb * 1000;

	if (stock >= level)
		return 0;
	return (level * 3 / 2 - stock + whole - 1) / whole * whole;
}

static void
set_money(struct demo_cell *cell, const struct demo_product *product,
    const struct demo_terms *terms, bool promoted)
{
	int64_t price = product->price;

	if (promoted)
		price = price * 4 / 5;
	cell->ca =
	    rounded(cell->sold * price, 1000 + product->kind->tva_permille);
	cell->marge = cell->ca - rounded(cell->sold * terms->cost, 1000);
}

/* Computes a month on the shelf; *stock carries over to the next. */
static void
live_month(struct demo_cell *cell, const struct demo_product *product,
    int64_t *stock, int64_t level, bool ordered, struct demo_random *random)
{
	int64_t wanted = demand_drawn(product, level, random);

	if (ordered)
		cell->received = order(product, *stock, level);
	*stock += cell->received;
	if (demo_chance(random, 4))
		wanted = 0;
	/* Now and then a return is the only sale of the month. */
	if (!product->kind->by_weight && demo_below(random, 1500) == 0)
		wanted = -1000;
	cell->sold = wanted < *stock ? wanted : *stock;
	*stock -= cell->sold;
	cell->stock = *stock;
	cell->stock_told = !demo_chance(random, 12);
	cell->open = true;
}

/* Demand that finds no stock, per mille. */
#define SOLD_OUT 60

/* A few suppliers were taken on a year ago: nothing is older. */
static bool
is_new(const struct demo_supplier *supplier)
{
	return supplier->number % 20 == 7;
}

/* The sales of the months before known_from, whose stock nobody knows. */
static void
sell_before(struct demo_cell cells[DEMO_MONTHS],
    const struct demo_product *product, const struct demo_terms *terms,
    int64_t scale, struct demo_random *random)
{
	for (int m = 0; m < product->known_from && m <= product->last_month;
	     m++) {
		int64_t level = demand(product, m, scale);

		level = level * (1000 - SOLD_OUT) / 1000;
		level = demand_drawn(product, level, random);
		if (!demo_chance(random, 4))
			cells[m].sold = level;
		set_money(&cells[m], product, terms, is_promoted(product, m));
	}
}

bool
demo_shelf_make(struct demo_cell cells[DEMO_MONTHS],
    const struct demo_plan *plan, const struct demo_listing *listing,
    const struct demo_product *product, const struct demo_terms *terms,
    uint32_t store)
{
	const struct demo_supplier *supplier =
	    &plan->suppliers[listing->supplier];
	uint64_t shelf = ((uint64_t)supplier->number << 32) | store;
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_SHELF, product->id, shelf);
	struct demo_random before =
	    demo_random(plan->seed, DEMO_OF_YEAR_BEFORE, product->id, shelf);
	struct demo_random size =
	    demo_random(plan->seed, DEMO_OF_STORE, store, 0);
	int64_t scale = demo_between(&size, 550, 1600), level, stock = 0;
	int first = product->first_month;
	bool ordered;

	assert(listing->product == product->id && store < plan->store_count);
	for (int m = 0; m < DEMO_MONTHS; m++)
		cells[m] = (struct demo_cell){0};
	if (!product->sold || !demo_chance(&random, 79))
		return false;
	if (first < product->known_from && !is_new(supplier))
		sell_before(cells, product, terms, scale, &before);
	if (first < product->known_from)
		first = product->known_from;
	if (is_new(supplier) && first < DEMO_MONTHS / 2)
		first = DEMO_MONTHS / 2;
	for (int m = first; m < DEMO_MONTHS; m++) {
		ordered = m <= product->last_month;
		if (!ordered && stock == 0)
			break;
		level = demand(product, m, scale);
		/* The shelf is not empty when the data begin. */
		if (m == first && first > product->first_month)
			stock = order(product, 0, level);
		live_month(&cells[m], product, &stock, level, ordered, &random);
		set_money(&cells[m], product, terms, is_promoted(product, m));
	}
	return true;
}

/* --- positions ------------------------------------------------------------*/

static int32_t
day_in(int m, int64_t day)
{
	int month = DEMO_FIRST_MONTH + m;

	return date_day_of(month / 12, month % 12 + 1, (int)day);
}

/* The first or the last (step -1) month for which `is_so` holds; -1: none. */
static int
find_month(const struct demo_cell cells[DEMO_MONTHS], int step,
    bool (*is_so)(const struct demo_cell *cell))
{
	int m;

	m = step > 0 ? 0 : DEMO_MONTHS - 1;
	for (int count = 0; count < DEMO_MONTHS; count++, m += step)
		if (is_so(&cells[m]))
			return m;
	return -1;
}

static bool
has_sales(const struct demo_cell *cell)
{
	return cell->sold > 0;
}

static bool
has_receptions(const struct demo_cell *cell)
{
	return cell->received > 0;
}

void
demo_position_make(struct demo_position *position, const struct demo_plan *plan,
    const struct demo_product *product,
    const struct demo_cell cells[DEMO_MONTHS], uint32_t store)
{
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_POSITION, product->id, store);
	int first = find_month(cells, 1, has_sales);
	int last = find_month(cells, -1, has_sales);
	int received = find_month(cells, -1, has_receptions);

	assert(store < plan->store_count);
	*position = (struct demo_position){0, DATE_NULL, DATE_NULL, DATE_NULL};
	position->stock = cells[DEMO_MONTHS - 1].stock;
	if (first >= 0)
		position->first_sale =
		    day_in(first, demo_between(&random, 1, 14));
	/* On sale long before the data begin. */
	if (first >= 0 && product->first_month < product->known_from)
		position->first_sale -=
		    (int32_t)demo_between(&random, 400, 2800);
	if (last >= 0)
		position->last_sale =
		    day_in(last, demo_between(&random, 15, 28));
	/* Most articles that sell have sold in the last days. */
	if (last == DEMO_MONTHS - 1 && demo_chance(&random, 70))
		position->last_sale =
		    day_in(last, demo_between(&random, 29, 31));
	if (received >= 0)
		position->last_reception =
		    day_in(received, demo_between(&random, 1, 28));
}

/* --- the network ----------------------------------------------------------*/

_Static_assert(DEMO_NETWORK_MONTHS == DEMO_MONTHS, "one number for a month");

static int64_t
draw_month(const struct demo_network *network,
    const struct demo_product *product, int m, struct demo_random *random)
{
	int64_t sold;

	if (m < product->first_month || demo_chance(random, 1))
		return DEMO_NULL;
	sold = demand(product, m, 900) * network->stores / 1000 *
	    demo_between(random, 880, 1120);
	return product->kind->by_weight ? sold : sold / 1000 * 1000;
}

/*
 * Most series have 13 months, some two years, a few none; and a few have a
 * month with more returns than sales.
 */
static void
draw_months(struct demo_network *network, const struct demo_plan *plan,
    const struct demo_product *product, struct demo_random *random)
{
	struct demo_random more =
	    demo_random(plan->seed, DEMO_OF_NETWORK, product->id, 1);
	int usual = DEMO_NETWORK_MONTHS - DEMO_NETWORK_USUAL, m;

	for (m = 0; m < usual; m++)
		network->months[m] = DEMO_NULL;
	for (; m < DEMO_NETWORK_MONTHS; m++)
		network->months[m] = draw_month(network, product, m, random);
	if (demo_chance(random, 1)) {
		for (m = 0; m < DEMO_NETWORK_MONTHS; m++)
			network->months[m] = DEMO_NULL;
		return;
	}
	if (demo_chance(&more, 12))
		for (m = 0; m < usual; m++)
			network->months[m] =
			    draw_month(network, product, m, &more);
	if (demo_chance(&more, 1))
		network->months[DEMO_MONTHS - 1] =
		    -1000 * demo_between(&more, 1, 9);
}

void
demo_network_make(struct demo_network *network, const struct demo_plan *plan,
    const struct demo_product *product)
{
	struct demo_random random =
	    demo_random(plan->seed, DEMO_OF_NETWORK, product->id, 0);
	int64_t price = without_tax(product, product->price);

	*network = (struct demo_network){0};
	network->known = product->central != 0 && !demo_chance(&random, 8);
	if (!network->known)
		return;
	network->stores = 1 + demo_below(&random, 270);
	draw_months(network, plan, product, &random);
	for (int i = DEMO_NETWORK_MONTHS - 12; i < DEMO_NETWORK_MONTHS; i++)
		if (network->months[i] != DEMO_NULL)
			network->quantity += network->months[i];
	price = price * demo_between(&random, 960, 1040) / 1000;
	network->ca = rounded(network->quantity * price, 1000);
	network->margin = demo_between(&random, 900, 4700);
}
