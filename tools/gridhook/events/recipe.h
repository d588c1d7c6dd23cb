/*
 * recipe: a sender's family as a file says it; gridhook-families(5) has the
 * format.
 *
 * Files are compiled once, at the start. A push costs no reading and no memory
 * but its own arena. Recipes come before the families that are written in C.
 */
#pragma once

#include "common/err.h"
#include "tools/gridhook/events/family.h"

#define RECIPE_FILE_MAX 65536 /* bytes */
#define RECIPE_LINE_MAX 1024 /* bytes */
#define RECIPE_RULES_MAX 128 /* statements of a file */
#define RECIPES_MAX 256 /* files */

struct recipes;

/* An empty set; NULL when memory is out. */
struct recipes *recipes_new(void);

/* NULL is fine. */
void recipes_free(struct recipes *recipes);

/*
 * Compiles one file behind those that are there. `name` is the family's, and
 * `file` stands in faults. A family of a name that is there already is left
 * out, and ERR_OK.
 *
 *	ERR_BAD_INPUT	`fault` names the file and the line
 *	ERR_TOO_LARGE	too many files
 *	ERR_NO_MEMORY
 */
enum err recipes_add(struct recipes *recipes, const char *name,
    const char *file, struct span text, struct fault *fault);

/*
 * Adds every NAME.family of a folder, sorted by name. A file that cannot be
 * read, or is wrong, is left out with a line in the log; so is a missing
 * folder, in silence. False when any was left out.
 */
bool recipes_add_folder(struct recipes *recipes, const char *folder);

unsigned recipes_count(const struct recipes *recipes);

/*
 * The first family whose matches hold, or NULL. Where `whole` is false, the
 * object stands inside another, and families that split theirs are passed by.
 */
const struct family *recipes_find(const struct recipes *recipes,
    struct jval object, const struct hints *hints, bool whole);

/* The list whose elements are the events; absent for a family of one event. */
struct jval recipe_list(const struct family *family, struct jval object);

/* Where the family was read from; NULL for one that is written in C. */
const char *recipe_file(const struct family *family);

/* family_fill() for a family that was read from a file. */
void recipe_fill(struct event *event, const struct family *family,
    struct jval object, const struct hints *hints, struct arena *arena);
