/*
 * demo_words: the vocabulary of a French grocer: the classification with its
 * labels, brands, towns and suppliers' names. Made up, but like the texts of
 * real files: accents, ligatures, apostrophes, commas and quotes, and the tabs
 * and line ends that come along when a label is pasted.
 *
 * A `const char *` with '|' in it is a list; see demo_draw().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "tools/gridctl/demo/demo_random.h"

enum demo_season {
	DEMO_FLAT,
	DEMO_SUMMER,
	DEMO_WINTER,
	DEMO_YEAR_END,
	DEMO_SPRING,
	DEMO_EASTER,
	DEMO_SCHOOL, /* back to school: late August */
	DEMO_WINE, /* wine fairs in September, and the year's end */
	DEMO_SEASONS
};

/* A level 3 entry of the classification, and the articles sold under it. */
struct demo_kind {
	const char *code; /* six digits */
	const char *label;
	enum demo_season season;
	uint16_t tva_permille;
	uint32_t price_min, price_max; /* cents, tax included; per kg if so */
	bool by_weight;
	const char *names, *variants, *sizes;
};

extern const struct demo_kind demo_kinds[];
extern const unsigned demo_kind_count;

/* Levels 1 and 2. Some levels that kinds belong to are left out on purpose. */
struct demo_label {
	const char *code, *label;
};

extern const struct demo_label demo_labels[];
extern const unsigned demo_label_count;

extern const char demo_brands[];
extern const char demo_notes[]; /* second labels */
extern const char demo_towns[], demo_quarters[];
extern const char demo_trades[], demo_places[], demo_forms[];

/*
 * The number of items of a list, its item `i` (0 is the first), and a random
 * item.
 */
unsigned demo_list_count(const char *list);
struct span demo_list_at(const char *list, unsigned i);
struct span demo_draw(struct demo_random *random, const char *list);
