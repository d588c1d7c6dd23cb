/*
 * desktop_load: the folders in which .desktop files stand, in the order in
 * which they hide each other. The id of a file is its path below such a
 * folder, with '-' for '/'.
 */
#include "tools/gridhook/tool/desktop.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/arena.h"
#include "common/fs.h"
#include "tools/gridhook/tool/session.h"

#define FILE_MAX_BYTES (1024 * 1024)
#define FOLDER_DEPTH 4
#define INDEX_FIRST 64
#define INDEX_MAX 16384
#define DEFAULT_DIRS "/usr/local/share:/usr/share"

struct place {
	struct desktop_index *index;
	const char *folder;
	const char *id_prefix;
	const char *locale;
	unsigned depth;
};

static enum err load_folder(struct place *place);

/* The language of messages, as the C library would choose it. */
static const char *
user_locale(void)
{
	static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && value[0] != '\0')
			return value;
	}
	return "";
}

/* Whether one of `names` ("GNOME;KDE;") is a desktop that runs here. */
static bool
names_this_desktop(struct span names)
{
	const char *desktops = getenv("XDG_CURRENT_DESKTOP");
	struct span name, rest;

	while (names.len > 0 && span_cut(&name, &names, ';')) {
		rest = span_of(desktops == NULL ? "" : desktops);
		while (name.len > 0 && rest.len > 0) {
			struct span desktop;

			if (!span_cut(&desktop, &rest, ':'))
				break;
			if (span_eq(name, desktop))
				return true;
		}
	}
	return false;
}

static bool
is_usable(const struct desktop_entry *entry)
{
	if (!entry->is_application || entry->hidden || entry->name.len == 0)
		return false;
	if (entry->exec.len == 0 && !entry->by_bus)
		return false;
	if (entry->only_in.len > 0 && !names_this_desktop(entry->only_in))
		return false;
	if (names_this_desktop(entry->not_in))
		return false;
	return entry->try_exec.len == 0 ||
	    session_has_program(entry->try_exec.ptr);
}

static bool
is_known(const struct desktop_index *index, struct span id)
{
	for (size_t i = 0; i < index->count; i++)
		if (span_eq(index->entries[i].id, id))
			return true;
	return false;
}

static struct desktop_entry *
next_entry(struct desktop_index *index)
{
	struct desktop_entry *grown;
	size_t room;

	if (index->count == index->room) {
		room = index->room == 0 ? INDEX_FIRST : 2 * index->room;
		if (room > INDEX_MAX)
			return NULL;
		grown = arena_array(index->arena, room, sizeof(*grown));
		if (grown == NULL)
			return NULL;
		if (index->count > 0)
			memcpy(grown, index->entries,
			    index->count * sizeof(*grown));
		index->entries = grown;
		index->room = room;
	}
	return &index->entries[index->count];
}

/* Hidden ones are kept too, for they hide; desktop_load() drops them. */
static enum err
load_file(struct place *place, const char *path, const char *id)
{
	struct desktop_index *index = place->index;
	struct desktop_entry *entry;
	struct buf text;
	enum err err;

	if (is_known(index, span_of(id)))
		return ERR_OK;
	entry = next_entry(index);
	if (entry == NULL)
		return ERR_TOO_LARGE;
	buf_init(&text, FILE_MAX_BYTES);
	err = fs_read(&text, path);
	if (err == ERR_OK)
		err = desktop_read(
		    entry, buf_span(&text), place->locale, index->arena);
	buf_fini(&text);
	if (err != ERR_OK)
		return ERR_OK; /* not an application that we could start */
	entry->id = arena_copy(index->arena, span_of(id));
	entry->path = arena_copy(index->arena, span_of(path));
	if (entry->id.ptr == NULL || entry->path.ptr == NULL)
		return ERR_NO_MEMORY;
	index->count++;
	return ERR_OK;
}

static enum err
load_name(void *context, const char *name)
{
	struct place *place = context;
	char path[FS_PATH_MAX], id[FS_PATH_MAX];
	struct stat info;

	if (fs_path(path, "%s/%s", place->folder, name) != ERR_OK ||
	    stat(path, &info) != 0)
		return ERR_OK;
	if (S_ISDIR(info.st_mode) && place->depth < FOLDER_DEPTH) {
		struct place below = *place;

		if (fs_path(id, "%s%s-", place->id_prefix, name) != ERR_OK)
			return ERR_OK;
		below.folder = path;
		below.id_prefix = id;
		below.depth++;
		return load_folder(&below);
	}
	if (!S_ISREG(info.st_mode) ||
	    !span_ends(span_of(name), SPAN(".desktop")) ||
	    fs_path(id, "%s%s", place->id_prefix, name) != ERR_OK)
		return ERR_OK;
	return load_file(place, path, id);
}

static enum err
load_folder(struct place *place)
{
	struct stat info;

	if (stat(place->folder, &info) != 0 || !S_ISDIR(info.st_mode))
		return ERR_OK;
	return fs_list(place->folder, load_name, place);
}

static enum err
load_data_folder(struct desktop_index *index, struct span folder,
    const char *below, const char *locale)
{
	char path[FS_PATH_MAX];
	struct place place = {
	    .index = index, .folder = path, .id_prefix = "", .locale = locale};

	/* Only absolute ones count, by the specification. */
	if (!span_starts(folder, SPAN("/")) ||
	    fs_path(path, "%.*s/%s", SPAN_ARG(folder), below) != ERR_OK)
		return ERR_OK;
	return load_folder(&place);
}

static void
drop_unusable(struct desktop_index *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->count; i++)
		if (is_usable(&index->entries[i]))
			index->entries[kept++] = index->entries[i];
	index->count = kept;
}

enum err
desktop_load(struct desktop_index *out, struct arena *arena)
{
	const char *home = getenv("XDG_DATA_HOME"), *dirs;
	const char *locale = user_locale();
	struct span folder, rest;
	enum err err;

	assert(out != NULL && arena != NULL);
	*out = (struct desktop_index){.arena = arena};
	if (home != NULL && home[0] == '/')
		err = load_data_folder(
		    out, span_of(home), "applications", locale);
	else
		err = load_data_folder(out, span_of(getenv("HOME")),
		    ".local/share/applications", locale);
	dirs = getenv("XDG_DATA_DIRS");
	rest = span_of(dirs == NULL || dirs[0] == '\0' ? DEFAULT_DIRS : dirs);
	while (err == ERR_OK && span_cut(&folder, &rest, ':'))
		err = load_data_folder(out, folder, "applications", locale);
	drop_unusable(out);
	return err;
}
