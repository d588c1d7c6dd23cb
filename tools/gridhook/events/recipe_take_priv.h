/*
 * recipe_take_priv: how a family's file is followed.
 *
 *	recipe_find.c  paths, conditions, and which family it is
 *	recipe_take.c  what each field comes from
 */
#pragma once

#include "tools/gridhook/events/recipe_priv.h"

/* Where the paths of a rule begin. */
struct scene {
	const struct recipe *recipe;
	struct jval object;
	const struct hints *hints;
	struct arena *arena;
};

/* A member, or a text of the request. */
struct found {
	struct jval value;
	struct span text;
	bool is_text;
};

/* "0" to "9" of a list; "*" is the first here. */
struct jval scene_element(struct jval array, const struct hop *hop);

/* The first alternative that is present; `which` is for explanations. */
bool scene_find(struct found *out, const struct what **which,
    const struct what *what, const struct scene *scene);

/* The text of the first alternative that has one, its value and its path. */
struct span scene_text(const struct what *what, struct jval *value,
    const struct what **path, const struct scene *scene);

/* True when the condition holds, and all that are chained to it. */
bool scene_holds(const struct condition *condition, const struct scene *scene);
