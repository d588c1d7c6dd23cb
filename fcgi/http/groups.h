/*
 * groups: what sums can be made by, in one table for parameters, descriptions
 * and answers.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

enum group_key {
	GROUP_CODE1,
	GROUP_CODE2,
	GROUP_CODE3,
	GROUP_MARQUE,
	GROUP_GAMME,
	GROUP_TREND,
	GROUP_MONTH,
	GROUP_STORE,
	GROUP_KEYS
};

/* Keys that a request may have. */
#define GROUPS_MAX 3

/* Columns that are summed at once. */
#define GROUPS_VALUES_MAX 8

struct group_info {
	const char *name;
	const char *label; /* the member with its label, or NULL */
	const char *meaning;
};

extern const struct group_info group_infos[GROUP_KEYS];

struct group_list {
	enum group_key keys[GROUPS_MAX];
	unsigned count;
};

struct value_list {
	unsigned columns[GROUPS_VALUES_MAX];
	unsigned count;
};

/* The key of that name, or -1. */
int group_find(struct span name);

static inline bool
group_has(const struct group_list *groups, enum group_key key)
{
	for (unsigned i = 0; i < groups->count; i++)
		if (groups->keys[i] == key)
			return true;
	return false;
}

/* Whether months or stores are asked for: their values are in the maps. */
static inline bool
group_has_cells(const struct group_list *groups)
{
	return group_has(groups, GROUP_MONTH) || group_has(groups, GROUP_STORE);
}

/*
 * Whether a column can be summed by these groups: a number; by months or stores a
 * monthly map, that of the year before by months alone.
 */
bool group_takes(unsigned column, const struct group_list *groups);
