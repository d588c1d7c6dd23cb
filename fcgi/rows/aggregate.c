/*
 * Rows are grouped key by key: a group and the next key's value make a group of
 * the next level, by a hash table. Values are then added in the order of the
 * rows, from arrays of the snapshot; only months of stores are read from maps.
 */
#include "fcgi/rows/aggregate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "fcgi/rows/aggregate_priv.h"
#include "fcgi/rows/shown.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

/* --- keys of rows --------------------------------------------------------- */

static enum err
code_keys(const struct aggregating *making, uint32_t *keys, uint32_t divisor)
{
	const uint32_t *code3 = snapshot_code3(making->snap);

	if (code3 == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < making->count; i++) {
		uint32_t code = code3[making->rows[i]];

		keys[i] =
		    code == SNAP_NO_CODE ? AGGREGATE_NONE : code / divisor;
	}
	return ERR_OK;
}

static enum err
brand_keys(const struct aggregating *making, uint32_t *keys)
{
	struct snapshot_terms terms;

	if (!snapshot_terms(making->snap, COL_marque, &terms))
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < making->count; i++)
		keys[i] = snapshot_term_of(&terms, making->rows[i]);
	return ERR_OK;
}

static enum err
range_keys(const struct aggregating *making, uint32_t *keys)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < making->count && err == ERR_OK; i++) {
		int64_t value;

		err = shown_value_in(&value, making->rows[i], making->snap,
		    making->ranges, making->query, COL_codeGamme);
		keys[i] = value == NUM_NULL ? AGGREGATE_NONE : (uint32_t)value;
	}
	return err;
}

static enum err
trend_keys(const struct aggregating *making, uint32_t *keys)
{
	const uint8_t *trends = snapshot_trends(making->snap);
	bool today = shown_differs_in(
	    making->snap, making->ranges, making->query, COL_trend);
	enum err err = ERR_OK;

	if (trends == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < making->count && err == ERR_OK; i++) {
		uint8_t code = trends[making->rows[i]];

		if (today)
			err = shown_trend(&code, making->rows[i], making->snap,
			    making->query->live);
		keys[i] = code == 0 ? AGGREGATE_NONE : code;
	}
	return err;
}

static enum err
take_keys(const struct aggregating *making, uint32_t *keys, enum group_key key)
{
	switch (key) {
	case GROUP_CODE1:
		return code_keys(making, keys, 10000);
	case GROUP_CODE2:
		return code_keys(making, keys, 100);
	case GROUP_CODE3:
		return code_keys(making, keys, 1);
	case GROUP_MARQUE:
		return brand_keys(making, keys);
	case GROUP_GAMME:
		return range_keys(making, keys);
	default:
		return trend_keys(making, keys);
	}
}

/* --- groups --------------------------------------------------------------- */

#define TABLE_SLOTS 1024 /* at first; a power of two */

/* Groups of a level by the one above and their key. */
struct table {
	uint64_t *pairs; /* UINT64_MAX: an empty slot */
	uint32_t *groups;
	uint64_t mask;
};

static enum err
table_new(struct table *table, uint64_t size)
{
	table->mask = size - 1;
	table->pairs = malloc(size * sizeof(*table->pairs));
	table->groups = malloc(size * sizeof(*table->groups));
	if (table->pairs == NULL || table->groups == NULL)
		return ERR_NO_MEMORY;
	memset(table->pairs, 0xff, size * sizeof(*table->pairs));
	return ERR_OK;
}

static void
table_free(struct table *table)
{
	free(table->pairs);
	free(table->groups);
}

/* The slot of the pair, or the empty one that it belongs to. */
static uint64_t
table_slot(const struct table *table, uint64_t pair)
{
	uint64_t at = (pair * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & table->mask;

	while (table->pairs[at] != pair && table->pairs[at] != UINT64_MAX)
		at = (at + 1) & table->mask;
	return at;
}

/* Most levels have few groups, and a small table stays in the cache. */
static enum err
table_grow(struct table *table)
{
	struct table grown = {NULL, NULL, 0};
	enum err err = table_new(&grown, 4 * (table->mask + 1));

	for (uint64_t i = 0; i <= table->mask && err == ERR_OK; i++) {
		uint64_t pair = table->pairs[i], at;

		if (pair == UINT64_MAX)
			continue;
		at = table_slot(&grown, pair);
		grown.pairs[at] = pair;
		grown.groups[at] = table->groups[i];
	}
	if (err != ERR_OK) {
		table_free(&grown);
		return err;
	}
	table_free(table);
	*table = grown;
	return ERR_OK;
}

/* Adds a level: making->of[i] is each row's group. A group has a value. */
static enum err
split_groups(struct aggregating *making, struct table *table,
    const uint32_t *keys, uint32_t *level_keys, uint32_t *level_above)
{
	uint32_t count = 0;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < making->count && err == ERR_OK; i++) {
		uint64_t pair = (uint64_t)making->of[i] << 32 | keys[i];
		uint64_t at = table_slot(table, pair);

		if (table->pairs[at] == UINT64_MAX) {
			if (count >= making->out->most)
				return ERR_TOO_LARGE;
			table->pairs[at] = pair;
			table->groups[at] = count;
			level_keys[count] = keys[i];
			level_above[count++] = making->of[i];
		}
		making->of[i] = table->groups[at];
		if (count > table->mask / 2)
			err = table_grow(table);
	}
	making->out->count = count;
	return err;
}

static enum err
add_level(struct aggregating *making, enum group_key key)
{
	struct aggregate *out = making->out;
	unsigned level = out->levels++;
	uint32_t *keys = malloc((making->count + 1u) * sizeof(*keys));
	struct table table = {NULL, NULL, 0};
	enum err err = table_new(&table, TABLE_SLOTS);

	out->level_keys[level] = key;
	out->keys[level] =
	    malloc((making->count + 1u) * sizeof(*out->keys[level]));
	out->above[level] =
	    malloc((making->count + 1u) * sizeof(*out->above[level]));
	if (keys == NULL || out->keys[level] == NULL ||
	    out->above[level] == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = take_keys(making, keys, key);
	if (err == ERR_OK)
		err = split_groups(
		    making, &table, keys, out->keys[level], out->above[level]);
	table_free(&table);
	free(keys);
	return err;
}

static enum err
make_groups(struct aggregating *making)
{
	struct aggregate *out = making->out;
	enum err err = ERR_OK;

	out->count = 1;
	for (unsigned i = 0; i < out->groups.count && err == ERR_OK; i++) {
		enum group_key key = out->groups.keys[i];

		if (key != GROUP_MONTH && key != GROUP_STORE)
			err = add_level(making, key);
	}
	return err;
}

uint32_t
aggregate_key(
    const struct aggregate *aggregate, uint32_t group, enum group_key key)
{
	assert(group < aggregate->count);
	for (unsigned level = aggregate->levels; level > 0; level--) {
		if (aggregate->level_keys[level - 1] == key)
			return aggregate->keys[level - 1][group];
		group = aggregate->above[level - 1][group];
	}
	return AGGREGATE_NONE;
}

/* --- all of it ------------------------------------------------------------ */

/* Months and stores that are keys; rows' own keys have made groups. */
static enum err
count_cells(struct aggregating *making)
{
	struct aggregate *out = making->out;
	struct snapshot_stores stores;

	out->months = group_has(&out->groups, GROUP_MONTH) ? SCHEMA_MONTHS : 1;
	out->stores = 1;
	if (!group_has(&out->groups, GROUP_STORE))
		return ERR_OK;
	if (!snapshot_stores(making->snap, &stores))
		return ERR_DAMAGED;
	out->stores = stores.count;
	return ERR_OK;
}

static enum err
make_room(struct aggregating *making)
{
	struct aggregate *out = making->out;
	uint64_t values =
	    (uint64_t)out->count * aggregate_cells(out) * out->columns.count;

	if (values > out->most)
		return ERR_TOO_LARGE;
	out->articles = calloc(out->count + 1u, sizeof(*out->articles));
	out->values = calloc(values + 1, sizeof(*out->values));
	if (out->articles == NULL || out->values == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < making->count; i++)
		out->articles[making->of[i]]++;
	return ERR_OK;
}

static void
add_totals(struct aggregate *out)
{
	uint64_t cells = (uint64_t)out->count * aggregate_cells(out);
	unsigned columns = out->columns.count;

	for (uint64_t i = 0; i < cells * columns; i++) {
		const struct aggregate_value *value = &out->values[i];
		struct aggregate_value *total = &out->totals[i % columns];

		if (value->count == 0)
			continue;
		if (total->count == 0 || value->min < total->min)
			total->min = value->min;
		if (total->count == 0 || value->max > total->max)
			total->max = value->max;
		total->count += value->count;
		total->sum += value->sum;
	}
}

enum err
aggregate_make(struct aggregate *aggregate, const uint32_t *rows,
    uint32_t count, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query, struct figures_cache *figures)
{
	uint32_t *all =
	    rows == NULL ? malloc((count + 1u) * sizeof(*all)) : NULL;
	struct aggregating making = {.out = aggregate,
	    .rows = rows != NULL ? rows : all,
	    .count = count,
	    .snap = snap,
	    .ranges = ranges,
	    .query = query,
	    .figures = figures,
	    .all = rows == NULL};
	enum err err = ERR_OK;

	assert(aggregate->groups.count <= GROUPS_MAX &&
	    aggregate->columns.count <= GROUPS_VALUES_MAX);
	for (uint32_t i = 0; all != NULL && i < count; i++)
		all[i] = i;
	making.of = calloc(count + 1u, sizeof(*making.of));
	if (making.of == NULL || making.rows == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = make_groups(&making);
	if (err == ERR_OK)
		err = count_cells(&making);
	if (err == ERR_OK)
		err = make_room(&making);
	for (unsigned i = 0; i < aggregate->columns.count && err == ERR_OK; i++)
		err = aggregate_add(&making, i);
	if (err == ERR_OK)
		add_totals(aggregate);
	free(making.sorted);
	free(making.of);
	free(all);
	return err;
}

void
aggregate_fini(struct aggregate *aggregate)
{
	free(aggregate->articles);
	free(aggregate->values);
	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		free(aggregate->keys[i]);
		free(aggregate->above[i]);
	}
}
