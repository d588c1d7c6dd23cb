/* Families from folders: one that is wrong is left out, and the log says so. */
#include "tools/gridhook/events/recipe_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "common/log.h"

#define ARENA_MAX ((size_t)4 << 20)
#define SUFFIX ".family"

struct recipes *
recipes_new(void)
{
	struct recipes *recipes = calloc(1, sizeof(*recipes));

	if (recipes == NULL)
		return NULL;
	recipes->arena = arena_new(ARENA_MAX);
	recipes->last = &recipes->first;
	if (recipes->arena == NULL) {
		free(recipes);
		return NULL;
	}
	return recipes;
}

void
recipes_free(struct recipes *recipes)
{
	if (recipes == NULL)
		return;
	arena_free(recipes->arena);
	free(recipes);
}

unsigned
recipes_count(const struct recipes *recipes)
{
	assert(recipes->count <= RECIPES_MAX);
	return recipes->count;
}

static bool
is_known(const struct recipes *recipes, const char *name)
{
	for (const struct recipe *recipe = recipes->first; recipe != NULL;
	     recipe = recipe->next)
		if (strcmp(recipe->family.name, name) == 0)
			return true;
	return false;
}

enum err
recipes_add(struct recipes *recipes, const char *name, const char *file,
    struct span text, struct fault *fault)
{
	struct arena *arena = recipes->arena;
	struct recipe *recipe;
	enum err err;

	assert(name != NULL && recipes->count <= RECIPES_MAX);
	if (is_known(recipes, name))
		return ERR_OK;
	if (recipes->count == RECIPES_MAX) {
		fault_set(
		    fault, file, "there are %d families already", RECIPES_MAX);
		return ERR_TOO_LARGE;
	}
	recipe = arena_alloc(arena, sizeof(*recipe));
	if (recipe == NULL)
		return ERR_NO_MEMORY;
	recipe->family.name = arena_copy(arena, span_of(name)).ptr;
	recipe->family.recipe = recipe;
	recipe->file = arena_copy(arena, span_of(file)).ptr;
	if (recipe->family.name == NULL || recipe->file == NULL)
		return ERR_NO_MEMORY;
	err = recipe_read(recipe, file, text, arena, fault);
	if (err != ERR_OK)
		return err;
	*recipes->last = recipe;
	recipes->last = &recipe->next;
	recipes->count++;
	return ERR_OK;
}

/* --- folders -------------------------------------------------------------- */

struct loading {
	struct recipes *recipes;
	const char *folder;
	bool fine;
};

static enum err
read_file(struct buf *text, const char *path, struct fault *fault)
{
	struct stat st;
	enum err err;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
		fault_set(fault, path, "is no file");
		return ERR_BAD_INPUT;
	}
	buf_init(text, RECIPE_FILE_MAX);
	err = fs_read(text, path);
	if (err == ERR_TOO_LARGE)
		fault_set(fault, path, "is over %d bytes", RECIPE_FILE_MAX);
	else if (err != ERR_OK)
		fault_set(fault, path, "cannot be read: %s", err_text(err));
	return err;
}

static enum err
add_file(void *context, const char *name)
{
	struct loading *loading = context;
	struct fault fault = {.place = ""};
	struct buf text = {.data = NULL};
	struct span stem = span_of(name);
	char path[FS_PATH_MAX], family[64];
	enum err err;

	if (name[0] == '.' || !span_ends(stem, SPAN(SUFFIX)))
		return ERR_OK;
	stem.len -= strlen(SUFFIX);
	err = fs_path(path, "%s/%s", loading->folder, name);
	if (err == ERR_OK && !span_copy(family, sizeof(family), stem)) {
		fault_set(&fault, path, "the name is over %zu bytes",
		    sizeof(family) - 1);
		err = ERR_BAD_INPUT;
	}
	if (err == ERR_OK)
		err = read_file(&text, path, &fault);
	if (err == ERR_OK)
		err = recipes_add(
		    loading->recipes, family, path, buf_span(&text), &fault);
	buf_fini(&text);
	if (err == ERR_OK)
		return ERR_OK;
	loading->fine = false;
	log_warn("%s: %s; the family is left out",
	    fault_is_set(&fault) ? fault.place : name,
	    fault_is_set(&fault) ? fault.message : err_text(err));
	/* The rest is as good as it was. */
	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

bool
recipes_add_folder(struct recipes *recipes, const char *folder)
{
	struct loading loading = {
	    .recipes = recipes, .folder = folder, .fine = true};
	enum err err = fs_list(folder, add_file, &loading);

	assert(folder != NULL);
	return loading.fine && (err == ERR_OK || err == ERR_NOT_FOUND);
}
